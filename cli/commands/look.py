"""Looking: info, print, list, where."""
from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np

from autodiff.core.errors import AutodiffError
from autodiff.debug.debugger import Debugger
from autodiff.debug.facts.answers import OpRow, TensorRow
from autodiff.debug.facts.lazy_rows import Rows
from autodiff.debug.facts.records import Stats

from ..language.argument_kinds import ChoiceKind, FormatKind, Range, check_regex
from ..language.command import command
from ..language.target_kinds import Condition, Expression, OpName, Place
from ..model.results import Card, Column, Group, Result, Source, Table, Text, Tree
from ..model.shell import Shell
from ..model.usage_error import UsageError
from ..view.debugger_rows import FIGURES, array_of, bytes_in_words, duration, figures, place, samples, shape, shown
from . import advance, stops
from .plan_table import planned

TOPICS = ("tensors", "ops", "vars", "op", "breaks", "watches", "nans", "memory", "steps", "script", "run", "feeds")
Format = Annotated[str, FormatKind("safhd")]


Topic = Annotated[str, ChoiceKind(*TOPICS)]


@command("info", group="Look", aliases=("i",),
         shorthands={"lt": "info tensors", "ni": "info op", "ri": "info run", "run_info": "info run",
                     "pf": "info feeds"})
def info(shell: Shell, topic: Topic | None, target: OpName = "", *, unused: bool = False, stats: bool = False,
         harmful: bool = False, masked: bool = False) -> Result:
    """List tensors, ops, vars, breaks, watches, nans, feeds; or show an op, memory, steps, the script, the last run.

    tensors and ops take a /regex/; op takes a name, a suffix, or `nan` for the first op that made one.
    --stats adds the figures of the last run to tensors. --unused lists variables that y does not depend on.
    steps: how many past ones are kept, in memory and on disk.
    nans: --harmful lists those that reach y or a gradient, --masked those without effect.

    Example:  info tensors /hidden1/
    API:      dbg.tensors("hidden1"), dbg.ops(), dbg.op("hidden1/MatMul"), dbg.variables(), dbg.nonfinite(),
              dbg.script(), dbg.stops(), dbg.lists.memory(), dbg.history.position
    """
    dbg = shell.dbg
    is_regex = len(target) > 1 and target[0] == target[-1] == "/"
    pattern = target if is_regex else re.escape(target)
    if topic in ("tensors", "ops") and target.startswith("/"):
        check_regex(target[1:-1] if is_regex else target)
    if topic == "tensors":
        return _tensors(dbg.tensors(pattern, stats=True) if stats else dbg.lists.tensors_listed(pattern), stats)
    if topic == "ops":
        return _ops(dbg.ops(pattern))
    if topic == "op":
        if not target:
            raise UsageError("info op needs the name of an op", "info ops lists them")
        return _op(dbg, _first_bad(dbg) if target == "nan" else target)
    if topic == "vars":
        return _variables(dbg, unused)
    if topic == "watches":
        return stops.stops_table(dbg.stops("watch"), "no watches; watch TARGET makes one")
    if topic == "breaks":
        return stops.stops_table(dbg.stops("break"), "no breakpoints; break TARGET makes one")
    if topic == "nans":
        kind = "harmful" if harmful else "masked" if masked else ""
        return _nans(dbg.nonfinite(kind), kind)
    if topic == "memory":
        return _memory(dbg)
    if topic == "steps":
        return Text("\n".join(_kept(dbg)))
    if topic == "feeds":
        from_feed = tuple((row.name, row.source, row.text, *figures(row.stats)) for row in dbg.feeds.rows())
        return Table((Column("feed", "name"), Column("from"), Column("value"), *FIGURES), from_feed) if from_feed \
            else Text("the next run is fed nothing")
    if topic == "run":
        return _run(shell)
    return _script(shell)


def _tensors(rows: Sequence[TensorRow], stats: bool) -> Result:
    columns = [Column("tensor", "name"), Column("short", "name", 6), Column("op"), Column("dtype", "text", 5),
               Column("shape"), Column("handle", "name", 7), Column("made at", "place", 4)]
    columns += FIGURES if stats else ()
    return Table(tuple(columns), Rows(rows, _figured if stats else _cells), f"{len(rows)} tensors")


def _cells(row: TensorRow) -> tuple[Any, ...]:
    return row.name, row.short, row.op_type, row.dtype, shape(row.shape), row.handle, place(row.place)


def _figured(row: TensorRow) -> tuple[Any, ...]:
    return *_cells(row), *figures(row.stats)


def _ops(rows: tuple[OpRow, ...]) -> Result:
    columns = (Column("op", "name"), Column("type"), Column("part", "text", 6), Column("inputs", "name", 5),
               Column("made at", "place", 4))
    return Table(columns,
                 tuple((row.name, row.type, row.role, _some(row.inputs), place(row.place)) for row in rows),
                 f"{len(rows)} ops")


def _some(names: tuple[str, ...], most: int = 8) -> str:
    """The first names; a sum of thousands of gradients would make the column as wide as all of them."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f", and {rest} more" if rest > 0 else "")


def _op(dbg: Debugger, target: str) -> Result:
    card = dbg.op(target)
    lines = [card.doc]
    lines += [f"attribute {name} = {value}" for name, value in card.attributes]
    if card.forward_op and card.forward_op != card.name:
        of = f", of {card.gradient_of}" if card.gradient_of else ""
        lines.append(f"belongs to the gradient of {card.forward_op}{of}")
    lines.append(f"gradient: {card.rule}" if card.rule else f"no gradient: {card.why_no_gradient}")
    if card.control_inputs:
        lines.append(f"waits for {', '.join(card.control_inputs)}")
    if card.consumers:
        lines.append(f"used by {', '.join(card.consumers)}")
    rows = [(kind, row.name, row.dtype, shape(row.shape), *figures(row.stats))
            for kind, side in (("input", card.inputs), ("output", card.outputs)) for row in side]
    columns = (Column(""), Column("tensor", "name"), Column("dtype", "text", 4), Column("shape"), *FIGURES)
    made = tuple(f"made at {os.path.basename(at.file)}:{at.line} in {at.function}: {at.text}" for at in card.traceback)
    return Card((Text("\n".join(line for line in lines if line)), Table(columns, tuple(rows), notes=made)),
                f"{card.name}  {card.type}  {card.role}")


def _variables(dbg: Debugger, unused: bool) -> Result:
    rows = tuple((row.name, row.handle, row.dtype, shape(row.shape), "yes" if row.trainable else "no",
                  "yes" if row.initialized else "no", *figures(row.stats), place(row.place), row.reason)
                 for row in dbg.variables(unused=unused))
    columns = (Column("variable", "name"), Column("handle", "name", 5), Column("dtype", "text", 3), Column("shape"),
               Column("trained", "text", 4), Column("has value", "text", 5), *FIGURES,
               Column("made at", "place", 2), Column("no gradient because", "text", 8))
    return Table(columns, rows, f"{len(rows)} variables" + (" that y does not depend on" if unused else ""))


def _first_bad(dbg: Debugger) -> str:
    """The first op of the last run with nan or inf in an output."""
    rows = dbg.nonfinite("harmful") or dbg.nonfinite()
    if not rows:
        raise UsageError("no op made nan or inf in the last run", "info ops lists them all", code="unknown_name")
    return next((row.name for row in rows if row.role not in ("variable", "constant", "placeholder")), rows[0].name)


def _nans(rows: tuple[TensorRow, ...], kind: str) -> Result:
    if not rows:
        return Text(f"no {kind}{' ' * bool(kind)}nan or inf in the last run", "good")
    columns = (Column("tensor", "name"), Column("op"), Column("shape"), Column("nan", "bad"), Column("inf", "bad"),
               Column("effect", "text", 6), Column("made at", "place", 5))
    return Table(columns, tuple((row.name, row.op_type, shape(row.stats.shape if row.stats else row.shape),
                                 row.stats.nans if row.stats else None, row.stats.infs if row.stats else None,
                                 "harmful" if row.harmful else "masked", place(row.place)) for row in rows),
                 "nan and inf in the last run, in the order of computing", ("why nan says where it began",))


def _memory(dbg: Debugger) -> Result:
    memory = dbg.lists.memory()
    parts = (("variables", memory.variables), ("constants", memory.constants), ("value history", memory.history),
             ("records of runs", memory.records))
    lines = [*(f"{name:<16} {bytes_in_words(count)}" for name, count in parts), *_kept(dbg)]
    return Group((Text("\n".join(lines)),
                  Table((Column("largest", "name"), Column("size")),
                        tuple((name, bytes_in_words(count)) for name, count in memory.largest))))


def _kept(dbg: Debugger) -> list[str]:
    """Which steps are kept, in memory and on disk."""
    at = dbg.history.position
    which = f", from step {at.first} on" if at.kept else ""
    lines = [f"{'steps kept':<16} {at.kept} of {at.last}{which}",
             f"{'in memory':<16} {at.kept - at.on_disk}, {bytes_in_words(at.bytes)} of {bytes_in_words(at.budget)}"
             + (f"; about {at.fit} such steps fit" if at.fit else "")]
    if not at.disk_limit:
        return [*lines, f"{'on disk':<16} none; set ring.disk 1GB keeps more there"]
    room = f"{bytes_in_words(at.disk_bytes)} of {bytes_in_words(at.disk_limit)}"
    return [*lines, f"{'on disk':<16} {at.on_disk}, {room}, in {at.folder}"]


def _script(shell: Shell) -> Result:
    if shell.script is None:
        return Text("no script is loaded; load FILE runs one", "quiet")
    card = shell.dbg.script()
    lines = [f"graph         {card.ops} ops: {card.forward} forward, {card.gradient} gradient",
             f"variables     {card.variables}, {card.parameters} parameters",
             f"placeholders  {', '.join(card.placeholders) or 'none'}",
             f"gradients of  {card.y or 'nothing yet; train LOSS or grad LOSS X says of what'}"]
    if card.train_op:
        lines.append(f"train op      {card.train_op}")
    rows = tuple(card.handles)
    return Card((Text("\n".join(lines)), Table((Column("handle", "name"), Column("stands for", "name")), rows)),
                f"{shell.script.name}  ({_state(shell)})")


def _state(shell: Shell) -> str:
    script = shell.script
    state = script.state if script else ""
    return {"before": f"before a Session.run at {shell.where()}", "after": f"after a Session.run at {shell.where()}",
            "ended": "at its end", "raised": f"raised at {shell.where()}"}.get(state, state)


def _run(shell: Shell) -> Result:
    records = shell.dbg.records
    if not records:
        return Text("nothing was run yet; next runs a step")
    last = records[-1]
    lines = [f"step {last.step}, {duration(last.ms)}", f"fetches {', '.join(last.fetches) or 'nothing'}"]
    lines += [f"error {last.error}"] if last.error else []
    rows = tuple((sample.name, *figures(_fed(shell, sample.name))) for sample in last.feeds)
    parts: list[Result] = [Text("\n".join(lines))]
    if rows:
        parts.append(Table((Column("fed", "name"), *FIGURES), rows))
    watched = samples(last, shell.dbg.stops("watch"), most=100_000)
    return Group((*parts, watched) if watched is not None else tuple(parts))


def _fed(shell: Shell, name: str) -> Stats | None:
    """Figures of what the last run was fed, if it is remembered."""
    with contextlib.suppress(AutodiffError):
        return shell.dbg.evaluate(name, keep=False).stats
    return None


@command("print", group="Look", aliases=("p", "pt", "ev"), repeats=False)
def print_(dbg: Debugger, form: Format = "", expression: Expression = "", *, range: Range | None = None,
           where: Condition = "") -> Result:
    """Evaluate a NumPy expression over tensors, handles and $n; the value becomes the next $n.

    Slices as in NumPy: W[0:3,:]. Values are those of the last run; a variable's is its present one. /s only
    figures, /a all elements, /f NumPy's digits, /h heatmap, /d distribution. range: mark elements inside LO,HI.
    where: mark elements that are nan, inf, nonfinite, zero, or satisfy a comparison such as `>3`.
    Without an expression it repeats the last value.

    Example:  print hidden1/weights[0:3,:]
    API:      dbg.evaluate("hidden1/weights[0:3,:]")
    """
    if not expression:
        if not dbg.values.kept():
            raise UsageError("print needs an expression: there is no last value", "print loss")
        expression = f"${dbg.values.kept()[-1].number}"
    value = dbg.evaluate(expression, keep=not re.fullmatch(r"\$\d+", expression))
    array = array_of(value)
    marked, mark = None, ""
    if (range is not None or where) and array.dtype.kind not in "fiub":
        raise UsageError(f"--range and --where look at real numbers, found {array.dtype}", f"print {expression}",
                         code="bad_value")
    if range is not None:
        marked, mark = (array >= range[0]) & (array <= range[1]), f"in [{range[0]:g}, {range[1]:g}]"
    elif where:
        marked, mark = _satisfying(array, where), where
    letter = next((c for c in form if c != "a"), "")
    if letter in ("h", "d") and array.dtype.kind not in "fiub":
        raise UsageError(f"/{letter} draws real numbers, found {array.dtype}", f"print {expression}", code="bad_value")
    return shown(value, form=letter, whole="a" in form, marked=marked, mark=mark)


def _satisfying(array: np.ndarray, where: str) -> np.ndarray:
    """Which elements satisfy a predicate of print --where. Raises UsageError."""
    tests: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "nan": np.isnan, "inf": np.isinf, "nonfinite": lambda x: ~np.isfinite(x), "zero": lambda x: x == 0,
        "positive": lambda x: x > 0, "negative": lambda x: x < 0}
    if where in tests:
        return tests[where](array)
    match = re.fullmatch(r"\s*(<=|>=|==|!=|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf)\s*", where)
    if not match:
        raise UsageError(f"expected nan, inf, nonfinite, zero, positive, negative or a comparison, found {where!r}",
                         "--where '>3'", code="bad_value")
    compare = {"<=": np.less_equal, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal, "<": np.less,
               ">": np.greater}[match[1]]
    return compare(array, float(match[2]))


@command("list", group="Look", aliases=("l", "ps", "ls"), repeats=True)
def list_(shell: Shell, at: Place = "", op: OpName = "", *, steps: bool = False) -> Result:
    """Show the script's lines with the ops they made and their gradient norms; again for the lines after.

    PLACE is a line number, FILE:LINE, or an op or tensor, whose line it then shows.
    `list plan` shows what the last run's plan made of each op it needs: computed, folded into a constant, merged with
    an equal op, fused into a chain, written in place, left out; with OP or a /regex/ those ops alone. --steps: the
    plan itself, step by step.

    Example:  list hidden1/MatMul
              list plan /hidden1/
    API:      dbg.source("hidden1/MatMul"), dbg.places.plan("/hidden1/")
    """
    if at == "plan":
        return planned(shell.dbg, op, steps)
    if op or steps:
        raise UsageError("list takes one place; two words are of `list plan OP`", f"list {at}".rstrip())
    file, line = shell.place()
    if not file:
        raise UsageError("no script is loaded", "load FILE")
    where = at
    if not at:
        listed, last = shell.listed
        where = f"{file}:{last + 1 + 5}" if listed == f"{file}:{line}" else f"{file}:{max(line, 1)}"
    elif at.isdigit():
        where = f"{file}:{at}"
    found = shell.dbg.source(where)
    if not found.lines:
        shell.listed = ("", 0)
        raise UsageError(f"no lines at {where}", "list begins again", code="unknown_name")
    shell.listed = (f"{file}:{line}", found.lines[-1].number)
    gutter = {}
    for row in found.lines:
        norm = f"grad {row.gradient_norm:.3g}  " if row.gradient_norm is not None else ""
        if row.ops:
            gutter[row.number] = f"{norm}{_types(row.ops)}"
    here = line if os.path.realpath(found.file) == os.path.realpath(file) else 0
    current = here or next((row.number for row in found.lines if row.current), 0)
    return Source(found.file, found.lines[0].number, tuple(row.text for row in found.lines), current, gutter)


def _types(ops: tuple[str, ...], most: int = 4) -> str:
    kinds = list(dict.fromkeys(ops))
    return " ".join(kinds[:most]) + (f" +{len(kinds) - most}" if len(kinds) > most else "")


@command("where", group="Look", aliases=("bt", "w"), shorthands={"li": "where", "lo": "where"})
def where(shell: Shell, op: OpName = "") -> Result:
    """Say where the program stands; or how an op was made, what it takes, and who takes its outputs.

    Example:  where hidden1/MatMul
    API:      dbg.where("hidden1/MatMul")
    """
    if not op and (shell.dbg.stepper.cursor is None or shell.dbg.stepper.cursor.finished):
        return _standing(shell)
    found = shell.dbg.where(op)
    lines = [f"{os.path.basename(at.file)}:{at.line} in {at.function}: {at.text}" for at in found.traceback]
    producers = Tree("takes", tuple(_leaf(row) for row in found.producers))
    consumers = Tree("is taken by", tuple(_leaf(row) for row in found.consumers))
    return Group((Text("\n".join(lines) or "made by no line of the script"),
                  Tree(f"{found.op.name} ({found.op.type})", (producers, consumers), place(found.op.place))))


def _leaf(row: OpRow) -> Tree:
    return Tree(f"{row.name} ({row.type})", (), place(row.place))


def _standing(shell: Shell) -> Result:
    if shell.script is None:
        return Text("no script is loaded; load FILE runs one", "quiet")
    if shell.script.error is not None:
        return advance.raised(shell, shell.script.error)
    file, line = shell.place()
    steps = f", {len(shell.dbg.records)} runs so far" if shell.dbg.records else ""
    text = Text(f"{shell.script.name}: {_state(shell)}{steps}")
    lines = advance.lines_around(file, line)
    return Group((text, lines)) if lines else text
