"""ATen's activation functions with torch's slopes at their kinks, normalisations, attention and recurrent layers."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...model import tf
from ...onnx.elementwise import gelu
from .common import aten, dims, on_axis, rank, shape_of
from .reductions import moments
from .types import as_type, floating, no_gradient, number, where


@aten.op("hardtanh", note="no slope at the bounds")
def hardtanh(x: Any, low: Any = -1.0, high: Any = 1.0) -> Any:
    low, high = number(low, x), number(high, x)
    return where(tf.less_equal(x, low), low, where(tf.greater_equal(x, high), high, x))


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
    "hardswish": (lambda x: where(tf.less_equal(x, -3), tf.zeros_like(x), where(
        tf.less(x, 3), x * (x / 6 + number(0.5, x)), x)), "no slope at -3 and below"),
    "softplus": lambda x, beta=1, threshold=20: where(tf.greater(
        x * number(beta, x), number(threshold, x)), x, tf.nn.softplus(x * number(beta, x)) / number(beta, x)),
    "softshrink": lambda x, bound=0.5: where(tf.greater(x, number(bound, x)), x - number(bound, x), where(
        tf.less(x, number(-bound, x)), x + number(bound, x), x * 0)),
    "gelu": lambda x, *, approximate="none": gelu(x, approximate=approximate),
    "relu6": lambda x: hardtanh(x, 0.0, 6.0),
    "hardsigmoid": lambda x: hardtanh(x, -3.0, 3.0) / 6 + number(0.5, x),
    "selu": lambda x: elu(x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946),
    "celu": lambda x, alpha=1.0: elu(x, alpha, 1, 1 / alpha), "silu": lambda x: x * tf.sigmoid(x),
    "mish": lambda x: x * tf.tanh(tf.nn.softplus(x)),
    "hardshrink": lambda x, bound=0.5: where(tf.less_equal(tf.abs(x), number(bound, x)), tf.zeros_like(x), x),
    "relu": lambda x: tf.nn.relu(x),
    "log_sigmoid_forward log_sigmoid": lambda x: (-tf.nn.softplus(-x), tf.zeros([0], x.dtype.base_dtype)),
    "rrelu_with_noise": (lambda x, noise, lower=0.125, upper=1 / 3, training=False:
        x * noise if training else leaky_relu(x, (lower + upper) / 2), "noise: what torch drew"),
    "_softmax softmax": _softmax(tf.nn.softmax), "_log_softmax log_softmax": _softmax(tf.nn.log_softmax),
    "logcumsumexp": on_axis(lambda x, axis: tf.math.cumulative_logsumexp(x, axis=axis)),
    "glu": on_axis(_gated),
    "_prelu_kernel prelu": lambda x, weight: where(tf.greater(x, 0), x, weight * x),
    "threshold": lambda x, threshold, value: where(tf.less_equal(x, number(threshold, x)), number(value, x), x),
    "native_dropout.kept": (lambda x, mask, p: (x * tf.cast(mask, x.dtype.base_dtype) * number(
        1 / (1 - p) if p < 1 else 0.0, x), no_gradient(mask)), "mask: what torch drew")})


def _per_channel(values: Any, count: int) -> Any:
    """[c] so that it broadcasts over [n, c, ...]."""
    return None if values is None else tf.reshape(values, [1, -1] + [1] * (count - 2))


def _scaled(x: Any, weight: Any, bias: Any) -> Any:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def _normalized(x: Any, variance: Any, middle: Any, eps: float) -> tuple[Any, Any]:
    scale = tf.rsqrt(variance + number(eps, x))
    return (x - middle) * scale, scale


@aten.op("native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm", "miopen_batch_norm")
def batch_norm(x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Any:
    count = rank(x)
    axes = [a for a in range(count) if a != 1]
    if training or running_mean is None:
        variance, middle = moments(x, axes, 0, True)
    else:
        middle, variance = _per_channel(running_mean, count), _per_channel(running_var, count)
    y, scale = _normalized(x, variance, middle, eps)
    flat = lambda v: tf.reshape(v, [-1])  # noqa: E731
    return _scaled(y, _per_channel(weight, count), _per_channel(bias, count)), no_gradient(flat(middle)), no_gradient(
        flat(scale))


@aten.op("native_layer_norm", "layer_norm")
def layer_norm(x: Any, sizes: Any, weight: Any, bias: Any, eps: float = 1e-5) -> Any:
    axes = list(range(rank(x) - len(sizes), rank(x)))
    variance, middle = moments(x, axes, 0, True)
    y, scale = _normalized(x, variance, middle, eps)
    return _scaled(y, weight, bias), no_gradient(middle), no_gradient(scale)


@aten.op("native_group_norm")
def group_norm(x: Any, weight: Any, bias: Any, count: Any, channels: Any, size: Any, groups: int, eps: float) -> Any:
    shape = shape_of(dims(x))
    variance, middle = moments(tf.reshape(x, shape_of([count, groups, -1])), [2], 0, True)
    y, scale = _normalized(tf.reshape(x, shape_of([count, groups, -1])), variance, middle, eps)
    n = rank(x)
    y = _scaled(tf.reshape(y, shape), _per_channel(weight, n), _per_channel(bias, n))
    return y, tf.squeeze(middle, axis=[2]), tf.squeeze(scale, axis=[2])


@aten.op("_fused_rms_norm", "rms_norm")
def rms_norm(x: Any, sizes: Any, weight: Any = None, eps: float | None = None) -> Any:
    axes = list(range(rank(x) - len(sizes), rank(x)))
    eps = float(np.finfo(x.dtype.as_numpy_dtype).eps) if eps is None else eps
    scale = tf.rsqrt(tf.reduce_mean(tf.square(x), axis=axes, keepdims=True) + number(eps, x))
    return _scaled(x * scale, weight, None), scale


@aten.op("_weight_norm_interface", "_weight_norm")
def weight_norm(v: Any, g: Any, axis: int = 0) -> Any:
    size = tf.sqrt(tf.reduce_sum(tf.square(v), axis=[a for a in range(rank(v)) if a != axis], keepdims=True))
    return v * (g / size), size


@aten.op("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_attention_math",
      "_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention", "_scaled_dot_product_attention_"
      "math_for_mps", "scaled_dot_product_attention", note="without dropout")
def attention(q: Any, k: Any, v: Any, dropout_p: Any = 0.0, is_causal: bool = False, *, attn_mask: Any = None,
              scale: float | None = None, **_: Any) -> Any:
    if not isinstance(dropout_p, float) and dropout_p is not None:  # here the mask comes fourth
        attn_mask = dropout_p
    if rank(q) > 3 and q.dims[-3] != k.dims[-3]:  # a head of keys and values for several of queries
        k, v = (tf.repeat(each, q.dims[-3] // each.dims[-3], axis=-3) for each in (k, v))
    size = q.dims[-1]
    factor = math.sqrt(1 / math.sqrt(size) if scale is None else scale)
    turned = tf.linalg.matrix_transpose(k) * number(factor, k)
    scores = tf.matmul(q * number(factor, q), turned)
    if is_causal:
        rows, columns = scores.dims[-2:]
        scores = where(tf.constant(np.tri(rows, columns, dtype=bool)), scores, number(-np.inf, scores))
    if attn_mask is not None:
        if attn_mask.dtype.base_dtype is tf.bool:
            scores = where(attn_mask, scores, number(-np.inf, scores))
        else:
            scores = scores + as_type(attn_mask, scores.dtype.base_dtype)
    return tf.matmul(safe_softmax(scores, -1), v), lambda: tf.reduce_logsumexp(scores, axis=-1)


@aten.op("_native_multi_head_attention", note="what nn.MultiheadAttention is in eval mode without gradients")
def heads_of_attention(q: Any, k: Any, v: Any, width: int, heads: int, weight: Any, bias: Any, w_out: Any, b_out: Any,
                       mask: Any = None, need_weights: bool = True, average: bool = True, kind: Any = None) -> Any:
    """mask: True where nothing is to be looked at; kind: 0 of bool[time, time], 1 of bool[batch, time]."""
    def split(x: Any, w: Any, b: Any) -> Any:
        found = tf.tensordot(x, w, axes=[[2], [1]]) + b
        return tf.transpose(tf.reshape(found, shape_of([*dims(x)[:2], heads, width // heads])), [0, 2, 1, 3])

    q, k, v = map(split, (q, k, v), tf.split(weight, 3), tf.split(bias, 3))
    scores = tf.matmul(q * number((width // heads) ** -0.5, q), k, transpose_b=True)
    if mask is not None:
        hidden = tf.expand_dims(tf.expand_dims(tf.cast(mask, tf.bool), 1), 1) if kind == 1 else tf.cast(mask, tf.bool)
        scores = where(hidden, number(-np.inf, scores), scores)
    shares = safe_softmax(scores, -1)
    y = tf.transpose(tf.matmul(shares, v), [0, 2, 1, 3])
    y = tf.tensordot(tf.reshape(y, shape_of([*dims(y)[:2], width])), w_out, axes=[[2], [1]]) + b_out
    return y, (lambda: tf.reduce_mean(shares, 1) if average else shares) if need_weights else None


@aten.op("_transformer_encoder_layer_fwd", note="what nn.TransformerEncoderLayer is in eval mode without gradients")
def encoder_layer(x: Any, width: int, heads: int, weight: Any, bias: Any, w_out: Any, b_out: Any, use_gelu: bool,
                  norm_first: bool, eps: float, w_norm: Any, b_norm: Any, w_norm_2: Any, b_norm_2: Any, w_up: Any,
                  b_up: Any, w_down: Any, b_down: Any, mask: Any = None, kind: Any = None) -> Any:
    def normal(x: Any, w: Any, b: Any) -> Any:
        return layer_norm(x, [width], w, b, eps)[0]

    def attended(x: Any) -> Any:
        return heads_of_attention(x, x, x, width, heads, weight, bias, w_out, b_out, mask, False, True, kind)[0]

    def through(x: Any) -> Any:
        wide = tf.tensordot(x, w_up, axes=[[2], [1]]) + b_up
        wide = gelu(wide, approximate="none") if use_gelu else tf.nn.relu(wide)
        return tf.tensordot(wide, w_down, axes=[[2], [1]]) + b_down

    if norm_first:
        x = x + attended(normal(x, w_norm, b_norm))
        return x + through(normal(x, w_norm_2, b_norm_2))
    x = normal(x + attended(x), w_norm, b_norm)
    return normal(x + through(x), w_norm_2, b_norm_2)


@aten.op("_pack_padded_sequence", note="the steps of a batch one after another, without what pads it")
def pack_padded_sequence(x: Any, lengths: Any, batch_first: bool) -> Any:
    x = tf.transpose(x, [1, 0, *range(2, rank(x))]) if batch_first else x
    is_there = tf.less(tf.expand_dims(tf.range(dims(x)[0], dtype=tf.int64), 1), lengths)
    sizes = tf.reduce_sum(tf.cast(is_there, tf.int64), 1)
    return tf.boolean_mask(x, is_there), tf.boolean_mask(sizes, tf.greater(sizes, 0))


@aten.op("_pad_packed_sequence")
def pad_packed_sequence(x: Any, sizes: Any, batch_first: bool, padding: float, length: int) -> Any:
    is_there = tf.less(tf.range(sizes[0]), tf.expand_dims(sizes, 1))
    if length > 0:
        is_there = tf.pad(is_there, [[0, length - tf.shape(sizes)[0]], [0, 0]])
    full = tf.scatter_nd(tf.where(is_there), x, tf.concat([tf.shape(is_there, out_type=tf.int64), tf.shape(
        x, out_type=tf.int64)[1:]], 0))
    wide = tf.reshape(is_there, tf.concat([tf.shape(is_there), tf.ones([rank(x) - 1], tf.int32)], 0))
    full = where(wide, full, number(padding, x))
    return (tf.transpose(full, [1, 0, *range(2, rank(x) + 1)]) if batch_first else full,
            tf.reduce_sum(tf.cast(is_there, tf.int64), 0))


@aten.op("mkldnn_rnn_layer", note="one layer in one direction; the gates in torch's order")
def rnn_layer(x: Any, w_input: Any, w_state: Any, b_input: Any, b_state: Any, h: Any, c: Any, reverse: bool,
              batch_sizes: Any, mode: int, hidden: int, layers: int, has_biases: bool, bidirectional: bool,
              batch_first: bool, train: bool) -> Any:
    """mode: 0 relu, 1 tanh, 2 LSTM, 3 GRU. x: float[time, batch, n]."""
    shape = tf.shape(h)
    h, c = tf.reshape(h, shape_of(dims(h)[-2:])), tf.reshape(c, shape_of(dims(c)[-2:])) if mode == 2 else None
    known = tf.tensordot(x, w_input, axes=[[2], [1]])
    known = known + b_input if has_biases else known
    steps = tf.unstack(known, axis=0)
    outputs = []
    for step in reversed(steps) if reverse else steps:
        h, c = _cell(mode, step, h, c, w_state, b_state if has_biases else None)
        outputs.append(h)
    y = tf.stack(outputs[::-1] if reverse else outputs, axis=0)
    return y, tf.reshape(h, shape), tf.reshape(c if mode == 2 else h, shape), tf.zeros([0], tf.uint8)


def _cell(mode: int, given: Any, h: Any, c: Any, weight: Any, bias: Any) -> tuple[Any, Any]:
    """One step. given: what the input contributes to the gates."""
    state = tf.matmul(h, weight, transpose_b=True)
    state = state if bias is None else state + bias
    if mode == 2:
        return lstm_cell(given, state, c)[:2]
    if mode == 3:
        (r, z, n), (hr, hz, hn) = tf.split(given, 3, axis=1), tf.split(state, 3, axis=1)
        z = tf.sigmoid(z + hz)
        n = tf.tanh(n + tf.sigmoid(r + hr) * hn)
        return (1 - z) * n + z * h, None
    return (tf.nn.relu if mode == 0 else tf.tanh)(given + state), None


@aten.op("_thnn_fused_lstm_cell")
def lstm_cell(given: Any, state: Any, c: Any, b_input: Any = None, b_state: Any = None) -> Any:
    gates = given + state
    gates = gates if b_input is None else gates + b_input + b_state
    i, f, g, o = tf.split(gates, 4, axis=1)
    c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
    return tf.sigmoid(o) * tf.tanh(c), c, gates


aten.rows({
    "_native_batch_norm_legit.no_stats": lambda x, weight, bias, training, momentum, eps:
        batch_norm(x, weight, bias, None, None, True, momentum, eps),
    "_native_batch_norm_legit_no_training _batch_norm_no_update": lambda x, weight, bias, mean, var, momentum, eps:
        batch_norm(x, weight, bias, mean, var, False, momentum, eps),
    "_batch_norm_with_update _batch_norm_with_update_functional": lambda x, weight, bias, mean, var, momentum, eps:
        (*batch_norm(x, weight, bias, mean, var, True, momentum, eps), tf.zeros([0], tf.uint8))})
