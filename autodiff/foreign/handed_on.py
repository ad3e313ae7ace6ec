"""What a line makes anew and a loop is to go on with: the lines by which it does, out to the loop."""
from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, TypeVar

from ..core.site import Site
from .new_lines import NewLines, after, last_name, replaced
from .script_lines import holding, on_lines

_Node = TypeVar("_Node", bound=ast.AST)


def handed_on(sites: Sequence[Site], name: str, position: int | None = None) -> NewLines:
    """Lines with which `name` becomes what is made in its place. {} where that is so already, or not surely known.

    sites: of the line that makes it, innermost first. position: which of the line's results it is, None for the only
    one.
    """
    for depth, site in enumerate(sites):
        statement, scope = on_lines(site.file).get(site.line), function_of(site)
        if statement is None:
            return {}
        target = _target(statement, position)
        made = target.id if isinstance(target, ast.Name) else ""
        returned = returned_by(scope, statement)
        places = [i for i, node in enumerate(returned) if isinstance(node, ast.Name) and node.id == made]
        if isinstance(statement, ast.Return):
            places = [0 if position is None else position] if returned else []
        if isinstance(statement, ast.Expr) and depth:
            return taken(function_of(sites[depth - 1]), site, statement, name, position or 0)
        if not isinstance(statement, (ast.Assign, ast.Return)) or not made and not isinstance(statement, ast.Return):
            return {}
        if scope is None or not places:
            return _named(site, statement, target, name) if made and made != name else {}
        call = _call(sites, depth + 1, scope.name)
        given = _argument(call, scope, name)
        if given is None:
            return {}
        name, position = given, places[0] if len(returned) > 1 else None
    return {}


def _named(site: Site, statement: ast.stmt, target: Any, name: str) -> NewLines:
    """The result by that name; where it is read by another too, that is kept."""
    scope: Any = function_of(site)
    reads = [node for node in ast.walk(scope) if isinstance(node, ast.Name) and node.id == target.id
             and isinstance(node.ctx, ast.Load)] if scope is not None else _reads(site, target.id)
    return after(site.file, statement.lineno, f"{name} = {target.id}") if reads else replaced(site.file, target, name)


def _reads(site: Site, name: str) -> list[ast.Name]:
    return [node for statement in set(on_lines(site.file).values()) for node in ast.walk(statement)
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)]


def taken(scope: ast.FunctionDef | None, site: Site, statement: ast.Expr, name: str, position: int = 0) -> NewLines:
    """A call of a function whose results nobody takes, assigned to what it was given for them."""
    returned = returned_by(scope)
    call = statement.value
    if scope is None or not isinstance(call, ast.Call) or not returned:
        return {}
    given = [_argument(call, scope, node.id) or "_" if isinstance(node, ast.Name) else "_" for node in returned]
    given[position] = name
    return replaced(site.file, statement, f"{', '.join(given)} = {{}}")


def function_of(site: Site) -> ast.FunctionDef | None:
    """The function that a line is in."""
    found = [node for node in holding(site.file, site.line) if isinstance(node, ast.FunctionDef)]
    return max(found, key=lambda node: node.lineno, default=None)


def _target(statement: ast.stmt, position: int | None) -> ast.expr | None:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    parts = targets[0].elts if len(targets) == 1 and isinstance(targets[0], (ast.Tuple, ast.List)) else None
    if position is None or parts is None:
        return targets[0] if len(targets) == 1 and parts is None and position is None else None
    return parts[position] if position < len(parts) else None


def returned_by(scope: ast.FunctionDef | None, here: ast.stmt | None = None) -> list[ast.expr]:
    """What the only return of a function gives, one by one; [] where there is none, or several."""
    returns = own(scope, ast.Return) if scope is not None else []
    value = returns[0].value if len(returns) == 1 else getattr(here, "value", None) if here in returns else None
    if value is None:
        return []
    return list(value.elts) if isinstance(value, ast.Tuple) else [value]


def own(scope: ast.FunctionDef, kind: type[_Node]) -> list[_Node]:
    """The nodes of a kind in a function, but for those of functions within it."""
    nodes = [*ast.walk(scope)]
    inner = {node for each in nodes[1:] if isinstance(each, ast.FunctionDef) for node in ast.walk(each)}
    return [node for node in nodes if isinstance(node, kind) and node not in inner]


def _call(sites: Sequence[Site], depth: int, name: str) -> ast.Call | None:
    """The call of a function on the line of one who asked for it; the only call there, where it has another name."""
    statement = on_lines(sites[depth].file).get(sites[depth].line) if depth < len(sites) else None
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)] if statement is not None else []
    named = [call for call in calls if last_name(call.func) == name]
    return next(iter(named or calls), None)


def _argument(call: ast.Call | None, scope: ast.FunctionDef, name: str) -> str | None:
    """The name that a function is given for one of its parameters."""
    titles = [each.arg for each in (*scope.args.posonlyargs, *scope.args.args)]
    if call is None or name not in titles:
        return None
    given = [word.value for word in call.keywords if word.arg == name] + call.args[titles.index(name):][:1]
    return given[0].id if given and isinstance(given[0], ast.Name) else None
