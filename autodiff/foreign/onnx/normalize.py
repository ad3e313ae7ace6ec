"""ONNX ops that normalize: by batch, layer, group, instance, norm, and neighboring channels."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model import tf
from .table import Node, axis_of, dtype_named, like, onnx, rank_of, reshaped, size_of, sizes_of


def _by_channel(parameter: Any, x: Any) -> Any:
    """float[c] so that it broadcasts with float[n, c, ...]."""
    return tf.reshape(parameter, [-1, *[1] * (rank_of(x) - 2)])


def _moments(x: Any, axes: Sequence[int]) -> tuple[Any, Any]:
    mean = tf.reduce_mean(x, axes, keepdims=True)
    return mean, tf.reduce_mean(tf.square(x - mean), axes, keepdims=True)


@onnx.op("BatchNormalization", note="training gives the running mean and variance that follow, and updates nothing")
def batch_normalization(x: Any, scale: Any, shift: Any, mean: Any, variance: Any, *, epsilon: float = 1e-5,
                        momentum: float = 0.9, training_mode: int = 0, spatial: int = 1, is_test: int = 1) -> Any:
    if not training_mode:
        spread = tf.rsqrt(_by_channel(variance, x) + like(epsilon, variance))
        return _like_input((x - _by_channel(mean, x)) * (spread * _by_channel(scale, x)) + _by_channel(shift, x), x)
    axes = [0, *range(2, rank_of(x))]
    current, variance_now = _moments(x, axes)
    y = (x - current) * tf.rsqrt(variance_now + epsilon) * _by_channel(scale, x) + _by_channel(shift, x)
    return (y, mean * momentum + tf.reshape(current, [-1]) * (1 - momentum),
            variance * momentum + tf.reshape(variance_now, [-1]) * (1 - momentum))


def _like_input(y: Any, x: Any) -> Any:
    return y if y.dtype.base_dtype == x.dtype.base_dtype else tf.cast(y, x.dtype.base_dtype)


def _stashed(x: Any, stash_type: int) -> Any:
    """`x` in the type that a normalization computes in, unless its own is wider."""
    dtype = dtype_named(stash_type)
    return tf.cast(x, dtype) if x.dtype.base_dtype.size < dtype.size else x


@onnx.op("LayerNormalization")
def layer_normalization(x: Any, scale: Any, shift: Any = None, *, axis: int = -1, epsilon: float = 1e-5,
                        stash_type: int = 1) -> Any:
    rank = rank_of(x)
    wide = _stashed(x, stash_type)
    mean, variance = _moments(wide, list(range(axis_of(axis, rank), rank)))
    spread = tf.rsqrt(variance + epsilon)
    y = _like_input((wide - mean) * spread, x) * scale
    return y if shift is None else y + shift, mean, spread


@onnx.op("RMSNormalization")
def rms_normalization(x: Any, scale: Any, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1) -> Any:
    rank = rank_of(x)
    wide = _stashed(x, stash_type)
    mean = tf.reduce_mean(tf.square(wide), list(range(axis_of(axis, rank), rank)), keepdims=True)
    return _like_input(wide * tf.rsqrt(mean + epsilon), x) * scale


@onnx.op("InstanceNormalization")
def instance_normalization(x: Any, scale: Any, shift: Any, *, epsilon: float = 1e-5) -> Any:
    mean, variance = _moments(x, list(range(2, rank_of(x))))
    return (x - mean) * tf.rsqrt(variance + epsilon) * _by_channel(scale, x) + _by_channel(shift, x)


@onnx.op("GroupNormalization", note="from version 21 on there is a scale for each channel, before for each group")
def group_normalization(x: Any, scale: Any, shift: Any, *, num_groups: int, epsilon: float = 1e-5,
                        stash_type: int = 1, node: Node) -> Any:
    sizes = sizes_of(x)
    parts = reshaped(_stashed(x, stash_type), [sizes[0], num_groups, sizes[1] // num_groups, *sizes[2:]])
    mean, variance = _moments(parts, list(range(2, len(sizes) + 1)))
    normal = (parts - mean) * tf.rsqrt(variance + epsilon)
    if node.version >= 21:
        return _like_input(reshaped(normal, sizes), x) * _by_channel(scale, x) + _by_channel(shift, x)
    by_group = [tf.reshape(p, [-1, *[1] * (len(sizes) - 1)]) for p in (scale, shift)]
    return reshaped(_like_input(normal, x) * by_group[0] + by_group[1], sizes)


@onnx.op("MeanVarianceNormalization")
def mean_variance_normalization(x: Any, *, axes: Any = (0, 2, 3)) -> Any:
    mean, variance = _moments(x, list(axes))
    return (x - mean) / (tf.sqrt(variance) + 1e-9)


@onnx.op("LpNormalization", note="where the norm is 0, so is the result")
def lp_normalization(x: Any, *, axis: int = -1, p: int = 2) -> Any:
    if p == 1:
        return tf.div_no_nan(x, tf.reduce_sum(tf.abs(x), axis, keepdims=True))
    return tf.div_no_nan(x, tf.sqrt(tf.reduce_sum(tf.square(x), axis, keepdims=True)))


@onnx.op("LRN")
def lrn(x: Any, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0) -> Any:
    before, rest = (size - 1) // 2, [[0, 0]] * (rank_of(x) - 2)
    squares = tf.pad(tf.square(x), [[0, 0], [before, size - 1 - before], *rest])
    running = tf.pad(tf.cumsum(squares, 1), [[0, 0], [1, 0], *rest])
    count = size_of(x, 1)
    window = running[:, size:size + count] - running[:, :count]
    return x / tf.pow(bias + alpha / size * window, beta)
