"""Metrics over classes: intersection over union, and accuracy of each class."""
from __future__ import annotations

from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32, float64, int64
from ...core.graph import Tensor
from ...core.op import build
from ...core.shapes import merge
from ..common.ranks import matched
from ..math.casts import in_dtype
from ..math.histograms import confusion_matrix
from ..math.reductions import reduce_mean, reduce_sum
from ..variables.assignment import scatter_add
from ..variables.variable_scope import variable_scope
from .streams import Metric, collected, in_graphs, metric_variable


def _flat(x: Tensor) -> Tensor:
    return build.Reshape(x, [-1]) if x.dims is None or len(x.dims) > 1 else x


@in_graphs
def mean_iou(labels: Any, predictions: Any, num_classes: int, weights: Any = None, metrics_collections: Any = None,
             updates_collections: Any = None, name: str | None = None) -> Metric:
    """Intersection over union of each class, the mean over those that occur. The update gives the confusion matrix."""
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        merge(predictions.dims, labels.dims)
        total = metric_variable([num_classes, num_classes], float64, name="total_confusion_matrix")
        true, said = (build.Cast(_flat(side), dtype=int64) for side in (labels, predictions))
        flat = None if weights is None else _flat(convert_to_tensor(weights))
        update = total.assign_add(confusion_matrix(true, said, num_classes, dtype=float64, weights=flat))
        return collected(mean_of_unions(total.as_tensor()), update, metrics_collections, updates_collections)


def mean_of_unions(matrix: Tensor) -> Tensor:
    """The mean intersection over union of a confusion matrix: float[k, k] -> float32[]."""
    both = build.Cast(build.DiagPart(matrix), dtype=float32)
    union = in_dtype(reduce_sum(matrix, 0)) + in_dtype(reduce_sum(matrix, 1)) - both
    occurring = reduce_sum(build.Cast(build.NotEqual(union, 0.0), dtype=float32))
    rates = both / build.Select(union > 0, union, build.OnesLike(union))
    return build.DivNoNan(reduce_sum(rates, name="mean_iou"), occurring)


@in_graphs
def mean_per_class_accuracy(labels: Any, predictions: Any, num_classes: int, weights: Any = None,
                            metrics_collections: Any = None, updates_collections: Any = None,
                            name: str | None = None) -> Metric:
    """The mean over all classes of how often each was predicted rightly. The update gives each class's."""
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = _flat(build.Cast(convert_to_tensor(labels), dtype=int64))
        predictions = _flat(convert_to_tensor(predictions))
        merge(predictions.dims, labels.dims)
        total = metric_variable([num_classes], float32, name="total")
        count = metric_variable([num_classes], float32, name="count")
        right = build.Cast(build.Equal(in_dtype(predictions, int64), labels), dtype=float32)
        amount = build.OnesLike(right)
        if weights is not None:
            weights = in_dtype(_flat(matched(predictions, None, weights)[2]))
            right, amount = build.Mul(right, weights), build.Mul(amount, weights)
        new_total, new_count = scatter_add(total, labels, amount), scatter_add(count, labels, right)
        value = reduce_mean(build.DivNoNan(count.as_tensor(), build.Maximum(total.as_tensor(), 0.0)),
                            name="mean_accuracy")
        update = build.DivNoNan(new_count, build.Maximum(new_total, 0.0), name="update_op")
        return collected(value, update, metrics_collections, updates_collections)
