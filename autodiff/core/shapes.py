"""Partially known shapes: `dims` is a tuple of sizes and Nones, or None for unknown rank."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .dimensions import Dimension, dimension_value
from .errors import KindError, ShapeError
from .graph_parts import written_as

Dims = tuple  # tuple[int | None, ...]; a plain None stands for an unknown rank


def as_dims(shape: Any) -> Dims | None:
    """Dims of a TensorShape, sequence, int or None (unknown rank)."""
    if shape is None:
        return None
    if type(shape) is tuple and all([type(n) is int and n >= 0 for n in shape]):
        return shape
    if isinstance(shape, TensorShape):
        return shape.dims_tuple
    if hasattr(shape, "unknown_rank"):  # a TensorShapeProto
        return None if shape.unknown_rank else tuple(None if dim.size < 0 else dim.size for dim in shape.dim)
    if isinstance(shape, (Dimension, int)):
        return (dimension_value(shape),)
    if isinstance(shape, (str, bytes)):
        raise KindError("A string has ambiguous TensorShape, please wrap in a list or convert to an int",
                        found=repr(shape))
    if isinstance(shape, Iterable) and getattr(shape, "ndim", 1) != 0:
        return tuple(dimension_value(size) for size in shape)
    return (dimension_value(shape),)


class TensorShape(Sequence):
    """A shape whose sizes, or whose rank, may be unknown. Items are Dimension objects.

    item: what gives an item, for scripts that ask for TensorFlow 2's plain sizes.
    """

    __slots__ = ("dims_tuple",)
    item: Any = Dimension
    _v2_behavior = property(lambda self: self.item is not Dimension)

    def __init__(self, dims: Any = None) -> None:
        self.dims_tuple: Dims | None = as_dims(dims)

    @property
    def dims(self) -> list[Dimension] | None:
        return None if self.dims_tuple is None else [Dimension(d) for d in self.dims_tuple]

    @property
    def ndims(self) -> int | None:
        return None if self.dims_tuple is None else len(self.dims_tuple)

    rank = ndims

    def __len__(self) -> int:
        return len(self._known_rank())

    def _known_rank(self) -> Dims:
        if self.dims_tuple is None:
            raise ShapeError("as_list() is not defined on an unknown TensorShape.")
        return self.dims_tuple

    def __bool__(self) -> bool:
        return self.dims_tuple is not None

    def __iter__(self) -> Iterator[Any]:
        return iter([self.item(d) for d in self._known_rank()])

    def __getitem__(self, key: Any) -> Any:
        if self.dims_tuple is None:
            return TensorShape(None) if isinstance(key, slice) else self.item(None)
        if isinstance(key, slice):
            return TensorShape(self.dims_tuple[key])
        return self.item(self.dims_tuple[key])

    def as_list(self) -> list[int | None]:
        """Sizes as a list; unknown ones are None. Raises ShapeError if the rank is unknown."""
        return list(self._known_rank())

    def as_proto(self) -> Any:
        """The shape as a TensorShapeProto."""
        return written_as("TensorShapeProto", self.dims_tuple)

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self.dims,)

    def num_elements(self) -> int | None:
        """Count of elements, or None if not fully known."""
        return num_elements(self.dims_tuple)

    def is_fully_defined(self) -> bool:
        return is_known(self.dims_tuple)

    def assert_is_fully_defined(self) -> None:
        if not self.is_fully_defined():
            raise ShapeError(expected="a fully known shape", found=self)

    def is_compatible_with(self, other: Any) -> bool:
        return compatible(self.dims_tuple, as_dims(other))

    def assert_is_compatible_with(self, other: Any) -> None:
        if not self.is_compatible_with(other):
            raise ShapeError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def assert_has_rank(self, rank: int) -> None:
        self.with_rank(rank)

    def assert_same_rank(self, other: Any) -> None:
        other = TensorShape(other)
        if self.dims_tuple is not None and other.dims_tuple is not None and self.ndims != other.ndims:
            raise ShapeError(f"ranks differ: {self} and {other}")

    def merge_with(self, other: Any) -> "TensorShape":
        return TensorShape(merge(self.dims_tuple, as_dims(other)))

    def most_specific_compatible_shape(self, other: Any) -> "TensorShape":
        """The known sizes that both shapes agree on; of unknown rank if the ranks differ."""
        other = as_dims(other)
        if self.dims_tuple is None or other is None or len(self.dims_tuple) != len(other):
            return TensorShape(None)
        return TensorShape([a if a == b else None for a, b in zip(self.dims_tuple, other)])

    def concatenate(self, other: Any) -> "TensorShape":
        other = as_dims(other)
        known = self.dims_tuple is not None and other is not None
        return TensorShape(self.dims_tuple + other if known else None)

    def with_rank(self, rank: int) -> "TensorShape":
        return self.merge_with((None,) * rank)

    def with_rank_at_least(self, rank: int) -> "TensorShape":
        if self.dims_tuple is not None and len(self.dims_tuple) < rank:
            raise ShapeError(expected=f"rank >= {rank}", found=self)
        return self

    def with_rank_at_most(self, rank: int) -> "TensorShape":
        if self.dims_tuple is not None and len(self.dims_tuple) > rank:
            raise ShapeError(expected=f"rank <= {rank}", found=self)
        return self

    def __eq__(self, other: object) -> bool:
        try:
            dims = as_dims(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self is not other and dims is not None and None in dims:
            return False  # whether unknown sizes are equal is unknown, and that counts as no
        return self.dims_tuple == dims

    def __ne__(self, other: object) -> bool:
        """Raises ShapeError (ValueError) for an unknown rank: whether that differs is unknown."""
        if self.dims_tuple is None or isinstance(other, TensorShape) and other.dims_tuple is None:
            raise ShapeError("The inequality of unknown TensorShapes is undefined.")
        return not self == other

    def __hash__(self) -> int:
        return hash(self.dims_tuple)

    def __add__(self, other: Any) -> "TensorShape":
        return self.concatenate(other)

    def __radd__(self, other: Any) -> "TensorShape":
        return TensorShape(other).concatenate(self)

    def __str__(self) -> str:
        if self.dims_tuple is None:
            return "<unknown>"
        if len(self.dims_tuple) == 1:
            return f"({show_size(self.dims_tuple[0])},)"
        return f"({', '.join(map(show_size, self.dims_tuple))})"

    def __repr__(self) -> str:
        if self.dims_tuple is None:
            return "TensorShape(None)"
        return f"TensorShape([{', '.join(f'Dimension({d})' for d in self.dims_tuple)}])"


def show_size(size: int | None) -> str:
    """A size for people: `?` if it is not known."""
    return "?" if size is None else str(size)


def show(dims: Dims | None) -> str:
    """`[?,784]` for people; `[...]` when the rank is unknown."""
    return "[...]" if dims is None else f"[{','.join(map(show_size, dims))}]"


def is_known(dims: Dims | None) -> bool:
    """Whether rank and all sizes are known."""
    return dims is not None and None not in dims


def num_elements(dims: Dims | None) -> int | None:
    """Count of elements, or None if any size is unknown."""
    if dims is None or None in dims:
        return None
    total = 1
    for size in dims:
        total *= size
    return total


def compatible(a: Dims | None, b: Dims | None) -> bool:
    """Whether one array could have both shapes."""
    if a is None or b is None or a == b:
        return True
    return len(a) == len(b) and all(m is None or n is None or m == n for m, n in zip(a, b))


def merge(a: Dims | None, b: Dims | None) -> Dims | None:
    """The shape that agrees with both. Raises ShapeError if they contradict."""
    if a is None or b is None:
        return b if a is None else a
    if a == b:
        return a
    if len(a) != len(b):
        raise ShapeError(f"Shapes must be equal rank, but are {len(a)} and {len(b)}: {show(a)} and {show(b)} are "
                         "incompatible")
    for axis, (m, n) in enumerate(zip(a, b)):
        if m != n and m is not None and n is not None:
            raise ShapeError(f"Dimension {axis} in both shapes must be equal, but are {m} and {n}. Shapes are "
                             f"{show(a)} and {show(b)}, which are incompatible")
    return tuple(n if m is None else m for m, n in zip(a, b))


def agreeing(a: Dims | None, b: Dims | None) -> Dims | None:
    """The shape that fits both; sizes that differ are unknown."""
    return None if a is None or b is None or len(a) != len(b) else tuple(m if m == n else None for m, n in zip(a, b))


def broadcast(a: Dims | None, b: Dims | None) -> Dims | None:
    """The shape of an elementwise result. None with n > 1 gives n; None with 1 or None gives None.

    Raises ShapeError if two known sizes differ and neither is 1.
    """
    if a is None or b is None:
        return None
    if a == b:
        return a
    rank = max(len(a), len(b))
    padded = ((1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b))
    return tuple(_broadcast_size(m, n, a, b) for m, n in zip(*padded))


def _broadcast_size(m: int | None, n: int | None, a: Dims, b: Dims) -> int | None:
    if m == n or n == 1:
        return m
    if m == 1:
        return n
    if m is None or n is None:
        return n if m is None else m
    raise ShapeError(f"Dimensions must be equal, but are {m} and {n}: {show(a)} and {show(b)} are broadcast")
