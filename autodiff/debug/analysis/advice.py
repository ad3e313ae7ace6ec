"""What somebody beside the graph knows of a program: a front end whose steps are not Session.runs fills it."""
from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ...core.graph import Graph, Tensor
from ...core.traversal import ancestors
from ..facts.records import NewLines, Place
from .findings import Finding, RuleCheck

Words = Sequence[tuple[str | re.Pattern[str], str]]
_SENTENCES = ("text", "words", "remedy", "reason", "rule", "note")  # fields of answers that are read, not looked up
_DIFFERS, _NOTHING = 1e-2, 1e-6  # relative to the largest, and absolute: what other rounding does not make
_ROUNDING = 1e-5  # of the largest gradient there is: what may be left of terms as large that cancel


class Remark(NamedTuple):
    """A sentence, the line that it is about, and what to do. lines: that in the script: by file and number, a line."""

    text: str
    place: Place | None
    remedy: str = ""
    lines: NewLines = MappingProxyType({})


_HEARD: list[list[Remark]] = []  # of the script that runs: what NumPy met, whichever graph is made before or after


@contextlib.contextmanager
def hearing() -> Iterator[list[Remark]]:
    """Inside, all graphs share where NumPy met nan or inf, as a script makes its data before its graph, or after."""
    _HEARD.append([])
    try:
        yield _HEARD[-1]
    finally:
        _HEARD.pop()


class Flag(NamedTuple):
    """ones: how often it was 1, of so many rows. kept: what is 0 there, as a factor that the script can write."""

    ones: int
    rows: int
    kept: str


@dataclass
class Advice:
    """findings: gives those for doctor, of the last step. remarks: for why, by the name of a variable's op: why it has
    no gradient.

    unwatched: likewise of tensors, those that a tape was asked about and did not watch. gradients: for check, what
    somebody else found in the last step, by the name of a variable's op; call, place: who, in words, and where;
    suspects: what is probably to blame where these are other than the graph's. lines: for check, by op name: the lines
    of a gradient function, as `... file.py:12: code`. makers: by op name, what it belongs to and where that was made.
    words: what stands in sentences for TensorFlow's names, longest first. rate: the learning rate, in words. warned:
    where NumPy met nan or inf in the script's own arithmetic. untrained: names of variables' ops that no optimizer was
    given, where others were, or of which derivatives say nothing; present: of those that the last step could have used,
    None for all; renewed: those that were made anew before a run, by its number, as no step of it. spoilers: by op
    name, what in an optimizer makes the variable nan. tolerance: how far the gradients found may be from the graph's,
    relative to the largest element. said: what the script computes otherwise under the debugger. written: what the
    remedy of a finding is in the script, {} where that is not surely known; slower: what a rate times a number is
    there. uphill: gives the findings that explain why a loss grows. flags: what of 0 and 1 the script holds for each
    example and gives to no op, by its text there. rules: what is wrong in gradient functions, by the names of ops.
    """

    findings: Callable[[], Iterable[Finding]] = tuple
    remarks: dict[str, Remark] = field(default_factory=dict)
    unwatched: dict[str, Remark] = field(default_factory=dict)
    gradients: dict[str, np.ndarray | None] = field(default_factory=dict)
    call: str = ""
    place: Place | None = None
    suspects: list[Remark] = field(default_factory=list)
    lines: dict[str, tuple[str, ...]] = field(default_factory=dict)
    makers: dict[str, str] = field(default_factory=dict)
    words: tuple[tuple[str, str], ...] = ()
    rate: Remark | None = None
    warned: list[Remark] = field(default_factory=lambda: _HEARD[-1] if _HEARD else [])
    untrained: set[str] = field(default_factory=set)
    present: set[str] | None = None
    renewed: dict[int, set[str]] = field(default_factory=dict)
    spoilers: dict[str, Remark] = field(default_factory=dict)
    tolerance: float = _DIFFERS
    said: str = ""
    written: Callable[[Finding], NewLines] = lambda _: {}
    slower: Callable[[float], NewLines] = lambda _: {}
    uphill: Callable[[], Iterable[Finding]] = tuple
    flags: dict[str, Flag] = field(default_factory=dict)
    rules: dict[str, Remark] = field(default_factory=dict)

    def written_for(self, finding: Finding) -> NewLines:
        """What a remedy is in the script, also of what is known beside it of a variable, or a gradient function."""
        remark = self.remarks.get(finding.target.rpartition(":")[0]) if finding.kind == "no gradient" else (
            self.rules.get(finding.op) if finding.kind == "wrong gradient" else None)
        return self.written(finding) or (remark.lines if remark is not None else {})


def advice_of(graph: Graph) -> Advice:
    """The advice that belongs to a graph."""
    return graph.extras.setdefault("advice", Advice())


def is_absent(variable: Tensor, y: Tensor | None) -> bool:
    """Whether neither y nor the last step could use a variable, as one of a network that was trained before."""
    present = advice_of(variable.graph).present
    return not (present is None or variable.op.name in present or y is not None and variable.op in ancestors([y]))


def differences(advice: Advice, ours: Mapping[Tensor, np.ndarray | None]) -> list[RuleCheck]:
    """Variables of which somebody else has found another gradient. ours: the graph's, None for none."""
    found = []
    most = max((float(np.abs(g).max(initial=0, where=np.isfinite(g))) for g in advice.gradients.values()
                if g is not None), default=0.0)
    for x, value in ours.items():
        if x.op.name not in advice.gradients:
            continue
        own = advice.gradients[x.op.name]
        if own is None and value is None:
            continue
        a = np.zeros_like(value) if own is None else own
        b = np.zeros_like(a) if value is None else np.asarray(value)
        size = float(max(np.abs(a).max(initial=0), np.abs(b).max(initial=0)))
        with np.errstate(invalid="ignore"):  # inf less inf is no difference that counts
            gap = float(np.abs(a - b).max(initial=0))
        if np.isfinite(gap) and gap > max(advice.tolerance * size + _NOTHING, _ROUNDING * most):
            blame = advice.suspects[0] if advice.suspects else Remark("", advice.place)
            note = f"{advice.call} gave another gradient than its ops have" + (f": {blame.text}" if blame.text else "")
            found.append(RuleCheck(x.op.name, x.op.type, x.name, "wrong", 1, float(np.abs(a).max(initial=0)),
                                   float(np.abs(b).max(initial=0)), gap / size, note, blame.place))
    return found


def spoken(found: Any, words: Words) -> Any:
    """An answer with its sentences in somebody else's words; names of tensors and ops stay."""
    if not words:
        return found
    if isinstance(found, tuple) and not hasattr(found, "_fields"):
        return tuple(spoken(part, words) for part in found)
    if not is_dataclass(found) or isinstance(found, type):
        return found
    changed = {f.name: _said(getattr(found, f.name), words) if f.name in _SENTENCES
               else spoken(getattr(found, f.name), words) for f in fields(found)}
    return replace(found, **changed)


def _said(text: str, words: Words) -> str:
    for theirs, ours in words:
        text = text.replace(theirs, ours) if isinstance(theirs, str) else theirs.sub(ours, text)
    return text
