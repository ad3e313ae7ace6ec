"""Trigonometric and hyperbolic functions and their inverses."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import FLOATS
from ...core.infer import broadcast_shape
from ...core.op import build
from ..common.numpy_ops import numpy_op
from .elementwise import conjugate, unbroadcast

numpy_op("Sin", np.sin, "The sine of an angle in radians. x: float[...] -> float[...].",
         lambda dy, x, y: dy * build.Cos(conjugate(x)))
numpy_op("Cos", np.cos, "The cosine of an angle in radians. x: float[...] -> float[...].",
         lambda dy, x, y: -(dy * build.Sin(conjugate(x))))
numpy_op("Tan", np.tan, "The tangent of an angle in radians. x: float[...] -> float[...].",
         lambda dy, x, y: dy * build.Square(build.Reciprocal(build.Cos(conjugate(x)))))
numpy_op("Asin", np.arcsin, "The angle in radians whose sine is x, -pi/2 to pi/2. x: float[...] -> float[...].",
         lambda dy, x, y: dy * _slope_of_asin(x))


def _slope_of_asin(x):
    return build.Rsqrt(1 - build.Square(conjugate(x)))


numpy_op("Acos", np.arccos, "The angle in radians whose cosine is x, 0 to pi. x: float[...] -> float[...].",
         lambda dy, x, y: -(dy * _slope_of_asin(x)))
numpy_op("Atan", np.arctan, "The angle in radians whose tangent is x, -pi/2 to pi/2. x: float[...] -> float[...].",
         lambda dy, x, y: dy / (1 + build.Square(conjugate(x))))


@op("Atan2", infer=broadcast_shape, elementwise=True, dtypes=FLOATS)
def atan2(y, x, *, out=None):
    """The angle in radians of the point (x, y), -pi to pi, broadcast. y, x: float[...] -> float[...]."""
    return np.arctan2(y, x, out=out)


@atan2.gradient
def _(node, dz):
    y, x = node.inputs
    scaled = dz / (build.Square(x) + build.Square(y))
    return unbroadcast(scaled * x, y), unbroadcast(-(scaled * y), x)


numpy_op("Sinh", np.sinh, "The hyperbolic sine. x: float[...] -> float[...].",
         lambda dy, x, y: dy * build.Cosh(conjugate(x)))
numpy_op("Cosh", np.cosh, "The hyperbolic cosine. x: float[...] -> float[...].",
         lambda dy, x, y: dy * build.Sinh(conjugate(x)))
numpy_op("Asinh", np.arcsinh, "The number whose hyperbolic sine is x. x: float[...] -> float[...].",
         lambda dy, x, y: dy / build.Cosh(conjugate(y)))
numpy_op("Acosh", np.arccosh, "The number >= 0 whose hyperbolic cosine is x. x: float[...], at least 1 -> float[...].",
         lambda dy, x, y: dy / build.Sinh(conjugate(y)))
numpy_op("Atanh", np.arctanh, "The number whose hyperbolic tangent is x. x: float[...], -1 to 1 -> float[...].",
         lambda dy, x, y: dy / (1 - build.Square(conjugate(x))))
