"""What an expression ends in: through names, attributes, parameters, keys of dicts, and loops over lists."""
from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .calls import called, given, owner_of, words_of
from .parsed import Parsed, is_within

_DEEPEST = 8  # names, keys and parameters from an expression to what it is
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


def ends(source: Parsed, node: ast.expr, deepest: int = _DEEPEST) -> list[ast.expr]:
    """What an expression may be, as it is written at last, in the order of loops and calls; itself for all else."""
    found = _behind(source, node, deepest) if deepest else []
    return [end for each in found for end in ends(source, each, deepest - 1)] or [node]


def under(source: Parsed, call: ast.Call, word: str, deepest: int = _DEEPEST) -> list[ast.expr]:
    """What a call is given by a keyword, also by `**` of a dict that has it."""
    return given(call, None, word) or [each for keyword in call.keywords if keyword.arg is None
                                       for whole in ends(source, keyword.value, deepest) for each in _at(whole, word)]


def _behind(source: Parsed, node: ast.expr, deepest: int) -> list[ast.expr]:
    """What the name, attribute or key that an expression is was given; [] for all else."""
    if isinstance(node, ast.Name):
        return [*_passed(source, node, deepest)] or [*_looped(source, node, deepest)] or source.given_to(node)
    if isinstance(node, ast.Attribute):
        return source.given_to(node)
    key = node.slice if isinstance(node, ast.Subscript) else next(
        iter(given(node, 0) if called(node) == "get" else []), None)
    whole = node.value if isinstance(node, ast.Subscript) else owner_of(node)
    if not isinstance(key, ast.Constant) or whole is None:
        return []
    return [each for end in ends(source, whole, deepest - 1) for each in _at(end, key.value)]


def _passed(source: Parsed, node: ast.Name, deepest: int) -> Iterator[ast.expr]:
    """What calls give for a parameter, in a dict or not."""
    function = source.scope(node)
    names = [each.arg for each in (*function.args.args, *function.args.kwonlyargs)] if isinstance(
        function, ast.FunctionDef) else []
    if node.id not in names:
        return
    yield from source.passed(node)
    for call in source.calls_named(getattr(function, "name", "").replace("_", "").lower()):
        if not given(call, None, node.id) and not is_within(call, function):
            yield from under(source, call, node.id, deepest - 1)


def _looped(source: Parsed, node: ast.Name, deepest: int) -> Iterator[ast.expr]:
    """What a loop over what is written in the script gives to a name."""
    loops: list[Any] = source.all(*_LOOPS)
    for loop in loops:
        if any(isinstance(each, ast.Name) and each.id == node.id for each in ast.walk(loop.target)):
            yield from _parts(source, loop.target, loop.iter, node.id, deepest)


def _parts(source: Parsed, target: ast.expr, value: ast.expr, name: str, deepest: int) -> Iterator[ast.expr]:
    if called(value) == "enumerate" and isinstance(target, ast.Tuple):
        target, value = target.elts[-1], given(value, 0)[0]
    elements = [each for end in ends(source, value, deepest - 1) if isinstance(end, (ast.List, ast.Tuple))
                for each in end.elts]
    if isinstance(target, ast.Name):
        yield from elements if target.id == name else ()
        return
    for place, part in enumerate(getattr(target, "elts", ())):
        if called(value) == "zip":
            yield from _parts(source, part, given(value, place)[0], name, deepest) if given(value, place) else ()
        elif isinstance(part, ast.Name) and part.id == name:
            yield from (each for element in elements for each in _at(element, place))


def _at(whole: ast.expr, key: object) -> list[ast.expr]:
    """What stands under a key in a dict, or at a place of a list, that is written out."""
    if isinstance(whole, ast.Dict):
        return [value for each, value in zip(whole.keys, whole.values) if getattr(each, "value", whole) == key]
    if isinstance(whole, (ast.List, ast.Tuple)):
        return whole.elts[key:][:1] if isinstance(key, int) else []
    return [value for word, value in words_of(whole).items() if word == key] if called(whole) == "dict" else []
