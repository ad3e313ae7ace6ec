"""What a script makes and nothing reads: where its loss takes data in the place of that, and what is not returned."""
from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ..core.site import Site
from ..debug.analysis.advice import Remark
from ..debug.analysis.scripts.parsed import Parsed
from ..debug.facts.records import Place
from ..debug.facts.roles import as_place, at_line, place_on
from .handed_on import function_of, own
from .new_lines import NewLines, last_name, replaced, text_on
from .script_lines import assigned_on, nodes_in, on_lines

_LOGS = ("log", "log2", "log1p", "logsigmoid", "log_sigmoid", "log_softmax", "softplus")  # that a loss takes of answers
_GIVING: tuple[type[ast.AST], ...] = (ast.Return, ast.Yield, ast.YieldFrom)


def unread(place: Place | None) -> Remark | None:
    """Of the line that makes what no loss is made of: the line that takes data in its place, as told by the script.

    None where something reads it, or nothing is taken twice.
    """
    names = assigned_on(place.file, place.line) if place is not None else ()
    if place is None or len(names) != 1:
        return None
    name, scope = names[0], function_of(Site(place.file, place.line, ""))
    nodes = list(ast.walk(scope)) if scope is not None else nodes_in(place.file)
    if any(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load) for node in nodes):
        return None
    for line, statement in sorted(on_lines(place.file).items()):
        if line > place.line and statement in nodes and statement.lineno == line == statement.end_lineno:
            for data, reads in _taken_twice(statement):
                source, used = Parsed.of_file(place.file), as_place(Site(place.file, line, place.function))
                lines = source.rows([(*source.range(node), name) for node in reads], place.file)
                return Remark(f"the way to the loss ends: {name}, which is made{at_line(place)}, is read by nothing, "
                              f"and {data} is taken in its place, beside itself", used, f"take {name} there", lines)
    return None


def _taken_twice(statement: ast.stmt) -> Iterator[tuple[str, list[ast.Name]]]:
    """The names that a statement takes twice, as a loss does answers and labels, and where answers belong."""
    def names_in(node: ast.AST) -> list[ast.Name]:
        return [each for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]

    for data in dict.fromkeys(each.id for each in names_in(statement)):
        every = [each for each in names_in(statement) if each.id == data]
        inside = [each for node in ast.walk(statement) if isinstance(node, ast.Call) and last_name(node.func) in _LOGS
                  for part in node.args for each in names_in(part) if each.id == data]
        left = [node.left for node in ast.walk(statement) if isinstance(node, ast.BinOp) and isinstance(
            node.op, ast.Sub) and isinstance(node.left, ast.Name) and {ast.unparse(node.left), ast.unparse(
                node.right)} == {data}]
        if 0 < len(inside) < len(every) or left:
            yield data, inside if 0 < len(inside) < len(every) else left


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
