"""A function that returns more than its loss, differentiated as if it did not: has_aux=True, as a script has it."""
from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ..core.errors import ArgumentError
from ..debug.analysis.scripts.calls import called, words_of
from ..debug.analysis.scripts.changes import Change
from ..debug.analysis.scripts.parsed import Parsed
from .new_lines import NewLines, last_name

_PAIR = (ast.Tuple, ast.List)


def line_of_return(file: str, at: int) -> int:
    """Where the function of the script returns whose gradient is asked for on a line; 0 where that is not clear."""
    source = Parsed.of_file(file)
    names = [last_name(made.args[0]) for _, made in _asked(source, at) if made.args]
    return max((node.lineno for each in source.all(ast.FunctionDef) if each.name in names[:1]
                for node in ast.walk(each) if isinstance(node, ast.Return) and source.scope(node) is each), default=0)


def with_auxiliary(file: str, returns: int, at: int) -> NewLines:
    """has_aux=True where the call on a line has its gradient made, and names for what comes of that, where they lack.

    returns: the line where the function returns so much. {} where it is not clear what takes it.
    """
    source = Parsed.of_file(file)
    is_pair = any(isinstance(each.value, ast.Tuple) and len(each.value.elts) == 2
                  for each in source.at_line(returns, ast.Return))
    for call, made in _asked(source, at) if is_pair else ():
        try:
            taken = (_values if "value" in called(made) else _gradients)(source, call, made)
            return source.rows([source.told(made, "has_aux", "True"), *taken], file)
        except ArgumentError:
            break
    return {}


def _asked(source: Parsed, at: int) -> Iterator[tuple[ast.Call, ast.Call]]:
    """The calls on a line that give gradients, with where that is made: jax.grad(f), jax.value_and_grad(f)."""
    for call in source.at_line(at, ast.Call):
        yield from ((call, each) for func in _functions(source, call.func) if not isinstance(func, ast.Attribute)
                    for each in ast.walk(func) if isinstance(each, ast.Call)
                    and called(each).removeprefix("filter_") in ("grad", "value_and_grad"))


def _functions(source: Parsed, func: ast.expr) -> list[ast.expr]:
    """Where it is made what is called: there, or where that name, or parameter, is given its value."""
    return [func, *source.given_to(func), *(each for given in source.passed(func) for each in [
        given, *source.given_to(given)])]


def _values(source: Parsed, call: ast.Call, _: ast.Call) -> Iterator[Change]:
    """`(loss, _)` for the loss of what takes a value and gradients. Raises ArgumentError where nothing shows both."""
    targets = _targets(source, call)
    pairs: list[list[Any]] = [[each] if isinstance(each, _PAIR) else _parts_of(source, each) for each in targets]
    if not all(pairs) or not pairs and not _is_dropped(source, call):
        raise ArgumentError("what it gives is not taken as two")
    for pair in (part for each in pairs for part in each):
        value: Any = pair.elts[0] if isinstance(pair, _PAIR) else pair
        if value is pair:
            if value.slice.value == 0 and not isinstance(source._around[pair], ast.Subscript):
                yield source.put(value, f"{source.raw(value)}[0]")
        elif not isinstance(value, _PAIR) and not _parts_of(source, value):
            yield source.put(value, f"({source.raw(value)}, _)")


def _gradients(source: Parsed, call: ast.Call, made: ast.Call) -> Iterator[Change]:
    """`grads, _` for what takes gradients, or the first of both for an expression of them."""
    several = any(isinstance(each, _PAIR) for each in (words_of(made).get("argnums"), *made.args[1:2]))
    targets = _targets(source, call)
    for target in targets:
        pairs = [target] if isinstance(target, _PAIR) else _parts_of(source, target)
        names = [ast.unparse(each) for each in (target.elts if isinstance(target, _PAIR) else [target])]
        if several or not pairs or all(name.startswith(("g", "d")) for name in names):
            text = source.raw(target)
            is_bare = isinstance(target, _PAIR) and not text.startswith(("(", "["))
            yield source.put(target, f"({text}), _" if is_bare else f"{text}, _")
    if not targets and not _is_dropped(source, call):
        yield (end := source.range(call)[1]), end, "[0]"


def _is_dropped(source: Parsed, call: ast.Call) -> bool:
    """Whether nothing takes what a call gives."""
    statement = source.statement(call)
    return isinstance(statement, ast.Expr) and statement.value is call


def _targets(source: Parsed, call: ast.Call) -> list[ast.expr]:
    """What is given what a call gives, also where a function returns it; [] for none."""
    statement = source.statement(call)
    if getattr(statement, "value", None) is not call:
        return []
    if isinstance(statement, ast.Return):
        name = getattr(source.scope(statement), "name", "").replace("_", "").lower()
        return [target for each in source.calls_named(name) for target in _targets(source, each)]
    return statement.targets[:1] if isinstance(statement, ast.Assign) else []


def _parts_of(source: Parsed, target: ast.expr) -> list[Any]:
    """What takes a name apart where it stands: targets that it is assigned to, or its elements by their numbers."""
    name, scope = ast.unparse(target), source.scope(target)
    return [each.targets[0] for each in source.all(ast.Assign) if source.scope(each) is scope and isinstance(
        each.targets[0], _PAIR) and ast.unparse(each.value) == name] or [
        each for each in source.all(ast.Subscript) if source.scope(each) is scope and ast.unparse(each.value) == name
        and isinstance(each.slice, ast.Constant) and isinstance(each.slice.value, int)]
