"""Primitives that take and put elements by index: gather, the scatters, sorting, the best k."""
from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...model import tf
from ...onnx.sizes import moved
from .table import JAX, Tensor


class Places(NamedTuple):
    """Where the windows of a gather or scatter lie in the flattened operand.

    flat: int32[batch..., window...]. inside: bool[batch...], whether all of a window lies in the operand; None where
    nobody asks.
    """

    flat: Tensor
    inside: Tensor | None


def _places(shape: Sequence[int], indices: Tensor, index_map: Sequence[int], operand_batch: Sequence[int],
            indices_batch: Sequence[int], sizes: Sequence[int], collapsed: Sequence[int], drops: bool) -> Places:
    """For indices int[batch..., depth]: the place of every element of every window, those outside moved inside.

    drops: whether it is asked which were inside.
    """
    batch = indices.dims[:-1]
    indices = tf.cast(indices, tf.int32)
    strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
    start, inside = tf.zeros(batch, tf.int32), None
    for depth, axis in enumerate(index_map):
        at, last = indices[..., depth], shape[axis] - sizes[axis]
        kept = tf.minimum(tf.maximum(at, 0), last)
        if drops:
            inside = tf.equal(kept, at) if inside is None else tf.logical_and(inside, tf.equal(kept, at))
        start += kept * strides[axis]
    for axis, along in zip(operand_batch, indices_batch):
        start += np.arange(shape[axis], dtype=np.int32).reshape([-1 if i == along else 1 for i in range(len(batch))]
                                                               ) * np.int32(strides[axis])
    window = np.zeros((), np.int32)
    for axis, size in enumerate(sizes):
        if axis not in collapsed:
            window = window[..., None] + np.arange(size, dtype=np.int32) * np.int32(strides[axis])
    return Places(tf.reshape(start, [*batch, *[1] * window.ndim]) + window, inside)


@JAX.op("gather", note="outside of the operand: moved inside, also where it is promised to be inside, or filled")
def gather(x: Tensor, indices: Tensor, *, dimension_numbers: Mapping[str, Any], slice_sizes: Sequence[int],
           mode: str | None = None, fill_value: Any = None, unique_indices: bool = False) -> Tensor:
    offset, collapsed, index_map, x_batch, indices_batch = (dimension_numbers[key] for key in (
        "offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims",
        "start_indices_batching_dims"))
    places = _places(x.dims, indices, index_map, x_batch, indices_batch, slice_sizes, (*collapsed, *x_batch),
                     mode == "FILL_OR_DROP")
    batch = len(indices.dims) - 1
    if list(collapsed) == list(index_map) == [0] and not x_batch and list(slice_sizes[1:]) == list(x.dims[1:]):
        taken = tf.gather(x, tf.clip_by_value(tf.cast(indices[..., 0], tf.int32), 0, x.dims[0] - 1))
    else:
        taken = tf.gather(tf.reshape(x, [-1]), places.flat)
    if places.inside is not None:
        inside = tf.reshape(places.inside, [*places.inside.dims, *[1] * (len(taken.dims) - batch)])
        taken = tf.where(tf.broadcast_to(inside, taken.dims), taken, tf.fill(taken.dims, _filler(x, fill_value)))
    others = iter(range(batch))
    windows = iter(range(batch, len(taken.dims)))
    order = [next(windows) if i in offset else next(others) for i in range(len(taken.dims))]
    return taken if order == sorted(order) else tf.transpose(taken, order)


def _filler(x: Tensor, value: Any) -> Tensor:
    """What stands for elements outside: nan, the smallest signed or the greatest unsigned integer, true."""
    dtype = np.dtype(x.dtype.as_numpy_dtype)
    if value is None:
        value = {"f": np.nan, "c": np.nan, "b": True}.get(dtype.kind)
        if value is None:
            value = np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max
    return tf.constant(np.asarray(value, dtype))


def _scattered(x: Tensor, indices: Tensor, updates: Tensor, numbers: Mapping[str, Any], mode: str | None,
               put: Any) -> Tensor:
    """What put(flat operand, flat places, flat updates) gives; the operand has one element more for what is dropped."""
    window, inserted, index_map, x_batch, indices_batch = (numbers[key] for key in (
        "update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims", "operand_batching_dims",
        "scatter_indices_batching_dims"))
    missing = (*inserted, *x_batch)
    of_window = iter([updates.dims[i] for i in window])
    sizes = [1 if axis in missing else next(of_window) for axis in range(len(x.dims))]
    places = _places(x.dims, indices, index_map, x_batch, indices_batch, sizes, missing, mode != "CLIP")
    order = [i for i in range(len(updates.dims)) if i not in window] + list(window)
    updates = updates if order == sorted(order) else tf.transpose(updates, order)
    flat, whole, count = places.flat, tf.reshape(x, [-1]), math.prod(x.dims)
    if places.inside is not None:
        inside = tf.reshape(places.inside, [*places.inside.dims, *[1] * len(window)])
        flat = tf.where(tf.broadcast_to(inside, flat.dims), flat, tf.fill(flat.dims, count))
        whole = tf.concat([whole, tf.zeros([1], x.dtype)], 0)
    found = put(whole, tf.reshape(flat, [-1]), tf.reshape(updates, [-1]))
    return tf.reshape(found[:count] if places.inside is not None else found, x.dims)


@JAX.op("scatter", note="of several updates of one element the last counts, and has the gradient")
def scatter(x: Tensor, indices: Tensor, updates: Tensor, *, dimension_numbers: Mapping[str, Any],
            mode: str | None = None, unique_indices: bool = False, update_jaxpr: Any = None, **params: Any) -> Tensor:
    def put(whole: Tensor, at: Tensor, new: Tensor) -> Tensor:
        if not unique_indices and new.dtype.is_floating:
            order = tf.range(new.dims[0])
            last = tf.tensor_scatter_update(tf.fill(whole.dims, -1), at[:, None], order)
            new = tf.where(tf.equal(tf.gather(last, at), order), new, tf.stop_gradient(new))
        return tf.tensor_scatter_update(whole, at[:, None], new)

    if x.dtype == tf.bool:
        numbers = [tf.cast(v, tf.int32) for v in (x, updates)]
        return _scattered(numbers[0], indices, numbers[1], dimension_numbers, mode, put) > 0
    return _scattered(x, indices, updates, dimension_numbers, mode, put)


def _scatter(put: Any) -> Any:
    """A scatter that adds, or otherwise joins, updates to what stands where they go."""
    def build(x: Tensor, indices: Tensor, updates: Tensor, *, dimension_numbers: Mapping[str, Any],
              mode: str | None = None, **params: Any) -> Tensor:
        return _scattered(x, indices, updates, dimension_numbers, mode, put)
    return build


def _extreme(choose: Any, of_segments: Any, whole: Tensor, at: Tensor, new: Tensor) -> Tensor:
    """The extreme of each element and its updates; one without any stays, also if it is infinite."""
    is_met = tf.unsorted_segment_sum(tf.ones_like(at), at, whole.dims[0]) > 0
    return tf.where(is_met, choose(whole, of_segments(new, at, whole.dims[0])), whole)


def _ranks(x: Tensor) -> Tensor:
    """Numbers that sort as x does; nan comes last."""
    if x.dtype.is_floating:
        return tf.where(tf.math.is_nan(x), tf.fill(x.dims, tf.constant(np.inf, x.dtype)), x)
    return tf.cast(x, tf.int64) if x.dtype != tf.bool else tf.cast(x, tf.int32)


@JAX.op("sort", note="by the first num_keys operands, nan last")
def sort(*xs: Tensor, dimension: int, num_keys: int) -> list[Tensor]:
    rows = [moved(x, dimension, -1) for x in xs]
    lead, order = len(xs[0].dims) - 1, None
    for key in reversed(rows[:num_keys]):
        ranks = _ranks(key) if order is None else tf.gather(_ranks(key), order, axis=lead, batch_dims=lead)
        found = tf.argsort(ranks, stable=True)
        order = found if order is None else tf.gather(order, found, axis=lead, batch_dims=lead)
    return [moved(tf.gather(row, order, axis=lead, batch_dims=lead), -1, dimension) for row in rows]


@JAX.op("top_k", "approx_top_k")
def top_k(x: Tensor, *, k: int, axis: int = -1, reduction_dimension: int | None = None, is_max_k: bool = True,
          **params: Any) -> list[Tensor]:
    at = axis if reduction_dimension is None else reduction_dimension
    values, places = tf.nn.top_k(moved(x if is_max_k else -x, at, -1), k)
    return [moved(y, -1, at) for y in (values if is_max_k else -values, places)]


JAX.rows({
    "scatter-add": _scatter(lambda whole, at, new: tf.tensor_scatter_add(whole, at[:, None], new)),
    "scatter-sub": _scatter(lambda whole, at, new: tf.tensor_scatter_sub(whole, at[:, None], new)),
    "scatter-mul": _scatter(lambda whole, at, new: whole * tf.unsorted_segment_prod(new, at, whole.dims[0]))})
JAX.rows({
    "scatter-min": _scatter(functools.partial(_extreme, tf.minimum, tf.unsorted_segment_min)),
    "scatter-max": _scatter(functools.partial(_extreme, tf.maximum, tf.unsorted_segment_max))}, pulled_back=True)
