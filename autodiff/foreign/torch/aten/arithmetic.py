"""ATen's arithmetic and functions of single elements, complex and special ones, comparisons, logic and bits."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.op import build
from ...model import tf
from ...rules import COMPARISONS, bitwise, compared, ruled
from .common import aten, rank, with_gradient
from .reductions import gathered
from .types import as_type, category, floating, is_tensor, joint, no_gradient, number, promoted, result_type, where


def _scaled(y: Any, alpha: Any) -> Any:
    return y if not is_tensor(alpha) and alpha == 1 else y * number(alpha, y)


add = joint(lambda x, y, alpha=1: tf.logical_or(x, y) if x.dtype.base_dtype is tf.bool else x + _scaled(y, alpha))
mul = joint(lambda x, y: tf.logical_and(x, y) if x.dtype.base_dtype is tf.bool else x * y)
sub = joint(lambda x, y, alpha=1: x - _scaled(y, alpha))


@aten.op("div", "true_divide", note="integers are divided as floats unless they are rounded")
def div(x: Any, y: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode is None:
        x, y = promoted(x, y, floating=True)
        return tf.truediv(x, y)
    x, y = promoted(x, y)
    if category(x.dtype.base_dtype) == 1:
        return tf.floor_div(x, y) if rounding_mode == "floor" else tf.truncatediv(x, y)
    return (tf.floor if rounding_mode == "floor" else _truncated)(tf.truediv(x, y))


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
        return simple(x) if simple is not None else tf.pow(x, as_type(y, dtype))
    x, y = _spread(*promoted(x, y))
    return _power(x, y) if x.dtype.base_dtype.is_floating else tf.pow(x, y)


def _extreme(choose: Any) -> Any:
    return joint(lambda x, y: choose(x, y) if category(x.dtype.base_dtype) < 2 else where(
        tf.equal(x, y), x / 2 + y / 2, choose(x, y)))


maximum, minimum = _extreme(tf.maximum), _extreme(tf.minimum)


@aten.op("clamp", "clip", note="the gradient passes at the bounds")
def clamp(x: Any, low: Any = None, high: Any = None) -> Any:
    x, low, high = promoted(x, low, high)
    x = x if low is None else tf.maximum(x, low)
    return x if high is None else tf.minimum(x, high)


@aten.op("logaddexp")
@joint
def logaddexp(x: Any, y: Any) -> Any:
    top = no_gradient(tf.maximum(x, y))
    top = where(tf.is_finite(top), top, tf.zeros_like(top))
    return tf.log(tf.exp(x - top) + tf.exp(y - top)) + top


@aten.op("copysign")
def copysign(x: Any, y: Any) -> Any:
    x, y = promoted(x, y, floating=True)
    is_negative = tf.less(where(tf.equal(y, 0), tf.reciprocal(y), y), 0)
    return tf.abs(x) * where(is_negative, -tf.ones_like(y), tf.ones_like(y))


_UNARY = {name: getattr(tf.math, name) for name in (
    "exp expm1 log log1p sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh erf erfc lgamma digamma "
    "sigmoid").split()} | {
        "sqrt": _sqrt, "rsqrt": _rsqrt, "reciprocal": _reciprocal, "i0": tf.bessel_i0, "special_i0e": tf.bessel_i0e,
        "special_i1e": tf.bessel_i1e, "special_i1": tf.bessel_i1, "erfinv": build.Erfinv, "special_ndtri": build.Ndtri,
        "exp2": lambda x: tf.exp(x * number(math.log(2), x)), "log2": lambda x: tf.log(x) * number(1 / math.log(2), x),
        "deg2rad": lambda x: x * number(math.pi / 180, x), "rad2deg": lambda x: x * number(180 / math.pi, x),
        "log10": lambda x: tf.log(x) * number(1 / math.log(10), x)}


def turn(x: Any) -> Any:
    """A complex number as one of size 1; 0 stays."""
    size = tf.abs(x)
    return x / as_type(where(tf.equal(size, 0), tf.ones_like(size), size), x.dtype.base_dtype)


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


@aten.op("_to_copy")
def to_copy(x: Any, *, dtype: Any = None) -> Any:
    return tf.identity(x) if dtype is None or dtype is x.dtype.base_dtype else as_type(x, dtype)


@aten.op("polar", note="a negative size has the slope of its absolute value, as torch's")
def polar(size: Any, angle: Any) -> Any:
    size = tf.abs(size) + no_gradient(size - tf.abs(size))
    return tf.complex(size * tf.cos(angle), size * tf.sin(angle))


_FAR = {tf.float32: 5.0, tf.float64: 20.0}  # from here on erfc is near its least number, and the series is exact


@aten.op("special_erfcx", note="exp(x**2) erfc(x), which never underflows")
def erfcx(x: Any) -> Any:
    x = floating(x)
    is_far = tf.greater(x, number(_FAR.get(x.dtype.base_dtype, 5.0), x))
    near, far = where(is_far, tf.zeros_like(x), x), where(is_far, x, tf.ones_like(x) * 1e3)
    half = 0.5 / tf.square(far)
    series = tf.ones_like(x)
    for odd in (13, 11, 9, 7, 5, 3, 1):  # 1 - 1/(2x²) + 1·3/(2x²)² - …
        series = 1 - odd * half * series
    return where(is_far, series / (far * math.sqrt(math.pi)), tf.exp(tf.square(near)) * tf.erfc(near))


@aten.op("special_log_ndtr")
def log_ndtr(x: Any) -> Any:
    x = floating(x)
    is_low, t = tf.less(x, 1), x * math.sqrt(0.5)
    low, high = where(is_low, t, tf.zeros_like(t)), where(is_low, tf.ones_like(t), t)
    return where(is_low, tf.log(0.5 * erfcx(-low)) - tf.square(low), tf.math.log1p(-0.5 * tf.erfc(high)))


@aten.op("frexp", note="a mantissa from 0.5 to 1, and its power of two")
def frexp(x: Any) -> Any:
    size = no_gradient(tf.abs(x))
    usual = tf.logical_and(tf.is_finite(x), tf.greater(size, 0))
    power = tf.floor(tf.log(where(usual, size, tf.ones_like(x))) / math.log(2)) + 1
    over = where(usual, size * tf.pow(number(2, x), -power), tf.ones_like(x) * 0.5)
    power = power + where(tf.less(over, 0.5), -tf.ones_like(x), tf.cast(tf.greater_equal(over, 1), x.dtype))
    power = where(usual, power, tf.zeros_like(x))
    return x * tf.pow(number(2, x), -power), tf.cast(power, tf.int32)


aten.rows({
    **{name: lambda x, function=function: function(floating(x)) for name, function in _UNARY.items()},
    "add": add, "sub": sub, "mul": mul,
    "maximum fmax max.other": (maximum, "a tie halves the gradient"),
    "minimum fmin min.other": (minimum, "a tie halves the gradient"),
    "addcmul": lambda x, a, b, value=1: add(x, mul(a, b), value),
    "addcdiv": lambda x, a, b, value=1: add(x, div(a, b), value),
    "square": lambda x: tf.square(x),
    "fmod": joint(lambda x, y: tf.truncatemod(x, y) if category(x.dtype.base_dtype) == 1 else
        x - y * no_gradient(_truncated(tf.truediv(x, y)))),
    "rsub": lambda x, y, alpha=1: sub(y, x, alpha), "floor_divide": lambda x, y: div(x, y, "floor"),
    "clamp_min": lambda x, low: clamp(x, low), "clamp_max": lambda x, high: clamp(x, None, high),
    "atan2": lambda y, x: _atan2(*_spread(*promoted(y, x, floating=True))),
    "neg": lambda x: -x, "abs": lambda x: tf.abs(x), "frac": lambda x: x - no_gradient(_truncated(x)),
    "xlogy": lambda x, y: _xlogy(*_spread(*promoted(x, y, floating=True))),
    "lerp lerp.Scalar lerp.Tensor": lambda start, end, weight:
        start + as_type(weight, result_type(start)) * (end - start),
    "sign sgn": lambda x: x if x.dtype.base_dtype is tf.bool else turn(x) if x.dtype.is_complex else tf.sign(x),
    "floor": lambda x: tf.floor(x) if category(x.dtype.base_dtype) == 2 else x,
    "ceil": lambda x: tf.ceil(x) if category(x.dtype.base_dtype) == 2 else x,
    "trunc fix": lambda x: no_gradient(_truncated(x)) if category(x.dtype.base_dtype) == 2 else x,
    "polygamma": lambda n, x: tf.polygamma(number(n, floating(x)), floating(x)),
    "to": lambda x, *given, dtype=None, **_:
        to_copy(x, dtype=next((g for g in given if isinstance(g, tf.DType)), dtype)),
    "remainder": joint(lambda x, y:
        tf.floormod(x, y) if category(x.dtype.base_dtype) == 1 else x - y * no_gradient(tf.floor(tf.truediv(x, y)))),
    "hypot": joint(lambda x, y: _sqrt(x * x + y * y)), "real": lambda x: tf.real(x), "imag": lambda x: tf.imag(x),
    "complex": lambda real, imag: tf.complex(real, imag),
    "view_as_real": lambda x: tf.stack([tf.real(x), tf.imag(x)], axis=rank(x)),
    "view_as_complex": lambda x: tf.complex(x[..., 0], x[..., 1]),
    "_conj conj conj_physical _conj_physical": lambda x: tf.conj(x),
    "resolve_conj resolve_neg": lambda x: x,
    "nextafter": (joint(lambda x, y: x + no_gradient(build.NextAfter(x, y) - x)), "its slope is that of the first")})


def _truth(x: Any) -> Any:
    return as_type(x, tf.bool)


@aten.op("bucketize")
def bucketize(values: Any, edges: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    edges, values = promoted(edges, values)
    found = tf.searchsorted(edges, tf.reshape(values, [-1]), side="right" if right else "left")
    return tf.cast(tf.reshape(found, tf.shape(values)), tf.int32 if out_int32 else tf.int64)


@aten.op("searchsorted")
def searchsorted(edges: Any, values: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
                 sorter: Any = None) -> Any:
    edges, values = promoted(edges if sorter is None else gathered(edges, rank(edges) - 1, sorter), values)
    wanted = tf.reshape(values, [-1]) if rank(edges) == 1 else values
    found = tf.searchsorted(edges, wanted, side=side or ("right" if right else "left"))
    return tf.cast(tf.reshape(found, tf.shape(values)), tf.int32 if out_int32 else tf.int64)


aten.rows({
    "angle": lambda x: tf.angle(x) if category(x.dtype.base_dtype) == 3 else where(
        tf.less(x, 0), tf.ones_like(x) * number(math.pi, x), tf.zeros_like(x)),
    "isclose": lambda x, y, rtol=1e-5, atol=1e-8, equal_nan=False: tf.logical_or(tf.equal(x, y), tf.less_equal(
        tf.abs(x - y), number(atol, x) + number(rtol, x) * tf.abs(y))),
    **{name: joint(compared(name)) for name in COMPARISONS},
    "bitwise_and __and__": joint(bitwise(tf.logical_and, build.BitwiseAnd)),
    "bitwise_or __or__": joint(bitwise(tf.logical_or, build.BitwiseOr)),
    "bitwise_xor __xor__": joint(bitwise(tf.logical_xor, build.BitwiseXor)),
    "bitwise_not": bitwise(tf.logical_not, lambda x: -x - number(1, x)),
    "masked_fill": lambda x, mask, value: where(mask, as_type(value, x.dtype.base_dtype), x),
    "where": lambda condition, x=None, y=None: where(_truth(condition), *promoted(x, y)),
    "isnan": lambda x: tf.is_nan(x) if category(x.dtype.base_dtype) == 2 else tf.zeros_like(x, dtype=tf.bool),
    "isinf": lambda x: tf.is_inf(x) if category(x.dtype.base_dtype) == 2 else tf.zeros_like(x, dtype=tf.bool),
    "isfinite": lambda x: tf.is_finite(x) if category(x.dtype.base_dtype) == 2 else tf.ones_like(x, dtype=tf.bool),
    "isposinf": lambda x: tf.equal(x, number(np.inf, x)), "isneginf": lambda x: tf.equal(x, number(-np.inf, x)),
    "signbit": lambda x: tf.less(x, 0),
    "logical_and": lambda x, y: tf.logical_and(_truth(x), _truth(y)),
    "logical_or": lambda x, y: tf.logical_or(_truth(x), _truth(y)),
    "logical_xor": lambda x, y: tf.logical_xor(_truth(x), _truth(y)),
    "logical_not": lambda x: tf.logical_not(_truth(x)),
    "bitwise_left_shift __lshift__": joint(lambda x, y: x * tf.cast(tf.pow(number(2, y), y), x.dtype.base_dtype)),
    "bitwise_right_shift __rshift__": joint(lambda x, y:
        tf.floor_div(x, tf.cast(tf.pow(number(2, y), y), x.dtype.base_dtype))),
    "heaviside": joint(lambda x, values: where(tf.equal(x, 0), values, as_type(tf.greater(x, 0), result_type(x))))})
