"""ONNX ops that look elements up by index, add them back, and search."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ..model import tf
from .sizes import axis_of, moved, rank_of, shape_of, size_of, sizes_of
from .table import is_float, onnx, scalar, text, value_of

_SIZES = 8  # entries of a shape that are taken one by one


def positive(indices: Any, size: Any) -> Any:
    """int64 indices, counted from the front."""
    indices = tf.cast(indices, tf.int64)
    known = value_of(indices)
    if known is not None and (known >= 0).all():
        return indices
    return tf.where_v2(indices < 0, indices + tf.cast(size, tf.int64), indices)


@onnx.op("Gather")
def gather(x: Any, indices: Any, *, axis: int = 0) -> Any:
    axis, places = axis_of(axis, rank_of(x)), value_of(indices)
    if rank_of(x) == 1 and not is_float(x) and places is not None and places.ndim < 2 and places.size <= _SIZES:
        sizes = [x[int(place)] for place in places.ravel()]  # of a shape: slices stay known as far as they are
        return tf.stack(sizes) if places.ndim else sizes[0]
    return tf.gather(x, positive(indices, size_of(x, axis)), axis=axis)


@onnx.op("GatherND")
def gather_nd(x: Any, indices: Any, *, batch_dims: int = 0) -> Any:
    width = int(indices.shape[-1])
    sizes = tf.stack([tf.cast(n, tf.int64) for n in sizes_of(x)[batch_dims:batch_dims + width]])
    indices = positive(indices, sizes)
    return tf.gather_nd(x, indices, batch_dims=batch_dims)


def element_places(x: Any, indices: Any, axis: int) -> Any:
    """int64[..., rank]: where each element of `indices` points to, along one axis."""
    parts = tf.meshgrid(*[tf.range(tf.cast(n, tf.int64)) for n in sizes_of(indices)], indexing="ij")
    at = axis_of(axis, rank_of(indices))
    parts[at] = positive(indices, size_of(x, at))
    return tf.stack(parts, -1)


@onnx.op("ScatterElements", "Scatter")
def scatter_elements(x: Any, indices: Any, updates: Any, *, axis: int = 0, reduction: Any = b"none") -> Any:
    if updates.dims != indices.dims:  # torch's exporter leaves what it does not use
        updates = updates[tuple(slice(0, n) for n in sizes_of(indices))]
    return _scattered(x, element_places(x, indices, axis), updates, text(reduction))


@onnx.op("ScatterND")
def scatter_nd(x: Any, indices: Any, updates: Any, *, reduction: Any = b"none") -> Any:
    width = int(indices.shape[-1])
    sizes = tf.stack([tf.cast(n, tf.int64) for n in sizes_of(x)[:width]])
    return _scattered(x, positive(indices, sizes), updates, text(reduction))


def _scattered(x: Any, places: Any, updates: Any, reduction: str) -> Any:
    """`x` changed at places: int64[..., k], each of a slice of the other axes."""
    if reduction == "none":
        return tf.tensor_scatter_update(x, places, updates)
    if reduction == "add":
        return tf.tensor_scatter_add(x, places, updates)
    combine = {"mul": (tf.unsorted_segment_prod, tf.multiply), "max": (tf.unsorted_segment_max, tf.maximum),
               "min": (tf.unsorted_segment_min, tf.minimum)}
    if reduction not in combine:
        raise ArgumentError(expected="a reduction none, add, mul, max or min", found=repr(reduction))
    segments, both = combine[reduction]
    width = int(places.shape[-1])
    sizes = [tf.cast(n, tf.int64) for n in sizes_of(x)]
    number: Any = tf.zeros_like(places[..., 0])  # of the slice, counted over the leading axes
    count: Any = tf.constant(1, tf.int64)
    for i in range(width):
        number, count = number * sizes[i] + places[..., i], count * sizes[i]
    rest = tf.stack(sizes[width:]) if width < len(sizes) else tf.zeros([0], tf.int64)
    parts = tf.reshape(updates, tf.concat([[-1], rest], 0))
    return both(x, tf.reshape(segments(parts, tf.reshape(number, [-1]), count), shape_of(x)))


@onnx.op("TensorScatter", note="circular wraps around the end of the cache")
def tensor_scatter(past: Any, update: Any, write_indices: Any = None, *, axis: int = -2, mode: Any = b"linear") -> Any:
    rank = rank_of(past)
    axis = axis_of(axis, rank)
    batch, length = sizes_of(update, 0, axis)
    steps = tf.reshape(tf.range(tf.cast(length, tf.int64)), [1, -1])
    first = tf.zeros([batch], tf.int64) if write_indices is None else tf.cast(write_indices, tf.int64)
    place = tf.reshape(first, [-1, 1]) + steps
    if text(mode) == "circular":
        place = tf.floormod(place, tf.cast(size_of(past, axis), tf.int64))
    rows = tf.broadcast_to(tf.reshape(tf.range(tf.cast(batch, tf.int64)), [-1, 1]), tf.shape(place))
    found = tf.tensor_scatter_update(moved(past, axis, 1), tf.stack([rows, place], -1), moved(update, axis, 1))
    return moved(found, 1, axis)


@onnx.op("OneHot", note="indices beyond the depth are nowhere; gradients go to the values")
def one_hot(indices: Any, depth: Any, values: Any, *, axis: int = -1) -> Any:
    count = tf.cast(tf.reshape(depth, []), tf.int32)
    places = tf.cast(indices, tf.int64)
    places = tf.where_v2(places < 0, places + tf.cast(count, tf.int64), places)
    return tf.where_v2(tf.one_hot(places, count, True, False, axis=axis), values[1], values[0])


def _arg(search: Any, x: Any, axis: int, keepdims: int, last: int) -> Any:
    axis = axis_of(axis, rank_of(x))
    found = search(tf.reverse(x, [axis]) if last else x, axis)
    found = tf.cast(size_of(x, axis), tf.int64) - 1 - found if last else found
    return tf.expand_dims(found, axis) if keepdims else found


@onnx.op("TopK")
def top_k(x: Any, k: Any, *, axis: int = -1, largest: int = 1, sorted: int = 1) -> Any:  # noqa: A002
    rows = moved(x, axis, -1)
    values, places = tf.nn.top_k(rows if largest else -rows, tf.cast(tf.reshape(k, []), tf.int32))
    return moved(values if largest else -values, -1, axis), tf.cast(moved(places, -1, axis), tf.int64)


@onnx.op("Unique", note="the places are NumPy's; the values are taken from x, so gradients flow")
def unique(x: Any, *, axis: Any = None, sorted: int = 1) -> Any:  # noqa: A002
    def places(values: Any) -> Any:
        _, first, inverse, counts = np.unique(values, True, True, True, axis=axis)
        order = np.arange(len(first)) if sorted else np.argsort(first)
        return first[order], np.argsort(order)[inverse.reshape(-1)], counts[order]

    first, inverse, counts = tf.py_func(places, [x], [tf.int64] * 3)
    for found in (first, inverse, counts):
        found.set_shape([None])
    y = tf.gather(tf.reshape(x, [-1]) if axis is None else x, first, axis=axis_of(axis or 0, rank_of(x)))
    return y, first, inverse, counts


onnx.rows({
    "Compress": lambda x, condition, *, axis=None:
        tf.gather(tf.reshape(x, [-1]) if axis is None else x, tf.where(condition)[:, 0], axis=axis or 0),
    "GatherElements": lambda x, indices, *, axis=0: tf.gather_nd(x, element_places(x, indices, axis)),
    "NonZero": lambda x:
        tf.transpose(tf.where(tf.not_equal(x, tf.zeros_like(x)) if x.dtype.base_dtype != tf.bool else x)),
    "ArgMax": lambda x, *, axis=0, keepdims=1, select_last_index=0:
        _arg(tf.argmax, x, axis, keepdims, select_last_index),
    "ArgMin": lambda x, *, axis=0, keepdims=1, select_last_index=0:
        _arg(tf.argmin, x, axis, keepdims, select_last_index),
    "CumSum": lambda x, axis, *, exclusive=0, reverse=0: tf.cumsum(x, scalar(axis), bool(exclusive), bool(reverse)),
    "CumProd": lambda x, axis, *, exclusive=0, reverse=0: tf.cumprod(x, scalar(axis), bool(exclusive), bool(reverse))})
