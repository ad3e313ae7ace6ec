"""ONNX's losses of class scores, weighted by class."""
from __future__ import annotations

from typing import Any

from ..model import tf
from .table import like, moved, onnx, text


@onnx.op("NegativeLogLikelihoodLoss")
def negative_log_likelihood_loss(x: Any, target: Any, weight: Any = None, *, reduction: Any = b"mean",
                                 ignore_index: Any = None) -> Any:
    """x: float[n, classes, ...], target: int[n, ...]."""
    kept = None if ignore_index is None else tf.not_equal(target, like(ignore_index, target))
    classes = target if kept is None else tf.where_v2(kept, target, tf.zeros_like(target))
    rows = moved(x, 1, -1)
    loss = -tf.squeeze(tf.gather(rows, tf.expand_dims(classes, -1), batch_dims=len(rows.dims) - 1), [-1])
    if weight is None and kept is None:
        return {"mean": tf.reduce_mean, "sum": tf.reduce_sum, "none": tf.identity}[text(reduction)](loss)
    weights = tf.ones_like(loss) if weight is None else tf.gather(weight, classes)
    weights = weights if kept is None else tf.where_v2(kept, weights, tf.zeros_like(weights))
    total = weights * loss
    if text(reduction) == "mean":
        return tf.reduce_sum(total) / tf.reduce_sum(weights)
    return tf.reduce_sum(total) if text(reduction) == "sum" else total


@onnx.op("SoftmaxCrossEntropyLoss", note="the second output is the log of the softmax")
def softmax_cross_entropy_loss(scores: Any, labels: Any, weights: Any = None, *, reduction: Any = b"mean",
                               ignore_index: Any = None) -> Any:
    logs = tf.nn.log_softmax(scores, axis=1)
    return negative_log_likelihood_loss(logs, labels, weights, reduction=reduction, ignore_index=ignore_index), logs
