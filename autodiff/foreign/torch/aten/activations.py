"""ATen's activation functions, with torch's slopes at their kinks."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...model import tf
from ...onnx.elementwise import gelu
from .common import as_type, aten, floating, no_gradient, number, on_axis, where


@aten.op("hardtanh", note="no slope at the bounds")
def hardtanh(x: Any, low: Any = -1.0, high: Any = 1.0) -> Any:
    low, high = number(low, x), number(high, x)
    return where(tf.less_equal(x, low), low, where(tf.greater_equal(x, high), high, x))


@aten.op("hardswish", note="no slope at -3 and below")
def hardswish(x: Any) -> Any:
    inside = x * (x / 6 + number(0.5, x))
    return where(tf.less_equal(x, -3), tf.zeros_like(x), where(tf.less(x, 3), inside, x))


@aten.op("leaky_relu")
def leaky_relu(x: Any, slope: Any = 0.01) -> Any:
    if x.dtype.base_dtype is tf.float64:  # our op's own slope is a float32
        return where(tf.greater(x, 0), x, number(slope, x) * x)
    return tf.nn.leaky_relu(x, alpha=slope)


@aten.op("elu")
def elu(x: Any, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Any:
    if alpha == scale == input_scale == 1:
        return tf.nn.elu(x)
    below = tf.expm1(tf.minimum(x, 0) * number(input_scale, x)) * number(alpha, x)
    return where(tf.greater(x, 0), x, below) * number(scale, x)


@aten.op("softplus")
def softplus(x: Any, beta: Any = 1, threshold: Any = 20) -> Any:
    scaled = x * number(beta, x)
    return where(tf.greater(scaled, number(threshold, x)), x, tf.nn.softplus(scaled) / number(beta, x))


@aten.op("softshrink")
def softshrink(x: Any, bound: Any = 0.5) -> Any:
    bound = number(bound, x)
    return where(tf.greater(x, bound), x - bound, where(tf.less(x, -bound), x + bound, x * 0))


@aten.op("_safe_softmax", note="rows that are -inf throughout are zero")
@on_axis
def safe_softmax(x: Any, axis: int, dtype: Any = None) -> Any:
    x = as_type(x, dtype)
    hidden = tf.reduce_all(tf.equal(x, number(-np.inf, x)), axis=axis, keepdims=True)
    return where(hidden, tf.zeros_like(x), tf.nn.softmax(where(hidden, tf.zeros_like(x), x), axis=axis))


def _softmax(function: Any) -> Any:
    return on_axis(lambda x, axis, half_to_float=False, dtype=None: function(floating(as_type(x, dtype)), axis=axis))


def _gated(x: Any, axis: int = -1) -> Any:
    a, b = tf.split(x, 2, axis=axis)
    return a * tf.sigmoid(b)


aten.rows({
    "gelu": lambda x, *, approximate="none": gelu(x, approximate=approximate),
    "relu6": lambda x: hardtanh(x, 0.0, 6.0),
    "hardsigmoid": lambda x: hardtanh(x, -3.0, 3.0) / 6 + number(0.5, x),
    "selu": lambda x: elu(x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946),
    "celu": lambda x, alpha=1.0: elu(x, alpha, 1, 1 / alpha),
    "silu": lambda x: x * tf.sigmoid(x),
    "mish": lambda x: x * tf.tanh(tf.nn.softplus(x)),
    "hardshrink": lambda x, bound=0.5: where(tf.less_equal(tf.abs(x), number(bound, x)), tf.zeros_like(x), x),
    "relu": lambda x: tf.nn.relu(x),
    "log_sigmoid_forward log_sigmoid": lambda x: (-tf.nn.softplus(-x), tf.zeros([0], x.dtype.base_dtype)),
    "rrelu_with_noise": (lambda x, noise, lower=0.125, upper=1 / 3, training=False:
        x * noise if training else leaky_relu(x, (lower + upper) / 2), "noise: what torch drew"),
    "_softmax softmax": _softmax(tf.nn.softmax),
    "_log_softmax log_softmax": _softmax(tf.nn.log_softmax),
    "logcumsumexp": on_axis(lambda x, axis: tf.math.cumulative_logsumexp(x, axis=axis)),
    "glu": on_axis(_gated),
    "_prelu_kernel prelu": lambda x, weight: where(tf.greater(x, 0), x, weight * x),
    "threshold": lambda x, threshold, value: where(tf.less_equal(x, number(threshold, x)), number(value, x), x),
    "native_dropout.kept": (lambda x, mask, p: (x * tf.cast(mask, x.dtype.base_dtype) * number(
        1 / (1 - p) if p < 1 else 0.0, x), no_gradient(mask)), "mask: what torch drew"),
})
