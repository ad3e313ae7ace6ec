"""Elementwise arithmetic of two or more tensors, with broadcasting."""

from typing import Any

import numpy as np

from ...core.convert import to_tensor
from ...core.declare import build_op, op
from ...core.dtypes import COMPLEX, FLOATS, NUMBERS, REALS, float32, float64
from ...core.errors import ArgumentError, DTypeError, ShapeError
from ...core.graph import Tensor, graph_of
from ...core.infer import broadcast_shape, merged_shape
from ...core.names import checked_op_name
from ...core.op import OpDef, build
from ...core.shapes import is_known, show

_WIDE = {1: float32, 2: float32, 4: float64, 8: float64}  # bytes of an integer -> what its true quotient is


def unbroadcast(dy: Tensor, x: Tensor) -> Tensor:
    """`dy` summed over the axes that broadcasting added to `x`, by an op of the name that TensorFlow's last one has."""
    dims = x.dims
    if dims == dy.dims and dims is not None and None not in dims:  # as most are, without a call
        return dy
    return build.SumTo(dy, list(x.dims) if is_known(x.dims) else build.Shape(x), name="Reshape")


def is_zero(dy: Tensor) -> bool:
    """Whether this is the gradient of an output that nothing used."""
    return dy.op is not None and dy.op.type == "ZerosLike"


def conjugate(x: Tensor) -> Tensor:
    """The complex conjugate; a real tensor as it is."""
    return build.Conj(x) if x.dtype.kind == "c" else x


@op("Add", infer=broadcast_shape, elementwise=True, dtypes=NUMBERS)
def add(x, y, *, out=None):
    """x + y, broadcast. x, y: number[...] -> number[...]."""
    return np.add(x, y, out=out)


# what the operator `+` makes in TensorFlow 1.15, where tf.add makes Add
add_v2 = op("AddV2", infer=broadcast_shape, elementwise=True, dtypes=NUMBERS)(add.kernel)


@add.gradient
@add_v2.gradient
def _(node, dy):
    x, y = node.inputs
    return unbroadcast(dy, x), unbroadcast(dy, y)


@op("Sub", infer=broadcast_shape, elementwise=True, dtypes=NUMBERS)
def sub(x, y, *, out=None):
    """x - y, broadcast. x, y: number[...] -> number[...]."""
    return np.subtract(x, y, out=out)


@sub.gradient
def _(node, dy):
    x, y = node.inputs
    return unbroadcast(dy, x), unbroadcast(-dy, y)


@op("Mul", infer=broadcast_shape, elementwise=True, dtypes=NUMBERS)
def mul(x, y, *, out=None):
    """x * y, broadcast. x, y: number[...] -> number[...]."""
    return np.multiply(x, y, out=out)


@mul.gradient
def _(node, dy):
    x, y = node.inputs
    return unbroadcast(build.Mul(dy, conjugate(y)), x), unbroadcast(build.Mul(conjugate(x), dy), y)


# ---- division ---------------------------------------------------------------------------

@op("RealDiv", infer=broadcast_shape, elementwise=True, dtypes=FLOATS + COMPLEX)
def real_div(x, y, *, out=None):
    """x / y, broadcast; integers are cast to floats first. x, y: float[...] -> float[...]."""
    return np.divide(x, y, out=out)


@real_div.gradient
def _(node, dy):
    x, y = node.inputs
    x_, y_ = conjugate(x), conjugate(y)
    return unbroadcast(dy / y_, x), unbroadcast(dy * (-x_ / y_ / y_), y)  # not through the quotient, as in TensorFlow


def _true_division(definition: OpDef, values: tuple, attrs: dict[str, Any], name: str | None = None,
                   hint: Any = None) -> Tensor:
    """Add a RealDiv; integers are cast first (to float32 up to 16 bits, else to float64)."""
    known = [v.dtype.base_dtype for v in values if isinstance(v, Tensor) or hasattr(v, "as_tensor")]
    if known and not known[0].is_integer and known[0] is known[-1]:
        return build_op(definition, values, attrs, name, hint)
    graph = graph_of(values)
    with graph.name_scope(definition.name if name is None else checked_op_name(name, not graph.scope)) as scope:
        x = to_tensor(graph, values[0], hint, "x")
        y = to_tensor(graph, values[1], None if known and known[-1] is not x.dtype else x.dtype.base_dtype, "y")
        if x.dtype.base_dtype is not y.dtype.base_dtype:
            raise DTypeError(f"x and y have different dtypes: {x.dtype.name} and {y.dtype.name}",
                             hint="use tf.cast to change one of them")
        if x.dtype.is_integer:
            wide = _WIDE[x.dtype.base_dtype.size]
            x, y = build.Cast(x, dtype=wide, name="Cast"), build.Cast(y, dtype=wide, name="Cast_1")
        return build_op(definition, (x, y), attrs, scope)


real_div.build = _true_division


@op("DivNoNan", infer=broadcast_shape, elementwise=True, dtypes=FLOATS + COMPLEX)
def div_no_nan(x, y, *, out=None):
    """x / y, broadcast, and 0 wherever y is 0. x, y: float[...] -> float[...]."""
    poles = np.equal(y, 0)
    if not poles.any():
        return np.divide(x, y, out=out)
    return np.multiply(np.divide(np.where(poles, x.dtype.type(0), x), np.where(poles, y.dtype.type(1), y)), 1, out=out)


@div_no_nan.gradient
def _(node, dy):
    x, y = node.inputs
    x_, y_ = conjugate(x), conjugate(y)
    by_y = dy * build.DivNoNan(build.DivNoNan(-x_, y_), y_)
    return unbroadcast(build.DivNoNan(dy, y_), x), unbroadcast(by_y, y)


def _refuse_zero(y: Any) -> None:
    if y.dtype.kind in "iu" and np.equal(y, 0).any():
        raise ArgumentError("Integer division by zero")


@op("FloorDiv", infer=broadcast_shape, elementwise=True, dtypes=REALS, no_grad="floor division is piecewise constant")
def floor_div(x, y, *, out=None):
    """The floor of x / y, broadcast. x, y: real[...] -> real[...]. Raises for an integer y of 0."""
    if y.dtype.kind == "f":
        return np.floor(np.divide(x, y), out=out)
    _refuse_zero(y)
    return np.floor_divide(x, y, out=out)


@op("FloorMod", infer=broadcast_shape, elementwise=True, dtypes=REALS)
def floor_mod(x, y, *, out=None):
    """x - floor(x / y) * y, of y's sign as in Python. x, y: real[...] -> real[...]. Raises for an integer y of 0."""
    _refuse_zero(y)
    return np.mod(x, y, out=out)


@floor_mod.gradient
def _(node, dy):
    x, y = node.inputs
    return unbroadcast(dy, x), unbroadcast(-(dy * build.FloorDiv(x, y)), y)


@op("TruncateDiv", infer=broadcast_shape, elementwise=True, dtypes=REALS,
    no_grad="truncated division is piecewise constant")
def truncate_div(x, y, *, out=None):
    """x / y, of integers rounded toward 0, broadcast. x, y: real[...] -> real[...]. Raises for an integer y of 0.

    Floats are not rounded: TensorFlow's kernel divides them.
    """
    if y.dtype.kind == "f":
        return np.divide(x, y, out=out)
    _refuse_zero(y)
    quotient, rest = np.floor_divide(x, y), np.fmod(x, y)
    return np.add(quotient, ((rest != 0) & ((x < 0) != (y < 0))).astype(y.dtype), out=out)


@op("TruncateMod", infer=broadcast_shape, elementwise=True, dtypes=REALS,
    no_rule="TensorFlow has none for it; use tf.floormod")
def truncate_mod(x, y, *, out=None):
    """The rest of truncated division, of x's sign as in C. x, y: real[...] -> real[...]. Raises for an int y of 0."""
    _refuse_zero(y)
    return np.fmod(x, y, out=out)


# ---- powers -----------------------------------------------------------------------------

@op("Pow", infer=broadcast_shape, elementwise=True, dtypes=NUMBERS)
def power(x, y, *, out=None):
    """x ** y, broadcast. x, y: number[...] -> number[...]. Raises for an integer to a negative power."""
    if y.ndim == 0:  # multiplying is up to 200 times faster than the general power
        if y == 2:
            return np.square(x, out=out)
        if y == 3:
            return np.multiply(np.square(x), x, out=out)
        if y == 1:
            return np.positive(x, out=out)
    return np.power(x, y, out=out)


@power.gradient
def _(node, dy):
    x, y = node.inputs
    x_, y_ = conjugate(x), conjugate(y)
    # the factors in TensorFlow's order: one that overflows for another order stays finite in this one
    by_x = dy * y_ * build.Pow(x_, y_ - 1)
    return unbroadcast(by_x, x), unbroadcast(dy * conjugate(node.outputs[0]) * build.LogOrZero(x_), y)


@op("SquaredDifference", infer=broadcast_shape, elementwise=True, dtypes=NUMBERS)
def squared_difference(x, y, *, out=None):
    """(x - y)^2, broadcast; |x - y|^2 of complex numbers. x, y: number[...] -> number[...]."""
    difference = np.subtract(x, y)
    return np.multiply(difference, np.conj(difference) if difference.dtype.kind == "c" else difference, out=out)


@squared_difference.gradient
def _(node, dy):
    x, y = node.inputs
    dx = (dy + conjugate(dy)) * (x - y) if x.dtype.is_complex else dy * 2 * (x - y)
    return unbroadcast(dx, x), unbroadcast(-dx, y)


# ---- the greater and the smaller --------------------------------------------------------

@op("Maximum", infer=broadcast_shape, elementwise=True, dtypes=REALS)
def maximum(x, y, *, out=None):
    """The greater of x and y, broadcast; nan if either is. x, y: real[...] -> real[...]."""
    return np.maximum(x, y, out=out)


@op("Minimum", infer=broadcast_shape, elementwise=True, dtypes=REALS)
def minimum(x, y, *, out=None):
    """The smaller of x and y, broadcast; nan if either is. x, y: real[...] -> real[...]."""
    return np.minimum(x, y, out=out)


maximum.gradient(lambda node, dy: _chosen(node, dy, build.GreaterEqual(*node.inputs)))


minimum.gradient(lambda node, dy: _chosen(node, dy, build.LessEqual(*node.inputs)))


def _chosen(node: Any, dy: Tensor, takes_x: Tensor) -> tuple[Tensor, Tensor]:
    """All of dy goes to the input that was chosen, to x in a tie."""
    x, y = node.inputs
    return (unbroadcast(build.KeepWhere(takes_x, dy), x), unbroadcast(build.KeepWhere(takes_x, dy, negate=True), y))


# ---- vectors of three -------------------------------------------------------------------

def _threes(a, b):
    for x, what in ((a, "a"), (b, "b")):
        if x.dims is not None and (not x.dims or x.dims[-1] not in (None, 3)):
            raise ShapeError(f"{what} has shape {show(x.dims)}, expected 3 in the last axis")
    return merged_shape(a, b)


@op("Cross", infer=_threes, dtypes=REALS)
def cross(a, b):
    """The cross product of vectors in the last axis. a, b: real[..., 3] -> real[..., 3]."""
    if a.shape != b.shape:
        raise ArgumentError(f"shapes differ: {show(a.shape)} and {show(b.shape)}")
    return np.cross(a, b).astype(a.dtype, copy=False)


@cross.gradient
def _(node, dy):
    a, b = node.inputs
    return build.Cross(b, dy), build.Cross(dy, a)


@cross.batched
def _(node, args, batched):
    whole = build.ZerosLike(args[0] if batched[0] else args[1])
    return build.Cross(*[x if is_batched else build.Add(whole, x) for x, is_batched in zip(args, batched)])


# ---- sums of many -----------------------------------------------------------------------

@op("AddN", infer=merged_shape, dtypes=NUMBERS)
def add_n(*inputs, out=None):
    """The sum of tensors of one shape. inputs: number[...]... -> number[...]."""
    if len(inputs) == 1:
        return np.positive(inputs[0], out=out)
    total = np.add(inputs[0], inputs[1], out=out)
    for x in inputs[2:]:
        total = np.add(total, x, out=out if out is not None else total if isinstance(total, np.ndarray) else None)
    return total


@op("AccumulateNV2", infer=merged_shape, dtypes=NUMBERS)
def accumulate_n(*inputs, out=None):
    """The sum of tensors of one shape, added as they come. inputs: number[...]... -> number[...]."""
    return add_n.kernel(*inputs, out=out)


for each in (add_n, accumulate_n):
    each.gradient(lambda node, dy: (dy,) * len(node.inputs))


@add_n.batched
@accumulate_n.batched
def _add_n_batched(node, args, batched):
    stacks = [x for x, is_batched in zip(args, batched) if is_batched]
    same = [x for x, is_batched in zip(args, batched) if not is_batched]
    total = build.AddN(*stacks)
    return build.Add(total, build.AddN(*same)) if same else total
