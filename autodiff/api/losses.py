"""Losses: weighted, reduced, and collected. TensorFlow's tf.losses."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..core.collections import GraphKeys
from ..core.convert import convert_to_tensor
from ..core.dtypes import float32
from ..core.errors import ArgumentError, ShapeError
from ..core.graph import Tensor, get_default_graph
from ..core.name_scope import scope as name_scope
from ..core.op import build
from ..core.shapes import compatible, is_known, merge, show
from ..ops.common.op_counts import count_more, counted_as
from .common.arguments import one_of
from .common.ranks import assert_broadcastable, check_weights, narrowed, remove_squeezable_dimensions
from .common.unsupported import refusing
from .math.casts import in_dtype
from .math.reductions import add_n, reduce_sum
from .nn import cross_entropy

__all__ = ["Reduction", "absolute_difference", "add_loss", "compute_weighted_loss", "cosine_distance", "get_losses",
           "get_regularization_loss", "get_regularization_losses", "get_total_loss", "hinge_loss", "huber_loss",
           "log_loss", "mean_pairwise_squared_error", "mean_squared_error", "sigmoid_cross_entropy",
           "softmax_cross_entropy", "sparse_softmax_cross_entropy"]


class Reduction:
    """How many losses become one."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"  # divided by the count of losses
    MEAN = "weighted_mean"  # divided by the sum of the weights
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"  # divided by the count of weights that are not 0
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
                cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises ArgumentError (ValueError) for anything else."""
        if key not in cls.all():
            raise ArgumentError(expected=f"a reduction of {sorted(set(cls.all()))}", found=repr(key))


_LOSSES, _NONZERO = GraphKeys.LOSSES, Reduction.SUM_BY_NONZERO_WEIGHTS


def add_loss(loss: Tensor, loss_collection: Any = _LOSSES) -> None:
    """Add a loss to the losses of its graph. loss_collection: None keeps it out."""
    if loss_collection:
        get_default_graph().add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: Any = _LOSSES) -> list[Tensor]:
    """The losses of the default graph; `scope` is a regex that their names must begin with."""
    return get_default_graph().get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Tensor]:
    """The regularization losses of the default graph."""
    return get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """The sum of the regularization losses, 0 if there is none."""
    losses = get_regularization_losses(scope)
    return add_n(losses, name=name) if losses else convert_to_tensor(0.0)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss",
                   scope: str | None = None) -> Tensor:
    """The sum of all losses, by default with the regularization losses. Raises ArgumentError if there is none."""
    losses = get_losses(scope)
    if add_regularization_losses:
        losses = losses + get_regularization_losses(scope)
    return add_n(losses, name=name)


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None, loss_collection: Any = _LOSSES,
                          reduction: str = _NONZERO) -> Tensor:
    """Losses times weights, reduced, and added to a collection. Computed in float32, given in the losses' dtype.

    losses: float[...]; weights: float[], or of the same rank with sizes 1 or the losses'. -> float[], or float[...]
    for Reduction.NONE. A mean over nothing is 0. Raises ArgumentError or ShapeError (ValueError) for other weights.
    """
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert_to_tensor(losses)
        dtype, single = losses.dtype.base_dtype, in_dtype(losses)
        with counted_as(_count_of_weighted(weights, losses, reduction)):
            scale = in_dtype(_checked(weights, losses))
            loss = build.Mul(single, scale)
            if reduction != Reduction.NONE:
                loss = _reduced(loss, single, weights, scale, reduction)
        loss = loss if dtype is float32 else build.Cast(loss, dtype=dtype)
        add_loss(loss, loss_collection)
        return loss


_OF_REDUCTION = {Reduction.NONE: 0, Reduction.SUM: 2, Reduction.MEAN: 11, Reduction.SUM_OVER_BATCH_SIZE: 7,
                 Reduction.SUM_BY_NONZERO_WEIGHTS: 14}


def _count_of_weighted(weights: Any, losses: Tensor, reduction: str) -> int | None:
    """The operations of a weighted loss in TensorFlow, which asserts in the graph, each time, that weights fit."""
    if weights is None:
        return None
    is_number = not isinstance(weights, Tensor)
    dims = np.shape(weights) if is_number else weights.dims
    is_static = dims == () or is_known(dims) and is_known(losses.dims)
    count = (6 + 2 * is_number if is_static else 64) + _OF_REDUCTION[reduction]
    if reduction == Reduction.SUM_BY_NONZERO_WEIGHTS and not (is_static and dims == losses.dims):
        count += 9 if is_static else 67  # broadcast to the losses
    return count


def _reduced(weighted: Tensor, losses: Tensor, weights: Any, scale: Tensor, reduction: str) -> Tensor:
    total = reduce_sum(weighted)
    if reduction == Reduction.SUM:
        return total
    if reduction == Reduction.MEAN:
        count = reduce_sum(build.OnesLike(losses) * scale)
    elif reduction == Reduction.SUM_OVER_BATCH_SIZE or isinstance(weights, float) and weights != 0.0:
        count = build.Cast(build.Size(losses), dtype=float32, name="num_elements")
    else:
        count = reduce_sum(_present(losses, scale), name="num_present")
    return build.DivNoNan(total, count, name="value")


def _present(losses: Tensor, weights: Tensor) -> Tensor:
    """1 where the weight is not 0, for each loss."""
    return build.Cast(build.NotEqual(weights, 0.0), dtype=float32) * build.OnesLike(losses)


def _checked(weights: Any, losses: Tensor) -> Tensor:
    if weights is None:
        raise ArgumentError(expected="weights", found="None")
    weights = convert_to_tensor(weights, name="weights")
    if check_weights(weights, losses):
        return weights
    with get_default_graph().control_dependencies([assert_broadcastable(weights, losses)]):
        return build.Identity(weights)


def _pair(labels: Any, predictions: Any, what: str = "predictions") -> tuple[Tensor, Tensor]:
    """Both in float32. Raises ArgumentError or ShapeError (ValueError) if one is None or the shapes differ."""
    if labels is None or predictions is None:
        raise ArgumentError(expected=f"labels and {what}", found="None")
    predictions, labels = in_dtype(predictions), in_dtype(labels)
    if not compatible(labels.dims, predictions.dims):
        raise ShapeError(f"labels and {what} have different shapes: {show(labels.dims)} and {show(predictions.dims)}")
    merge(labels.dims, predictions.dims)
    return labels, predictions


def absolute_difference(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                        loss_collection: Any = _LOSSES, reduction: str = _NONZERO) -> Tensor:
    """|prediction - label|."""
    with name_scope(scope, "absolute_difference", [predictions, labels, weights]) as full:
        labels, predictions = _pair(labels, predictions)
        return compute_weighted_loss(build.Abs(predictions - labels), weights, full, loss_collection, reduction)


def mean_squared_error(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                       loss_collection: Any = _LOSSES, reduction: str = _NONZERO) -> Tensor:
    """(prediction - label)^2."""
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as full:
        labels, predictions = _pair(labels, predictions)
        return compute_weighted_loss(build.SquaredDifference(predictions, labels), weights, full, loss_collection,
                                     reduction)


def huber_loss(labels: Any, predictions: Any, weights: Any = 1.0, delta: float = 1.0, scope: str | None = None,
               loss_collection: Any = _LOSSES, reduction: str = _NONZERO) -> Tensor:
    """Half the squared error up to `delta`, linear beyond.

    Source: Huber (1964), Robust estimation of a location parameter.
    """
    with name_scope(scope, "huber_loss", [predictions, labels, weights]) as full:
        labels, predictions = _pair(labels, predictions)
        error = build.Abs(predictions - labels)
        near = build.Minimum(error, float(delta))
        losses = 0.5 * near * near + delta * (error - near)
        return compute_weighted_loss(losses, weights, full, loss_collection, reduction)


def log_loss(labels: Any, predictions: Any, weights: Any = 1.0, epsilon: float = 1e-7, scope: str | None = None,
             loss_collection: Any = _LOSSES, reduction: str = _NONZERO) -> Tensor:
    """-z log(p + epsilon) - (1 - z) log(1 - p + epsilon) of labels z and predictions p in [0, 1], in nats."""
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as full:
        z, p = _pair(labels, predictions)
        losses = -(z * build.Log(p + epsilon)) - (1 - z) * build.Log(1 - p + epsilon)
        return compute_weighted_loss(losses, weights, full, loss_collection, reduction)


def hinge_loss(labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None, loss_collection: Any = _LOSSES,
               reduction: str = _NONZERO) -> Tensor:
    """max(0, 1 - (2 z - 1) x) of labels z in {0, 1} and logits x."""
    with name_scope(scope, "hinge_loss", [logits, labels, weights]) as full:
        labels, logits = _pair(labels, logits, "logits")
        count_more(1)  # ones as they are in the labels
        losses = build.Relu(1 - (2 * labels - 1) * logits)
        return compute_weighted_loss(losses, weights, full, loss_collection, reduction)


def cosine_distance(labels: Any, predictions: Any, axis: int | None = None, weights: Any = 1.0,
                    scope: str | None = None, loss_collection: Any = _LOSSES, reduction: str = _NONZERO,
                    dim: int | None = None) -> Tensor:
    """1 - the inner product along `axis` (old name: dim) of labels and predictions, which must be of length 1."""
    axis = one_of("axis", axis, "dim", dim)
    if axis is None:
        raise ArgumentError("cosine_distance needs an axis")
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as full:
        labels, predictions = _pair(labels, predictions)
        losses = 1 - reduce_sum(predictions * labels, axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, full, loss_collection, reduction)


def mean_pairwise_squared_error(labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
                                loss_collection: Any = _LOSSES) -> Tensor:
    """Mean over pairs of elements of a sample of the squared error of their difference, weighted and summed.

    labels, predictions: float[n, ...] -> float[].
    """
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        labels, predictions = _pair(labels, predictions)
        error = predictions - labels
        scale = in_dtype(_checked(weights, labels))
        axes = build.Range(1, build.Rank(error), 1) if error.dims is None else list(range(1, len(error.dims)))
        count = reduce_sum(_present(error, scale), axes, keepdims=True)
        squares = reduce_sum(build.Square(error), axes, keepdims=True)
        total = reduce_sum(error, axes, keepdims=True)
        first = 2.0 * build.DivNoNan(squares, build.Maximum(count - 1.0, 0.0), name="value")
        second = 2.0 * build.DivNoNan(build.Square(total), build.Maximum(count * (count - 1.0), 0.0), name="value")
        loss = reduce_sum((first - second) * scale, name="value")
        add_loss(loss, loss_collection)
        return loss


def sigmoid_cross_entropy(multi_class_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: str | None = None, loss_collection: Any = _LOSSES,
                          reduction: str = _NONZERO) -> Tensor:
    """Cross entropy of sigmoid(logits) and labels, each for itself.

    label_smoothing s: labels z become z (1 - s) + s / 2.
    """
    with name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as full:
        logits, labels = _labeled(multi_class_labels, logits)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = cross_entropy.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, full, loss_collection, reduction)


def softmax_cross_entropy(onehot_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0,
                          scope: str | None = None, loss_collection: Any = _LOSSES,
                          reduction: str = _NONZERO) -> Tensor:
    """Cross entropy of softmax(logits) and labels, which are held constant.

    onehot_labels, logits: float[n, k]. label_smoothing s: labels z become z (1 - s) + s / k.
    """
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as full:
        logits, labels = _labeled(onehot_labels, logits)
        if label_smoothing > 0:
            classes = build.Cast(build.Shape(labels)[1], dtype=logits.dtype.base_dtype)
            labels = labels * (1 - label_smoothing) + label_smoothing / classes
        labels = build.StopGradient(labels, name="labels_stop_gradient")
        losses = cross_entropy.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, full, loss_collection, reduction)


def _labeled(labels: Any, logits: Any) -> tuple[Tensor, Tensor]:
    if labels is None or logits is None:
        raise ArgumentError(expected="labels and logits", found="None")
    logits = convert_to_tensor(logits)
    labels = in_dtype(labels, logits.dtype)
    if not compatible(labels.dims, logits.dims):
        raise ShapeError(f"labels and logits have different shapes: {show(labels.dims)} and {show(logits.dims)}")
    return logits, labels


def sparse_softmax_cross_entropy(labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
                                 loss_collection: Any = _LOSSES, reduction: str = _NONZERO) -> Tensor:
    """Cross entropy of softmax(logits) and class labels. logits: float[n, k], labels: int[n] or int[n, 1]."""
    if labels is None or logits is None:
        raise ArgumentError(expected="labels and logits", found="None")
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as full:
        labels, logits = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
        count_more(-(not isinstance(weights, Tensor)))  # converted for all of it
        weights = narrowed(weights, labels)
        losses = cross_entropy.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, full, loss_collection, reduction)


__getattr__ = refusing("tf.losses", __name__)
