"""Elementwise functions of one tensor: signs, powers, exponentials, trigonometry, rounding."""

from functools import partial

import numpy as np

from ...core.declare import op
from ...core.dtypes import FLOATS, NUMBERS, REALS
from ...core.infer import broadcast_shape, same_shape, same_shape_test
from ...core.op import build
from ..common.numpy_ops import CONTINUOUS, numpy_op
from .elementwise import conjugate, unbroadcast

# ---- signs and powers -------------------------------------------------------------------

numpy_op("Neg", np.negative, "-x. x: number[...] -> number[...].", lambda dy, x, y: -dy, dtypes=NUMBERS)
numpy_op("Abs", np.abs, "The absolute value; its slope at 0 is taken as 0. x: real[...] -> real[...].",
         lambda dy, x, y: dy * build.Sign(x), dtypes=REALS)
numpy_op("Sign", np.sign, "-1, 0 or 1; x / |x| of a complex number. x: number[...] -> number[...].",
         lambda dy, x, y: build.ZerosLike(dy), dtypes=NUMBERS)
numpy_op("Square", np.square, "x^2. x: number[...] -> number[...].",
         lambda dy, x, y: build.Mul(dy, build.Mul(conjugate(x), 2)), dtypes=NUMBERS)
numpy_op("Sqrt", np.sqrt, "The square root. x: float[...] -> float[...].", lambda dy, x, y: build.SqrtGrad(y, dy))


@op("Rsqrt", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def rsqrt(x, *, out=None):
    """1 / sqrt(x). x: float[...] -> float[...]."""
    return np.divide(x.dtype.type(1), np.sqrt(x), out=out)


rsqrt.gradient(lambda node, dy: (build.RsqrtGrad(node.outputs[0], dy),))


@op("Reciprocal", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def reciprocal(x, *, out=None):
    """1 / x. x: float[...] -> float[...]."""
    return np.divide(x.dtype.type(1), x, out=out)


reciprocal.gradient(lambda node, dy: (build.ReciprocalGrad(node.outputs[0], dy),))


# ---- exponentials -----------------------------------------------------------------------

numpy_op("Exp", np.exp, "e^x. x: float[...] -> float[...].", lambda dy, x, y: dy * conjugate(y))
numpy_op("Expm1", np.expm1, "e^x - 1, exact near 0. x: float[...] -> float[...].",
         lambda dy, x, y: dy * conjugate(build.Exp(x)))
numpy_op("Log", np.log, "The natural logarithm. x: float[...] -> float[...].", lambda dy, x, y: dy / conjugate(x))
numpy_op("Log1p", np.log1p, "log(1 + x), exact near 0. x: float[...] -> float[...].",
         lambda dy, x, y: dy / (1 + conjugate(x)))


@op("LogOrZero", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def log_or_zero(x, *, out=None):
    """log(x) where x > 0 (x != 0 if complex), else 0: the logarithm in the slope of x ** y by y. x: float[...]."""
    inside = x != 0 if x.dtype.kind == "c" else ~(x <= 0)
    return np.log(np.where(inside, x, x.dtype.type(1)), out=out)


@log_or_zero.gradient
def _(node, dy):
    x, = node.inputs
    return (build.DivNoNan(dy, build.Conj(x) if x.dtype.is_complex else build.Maximum(x, build.ZerosLike(x))),)


numpy_op("Tanh", np.tanh, "Hyperbolic tangent, element by element. x: float[...] -> float[...].",
         lambda dy, x, y: build.TanhGrad(conjugate(y), dy))


@op("Sigmoid", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def sigmoid(x, *, out=None):
    """1 / (1 + e^-x): right to the last bits for any x, as 1 / inf is 0. x: float[...] -> float[...]."""
    return np.divide(1, 1 + np.exp(-x), out=out)


sigmoid.gradient(lambda node, dy: (build.SigmoidGrad(conjugate(node.outputs[0]), dy),))


# ---- the slopes of some: 0 for a zero dy, even where the slope is infinite -----------------

@op("SqrtGrad", infer=broadcast_shape, elementwise=True, dtypes=CONTINUOUS)
def sqrt_grad(y, dy, *, out=None):
    """dy / (2 y), and 0 where dy is 0. y, dy: float[...] -> float[...]."""
    return np.divide(dy * dy.dtype.type(0.5), _not_zero(np.conj(y), dy), out=out)


def _summed(node, by_y, by_dy):
    y, dy = node.inputs
    return unbroadcast(by_y, y), unbroadcast(by_dy, dy)


def _linear(node, op, dz, by_y):
    """The gradients of an op that is linear in its second input, dy. by_y: that of the first, from its conjugate."""
    y, dy = node.inputs
    y = conjugate(y)
    return _summed(node, by_y(y, dy), op(y, dz))


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


rsqrt_grad.gradient(lambda node, dz: _linear(
    node, rsqrt_grad, dz, lambda y, dy: -1.5 * dy * conjugate(dz) * build.Square(y)))


@op("ReciprocalGrad", infer=broadcast_shape, elementwise=True, dtypes=CONTINUOUS)
def reciprocal_grad(y, dy):
    """-dy y^2, and 0 where dy is 0. y, dy: float[...] -> float[...]."""
    y = np.conj(y)
    return _zero_where_zero(dy, dy * (-y * y))


reciprocal_grad.gradient(lambda node, dz: _linear(node, reciprocal_grad, dz, lambda y, dy: -2 * dy * conjugate(dz) * y))


@op("TanhGrad", infer=broadcast_shape, elementwise=True, dtypes=CONTINUOUS)
def tanh_grad(y, dy, *, out=None):
    """dy (1 - y^2). y, dy: float[...] -> float[...]."""
    return np.multiply(dy, 1 - y * y, out=out)


tanh_grad.gradient(lambda node, dz: _linear(node, tanh_grad, dz, lambda y, dy: -2 * conjugate(dy) * dz * y))


@op("SigmoidGrad", infer=broadcast_shape, elementwise=True, dtypes=CONTINUOUS)
def sigmoid_grad(y, dy, *, out=None):
    """dy y (1 - y). y, dy: float[...] -> float[...]."""
    return np.multiply(dy, y * (1 - y), out=out)


sigmoid_grad.gradient(lambda node, dz: _linear(node, sigmoid_grad, dz, lambda y, dy: conjugate(dy) * dz * (1 - 2 * y)))


# ---- rounding ---------------------------------------------------------------------------

_STEPS = "it is piecewise constant: its slope is 0 wherever there is one"
_step = partial(numpy_op, dtypes=FLOATS, no_grad=_STEPS)

_step("Floor", np.floor, "The greatest whole number <= x. x: float[...] -> float[...].")
_step("Ceil", np.ceil, "The smallest whole number >= x. x: float[...] -> float[...].")


@op("Round", infer=same_shape, elementwise=True, dtypes=REALS, no_grad=_STEPS)
def round_half_to_even(x, *, out=None):
    """The nearest whole number, the even one of two. x: real[...] -> real[...]."""
    return np.rint(x, out=out) if x.dtype.kind == "f" else np.positive(x, out=out)


_step("Rint", np.rint, "The nearest whole number, the even one of two. x: float[...] -> float[...].")


_test = partial(numpy_op, dtypes=FLOATS, infer=same_shape_test, no_grad="a test gives booleans")
_test("IsNan", np.isnan, "Whether x is not a number. x: float[...] -> bool[...].")
_test("IsInf", np.isinf, "Whether x is infinite. x: float[...] -> bool[...].")
_test("IsFinite", np.isfinite, "Whether x is neither infinite nor nan. x: float[...] -> bool[...].")
