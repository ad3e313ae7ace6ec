"""Trigonometric and hyperbolic functions and their inverses."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import COMPLEX, FLOATS
from ...core.infer import broadcast_shape, same_shape
from ...core.op import build
from .elementwise import conjugate, unbroadcast

CONTINUOUS = FLOATS + COMPLEX


@op("Sin", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def sin(x, *, out=None):
    """The sine of an angle in radians. x: float[...] -> float[...]."""
    return np.sin(x, out=out)


@sin.gradient
def _(node, dy):
    return (dy * build.Cos(conjugate(node.inputs[0])),)


@op("Cos", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def cos(x, *, out=None):
    """The cosine of an angle in radians. x: float[...] -> float[...]."""
    return np.cos(x, out=out)


@cos.gradient
def _(node, dy):
    return (-(dy * build.Sin(conjugate(node.inputs[0]))),)


@op("Tan", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def tan(x, *, out=None):
    """The tangent of an angle in radians. x: float[...] -> float[...]."""
    return np.tan(x, out=out)


@tan.gradient
def _(node, dy):
    return (dy * build.Square(build.Reciprocal(build.Cos(conjugate(node.inputs[0])))),)


@op("Asin", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def asin(x, *, out=None):
    """The angle in radians whose sine is x, -pi/2 to pi/2. x: float[...] -> float[...]."""
    return np.arcsin(x, out=out)


def _slope_of_asin(x):
    return build.Rsqrt(1 - build.Square(conjugate(x)))


@asin.gradient
def _(node, dy):
    return (dy * _slope_of_asin(node.inputs[0]),)


@op("Acos", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def acos(x, *, out=None):
    """The angle in radians whose cosine is x, 0 to pi. x: float[...] -> float[...]."""
    return np.arccos(x, out=out)


@acos.gradient
def _(node, dy):
    return (-(dy * _slope_of_asin(node.inputs[0])),)


@op("Atan", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def atan(x, *, out=None):
    """The angle in radians whose tangent is x, -pi/2 to pi/2. x: float[...] -> float[...]."""
    return np.arctan(x, out=out)


@atan.gradient
def _(node, dy):
    return (dy / (1 + build.Square(conjugate(node.inputs[0]))),)


@op("Atan2", infer=broadcast_shape, elementwise=True, dtypes=FLOATS)
def atan2(y, x, *, out=None):
    """The angle in radians of the point (x, y), -pi to pi, broadcast. y, x: float[...] -> float[...]."""
    return np.arctan2(y, x, out=out)


@atan2.gradient
def _(node, dz):
    y, x = node.inputs
    scaled = dz / (build.Square(x) + build.Square(y))
    return unbroadcast(scaled * x, y), unbroadcast(-(scaled * y), x)


@op("Sinh", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def sinh(x, *, out=None):
    """The hyperbolic sine. x: float[...] -> float[...]."""
    return np.sinh(x, out=out)


@sinh.gradient
def _(node, dy):
    return (dy * build.Cosh(conjugate(node.inputs[0])),)


@op("Cosh", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def cosh(x, *, out=None):
    """The hyperbolic cosine. x: float[...] -> float[...]."""
    return np.cosh(x, out=out)


@cosh.gradient
def _(node, dy):
    return (dy * build.Sinh(conjugate(node.inputs[0])),)


@op("Asinh", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def asinh(x, *, out=None):
    """The number whose hyperbolic sine is x. x: float[...] -> float[...]."""
    return np.arcsinh(x, out=out)


@asinh.gradient
def _(node, dy):
    return (dy / build.Cosh(conjugate(node.outputs[0])),)


@op("Acosh", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def acosh(x, *, out=None):
    """The number >= 0 whose hyperbolic cosine is x. x: float[...], at least 1 -> float[...]."""
    return np.arccosh(x, out=out)


@acosh.gradient
def _(node, dy):
    return (dy / build.Sinh(conjugate(node.outputs[0])),)


@op("Atanh", infer=same_shape, elementwise=True, dtypes=CONTINUOUS)
def atanh(x, *, out=None):
    """The number whose hyperbolic tangent is x. x: float[...], -1 to 1 -> float[...]."""
    return np.arctanh(x, out=out)


@atanh.gradient
def _(node, dy):
    return (dy / (1 - build.Square(conjugate(node.inputs[0]))),)
