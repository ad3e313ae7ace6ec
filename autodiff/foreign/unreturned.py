"""Functions of the script that compute something and return nothing."""
from __future__ import annotations

import ast
from typing import Any

from ..debug.analysis.advice import Remark
from ..debug.facts.roles import at_line, place_on
from .handed_on import own
from .new_lines import NewLines, replaced, text_on
from .script_lines import assigned_on, nodes_in

_GIVING: tuple[type[ast.AST], ...] = (ast.Return, ast.Yield, ast.YieldFrom)


def unreturned(called: Any) -> Remark | None:
    """What is said of a function whose last line computes what it should return; None for any other."""
    code: Any = getattr(called, "__code__", None)
    node = _function(code.co_filename, code.co_firstlineno) if code is not None else None
    if node is None or any(own(node, kind) for kind in _GIVING):
        return None
    last = node.body[-1]
    place = place_on(code.co_filename, last.end_lineno or last.lineno)
    return Remark(f"{called.__qualname__.rpartition('<locals>.')[2]} ends{at_line(place)} without return, so what it "
                  "gives is None", place, "return what it has computed", _returned(code.co_filename, last))


def _function(file: str, line: int) -> ast.FunctionDef | None:
    return next((node for node in nodes_in(file) if isinstance(node, ast.FunctionDef) and min(
        [node.lineno, *(each.lineno for each in node.decorator_list)]) == line), None)


def _returned(file: str, last: ast.stmt) -> NewLines:
    """A return of what the last statement of a function computes."""
    if isinstance(last, ast.Expr):
        return replaced(file, last, "return {}")
    end = last.end_lineno or last.lineno
    names = [name for at in range(last.lineno, end + 1) for name in assigned_on(file, at)]
    return {(file, end): f"{text_on(file, end)}\n{' ' * last.col_offset}return {names[-1]}"} if names else {}
