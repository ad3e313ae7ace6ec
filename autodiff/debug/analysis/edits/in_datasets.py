"""Where a script takes the elements of a dataset apart, and where it gives a dataset the arrays that they come of."""
from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ....core.errors import ArgumentError
from ....core.graph import Operation
from .changes import Change
from .expressions import name_of
from .source_tree import Source

_SLICES = ("fromtensorslices", "fromtensors")


class Taken(NamedTuple):
    """What is made of one component, {0}, of the elements that an op takes from a dataset."""

    op: Operation
    number: int
    template: str


def taken(source: Source, rewrite: Taken) -> list[Change]:
    """Behind each statement that gives names to as many components of an element; else at the arrays, if no function
    of the script comes between. Raises ArgumentError."""
    op, number, template = rewrite
    count = max((len(_names(source.statement(node))) for node in source.spanned(op)), default=0)
    if count != len(op.outputs):
        return sliced(source, lambda leaves: leaves[number] if len(leaves) > number else None, template,
                      op.outputs[number].dtype.base_dtype.name)
    changes = []
    for statement in ast.walk(source.tree):
        names = _names(statement)
        if len(names) == count and ".get_next(" in ast.unparse(statement):
            (start, end), name = source.range(statement), names[number]
            new = source.lines(start, ["", f"{name} = {template.format(name)}"])
            comment = re.match(r"[ \t]*(#[^\r\n]*)?(?=[\r\n]|$)", source.text[end:])
            changes.append((at := end + len(comment[0] if comment else ""), at, new))
    return changes


def sliced(source: Source, chosen: Callable[[Sequence[ast.expr]], ast.expr | None], template: str,
           dtype: str) -> list[Change]:
    """At one of the arrays that each dataset of the file is made of. Raises ArgumentError if that is not sure."""
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and name_of(node.func) in _SLICES
             and node.args]
    found = dict.fromkeys(each for call in calls if (each := chosen(list(_leaves(source, call.args[0])))) is not None)
    if not found or ".map(" in source.text or "{np}" in template or "{tf}" in template or "tf." in template:
        raise ArgumentError("what the dataset gives has no name there")
    cast = f"({template}).astype({dtype!r})" if "[" in template else template
    return [(*source.range(each), cast.format(source.beside(each))) for each in found]


def _names(statement: ast.AST) -> list[str]:
    """The names that a statement gives to what it has on its right; [] if it is no such, or gives some no name."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    named = list(_targets(target)) if target is not None else []
    return [each.id for each in named if isinstance(each, ast.Name)] if all(
        isinstance(each, ast.Name) for each in named) else []


def _targets(target: ast.expr) -> Iterator[ast.expr]:
    """What a pattern of tuples gives values to, in their order."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target
        return
    for each in target.elts:
        yield from _targets(each)


def _leaves(source: Source, given: ast.expr) -> Iterator[ast.expr]:
    """The arrays of a nested structure, in the order of components: those of a dict by their keys."""
    values = source.given_to(given)
    if len(values) == 1 and isinstance(values[0], (ast.Tuple, ast.Dict)):
        given = values[0]
    if isinstance(given, ast.Tuple):
        for each in given.elts:
            yield from _leaves(source, each)
    elif isinstance(given, ast.Dict):
        keyed = {str(getattr(key, "value", "")): each for key, each in zip(given.keys, given.values)}
        for key in sorted(keyed):
            yield from _leaves(source, keyed[key])
    else:
        yield given
