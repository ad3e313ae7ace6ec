"""What `why nan` found, in words: the sentence, the remedies, the chain, each op to blame."""
from __future__ import annotations

from collections.abc import Sequence

from autodiff.debug.analysis.findings import Operand, Origin, Remedy, WhyNonfinite
from autodiff.debug.facts.records import Place

from ..model.results import Result, Text
from .debugger_rows import place
from .text import number

_MOST_LINKS = 16  # of a chain, half of them from each end


def nonfinite(finding: WhyNonfinite) -> tuple[Result, ...]:
    """The sentence, then each op to blame with its elements and operands."""
    parts: list[Result] = [Text(finding.text, "" if finding.origins or finding.diverges else "good")]
    for i, origin in enumerate(finding.origins[:4], 1):
        before = finding.origins[:i - 1]
        lines = _origin(origin, i, with_line=origin.place not in [other.place for other in before])
        known = [f"   remedy: {other.remedy}" for other in before]
        known += [f"   {origin.rule}"] if origin.rule in finding.text else []
        parts.append(Text("\n".join(line for line in lines if line not in known), "warning"))
    if len(finding.origins) > 4:
        parts.append(Text(f"… and {len(finding.origins) - 4} more origins", "quiet"))
    for origin in finding.masked[:3]:
        where = f" at {place(origin.place)}" if origin.place else ""
        parts.append(Text(f"masked, without effect: {origin.tensor} ({origin.bad}): {origin.rule}{where}", "quiet"))
    if finding.inherited:
        parts.append(Text(f"{finding.inherited} other ops of {finding.checked} only pass it on", "quiet"))
    return tuple(parts)


def not_tried(finding: WhyNonfinite) -> tuple[Result, ...]:
    """The remedy of what is to blame, where none could be tried."""
    said = next((origin.remedy for origin in finding.origins if origin.remedy), "")
    return (Text(f"remedy, not tried: {said}", "good"),) if said else ()


def chain(finding: WhyNonfinite) -> tuple[Result, ...]:
    """How it came to that, the origin first, where there is more to it than one op."""
    if len(finding.chain) < 2:
        return ()
    lines = [f"  {f'step {link.step}  ' if link.step else ''}{link.text}  "
             f"{place(link.place) if place(link.place) not in link.text else ''}".rstrip() for link in finding.chain]
    if len(lines) > _MOST_LINKS:
        between = finding.chain[_MOST_LINKS // 2:-(_MOST_LINKS // 2)]
        where = ", ".join(dict.fromkeys(place(link.place) for link in between if link.place is not None))
        lines[_MOST_LINKS // 2:-(_MOST_LINKS // 2)] = [f"  … {len(between)} more like these, at {where}"]
    return (Text("\n".join(["how it came to that, the origin first:", *lines]), "quiet"),)


def tried(remedies: Sequence[Remedy], *, offered: bool = True) -> tuple[Result, ...]:
    """What was tried and helps; offered: with the command that applies it."""
    return tuple(Text(f"remedy: {remedy.what}\n" + (f"tried: {remedy.text}" if remedy.text else "not tried")
                      + f"; {remedy.applied.format(i)}" * offered, "good") for i, remedy in enumerate(remedies, 1))


def _origin(origin: Origin, rank: int, *, with_line: bool) -> list[str]:
    where = f" at {written_at(origin.place) if with_line else place(origin.place)}" if origin.place else ""
    whose = f", gradient of {origin.forward_op}" if origin.forward_op and origin.forward_op != origin.op else ""
    indices = " ".join("[" + ",".join(map(str, index)) + "]" for index in origin.elements[:4])
    whose += f", {origin.inside}" if origin.inside else ""
    lines = [f"{rank}. {origin.op} ({origin.op_type}, {origin.phase}{whose}){where}",
             f"   {origin.bad} in {origin.count} of {origin.size} elements" + (f": {indices}" if indices else "")]
    if origin.operands:
        lines.append("   from " + ", ".join(map(_operand, origin.operands)))
    lines.append(f"   {origin.rule}")
    if origin.remedy:
        lines.append(f"   remedy: {origin.remedy}")
    return lines


def _operand(operand: Operand) -> str:
    """What went into an element; the name alone where nobody knows the number, as of an array read in a loop."""
    name = f"{operand.name}{list(operand.index) if operand.index else ''}"
    return name if operand.value is None else f"{name} = {number(operand.value)}"


def written_at(at: Place) -> str:
    """`model.py:3 in f: y = g(x)`."""
    inside = f" in {at.function}" if at.function not in ("", "<module>") else ""
    return f"{place(at)}{inside}" + (f": {at.text}" if at.text else "")
