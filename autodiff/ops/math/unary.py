"""Elementwise functions of one tensor: signs, powers, exponentials, trigonometry, rounding."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import COMPLEX, FLOATS, NUMBERS, REALS
from ...core.infer import broadcast_shape, same_shape, same_shape_test
from ...core.op import build
from .elementwise import conjugate, unbroadcast

CONTINUOUS = FLOATS + COMPLEX


# ---- signs and powers -------------------------------------------------------------------

@op("Neg", infer=same_shape, elementwise=True, dtypes=NUMBERS)
def neg(x, *, out=None):
    """-x. x: number[...] -> number[...]."""
    return np.negative(x, out=out)


@neg.gradient
def _(node, dy):
    return (-dy,)


@op("Abs", infer=same_shape, elementwise=True, dtypes=REALS)
def absolute(x, *, out=None):
    """The absolute value; its slope at 0 is taken as 0. x: real[...] -> real[...]."""
    return np.abs(x, out=out)


@absolute.gradient
def _(node, dy):
    return (dy * build.Sign(node.inputs[0]),)


@op("Sign", infer=same_shape, elementwise=True, dtypes=NUMBERS)
def sign(x, *, out=None):
    """-1, 0 or 1; x / |x| of a complex number. x: number[...] -> number[...]."""
    return np.sign(x, out=out)


@sign.gradient
def _(node, dy):
    return (build.ZerosLike(dy),)


@op("Square", infer=same_shape, elementwise=True, dtypes=NUMBERS)
def square(x, *, out=None):
    """x^2. x: number[...] -> number[...]."""
    return np.square(x, out=out)


@square.gradient
def _(node, dy):
    return (build.Mul(dy, build.Mul(conjugate(node.inputs[0]), 2)),)


@op("Sqrt", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def sqrt(x, *, out=None):
    """The square root. x: float[...] -> float[...]."""
    return np.sqrt(x, out=out)


@sqrt.gradient
def _(node, dy):
    return (build.SqrtGrad(node.outputs[0], dy),)


@op("Rsqrt", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def rsqrt(x, *, out=None):
    """1 / sqrt(x). x: float[...] -> float[...]."""
    return np.divide(x.dtype.type(1), np.sqrt(x), out=out)


@rsqrt.gradient
def _(node, dy):
    return (build.RsqrtGrad(node.outputs[0], dy),)


@op("Reciprocal", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def reciprocal(x, *, out=None):
    """1 / x. x: float[...] -> float[...]."""
    return np.divide(x.dtype.type(1), x, out=out)


@reciprocal.gradient
def _(node, dy):
    return (build.ReciprocalGrad(node.outputs[0], dy),)


# ---- exponentials -----------------------------------------------------------------------

@op("Exp", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def exp(x, *, out=None):
    """e^x. x: float[...] -> float[...]."""
    return np.exp(x, out=out)


@exp.gradient
def _(node, dy):
    return (dy * conjugate(node.outputs[0]),)


@op("Expm1", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def expm1(x, *, out=None):
    """e^x - 1, exact near 0. x: float[...] -> float[...]."""
    return np.expm1(x, out=out)


@expm1.gradient
def _(node, dy):
    return (dy * conjugate(build.Exp(node.inputs[0])),)


@op("Log", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def log(x, *, out=None):
    """The natural logarithm. x: float[...] -> float[...]."""
    return np.log(x, out=out)


@log.gradient
def _(node, dy):
    return (dy / conjugate(node.inputs[0]),)


@op("Log1p", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def log1p(x, *, out=None):
    """log(1 + x), exact near 0. x: float[...] -> float[...]."""
    return np.log1p(x, out=out)


@log1p.gradient
def _(node, dy):
    return (dy / (1 + conjugate(node.inputs[0])),)


@op("LogOrZero", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def log_or_zero(x, *, out=None):
    """log(x) where x > 0 (x != 0 if complex), else 0: the logarithm in the slope of x ** y by y. x: float[...]."""
    inside = x != 0 if x.dtype.kind == "c" else ~(x <= 0)
    return np.log(np.where(inside, x, x.dtype.type(1)), out=out)


@log_or_zero.gradient
def _(node, dy):
    x, = node.inputs
    return (build.DivNoNan(dy, build.Conj(x) if x.dtype.is_complex else build.Maximum(x, build.ZerosLike(x))),)


@op("Tanh", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def tanh(x, *, out=None):
    """Hyperbolic tangent, element by element. x: float[...] -> float[...]."""
    return np.tanh(x, out=out)


@tanh.gradient
def _(node, dy):
    return (build.TanhGrad(conjugate(node.outputs[0]), dy),)


@op("Sigmoid", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def sigmoid(x, *, out=None):
    """1 / (1 + e^-x): right to the last bits for any x, as 1 / inf is 0. x: float[...] -> float[...]."""
    return np.divide(1, 1 + np.exp(-x), out=out)


@sigmoid.gradient
def _(node, dy):
    return (build.SigmoidGrad(conjugate(node.outputs[0]), dy),)


# ---- the slopes of some: 0 for a zero dy, even where the slope is infinite -----------------

@op("SqrtGrad", infer=broadcast_shape, elementwise=True, dtypes=CONTINUOUS)
def sqrt_grad(y, dy, *, out=None):
    """dy / (2 y), and 0 where dy is 0. y, dy: float[...] -> float[...]."""
    return np.divide(dy * dy.dtype.type(0.5), _not_zero(np.conj(y), dy), out=out)


def _summed(node, by_y, by_dy):
    y, dy = node.inputs
    return unbroadcast(by_y, y), unbroadcast(by_dy, dy)


def _not_zero(y, dy):
    return np.where(dy == 0, y.dtype.type(1), y)


@sqrt_grad.gradient
def _(node, dz):
    ratio = dz / node.inputs[0]  # the guard for a zero dy is of first order only, as in TensorFlow
    return _summed(node, -conjugate(ratio) * node.outputs[0], 0.5 * ratio)


def _zero_where_zero(dy, slope):
    """slope, and 0 where dy is 0 even if a factor of the slope is infinite."""
    return np.where(dy == 0, dy.dtype.type(0), slope)


@op("RsqrtGrad", infer=broadcast_shape, elementwise=True, dtypes=CONTINUOUS)
def rsqrt_grad(y, dy):
    """-dy y^3 / 2, and 0 where dy is 0. y, dy: float[...] -> float[...]."""
    y = np.conj(y)
    return _zero_where_zero(dy, y.dtype.type(-0.5) * (dy * y) * (y * y))


@rsqrt_grad.gradient
def _(node, dz):
    y, dy = node.inputs
    y = conjugate(y)
    return _summed(node, -1.5 * dy * conjugate(dz) * build.Square(y), build.RsqrtGrad(y, dz))


@op("ReciprocalGrad", infer=broadcast_shape, elementwise=True, dtypes=CONTINUOUS)
def reciprocal_grad(y, dy):
    """-dy y^2, and 0 where dy is 0. y, dy: float[...] -> float[...]."""
    y = np.conj(y)
    return _zero_where_zero(dy, dy * (-y * y))


@reciprocal_grad.gradient
def _(node, dz):
    y, dy = node.inputs
    y = conjugate(y)
    return _summed(node, -2 * dy * conjugate(dz) * y, build.ReciprocalGrad(y, dz))


@op("TanhGrad", infer=broadcast_shape, elementwise=True, dtypes=CONTINUOUS)
def tanh_grad(y, dy, *, out=None):
    """dy (1 - y^2). y, dy: float[...] -> float[...]."""
    return np.multiply(dy, 1 - y * y, out=out)


@tanh_grad.gradient
def _(node, dz):
    y, dy = node.inputs
    y = conjugate(y)
    return _summed(node, -2 * conjugate(dy) * dz * y, build.TanhGrad(y, dz))


@op("SigmoidGrad", infer=broadcast_shape, elementwise=True, dtypes=CONTINUOUS)
def sigmoid_grad(y, dy, *, out=None):
    """dy y (1 - y). y, dy: float[...] -> float[...]."""
    return np.multiply(dy, y * (1 - y), out=out)


@sigmoid_grad.gradient
def _(node, dz):
    y, dy = node.inputs
    y = conjugate(y)
    return _summed(node, conjugate(dy) * dz * (1 - 2 * y), build.SigmoidGrad(y, dz))


# ---- rounding ---------------------------------------------------------------------------

_STEPS = "it is piecewise constant: its slope is 0 wherever there is one"


@op("Floor", infer=same_shape, elementwise=True, dtypes=FLOATS, no_grad=_STEPS)
def floor(x, *, out=None):
    """The greatest whole number <= x. x: float[...] -> float[...]."""
    return np.floor(x, out=out)


@op("Ceil", infer=same_shape, elementwise=True, dtypes=FLOATS, no_grad=_STEPS)
def ceil(x, *, out=None):
    """The smallest whole number >= x. x: float[...] -> float[...]."""
    return np.ceil(x, out=out)


@op("Round", infer=same_shape, elementwise=True, dtypes=REALS, no_grad=_STEPS)
def round_half_to_even(x, *, out=None):
    """The nearest whole number, the even one of two. x: real[...] -> real[...]."""
    return np.rint(x, out=out) if x.dtype.kind == "f" else np.positive(x, out=out)


@op("Rint", infer=same_shape, elementwise=True, dtypes=FLOATS, no_grad=_STEPS)
def rint(x, *, out=None):
    """The nearest whole number, the even one of two. x: float[...] -> float[...]."""
    return np.rint(x, out=out)


_TEST = "a test gives booleans"


@op("IsNan", infer=same_shape_test, elementwise=True, dtypes=FLOATS, no_grad=_TEST)
def is_nan(x, *, out=None):
    """Whether x is not a number. x: float[...] -> bool[...]."""
    return np.isnan(x, out=out)


@op("IsInf", infer=same_shape_test, elementwise=True, dtypes=FLOATS, no_grad=_TEST)
def is_inf(x, *, out=None):
    """Whether x is infinite. x: float[...] -> bool[...]."""
    return np.isinf(x, out=out)


@op("IsFinite", infer=same_shape_test, elementwise=True, dtypes=FLOATS, no_grad=_TEST)
def is_finite(x, *, out=None):
    """Whether x is neither infinite nor nan. x: float[...] -> bool[...]."""
    return np.isfinite(x, out=out)
