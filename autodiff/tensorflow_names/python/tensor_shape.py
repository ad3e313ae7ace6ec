"""tensorflow.python.framework.tensor_shape: shapes by the words of old code."""
from __future__ import annotations

from typing import Any

from ...api.compat import dimension_at_index, dimension_value
from ...core.errors import ArgumentError
from ...core.shapes import Dimension, TensorShape

__all__ = ["Dimension", "TensorShape", "dimension_at_index", "dimension_value"]


def as_shape(shape: Any) -> TensorShape:
    """A TensorShape of whatever says one."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def as_dimension(value: Any) -> Dimension:
    """A Dimension of a number or None."""
    return value if isinstance(value, Dimension) else Dimension(value)


def unknown_shape(rank: int | None = None, ndims: int | None = None) -> TensorShape:
    """A shape of which the rank alone is known, or nothing. Raises ArgumentError (ValueError) for two ranks."""
    if rank is not None and ndims is not None:
        raise ArgumentError("Cannot specify both 'rank' and 'ndims'")
    known = ndims if rank is None else rank
    return TensorShape(None) if known is None else TensorShape([None] * known)


def scalar() -> TensorShape:
    """The shape of a scalar."""
    return TensorShape([])


def vector(length: Any) -> TensorShape:
    """The shape of a vector."""
    return TensorShape([length])


def matrix(rows: Any, cols: Any) -> TensorShape:
    """The shape of a matrix."""
    return TensorShape([rows, cols])
