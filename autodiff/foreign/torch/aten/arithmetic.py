"""ATen's arithmetic and functions of single elements."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...model import tf
from .common import (
    as_type,
    aten,
    category,
    floating,
    is_tensor,
    no_gradient,
    number,
    promoted,
    result_type,
    where,
)

# ---- two tensors, or a tensor and a number -------------------------------------------------

@aten.op("add")
def add(x: Any, y: Any, alpha: Any = 1) -> Any:
    x, y = promoted(x, y)
    if x.dtype.base_dtype is tf.bool:
        return tf.logical_or(x, y)
    return x + y if _is_one(alpha) else x + y * number(alpha, y)


def _is_one(alpha: Any) -> bool:
    return not is_tensor(alpha) and alpha == 1


@aten.op("sub")
def sub(x: Any, y: Any, alpha: Any = 1) -> Any:
    x, y = promoted(x, y)
    return x - y if _is_one(alpha) else x - y * number(alpha, y)


@aten.op("rsub")
def rsub(x: Any, y: Any, alpha: Any = 1) -> Any:
    return sub(y, x, alpha)


@aten.op("mul")
def mul(x: Any, y: Any) -> Any:
    x, y = promoted(x, y)
    return tf.logical_and(x, y) if x.dtype.base_dtype is tf.bool else x * y


@aten.op("div", "true_divide", note="integers are divided as floats unless they are rounded")
def div(x: Any, y: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode is None:
        x, y = promoted(x, y, floating=True)
        return tf.truediv(x, y)
    x, y = promoted(x, y)
    if category(x.dtype.base_dtype) == 1:
        return tf.floor_div(x, y) if rounding_mode == "floor" else tf.truncatediv(x, y)
    return (tf.floor if rounding_mode == "floor" else _truncated)(tf.truediv(x, y))


@aten.op("floor_divide")
def floor_divide(x: Any, y: Any) -> Any:
    return div(x, y, "floor")


@aten.op("remainder")
def remainder(x: Any, y: Any) -> Any:
    x, y = promoted(x, y)
    if category(x.dtype.base_dtype) == 1:
        return tf.floormod(x, y)
    return x - y * no_gradient(tf.floor(tf.truediv(x, y)))


@aten.op("fmod")
def fmod(x: Any, y: Any) -> Any:
    x, y = promoted(x, y)
    if category(x.dtype.base_dtype) == 1:
        return tf.truncatemod(x, y)
    return x - y * no_gradient(_truncated(tf.truediv(x, y)))


@aten.op("pow", note="a power of zero has no slope")
def power(x: Any, y: Any) -> Any:
    if not is_tensor(y) and is_tensor(x):
        dtype = result_type(x, y)
        x = as_type(x, dtype)
        simple = {0: tf.ones_like, 1: tf.identity, 2: tf.square}.get(y)
        if simple is not None:
            return simple(x)
        return tf.pow(x, as_type(y, dtype))
    x, y = promoted(x, y)
    return tf.pow(x, y)


@aten.op("maximum", "fmax", note="a tie halves the gradient")
def maximum(x: Any, y: Any) -> Any:
    return _extreme(tf.maximum, x, y)


@aten.op("minimum", "fmin", note="a tie halves the gradient")
def minimum(x: Any, y: Any) -> Any:
    return _extreme(tf.minimum, x, y)


def _extreme(choose: Any, x: Any, y: Any) -> Any:
    x, y = promoted(x, y)
    if category(x.dtype.base_dtype) < 2:
        return choose(x, y)
    return where(tf.equal(x, y), x / 2 + y / 2, choose(x, y))


@aten.op("max.other")
def max_other(x: Any, y: Any) -> Any:
    return maximum(x, y)


@aten.op("min.other")
def min_other(x: Any, y: Any) -> Any:
    return minimum(x, y)


@aten.op("clamp", "clip", note="the gradient passes at the bounds")
def clamp(x: Any, low: Any = None, high: Any = None) -> Any:
    x, low, high = promoted(x, low, high)
    x = x if low is None else tf.maximum(x, low)
    return x if high is None else tf.minimum(x, high)


@aten.op("clamp_min")
def clamp_min(x: Any, low: Any) -> Any:
    return clamp(x, low)


@aten.op("clamp_max")
def clamp_max(x: Any, high: Any) -> Any:
    return clamp(x, None, high)


@aten.op("atan2")
def atan2(y: Any, x: Any) -> Any:
    return tf.atan2(*promoted(y, x, floating=True))


@aten.op("hypot")
def hypot(x: Any, y: Any) -> Any:
    x, y = promoted(x, y)
    return tf.sqrt(x * x + y * y)


@aten.op("logaddexp")
def logaddexp(x: Any, y: Any) -> Any:
    x, y = promoted(x, y)
    top = no_gradient(tf.maximum(x, y))
    top = where(tf.is_finite(top), top, tf.zeros_like(top))
    return tf.log(tf.exp(x - top) + tf.exp(y - top)) + top


@aten.op("xlogy")
def xlogy(x: Any, y: Any) -> Any:
    return tf.xlogy(*promoted(x, y, floating=True))


@aten.op("copysign")
def copysign(x: Any, y: Any) -> Any:
    x, y = promoted(x, y, floating=True)
    is_negative = tf.less(where(tf.equal(y, 0), tf.reciprocal(y), y), 0)
    return tf.abs(x) * where(is_negative, -tf.ones_like(y), tf.ones_like(y))


@aten.op("lerp", "lerp.Scalar", "lerp.Tensor")
def lerp(start: Any, end: Any, weight: Any) -> Any:
    return start + as_type(weight, result_type(start)) * (end - start)


@aten.op("addcmul")
def addcmul(x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    product = mul(a, b)
    return add(x, product if value == 1 else product * number(value, product))


@aten.op("addcdiv")
def addcdiv(x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    quotient = div(a, b)
    return add(x, quotient if value == 1 else quotient * number(value, quotient))


# ---- one tensor ----------------------------------------------------------------------------

def _of_floats(function: Any) -> Any:
    def build(x: Any) -> Any:
        return function(floating(x))
    return build


for _name, _function in {
        "exp": tf.exp, "expm1": tf.expm1, "log": tf.log, "log1p": tf.log1p, "sqrt": tf.sqrt, "rsqrt": tf.rsqrt,
        "reciprocal": tf.reciprocal, "sin": tf.sin, "cos": tf.cos, "tan": tf.tan, "sinh": tf.sinh, "cosh": tf.cosh,
        "tanh": tf.tanh, "asin": tf.asin, "acos": tf.acos, "atan": tf.atan, "asinh": tf.asinh, "acosh": tf.acosh,
        "atanh": tf.atanh, "erf": tf.erf, "erfc": tf.erfc, "lgamma": tf.lgamma, "digamma": tf.digamma,
        "sigmoid": tf.sigmoid, "i0": tf.bessel_i0, "special_i0e": tf.bessel_i0e, "special_i1e": tf.bessel_i1e,
        "special_i1": tf.bessel_i1,
        "exp2": lambda x: tf.exp(x * number(math.log(2), x)), "log2": lambda x: tf.log(x) * number(1 / math.log(2), x),
        "deg2rad": lambda x: x * number(math.pi / 180, x), "rad2deg": lambda x: x * number(180 / math.pi, x),
        "log10": lambda x: tf.log(x) * number(1 / math.log(10), x)}.items():
    aten.op(_name)(_of_floats(_function))


@aten.op("neg")
def neg(x: Any) -> Any:
    return -x


@aten.op("abs")
def absolute(x: Any) -> Any:
    return tf.abs(x)


@aten.op("sign", "sgn")
def sign(x: Any) -> Any:
    return x if x.dtype.base_dtype is tf.bool else tf.sign(x)


@aten.op("square")
def square(x: Any) -> Any:
    return tf.square(x)


def _truncated(x: Any) -> Any:
    return where(tf.less(x, 0), tf.ceil(x), tf.floor(x))


@aten.op("floor")
def floor(x: Any) -> Any:
    return tf.floor(x) if category(x.dtype.base_dtype) == 2 else x


@aten.op("ceil")
def ceil(x: Any) -> Any:
    return tf.ceil(x) if category(x.dtype.base_dtype) == 2 else x


@aten.op("trunc", "fix")
def trunc(x: Any) -> Any:
    return no_gradient(_truncated(x)) if category(x.dtype.base_dtype) == 2 else x


@aten.op("frac")
def frac(x: Any) -> Any:
    return x - no_gradient(_truncated(x))


@aten.op("round")
def rounded(x: Any, decimals: int = 0) -> Any:
    if category(x.dtype.base_dtype) < 2:
        return x
    scale = number(10.0**decimals, x)
    return no_gradient(tf.round(x * scale) / scale if decimals else tf.round(x))


@aten.op("sinc")
def sinc(x: Any) -> Any:
    turned = floating(x) * number(math.pi, floating(x))
    safe = where(tf.equal(turned, 0), tf.ones_like(turned), turned)
    return where(tf.equal(turned, 0), 1 - turned * turned / 6, tf.sin(safe) / safe)


@aten.op("logit")
def logit(x: Any, eps: float | None = None) -> Any:
    x = floating(x)
    x = x if eps is None else clamp(x, eps, 1 - eps)
    return tf.log(x / (1 - x))


@aten.op("erfinv")
def erfinv(x: Any) -> Any:
    """Newton's steps from Winitzki's first guess; the gradient is that of the inverse function."""
    flat = no_gradient(x)
    logarithm = tf.log1p(-flat * flat)
    middle = number(2 / (math.pi * 0.147), x) + logarithm / 2
    y = tf.sign(flat) * tf.sqrt(tf.sqrt(tf.square(middle) - logarithm / number(0.147, x)) - middle)
    for _ in range(4):
        y = y - (tf.erf(y) - flat) * number(math.sqrt(math.pi) / 2, x) * tf.exp(tf.square(y))
    y = where(tf.equal(tf.abs(flat), 1), flat * number(np.inf, x), y)
    return no_gradient(y) + (x - flat) * number(math.sqrt(math.pi) / 2, x) * tf.exp(tf.square(no_gradient(y)))


@aten.op("polygamma")
def polygamma(n: int, x: Any) -> Any:
    return tf.polygamma(number(n, floating(x)), floating(x))


@aten.op("nan_to_num")
def nan_to_num(x: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Any:
    if category(x.dtype.base_dtype) < 2:
        return x
    limits = np.finfo(x.dtype.as_numpy_dtype)
    fill = lambda value: number(value, x) + tf.zeros_like(x)  # noqa: E731
    x = where(tf.is_nan(x), fill(nan or 0.0), x)
    x = where(tf.equal(x, number(np.inf, x)), fill(limits.max if posinf is None else posinf), x)
    return where(tf.equal(x, number(-np.inf, x)), fill(limits.min if neginf is None else neginf), x)


# ---- complex numbers and types -------------------------------------------------------------

@aten.op("_to_copy", "to")
def to_copy(x: Any, *, dtype: Any = None) -> Any:
    return tf.identity(x) if dtype is None or dtype is x.dtype.base_dtype else as_type(x, dtype)
