"""Metrics over many runs: local variables that add up, as (value, update_op) pairs. TensorFlow's tf.metrics."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.collections import GraphKeys
from ..core.convert import convert_to_tensor
from ..core.dtypes import bool_, float32
from ..core.errors import StateError
from ..core.graph import Tensor, get_default_graph
from ..core.op import build
from .common.unsupported import refusing
from .common.weights import check_weights
from .math.reductions import reduce_sum
from .variables.initializers import zeros_initializer
from .variables.variable import Variable
from .variables.variable_scope import variable_scope

__all__ = ["accuracy", "auc", "false_negatives", "false_positives", "mean", "mean_absolute_error",
           "mean_squared_error", "precision", "recall", "root_mean_squared_error", "true_negatives", "true_positives"]

Metric = tuple[Tensor, Tensor]
_SMALL = 1e-6  # keeps the rates of an area under a curve defined


def _total(shape: tuple[int, ...], name: str) -> Variable:
    """A local variable of zeros, for local_variables_initializer."""
    return Variable(lambda: zeros_initializer()(shape, float32), trainable=False, dtype=float32, name=name,
                    collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES])


def _collect(value: Tensor, update: Tensor, metrics_collections: Any, updates_collections: Any) -> Metric:
    graph = get_default_graph()
    if metrics_collections:
        graph.add_to_collections(metrics_collections, value)
    if updates_collections:
        graph.add_to_collections(updates_collections, update)
    return value, update


def _graph_only(name: str) -> None:
    if get_default_graph().executing_eagerly:
        raise StateError(f"tf.metrics.{name} is not supported when eager execution is enabled")


def _float(values: Any) -> Tensor:
    tensor = convert_to_tensor(values)
    return tensor if tensor.dtype.base_dtype is float32 else build.Cast(tensor, dtype=float32)


def _like(weights: Any, values: Tensor) -> Tensor:
    """Weights as wide as the values; a missing last axis is added, one of size 1 too many is taken away."""
    weights = _float(weights)
    if weights.dims is not None and values.dims is not None:
        if 0 < len(weights.dims) == len(values.dims) - 1:
            weights = build.ExpandDims(weights, -1)
        elif len(weights.dims) == len(values.dims) + 1 and weights.dims[-1] in (1, None):
            weights = build.Squeeze(weights, squeeze_dims=[-1])
    check_weights(weights, values)
    return weights * build.OnesLike(values)


def mean(values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
         name: str | None = None) -> Metric:
    """The weighted mean of all values so far. values: number[...], weights: broadcastable to them.

    Gives (value, update_op): float32[] each; the value is 0 before the first update.
    """
    _graph_only("mean")
    with variable_scope(name, "mean", (values, weights)):
        values = _float(values)
        total, count = _total((), "total"), _total((), "count")
        if weights is None:
            amount = build.Cast(build.Size(values), dtype=float32)
        else:
            weights = _like(weights, values)
            values, amount = values * weights, reduce_sum(weights)
        new_total = total.assign_add(reduce_sum(values))
        with get_default_graph().control_dependencies([values]):
            new_count = count.assign_add(amount)
        value = build.DivNoNan(total.as_tensor(), count.as_tensor(), name="value")
        update = build.DivNoNan(new_total, new_count, name="update_op")
        return _collect(value, update, metrics_collections, updates_collections)


def accuracy(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
             updates_collections: Any = None, name: str | None = None) -> Metric:
    """How often predictions equal labels. labels, predictions: any[n] of one shape. See mean."""
    _graph_only("accuracy")
    labels, predictions = _same_rank(convert_to_tensor(labels), convert_to_tensor(predictions))
    if labels.dtype.base_dtype is not predictions.dtype.base_dtype:
        predictions = build.Cast(predictions, dtype=labels.dtype.base_dtype)
    correct = build.Cast(build.Equal(predictions, labels), dtype=float32)
    return mean(correct, weights, metrics_collections, updates_collections, name or "accuracy")


def _same_rank(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """A last axis of size 1 is dropped where only one of the two has it."""
    if a.dims is None or b.dims is None:
        return a, b
    if len(a.dims) == len(b.dims) + 1 and a.dims[-1] == 1:
        return build.Squeeze(a, squeeze_dims=(-1,)), b
    if len(b.dims) == len(a.dims) + 1 and b.dims[-1] == 1:
        return a, build.Squeeze(b, squeeze_dims=(-1,))
    return a, b


def mean_absolute_error(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                        updates_collections: Any = None, name: str | None = None) -> Metric:
    """The mean of |labels - predictions|. See mean."""
    _graph_only("mean_absolute_error")
    labels, predictions = _same_rank(convert_to_tensor(labels), convert_to_tensor(predictions))
    return mean(build.Abs(predictions - labels), weights, metrics_collections, updates_collections,
                name or "mean_absolute_error")


def mean_squared_error(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                       updates_collections: Any = None, name: str | None = None) -> Metric:
    """The mean of (labels - predictions)^2. See mean."""
    _graph_only("mean_squared_error")
    labels, predictions = _same_rank(convert_to_tensor(labels), convert_to_tensor(predictions))
    return mean(build.Square(labels - predictions), weights, metrics_collections, updates_collections,
                name or "mean_squared_error")


def root_mean_squared_error(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                            updates_collections: Any = None, name: str | None = None) -> Metric:
    """The square root of mean_squared_error."""
    value, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    return _collect(build.Sqrt(value), build.Sqrt(update), metrics_collections, updates_collections)


def _count(hits: Callable[[Tensor, Tensor], Tensor], name: str) -> Callable[..., Metric]:
    def metric(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
               updates_collections: Any = None, name: str | None = name) -> Metric:
        _graph_only(str(name))
        with variable_scope(name, str(name), (labels, predictions, weights)):
            labels, predictions = _same_rank(_truth(labels), _truth(predictions))
            found = build.Cast(hits(labels, predictions), dtype=float32)
            if weights is not None:
                found = found * _like(weights, found)
            total = _total((), "count")
            return _collect(total.as_tensor(), total.assign_add(reduce_sum(found)), metrics_collections,
                            updates_collections)

    metric.__name__ = name
    metric.__doc__ = f"The (weighted) count of {name.replace('_', ' ')}. labels, predictions: cast to bool[...]."
    return metric


def _truth(values: Any) -> Tensor:
    tensor = convert_to_tensor(values)
    return tensor if tensor.dtype.base_dtype is bool_ else build.Cast(tensor, dtype=bool_)


true_positives = _count(lambda label, said: build.LogicalAnd(label, said), "true_positives")
false_positives = _count(lambda label, said: build.LogicalAnd(build.LogicalNot(label), said), "false_positives")
true_negatives = _count(lambda label, said: build.LogicalNot(build.LogicalOr(label, said)), "true_negatives")
false_negatives = _count(lambda label, said: build.LogicalAnd(label, build.LogicalNot(said)), "false_negatives")


def precision(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
              updates_collections: Any = None, name: str | None = None) -> Metric:
    """True positives among what was predicted positive. labels, predictions: cast to bool[...]."""
    return _rate(false_positives, labels, predictions, weights, metrics_collections, updates_collections,
                 name or "precision")


def recall(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
           updates_collections: Any = None, name: str | None = None) -> Metric:
    """True positives among what is positive. labels, predictions: cast to bool[...]."""
    return _rate(false_negatives, labels, predictions, weights, metrics_collections, updates_collections,
                 name or "recall")


def _rate(misses: Callable[..., Metric], labels: Any, predictions: Any, weights: Any, metrics_collections: Any,
          updates_collections: Any, name: str) -> Metric:
    with variable_scope(name, name, (labels, predictions, weights)):
        right, more_right = true_positives(labels, predictions, weights)
        wrong, more_wrong = misses(labels, predictions, weights)
        return _collect(build.DivNoNan(right, right + wrong, name="value"),
                        build.DivNoNan(more_right, more_right + more_wrong, name="update_op"), metrics_collections,
                        updates_collections)


def auc(labels: Any, predictions: Any, weights: Any = None, num_thresholds: int = 200,
        metrics_collections: Any = None, updates_collections: Any = None, curve: str = "ROC",
        name: str | None = None, summation_method: str = "trapezoidal", thresholds: Any = None) -> Metric:
    """The area under the ROC curve, by trapezoids between `num_thresholds` thresholds.

    labels: cast to bool[...]; predictions: float[...] in [0, 1]. thresholds: those between 0 and 1, in place of even
    ones. Only curve="ROC" and summation_method="trapezoidal" are supported.
    """
    _graph_only("auc")
    if curve != "ROC" or summation_method != "trapezoidal":
        raise StateError(f"curve is {curve!r} and summation_method {summation_method!r}, expected 'ROC' and "
                         "'trapezoidal': other areas are not supported")
    with variable_scope(name, "auc", (labels, predictions, weights)):
        labels = build.Reshape(_truth(labels), [1, -1])
        predictions = build.Reshape(_float(predictions), [1, -1])
        inner = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)] if thresholds is None else \
            sorted(thresholds)
        levels = convert_to_tensor([[t] for t in (-1e-7, *inner, 1 + 1e-7)], float32)
        above = build.Greater(predictions, levels)
        amount = build.Cast(build.LogicalOr(above, build.LogicalNot(above)), dtype=float32)
        if weights is not None:
            amount = amount * build.Reshape(_like(weights, build.Reshape(predictions, [-1])), [1, -1])
        sums = []
        for positive, said in ((True, True), (True, False), (False, False), (False, True)):
            hit = build.LogicalAnd(labels if positive else build.LogicalNot(labels),
                                   above if said else build.LogicalNot(above))
            total = _total((len(inner) + 2,), ("true" if positive == said else "false")
                           + ("_positives" if said else "_negatives"))
            sums.append((total.as_tensor(), total.assign_add(reduce_sum(build.Cast(hit, dtype=float32) * amount, 1))))
        return _collect(_area([old for old, _ in sums], "value"), _area([new for _, new in sums], "update_op"),
                        metrics_collections, updates_collections)


def _area(sums: list[Tensor], name: str) -> Tensor:
    hits, misses, rejections, alarms = sums
    sensitivity = (hits + _SMALL) / (hits + misses + _SMALL)
    false_rate = alarms / (alarms + rejections + _SMALL)
    heights = (sensitivity[:-1] + sensitivity[1:]) / 2.0
    return reduce_sum((false_rate[:-1] - false_rate[1:]) * heights, name=name)


__getattr__ = refusing("tf.metrics", __name__)
