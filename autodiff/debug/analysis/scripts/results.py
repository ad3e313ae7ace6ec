"""What a script calls two results of which it uses one, and where it reads that one in place of the other."""
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
from .expressions import pairs_of
from .source_tree import Source


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
