"""ONNX ops that reduce axes or normalize, and losses of class scores."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..model import tf
from .sizes import axis_of, moved, rank_of, reshaped, shape_of, size_of, sizes_of
from .table import Node, dtype_named, ints, like, onnx, text


def _reduction(name: str, of: Callable[..., Any]) -> None:
    """Declare a reduction. of(x, axes, keepdims), where no axes are all."""
    @onnx.op(name)
    def build(x: Any, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Any:
        known = ints(axes)
        is_empty = axes is None or known == [] or known is None and axes.dims == (0,)
        if is_empty:
            return tf.identity(x) if noop_with_empty_axes else of(x, None, bool(keepdims))
        return of(x, axes if known is None else known, bool(keepdims))


def _log_sum_exp(x: Any, axes: Any, keep: bool) -> Any:
    """The largest is taken out first, and has no gradient of its own; of nothing it is -inf."""
    top = tf.stop_gradient(tf.reduce_max(x, axes, keepdims=True))
    top = tf.where_v2(tf.is_finite(top), top, tf.zeros_like(top))
    rest = tf.log(tf.reduce_sum(tf.exp(x - top), axes, keepdims=keep))
    return rest + (top if keep else tf.reshape(top, tf.shape(rest)))


def _extreme(of: Callable[..., Any]) -> Callable[..., Any]:
    """A largest or smallest element, which ONNX knows of truth values too."""
    def found(x: Any, axes: Any, keep: bool) -> Any:
        if x.dtype.base_dtype == tf.bool:
            return tf.cast(of(tf.cast(x, tf.uint8), axes, keep), tf.bool)
        return of(x, axes, keep)
    return found


for _name, _function in {"Sum": tf.reduce_sum, "Mean": tf.reduce_mean, "Prod": tf.reduce_prod,
                         "Max": _extreme(tf.reduce_max), "Min": _extreme(tf.reduce_min)}.items():
    _reduction(f"Reduce{_name}", _function)
_reduction("ReduceL1", lambda x, axes, keep: tf.reduce_sum(tf.abs(x), axes, keep))
_reduction("ReduceL2", lambda x, axes, keep: tf.sqrt(tf.reduce_sum(tf.square(x), axes, keep)))
_reduction("ReduceSumSquare", lambda x, axes, keep: tf.reduce_sum(tf.square(x), axes, keep))
_reduction("ReduceLogSum", lambda x, axes, keep: tf.log(tf.reduce_sum(x, axes, keep)))
_reduction("ReduceLogSumExp", _log_sum_exp)


def _flat_before_13(x: Any, axis: Any, node: Node) -> tuple[Any, int]:
    """Old versions of softmax and its kin see a matrix: the axes before `axis`, and those from it on."""
    if node.version >= 13 or axis in (-1, rank_of(x) - 1):
        return x, axis_of(-1 if axis is None else axis, rank_of(x))
    at = axis_of(1 if axis is None else axis, rank_of(x))
    rows: Any = 1
    for size in sizes_of(x)[:at]:
        rows = rows * size
    return reshaped(x, [rows, -1]), 1


def _along(of: Callable[[Any, int], Any]) -> Callable[..., Any]:
    def build(x: Any, *, axis: Any = None, node: Node) -> Any:
        flat, at = _flat_before_13(x, axis, node)
        y = of(flat, at)
        return y if flat is x else tf.reshape(y, shape_of(x))
    return build


def _by_channel(parameter: Any, x: Any) -> Any:
    """float[c] so that it broadcasts with float[n, c, ...]."""
    return tf.reshape(parameter, [-1, *[1] * (rank_of(x) - 2)])


def _moments(x: Any, axes: Sequence[int]) -> tuple[Any, Any]:
    mean = tf.reduce_mean(x, axes, keepdims=True)
    return mean, tf.reduce_mean(tf.square(x - mean), axes, keepdims=True)


def _standard(x: Any, axes: Sequence[int], epsilon: float) -> Any:
    mean, variance = _moments(x, axes)
    return (x - mean) * tf.rsqrt(variance + epsilon)


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


@onnx.op("GroupNormalization", note="from version 21 on there is a scale for each channel, before for each group")
def group_normalization(x: Any, scale: Any, shift: Any, *, num_groups: int, epsilon: float = 1e-5,
                        stash_type: int = 1, node: Node) -> Any:
    sizes = sizes_of(x)
    parts = reshaped(_stashed(x, stash_type), [sizes[0], num_groups, sizes[1] // num_groups, *sizes[2:]])
    normal = _standard(parts, list(range(2, len(sizes) + 1)), epsilon)
    if node.version >= 21:
        return _like_input(reshaped(normal, sizes), x) * _by_channel(scale, x) + _by_channel(shift, x)
    by_group = [tf.reshape(p, [-1, *[1] * (len(sizes) - 1)]) for p in (scale, shift)]
    return reshaped(_like_input(normal, x) * by_group[0] + by_group[1], sizes)


@onnx.op("MeanVarianceNormalization")
def mean_variance_normalization(x: Any, *, axes: Any = (0, 2, 3)) -> Any:
    mean, variance = _moments(x, list(axes))
    return (x - mean) / (tf.sqrt(variance) + 1e-9)


@onnx.op("LRN")
def lrn(x: Any, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0) -> Any:
    before, rest = (size - 1) // 2, [[0, 0]] * (rank_of(x) - 2)
    squares = tf.pad(tf.square(x), [[0, 0], [before, size - 1 - before], *rest])
    running = tf.pad(tf.cumsum(squares, 1), [[0, 0], [1, 0], *rest])
    count = size_of(x, 1)
    window = running[:, size:size + count] - running[:, :count]
    return x / tf.pow(bias + alpha / size * window, beta)


def weighted_likelihood(x: Any, target: Any, weight: Any, ignored: Any, axis: int = 1) -> tuple[Any, Any]:
    """The negative log likelihood of each label, by its weight, and that weight. x: float[n, classes, ...], of logs."""
    kept = None if ignored is None else tf.not_equal(target, like(ignored, target))
    classes = target if kept is None else tf.where_v2(kept, target, tf.zeros_like(target))
    loss = -tf.squeeze(tf.gather(moved(x, axis, -1), tf.expand_dims(classes, -1), batch_dims=len(x.dims) - 1), [-1])
    weights = tf.ones_like(loss) if weight is None else tf.gather(weight, classes)
    loss = loss if weight is None else loss * weights
    if kept is None:
        return loss, weights
    none = tf.zeros_like(weights)
    return tf.where_v2(kept, loss, none), tf.where_v2(kept, weights, none)


@onnx.op("NegativeLogLikelihoodLoss")
def negative_log_likelihood_loss(x: Any, target: Any, weight: Any = None, *, reduction: Any = b"mean",
                                 ignore_index: Any = None) -> Any:
    losses, weights = weighted_likelihood(x, target, weight, ignore_index)
    if text(reduction) == "mean":
        is_plain = weight is None and ignore_index is None
        return tf.reduce_mean(losses) if is_plain else tf.reduce_sum(losses) / tf.reduce_sum(weights)
    return tf.reduce_sum(losses) if text(reduction) == "sum" else losses


@onnx.op("SoftmaxCrossEntropyLoss", note="the second output is the log of the softmax")
def softmax_cross_entropy_loss(scores: Any, labels: Any, weights: Any = None, *, reduction: Any = b"mean",
                               ignore_index: Any = None) -> Any:
    logs = tf.nn.log_softmax(scores, axis=1)
    return negative_log_likelihood_loss(logs, labels, weights, reduction=reduction, ignore_index=ignore_index), logs


onnx.rows({
    "Softmax": _along(tf.nn.softmax), "LogSoftmax": _along(tf.nn.log_softmax),
    "Hardmax": _along(lambda x, axis: tf.one_hot(tf.argmax(x, axis), tf.cast(size_of(x, axis), tf.int32),
                                                 dtype=x.dtype.base_dtype, axis=axis)),
    "InstanceNormalization": lambda x, scale, shift, *, epsilon=1e-5:
        _standard(x, list(range(2, rank_of(x))), epsilon) * _by_channel(scale, x) + _by_channel(shift, x),
    "LpNormalization": (lambda x, *, axis=-1, p=2: tf.div_no_nan(x, tf.reduce_sum(tf.abs(
        x), axis, keepdims=True) if p == 1 else tf.sqrt(tf.reduce_sum(tf.square(x), axis, keepdims=True))),
        "where the norm is 0, so is the result")})
