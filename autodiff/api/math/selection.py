"""Choosing by a condition, clipping, and the order of elements."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.errors import ArgumentError
from ...core.graph import Tensor, graph_of
from ...core.indexed_slices import IndexedSlices
from ...core.op import build
from ...core.shapes import merge
from .elementwise import as_operand

__all__ = ["clip_by_value", "is_non_decreasing", "is_numeric_tensor", "is_strictly_increasing", "where", "where_v2"]


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """x where the condition holds, else y; without both, the coordinates of what is true.

    x, y: any[...] of one shape. condition: bool of that shape, bool[n] for rows, or bool[]; it does
    not broadcast. Coordinates are int64[n, rank]. Raises ArgumentError (ValueError) for one of x
    and y alone, ShapeError (a ValueError) for shapes.
    """
    if x is None and y is None:
        return build.Where(condition, name=name)
    if x is None or y is None:
        raise ArgumentError(f"expected both x and y, or neither: found only {'y' if x is None else 'x'}")
    return build.Select(condition, x, y, name=name)


def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """`where`, with condition, x and y broadcast."""
    return where(condition, x, y, name) if x is None or y is None else build.SelectV2(condition, x, y, name=name)


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """`t` with values outside of the bounds put on them. The gradient passes at the bounds, not beyond.

    t: real[...] or IndexedSlices. Raises ShapeError (ValueError) if a bound would make `t` larger.
    """
    with graph_of([t, clip_value_min, clip_value_max]).name_scope(name or "clip_by_value") as scope:
        values = t.values if isinstance(t, IndexedSlices) else as_operand(t, "t")
        lowered = build.Minimum(values, clip_value_max)
        merge(values.dims, lowered.dims)
        clipped = build.Maximum(lowered, clip_value_min, name=scope)
        merge(values.dims, clipped.dims)
        return IndexedSlices(clipped, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else clipped


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether this is a tensor of numbers."""
    return isinstance(tensor, Tensor) and (tensor.dtype.is_differentiable or tensor.dtype.is_integer)


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element, in row order, is at least the one before. x: real[...] -> bool[]."""
    return _in_order(x, name or "is_non_decreasing", build.LessEqual)


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element, in row order, is greater than the one before. x: real[...] -> bool[]."""
    return _in_order(x, name or "is_strictly_increasing", build.Less)


def _in_order(x: Any, name: str, compare: Callable[..., Tensor]) -> Tensor:
    with graph_of([x]).name_scope(name):
        flat = build.Reshape(as_operand(x), [-1])
        return build.All(compare(flat[:-1], flat[1:]), [0])
