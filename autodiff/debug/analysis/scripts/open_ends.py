"""Where a script adds the best that follows to a reward, and leaves unread what it took beside them."""
from __future__ import annotations

import ast
from typing import NamedTuple

from ....core.errors import ArgumentError
from ...facts.records import NewLines
from .calls import called
from .parsed import Parsed

_BEST = ("max", "amax", "nanmax")
_BESIDE = 4  # names that are unpacked together


class OpenEnd(NamedTuple):
    """line: where the best is taken. name: of what nothing reads, though others were taken alike. unread: its line."""

    line: int
    name: str
    unread: int
    lines: NewLines


def open_end(file: str) -> OpenEnd | None:
    """The one place of a script where it does, and its lines with the best multiplied by 1 - what is not read."""
    try:
        source = Parsed.of_file(file)
        best, unread = _found(source)
        changes = [(source.range(best)[1],) * 2 + (f" * (1 - {unread.id})",)]
        return OpenEnd(best.lineno, unread.id, unread.lineno, source.rows(changes, file))
    except (ArgumentError, OSError, SyntaxError, ValueError):
        return None


def _found(source: Parsed) -> tuple[ast.Call, ast.Name]:
    """Raises ValueError if there is not one of each in one scope."""
    summed = [call for call in source.all(ast.Call) if called(call) in _BEST and _is_added(source, call)]
    found = [(call, name) for call in summed for name in _unread(source, source.scope(call))]
    (best, name), = found
    return best, name


def _is_added(source: Parsed, call: ast.Call) -> bool:
    """Whether a call's result is multiplied, and added to something."""
    around = []
    for each in source.around(call):
        if not isinstance(each, ast.BinOp):
            break
        around.append(type(each.op))
    return ast.Mult in around and ast.Add in around


def _unread(source: Parsed, scope: ast.AST) -> list[ast.Name]:
    """The names that a scope gives to what it takes as it takes others, and that nothing reads."""
    names = [node for node in source.all(ast.Name) if source.scope(node) is scope]
    read = {node.id for node in ast.walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    stored = [node for node in names if isinstance(node.ctx, ast.Store) and node.id not in read
              and not node.id.startswith("_")]
    return [node for node in stored if _is_beside(source, node, names)]


def _is_beside(source: Parsed, name: ast.Name, names: list[ast.Name]) -> bool:
    around = next(source.around(name))
    if isinstance(around, (ast.Tuple, ast.List)):
        return len(around.elts) >= _BESIDE
    value = getattr(around, "value", None) if isinstance(around, ast.Assign) else None
    others = [each for node in names if node is not name and isinstance(each := next(source.around(node)), ast.Assign)]
    return value is not None and any(_shape(each.value) == _shape(value) for each in others)


def _shape(node: ast.AST) -> str:
    """An expression without its numbers."""
    return ast.dump(ast.parse("".join("0" if c.isdigit() else c for c in ast.unparse(node))))
