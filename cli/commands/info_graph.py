"""info of what there is in the graph: tensors, ops, one op, its inputs and outputs, variables, nan and inf."""
from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from autodiff.debug.debugger import Debugger
from autodiff.debug.facts.answers import OpTree, TensorRow
from autodiff.debug.facts.lazy_rows import Rows
from autodiff.debug.language.conditions import Seen, parse_condition

from ..language.argument_kinds import ChoiceKind, Count, Regex, check_regex
from ..language.command import Alias, command
from ..language.target_kinds import Condition, OpName
from ..model.results import Card, Column, Result, Table, Text, Tree
from ..model.usage_error import UsageError
from ..view.debugger_rows import FIGURES, figures, place, shape
from ..view.text import count_of

DEPTH = 20  # ops in a row that a recursive list of inputs follows when it is not told how many
Sort = Annotated[str, ChoiceKind("order", "size", "type", "name", "norm", "max", "nan", synonyms={
    "timestamp": "order", "dump_size": "size", "op_type": "type", "tensor_name": "name"})]
KEYS: dict[str, Callable[[TensorRow], Any]] = {
    "size": lambda row: row.stats.count if row.stats else -1, "type": lambda row: row.op_type,
    "name": lambda row: row.name, "norm": lambda row: (row.stats.norm if row.stats else None) or 0.0,
    "max": lambda row: (row.stats.max_abs if row.stats else None) or 0.0,
    "nan": lambda row: row.stats.nonfinite if row.stats else 0}


@command("info tensors", group="Look", shorthands={"lt list_tensors": Alias("info tensors", {
    "-f": "--where", "-fenn": "--exclude", "-n": "--name", "-t": "--type", "-s": "--sort", "-r": "--reverse",
    "--tensor_filter": "--where", "--filter_exclude_node_names": "--exclude", "--node_name_filter": "--name",
    "--op_type_filter": "--type", "--sort_by": "--sort"})})
def tensors(dbg: Debugger, target: OpName = "", *, stats: bool = False, name: Regex = "", type: Regex = "",
            where: Condition = "", exclude: Regex = "", sort: Sort = "order", reverse: bool = False) -> Result:
    """List tensors: of the name or /regex/ given, else all.

    stats: with the figures of the last run. where: only those whose value satisfies a predicate (nan, norm(.)>10).
    name, type, exclude: only those whose op's name or type matches this regex from its beginning, or whose name does
    not. sort by order (of the graph), size, type, name, norm, max or nan; reverse turns it round.

    Example:  info tensors /hidden1/
              lt -n hidden1 -s name
    API:      dbg.tensors("hidden1")
    """
    by_figures = bool(where) or sort in ("size", "norm", "max", "nan")
    pattern = _pattern(target)
    rows: Sequence[TensorRow] = dbg.tensors(pattern, stats=True) if stats or by_figures \
        else dbg.lists.tensors_listed(pattern)
    if name or type or exclude or where:
        rows = tuple(row for row in rows if _wanted(row, name, type, exclude)
                     and (not where or row.stats is not None and parse_condition(where).holds(
                         Seen(row.stats, dbg.step))))
    if sort != "order" or reverse:
        rows = sorted(rows, key=KEYS[sort], reverse=reverse) if sort != "order" else tuple(reversed(rows))
    columns = [Column("tensor", "name"), Column("short", "name", 6), Column("op"), Column("dtype", "text", 5),
               Column("shape"), Column("handle", "name", 7), Column("made at", "place", 4)]
    columns += FIGURES if stats or by_figures else ()
    of = f" that satisfy {where}" if where else ""
    return Table(tuple(columns), Rows(rows, _figured if stats or by_figures else _cells),
                 f"{count_of(len(rows), 'tensor')}{of}")


def _pattern(target: str) -> str:
    """A target as the regex that lists take."""
    is_regex = len(target) > 1 and target[0] == target[-1] == "/"
    if target.startswith("/"):
        check_regex(target[1:-1] if is_regex else target)
    return target if is_regex else re.escape(target)


def _wanted(row: TensorRow, name: str, type: str, exclude: str) -> bool:
    return bool(re.match(name, row.name) and re.match(type, row.op_type)
                and not (exclude and re.match(exclude, row.name)))


def _cells(row: TensorRow) -> tuple[Any, ...]:
    return row.name, row.short, row.op_type, row.dtype, shape(row.shape), row.handle, place(row.place)


def _figured(row: TensorRow) -> tuple[Any, ...]:
    return *_cells(row), *figures(row.stats)


@command("info ops", group="Look")
def ops(dbg: Debugger, target: OpName = "") -> Result:
    """List operations with their types, inputs and lines: of the name or /regex/ given, else all.

    Example:  info ops /hidden1/
    API:      dbg.ops("hidden1")
    """
    rows = dbg.ops(_pattern(target))
    columns = (Column("op", "name"), Column("type"), Column("part", "text", 6), Column("inputs", "name", 5),
               Column("made at", "place", 4))
    return Table(columns, tuple((row.name, row.type, row.role, _some(row.inputs), place(row.place)) for row in rows),
                 f"{len(rows)} ops")


def _some(names: tuple[str, ...], most: int = 8) -> str:
    """The first names; a sum of thousands of gradients would make the column as wide as all of them."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f", and {rest} more" if rest > 0 else "")


@command("info op", group="Look", shorthands={"ni node_info": Alias("info op", dict.fromkeys((
    "-a", "-d", "-t", "--attributes", "--dumps", "--traceback"), ""))})
def op(dbg: Debugger, target: OpName) -> Result:
    """Show one op: its attributes, inputs and outputs with figures of the last run, its gradient, its lines.

    OP is a name, the end of one, a tensor, or `nan` for the first op of the last run that made one.

    Example:  info op hidden1/MatMul
    API:      dbg.op("hidden1/MatMul")
    """
    card = dbg.op(_first_bad(dbg) if target == "nan" else target)
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


def _first_bad(dbg: Debugger) -> str:
    """The first op of the last run with nan or inf in an output."""
    rows = dbg.nonfinite("harmful") or dbg.nonfinite()
    if not rows:
        raise UsageError("no op made nan or inf in the last run", "info ops lists them all", code="unknown_name")
    return next((row.name for row in rows if row.role not in ("variable", "constant", "placeholder")), rows[0].name)


_SHORTS = {"-r": "--recursive", "-d": "--depth", "-c": "--control"}
_FLOW = {**_SHORTS, "-t": ""}


@command("info inputs", group="Look", shorts=_SHORTS, shorthands={"li list_inputs": Alias("info inputs", _FLOW)})
def inputs(dbg: Debugger, target: OpName, *, recursive: bool = False, depth: Count | None = None,
           control: bool = False) -> Result:
    """Draw what an op takes; recursive: and what that takes, as a tree that shows each op's own inputs once.

    depth: how far; of all that is recursive, 20 unless told. control: with the ops that are only waited for.

    Example:  info inputs hidden1/Relu -d 3
    API:      dbg.places.tree("hidden1/Relu", depth=3)
    """
    return _drawn(dbg.places.tree(target, depth=depth or (DEPTH if recursive else 1), control=control))


@command("info outputs", group="Look", shorts=_SHORTS, shorthands={"lo list_outputs": Alias("info outputs", _FLOW)})
def outputs(dbg: Debugger, target: OpName, *, recursive: bool = False, depth: Count | None = None,
            control: bool = False) -> Result:
    """Draw which ops take an op's outputs; recursive: and who takes theirs.

    depth: how far; of all that is recursive, 20 unless told. control: with the ops that only wait for it.

    Example:  info outputs hidden1/MatMul
    API:      dbg.places.tree("hidden1/MatMul", outputs=True)
    """
    return _drawn(dbg.places.tree(target, outputs=True, depth=depth or (DEPTH if recursive else 1), control=control))


def _drawn(tree: OpTree) -> Tree:
    more = " (waited for)" * tree.is_control + ", as above" * tree.again + f", … {tree.cut} more" * bool(tree.cut)
    return Tree(f"{tree.op.name} ({tree.op.type}){more}", tuple(map(_drawn, tree.children)), place(tree.op.place))


@command("info vars", group="Look")
def variables(dbg: Debugger, *, unused: bool = False) -> Result:
    """List the variables with their figures, and why one gets no gradient.

    unused: only those that y does not depend on.

    Example:  info vars
    API:      dbg.variables()
    """
    rows = tuple((row.name, row.handle, row.dtype, shape(row.shape), "yes" if row.trainable else "no",
                  "yes" if row.initialized else "no", *figures(row.stats), place(row.place), row.reason)
                 for row in dbg.variables(unused=unused))
    columns = (Column("variable", "name"), Column("handle", "name", 5), Column("dtype", "text", 3), Column("shape"),
               Column("trained", "text", 4), Column("has value", "text", 5), *FIGURES,
               Column("made at", "place", 2), Column("no gradient because", "prose", 8))
    return Table(columns, rows, count_of(len(rows), "variable") + (" that y does not depend on" if unused else ""))


@command("info nans", group="Look")
def nans(dbg: Debugger, *, harmful: bool = False, masked: bool = False) -> Result:
    """List the tensors of the last run with nan or inf, in the order of computing.

    harmful: those that reach y or a gradient. masked: those without effect.

    Example:  info nans
    API:      dbg.nonfinite(), dbg.nonfinite("harmful")
    """
    kind = "harmful" if harmful else "masked" if masked else ""
    rows = dbg.nonfinite(kind)
    if not rows:
        return Text(f"no {kind}{' ' * bool(kind)}nan or inf in the last run", "good")
    columns = (Column("tensor", "name"), Column("op"), Column("shape"), Column("nan", "bad"), Column("inf", "bad"),
               Column("effect", "text", 6), Column("made at", "place", 5))
    return Table(columns, tuple((row.name, row.op_type, shape(row.stats.shape if row.stats else row.shape),
                                 row.stats.nans if row.stats else None, row.stats.infs if row.stats else None,
                                 "harmful" if row.harmful else "masked", place(row.place)) for row in rows),
                 "nan and inf in the last run, in the order of computing", ("why nan says where it began",))
