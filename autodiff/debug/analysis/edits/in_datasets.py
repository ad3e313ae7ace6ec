"""Where a script takes the elements of a dataset apart, and where it gives a dataset the arrays that they come of."""
from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ....core.errors import ArgumentError
from ....core.graph import Operation
from .changes import Change
from .expressions import name_of
from .source_tree import Source

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
    for statement in ast.walk(source.tree):
        names = _names(statement)
        if len(names) == count and ".get_next(" in ast.unparse(statement):
            (start, end), name = source.range(statement), names[number]
            new = source.lines(start, ["", f"{name} = {template.format(name)}"])
            comment = re.match(r"[ \t]*(#[^\r\n]*)?(?=[\r\n]|$)", source.text[end:])
            changes.append((at := end + len(comment[0] if comment else ""), at, new))
    return changes


def _in_dicts(source: Source, rewrite: Taken) -> list[Change]:
    """Behind what gives a name to a dict of columns that a dataset is made of, or where a function takes it; at what
    stands beside it. [] where no dataset has such a dict by a name. Raises ArgumentError where it is not sure."""
    iterator = getattr(rewrite.op.attrs.get("function"), "iterator", None)
    paths = list(_paths(iterator.output_types)) if iterator is not None else []
    path, changes = paths[rewrite.number] if paths else (), dict[Change, None]()
    template = _typed(rewrite.template, rewrite.op.outputs[rewrite.number].dtype.base_dtype.name)
    if not any(isinstance(key, str) for each in paths for key in each) or ".map(" in source.text:
        return []
    for call in (node for node in ast.walk(source.tree) if isinstance(node, ast.Call)):
        words = {word.arg: word.value for word in call.keywords}
        whole = call.args[:1] if name_of(call.func) in _SLICES else [
            ast.Tuple([*call.args[:2], *(words[name] for name in "xy" if name in words)])] if (
            name_of(call.func) in _INPUTS) else []
        for given in whole:
            node, rest = given, list(path)
            while rest and isinstance(node, ast.Tuple) and isinstance(rest[0], int) and rest[0] < len(node.elts):
                node = node.elts[rest.pop(0)]
            if len(rest) > 1 or isinstance(node, (ast.Tuple, ast.Dict)) or rest and not isinstance(node, ast.Name):
                raise ArgumentError("the columns of the dataset have no name there")
            changes[_column(source, call, node, rest[0], template) if isinstance(node, ast.Name) and rest else (
                *source.range(node), template.format(source.beside(node)))] = None
    return list(changes)


def _column(source: Source, call: ast.Call, name: ast.Name, key: str, template: str) -> Change:
    """A dict of columns of this name with another one, where it is made, or before a call if it is an argument."""
    scope = source.scope(call)
    new = f"{name.id} = dict({name.id}, **{{{key!r}: {template.format(f'{name.id}[{key!r}]')}}})"
    if key.isidentifier():
        new = f"{name.id} = dict({name.id}, {key}={template.format(f'{name.id}[{key!r}]')})"
    if name.id in {each.arg for each in getattr(getattr(scope, "args", None), "args", ())}:
        start = source.range(source.statement(call))[0]
        return start, start, source.lines(start, [new, ""])
    made = [each for each in ast.walk(source.tree) if isinstance(each, ast.Assign) and source.scope(each) in (
        scope, source.tree) and name.id in {getattr(t, "id", "") for to in each.targets for t in _targets(to)}]
    if len(made) != 1:
        raise ArgumentError(f"{name.id} is made in {len(made) or 'no'} places")
    start, end = source.range(made[0])
    return end, end, source.lines(start, ["", new])


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
    found = []
    for call in (node for node in ast.walk(source.tree) if isinstance(node, ast.Call)):
        if name_of(call.func) in _SLICES:
            found.append(call.args[:1])
        elif name_of(call.func) in _INPUTS:
            words = {word.arg: word.value for word in call.keywords}
            found.append([*call.args[:2], *(words[name] for name in "xy" if name in words)])
    return [[leaf for each in given for leaf in _leaves(source, each)] for given in found if given]


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
