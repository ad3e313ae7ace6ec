"""Nested structures of lists, tuples, namedtuples and dicts; dicts in the order of their keys."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .errors import ArgumentError, KindError

_DIFFER = "The two structures don't have the same nested structure"


def is_sequence(structure: Any) -> bool:
    """Whether this is a structure rather than a leaf."""
    return isinstance(structure, (list, tuple, Mapping)) and not hasattr(structure, "as_tensor")


is_nested = is_sequence


def children(structure: Any) -> list[Any]:
    """The items of a structure, a dict's in the order of its keys."""
    if isinstance(structure, Mapping):
        return [structure[key] for key in _keys(structure)]
    return list(structure)


def _keys(structure: Mapping) -> list[Any]:
    try:
        return sorted(structure)
    except TypeError:
        raise KindError(expected="a dict whose keys can be sorted", found=repr(list(structure))) from None


def flatten(structure: Any) -> list[Any]:
    """The leaves, left to right; a leaf alone is a list of one."""
    if not is_sequence(structure):
        return [structure]
    return [leaf for child in children(structure) for leaf in flatten(child)]


def pack_sequence_as(structure: Any, flat_sequence: Iterable[Any]) -> Any:
    """The same structure with other leaves. Raises ArgumentError (ValueError) if their number differs."""
    leaves = list(flat_sequence)
    expected = len(flatten(structure))
    if len(leaves) != expected:
        raise ArgumentError(expected=f"{expected} leaves for {structure!r}", found=len(leaves))
    return _packed(structure, iter(leaves))


def _packed(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_sequence(structure):
        return next(leaves)
    return like(structure, [_packed(child, leaves) for child in children(structure)])


def like(structure: Any, items: list[Any]) -> Any:
    """`items` as the children of a structure of that kind."""
    if isinstance(structure, Mapping):
        by_key = dict(zip(_keys(structure), items))
        return type(structure)((key, by_key[key]) for key in structure)  # type: ignore[call-arg]
    if hasattr(structure, "_fields"):
        return type(structure)(*items)
    return type(structure)(items)


def map_structure(function: Callable[..., Any], *structures: Any, **_: Any) -> Any:
    """`function` of the leaves of structures of the same form, in that form."""
    for other in structures[1:]:
        assert_same_structure(structures[0], other)
    rows = zip(*(flatten(s) for s in structures))
    return pack_sequence_as(structures[0], [function(*row) for row in rows])


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, **_: Any) -> None:
    """Raises ArgumentError (ValueError) or KindError (TypeError) where two structures differ."""
    if is_sequence(nest1) != is_sequence(nest2):
        raise ArgumentError(_DIFFER, expected=repr(nest1), found=repr(nest2))
    if not is_sequence(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise KindError(_DIFFER, expected=f"a {type(nest1).__name__}", found=f"a {type(nest2).__name__}")
    if len(nest1) != len(nest2) or isinstance(nest1, Mapping) and set(nest1) != set(nest2):
        raise ArgumentError(_DIFFER, expected=repr(nest1), found=repr(nest2))
    for a, b in zip(children(nest1), children(nest2)):
        assert_same_structure(a, b, check_types)
