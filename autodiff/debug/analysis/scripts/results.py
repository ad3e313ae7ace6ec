"""What a script calls two results of which it uses one, and where it reads that one in place of the other."""
from __future__ import annotations

import ast
import contextlib
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from ....core.errors import ArgumentError
from ....core.graph import Operation
from ....core.site import Site, source_lines
from ....core.traversal import ancestors
from ...facts.records import NewLines
from ...facts.roles import as_place, at_line
from .source_tree import Source

_NAMES = (ast.Name, ast.Attribute, ast.Subscript)


class Instead(NamedTuple):
    """The names of what is lost and of what is used, at which line the first is made and the other is read, and that
    line anew."""

    lost: str
    used: str
    made: str
    read: str
    lines: NewLines


class _Named(NamedTuple):
    """A name that a statement gives to what op is, or is part of; last: what it is. outer: what had called there."""

    statement: ast.Assign
    text: str
    last: Operation
    outer: tuple[Site, ...]


def read_instead(lost: Operation, used: Operation, after: Collection[Operation], below: set[Operation]
                 ) -> Instead | None:
    """Of a result that nothing uses, and one that is on the way: the one statement that reads the other's name.

    after: what is made of what has no gradient; below: all that is on the way.
    """
    for file in dict.fromkeys(site.file for site in lost.traceback):
        with contextlib.suppress(ArgumentError, OSError, SyntaxError, ValueError):
            source = Source("".join(source_lines(file)))
            theirs = [*_names(source, used, below, file)]
            for mine in _names(source, lost, after, file):
                behind = ancestors(mine.last.outputs)
                for other in theirs:
                    reads = [*_reads(source, mine, other, below - behind, file)] if mine.text != other.text else []
                    lines = {source.statement(node).lineno for node in reads}
                    if len(lines) == 1:
                        made, read = (at_line(as_place(Site(file, line, ""))) for line in (
                            mine.statement.lineno, lines.pop()))
                        return Instead(mine.text, other.text, made, read, source.rows(
                            [(*source.range(node), mine.text) for node in reads], file))
    return None


def _names(source: Source, op: Operation, ops: Iterable[Operation], file: str) -> Iterator[_Named]:
    for number, site in enumerate(op.traceback):
        for node in source.at_line(site.line, ast.Assign) if site.file == file else ():
            target, outer = node.targets[0], op.traceback[number + 1:]
            made = [*_made_in(source, node, ops, file, outer)]
            last = max(made, key=lambda each: each.index, default=op)
            if isinstance(target, _NAMES) and not source.is_in_loop(node) and op in ancestors(last.outputs):
                yield _Named(node, source.raw(target), last, outer)


def _made_in(source: Source, node: Any, ops: Iterable[Operation], file: str, outer: Any = None) -> Iterator[Operation]:
    """Those ops that a statement made, where that was called so."""
    for op in ops:
        lines = op.traceback
        if op.gradient_of is None and any(
                site.file == file and node.lineno <= site.line <= node.end_lineno and outer in (None, lines[i + 1:])
                for i, site in enumerate(lines)):
            yield op


def _reads(source: Source, mine: _Named, other: _Named, below: Iterable[Operation], file: str) -> Iterator[ast.expr]:
    """Where a name is read, after the first was made, by what is on the way."""
    scope, there = source.scope(mine.statement), source.scope(other.statement)
    is_own = "." in mine.text and mine.text.partition(".")[0] == other.text.partition(".")[0]
    for node in source.all(ast.expr):
        around = source.scope(node)
        if source.raw(node) == other.text and isinstance(getattr(node, "ctx", None), ast.Load) and (
                around is scope is there or is_own and len({source._around.get(each) for each in (
                    around, scope, there)}) == 1):
            outer = mine.outer if around is scope else None
            made = _made_in(source, source.statement(node), below, file, outer)
            if any(t in op.inputs and op.index > mine.last.index for op in made for t in other.last.outputs):
                yield node
