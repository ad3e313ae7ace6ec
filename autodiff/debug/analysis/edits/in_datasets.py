"""Where a script takes the elements of a dataset apart, and where it gives a dataset the arrays that they come of."""
from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ....core.errors import ArgumentError
from ....core.graph import Operation, Tensor
from ..scripts.calls import given, is_call
from ..scripts.changes import Change
from ..scripts.source_tree import Source

_SLICES = ("fromtensorslices", "fromtensors")
_INPUTS = ("numpyinputfn",)  # of estimators: x and y


class Taken(NamedTuple):
    """What is made of one component, {0}, of the elements that an op takes from a dataset.

    of_array: the same of the array that it comes of, {np} being NumPy; "" where template is that too.
    """

    op: Operation
    number: int
    template: str
    of_array: str = ""


def taken(source: Source, rewrite: Taken) -> list[Change]:
    """Behind each statement that gives names to as many components of an element; else at the arrays, if no function
    of the script comes between. Raises ArgumentError."""
    op, number, template, of_array = rewrite
    count = max((len(_names(source.statement(node))) for node in source.spanned(op)), default=0)
    if count != len(op.outputs):
        is_listed = any(len(leaves) == len(op.outputs) for leaves in arrays_of(source))
        if not is_listed and (changes := _in_dicts(source, rewrite)):
            return changes
        return sliced(source, lambda leaves: leaves[number] if len(leaves) == len(op.outputs) else None,
                      of_array or template, op.outputs[number].dtype.base_dtype.name)
    changes = []
    for statement in source.all(ast.Assign):
        names = _names(statement)
        if len(names) == count and ".get_next(" in ast.unparse(statement):
            changes.append(source.after(statement, f"{names[number]} = {template.format(names[number])}"))
    return changes


def _in_dicts(source: Source, rewrite: Taken) -> list[Change]:
    """Behind what gives a name to a dict of columns that a dataset is made of, or where a function takes it; at what
    stands beside it. [] where no dataset has such a dict by a name. Raises ArgumentError where it is not sure."""
    paths = _paths_of(rewrite.op)
    path, changes = paths[rewrite.number] if paths else (), dict[Change, None]()
    template = _typed(rewrite.template, rewrite.op.outputs[rewrite.number].dtype.base_dtype.name)
    if not any(isinstance(key, str) for each in paths for key in each) or ".map(" in source.text:
        return []
    for call in source.calls_named(*_SLICES, *_INPUTS):
        wholes: list[ast.expr] = call.args[:1] if is_call(call, *_SLICES) else [ast.Tuple(_given(call))]
        for whole in wholes:
            node, rest = whole, list(path)
            while rest and isinstance(node, ast.Tuple) and isinstance(rest[0], int) and rest[0] < len(node.elts):
                node = node.elts[rest.pop(0)]
            if len(rest) > 1 or isinstance(node, (ast.Tuple, ast.Dict)) or rest and not isinstance(node, ast.Name):
                raise ArgumentError("the columns of the dataset have no name there")
            changes[_column(source, call, node, rest[0], template) if isinstance(node, ast.Name) and rest else (
                *source.range(node), template.format(source.beside(node)))] = None
    return list(changes)


def _column(source: Source, call: ast.Call, name: ast.Name, key: str, template: str) -> Change:
    """A dict of columns of this name with another one, where it is made, or before a call if it is an argument."""
    scope, changed = source.scope(call), template.format(f"{name.id}[{key!r}]")
    word = f"{key}={changed}" if key.isidentifier() else f"**{{{key!r}: {changed}}}"
    new = f"{name.id} = dict({name.id}, {word})"
    if name.id in {each.arg for each in getattr(getattr(scope, "args", None), "args", ())}:
        return source.before(source.statement(call), new)
    made = [each for each in source.all(ast.Assign) if source.scope(each) in (scope, source.tree) and name.id in {
        getattr(t, "id", "") for to in each.targets for t in _targets(to)}]
    if len(made) != 1:
        raise ArgumentError(f"{name.id} is made in {len(made) or 'no'} places")
    return source.after(made[0], new)


def name_of(op: Operation, number: int) -> str:
    """A component of the elements that an op takes: its key, in quotes, or its number."""
    paths = _paths_of(op)
    return next((repr(key) for key in reversed(paths[number]) if isinstance(key, str)), str(number)) if (
        number < len(paths)) else str(number)


def component_of(taken: Tensor) -> str:
    """That of a tensor, in words."""
    return f"component {name_of(taken.op, taken.op.outputs.index(taken))} of the dataset"


def _paths_of(op: Operation) -> list[tuple[Any, ...]]:
    iterator = getattr(op.attrs.get("function"), "iterator", None)
    return list(_paths(iterator.output_types)) if iterator is not None else []


def _paths(structure: Any) -> Iterator[tuple[Any, ...]]:
    """The keys and positions by which each component of a nested structure is found, in their order."""
    inner = sorted(structure.items()) if isinstance(structure, dict) else enumerate(structure) if isinstance(
        structure, (tuple, list)) else None
    if inner is None:
        yield ()
    for key, part in inner or ():
        yield from ((key, *rest) for rest in _paths(part))


def sliced(source: Source, chosen: Callable[[Sequence[ast.expr]], ast.expr | None], template: str,
           dtype: str) -> list[Change]:
    """At one of the arrays that each dataset of the file is made of. Raises ArgumentError if that is not sure."""
    found = dict.fromkeys(each for leaves in arrays_of(source) if (each := chosen(leaves)) is not None)
    numpy = source.imported().get("numpy", "")
    if not found or ".map(" in source.text or "{np}" in template and not numpy or "tf." in template:
        raise ArgumentError("what the dataset gives has no name there")
    cast = _typed(template, dtype)
    return [(*source.range(each), cast.format(source.beside(each) if cast.startswith("{0}") else source.written(each),
                                              np=numpy)) for each in found]


def _typed(template: str, dtype: str) -> str:
    """A template whose numbers of several columns leave the type as it is."""
    return f"({template}).astype({dtype!r})" if "[" in template else template


def arrays_of(source: Source) -> list[list[ast.expr]]:
    """The arrays that each dataset, or input function of an estimator, is made of, in the order of components."""
    return [[leaf for each in arrays for leaf in _leaves(source, each)]
            for arrays in map(_given, source.calls_named(*_SLICES, *_INPUTS)) if arrays]


def _given(call: ast.Call) -> list[ast.expr]:
    """What a call makes a dataset of: one structure, or x and then y."""
    return call.args[:1] if is_call(call, *_SLICES) else [*call.args[:2], *given(call, None, "x"), *given(
        call, None, "y")]


def _names(statement: ast.AST) -> list[str]:
    """The names that a statement gives to what it has on its right; [] if it is no such, or gives some no name."""
    named = [*_targets(statement.targets[0])] if isinstance(statement, ast.Assign) else []
    names = [each.id for each in named if isinstance(each, ast.Name)]
    return names if len(names) == len(named) else []


def _targets(target: ast.expr) -> Iterator[ast.expr]:
    """What a pattern of tuples gives values to, in their order."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target
        return
    for each in target.elts:
        yield from _targets(each)


def _leaves(source: Source, whole: ast.expr) -> Iterator[ast.expr]:
    """The arrays of a nested structure, in the order of components: those of a dict by their keys."""
    values = source.given_to(whole)
    if len(values) == 1 and isinstance(values[0], (ast.Tuple, ast.Dict)):
        whole = values[0]
    keyed = {str(getattr(key, "value", "")): each for key, each in zip(whole.keys, whole.values)
             } if isinstance(whole, ast.Dict) else {}
    parts = whole.elts if isinstance(whole, ast.Tuple) else [keyed[key] for key in sorted(keyed)]
    if not isinstance(whole, (ast.Tuple, ast.Dict)):
        yield whole
    for each in parts:
        yield from _leaves(source, each)
