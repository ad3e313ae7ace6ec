"""Nested structures of lists, tuples, namedtuples and dicts; dicts in the order of their keys.

With expand_composites, a value that has a `_type_spec` (a sparse tensor, IndexedSlices) is a structure, too: its parts
are those that the spec takes it apart into, and the spec itself stands for such a value.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView
from typing import Any

from .errors import ArgumentError, KindError


def is_sequence(structure: Any, expand_composites: bool = False) -> bool:
    """Whether this is a structure rather than a leaf."""
    if isinstance(structure, (list, tuple, Mapping, MappingView)):
        return not hasattr(structure, "as_tensor")
    return expand_composites and spec_of(structure) is not None


is_nested = is_sequence


def spec_of(value: Any) -> Any:
    """What takes a composite value apart, or stands for one; None for anything else."""
    if hasattr(type(value), "_type_spec"):
        return value._type_spec
    parts = getattr(value, "_component_specs", value) if hasattr(type(value), "_component_specs") else value
    return None if parts is value else value  # the parts of a tensor's spec are the spec itself: a leaf


def entries(structure: Any) -> list[tuple[Any, Any]]:
    """The items of a structure with what leads to each: key, field, place or a composite's class."""
    if isinstance(structure, Mapping):
        return [(key, structure[key]) for key in _keys(structure)]
    if isinstance(structure, (list, tuple, MappingView)):
        return list(zip(getattr(structure, "_fields", None) or range(len(structure)), list(structure)))  # type: ignore[arg-type]
    spec = spec_of(structure)
    return [(spec.value_type.__name__, spec._component_specs if spec is structure else spec._to_components(structure))]


def children(structure: Any) -> list[Any]:
    """The items of a structure, a dict's in the order of its keys."""
    return list(structure) if isinstance(structure, (list, tuple)) else [child for _, child in entries(structure)]


def _keys(structure: Mapping) -> list[Any]:
    try:
        return sorted(structure)
    except TypeError:
        raise KindError("nest only supports dicts with sortable keys.", found=repr(list(structure))) from None


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves, left to right; a leaf alone is a list of one."""
    if not is_sequence(structure, expand_composites):
        return [structure]
    return [leaf for child in children(structure) for leaf in flatten(child, expand_composites)]


def pack_sequence_as(structure: Any, flat_sequence: Iterable[Any], expand_composites: bool = False) -> Any:
    """The same structure with other leaves. Raises ArgumentError (ValueError) if their number differs."""
    if isinstance(flat_sequence, str) or not isinstance(flat_sequence, Iterable):
        raise KindError("flat_sequence must be a sequence", found=repr(flat_sequence))
    leaves = list(flat_sequence)
    expected = len(flatten(structure, expand_composites))
    if len(leaves) != expected:
        if not is_sequence(structure, expand_composites):
            raise ArgumentError(f"Structure is a scalar but len(flat_sequence) == {len(leaves)} > 1")
        raise ArgumentError(f"Could not pack sequence. Structure had {expected} elements, but flat_sequence had "
                            f"{len(leaves)} elements.  Structure: {structure!r}, flat_sequence: {leaves!r}.")
    return _packed(structure, iter(leaves), expand_composites)


def _packed(structure: Any, leaves: Iterator[Any], composites: bool) -> Any:
    if not is_sequence(structure, composites):
        return next(leaves)
    return like(structure, [_packed(child, leaves, composites) for child in children(structure)])


def like(structure: Any, items: list[Any]) -> Any:
    """`items` as the children of a structure of that kind."""
    kind: Any = type(structure)
    if isinstance(structure, Mapping):
        by_key = dict(zip(_keys(structure), items))
        pairs = ((key, by_key[key]) for key in structure)
        return kind(structure.default_factory, pairs) if isinstance(structure, defaultdict) else kind(pairs)
    if isinstance(structure, (list, tuple)):
        return kind(*items) if hasattr(structure, "_fields") else kind(items)
    return items if isinstance(structure, MappingView) else spec_of(structure)._from_components(items[0])


def map_structure(func: Callable[..., Any], *structure: Any, check_types: bool = True, expand_composites: bool = False,
                  **unknown: Any) -> Any:
    """`func` of the leaves of structures of the same form, in that form."""
    if not callable(func):
        raise KindError(f"func must be callable, got: {func}")
    if not structure:
        raise ArgumentError("Must provide at least one structure")
    if unknown:
        raise ArgumentError("Only valid keyword arguments are `check_types` and `expand_composites`, not: "
                            f"`{'`, `'.join(unknown)}`")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand_composites)
    rows = zip(*(flatten(each, expand_composites) for each in structure))
    return pack_sequence_as(structure[0], [func(*row) for row in rows], expand_composites)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raises ArgumentError (ValueError) or KindError (TypeError) where two structures differ."""
    found = _difference(nest1, nest2, check_types, expand_composites)
    if found is not None:
        kind, where = found
        raise kind("The two structures don't have the same nested structure.\n\n"
                   f"First structure: {_shown(nest1)}\n\nSecond structure: {_shown(nest2)}\n\n"
                   f"More specifically: {where}\nEntire first structure:\n{_dotted(nest1)}\n"
                   f"Entire second structure:\n{_dotted(nest2)}")


def _difference(a: Any, b: Any, check_types: bool, composites: bool) -> tuple[Any, str] | None:
    """The first place where two structures differ, in words, and the error that it is."""
    is_one = is_sequence(a, composites)
    if is_one != is_sequence(b, composites):
        one, other = (a, b) if is_one else (b, a)
        return ArgumentError, f'Substructure "{_shown(one)}" is a sequence, while substructure "{_shown(other)}" is not'
    if not is_one:
        return None
    if composites and (found := composites_differ(a, b)):
        return found
    keyed = isinstance(a, Mapping) and isinstance(b, Mapping)
    if check_types and not same_kind(a, b):
        return KindError, ("The two structures don't have the same sequence type. First structure has type "
                           f"{type(a).__name__}, while second structure has type {type(b).__name__}")
    if keyed and set(a) != set(b):
        return ArgumentError, ("The two dictionaries don't have the same set of keys. First structure has keys "
                               f"{list(a)}, while second structure has keys {list(b)}")
    ours, theirs = children(a), children(b)
    for one, other in zip(ours, theirs):
        if found := _difference(one, other, check_types, composites):
            return found
    if len(ours) != len(theirs):
        return ArgumentError, ("The two structures don't have the same number of elements. "
                               f"First structure: {_shown(a)}. Second structure: {_shown(b)}")
    return None


def same_kind(a: Any, b: Any) -> bool:
    """Whether two structures are of one kind: two dicts, two namedtuples of one name and fields, of one class."""
    if type(a) is type(b) or isinstance(a, Mapping) and isinstance(b, Mapping):
        return True
    if hasattr(a, "_fields") and hasattr(b, "_fields"):
        return type(a).__name__ == type(b).__name__ and a._fields == b._fields
    return spec_of(a) is not None and spec_of(b) is not None


def composites_differ(a: Any, b: Any) -> tuple[Any, str] | None:
    """As `_difference`, of what is known of two composite values as a whole; None, too, if neither is one."""
    first, second = spec_of(a), spec_of(b)
    if type(first) is not type(second):
        return KindError, f"the first is described by {first!r}, the second by {second!r}"
    try:
        return first and first.most_specific_compatible_type(second) and None
    except (TypeError, ValueError):
        return ArgumentError, f"Incompatible CompositeTensor TypeSpecs: {first} vs. {second}"


def _shown(structure: Any) -> str:
    return f"type={type(structure).__name__} str={structure!s}"


class _Dot:
    def __repr__(self) -> str:
        return "."


def _dotted(structure: Any) -> str:
    return str(map_structure(lambda leaf: _Dot(), structure))
