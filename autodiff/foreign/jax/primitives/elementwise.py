"""Primitives element by element: arithmetic, functions, comparisons, bits, choices, types."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.op import build
from ...model import tf
from ...rules import COMPARISONS, bitwise, compared
from .table import JAX, Tensor, unbroadcast, with_gradient

JAX.plain({name: getattr(tf.math, name) for name in (
    "sign floor ceil exp log expm1 log1p tanh sin cos tan asin acos atan sinh cosh asinh atanh square lgamma digamma "
    "erf erfc bessel_i0e bessel_i1e is_finite real imag add atan2 zeta polygamma").split()})
JAX.plain({
    "neg": tf.negative, "logistic": tf.sigmoid, "complex": tf.complex, "add_any": tf.add, "sub": tf.subtract,
    "mul": tf.multiply, "igamma_grad_a": build.IgammaGradA, "stop_gradient": tf.stop_gradient,
    "nextafter": build.NextAfter, "erf_inv": build.Erfinv})


@JAX.op("copy", "copy_p", "device_put", "optimization_barrier", "name", "sharding_constraint", "reshard", "pvary",
        "layout_constraint", "random_clone", "stage", note="the same values")
def identity(*xs: Tensor, **params: Any) -> list[Tensor]:
    return [tf.identity(x) for x in xs]


def _quotient_rule(op: Any, dy: Tensor) -> tuple[Tensor, Tensor]:
    x, y = op.inputs
    return unbroadcast(quotient(dy, y), x), unbroadcast(-dy * x * power(y, tf.constant(-2, y.dtype)), y)


def _power_rule(op: Any, dy: Tensor) -> tuple[Tensor, Tensor]:
    x, y = op.inputs
    base = tf.where(tf.equal(x, 0), tf.ones_like(x), x)
    return unbroadcast(dy * (y * power(x, y - 1)), x), unbroadcast(dy * (tf.log(base) * op.outputs[0]), y)


quotient = with_gradient("RealDiv", _quotient_rule, tf.divide)
power = with_gradient("Pow", _power_rule, tf.pow)
root = with_gradient("Sqrt", lambda op, dy: dy * quotient(tf.constant(0.5, dy.dtype), op.outputs[0]), tf.sqrt)
inverse_root = with_gradient("Rsqrt", lambda op, dy: dy * (-0.5 * quotient(op.outputs[0], op.inputs[0])), tf.math.rsqrt)
magnitude = with_gradient("Abs", lambda op, dy: tf.where(tf.greater_equal(op.inputs[0], 0), dy, -dy), tf.abs)
JAX.plain({"sqrt": root, "rsqrt": inverse_root, "acosh": with_gradient(
    "Acosh", lambda op, dy: dy * inverse_root((op.inputs[0] - 1) * (op.inputs[0] + 1)), tf.acosh)})


def _balanced(op: Any, dy: Tensor) -> tuple[Tensor, Tensor]:
    """Half of the gradient to each where they tie."""
    x, y = op.inputs
    is_x, is_y = (tf.cast(tf.equal(v, op.outputs[0]), dy.dtype) for v in (x, y))
    shared = tf.where(tf.equal(is_x + is_y, 2.0), tf.fill(tf.shape(dy), tf.constant(0.5, dy.dtype)), tf.ones_like(dy))
    return unbroadcast(dy * (shared * is_x), x), unbroadcast(dy * (shared * is_y), y)


maximum = with_gradient("Maximum", _balanced, tf.maximum)
minimum = with_gradient("Minimum", _balanced, tf.minimum)


def _beta_part(*given: Tensor) -> Tensor:
    shape = list(np.broadcast_shapes(*[v.dims for v in given]))
    a, b, x = (v if list(v.dims) == shape else tf.broadcast_to(v, shape) for v in given)
    low, high = tf.equal(a, 0), tf.equal(b, 0)
    is_known = tf.logical_and(tf.logical_or(tf.logical_and(low, b > 0), tf.logical_and(high, a > 0)),
                              tf.logical_and(x >= 0, x <= 1))
    at_end = tf.where(tf.equal(x, tf.cast(high, x.dtype)), x, tf.cast(low, x.dtype))
    return tf.where(is_known, at_end, tf.math.betainc(a, b, x))


def _by_integers(of_floats: Any, divided: Any, by_zero: Any) -> Any:
    """A division that gives by_zero(x) where an integer is divided by 0."""
    def build(x: Tensor, y: Tensor) -> Tensor:
        if not x.dtype.is_integer:
            return of_floats(x, y)
        none = tf.equal(y, 0)
        return _chosen(none, by_zero(x), divided(x, _chosen(none, tf.ones_like(y), y)))
    return build


def _remainder_rule(op: Any, dy: Tensor) -> tuple[Tensor, Tensor]:
    x, y = op.inputs
    turns = x / y
    return unbroadcast(dy, x), unbroadcast(-dy * (tf.sign(turns) * tf.floor(tf.abs(turns))), y)


truncated = with_gradient("TruncateMod", _remainder_rule, tf.truncatemod)


@JAX.op("pow")
def pow_(x: Tensor, y: Tensor) -> Tensor:
    if x.dtype == y.dtype:
        return power(x, y)
    slope_of_zero = tf.equal(y, 0)  # an integer exponent of 0 has slope 0, also at 0
    y = tf.cast(y, x.dtype)
    return tf.where_v2(slope_of_zero, tf.ones_like(x), power(x, y))


JAX.plain({name: compared(name.removesuffix("_to")) for name in (*COMPARISONS, "eq_to", "lt_to", "le_to")})
JAX.plain({"and": bitwise(tf.logical_and, build.BitwiseAnd), "or": bitwise(tf.logical_or, build.BitwiseOr),
           "xor": bitwise(tf.not_equal, build.BitwiseXor), "not": bitwise(tf.logical_not, build.Invert)})


@JAX.op("select_n", note="of integers: the case of that number")
def select_n(which: Tensor, *cases: Tensor) -> Tensor:
    if which.dtype == tf.bool:
        return _chosen(which, cases[1], cases[0]) if len(cases) > 1 else tf.identity(cases[0])
    result = cases[-1]
    for number in reversed(range(len(cases) - 1)):
        result = _chosen(tf.equal(which, number), cases[number], result)
    return result


def _chosen(which: Tensor, yes: Tensor, no: Tensor) -> Tensor:
    return tf.where(which, yes, no) if which.dims == yes.dims == no.dims else tf.where_v2(which, yes, no)


@JAX.op("shift_right_logical", note="0 where all bits are shifted out")
def shift_right_logical(x: Tensor, count: Tensor) -> Tensor:
    unsigned = tf.as_dtype(x.dtype.name if x.dtype.name.startswith("u") else f"u{x.dtype.name}")
    moved = build.RightShift(tf.cast(x, unsigned), tf.cast(count, unsigned))
    return tf.where(_is_inside(x, count), tf.cast(moved, x.dtype), tf.zeros_like(x))


def _is_inside(x: Tensor, count: Tensor) -> Tensor:
    inside = tf.less(tf.cast(count, tf.uint64), tf.constant(np.uint64(x.dtype.size * 8)))
    return tf.broadcast_to(inside, x.dims) if inside.dims != x.dims else inside


@JAX.op("convert_element_type")
def convert_element_type(x: Tensor, *, new_dtype: str) -> Tensor:
    if new_dtype == "bool":
        return tf.not_equal(x, tf.zeros_like(x)) if x.dtype != tf.bool else tf.identity(x)
    return tf.identity(x) if x.dtype.name == new_dtype else tf.cast(x, new_dtype)


@JAX.op("reduce_precision", pulled_back=True)
def reduce_precision(x: Tensor, *, exponent_bits: int, mantissa_bits: int) -> Tensor:
    own = np.finfo(x.dtype.as_numpy_dtype)
    y, lost = tf.identity(x), own.nmant - mantissa_bits
    if lost > 0:  # half of what is lost is added, so that it is rounded to nearest, ties to even
        bits = build.Bitcast(x, type=f"int{own.bits}")
        half = (1 << lost - 1) - 1 + build.BitwiseAnd(build.RightShift(bits, tf.constant(lost, bits.dtype)), 1)
        y = build.Bitcast(build.BitwiseAnd(bits + half, -1 << lost), type=x.dtype)
        y = tf.where(tf.math.is_nan(x), x, y)
    if exponent_bits < own.nexp:
        most = 2 ** (exponent_bits - 1) - 1
        y = tf.where(tf.abs(y) < 2.0 ** (1 - most), tf.zeros_like(y), y)
        y = tf.where(tf.abs(y) >= 2.0 ** (most + 1), tf.sign(y) * np.inf, y)
    return y


JAX.rows({
    "round": lambda x, *, rounding_method: tf.round(x) if rounding_method == "TO_NEAREST_EVEN" else tf.stop_gradient(
        tf.sign(x) * tf.floor(tf.abs(x) + 0.5)),
    "igamma": (lambda a, x: _chosen(tf.logical_and(
        tf.equal(a, 0), x > 1), tf.ones_like(x), tf.math.igamma(a, x)), "1 at a = 0, if x is above 1"),
    "igammac": (lambda a, x: _chosen(tf.logical_and(
        tf.equal(a, 0), x > 0), tf.zeros_like(x), tf.math.igammac(a, x)), "0 at a = 0"),
    "regularized_incomplete_beta": (_beta_part, "a or b may be 0"),
    "div": (_by_integers(quotient, tf.truncatediv, lambda x: build.Invert(tf.zeros_like(x))),
        "of integers, towards 0; an integer by 0 is -1"),
    "rem": (_by_integers(truncated, tf.truncatemod, tf.identity), "of the sign of x; of an integer and 0 it is x"),
    "max": lambda x, y: tf.logical_or(x, y) if x.dtype == tf.bool else maximum(x, y),
    "min": lambda x, y: tf.logical_and(x, y) if x.dtype == tf.bool else minimum(x, y),
    "integer_pow": lambda x, *, y: tf.square(x) if y == 2 else power(x, tf.constant(y, x.dtype)),
    "exp2": lambda x: tf.exp(x * tf.constant(math.log(2), x.dtype)),
    "population_count": lambda x: tf.cast(build.PopulationCount(x), x.dtype),
    "bitcast_convert_type": lambda x, *, new_dtype: build.Bitcast(x, type=new_dtype),
    "abs": (lambda x: tf.abs(x) if x.dtype.is_complex else magnitude(x), "its slope at 0 is 1"),
    "conj": lambda x: tf.math.conj(x) if x.dtype.is_complex else tf.complex(x, tf.zeros_like(x)),
    "shift_left": (lambda x, count: tf.where(_is_inside(x, count), build.LeftShift(x, count), tf.zeros_like(x)),
        "0 where all bits are shifted out"),
    "shift_right_arithmetic": lambda x, count:
        build.RightShift(x, tf.minimum(count, tf.constant(x.dtype.size * 8 - 1, count.dtype)))})
JAX.rows({
    "cbrt": lambda x: tf.sign(x) * tf.pow(tf.abs(x), tf.constant(1 / 3, x.dtype)),
    "clamp": (lambda low, x, high: tf.minimum(tf.maximum(x, low), high), "no gradient flows at the bounds"),
}, pulled_back=True)
