"""Structures walked as deep as another one goes, and with paths; with core/nest.py it is tf.nest."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...core import nest
from ...core.errors import ArgumentError, KindError
from ...core.nest import assert_same_structure, flatten, is_sequence, map_structure, pack_sequence_as
from .. import type_specs  # noqa: F401  which makes composites of the core's sparse tensors and IndexedSlices

__all__ = ["assert_same_structure", "assert_shallow_structure", "flatten", "flatten_dict_items", "flatten_up_to",
           "flatten_with_joined_string_paths", "flatten_with_tuple_paths", "flatten_with_tuple_paths_up_to",
           "get_traverse_shallow_structure", "is_nested", "is_sequence", "is_sequence_or_composite", "map_structure",
           "map_structure_up_to", "map_structure_with_paths", "map_structure_with_tuple_paths",
           "map_structure_with_tuple_paths_up_to", "pack_sequence_as", "yield_flat_paths"]
is_nested = is_sequence
Path = tuple[Any, ...]

_IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ = (
    "If shallow structure is a sequence, input must also be a sequence. Input has type: {}.")
_STRUCTURES_HAVE_MISMATCHING_TYPES = (
    "The two structures don't have the same sequence type. Input structure has type {input_type}, while shallow "
    "structure has type {shallow_type}.")
_STRUCTURES_HAVE_MISMATCHING_LENGTHS = (
    "The two structures don't have the same sequence length. Input structure has length {input_length}, while shallow "
    "structure has length {shallow_length}.")
_SHALLOW_TREE_HAS_INVALID_KEYS = (
    "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has the following keys that "
    "are not in the input_tree: {}.")


def is_sequence_or_composite(structure: Any) -> bool:
    """Whether this is a structure, or a value made of several tensors."""
    return is_sequence(structure, expand_composites=True)


def _is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """Whether this is an object of a named tuple's class; strict: of one that derives from tuple alone."""
    kind = type(instance)
    return isinstance(instance, tuple) and hasattr(kind, "_fields") and (not strict or kind.__base__ is tuple)


def assert_shallow_structure(shallow_tree: Any, input_tree: Any, check_types: bool = True,
                             expand_composites: bool = False, check_subtrees_length: bool = True) -> None:
    """Raises KindError (TypeError) or ArgumentError (ValueError) unless input_tree goes on where shallow_tree ends.

    check_subtrees_length: if not, input_tree may have more items than shallow_tree.
    """
    if not is_sequence(shallow_tree, expand_composites):
        return
    if not is_sequence(input_tree, expand_composites):
        raise KindError(_IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ.format(type(input_tree)))
    if check_types and not nest.same_kind(shallow_tree, input_tree):
        raise KindError(_STRUCTURES_HAVE_MISMATCHING_TYPES.format(input_type=type(input_tree),
                                                                  shallow_type=type(shallow_tree)))
    if expand_composites and (found := nest.composites_differ(shallow_tree, input_tree)):
        raise found[0](found[1])
    if nest.spec_of(shallow_tree) is None:
        if len(shallow_tree) != len(input_tree) and check_subtrees_length or len(shallow_tree) > len(input_tree):
            raise ArgumentError(_STRUCTURES_HAVE_MISMATCHING_LENGTHS.format(input_length=len(input_tree),
                                                                            shallow_length=len(shallow_tree)))
        if isinstance(shallow_tree, Mapping) and (unknown := sorted(set(shallow_tree) - set(input_tree))):
            raise ArgumentError(_SHALLOW_TREE_HAS_INVALID_KEYS.format(unknown))
    for (_, shallow), deep in zip(nest.entries(shallow_tree), _beside(shallow_tree, input_tree)):
        assert_shallow_structure(shallow, deep, check_types, expand_composites, check_subtrees_length)


def _beside(shallow: Any, deep: Any) -> list[Any]:
    """The items of one structure that stand where those of the other do."""
    if isinstance(shallow, Mapping) and isinstance(deep, Mapping):
        return [deep[key] for key, _ in nest.entries(shallow)]
    return nest.children(deep)


def flatten_with_tuple_paths_up_to(shallow_tree: Any, input_tree: Any, check_types: bool = True,
                                   expand_composites: bool = False,
                                   check_subtrees_length: bool = True) -> list[tuple[Path, Any]]:
    """What stands in input_tree where shallow_tree has its leaves, with the path to it."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length)
    return list(_up_to(shallow_tree, input_tree, expand_composites, ()))


def _up_to(shallow: Any, deep: Any, composites: bool, path: Path) -> Iterator[tuple[Path, Any]]:
    if not is_sequence(shallow, composites):
        yield path, deep
        return
    for (key, inner), below in zip(nest.entries(shallow), _beside(shallow, deep)):
        yield from _up_to(inner, below, composites, (*path, key))


def flatten_up_to(shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False,
                  check_subtrees_length: bool = True) -> list[Any]:
    """What stands in input_tree where shallow_tree has its leaves."""
    return [leaf for _, leaf in flatten_with_tuple_paths_up_to(shallow_tree, input_tree, check_types,
                                                               expand_composites, check_subtrees_length)]


def map_structure_with_tuple_paths_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any,
                                         check_types: bool = True, expand_composites: bool = False, **more: Any) -> Any:
    """shallow_tree with the results of func of the path to each of its leaves, and of what the inputs have there."""
    if not inputs:
        raise ArgumentError("Cannot map over no sequences")
    found = [flatten_with_tuple_paths_up_to(shallow_tree, each, check_types, expand_composites) for each in inputs]
    results = [func(row[0][0], *(leaf for _, leaf in row), **more) for row in zip(*found)]
    return pack_sequence_as(shallow_tree, results, expand_composites)


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, check_types: bool = True,
                        expand_composites: bool = False, **_: Any) -> Any:
    """shallow_tree with the results of func of what stands in the inputs where it has its leaves."""
    return map_structure_with_tuple_paths_up_to(shallow_tree, lambda path, *leaves: func(*leaves), *inputs,
                                                check_types=check_types, expand_composites=expand_composites)


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, check_types: bool = True,
                                   expand_composites: bool = False, **more: Any) -> Any:
    """A structure with the results of func of the path to each leaf and of the leaves."""
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand_composites)
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, check_types=check_types,
                                                expand_composites=expand_composites, **more)


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **options: Any) -> Any:
    """As map_structure_with_tuple_paths, the path as a text: `a/0`."""
    return map_structure_with_tuple_paths(
        lambda path, *leaves, **more: func("/".join(map(str, path)), *leaves, **more), *structure, **options)


def flatten_with_tuple_paths(structure: Any, expand_composites: bool = False) -> list[tuple[Path, Any]]:
    """Each leaf with the keys, fields or places that lead to it."""
    return list(_up_to(structure, structure, expand_composites, ()))


def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[Path]:
    """What leads to each leaf, in the order of flatten."""
    return (path for path, _ in flatten_with_tuple_paths(nest, expand_composites))


def flatten_with_joined_string_paths(structure: Any, separator: str = "/",
                                     expand_composites: bool = False) -> list[tuple[str, Any]]:
    """Each leaf with what leads to it as a text, in the order of flatten."""
    return [(separator.join(map(str, path)), leaf)
            for path, leaf in flatten_with_tuple_paths(structure, expand_composites)]


def get_traverse_shallow_structure(traverse_fn: Callable[[Any], Any], structure: Any,
                                   expand_composites: bool = False) -> Any:
    """A structure that ends where traverse_fn says so: of each part it gives a bool, or one for each item of it.

    Raises KindError (TypeError) for another answer.
    """
    go_on = traverse_fn(structure)
    if not is_sequence(structure, expand_composites):
        if not isinstance(go_on, bool):
            what = "structure" if is_sequence(go_on) else "a non-bool scalar"
            raise KindError(f"traverse_fn returned {what}: {go_on} for non-structure: {structure}")
        return go_on
    if go_on is False:
        return False
    items = nest.children(structure)
    by_item = [True] * len(items) if go_on is True else nest.children(go_on) if is_sequence(go_on) else None
    if by_item is None:
        raise KindError(f"traverse_fn returned a non-bool scalar: {go_on} for input: {structure}")
    if not all(isinstance(each, bool) for each in by_item):
        raise KindError(f"traverse_fn didn't return a depth=1 structure of bools.  It returned {go_on}")
    return nest.like(structure, [deeper and get_traverse_shallow_structure(traverse_fn, item, expand_composites)
                            for deeper, item in zip(by_item, items)])


def flatten_dict_items(dictionary: Mapping) -> dict[Any, Any]:
    """A mapping whose keys and values may be structures, leaf by leaf. Raises ArgumentError for two of one key."""
    if not isinstance(dictionary, Mapping):
        raise KindError("input must be a dictionary", found=type(dictionary).__name__)
    found: dict[Any, Any] = {}
    for keys, values in dictionary.items():
        names, parts = flatten(keys), flatten(values) if is_sequence(keys) else [values]
        if len(names) != len(parts):
            raise ArgumentError(f"Could not flatten dictionary. Key had {len(names)} elements, but value had "
                                f"{len(parts)} elements. Key: {names}, value: {parts}.")
        for key, value in zip(names, parts):
            if key in found:
                raise ArgumentError(f"Could not flatten dictionary. Key {key!r} is not unique.")
            found[key] = value
    return found
