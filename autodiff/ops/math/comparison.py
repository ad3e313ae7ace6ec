"""Comparisons, logic, and the choice between two tensors."""

from functools import partial

import numpy as np

from ...core.declare import op
from ...core.dtypes import ALL, NUMBERS, REALS, bool_, int64
from ...core.errors import ArgumentError, ShapeError
from ...core.infer import broadcast_test, same_shape_test
from ...core.op import Bool, Own, Spec, T, blocked, build
from ...core.shapes import broadcast, merge, show
from ..common.batch_axis import slice_by_slice
from ..common.numpy_ops import numpy_op
from .elementwise import unbroadcast

_COMPARED = "a comparison gives booleans"
_compared = partial(numpy_op, dtypes=REALS, infer=broadcast_test, no_grad=_COMPARED)
_logic = partial(numpy_op, dtypes=(bool_,), infer=broadcast_test, no_grad="booleans have no gradient")


@op("Equal", infer=broadcast_test, elementwise=True, no_grad=_COMPARED)
def equal(x, y):
    """x == y, broadcast. x, y: any[...] -> bool[...]."""
    return _as_bool(np.equal(x, y))


@op("ApproximateEqual", infer=lambda x, y, *, tolerance: Spec(bool_, merge(x.dims, y.dims)), dtypes=NUMBERS,
    no_grad=_COMPARED, batched=slice_by_slice)
def approximate_equal(x, y, *, tolerance=1e-5):
    """|x - y| < tolerance, of one shape. x, y: number[...] -> bool[...]."""
    return np.abs(x - y) < x.dtype.type(tolerance)


@op("NotEqual", infer=broadcast_test, elementwise=True, no_grad=_COMPARED)
def not_equal(x, y):
    """x != y, broadcast. x, y: any[...] -> bool[...]."""
    return _as_bool(np.not_equal(x, y))


def _as_bool(found):
    """Comparing arrays of strings gives Python objects."""
    return found if found.dtype == np.bool_ else found.astype(np.bool_)


_compared("Less", np.less, "x < y, broadcast. x, y: real[...] -> bool[...].")
_compared("LessEqual", np.less_equal, "x <= y, broadcast. x, y: real[...] -> bool[...].")
_compared("Greater", np.greater, "x > y, broadcast. x, y: real[...] -> bool[...].")
_compared("GreaterEqual", np.greater_equal, "x >= y, broadcast. x, y: real[...] -> bool[...].")
_logic("LogicalAnd", np.logical_and, "x and y, broadcast. x, y: bool[...] -> bool[...].")
_logic("LogicalOr", np.logical_or, "x or y, broadcast. x, y: bool[...] -> bool[...].")
_logic("LogicalXor", np.logical_xor, "Either x or y, broadcast. x, y: bool[...] -> bool[...].")
_logic("LogicalNot", np.logical_not, "not x. x: bool[...] -> bool[...].", infer=same_shape_test)


# ---- choosing ---------------------------------------------------------------------------

_MANY_IN_ROWS = 8192  # elements; from here on whole rows are copied two to three times as fast as chosen one by one
_MANY = 4096  # elements; from here on bits beat branches, which random conditions make up to 20 times slower
_BITS = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


def _all_bits(condition, itemsize):
    """All bits 1 where the condition holds, else 0."""
    return np.negative(condition.view(np.int8)).astype(_BITS[itemsize], copy=False)


def choose(condition, x, y, out=None):
    """np.where of a condition and two arrays of one type, in `out` if it is given, which is none of them.

    Quick where the condition never holds, as those of guards nearly never do.
    """
    if out is None:
        if x.size < _MANY or condition.shape != x.shape or x.shape != y.shape or x.dtype.kind in "cbO" \
                or not isinstance(x, np.ndarray):
            return np.where(condition, x, y)
    elif out.size < _MANY or out.dtype.kind in "cbO" or not condition.any():
        np.copyto(out, y)
        np.copyto(out, x, where=condition)
        return out
    bits = _BITS[x.itemsize]
    y = y.view(bits)
    chosen = np.bitwise_xor(x.view(bits), y, out=None if out is None else out.view(bits))
    np.bitwise_and(chosen, _all_bits(condition, x.itemsize), out=chosen)
    np.bitwise_xor(chosen, y, out=chosen)
    return chosen.view(x.dtype) if out is None else out


@op("KeepWhere", infer=lambda condition, x, **_: Spec(x.dtype.base_dtype, broadcast(condition.dims, x.dims)),
    elementwise=True, dtypes=NUMBERS)
def keep_where(condition: Bool, x: T, *, negate=False):
    """x where the condition holds (or does not), else 0, broadcast. condition: bool[...], x: number[...]."""
    condition = np.logical_not(condition) if negate else condition
    if x.size < _MANY or condition.shape != x.shape or x.dtype.kind == "c":
        return np.where(condition, x, x.dtype.type(0))
    kept = _all_bits(condition, x.itemsize)
    return np.bitwise_and(kept, x.view(kept.dtype), out=kept).view(x.dtype)


@keep_where.gradient
def _(node, dy):
    condition, x = node.inputs
    return blocked("a condition is boolean"), unbroadcast(build.KeepWhere(condition, dy, **node.attrs), x)


def _select_shape(condition, x, y):
    dims = merge(x.dims, y.dims)
    chosen = condition.dims
    if chosen is not None and dims is not None and chosen != ():
        if len(chosen) == 1 and len(dims) != 1:
            if not dims:
                raise ShapeError(f"the condition has shape {show(chosen)}, expected [] like x and y")
            merge(chosen, dims[:1])
        else:
            dims = merge(dims, chosen)
    return Spec(x.dtype.base_dtype, dims)


@op("Select", infer=_select_shape, dtypes=ALL)
def select(condition: Bool, x: T, y: T):
    """x where the condition holds, else y. x, y: any[...]; condition: their shape, bool[n] for rows, or bool[]."""
    if condition.ndim == 0:
        return x if condition else y
    if x.shape != y.shape or condition.shape != x.shape[:condition.ndim] or 1 < condition.ndim < x.ndim:
        raise ArgumentError(f"shapes differ: condition {show(condition.shape)}, x {show(x.shape)}, y {show(y.shape)}")
    if condition.ndim < x.ndim and x.size >= _MANY_IN_ROWS:
        chosen, rows = y.copy(), condition.nonzero()
        chosen[rows] = x[rows]
        return chosen
    return choose(condition.reshape(condition.shape + (1,) * (x.ndim - condition.ndim)), x, y)


@select.gradient
def _(node, dy):
    condition, x, _ = node.inputs
    if condition.dims is not None and x.dims is not None and len(condition.dims) in (0, len(x.dims)):
        dx, dy = build.KeepWhere(condition, dy), build.KeepWhere(condition, dy, negate=True)
    else:  # of rows, perhaps
        zeros = build.ZerosLike(dy)
        dx, dy = build.Select(condition, dy, zeros), build.Select(condition, zeros, dy)
    return blocked("a condition is boolean"), dx, dy


@select.batched
def _(node, args, batched):
    condition, x, y = args
    rank = next((len(t.dims) for t in node.inputs[1:] if t.dims is not None), None)
    if rank is None or node.inputs[0].dims is None:
        raise ShapeError(expected="inputs of known rank to vectorize a choice", found=node.describe(),
                         hint="use set_shape to give the rank")
    missing = rank - len(node.inputs[0].dims)
    if missing:
        condition = condition[(Ellipsis, *[None] * missing)]
    return build.SelectV2(condition, x, y)


@op("SelectV2", infer=lambda condition, t, e: Spec(
    t.dtype.base_dtype, broadcast(broadcast(condition.dims, t.dims), e.dims)), elementwise=True, dtypes=ALL)
def select_v2(condition: Bool, t: T, e: T):
    """t where the condition holds, else e, broadcast. condition: bool[...], t, e: any[...] -> any[...]."""
    return choose(condition, t, e)


@select_v2.gradient
def _(node, dy):
    condition, t, e = node.inputs
    return (blocked("a condition is boolean"), unbroadcast(build.KeepWhere(condition, dy), t),
            unbroadcast(build.KeepWhere(condition, dy, negate=True), e))


@op("Where", infer=lambda condition: Spec(int64, (None, None if condition.dims is None else len(condition.dims))),
    no_grad="coordinates are integers")
def where(condition: Own):
    """Coordinates of the elements that are true or not zero, in row order. condition: any[...] -> int64[n, rank]."""
    return np.argwhere(condition)


@where.batched
def _(node, args, batched):
    raise ShapeError(expected="as many coordinates for each slice", found=f"{node.describe()}, whose count varies")
