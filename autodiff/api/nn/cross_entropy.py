"""Cross entropies of logits and labels, in nats: TensorFlow's tf.nn functions."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, float16, float32
from ...core.errors import ArgumentError, ShapeError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ...core.shapes import compatible, is_known, merge, show
from ...ops.common.op_counts import counted_as
from ..common.arguments import one_of

__all__ = ["log_poisson_loss", "sigmoid_cross_entropy_with_logits", "softmax_cross_entropy_with_logits",
           "softmax_cross_entropy_with_logits_v2", "sparse_softmax_cross_entropy_with_logits",
           "weighted_cross_entropy_with_logits"]


def sigmoid_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None,
                                      name: str | None = None) -> Tensor:
    """-z log(sigmoid(x)) - (1 - z) log(1 - sigmoid(x)) of logits x and labels z, each for itself.

    labels, logits: float[...] of one shape -> float[...]. Only by keyword, else ArgumentError (ValueError).
    Computed as max(x, 0) - x z + log(1 + exp(-|x|)), which does not overflow.
    """
    _by_keyword("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with scope(name, "logistic_loss", [logits, labels]) as full:
        logits, labels = _same_shape(logits, labels, "labels")
        zero = build.ZerosLike(logits)
        positive = build.GreaterEqual(logits, zero)
        relu = build.Select(positive, logits, zero)
        minus_abs = build.Select(positive, -logits, logits)
        return build.Add(relu - logits * labels, build.Log1p(build.Exp(minus_abs)), name=full)


def weighted_cross_entropy_with_logits(labels: Any = None, logits: Any = None, pos_weight: Any = None,
                                       name: str | None = None, targets: Any = None) -> Tensor:
    """Sigmoid cross entropy whose positive term counts `pos_weight` times.

    labels (old name: targets), logits: float[...] of one shape; pos_weight: broadcasts with them.
    """
    labels = one_of("labels", labels, "targets", targets)
    with scope(name, "logistic_loss", [logits, labels]) as full:
        logits, labels = _same_shape(logits, labels, "labels")
        weight = 1 + (pos_weight - 1) * labels
        soft = build.Log1p(build.Exp(-build.Abs(logits))) + build.Relu(-logits)
        return build.Add((1 - labels) * logits, weight * soft, name=full)


def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None) -> Tensor:
    """exp(c) - z c of log-rates c and counts z; with Stirling's term for log(z!) if compute_full_loss."""
    with scope(name, "log_poisson_loss", [log_input, targets]):
        log_input, targets = _same_shape(log_input, targets, "targets")
        result = build.Exp(log_input) - log_input * targets
        if not compute_full_loss:
            return result
        stirling = targets * build.Log(targets) - targets + 0.5 * build.Log(targets * (2 * np.pi))
        small = build.LogicalAnd(build.GreaterEqual(targets, 0.0), build.LessEqual(targets, 1.0))
        return result + build.Select(small, build.ZerosLike(targets), stirling)


def _same_shape(logits: Any, labels: Any, what: str) -> tuple[Tensor, Tensor]:
    logits, labels = convert_to_tensor(logits, name="logits"), convert_to_tensor(labels, name="labels")
    try:
        merge(logits.dims, labels.dims)
    except ShapeError:
        raise ShapeError(f"logits and {what} must have the same shape ({show(logits.dims)} vs "
                         f"{show(labels.dims)})") from None
    return logits, labels


def _by_keyword(function: str, sentinel: Any, labels: Any, logits: Any) -> None:
    if sentinel is not None:
        raise ArgumentError(f"Only call `{function}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise ArgumentError(f"{function} needs both labels and logits")


def softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None,
                                      dim: int | None = None,
                                      name: str | None = None, axis: int | None = None) -> Tensor:
    """Cross entropy of softmax(logits) and labels; labels are held constant when differentiated.

    labels, logits: float[..., k]; each row of labels sums to 1. -> float[...]. Only by keyword, else
    ArgumentError (ValueError). `_v2` lets gradients flow into the labels too.
    """
    _by_keyword("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as full:
        labels = build.StopGradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels, logits, one_of("axis", axis, "dim", dim), full)


def softmax_cross_entropy_with_logits_v2(labels: Any, logits: Any, axis: int | None = None, name: str | None = None,
                                         dim: int | None = None) -> Tensor:
    """Cross entropy of softmax(logits) and labels over one axis, the last if none is given.

    labels, logits: float[..., k, ...]; each distribution of labels sums to 1. -> float[..., ...] without the axis.
    """
    axis = one_of("axis", axis, "dim", dim)
    with (scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as full,
          counted_as(31 if axis in (None, -1) else 53)):  # with the reshapes to rows and back
        logits = given = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        if given.dtype is float16:
            logits = build.Cast(logits, dtype=float32)
        if labels.dtype.base_dtype is not logits.dtype.base_dtype:
            labels = build.Cast(labels, dtype=logits.dtype.base_dtype)
        if axis is not None and axis != -1:
            logits, labels = _axis_last(logits, axis), _axis_last(labels, axis)
        shape = build.Shape(logits)
        cost = build.SoftmaxCrossEntropyWithLogits(_as_matrix(logits), _as_matrix(labels), name=full)[0]
        dims = logits.dims
        cost = build.Reshape(cost, shape[:-1] if dims is None or not is_known(dims[:-1]) else list(dims[:-1]),
                             name="Reshape_2")
        if dims is not None:
            cost.set_shape(dims[:-1])
        return build.Cast(cost, dtype=float16) if given.dtype is float16 else cost


def _axis_last(x: Tensor, axis: int) -> Tensor:
    if x.dims is None:
        raise ShapeError(expected=f"logits of known rank for axis {axis}", found=x.describe())
    rank = len(x.dims)
    axis %= rank
    return build.Transpose(x, [*range(axis), *range(axis + 1, rank), axis])


def _as_matrix(x: Tensor) -> Tensor:
    if x.dims is not None and len(x.dims) == 2:
        return x
    classes = x.dims[-1] if x.dims else None
    return build.Reshape(x, [-1, classes] if classes is not None else build.Pack(-1, build.Shape(x)[-1], axis=0))


def sparse_softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None,
                                             name: str | None = None) -> Tensor:
    """Cross entropy of softmax(logits) and class labels.

    logits: float[..., k], labels: int[...], 0 <= label < k -> float[...]. Only by keyword, else ArgumentError
    (ValueError). A label out of range is an InvalidArgumentError when it runs.
    """
    _by_keyword("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    rank, is_static = len(getattr(logits, "dims", None) or ()), is_known(getattr(labels, "dims", ()))
    with (scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]),
          counted_as(2 if rank == 2 else 18 if is_static else 34)):  # with the reshapes to rows and back
        labels, logits = convert_to_tensor(labels, name="labels"), convert_to_tensor(logits, name="logits")
        _check_sparse(labels, logits)
        half = as_dtype(logits.dtype).base_dtype is float16
        matrix, flat = _as_matrix(build.Cast(logits, dtype=float32) if half else logits), labels
        if logits.dims is None or len(logits.dims) != 2:
            flat = build.Reshape(labels, [-1])
        cost = build.SparseSoftmaxCrossEntropyWithLogits(matrix, flat, name=name)[0]
        if flat is not labels:
            cost = build.Reshape(cost, list(labels.dims) if is_known(labels.dims) else build.Shape(labels))
            cost.set_shape(labels.dims)
        return build.Cast(cost, dtype=float16) if half else cost


def _check_sparse(labels: Tensor, logits: Tensor) -> None:
    if logits.dims == ():
        raise ShapeError("Logits cannot be scalars", found="[]")
    if logits.dims is None or labels.dims is None:
        return
    if len(labels.dims) != len(logits.dims) - 1:
        raise ShapeError(f"Rank mismatch: Rank of labels (received {len(labels.dims)}) should equal rank of logits "
                         f"minus 1 (received {len(logits.dims)}).", hint=(
            f"the logits have shape {show(logits.dims)}: one row an example is wanted, so flatten what the layers "
            "before them take, tf.layers.flatten(x)") * (len(logits.dims) > len(labels.dims) + 1) or (
            "one number a row is wanted, the class: labels=tf.squeeze(labels, -1)" if labels.dims[-1:] == (1,) else
            "one number a row is wanted, the class: labels=tf.argmax(labels, -1), of a number for each class"))
    if not compatible(labels.dims, logits.dims[:-1]):
        raise ShapeError(f"shape of labels is {show(labels.dims)}, expected that of logits but for the classes, "
                         f"{show(logits.dims[:-1])}")
