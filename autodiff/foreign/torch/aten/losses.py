"""ATen's losses. reduction: 0 none, 1 the mean, 2 the sum."""
from __future__ import annotations

import math
from typing import Any

from ...model import tf
from ...onnx.normalize import weighted_likelihood
from .common import aten, dims, rank, with_gradient
from .types import as_type, joint, no_gradient, number, promoted, where


def reduced(x: Any, reduction: int) -> Any:
    """The losses of elements, their mean or their sum."""
    return x if reduction == 0 else tf.reduce_mean(x) if reduction == 1 else tf.reduce_sum(x)


@aten.op("huber_loss")
def huber_loss(x: Any, y: Any, reduction: int = 1, delta: float = 1.0) -> Any:
    x, y = promoted(x, y)
    away, delta = tf.abs(x - y), number(delta, x)
    return reduced(where(tf.less_equal(away, delta), away * away / 2, delta * (away - delta / 2)), reduction)


@aten.op("smooth_l1_loss")
def smooth_l1_loss(x: Any, y: Any, reduction: int = 1, beta: float = 1.0) -> Any:
    x, y = promoted(x, y)
    away = tf.abs(x - y)
    if not beta:
        return reduced(away, reduction)
    beta = number(beta, x)
    return reduced(where(tf.less(away, beta), away * away / (2 * beta), away - beta / 2), reduction)


@aten.op("binary_cross_entropy", note="logarithms are at least -100, and the slope is bounded as torch's")
def binary_cross_entropy(x: Any, y: Any, weight: Any = None, reduction: int = 1) -> Any:
    flat, least = no_gradient(x), number(-100.0, x)
    value = -(y * tf.maximum(tf.log(flat), least) + (1 - y) * tf.maximum(tf.log1p(-flat), least))
    bottom = tf.maximum((1 - flat) * flat, number(1e-12, x))
    target_slope = tf.log1p(-flat) - tf.log(flat)
    loss = with_gradient(value, [x, y], lambda dy: (dy * (flat - no_gradient(y)) / bottom, dy * target_slope))
    return reduced(loss if weight is None else loss * weight, reduction)


@aten.op("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(x: Any, y: Any, weight: Any = None, pos_weight: Any = None,
                                     reduction: int = 1) -> Any:
    smooth = tf.nn.softplus(-x)
    loss = (1 - y) * x + (smooth if pos_weight is None else ((pos_weight - 1) * y + 1) * smooth)
    return reduced(loss if weight is None else loss * weight, reduction)


@aten.op("poisson_nll_loss")
def poisson_nll_loss(x: Any, y: Any, log_input: bool, full: bool, eps: float, reduction: int) -> Any:
    loss = tf.exp(x) - y * x if log_input else x - y * tf.log(x + number(eps, x))
    if full:
        stirling = y * tf.log(y) - y + tf.log(y * number(2 * math.pi, y)) / 2
        loss = loss + where(tf.greater(y, 1), stirling, tf.zeros_like(y))
    return reduced(loss, reduction)


@aten.op("nll_loss_forward", "nll_loss2d_forward", "nll_loss", "nll_loss2d", "nll_loss_nd",
      note="the loss, and the weight of all that counts")
def nll_loss(x: Any, y: Any, weight: Any = None, reduction: int = 1, ignore_index: int = -100) -> Any:
    losses, weights = weighted_likelihood(x, y, weight, ignore_index, 1 if rank(x) > 1 else 0)
    total = tf.reduce_sum(weights)
    if reduction == 0:
        return losses, tf.zeros([], x.dtype.base_dtype)
    return (tf.reduce_sum(losses) / total if reduction == 1 else tf.reduce_sum(losses)), total


@aten.op("multi_margin_loss")
def multi_margin_loss(x: Any, y: Any, p: Any = 1, margin: Any = 1, weight: Any = None, reduction: int = 1) -> Any:
    classes = x.dims[-1]
    own = tf.one_hot(y, classes, dtype=x.dtype)
    right = tf.reduce_sum(x * own, axis=-1, keepdims=True)
    gap = tf.nn.relu(number(margin, x) - right + x)
    gap = gap if p == 1 else gap * gap
    gap = gap if weight is None else gap * tf.expand_dims(tf.gather(weight, y), -1)
    return reduced(tf.reduce_sum(gap * (1 - own), axis=-1) / number(classes, x), reduction)


@aten.op("_ctc_loss", note="log probabilities [time, batch, class]; their gradient is that of scores, as torch's")
def ctc_loss(log_probs: Any, labels: Any, lengths: Any, label_lengths: Any, blank: int = 0,
             zero_infinity: bool = False) -> Any:
    lengths, label_lengths = (tf.convert_to_tensor(n) for n in (lengths, label_lengths))
    if rank(labels) == 1:  # those of all samples, one after another
        places = tf.expand_dims(tf.cumsum(label_lengths, exclusive=True), 1) + tf.range(tf.reduce_max(label_lengths))
        labels = tf.gather(labels, tf.minimum(places, labels.dims[0] - 1))
    loss = tf.nn.ctc_loss_v2(as_type(labels, tf.int32), log_probs, as_type(label_lengths, tf.int32), as_type(
        lengths, tf.int32), blank_index=blank)
    if zero_infinity:
        loss = where(tf.is_inf(loss), tf.zeros_like(loss), loss)
    return loss, log_probs


@aten.op("multilabel_margin_loss_forward", note="labels of a row end at -1")
def multilabel_margin_loss(x: Any, y: Any, reduction: int = 1) -> Any:
    is_single = rank(x) == 1
    x, y = (tf.expand_dims(x, 0), tf.expand_dims(y, 0)) if is_single else (x, y)
    n, c = dims(x)
    kept = tf.cumprod(tf.cast(tf.greater_equal(y, 0), x.dtype.base_dtype), axis=1)
    safe = tf.maximum(y, 0)
    is_target = tf.reduce_max(tf.one_hot(safe, c, dtype=x.dtype) * tf.expand_dims(kept, 2), axis=1)
    own = tf.gather(x, safe, axis=1, batch_dims=1)
    gaps = tf.nn.relu(1 - tf.expand_dims(own, 2) + tf.expand_dims(x, 1))
    gaps = gaps * tf.expand_dims(kept, 2) * (1 - tf.expand_dims(is_target, 1))
    found = tf.reduce_sum(gaps, axis=[1, 2]) / number(c, x)
    found = tf.squeeze(found, axis=[0]) if is_single and reduction == 0 else found
    return reduced(found, reduction), is_target


aten.rows({
    "l1_loss": lambda x, y, reduction=1: reduced(tf.abs(x - y), reduction),
    "soft_margin_loss": lambda x, y, reduction=1: reduced(tf.log1p(tf.exp(-y * x)), reduction),
    "kl_div": lambda x, y, reduction=1, *, log_target=False:
        reduced(tf.exp(y) * (y - x) if log_target else tf.xlogy(y, y) - y * x, reduction),
    "cross_entropy_loss": lambda x, y, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0:
        nll_loss(tf.nn.log_softmax(x, axis=1 if rank(x) > 1 else 0), y, weight, reduction, ignore_index)[0],
    "mse_loss": joint(lambda x, y, reduction=1: reduced(tf.square(x - y), reduction))})
