"""Diagnosis: why, path."""
from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from autodiff.debug.analysis import findings
from autodiff.debug.analysis.advice import advice_of
from autodiff.debug.analysis.mistakes.reach import HAZARDS
from autodiff.debug.analysis.update_blame import is_no_weight
from autodiff.debug.analysis.why import only_derived
from autodiff.debug.debugger import Debugger
from autodiff.debug.engine.questions.edit import numbered
from autodiff.debug.facts.graph_lists import trainable_tensors, without_any
from autodiff.debug.facts.roles import at_line
from autodiff.debug.facts.stats import has_nonfinite

from ..language.argument_kinds import FileKind, FloatKind, IntKind, Kind, Workers
from ..language.command import command
from ..language.target_kinds import Target, X, Y
from ..model.results import Column, Error, Group, Result, Table, Text, TreeBranch
from ..model.script_errors import told_of
from ..model.shell import Shell
from ..model.usage_error import UsageError
from ..view.debugger_rows import computed_here, place
from ..view.drawn.progress import counted
from ..view.nonfinite_said import chain, nonfinite, not_tried, tried, written_at
from ..view.text import first_of, number
from . import standing

Order = Annotated[int, IntKind(1)]
Side = Annotated[str, FileKind()]
LEVELS = ("error", "warning", "remark")
Kinds = Annotated[str, Kind("KIND")]
Tolerance = Annotated[float, FloatKind("R")]
KINDS = {"nan": "nan", "inf": "nan", "none": "none", "zero": "zero", "exploding": "exploding"}


@command("why", group="Diagnose", aliases=("y",))
def why(shell: Shell, target: Target = "", *, of: Target = "", order: Order = 1) -> Result:
    """Say why a gradient is None, NaN, infinite, zero or tiny: the op, the user's line, the elements, a remedy.

    `why nan` asks where the first non-finite value of the last run came from; `why none` and `why zero` ask it of
    all variables, `why exploding` of those whose gradient is too large; without a word, it explains what the last stop
    was about, or else what doctor finds worst, or what stayed finite and may not. of: the Y, by default the loss of the
    train op. order 2: `why nan` looks at second derivatives too.
    Remedies for NaN, and for what an op refused to take, are tried, on the step that failed and on up to 20 before it:
    those that help are told with what that gave, the one that changes least elsewhere first; `fix N` has the runs to
    come compute with one.
    Of a variable it also says what the last update made of the gradient,
    where that is not rate times gradient: clipping, momentum, slots, rounding, what else writes it.

    Example:  why hidden1/weights
    API:      dbg.why("hidden1/weights"), dbg.trials.of(dbg.why(kind="nan")), dbg.explain.why_missing("hidden1/weights")
    """
    raised = shell.script.error if shell.script is not None else None
    if raised is not None and (target == "" or target == "nan" and _is_finite(shell)) and (told := told_of(raised)):
        return Text(told.strip(), "warning")
    target = target or _last_stop(shell)
    if not target:
        return _worst(shell.dbg)
    kind = KINDS.get(target, "")
    if raised is not None and kind == "nan" and not any(not record.error or record.error.splitlines()[0] in str(raised)
                                                        for record in shell.dbg.records):
        return standing.raised(shell, raised, again=True)
    if kind == "nan" and shell.drives_script and not shell.dbg.records and shell.dbg.stepper.cursor is None:
        raise UsageError("nothing was run yet", "run -f nan", code="wrong_moment")
    found = shell.dbg.why("" if kind else target, of, kind=kind, order=order)
    many = found if isinstance(found, (list, tuple)) else (found,)
    if raised is not None and isinstance(found, findings.WhyNonfinite) and not found.origins:
        return standing.raised(shell, raised, again=True)
    if isinstance(found, findings.WhyNonfinite) and found.diverges and not found.origins:
        return _worst(shell.dbg)
    if isinstance(found, findings.WhyNonfinite) and order == 1:
        remedies = shell.dbg.trials.of(found, of)
        first, *rest = nonfinite(found)
        return Group((first, *(tried(remedies, offered=shell.typed) or not_tried(found)), *chain(found), *rest))
    if isinstance(found, findings.WhyFailed) and (remedies := shell.dbg.trials.of(found, of)):
        return Group((*explained(replace(found, remedy="")), *tried(remedies, offered=shell.typed)))
    many = _once(many)
    many = tuple(numbered(each, shell.dbg.trials) if i == 0 and isinstance(each, findings.WhyNone) else each
                 for i, each in enumerate(many))
    parts = tuple(part for i, finding in enumerate(many) for part in explained(finding)
                  if i == 0 or isinstance(part, Text))  # the same ops again and again: one table is enough
    return Group(parts) if parts else Text(f"nothing to explain: no gradient is {target}", "good")


def _once(many: Sequence[Any]) -> tuple[Any, ...]:
    """Gradients that the same ops cut first, that end at one line, or of which the same is said, as one that names the
    others."""
    found: dict[Any, list[Any]] = {}
    for i, each in enumerate(many):
        cuts = frozenset(cut.op for cut in each.cuts if cut.first) if isinstance(each, findings.WhyNone) and (
            each.kind == "cut") else None
        said = each.text.replace(each.x, "") if isinstance(each, findings.WhyNone) and (
            each.kind == "disconnected" or each.text.endswith(at_line(each.place) or "-")) else ""
        found.setdefault((each.y, cuts or said, each.remedy) if cuts or said else i, []).append(each)
    return tuple(replace(first, text=f"{first.text}; the same of {', '.join(each.x for each in others)}")
                 if others else first for first, *others in found.values())


def _is_finite(shell: Shell) -> bool:
    """Whether the last run's loss was, or it had none."""
    last = shell.dbg.records[-1].loss if shell.dbg.records else None
    return last is None or math.isfinite(last)


def _last_stop(shell: Shell) -> str:
    """What the last stop was about: "nan", "none", or a tensor; "" if nothing has stopped."""
    record = shell.dbg.records[-1] if shell.dbg.records else None
    stop = record.stops[0] if record is not None and record.stops else None
    rows = [row for row in shell.dbg.stops() if stop is not None and row.number == stop.number]
    error = shell.script.error if shell.script is not None else None
    if error is not None or record is not None and record.loss is not None and not math.isfinite(record.loss):
        return "none" if error is not None and standing.without_gradients(shell, error) else "nan"
    if any("none" in row.condition for row in rows):
        return "none"
    named = [stop.target if stop is not None else "", *(target for row in rows for target in row.targets)]
    about = next(filter(None, named), "") or shell.question.removeprefix("why ")
    graph, y = shell.dbg.graph, shell.dbg.model.default_y()
    known = shell.dbg.model.session.variables
    trained = [known.get(t.op.name, 0.0) for t in trainable_tensors(graph)] if shell.dbg.records else []
    if not about and (shell.dbg.log.ill or any(map(has_nonfinite, trained))):
        return "nan"
    return "none" if not about and any(
        t.op.name not in advice_of(graph).untrained and not is_no_weight(t) and not (
            y is not None and only_derived(y, t)) for t in without_any(graph)) else about


def _worst(dbg: Debugger) -> Text:
    """What doctor tells first, or what may become nan. Raises UsageError if nothing has run."""
    found = dbg.doctor(hazards=True).findings
    for worst in [f for f in found[:1] if f.level != "remark"] or [f for f in found if f.kind in HAZARDS][:1]:
        where = "" if worst.text.endswith(at_line(worst.place)) else at_line(worst.place)
        remedy, = dbg.trials.in_order_of([worst.remedy])  # it stands alone
        return Text(f"{worst.text}{where}\nremedy: {remedy}", "warning")
    if dbg.records:
        return Text("nothing looks wrong so far\nwhy nan, why none, why zero and why TARGET ask about one thing",
                    "good")
    raise UsageError("why what? nothing has stopped that could be explained",
                     "doctor says what is wrong so far; or why nan, why none, why zero, why TARGET",
                     code="wrong_moment")


def explained(finding: Any) -> tuple[Result, ...]:
    """A finding of the analyses in words."""
    if isinstance(finding, findings.WhyNone):
        return _none(finding)
    if isinstance(finding, findings.WhyNonfinite):
        return nonfinite(finding)
    if isinstance(finding, findings.WhyFailed):
        remedy = f"\nremedy: {finding.remedy}" if finding.remedy else ""
        line = f"\n  {finding.place.text}" if finding.place is not None and finding.place.text else ""
        return (Text(f"{finding.text}{line}{remedy}", "warning"),)
    if isinstance(finding, findings.WhySmall):
        lines = [finding.text, f"remedy: {finding.remedy}" if finding.remedy else ""]
        is_well = finding.kind == "fine" and not finding.remedy
        head = Text("\n".join(line for line in lines if line), "" if is_well else "warning")
        return (head, _hops(finding.losses)) if finding.losses else (head,)
    return (Text(str(finding)),)


def _none(finding: findings.WhyNone) -> tuple[Result, ...]:
    head = f"∂ {finding.y} / ∂ {finding.x}"
    lines = [f"{head}: {finding.text}"]
    if finding.remedy:
        lines.append(f"remedy: {finding.remedy}")
    if finding.place is not None and at_line(finding.place) not in finding.text:
        lines.append(f"{finding.x} was made at {written_at(finding.place)}")
    text = Text("\n".join(lines), "good" if finding.kind == "flows" else "warning")
    return (text, _cuts(finding.cuts)) if finding.cuts else (text,)


def _cuts(cuts: tuple[findings.Cut, ...]) -> Table:
    rows = tuple((cut.op, cut.op_type, cut.kind, "first" if cut.first else "behind", cut.reason,
                  place(cut.place)) for cut in cuts)
    columns = (Column("cut at", "name"), Column("op", "text", 7), Column("kind", "text", 6), Column("order", "text", 3),
               Column("reason"), Column("made at", "place", 8))
    return Table(columns, rows, prose=True)


@command("path", group="Diagnose")
def path(dbg: Debugger, y: Y | None, x: X) -> Result:
    """Draw how the gradient flows from Y to X: as a tree, each op on the way, its norm there, and the op's gain.

    The path that carries most is the trunk; what leaves it is drawn beside it until it joins again (→), so no op is
    drawn twice. Branches and loops show what they have inside. gain: norm that the op gives on, over what it got.

    Example:  path loss hidden1/weights
    API:      dbg.path("loss", "hidden1/weights")
    """
    found: findings.Path = dbg.path(y or "", x)
    if not found.hops:
        return Group((Text(f"no gradient flows from {found.y} to {found.x}; why {found.x} says why", "warning"),
                      *((_cuts(found.cuts),) if found.cuts else ())))
    shown = _tree(found)
    return shown if not found.cuts else Group((shown, Text("other paths are cut:", "quiet"), _cuts(found.cuts)))


def _tree(found: findings.Path) -> Table:
    rows = tuple((node.op, node.op_type, node.norm, node.gain, None if node.zero_share is None or node.joins
                  else 100 * node.zero_share, node.norms or None, place(node.place), node.inside)
                 for node in found.tree)
    columns = [Column("op", "name"), Column("type", "text", 3), Column("norm", "number"), Column("gain", "number"),
               Column("zero %", "percent", 4), Column("iterations", "spark", 6), Column("made at", "place", 7),
               Column("inside", "text", 5)]
    kept = [i for i in range(len(columns)) if columns[i].name not in ("iterations", "inside")
            or any(row[i] for row in rows)]
    ways = f"{found.paths} paths" if found.paths > 1 else "one path"
    ends = (("largest", found.strongest), ("smallest", found.weakest))
    extremes = [f"{word} gain at {op}" for word, op in ends if op and found.strongest != found.weakest]
    return Table(tuple(columns[i] for i in kept), tuple(tuple(row[i] for i in kept) for row in rows),
                 f"from {found.y} to {found.x}: {ways}", (", ".join(extremes),) if extremes else (),
                 tuple(TreeBranch(node.depth, node.begins, node.joins and node.depth > 0) for node in found.tree))


@command("check", group="Diagnose", aliases=("gc",))
def check(dbg: Debugger, y: Y | None, x: X | None, *, order: Order = 1, on: Workers = "") -> Result:
    """Compare each op's gradient rule with central differences, and name the op whose rule is wrong.

    Each op between Y and X (by default all trainable variables) alone, in float64, along random directions, at the
    values of the last run and next to them. order 2: second derivatives too, and the ops that have none. on: where ops
    are judged, the same to the bit: threads, processes, or the workers of a dask cluster.

    Example:  check loss hidden1/weights
    API:      dbg.check("loss", "hidden1/weights", order=2), dbg.check(executor=ThreadPoolExecutor(2))
    """
    with counted("ops") as report, dbg.workers(on) as executor:
        found: findings.Check = dbg.check(y or "", x or "", order=order, executor=executor, report=report)
    notes = [f"the whole gradient, along a random direction in float64: relative error {number(found.total)}"
             ] if found.total is not None else []
    notes += computed_here(found.here)
    mood = "warning" if found.wrong or found.missing else "good" if found.right else ""
    parts: list[Result] = [Text("\n".join([found.text, *notes]), mood)]
    listed = (*found.wrong, *found.missing)
    if listed:
        rows = tuple((row.op, row.op_type, row.input, row.order, row.analytic, row.numeric, row.error, row.note,
                      place(row.place)) for row in listed)
        columns = (Column("op", "name"), Column("type", "text", 6), Column("input", "name", 4),
                   Column("order", "count", 3), Column("by rule", "number", 5), Column("numeric", "number", 5),
                   Column("error", "number", 6), Column("remark", "prose"), Column("made at", "place", 8))
        parts.append(Table(columns, rows))
    if found.unchecked:
        reasons = dict.fromkeys(f"{row.op_type}: {row.note}" for row in found.unchecked)
        parts.append(Text(f"{len(found.unchecked)} inputs not judged: " + "; ".join(list(reasons)[:4]), "quiet"))
    return Group(tuple(parts))


@command("doctor", group="Diagnose", aliases=("dr",))
def doctor(dbg: Debugger, *, static: bool = False, ignore: Kinds = "", fail: bool = False) -> Result:
    """Look for everything that is wrong, and rank it: mistakes that raise nothing, nan, None, vanishing, dead, traps.

    Of the runs remembered: the graph, what was fed, the first training steps and some later ones. An error spoils the
    training, a warning probably harms, a remark may be meant. Remedies of the worst are tried: up to 20 of the first
    training steps are made again with each, and it is told what that gave; `fix N` has the runs to come compute with
    it. static: of the graph alone, before any run. ignore: kinds
    of findings that are not wanted, with commas between. fail: exit with 3 if there is an error.

    Example:  doctor --ignore "dead units, saturated"
    API:      dbg.doctor(), dbg.doctor(static=True), dbg.doctor(ignore=["dead units"])
    """
    kinds = [kind.strip() for kind in ignore.split(",") if kind.strip()]
    with counted("kinds of mistakes") as report:
        found = dbg.doctor(static=static, ignore=kinds, report=report)
    looked = ", ".join(found.looked)
    if not found.findings:
        return Text(f"nothing looks wrong ({looked})", "good") if found.looked[0] != "0 ops" else Text(
            "nothing was looked at: there is no graph, and no run", "warning")
    groups = _alike(found.findings)
    rows = tuple((i, item.level, item.severity, item.kind, item.op, item.text + _also(item, others), item.remedy,
                  place(item.place), item.ask, item.step, item.confidence)
                 for i, (item, *others) in enumerate(groups, 1))
    columns = (Column("#", "count"), Column("severity"), Column("weight", "count", 3), Column("kind", "name"),
               Column("op", "name", 6), Column("finding"), Column("remedy", "text", 7), Column("made at", "place", 8),
               Column("ask", "text", 4), Column("step", "count", 3), Column("confidence", "count", 3))
    counts = Counter(first.level for first, *_ in groups)
    levels = ", ".join(f"{counts[level]} {level}{'s' * (counts[level] != 1)}" for level in LEVELS if counts[level])
    table = Table(columns, rows, f"{len(rows)} finding{'s' * (len(rows) != 1)}: {levels} ({looked})", prose=True)
    if fail and counts["error"]:
        return Group((table, Error(f"doctor found {counts['error']} error{'s' * (counts['error'] != 1)}", "doctor",
                                   status=3)))
    return table


def _alike(found: Sequence[findings.Finding]) -> list[list[findings.Finding]]:
    """Findings of one kind with one remedy, or of which the same is said at one line, together, in the order of the
    worst of each."""
    groups: dict[Any, list[findings.Finding]] = {}
    for finding in found:
        text = finding.text.replace(finding.target or "\0", "").replace(finding.op or "\0", "")
        said = finding.kind, finding.place, text
        keys = [said, *([(finding.kind, finding.remedy)] if finding.remedy else [])]
        group = next((groups[key] for key in keys if key in groups), [])
        group.append(finding)
        groups.update((key, group) for key in keys if key not in groups)
    return list({id(group): group for group in groups.values()}.values())


def _also(first: findings.Finding, others: Sequence[findings.Finding]) -> str:
    """Where else the same was found: at other ops, or where they are one, for which other tensors."""
    names = [f"{other.op} ({place(other.place)})" if other.op != first.op else other.target for other in others]
    return f"; the same of {first_of(list(dict.fromkeys(names)))}" if names else ""


@command("diff", group="Diagnose")
def diff(dbg: Debugger, *sides: Side, rtol: Tolerance = 1e-5) -> Result:
    """Compare two steps, or a step with a file of arrays; the first tensor that differs, in the order of computing.

    A and B are `step N`, `run N` or an .npz file, whose names are those of tensors or handles; B is the last run by
    default.
    rtol: differences up to this, relative to the largest element, do not count.

    Example:  diff step 1 step 2
    API:      dbg.diff("step 1", "reference.npz", rtol=1e-4)
    """
    given = " ".join(sides)
    names = re.findall(r"(?:step|run)\s+\d+|\S+", given)
    if not 1 <= len(names) <= 2:
        raise UsageError(f"expected one or two sides, found {given!r}", "diff step 1 step 2, or diff reference.npz")
    found: findings.Difference = dbg.diff(*names, rtol=rtol)
    notes = [f"{len(found.rows)} of {found.compared} differ"]
    if found.unmatched:
        notes.append(f"no tensor here is called {', '.join(found.unmatched[:5])}")
    text = Text(found.text, "warning" if found.rows else "good")
    if not found.rows:
        return Group((text, Text("\n".join(notes[1:]), "quiet"))) if found.unmatched else text
    rows = tuple((row.name, row.op_type, row.gap, row.relative, "[" + ",".join(map(str, row.index)) + "]", row.left,
                  row.right, place(row.place)) for row in found.rows)
    columns = (Column("tensor", "name"), Column("op", "text", 6), Column("gap", "number"), Column("relative", "number"),
               Column("at", "text", 4), Column(found.a, "text", 5), Column(found.b, "text", 5),
               Column("made at", "place", 7))
    return Group((text, Table(columns, rows, f"{found.a} against {found.b}", tuple(notes))))


def _hops(hops: tuple[findings.Hop, ...]) -> Table:
    rows = tuple((hop.op, hop.op_type, hop.incoming, hop.outgoing, hop.gain,
                  None if hop.zero_share is None else 100 * hop.zero_share, place(hop.place), hop.note) for hop in hops)
    columns = (Column("op", "name"), Column("type", "text", 3), Column("norm in", "number", 5),
               Column("norm out", "number"), Column("gain", "number"), Column("zero %", "percent", 4),
               Column("made at", "place", 7), Column("note", "prose", 8))
    return Table(columns, rows)
