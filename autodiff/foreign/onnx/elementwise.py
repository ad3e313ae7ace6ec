"""ONNX ops on each element: arithmetic, comparisons, casts and activations with NumPy's broadcasting, quantization."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.op import build
from ..model import tf
from .sizes import axis_of, rank_of, shape_of
from .table import dtype_named, is_float, like, onnx, scalar, text, value_of

onnx.plain({name.capitalize(): getattr(tf, name) for name in (
    "abs acos acosh add asin asinh atan atanh ceil cos cosh equal erf exp floor greater less log reciprocal round sign "
    "sin sinh sqrt tan").split()})
onnx.plain({
    "And": tf.logical_and, "GreaterOrEqual": tf.greater_equal, "IsNaN": tf.is_nan, "LessOrEqual": tf.less_equal,
    "Mul": tf.multiply, "Neg": tf.negative, "Not": tf.logical_not, "Or": tf.logical_or, "Sub": tf.subtract,
    "Where": tf.where_v2, "Xor": tf.logical_xor, "BitwiseAnd": build.BitwiseAnd, "BitwiseNot": build.Invert,
    "BitwiseOr": build.BitwiseOr, "BitwiseXor": build.BitwiseXor})


def _extreme(choose: Any, x: Any, y: Any) -> Any:
    """One of two; where they are equal, each gets half of the gradient, as PyTorch and central differences have it."""
    return tf.where_v2(tf.equal(x, y), x / 2 + y / 2, choose(x, y)) if is_float(x) else choose(x, y)


@onnx.op("Clip", note="where min > max the result is max; the gradient at a bound is that of x")
def clip(x: Any, min: Any = None, max: Any = None) -> Any:  # noqa: A002
    x = x if min is None else tf.maximum(x, like(min, x))
    return x if max is None else tf.minimum(x, like(max, x))


def _below_zero(x: Any, curve: Any) -> Any:
    """`x` where it is positive, else the curve, which sees no large numbers that would overflow."""
    return tf.where_v2(x > 0, x, curve(tf.minimum(x, like(0, x))))


@onnx.op("Gelu")
def gelu(x: Any, *, approximate: Any = b"none") -> Any:
    if text(approximate) == "tanh":
        return 0.5 * x * (1 + tf.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + tf.erf(x * math.sqrt(0.5)))


@onnx.op("Dropout", note="the second output is the mask")
def dropout(x: Any, ratio: Any = 0.5, training_mode: Any = False, *, seed: int = 0, is_test: int = 1) -> Any:
    known = value_of(training_mode)
    if known is not None and not known.any():
        return x, tf.fill(shape_of(x), True)
    drop = like(0.5 if ratio is None else scalar(ratio), x)
    kept = tf.random_uniform(tf.shape(x), dtype=x.dtype.base_dtype, seed=seed or None) >= drop
    mask = tf.logical_or(kept, tf.logical_not(scalar(training_mode)))
    scale = tf.where_v2(scalar(training_mode), 1 / (1 - drop), like(1, x))
    return tf.where_v2(mask, x * scale, tf.zeros_like(x)), mask


@onnx.op("Bernoulli")
def bernoulli(x: Any, *, dtype: int = 0, seed: float = 0.0) -> Any:
    drawn = tf.random_uniform(tf.shape(x), dtype=x.dtype.base_dtype, seed=int(seed) or None) < x
    return tf.cast(drawn, _own_type(dtype, x))


def _own_type(code: int, x: Any) -> Any:
    """The type of a number; that of `x` for 0."""
    return dtype_named(code) if code else x.dtype.base_dtype


@onnx.op("MatMul", note="NumPy's: vectors are rows or columns, leading axes broadcast")
def matmul(a: Any, b: Any) -> Any:
    ranks = [None if x.dims is None else len(x.dims) for x in (a, b)]
    a = tf.expand_dims(a, 0) if ranks[0] == 1 else a
    b = tf.expand_dims(b, 1) if ranks[1] == 1 else b
    y = tf.matmul(a, b)
    if ranks[1] == 1:
        y = tf.squeeze(y, [-1])
    return tf.squeeze(y, [-1 if ranks[1] == 1 else -2]) if ranks[0] == 1 else y


@onnx.op("Gemm")
def gemm(a: Any, b: Any, c: Any = None, *, alpha: float = 1.0, beta: float = 1.0, transA: int = 0,  # noqa: N803
         transB: int = 0, broadcast: int = 1) -> Any:  # noqa: N803
    y = tf.matmul(a, b, bool(transA), bool(transB))
    y = y if alpha == 1 else y * like(alpha, y)
    return y if c is None or beta == 0 else y + (c if beta == 1 else c * like(beta, c))


@onnx.op("Einsum", note="a letter twice in one term is the diagonal")
def einsum(*xs: Any, equation: Any) -> Any:
    inputs, arrow, output = text(equation).replace(" ", "").partition("->")
    if not arrow:
        letters = inputs.replace(",", "").replace(".", "")
        output = "..." * ("..." in inputs) + "".join(sorted(a for a in letters if letters.count(a) == 1))
    made = [_diagonals(term, x) for term, x in zip(inputs.split(","), xs)]
    return tf.einsum(",".join(term for term, _ in made) + "->" + output, *[x for _, x in made])


def _diagonals(term: str, x: Any) -> tuple[str, Any]:
    """A term and a tensor without repeated letters: the axis of the diagonal comes last."""
    letters = list(term.replace("...", "."))  # a dot stands for any number of axes
    for letter in sorted(set(letters) - {"."}):
        while letters.count(letter) > 1:
            one = letters.index(letter)
            pair, rank = (one, letters.index(letter, one + 1)), rank_of(x)
            axes = [i - len(letters) + rank if "." in letters[:i] else i for i in pair]
            x = tf.matrix_diag_part(tf.transpose(x, [*(i for i in range(rank) if i not in axes), *axes]))
            letters = [a for i, a in enumerate(letters) if i not in pair] + [letter]
    return "".join(letters).replace(".", "..."), x


# The functions that recurrent layers know too, of x, alpha and beta, with the defaults of these.
CURVES: dict[str, tuple[Callable[..., Any], float, float]] = {
    "Tanh": (lambda x, a, b: tf.tanh(x), 0, 0), "Sigmoid": (lambda x, a, b: tf.sigmoid(x), 0, 0),
    "Relu": (lambda x, a, b: tf.nn.relu(x), 0, 0), "Affine": (lambda x, a, b: a * x + b, 1, 0),
    "LeakyRelu": (lambda x, a, b: tf.nn.leaky_relu(x, a), 0.01, 0),
    "ThresholdedRelu": (lambda x, a, b: tf.where_v2(x > a, x, tf.zeros_like(x)), 1, 0),
    "ScaledTanh": (lambda x, a, b: a * tf.tanh(b * x), 1, 1),
    "HardSigmoid": (lambda x, a, b: clip(a * x + b, 0, 1), 0.2, 0.5),
    "Elu": (lambda x, a, b: _below_zero(x, lambda z: a * tf.expm1(z)), 1, 0),
    "Softsign": (lambda x, a, b: tf.nn.softsign(x), 0, 0), "Softplus": (lambda x, a, b: tf.nn.softplus(x), 0, 0)}


def _curve(of: Any, alpha: float, beta: float) -> Any:
    if not alpha:
        return lambda x: of(x, 0, 0)
    if not beta:
        return lambda x, *, alpha=alpha: of(x, alpha, 0)
    return lambda x, *, alpha=alpha, beta=beta: of(x, alpha, beta)


onnx.rows({
    "Pow": (lambda x, y: tf.cast(tf.pow(tf.cast(x, y.dtype.base_dtype), y), x.dtype.base_dtype)
        if not is_float(x) and is_float(y) else tf.pow(x, like(y, x)), "the result has the type of the base"),
    "Mod": (lambda a, b, *, fmod=0: tf.floormod(a, b) if not fmod else tf.truncatemod(a, b) if not is_float(a) else
        tf.sign(a) * tf.floormod(tf.abs(a), tf.abs(b)),
        "fmod=1 has the sign of the dividend, as C's; unlike TensorFlow's it has a gradient"),
    **{name: _curve(*curve) for name, curve in CURVES.items() if name not in ("Affine", "ScaledTanh")},
    "Mean": lambda *xs: functools.reduce(tf.add, xs) / len(xs),
    "Swish": lambda x, *, alpha=1.0: x * tf.sigmoid(alpha * x),
    "Shrink": lambda x, *, bias=0.0, lambd=0.5: tf.where_v2(
        x < -lambd, x + bias, tf.where_v2(x > lambd, x - bias, tf.zeros_like(x))),
    "IsInf": lambda x, *, detect_negative=1, detect_positive=1: tf.logical_and(
        tf.is_inf(x), x > 0 if not detect_negative else x < 0 if not detect_positive else tf.is_inf(x)),
    "Sum": lambda *xs: functools.reduce(tf.add, xs),
    "CastLike": lambda x, target, *, saturate=1, round_mode=b'up': tf.cast(x, target.dtype.base_dtype),
    "Selu": lambda x, *, alpha=1.6732631921768188, gamma=1.0507010221481323: gamma * CURVES["Elu"][0](x, alpha, 0),
    "Celu": lambda x, *, alpha=1.0: _below_zero(x, lambda z: alpha * tf.expm1(z / alpha)),
    "HardSwish": lambda x: x * clip(x / 6 + 0.5, 0, 1),
    "SwiGLU": lambda a, b, *, alpha=1.0: a * tf.sigmoid(alpha * a) * b,
    "Mish": lambda x: x * tf.tanh(tf.nn.softplus(x)),
    "BitShift": lambda x, y, *, direction: (build.LeftShift if text(direction) == "LEFT" else build.RightShift)(x, y),
    "BitCast": lambda x, *, to: build.Bitcast(x, type=dtype_named(to)), "Det": lambda x: tf.matrix_determinant(x),
    "Div": (lambda a, b:
        tf.truediv(a, b) if is_float(a) else tf.truncatediv(a, b), "integers are divided towards zero"),
    "Max": (lambda *xs: functools.reduce(functools.partial(_extreme, tf.maximum), xs), "a tie halves the gradient"),
    "Min": (lambda *xs: functools.reduce(functools.partial(_extreme, tf.minimum), xs), "a tie halves the gradient"),
    "Cast": (lambda x, *, to, saturate=1, round_mode=b"up":
        tf.cast(x, dtype_named(to)), "to an integer truncates; bfloat16 is float32 here"),
    "PRelu": (lambda x, slope:
        tf.where_v2(x > 0, x, slope * x), "at 0 the gradient is that of the slope, as PyTorch's"),
    "RandomNormal": lambda *, shape, mean=0.0, scale=1.0, dtype=1, seed=0.0:
        tf.random_normal(shape, mean, scale, dtype_named(dtype), int(seed) or None),
    "RandomNormalLike": lambda x, *, mean=0.0, scale=1.0, dtype=0, seed=0.0:
        tf.random_normal(tf.shape(x), mean, scale, _own_type(dtype, x), int(seed) or None),
    "RandomUniform": lambda *, shape, low=0.0, high=1.0, dtype=1, seed=0.0:
        tf.random_uniform(shape, low, high, dtype_named(dtype), int(seed) or None),
    "RandomUniformLike": lambda x, *, low=0.0, high=1.0, dtype=0, seed=0.0:
        tf.random_uniform(tf.shape(x), low, high, _own_type(dtype, x), int(seed) or None)})


def _spread(parameter: Any, x: Any, axis: int, block_size: int) -> Any:
    """A scale or zero point of the whole, of each slice along an axis, or of each block along it, beside `x`."""
    rank = len(parameter.dims)
    if rank == 0 or parameter.dims == (1,):
        return tf.reshape(parameter, [])
    if rank == 1:
        return tf.reshape(parameter, [-1 if i == axis_of(axis, rank_of(x)) else 1 for i in range(rank_of(x))])
    at = axis_of(axis, rank)
    return tf.gather(parameter, tf.range(tf.shape(x)[at]) // block_size, axis=at)


@onnx.op("QuantizeLinear")
def quantize_linear(x: Any, scale: Any, zero_point: Any = None, *, axis: int = 1, block_size: int = 0,
                    output_dtype: int = 0, precision: int = 0, saturate: int = 1) -> Any:
    dtype = zero_point.dtype.base_dtype if zero_point is not None else dtype_named(output_dtype or 2)
    y = tf.round(x / like(_spread(scale, x, axis, block_size), x))
    y = y if zero_point is None else y + like(_spread(zero_point, x, axis, block_size), x)
    bounds = np.iinfo(dtype.as_numpy_dtype)
    return tf.cast(tf.clip_by_value(y, float(bounds.min), float(bounds.max)), dtype)


@onnx.op("DequantizeLinear")
def dequantize_linear(x: Any, scale: Any, zero_point: Any = None, *, axis: int = 1, block_size: int = 0,
                      output_dtype: int = 0) -> Any:
    dtype = dtype_named(output_dtype) if output_dtype else scale.dtype.base_dtype
    y = tf.cast(x, dtype)
    if zero_point is not None:
        y = y - tf.cast(_spread(zero_point, x, axis, block_size), dtype)
    return y * tf.cast(_spread(scale, x, axis, block_size), dtype)


@onnx.op("DynamicQuantizeLinear", note="outputs: the bytes, their scale and zero point")
def dynamic_quantize_linear(x: Any) -> Any:
    low, high = tf.minimum(tf.reduce_min(x), 0.0), tf.maximum(tf.reduce_max(x), 0.0)
    scale = (high - low) / 255
    zero = tf.cast(tf.clip_by_value(tf.round(-low / scale), 0.0, 255.0), tf.uint8)
    return quantize_linear(x, scale, zero), scale, zero
