"""ATen's backward ops, met where a program differentiates inside of its forward pass (create_graph, torch.func.grad).

Each is written so that it can be differentiated again.
"""
from __future__ import annotations

import math
from typing import Any

from ...model import tf
from .common import aten, axis_of, dims, number, rank, shape_of, where
from .convolutions import convolution
from .indexing import index_put, select_scatter, slice_scatter
from .layers import batch_norm, group_norm, layer_norm


@aten.op("threshold_backward")
def threshold_backward(dy: Any, x: Any, threshold: Any) -> Any:
    return where(tf.less_equal(x, number(threshold, x)), tf.zeros_like(dy), dy)


@aten.op("tanh_backward")
def tanh_backward(dy: Any, y: Any) -> Any:
    return dy * (1 - y * y)


@aten.op("sigmoid_backward")
def sigmoid_backward(dy: Any, y: Any) -> Any:
    return dy * (1 - y) * y


@aten.op("_softmax_backward_data")
def softmax_backward(dy: Any, y: Any, axis: int, dtype: Any = None) -> Any:
    product = dy * y
    return product - y * tf.reduce_sum(product, axis=axis_of(axis, rank(y)), keepdims=True)


@aten.op("_log_softmax_backward_data")
def log_softmax_backward(dy: Any, y: Any, axis: int, dtype: Any = None) -> Any:
    return dy - tf.exp(y) * tf.reduce_sum(dy, axis=axis_of(axis, rank(y)), keepdims=True)


@aten.op("softplus_backward")
def softplus_backward(dy: Any, x: Any, beta: Any, threshold: Any) -> Any:
    scaled = x * number(beta, x)
    return where(tf.greater(scaled, number(threshold, x)), dy, dy * tf.sigmoid(scaled))


@aten.op("elu_backward")
def elu_backward(dy: Any, alpha: Any, scale: Any, input_scale: Any, is_result: bool, x: Any) -> Any:
    below = number(scale * input_scale, x) * (
        x / number(scale, x) + number(alpha, x) if is_result else number(alpha, x) * tf.exp(x * number(input_scale, x)))
    return where(tf.less_equal(x, 0), dy * below, dy * number(scale, x))


@aten.op("gelu_backward")
def gelu_backward(dy: Any, x: Any, *, approximate: str = "none") -> Any:
    if approximate == "none":
        density = tf.exp(-x * x / 2) * number(1 / math.sqrt(2 * math.pi), x)
        return dy * ((1 + tf.erf(x * number(math.sqrt(0.5), x))) / 2 + x * density)
    k = number(math.sqrt(2 / math.pi), x)
    inner = tf.tanh(k * (x + number(0.044715, x) * x * x * x))
    slope = k * (1 + number(3 * 0.044715, x) * x * x)
    return dy * ((1 + inner) / 2 + x * (1 - inner * inner) * slope / 2)


@aten.op("silu_backward")
def silu_backward(dy: Any, x: Any) -> Any:
    s = tf.sigmoid(x)
    return dy * s * (1 + x * (1 - s))


@aten.op("leaky_relu_backward")
def leaky_relu_backward(dy: Any, x: Any, slope: Any, is_result: bool) -> Any:
    return where(tf.greater(x, 0), dy, dy * number(slope, dy))


@aten.op("hardtanh_backward")
def hardtanh_backward(dy: Any, x: Any, low: Any, high: Any) -> Any:
    outside = tf.logical_or(tf.less_equal(x, number(low, x)), tf.greater_equal(x, number(high, x)))
    return where(outside, tf.zeros_like(dy), dy)


@aten.op("mse_loss_backward")
def mse_loss_backward(dy: Any, x: Any, y: Any, reduction: int) -> Any:
    scale = 2 / tf.cast(tf.size(x), x.dtype) if reduction == 1 else number(2.0, x)
    return dy * (x - y) * scale


@aten.op("select_backward")
def select_backward(dy: Any, sizes: Any, axis: int, index: int) -> Any:
    return select_scatter(tf.zeros(shape_of(sizes), dy.dtype), dy, axis, index)


@aten.op("slice_backward")
def slice_backward(dy: Any, sizes: Any, axis: int, start: int, end: int, step: int) -> Any:
    return slice_scatter(tf.zeros(shape_of(sizes), dy.dtype), dy, axis, start, end, step)


@aten.op("index_backward")
def index_backward(zeros: Any, indices: Any, dy: Any) -> Any:
    return index_put(zeros, indices, dy, True)


@aten.op("embedding_dense_backward", "embedding_backward")
def embedding_backward(dy: Any, ids: Any, count: int, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    rows = tf.reshape(dy, shape_of([-1, dims(dy)[-1]]))
    flat = tf.reshape(ids, [-1])
    rows = rows * tf.cast(tf.not_equal(flat, padding_idx), dy.dtype)[:, None]
    return tf.math.unsorted_segment_sum(rows, flat, count)


def _slopes(y: Any, xs: Any, dy: Any) -> list[Any]:
    """Gradients of y by rules of the forward op; what is not there has none."""
    found = iter(tf.gradients(y, [x for x in xs if x is not None], dy))
    return [None if x is None else next(found) for x in xs]


@aten.op("convolution_backward")
def convolution_backward(dy: Any, x: Any, weight: Any, bias_sizes: Any, *how: Any) -> Any:
    y = convolution(x, weight, None, *how[:-1])
    dx, dweight = _slopes(y, [x, weight], dy)
    return dx, dweight, tf.reduce_sum(dy, axis=[a for a in range(rank(dy)) if a != 1])


@aten.op("native_layer_norm_backward")
def layer_norm_backward(dy: Any, x: Any, sizes: Any, mean: Any, rstd: Any, weight: Any, bias: Any, mask: Any) -> Any:
    return _slopes(layer_norm(x, sizes, weight, bias)[0], [x, weight, bias], dy)


@aten.op("native_batch_norm_backward")
def batch_norm_backward(dy: Any, x: Any, weight: Any, mean: Any, var: Any, save_mean: Any, save_rstd: Any,
                        train: bool, eps: float, mask: Any) -> Any:
    y = batch_norm(x, weight, None, mean, var, train, 0.1, eps)[0]
    dx, dweight = _slopes(y, [x, weight], dy)
    return dx, dweight, tf.reduce_sum(dy, axis=[a for a in range(rank(dy)) if a != 1])


@aten.op("native_group_norm_backward")
def group_norm_backward(dy: Any, x: Any, mean: Any, rstd: Any, weight: Any, count: Any, channels: Any, size: Any,
                        groups: int, mask: Any) -> Any:
    y = group_norm(x, weight, None, count, channels, size, groups, 1e-5)[0]
    dx, dweight = _slopes(y, [x, weight], dy)
    return dx, dweight, tf.reduce_sum(dy, axis=[a for a in range(rank(dy)) if a != 1])
