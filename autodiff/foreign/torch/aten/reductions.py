"""ATen's sums, means, extremes, norms and statistics over axes; what runs or sorts along one, and chooses of it."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...model import tf
from ...onnx.sizes import moved
from .common import aten, axes_of, axis_of, count_of, dims, on_axis, rank
from .types import as_type, category, floating, is_tensor, no_gradient, number, where


def _summed(x: Any, dtype: Any) -> Any:
    """Integers are summed as int64, if no other type is asked for."""
    return as_type(x, dtype or (tf.int64 if category(x.dtype.base_dtype) < 2 else None))


def extreme_place(function: Any, x: Any, axis: int) -> Any:
    """tf.argmax or tf.argmin along an axis; nan is more extreme than any number."""
    if x.dtype.is_floating:
        x = where(tf.is_nan(x), number(np.inf if function is tf.argmax else -np.inf, x), x)
    return function(x, axis=axis)


def _place(function: Any, x: Any, axis: int | None, keepdim: bool) -> Any:
    if axis is None:
        found = extreme_place(function, tf.reshape(x, [-1]), 0)
        return tf.reshape(found, [1] * rank(x)) if keepdim else found
    if not rank(x):
        return tf.zeros([], tf.int64)
    at = axis_of(axis, rank(x))
    found = extreme_place(function, x, at)
    return tf.expand_dims(found, at) if keepdim else found


def _over(function: Any, prepared: Any) -> Any:
    """A reduction of what prepared(x, dtype) gives, over some axes or all."""
    def build(x: Any, axes: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        return function(prepared(x, dtype), axis=axes_of(axes, rank(x)), keepdims=keepdim)
    return build


def _truth(x: Any, _: Any) -> Any:
    return as_type(x, tf.bool)


def _extreme(function: Any, of_truth: Any) -> Any:
    usual, logical = _over(function, lambda x, _: x), _over(of_truth, _truth)
    return lambda x, *how: (logical if x.dtype.base_dtype is tf.bool else usual)(x, *how)


total = _over(tf.reduce_sum, _summed)
amax, amin = _extreme(tf.reduce_max, tf.reduce_any), _extreme(tf.reduce_min, tf.reduce_all)

def moments(x: Any, axes: list[int], correction: Any, keepdim: bool) -> tuple[Any, Any]:
    """Variance and mean. correction: what the count is lowered by."""
    middle = tf.reduce_mean(x, axis=axes, keepdims=True)
    squares = tf.reduce_sum(tf.square(x - middle), axis=axes, keepdims=keepdim)
    count = tf.maximum(count_of(x, axes, x.dtype.base_dtype.real_dtype) - number(float(correction), x), 0)
    return squares / count, middle if keepdim else tf.squeeze(middle, axis=axes) if axes else middle


def _spread(x: Any, axes: Any, unbiased: Any, keepdim: bool, correction: Any) -> tuple[Any, Any]:
    if isinstance(axes, bool):  # var(x, unbiased)
        axes, unbiased = None, axes
    return moments(x, axes_of(axes, rank(x)),
                   (1 if correction is None else correction) if unbiased is None else int(unbiased), keepdim)


@aten.op("std_mean")
def std_mean(x: Any, axes: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None) -> Any:
    variance, middle = _spread(x, axes, unbiased, keepdim, correction)
    return _root(variance), middle


def _root(x: Any) -> Any:
    """The square root, with no slope at zero."""
    is_zero = tf.equal(x, 0)
    return where(is_zero, tf.zeros_like(x), tf.sqrt(where(is_zero, tf.ones_like(x), x)))


@aten.op("linalg_vector_norm", note="no slope at the vector of zeros")
def vector_norm(x: Any, order: Any = 2, axes: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    x, over = as_type(x, dtype), axes_of(axes, rank(x))
    if order == 2:
        return _root(tf.reduce_sum(tf.real(x * tf.conj(x)) if category(x.dtype.base_dtype) == 3 else tf.square(x),
                                   axis=over, keepdims=keepdim))
    size = tf.abs(x)
    if order == 1:
        return tf.reduce_sum(size, axis=over, keepdims=keepdim)
    if np.isinf(order):
        return (tf.reduce_max if order > 0 else tf.reduce_min)(size, axis=over, keepdims=keepdim)
    if order == 0:
        return tf.reduce_sum(tf.cast(tf.not_equal(x, 0), x.dtype.base_dtype), axis=over, keepdims=keepdim)
    is_zero = tf.equal(size, 0)
    powers = tf.pow(where(is_zero, tf.ones_like(size), size), number(order, size))
    powers = tf.reduce_sum(where(is_zero, tf.zeros_like(size), powers), axis=over, keepdims=keepdim)
    none = tf.equal(powers, 0)
    root = tf.pow(where(none, tf.ones_like(powers), powers), number(1 / order, powers))
    return where(none, tf.zeros_like(powers), root)


@aten.op("renorm")
def renorm(x: Any, order: Any, axis: int, most: Any) -> Any:
    others = [a for a in range(rank(x)) if a != axis_of(axis, rank(x))]
    size = vector_norm(x, order, others, True)
    return x * where(tf.greater(size, number(most, x)), number(most, x) / (size + number(1e-7, x)), tf.ones_like(size))


def _running(better: Any, x: Any, axis: int) -> Any:
    def best(values: np.ndarray) -> np.ndarray:
        """The place of the best so far, of equal ones the last; nan is better."""
        values = np.moveaxis(values, axis, 0)
        found = np.zeros(values.shape, np.int64)
        for i in range(1, len(values)):
            top = np.take_along_axis(values, found[i - 1:i], 0)[0]
            found[i] = np.where(better(values[i], top) | np.isnan(values[i]), i, found[i - 1])
        return np.moveaxis(found, 0, axis)

    chosen = tf.py_func(best, [x], tf.int64)
    chosen.set_shape(x.shape)
    return gathered(x, axis, chosen), chosen


def gathered(x: Any, axis: int, chosen: Any) -> Any:
    """x[..., chosen[..., i, ...], ...] along an axis: torch.gather, where chosen may be smaller than x."""
    count, chosen = rank(x), as_type(chosen, tf.int64)
    for a in range(count):
        if a != axis and (is_tensor(dims(chosen)[a]) or dims(chosen)[a] != dims(x)[a]):
            x = tf.gather(x, tf.range(tf.shape(chosen)[a]), axis=a)
    rows, wanted = moved(x, axis, -1), moved(no_gradient(chosen), axis, -1)
    return moved(tf.gather(rows, wanted, axis=count - 1, batch_dims=count - 1), -1, axis)


aten.rows({
    "aminmax": lambda x, *, dim=None, keepdim=False: (amin(x, dim, keepdim), amax(x, dim, keepdim)),
    "argmax": lambda x, axis=None, keepdim=False: _place(tf.argmax, x, axis, keepdim),
    "argmin": lambda x, axis=None, keepdim=False: _place(tf.argmin, x, axis, keepdim),
    "dist": lambda x, y, order=2: vector_norm(x - y, order),
    "nansum": lambda x, axes=None, keepdim=False, *, dtype=None:
        total(where(tf.is_nan(x), tf.zeros_like(x), x), axes, keepdim, dtype=dtype),
    "sum": total,
    "mean": _over(tf.reduce_mean, lambda x, dtype: floating(as_type(x, dtype))),
    "prod": _over(tf.reduce_prod, _summed), "any": _over(tf.reduce_any, _truth), "all": _over(tf.reduce_all, _truth),
    "count_nonzero": _over(tf.reduce_sum, lambda x, _: tf.cast(as_type(x, tf.bool), tf.int64)),
    "logsumexp": _over(tf.reduce_logsumexp, lambda x, _: floating(x)),
    "amax max.default max": (amax, "equal ones share the gradient"),
    "amin min.default min": (amin, "equal ones share the gradient"),
    "var_mean": lambda x, axes=None, unbiased=None, keepdim=False, *, correction=None:
        _spread(x, axes, unbiased, keepdim, correction),
    "std": (lambda x, axes=None, unbiased=None, keepdim=False, *, correction=None:
        _root(_spread(x, axes, unbiased, keepdim, correction)[0]), "no slope where it is zero"),
    "norm": lambda x, order=2, axes=None, keepdim=False, *, dtype=None:
        vector_norm(x, 2 if order is None else order, axes, keepdim, dtype=dtype),
    "cumsum": on_axis(lambda x, axis, *, dtype=None: tf.cumsum(_summed(x, dtype), axis=axis)),
    "cumprod": on_axis(lambda x, axis, *, dtype=None: tf.cumprod(_summed(x, dtype), axis=axis)),
    "cummax": on_axis(lambda x, axis: _running(np.greater_equal, x, axis)),
    "cummin": on_axis(lambda x, axis: _running(np.less_equal, x, axis)),
    "var": lambda x, axes=None, unbiased=None, keepdim=False, *, correction=None:
        _spread(x, axes, unbiased, keepdim, correction)[0]})


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
    "median.dim": (median, "nan where there is one"), "nanmedian.dim": (nanmedian, "of the rest, where there are nan"),
    "max.dim": _chosen(tf.argmax),
    "min.dim": _chosen(tf.argmin)})
