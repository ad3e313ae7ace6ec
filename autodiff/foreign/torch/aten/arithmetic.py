"""ATen's arithmetic and functions of single elements."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.op import build
from ...model import tf
from ...rules import ruled
from .common import (
    as_type,
    aten,
    category,
    floating,
    is_tensor,
    joint,
    no_gradient,
    number,
    promoted,
    result_type,
    where,
    with_gradient,
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


@aten.op("fmod")
def fmod(x: Any, y: Any) -> Any:
    x, y = promoted(x, y)
    if category(x.dtype.base_dtype) == 1:
        return tf.truncatemod(x, y)
    return x - y * no_gradient(_truncated(tf.truediv(x, y)))


# ---- arithmetic whose gradient torch writes in another way, which shows at poles --------------

def _spread(x: Any, y: Any) -> list[Any]:
    """Both with the shape that they have together, as the rules below take them."""
    return [x, y] if x.dims == y.dims else [x * tf.ones_like(y), y * tf.ones_like(x)]


def _power_rule(op: Any, dy: Any) -> tuple[Any, Any]:
    x, y = op.inputs
    none = tf.zeros_like(dy)
    is_held = tf.logical_and(tf.equal(x, 0), tf.greater_equal(y, 0))
    return (where(tf.equal(y, 0), none, dy * (y * tf.pow(x, y - 1))),
            where(is_held, none, dy * (op.outputs[0] * tf.log(x))))


def _atan2_rule(op: Any, dy: Any) -> tuple[Any, Any]:
    y, x = op.inputs
    square = x * x + y * y
    share = where(tf.equal(square, 0), tf.zeros_like(dy), tf.reciprocal(square))
    return dy * x * share, -dy * y * share


def _xlogy_rule(op: Any, dy: Any) -> tuple[Any, Any]:
    x, y = op.inputs
    is_held = tf.logical_and(tf.equal(x, 0), tf.less_equal(y, 0))
    return where(is_held, tf.zeros_like(dy), tf.xlogy(dy, y)), dy * x / y


_power, _atan2 = ruled("torch", "Pow", _power_rule, tf.pow), ruled("torch", "Atan2", _atan2_rule, tf.atan2)
_xlogy = ruled("torch", "Xlogy", _xlogy_rule, tf.xlogy)
_sqrt = ruled("torch", "Sqrt", lambda op, dy: dy / (2 * op.outputs[0]), tf.sqrt)
_rsqrt = ruled("torch", "Rsqrt", lambda op, dy: dy * (-0.5 * op.outputs[0] * op.outputs[0] * op.outputs[0]), tf.rsqrt)
_reciprocal = ruled("torch", "Reciprocal", lambda op, dy: -dy * (op.outputs[0] * op.outputs[0]), tf.reciprocal)


@aten.op("pow", note="a power of zero has no slope")
def power(x: Any, y: Any) -> Any:
    if not is_tensor(y) and is_tensor(x):
        dtype = result_type(x, y)
        x = as_type(x, dtype)
        simple = {0: tf.ones_like, 1: tf.identity, 2: tf.square}.get(y)
        if simple is not None:
            return simple(x)
        return tf.pow(x, as_type(y, dtype))
    x, y = _spread(*promoted(x, y))
    return _power(x, y) if x.dtype.base_dtype.is_floating else tf.pow(x, y)


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


@aten.op("clamp", "clip", note="the gradient passes at the bounds")
def clamp(x: Any, low: Any = None, high: Any = None) -> Any:
    x, low, high = promoted(x, low, high)
    x = x if low is None else tf.maximum(x, low)
    return x if high is None else tf.minimum(x, high)


@aten.op("logaddexp")
def logaddexp(x: Any, y: Any) -> Any:
    x, y = promoted(x, y)
    top = no_gradient(tf.maximum(x, y))
    top = where(tf.is_finite(top), top, tf.zeros_like(top))
    return tf.log(tf.exp(x - top) + tf.exp(y - top)) + top


@aten.op("copysign")
def copysign(x: Any, y: Any) -> Any:
    x, y = promoted(x, y, floating=True)
    is_negative = tf.less(where(tf.equal(y, 0), tf.reciprocal(y), y), 0)
    return tf.abs(x) * where(is_negative, -tf.ones_like(y), tf.ones_like(y))


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
        "exp": tf.exp, "expm1": tf.expm1, "log": tf.log, "log1p": tf.log1p, "sqrt": _sqrt, "rsqrt": _rsqrt,
        "reciprocal": _reciprocal, "sin": tf.sin, "cos": tf.cos, "tan": tf.tan, "sinh": tf.sinh, "cosh": tf.cosh,
        "tanh": tf.tanh, "asin": tf.asin, "acos": tf.acos, "atan": tf.atan, "asinh": tf.asinh, "acosh": tf.acosh,
        "atanh": tf.atanh, "erf": tf.erf, "erfc": tf.erfc, "lgamma": tf.lgamma, "digamma": tf.digamma,
        "sigmoid": tf.sigmoid, "i0": tf.bessel_i0, "special_i0e": tf.bessel_i0e, "special_i1e": tf.bessel_i1e,
        "special_i1": tf.bessel_i1, "erfinv": build.Erfinv,
        "exp2": lambda x: tf.exp(x * number(math.log(2), x)), "log2": lambda x: tf.log(x) * number(1 / math.log(2), x),
        "deg2rad": lambda x: x * number(math.pi / 180, x), "rad2deg": lambda x: x * number(180 / math.pi, x),
        "log10": lambda x: tf.log(x) * number(1 / math.log(10), x)}.items():
    aten.op(_name)(_of_floats(_function))


@aten.op("square")
def square(x: Any) -> Any:
    return tf.square(x)


def _truncated(x: Any) -> Any:
    return where(tf.less(x, 0), tf.ceil(x), tf.floor(x))


@aten.op("round")
def rounded(x: Any, decimals: int = 0) -> Any:
    if category(x.dtype.base_dtype) < 2:
        return x
    scale = number(10.0**decimals, x)
    return tf.round(x * scale) / scale if decimals else tf.round(x)


@aten.op("sinc")
def sinc(x: Any) -> Any:
    turned = floating(x) * number(math.pi, floating(x))
    safe = where(tf.equal(turned, 0), tf.ones_like(turned), turned)
    return where(tf.equal(turned, 0), 1 - turned * turned / 6, tf.sin(safe) / safe)


@aten.op("logit")
def logit(x: Any, eps: float | None = None) -> Any:
    x = floating(x)
    x = x if eps is None else clamp(x, eps, 1 - eps)
    return with_gradient(tf.log(x / (1 - x)), [x], lambda dy: [dy / (x * (1 - x))])


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

@aten.op("_to_copy")
def to_copy(x: Any, *, dtype: Any = None) -> Any:
    return tf.identity(x) if dtype is None or dtype is x.dtype.base_dtype else as_type(x, dtype)


aten.rows({
    "rsub": lambda x, y, alpha=1: sub(y, x, alpha),
    "floor_divide": lambda x, y: div(x, y, "floor"),
    "max.other": lambda x, y: maximum(x, y),
    "min.other": lambda x, y: minimum(x, y),
    "clamp_min": lambda x, low: clamp(x, low),
    "clamp_max": lambda x, high: clamp(x, None, high),
    "atan2": lambda y, x: _atan2(*_spread(*promoted(y, x, floating=True))),
    "neg": lambda x: -x,
    "abs": lambda x: tf.abs(x),
    "frac": lambda x: x - no_gradient(_truncated(x)),
    "xlogy": lambda x, y: _xlogy(*_spread(*promoted(x, y, floating=True))),
    "lerp lerp.Scalar lerp.Tensor": lambda start, end, weight:
        start + as_type(weight, result_type(start)) * (end - start),
    "sign sgn": lambda x: x if x.dtype.base_dtype is tf.bool else tf.sign(x),
    "floor": lambda x: tf.floor(x) if category(x.dtype.base_dtype) == 2 else x,
    "ceil": lambda x: tf.ceil(x) if category(x.dtype.base_dtype) == 2 else x,
    "trunc fix": lambda x: no_gradient(_truncated(x)) if category(x.dtype.base_dtype) == 2 else x,
    "polygamma": lambda n, x: tf.polygamma(number(n, floating(x)), floating(x)),
    "to": lambda x, *given, dtype=None, **_:
        to_copy(x, dtype=next((g for g in given if isinstance(g, tf.DType)), dtype)),
    "remainder": joint(lambda x, y:
        tf.floormod(x, y) if category(x.dtype.base_dtype) == 1 else x - y * no_gradient(tf.floor(tf.truediv(x, y)))),
    "hypot": joint(lambda x, y: _sqrt(x * x + y * y)),
})
