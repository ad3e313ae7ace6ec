"""What a call is given in a script, by a keyword or by its place; and what it calls."""
from __future__ import annotations

import ast

from .expressions import name_of


def word_of(call: ast.AST | None, *names: str) -> ast.keyword | None:
    """The first keyword of these names that a call is given; None for none."""
    return next((word for word in _keywords(call) if word.arg in names), None)


def words_of(call: ast.AST | None) -> dict[str, ast.expr]:
    """What a call is given by keywords."""
    return {word.arg: word.value for word in _keywords(call) if word.arg}


def given(call: ast.AST | None, place: int | slice | None, *names: str) -> list[ast.expr]:
    """What a call is given at a place, or at several; then what it is given by keywords of these names.

    place: None for none.
    """
    places = slice(0) if place is None else slice(place, place + 1) if isinstance(place, int) else place
    placed = call.args[places] if isinstance(call, ast.Call) else []
    return [*placed, *(word.value for word in _keywords(call) if word.arg in names)]


def _keywords(call: ast.AST | None) -> list[ast.keyword]:
    return call.keywords if isinstance(call, ast.Call) else []


def called(node: ast.AST | None) -> str:
    """The last word of what a call calls, as it is written; "" for all else."""
    func = node.func if isinstance(node, ast.Call) else None
    return getattr(func, "attr", getattr(func, "id", ""))


def is_call(node: ast.AST | None, *names: str) -> bool:
    """Whether a node is a call of one of these names, in small letters without underscores."""
    return isinstance(node, ast.Call) and name_of(node.func) in names


def owner_of(call: ast.AST | None) -> ast.expr | None:
    """What a method that is called is of; None for a function by its name alone."""
    func = getattr(call, "func", None)
    return func.value if isinstance(func, ast.Attribute) else None


def owner_text(call: ast.AST | None) -> str:
    """That as text; "" for none."""
    owner = owner_of(call)
    return ast.unparse(owner) if owner is not None else ""


def copied_by(call: ast.AST | None) -> list[ast.expr]:
    """What a call that copies values gives them to, and what they are of: `assign(a, b)`, `a.assign(b)`, or
    `a.set_weights(b.get_weights())`."""
    value = given(call, 0)
    if called(call) == "set_weights":
        value = [owner for each in value if called(each) == "get_weights" and (owner := owner_of(each)) is not None]
    if called(call) not in ("assign", "load", "set_weights"):
        return []
    placed = given(call, slice(None), "ref", "value")
    owner = owner_of(call)
    return placed if len(placed) == 2 else [owner, *value] if owner is not None and value else []
