"""Sizes and axes of tensors, as far as they are known, and what is reshaped by them."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ..model import tf


def rank_of(x: Tensor) -> int:
    """Raises ArgumentError where the rank is not known."""
    if x.dims is None:
        raise ArgumentError(expected="a tensor of known rank", found=x.describe(),
                            hint="onnx.shape_inference.infer_shapes(model) may find it")
    return len(x.dims)


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the front. Raises ArgumentError outside of -rank .. rank - 1."""
    if not -rank <= axis < max(rank, 1):
        raise ArgumentError(expected=f"an axis from {-rank} to {rank - 1}", found=axis)
    return axis + rank if axis < 0 else axis


def shape_of(x: Tensor) -> Any:
    """The shape as int64[rank]."""
    return tf.shape(x, out_type=tf.int64)


def size_of(x: Tensor, axis: int) -> Any:
    """The length of an axis: an int if it is known, else int64[]."""
    if x.dims is None:
        return shape_of(x)[axis]
    known = x.dims[axis_of(axis, len(x.dims))]
    return shape_of(x)[axis] if known is None else known


def sizes_of(x: Tensor, *axes: int) -> list[Any]:
    """The lengths of these axes, of all if there are none: ints where known."""
    return [size_of(x, axis) for axis in axes or range(rank_of(x))]


def vector(entries: Sequence[Any]) -> Any:
    """int64[n] of ints and int64[] tensors; an array if all are known."""
    if all(isinstance(entry, (int, np.integer)) for entry in entries):
        return np.array(entries, np.int64)
    return tf.stack([tf.cast(entry, tf.int64) for entry in entries])


def product(entries: Sequence[Any]) -> Any:
    """The product of ints and int64[] tensors: an int if all are known."""
    found: Any = 1
    for entry in entries:
        found = found * entry
    return found


def reshaped(x: Tensor, entries: Sequence[Any]) -> Any:
    """`x` in a shape of ints and int64[] tensors; at most one that is not known takes what is left."""
    unknown = [i for i, entry in enumerate(entries) if isinstance(entry, Tensor)]
    if len(unknown) == 1 and 0 not in [e for e in entries if not isinstance(e, Tensor)]:
        entries = [-1 if i == unknown[0] else entry for i, entry in enumerate(entries)]
    return tf.reshape(x, vector(entries))


def moved(x: Tensor, source: int, target: int) -> Any:
    """`x` with one axis at another place."""
    rank = rank_of(x)
    order = [i for i in range(rank) if i != axis_of(source, rank)]
    order.insert(axis_of(target, rank), axis_of(source, rank))
    return x if order == list(range(rank)) else tf.transpose(x, order)
