"""Rows of a table that are chosen as those nearest to something: what lets the gradient past that choice, straight."""
from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ....core.constant_value import static_value
from ....core.errors import ArgumentError
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, past, users_of
from ...facts.roles import VARIABLES
from .changes import Change, changed
from .source_tree import Source
from .states import Named, names_of

_INDEX = ("Cast", "Reshape", "Squeeze", "ExpandDims", "Identity", "OneHot", "SelectV2")  # as of x[i], with i below 0
_LOOKUPS = ("GatherV2", "GatherNd", "ResourceGather", "MatMul")
_ARRANGED = ("Reshape", "Identity", "ExpandDims", "Squeeze", "StridedSlice", "BroadcastTo", "Transpose")
_READ = ("Identity", "ReadVariableOp", "Transpose")
_KEPT = ("Identity", "Reshape", "StopGradient")
_SQUARES = ("Square", "SquaredDifference", "Pow", "Mul")
_BETA = 0.25
_TEXT = "z + {tf}.stop_gradient(chosen - z)"


def straight_past(source: Source, cut: Operation, y: Tensor) -> tuple[list[Change], str]:
    """The changes by which what is made of chosen rows takes them with the gradient of what they are near to; and in
    words. [] and "" where it is not such a choice, or nothing calls both by names in one place."""
    try:
        for chosen, near in _chosen(cut):
            takers = _taken(chosen.op, _KEPT)
            compared = [op for op in takers if op.type in ("Sub", "SquaredDifference") and past(
                near, _KEPT) in (past(t, _KEPT) for t in op.inputs)]
            takers = [op for op in takers if op in compared or op in ancestors([y])]
            for here, name in _both(source, chosen, near):
                inside, beside = ([_reads(source, here, op) for op in takers if (op in compared) is each]
                                  for each in (False, True))
                nodes = [*dict.fromkeys(node for each in inside for node in each)] if all(inside) else (
                    _returned(source, here) if not any(inside) and all(beside) else [])
                if inside and nodes and _is_alike(source, name, near.op, here.scope, nodes[0]):
                    new = "".join({"z": name, "chosen": here.name}.get(each, each) for each in re.split(
                        r"\b", source.spelled(_TEXT)))
                    held, words = _held(source, here, (name, near), compared)
                    return [*(source.put(each, new) for each in nodes), *held], (
                        f"{new} in place of {here.name} at line {nodes[0].lineno}{words}")
    except (ArgumentError, LookupError, ValueError):
        pass
    return [], ""


def _held(source: Source, here: Named, to: tuple[str, Tensor], compared: list[Operation]) -> tuple[list[Change], str]:
    """What holds the numbers that rows are near to by these, where a loss draws only the rows to them; and in words.

    Source: van den Oord, Vinyals, Kavukcuoglu (2017), equation 3, with its beta of 0.25.
    """
    name, near = to
    stops = [next(filter(None, (_stop(t) for t in op.inputs if past(t, _KEPT) is past(near, _KEPT))), None)
             for op in compared]
    for op, stop in zip(compared, stops):
        square = next((each for each in (op, *users_of(op)) if each.type in _SQUARES), None)
        node: Any = next(iter(source.spanned(square)), None) if square is not None else None
        if not all(stops) or stop is None or node is None or source.scope(node) is not here.scope:
            continue
        inside = {*map(id, ast.walk(node))}
        stopped = [each for each in source.spanned(stop) if id(each) in inside]
        rows = [each for each in ast.walk(node) if _is_named(source, each, here.name)]
        if len(stopped) == len(rows) == 1 and _is_alike(source, name, near.op, here.scope, node):
            other = re.sub(rf"(?<![\w.]){re.escape(name)}\b", here.name, source.raw(stopped[0]))
            new = changed(source.raw(node), [
                (start - source.range(node)[0], end - source.range(node)[0], text) for start, end, text in (
                    (*source.range(stopped[0]), name), (*source.range(rows[0]), other))])
            both = f"{source.raw(node)} + {_BETA} * {new}"
            return [(*source.range(node), f"({both})" if source.is_beside_operator(node) else both)], (
                f", and + {_BETA} * {new} at line {node.lineno}, without which nothing holds {name} near {here.name}")
    return [], ""


def _stop(tensor: Tensor) -> Operation | None:
    """The nearest op above that stops the gradient, if others only arrange it."""
    found = past(tensor, tuple(each for each in _KEPT if each != "StopGradient")).op
    return found if found.type == "StopGradient" else None


def _chosen(cut: Operation) -> Iterator[tuple[Tensor, Tensor]]:
    """What is looked up in a variable by an index that a comparison of the variable with something else gave, as rows
    of the size of that; and that."""
    index = past(cut.outputs[0], _INDEX).op
    behind = ancestors(index.inputs)
    if index.type not in ("ArgMin", "ArgMax"):
        return
    for lookup in _taken(index, _INDEX):
        made = {table for t in lookup.inputs if lookup.type in _LOOKUPS and (table := past(t, _READ).op) in behind
                and table.type in VARIABLES}
        first = lookup.outputs[0]
        own = [op for op in behind if made & ancestors(op.inputs)]
        nears = [(t, each) for op in own for t in map(_unscaled, op.inputs) if t.op not in own and t.op not in made
                 for each in _arranged(t) if each.op.inputs and each.dtype.is_floating]
        yield from dict.fromkeys((rows, near) for rows in _later(first) for t, near in nears
                                 if _is_in_order(rows, first, near, t))


def _unscaled(tensor: Tensor) -> Tensor:
    """What is multiplied by a number, as in the product that a squared distance has twice."""
    others = [t for t in tensor.op.inputs if static_value(t) is None] if tensor.op.type == "Mul" else []
    return _unscaled(others[0]) if len(others) == 1 else tensor


def _later(rows: Tensor) -> list[Tensor]:
    """Rows as they are arranged anew, each time, the last first; themselves."""
    users = users_of(rows.op)
    is_one = len(users) == 1 and users[0].type in ("Reshape", "Identity", "Transpose")
    return [*(_later(users[0].outputs[0]) if is_one else []), rows]


def _is_in_order(rows: Tensor, first: Tensor, near: Tensor, last: Tensor) -> bool:
    """Whether each of `rows`, an arrangement of the first ones, stands where `near` has what it was chosen for by the
    last arrangement of that."""
    if len(near.dims or ()) != len(rows.dims or ()) or not near.dims or not rows.dims or any(
            None not in pair and pair[0] != pair[1] for pair in zip(near.dims, rows.dims)):
        return False
    if not any(each.op.type == "Transpose" for top, of in ((first, rows), (near, last)) for each in _arranged(of)
               if top.op in ancestors([each]) and each is not top):
        return rows.dims[-1] is not None
    try:
        places = np.arange(np.prod([2 if n is None else n for n in near.dims]))
        return bool(np.all(_order(rows, first, _order(last, near, places)).ravel() == places))
    except (TypeError, ValueError):  # of another size, or none that is known
        return False


def _order(tensor: Tensor, top: Tensor, places: np.ndarray) -> np.ndarray:
    """The places of what a tensor is an arrangement of, as they lie there."""
    if tensor is top or tensor.op.type != "Transpose":
        found = places if tensor is top else _order(tensor.op.inputs[0], top, places)
        return found.reshape([-1 if n is None else n for n in tensor.dims or ()])
    return _order(tensor.op.inputs[0], top, places).transpose(static_value(tensor.op.inputs[1]))


def _arranged(tensor: Tensor) -> list[Tensor]:
    """What a tensor was before it was arranged anew, each time, the first of them first."""
    return [*(_arranged(tensor.op.inputs[0]) if tensor.op.type in _ARRANGED else []), tensor]


def _taken(op: Operation, through: tuple[str, ...]) -> list[Operation]:
    """The forward ops that take what an op gives, through others that only arrange it."""
    return [each for user in users_of(op) for each in (_taken(user, through) if user.type in through else [user])]


def _both(source: Source, chosen: Tensor, near: Tensor) -> Iterator[tuple[Named, str]]:
    """Where the rows have a name, from inside; and what is called there what they are near to."""
    known = [each for start in _starts(source, near) for each in names_of(source, start)]
    for here in (each for start in _starts(source, chosen) for each in names_of(source, start)):
        yield from ((here, each.name) for each in known if each.scope is here.scope and (
            each.name.isidentifier() or each.name.startswith("self.")))


def _starts(source: Source, tensor: Tensor) -> Iterator[Named]:
    """What a tensor is called where it is made, and where something is made of it."""
    for node in source.spanned(tensor.op):
        statement = source.statement(node)
        is_whole = isinstance(statement, ast.Assign) and statement.value is node and not any(
            user.span == tensor.op.span for user in users_of(tensor.op))  # of which more is made in that expression
        target = statement.targets[0] if isinstance(statement, ast.Assign) and is_whole else node
        yield Named(source.scope(statement), source.raw(target))
    for user in users_of(tensor.op):
        try:
            node = source.expression(user)
            part = source.operand(node, user, list(user.inputs).index(tensor))
        except ArgumentError:
            made = next(iter(source.spanned(user)), None)
            if not isinstance(made, ast.Call) or made.args or not isinstance(made.func, ast.Attribute):
                continue  # no method, such as x.detach(), of which it is sure what it was called of
            node, part = made, made.func.value
        yield Named(source.scope(node), source.raw(part))


def _reads(source: Source, here: Named, op: Operation) -> list[Any]:
    """Where the expression in a function that led to an op reads a name."""
    spans = {span[1:] for span in op.spans}
    calls: list[Any] = [node for node in ast.walk(here.scope) if isinstance(node, ast.expr)]
    return [each for node in calls if (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) in spans
            and source.scope(node) is here.scope for each in ast.walk(node) if _is_named(source, each, here.name)]


def _returned(source: Source, here: Named) -> list[Any]:
    """Where a function returns what has a name there, alone or beside other things."""
    ends = [each.value for each in ast.walk(here.scope) if isinstance(each, ast.Return)]
    return [each for end in ends for each in getattr(end, "elts", [end]) if _is_named(source, each, here.name)]


def _is_named(source: Source, node: Any, name: str, *, stored: bool = False) -> bool:
    return isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", None), ast.Store) == stored and (
        source.raw(node) == name)


def _is_alike(source: Source, name: str, op: Operation, scope: ast.AST, node: Any) -> bool:
    """Whether a name is given nothing between where an op is made, or where the function begins, and a node."""
    lines = [span.line for span in op.spans if any(source.scope(each) is scope for each in source.at_line(
        span.line, ast.expr))]
    stores: list[Any] = [each for each in ast.walk(scope) if _is_named(source, each, name, stored=True)]
    return not any(max(lines, default=0) < each.lineno < node.lineno for each in stores)
