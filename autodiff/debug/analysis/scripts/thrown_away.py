"""Results that a script leaves: `scaler.transform(x)` alone on a line, or one of two, which it reads the other for."""
from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ....core.errors import ArgumentError
from ....core.graph import Operation
from ....core.site import Site, source_lines
from ....core.traversal import ancestors
from ...facts.records import NewLines
from ...facts.roles import as_place, at_line
from .calls import called, given, is_call, owner_of, owner_text, word_of
from .changes import Change
from .expressions import pairs_of
from .parsed import Parsed
from .source_tree import Source

_OF_ARRAYS = ("astype", "clip", "reshape", "transpose", "round")  # methods that leave theirs as it is
_OF_NUMPY = (*_OF_ARRAYS[1:], "log", "log1p", "sqrt", "abs", "divide", "subtract", "multiply", "true_divide", "float32")
OF_DATASETS = ("batch", "cache", "map", "prefetch", "repeat", "shuffle", "skip", "take")  # which give new ones
_OF_SCALERS = "transform"  # of scikit-learn, unless it is told to do so in place


def thrown_away(source: Parsed) -> list[tuple[ast.expr, ast.expr]]:
    """The calls that nobody takes the value of, and the name of the array that each makes anew."""
    found: list[tuple[ast.expr, ast.expr]] = []
    for call in (node.value for node in source.all(ast.Expr)):
        owner = owner_of(call)
        arrays = [each for each in given(call, 0) if isinstance(each, (ast.Name, ast.Attribute))]
        if called(call) in _OF_ARRAYS and isinstance(owner, (ast.Name, ast.Attribute)) and not arrays:
            found.append((call, owner))
        elif arrays and word_of(call, "out") is None and _gives(source, call):
            found.append((call, arrays[0]))
    return found


def kept(source: Parsed) -> tuple[int, list[Change]] | None:
    """The line of the first such call, and all calls of its function with their arrays given what they make, if any."""
    found = [(call, array) for call, array in thrown_away(source) if _is_given_there(source, array)]
    if not found:
        return None
    alike = [(call, array) for call, array in found if called(call) == called(found[0][0])]
    return alike[0][0].lineno, [(source.range(call)[0],) * 2 + (f"{source.raw(array)} = ",) for call, array in alike]


def left_dataset(source: Parsed, *methods: str) -> tuple[int, list[Change]] | None:
    """The first call of such a method whose new dataset nobody takes, alone on a line; it is given to what it is of."""
    for call in (node.value for node in source.all(ast.Expr)):
        owner = owner_of(call)
        if called(call) in methods and isinstance(owner, (ast.Name, ast.Attribute)) and _is_given_there(
                source, owner) and _is_dataset(source, owner):
            return call.lineno, [(source.range(call)[0],) * 2 + (f"{source.raw(owner)} = ",)]
    return None


def never_read(source: Parsed, line: int) -> ast.Assign | None:
    """The statement that makes a weight, and gives it to a name which is read nowhere in the file; None for others."""
    for node in source.at_line(line, ast.Assign):
        name = getattr(node.targets[0], "attr", getattr(node.targets[0], "id", ""))
        read = any(isinstance(each, (ast.Attribute, ast.Name)) and isinstance(each.ctx, ast.Load)
                   and getattr(each, "attr", getattr(each, "id", "")) == name for each in source.all(ast.expr))
        if len(node.targets) == 1 and name and not read and is_call(node.value, "addweight", "addvariable", "variable"):
            return node
    return None


def _is_dataset(source: Parsed, owner: ast.expr) -> bool:
    """Whether a name is given what a method of a dataset, or a class of them, makes."""
    return any("Dataset" in ast.unparse(value) or called(value) in OF_DATASETS
               for value in source.given_to(owner))


def _is_given_there(source: Parsed, array: ast.expr) -> bool:
    """Whether a name is its scope's own, and no loop's, so that what it is given lasts."""
    scope = source.scope(array)
    own = {node.id for node in ast.walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {each.arg for each in getattr(getattr(scope, "args", None), "args", ())}
    looped = {node.id for loop in source.all(ast.For) for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    return not isinstance(array, ast.Name) or array.id in own - looped


def _gives(source: Parsed, call: ast.AST) -> bool:
    """Whether what is called only gives a value."""
    name, owner = called(call), owner_text(call)
    made = [each for each in source.all(ast.FunctionDef) if each.name == name]
    if made:
        return all(map(_is_pure, made))
    if name == _OF_SCALERS:
        values = [value for value in source.given_to(owner_of(call) or ast.Name("")) if isinstance(value, ast.Call)]
        return "sklearn" in source.text and not any(word_of(value, "copy", "inplace") for value in values)
    return owner == source.imported().get("numpy") and name in _OF_NUMPY


def _is_pure(function: ast.FunctionDef) -> bool:
    """Whether a function gives a difference or a quotient, and changes nothing that is not its own."""
    inside = [*ast.walk(function)]
    given_to = [(node, target) for node in inside if isinstance(node, ast.Assign) for target in node.targets]
    is_own = all(isinstance(target, (ast.Name, ast.Tuple)) and (node.lineno, node.col_offset) != (
        node.value.lineno, node.value.col_offset) for node, target in given_to)  # a += b is read as a + b, given to a
    returned = [node.value for node in inside if isinstance(node, ast.Return) and node.value is not None]
    computes = any(isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Sub)) for node in inside)
    return bool(returned) and computes and is_own and not any(
        isinstance(node, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom)) or is_call(node, "fit", "assign", "run")
        or isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) for node in inside)


class Instead(NamedTuple):
    """What the lost and the used result are called, where the first is made, where the other is read, and that anew."""

    lost: str
    used: str
    made: str
    read: str
    lines: NewLines


class _Named(NamedTuple):
    """A name and the expression that it is given; last: the op that this gives. outer: what had called there."""

    text: str
    node: ast.expr
    last: Operation
    outer: tuple[Any, ...]


def read_instead(lost: Operation, used: Operation, after: Iterable[Operation], below: set[Operation]) -> Instead | None:
    """Of a result that nothing uses, and one that is on the way: the one statement that reads the other's name.

    after: what is made of what has no gradient; below: all that is on the way.
    """
    for file in dict.fromkeys(site.file for site in lost.traceback):
        with contextlib.suppress(ArgumentError, OSError, SyntaxError, ValueError):
            source = Source("".join(source_lines(file)))
            theirs = [*_names(source, used, below, file)]
            for mine in _names(source, lost, after, file):
                on_the_way = below - ancestors(mine.last.outputs)
                for other in theirs:
                    reads = [*_reads(source, mine, other, on_the_way, file)] if mine.text != other.text else []
                    if len({source.statement(node) for node in reads}) == 1:
                        made, read = (at_line(as_place(Site(file, node.lineno, ""))) for node in (mine.node, reads[0]))
                        return Instead(mine.text, other.text, made, read, source.rows(
                            [(*source.range(node), mine.text) for node in reads], file))
    return None


def _names(source: Source, op: Operation, ops: Iterable[Operation], file: str) -> Iterator[_Named]:
    for number, span in enumerate(op.spans):
        for node in source.at_line(span.line, ast.Assign) if span.file == file and op.span else ():
            values = [*pairs_of(node), *((ast.Subscript(node.targets[0], key), value) for key, value in zip(
                getattr(node.value, "keys", ()), getattr(node.value, "values", ())))]
            for target, value in values if not source.is_in_loop(node) else ():
                made = [*_made_in(value, ops, file, op.spans[number + 1:])]
                last = max(made, key=lambda each: each.index, default=op)
                if op in made and op in ancestors(last.outputs) and not hasattr(target, "elts"):
                    yield _Named(ast.unparse(target), value, last, op.spans[number + 1:])


def _made_in(node: Any, ops: Iterable[Operation], file: str, outer: tuple[Any, ...] | None) -> Iterator[Operation]:
    """Those ops that an expression or statement made, where that was reached so."""
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    for op in ops:
        spans = op.spans if op.gradient_of is None else ()
        if any(each.file == file and start <= (each.line, each.column) and (each.end_line, each.end_column) <= end
               and outer in (None, spans[i + 1:]) for i, each in enumerate(spans)):
            yield op


def _reads(source: Source, mine: _Named, other: _Named, below: Iterable[Operation], file: str) -> Iterator[ast.expr]:
    """Where a name is read, after the first was made, by what is on the way."""
    scopes = [source.scope(mine.node), source.scope(other.node)]
    is_own = "." in mine.text and mine.text.partition(".")[0] == other.text.partition(".")[0]
    nodes: list[Any] = source.all(ast.Name, ast.Attribute, ast.Subscript)
    for node in nodes:
        around = {*scopes, source.scope(node)}
        if ast.unparse(node) == other.text and isinstance(node.ctx, ast.Load) and (len(around) == 1 or is_own and len(
                {source._around.get(each) for each in around}) == 1):
            made = _made_in(source.statement(node), below, file, mine.outer if len(around) == 1 else None)
            if any(t in op.inputs and op.index > mine.last.index for op in made for t in other.last.outputs):
                yield node
