"""States of recurrences in a script: what the last one is called, and a call that begins with it."""
from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ....core.graph import Operation
from .calls import called, given, word_of
from .changes import Change
from .source_tree import Source

_WORD = "initial_state"
_PLACES = {"dynamic_rnn": 3, "static_rnn": 2}  # of the initial state among what these are given
_MOST = 8  # names of one state
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Named(NamedTuple):
    """How a thing is called in a function, class or module; `change` gives it that name, where it has none."""

    scope: Any
    name: str
    change: tuple[Change, ...] = ()


def call_of(source: Source, op: Operation) -> ast.Call | None:
    """The call that made an op; None for an operator."""
    return next((node for node in source.spanned(op) if isinstance(node, ast.Call)), None)


def name_of_last(source: Source, made: Operation) -> Named:
    """What the state is called that the call gives which made an op, second of two or three. Raises LookupError."""
    node = call_of(source, made) or source.spanned(made)[0]
    statement = source.statement(node)
    while isinstance(statement, ast.Return) and statement.value is node:  # as it is what a function gives
        node, = source.calls_named(_plain(getattr(source.scope(node), "name", "")))
        statement = source.statement(node)
    around, target = source._around[node], statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(target, ast.Tuple):
        target = target.elts[1] if len(target.elts) in (2, 3) and statement.value is node else None
    elif isinstance(around, ast.Subscript) and statement.value is around:
        target = target if source.raw(around.slice) in ("1", "-1") else None
    elif called(node) in _PLACES:
        target = None  # of all that it gives
    if not isinstance(target, (ast.Name, ast.Attribute)):
        raise LookupError("the state has no name")
    text = source.raw(target)
    if text != "_":
        return Named(source.scope(statement), text)
    new = source.new_name("last_state")
    return Named(source.scope(statement), new, ((*source.range(target), new),))


def state_instead(source: Source, made: Operation, target: ast.expr, attribute: str) -> list[Change]:
    """The last state of what made an op, or an attribute of it, in place of an expression. Raises LookupError."""
    if called(call_of(source, made) or target) not in _PLACES:
        raise LookupError("it gives no outputs and last state")
    name, changes = _seen(source, name_of_last(source, made), source.scope(target))
    if not name:
        raise LookupError("the state is not seen there")
    return [*changes, (*source.range(target), name + attribute)]


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def begun_with(source: Source, state: Named, begun: Operation, zeros: Sequence[Operation]
               ) -> tuple[str, int, list[Change]]:
    """What is written where a recurrence begins with zeros, so that it begins with a state, at which line, and the
    changes; "", 0, [] where it cannot be."""
    node, shown = call_of(source, begun), [each for each in (call_of(source, z) for z in zeros) if each is not None]
    is_told = node is not None and (called(node) in _PLACES or word_of(node, _WORD) is not None)
    target = node if is_told else next((each for each in shown if each is not node), None)
    if target is None:
        return "", 0, []
    name, changes = _seen(source, state, source.scope(target))
    if not name:
        return "", 0, []
    if not is_told:
        new = f"{name} in place of {source.raw(target)}"
        return new, target.lineno, [*changes, (*source.range(target), name)]
    placed = given(target, _PLACES.get(called(target)))
    change = (*source.range(placed[0]), name) if placed else source.told(target, _WORD, name)
    return f"{_WORD}={name}", target.lineno, [*changes, change]


def _seen(source: Source, state: Named, scope: Any) -> tuple[str, list[Change]]:
    """What a state is called in another function, and what has to be written for that; "" for nothing."""
    names = [*names_of(source, state)]
    for there, name, _ in names:
        around = [scope, *Source.around(source, scope)]
        owner, _, attribute = name.partition(".")
        is_own = bool(attribute) and isinstance(there, _FUNCTIONS) and isinstance(scope, _FUNCTIONS) and (
            source._around[there] is source._around[scope]) and owner == _first(scope) == _first(there)
        if there in around or is_own:
            return name, [*state.change]
    for there, name, _ in names:
        calls = source.calls_named(_plain(getattr(scope, "name", "")))
        word = name.rpartition(".")[2]
        if len(calls) == 1 and source.scope(calls[0]) is there and isinstance(scope, _FUNCTIONS) and scope.args.args:
            end = source.range((scope.args.defaults or scope.args.args)[-1])[1]
            return word, [*state.change, (end, end, f", {word}{'=None' * bool(scope.args.defaults)}"),
                          source.one_more(calls[0], f"{word}={name}")]
    return "", []


def _first(function: Any) -> str:
    return function.args.args[0].arg if function.args.args else ""


def names_of(source: Source, state: Named) -> Iterator[Named]:
    """A state's names: where it is made, where that function's result goes, and what it is given to."""
    names, at = [state], 0
    while at < min(len(names), _MOST):
        yield (here := names[at])
        at += 1
        new = [*_returned(source, here), *_given_on(source, here)]
        names += [each for each in new if each not in names]


def _returned(source: Source, here: Named) -> Iterator[Named]:
    """What it is called where a function's result, or a part of that, is given names."""
    for each in ast.walk(here.scope) if isinstance(here.scope, _FUNCTIONS) else ():
        parts = getattr(each.value, "elts", [each.value]) if isinstance(each, ast.Return) else []
        for number, part in enumerate(parts):
            if part is None or source.raw(part) != here.name:
                continue
            for call in source.calls_named(_plain(here.scope.name)):
                statement = source.statement(call)
                if isinstance(statement, ast.Assign) and statement.value is call:
                    targets = getattr(statement.targets[0], "elts", statement.targets)
                    if len(targets) == len(parts):
                        yield Named(source.scope(call), source.raw(targets[number]))


def _given_on(source: Source, here: Named) -> Iterator[Named]:
    """What functions call it that are given it where it has a name."""
    functions = source.all(ast.FunctionDef)
    names = {each.name for each in functions}
    for call in (each for each in source.all(ast.Call) if called(each) in names):
        for function in functions if source.scope(call) is here.scope else ():
            if function.name != called(call):
                continue
            parameters = [each.arg for each in function.args.args][isinstance(source._around[function], ast.ClassDef):]
            pairs = [*zip(parameters, call.args), *((word.arg, word.value) for word in call.keywords)]
            yield from (Named(function, str(name)) for name, value in pairs if source.raw(value) == here.name)
