"""ATen's sorting, ranking and choosing: their gradients go to the places that were chosen."""
from __future__ import annotations

from typing import Any

from ...model import tf
from .common import as_type, aten, axis_of, dims, no_gradient, number, rank
from .reductions import gathered


@aten.op("max.dim")
def max_along(x: Any, axis: int, keepdim: bool = False) -> Any:
    return _chosen(tf.argmax, x, axis, keepdim)


@aten.op("min.dim")
def min_along(x: Any, axis: int, keepdim: bool = False) -> Any:
    return _chosen(tf.argmin, x, axis, keepdim)


def _chosen(function: Any, x: Any, axis: int, keepdim: bool) -> Any:
    if not rank(x):
        return x, tf.zeros([], tf.int64)
    at = axis_of(axis, rank(x))
    places = tf.expand_dims(function(x, axis=at), at)
    return _squeezed(gathered(x, at, places), places, at, keepdim)


def _squeezed(values: Any, places: Any, axis: int, keepdim: bool) -> Any:
    return (values, places) if keepdim else (tf.squeeze(values, axis=[axis]), tf.squeeze(places, axis=[axis]))


def _order(x: Any, axis: int, descending: bool) -> Any:
    """Places of the elements in order along an axis, equal ones in theirs. bool and int are sorted as they are."""
    plain = tf.cast(x, tf.int32) if x.dtype.base_dtype is tf.bool else x
    direction = "DESCENDING" if descending else "ASCENDING"
    return tf.cast(tf.argsort(no_gradient(plain), axis=axis, direction=direction, stable=True), tf.int64)


@aten.op("sort", "sort.default")
def sort(x: Any, axis: int = -1, descending: bool = False) -> Any:
    if not rank(x):
        return x, tf.zeros([], tf.int64)
    at = axis_of(axis, rank(x))
    places = _order(x, at, descending)
    return gathered(x, at, places), places


@aten.op("sort.stable")
def sort_stable(x: Any, *, stable: Any = None, dim: int = -1, descending: bool = False) -> Any:
    return sort(x, dim, descending)


@aten.op("argsort")
def argsort(x: Any, axis: int = -1, descending: bool = False) -> Any:
    return sort(x, axis, descending)[1]


@aten.op("argsort.stable")
def argsort_stable(x: Any, *, stable: Any = None, dim: int = -1, descending: bool = False) -> Any:
    return sort(x, dim, descending)[1]


@aten.op("topk")
def topk(x: Any, k: int, axis: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if not rank(x):
        return x, tf.zeros([], tf.int64)
    at = axis_of(axis, rank(x))
    places = tf.gather(_order(x, at, largest), tf.range(k), axis=at)
    return gathered(x, at, places), places


def _ranked(x: Any, k: Any, axis: int, keepdim: bool) -> Any:
    at = axis_of(axis, rank(x))
    places = tf.gather(_order(x, at, False), tf.reshape(k, [1]), axis=at)
    return _squeezed(gathered(x, at, places), places, at, keepdim)


@aten.op("kthvalue")
def kthvalue(x: Any, k: int, axis: int = -1, keepdim: bool = False) -> Any:
    return _ranked(x, k - 1, axis, keepdim)


@aten.op("median.dim", "nanmedian.dim")
def median_along(x: Any, axis: int = -1, keepdim: bool = False) -> Any:
    return _ranked(x, (dims(x)[axis_of(axis, rank(x))] - 1) // 2, axis, keepdim)


@aten.op("median", "nanmedian")
def median(x: Any) -> Any:
    return median_along(tf.reshape(x, [-1]), 0)[0]


@aten.op("_unique2", "unique_consecutive", "unique_dim")
def unique(x: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    flat = tf.reshape(x, [-1])
    values, places, counts = tf.unique_with_counts(tf.gather(flat, _order(flat, 0, False)), out_idx=tf.int64)
    inverse = tf.searchsorted(values, flat, out_type=tf.int64)
    del places
    return values, tf.reshape(inverse, tf.shape(x)), counts


@aten.op("histc", note="outside of the range nothing counts; without one it is that of the data")
def histc(x: Any, bins: int = 100, low: float = 0, high: float = 0) -> Any:
    flat = no_gradient(tf.reshape(x, [-1]))
    first, last = (number(low, x), number(high, x)) if low != high else (tf.reduce_min(flat), tf.reduce_max(flat))
    if low == high:
        is_flat = tf.cast(tf.equal(first, last), x.dtype.base_dtype)
        first, last = first - is_flat, last + is_flat
    place = tf.cast(tf.floor((flat - first) * number(bins, x) / (last - first)), tf.int64)
    inside = tf.logical_and(tf.greater_equal(flat, first), tf.less_equal(flat, last))
    return tf.unsorted_segment_sum(as_type(inside, x.dtype.base_dtype), tf.clip_by_value(place, 0, bins - 1), bins)
