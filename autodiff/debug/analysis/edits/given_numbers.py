"""Where a script has the number that an optimizer is given: there, in a flag, under a key, as a default, in a call."""
from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ....core.errors import ArgumentError
from ....core.graph import Operation
from ..scripts.calls import given, is_call, owner_of, words_of
from ..scripts.changes import Change
from ..scripts.expressions import name_of, pairs_of
from ..scripts.source_tree import Source
from .of_keras.given import with_argument

_PLACES = {"learning_rate": 0, "momentum": 1}  # of an optimizer's arguments
_ENDS = ("optimizeloss", "minimize", "applygradients")  # calls that make what the number is in
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Pair = tuple[str, ast.expr]  # a word, and what is given to it


class LowerRate(NamedTuple):
    """A learning rate, or another argument of an optimizer, that is the number `rate`; what it becomes.

    op: what the optimizer's line made of it, None where that is not known.
    """

    rate: float
    lower: float
    keyword: str = "learning_rate"
    op: Operation | None = None


def numbered_anew(source: Source, rewrite: LowerRate) -> list[Change]:
    """At the argument's number where that is written once; else times a factor, where the optimizer is given it."""
    old, new, keyword, op = rewrite
    pairs, here = list(_pairs(source.tree)), source.spanned(op) if op is not None else []
    made = [each for each in here if isinstance(each, ast.BinOp)]
    asked = [node for call in _optimizers(source, here, keyword, pairs) for node in _arguments(call, keyword)]
    parts = [part for each in made for part in (each.left, each.right)]
    near = {node: _near(source, node, rewrite, pairs) for node in asked}
    told = [node for node in asked if any(each in made for each in near[node])] or parts or asked
    numbers = {found for node in told for each in near.get(node, [node]) for found in source.numbers(each, old)} or {
        found for each in parts for found in source.numbers(each, old)}  # times what is 1 by now
    if len(numbers) == 1:
        return [(*source.range(*numbers), f"{new:g}")]
    if not told and keyword in ("learning_rate", "epsilon"):
        return with_argument(source, f"{keyword}={new:g}", _optimizers(source, here, keyword, pairs), here)
    if len(told) != 1 or not old:
        raise ArgumentError(f"the {keyword} {old:g} is written in {len(numbers) or 'no'} places")
    return [(*source.range(told[0]), f"{source.beside(told[0])} * {new / old:g}")]


def _near(source: Source, node: ast.expr, rewrite: LowerRate, pairs: list[Pair]) -> list[ast.expr]:
    """A node, what that is given, and so on, until the number is there."""
    near = [node]
    for each in near:
        if isinstance(each, ast.Call) and name_of(each.func).endswith("decay"):
            near += _arguments(each, rewrite.keyword)
        elif not any(source.numbers(each, rewrite.rate)):
            near += [value for key, value in pairs if key and key == _key(each) and value not in near]
    return near


def optimizers_of(source: Source) -> list[ast.expr]:
    """The calls that make optimizers, by what they are called."""
    own = {name.asname or name.name for each in source.all(ast.ImportFrom) if str(each.module).endswith("optimizers")
           for name in each.names}
    return [each for each in source.all(ast.Call) if (
        _key(each.func) in own or name_of(each.func).endswith("optimizer") or "optimizers." in ast.unparse(each.func))]


def _optimizers(source: Source, here: list[ast.expr], keyword: str, pairs: list[Pair]) -> list[ast.expr]:
    """The calls that make optimizers: the one of which an expression here is a method, else all that are called so."""
    calls = optimizers_of(source)
    for each in here:
        if is_call(each, *_ENDS):
            made = each if is_call(each, _ENDS[0]) else owner_of(each) or each
            near = [node for node in (made, *(value for key, value in pairs if key and key == _key(made)))
                    if _arguments(node, keyword)]
            calls = [node for node in near if node in calls] or near[:1] or calls
    return calls


def _arguments(call: ast.expr, keyword: str) -> list[ast.expr]:
    names = ("lr", keyword) if keyword == "learning_rate" else (keyword,)
    return given(call, None, *names) or given(call, 2 if is_call(call, _ENDS[0]) else _PLACES.get(keyword))


def _key(node: ast.AST | None) -> str:
    """The last word of a name, an attribute or a constant key; "" of anything else."""
    word = node.slice if isinstance(node, ast.Subscript) else node
    return str(word.value if isinstance(word, ast.Constant) else getattr(word, "attr", getattr(word, "id", "")))


def _pairs(tree: ast.AST) -> Iterator[Pair]:
    """What a script gives to a name, an attribute, a key, a parameter, an option or a flag, with the word for it."""
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)]
    for each in ast.walk(tree):
        if isinstance(each, (ast.Assign, ast.AnnAssign)):
            yield from ((_key(one), value) for one, value in pairs_of(each))
        elif isinstance(each, ast.Dict):
            yield from ((_key(key), value) for key, value in zip(each.keys, each.values))
        elif isinstance(each, ast.Call):
            yield from _passed(each)
        for made in [each] if isinstance(each, _FUNCTIONS) else each.body if isinstance(each, ast.ClassDef) else []:
            if isinstance(made, _FUNCTIONS) and (made is each or made.name == "__init__"):
                names = [name.arg for name in (*made.args.posonlyargs, *made.args.args)]
                yield from zip(names[::-1], made.args.defaults[::-1])
                for args in (call.args for call in calls if _key(call.func) == getattr(each, "name", "")):
                    yield from zip(names[names[:1] == ["self"]:], args)


def _passed(call: ast.Call) -> Iterator[Pair]:
    """What a call gives by name; and what it says is the default of an option or of a flag."""
    words = words_of(call)
    yield from words.items()
    flags = [_key(text).lstrip("-").replace("-", "_") for text in call.args if isinstance(text, ast.Constant)]
    if "define" in name_of(call.func):
        yield from zip(flags[:1], call.args[1:])
    elif "default" in words:
        yield from ((flag, words["default"]) for flag in ([_key(words["dest"])] if "dest" in words else flags))
