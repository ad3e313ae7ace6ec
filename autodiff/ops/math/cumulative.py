"""Running sums and products along axes, and the linear recurrence that their gradients are made of.

Where several axes are given, they are gone through together, the last one fastest.
"""

import numpy as np

from ...core.constant_value import static_value
from ...core.declare import op
from ...core.dtypes import FLOATS, NUMBERS
from ...core.errors import ShapeError
from ...core.infer import axis_in
from ...core.op import Index, Spec, blocked, build
from ...core.shapes import merge, show
from ..common.batch_axis import axes_behind
from .elementwise import conjugate

_AXES = "axes are integers"


def _along(x, axis, **_):
    axes = static_value(axis)
    if x.dims is not None and axes is not None:
        for one in np.atleast_1d(axes):
            axis_in(int(one), len(x.dims))
    return Spec(x.dtype.base_dtype, x.dims)


def _along_one(x, axis, **_):
    if axis.dims not in (None, ()):
        raise ShapeError(f"axis has shape {show(axis.dims)}, expected a scalar")
    return _along(x, axis)


def _rows(x, axis):
    """x as [kept, scanned], and the function that takes such an array back to x's shape."""
    axes = sorted([axis_in(a, x.ndim) for a in np.atleast_1d(axis).tolist()])
    order = [i for i in range(x.ndim) if i not in axes] + axes
    moved = x.transpose(order)
    count = int(np.prod(moved.shape[x.ndim - len(axes):], dtype=np.int64))
    rows = moved.reshape(int(np.prod(moved.shape[:x.ndim - len(axes)], dtype=np.int64)), count)
    return rows, lambda found: found.reshape(moved.shape).transpose(np.argsort(order))


def _accumulated(ufunc, x, axis, exclusive, reverse, of_none=None):
    """Running totals by a ufunc; exclusive ones leave out the element itself. of_none: in place of its identity."""
    rows, back = _rows(x, axis)
    rows = rows[:, ::-1] if reverse else rows
    result = np.empty(rows.shape, rows.dtype)
    if exclusive:
        result[:, :1] = ufunc.identity if of_none is None else of_none
        ufunc.accumulate(rows[:, :-1], axis=1, dtype=rows.dtype, out=result[:, 1:])
    else:
        ufunc.accumulate(rows, axis=1, dtype=rows.dtype, out=result)
    return back(result[:, ::-1] if reverse else result)


@op("Cumsum", infer=_along_one, dtypes=NUMBERS)
def cumsum(x, axis: Index, *, exclusive=False, reverse=False):
    """Running sums along an axis. x: number[...], axis: int[] -> number[...]."""
    return _accumulated(np.add, x, axis, exclusive, reverse)


@cumsum.gradient
def _(node, dy):
    attrs = {**node.attrs, "reverse": not node.attrs["reverse"]}
    return build.Cumsum(dy, node.inputs[1], **attrs), blocked(_AXES)


@op("Cumprod", infer=_along, dtypes=NUMBERS)
def cumprod(x, axis: Index, *, exclusive=False, reverse=False):
    """Running products along axes. x: number[...], axis: int[] or int[k] -> number[...]."""
    return _accumulated(np.multiply, x, axis, exclusive, reverse)


@cumprod.gradient
def _(node, dy):
    x, axis = node.inputs
    return _slope_of_products(x, axis, dy, **node.attrs), blocked(_AXES)


def _slope_of_products(x, axis, dy, *, exclusive, reverse):
    """dx of running products, without division, so that it is exact with zeros.

    dx_k is the product before k times r_k, where r_k = dy_k + x_(k+1) r_(k+1); exclusive products
    have dy_(k+1) there. By hand, checked by test_ops.
    """
    x = conjugate(x)
    before = build.Cumprod(x, axis, exclusive=True, reverse=reverse)
    back = not reverse
    dy = build.Shift(dy, axis, reverse=back) if exclusive else dy
    return before * build.Recurrence(build.Shift(x, axis, reverse=back), dy, axis, reverse=back)


@op("ProdOfOthers", infer=_along, dtypes=NUMBERS)
def prod_of_others(x, axis: Index):
    """For each element the product of all others along axes, exact with zeros. x: number[...] -> number[...]."""
    return cumprod.kernel(x, axis, exclusive=True) * cumprod.kernel(x, axis, exclusive=True, reverse=True)


@prod_of_others.gradient
def _(node, dy):
    x, axis = node.inputs
    by_before = dy * conjugate(build.Cumprod(x, axis, exclusive=True, reverse=True))
    by_after = dy * conjugate(build.Cumprod(x, axis, exclusive=True))
    return (_slope_of_products(x, axis, by_before, exclusive=True, reverse=False)
            + _slope_of_products(x, axis, by_after, exclusive=True, reverse=True)), blocked(_AXES)


@op("Shift", infer=_along, dtypes=NUMBERS)
def shift(x, axis: Index, *, reverse=False):
    """Each element one place on along the axes, 0 at the start; back if reverse. x: number[...] -> number[...]."""
    rows, back = _rows(x, axis)
    moved = np.zeros(rows.shape, rows.dtype)
    if reverse:
        moved[:, :-1] = rows[:, 1:]
    else:
        moved[:, 1:] = rows[:, :-1]
    return back(moved)


shift.gradient(lambda node, dy: (build.Shift(dy, node.inputs[1], reverse=not node.attrs["reverse"]), blocked(_AXES)))


@op("Recurrence", infer=lambda a, b, axis, **_: Spec(a.dtype.base_dtype, merge(a.dims, b.dims)), dtypes=NUMBERS)
def recurrence(a, b, axis: Index, *, reverse=False):
    """s_k = b_k + a_k s_(k-1) along the axes, from 0; from the end if reverse. a, b: number[...] -> number[...]."""
    factors, back = _rows(a, axis)
    terms, _ = _rows(b, axis)
    count = terms.shape[1]
    sums = np.zeros((count + 1, len(terms)), terms.dtype)
    last = count
    for k in range(count - 1, -1, -1) if reverse else range(count):
        np.multiply(factors[:, k], sums[last], out=sums[k])
        np.add(sums[k], terms[:, k], out=sums[k])
        last = k
    return back(np.ascontiguousarray(sums[:count].T))


@recurrence.gradient
def _(node, dy):
    a, _, axis = node.inputs
    reverse = node.attrs["reverse"]
    db = build.Recurrence(build.Shift(conjugate(a), axis, reverse=not reverse), dy, axis, reverse=not reverse)
    return db * conjugate(build.Shift(node.outputs[0], axis, reverse=reverse)), db, blocked(_AXES)


@op("CumulativeLogsumexp", infer=_along_one, dtypes=FLOATS)
def cumulative_logsumexp(x, axis: Index, *, exclusive=False, reverse=False):
    """Running log(sum(exp(x))) along an axis, without overflow; of nothing the lowest finite number. x: float[...]."""
    return _accumulated(np.logaddexp, x, axis, exclusive, reverse, np.finfo(x.dtype).min)


@cumulative_logsumexp.gradient
def _(node, dy):
    """dx_k = exp(x_k - y_k) r_k, where r_k = dy_k + exp(y_k - y_(k+1)) r_(k+1): no power of e above 1. By hand."""
    x, axis = node.inputs
    reverse, exclusive = node.attrs["reverse"], node.attrs["exclusive"]
    y = build.CumulativeLogsumexp(x, axis, reverse=reverse) if exclusive else node.outputs[0]
    dy = build.Shift(dy, axis, reverse=not reverse) if exclusive else dy
    steps = build.Shift(build.Exp(build.Shift(y, axis, reverse=reverse) - y), axis, reverse=not reverse)
    sums = build.Recurrence(steps, dy, axis, reverse=not reverse)
    return build.Exp(x - y) * sums, blocked(_AXES)


# ---- batching: one more leading axis ------------------------------------------------------

@cumsum.batched
@cumprod.batched
@prod_of_others.batched
@shift.batched
@recurrence.batched
@cumulative_logsumexp.batched
def _along_axes(node, args, batched):
    *xs, axis = args
    if batched[-1]:
        raise ShapeError(expected="the same axes for each slice", found=f"axes that vary: {node.describe()}")
    whole = build.ZerosLike(next(x for x, is_batched in zip(xs, batched) if is_batched))
    xs = [x if is_batched else build.Add(whole, x) for x, is_batched in zip(xs, batched)]
    return node.definition(*xs, axes_behind(axis), **node.attrs)
