"""ATen's sorting, ranking and choosing: their gradients go to the places that were chosen."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...model import tf
from .common import as_type, aten, dims, no_gradient, number, on_axis, where
from .reductions import extreme_place, gathered


def _chosen(function: Any) -> Any:
    return on_axis(lambda x, axis, keepdim=False:
                   _taken(x, axis, tf.expand_dims(extreme_place(function, x, axis), axis), keepdim))


def _taken(x: Any, axis: int, places: Any, keepdim: bool) -> Any:
    """The elements at places along an axis, one for each row."""
    values = gathered(x, axis, places)
    return (values, places) if keepdim else (tf.squeeze(values, axis=[axis]), tf.squeeze(places, axis=[axis]))


def _order(x: Any, axis: int, descending: bool) -> Any:
    """Places of the elements in order along an axis, equal ones in theirs. bool and int are sorted as they are."""
    plain = tf.cast(x, tf.int32) if x.dtype.base_dtype is tf.bool else x
    if x.dtype.is_floating:  # nan is the greatest
        plain = where(tf.is_nan(x), number(np.inf, x), x)
    direction = "DESCENDING" if descending else "ASCENDING"
    return tf.cast(tf.argsort(no_gradient(plain), axis=axis, direction=direction, stable=True), tf.int64)


@aten.op("sort", "sort.default")
@on_axis
def sort(x: Any, axis: int = -1, descending: bool = False) -> Any:
    places = _order(x, axis, descending)
    return gathered(x, axis, places), places


@aten.op("topk")
@on_axis
def topk(x: Any, k: int, axis: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    places = tf.gather(_order(x, axis, largest), tf.range(k), axis=axis)
    return gathered(x, axis, places), places


@aten.op("kthvalue")
@on_axis
def kthvalue(x: Any, k: int, axis: int = -1, keepdim: bool = False) -> Any:
    return _taken(x, axis, tf.gather(_order(x, axis, False), tf.constant([k - 1]), axis=axis), keepdim)


def _middle(rank_of: Any) -> Any:
    """The element that has a rank in its row. rank_of: how many are nan, and the last rank, to the rank."""
    def build(x: Any, axis: int = -1, keepdim: bool = False) -> Any:
        lost = tf.reduce_sum(tf.cast(tf.not_equal(x, x), tf.int64), axis=[axis], keepdims=True)
        last = tf.zeros_like(lost) + as_type(dims(x)[axis] - 1, tf.int64)
        return _taken(x, axis, gathered(_order(x, axis, False), axis, rank_of(lost, last)), keepdim)
    return on_axis(build)


median = _middle(lambda lost, last: where(tf.greater(lost, 0), last, last // 2))
nanmedian = _middle(lambda lost, last: tf.maximum(last - lost, 0) // 2)


def _shared(x: Any, chosen: Any) -> Any:
    """One element, as the mean of all that equal it."""
    x = tf.reshape(x, [-1])
    is_it = tf.logical_or(tf.equal(x, chosen), tf.not_equal(x, x) & tf.not_equal(chosen, chosen))
    return tf.reduce_mean(tf.boolean_mask(x, is_it)) if x.dtype.is_floating else chosen


@aten.op("mode", note="of the most frequent values the least, at its last place")
@on_axis
def mode(x: Any, axis: int = -1, keepdim: bool = False) -> Any:
    order = _order(x, axis, False)
    rows = gathered(no_gradient(x), axis, order)
    pairs = tf.equal(tf.expand_dims(rows, axis + 1), tf.expand_dims(rows, axis))
    counts = tf.reduce_sum(tf.cast(pairs, tf.int64), axis=axis + 1)
    first = tf.expand_dims(tf.argmax(counts, axis=axis), axis)
    return _taken(x, axis, gathered(order, axis, first + gathered(counts, axis, first) - 1), keepdim)


@aten.op("_unique2", "unique_consecutive", "unique_dim")
def unique(x: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    flat = tf.reshape(x, [-1])
    values, places, counts = tf.unique_with_counts(tf.gather(flat, _order(flat, 0, False)), out_idx=tf.int64)
    inverse = tf.searchsorted(values, flat, out_type=tf.int64)
    del places
    return values, tf.reshape(inverse, tf.shape(x)), counts


@aten.op("bincount")
def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    at = tf.cast(x, tf.int32)
    count = tf.maximum(tf.reduce_max(tf.concat([at, [-1]], 0)) + 1, minlength)
    return tf.unsorted_segment_sum(tf.ones_like(x, tf.int64) if weights is None else no_gradient(weights), at, count)


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


aten.rows({
    "sort.stable": lambda x, *, stable=None, dim=-1, descending=False: sort(x, dim, descending),
    "argsort": lambda x, axis=-1, descending=False: sort(x, axis, descending)[1],
    "argsort.stable": lambda x, *, stable=None, dim=-1, descending=False: sort(x, dim, descending)[1],
    "median": (lambda x: _shared(x, median(tf.reshape(x, [-1]))[0]), "equal ones share the gradient"),
    "nanmedian": (lambda x: _shared(x, nanmedian(tf.reshape(x, [-1]))[0]), "equal ones share the gradient"),
    "median.dim": (median, "nan where there is one"),
    "nanmedian.dim": (nanmedian, "of the rest, where there are nan"),
    "max.dim": _chosen(tf.argmax),
    "min.dim": _chosen(tf.argmin),
})
