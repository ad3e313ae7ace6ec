"""Keys that a step makes of a number, so that it draws the same each time; and the key that it is given beside."""
from __future__ import annotations

import ast

from ...core.site import Site
from ..handed_on import function_of
from ..new_calls import calls_on
from ..new_lines import NewLines, last_name, replaced
from ..script_lines import assigned_on, holding, nodes_in, on_lines, spelled
from .draws import DRAWING, is_key

_MAKES, _DEEPEST = ("PRNGKey", "key"), 4  # calls from the loop down to the draw


def made_on(file: str, line: int) -> ast.Call | None:
    """What makes the key that a line draws by, in the same function, of numbers; None where it is given one."""
    for call in calls_on(file, line, *DRAWING):
        given = next(iter([word.value for word in call.keywords if word.arg == "key"] + call.args[:1]), None)
        scope = function_of(Site(file, line, ""))
        made = [statement.value for at, statement in on_lines(file).items() if isinstance(statement, ast.Assign)
                and isinstance(given, ast.Name) and given.id in assigned_on(file, at)
                and function_of(Site(file, at, "")) is scope]
        node = given if isinstance(given, ast.Call) else made[0] if len(made) == 1 else None
        if scope is not None and isinstance(node, ast.Call) and last_name(node.func) in _MAKES and all(
                isinstance(each, ast.Constant) for each in node.args):
            return node
    return None


def given_instead(file: str, line: int) -> NewLines:
    """The key that the function is given, in place of the one that it makes, folded with the round of a loop that
    calls it; {} where it is given none."""
    made, scope = made_on(file, line), function_of(Site(file, line, ""))
    names = [each.arg for each in scope.args.args] if scope is not None else []
    for i, name in enumerate(names if made is not None and scope is not None else ()):
        if _is_given_key(file, scope.name, i, _DEEPEST):  # type: ignore[union-attr]
            rounds = [each for k, each in enumerate(names) if k != i and any(
                isinstance(node, ast.Name) and node.id in _rounds(file, node.lineno)
                for node in _arguments(file, scope.name, k))]  # type: ignore[union-attr]
            fold = f"{spelled(file, 'jax.random.fold_in')}({name}, {rounds[0]})" if rounds else name
            return replaced(file, made, fold) if made is not None else {}
    return {}


def _arguments(file: str, title: str, place: int) -> list[ast.expr]:
    """What calls of a function, or of what a transformation makes of it, give at a place."""
    calls = [node for node in nodes_in(file) if isinstance(node, ast.Call) and len(node.args) > place]
    return [call.args[place] for call in calls if getattr(call.func, "id", "") == title or isinstance(
        call.func, ast.Call) and any(getattr(each, "id", "") == title for each in call.func.args)]


def _is_given_key(file: str, title: str, place: int, depth: int) -> bool:
    """Whether a function is given a random key at a place, by a name of the script's, or of a caller's."""
    for node in _arguments(file, title, place) if depth else ():
        scope = function_of(Site(file, node.lineno, ""))
        names = [each.arg for each in scope.args.args] if scope is not None else []
        if isinstance(node, ast.Name) and (_is_given_key(file, scope.name, names.index(node.id), depth - 1) if (
                scope is not None and node.id in names) else is_key(file, node.id)):
            return True
    return False


def _rounds(file: str, line: int) -> set[str]:
    """The numbers of the rounds of the loops around a line, by their names."""
    return {node.target.id for node in holding(file, line) if isinstance(node, ast.For) and isinstance(
        node.target, ast.Name)}
