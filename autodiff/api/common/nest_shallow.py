"""Structures walked as deep as another one goes; with core/nest.py it is tf.contrib.framework.nest."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...core.errors import ArgumentError, KindError
from ...core.nest import (
    assert_same_structure,
    children,
    flatten,
    is_sequence,
    map_structure,
    pack_sequence_as,
)

__all__ = ["assert_same_structure", "assert_shallow_structure", "flatten", "flatten_dict_items", "flatten_up_to",
           "flatten_with_joined_string_paths", "is_nested", "is_sequence", "map_structure", "map_structure_up_to",
           "map_structure_with_paths", "pack_sequence_as", "yield_flattened_paths"]
is_nested = is_sequence


def _is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """Whether this is an object of a named tuple's class; strict: of one that derives from tuple alone."""
    kind = type(instance)
    return isinstance(instance, tuple) and hasattr(kind, "_fields") and (not strict or kind.__base__ is tuple)


def assert_shallow_structure(shallow_tree: Any, input_tree: Any, check_types: bool = True, **_: Any) -> None:
    """Raises KindError (TypeError) or ArgumentError (ValueError) unless input_tree goes on where shallow_tree ends."""
    if not is_sequence(shallow_tree):
        return
    if not is_sequence(input_tree):
        raise KindError("If shallow structure is a sequence, input must also be a sequence. Input has type: "
                        f"{type(input_tree)}.")
    both_mappings = isinstance(shallow_tree, Mapping) and isinstance(input_tree, Mapping)
    if check_types and type(shallow_tree) is not type(input_tree) and not both_mappings:
        raise KindError("The two structures don't have the same sequence type. Input structure has type "
                        f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}.")
    if len(shallow_tree) != len(input_tree):
        raise ArgumentError("The two structures don't have the same sequence length. Input structure has length "
                            f"{len(input_tree)}, while shallow structure has length {len(shallow_tree)}.")
    if both_mappings and set(shallow_tree) != set(input_tree):
        raise ArgumentError("The two structures don't have the same keys. Input structure has keys "
                            f"{list(input_tree)}, while shallow structure has keys {list(shallow_tree)}.")
    for shallow, deep in zip(children(shallow_tree), children(input_tree)):
        assert_shallow_structure(shallow, deep, check_types)


def flatten_up_to(shallow_tree: Any, input_tree: Any, check_types: bool = True, **_: Any) -> list[Any]:
    """What stands in input_tree where shallow_tree has its leaves."""
    assert_shallow_structure(shallow_tree, input_tree, check_types)
    return list(_up_to(shallow_tree, input_tree))


def _up_to(shallow: Any, deep: Any) -> Iterator[Any]:
    if not is_sequence(shallow):
        yield deep
        return
    for inner, below in zip(children(shallow), children(deep)):
        yield from _up_to(inner, below)


def map_structure_up_to(shallow_tree: Any, func: Callable[..., Any], *inputs: Any, check_types: bool = True,
                        **_: Any) -> Any:
    """shallow_tree with the results of func of what stands in the inputs where it has its leaves."""
    if not inputs:
        raise ArgumentError("Cannot map over no sequences")
    parts = [flatten_up_to(shallow_tree, each, check_types) for each in inputs]
    return pack_sequence_as(shallow_tree, [func(*each) for each in zip(*parts)])


def yield_flattened_paths(structure: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Each leaf with the keys, fields or places that lead to it."""
    if not is_sequence(structure):
        yield path, structure
        return
    keys: Iterable[Any] = range(len(structure))
    if isinstance(structure, Mapping):
        keys = sorted(structure)
    elif _is_namedtuple(structure):
        keys = structure._fields
    for key, child in zip(keys, children(structure)):
        yield from yield_flattened_paths(child, (*path, key))


def flatten_with_joined_string_paths(structure: Any, separator: str = "/") -> list[tuple[str, Any]]:
    """Each leaf with what leads to it as a text, in the order of flatten."""
    return [(separator.join(map(str, path)), leaf) for path, leaf in yield_flattened_paths(structure)]


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **options: Any) -> Any:
    """A structure with the results of func of the path to each leaf, as a text, and the leaves."""
    for other in structure[1:]:
        assert_same_structure(structure[0], other)
    paths = [path for path, _ in flatten_with_joined_string_paths(structure[0])]
    leaves = zip(paths, *map(flatten, structure))
    return pack_sequence_as(structure[0], [func(*each, **options) for each in leaves])


def flatten_dict_items(dictionary: Mapping) -> dict[Any, Any]:
    """A mapping whose keys and values may be structures, leaf by leaf. Raises ArgumentError for two of one key."""
    if not isinstance(dictionary, Mapping):
        raise KindError("input must be a dictionary", found=type(dictionary).__name__)
    found: dict[Any, Any] = {}
    for keys, values in dictionary.items():
        if is_sequence(keys):
            assert_same_structure(keys, values, check_types=False)
        for key, value in zip(flatten(keys), flatten(values) if is_sequence(keys) else [values]):
            if key in found:
                raise ArgumentError(f"Could not flatten dictionary. Key {key!r} is not unique.")
            found[key] = value
    return found
