"""Means over many runs: of values, of errors, of what is right; by element, and below a threshold."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32
from ...core.graph import Tensor, get_default_graph
from ...core.op import build
from ...core.shapes import merge
from ..common.made import named
from ..common.ranks import broadcast_weights, matched, remove_squeezable_dimensions
from ..math.casts import in_dtype
from ..math.reductions import reduce_sum
from ..variables.variable_scope import variable_scope
from .streams import Metric, collected, in_graphs, metric_variable

__all__ = ["accuracy", "mean", "mean_absolute_error", "mean_cosine_distance", "mean_relative_error",
           "mean_squared_error", "mean_tensor", "percentage_below", "root_mean_squared_error"]


@in_graphs
def mean(values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
         name: str | None = None) -> Metric:
    """The weighted mean of all values so far. values: number[...], weights: broadcastable to them.

    Gives (value, update_op): float32[] each; the value is 0 before the first update.
    """
    with variable_scope(name, "mean", (values, weights)):
        values = in_dtype(values)
        total, count = metric_variable((), float32, name="total"), metric_variable((), float32, name="count")
        if weights is None:
            amount = build.Cast(build.Size(values), dtype=float32)
        else:
            values, _, weights = matched(values, None, weights)
            weights = broadcast_weights(in_dtype(weights), values)
            values, amount = build.Mul(values, weights), reduce_sum(weights)
        new_total = total.assign_add(reduce_sum(values))
        with get_default_graph().control_dependencies([values]):
            new_count = count.assign_add(amount)
        value = build.DivNoNan(total.as_tensor(), count.as_tensor(), name="value")
        update = build.DivNoNan(new_total, new_count, name="update_op")
        return collected(value, update, metrics_collections, updates_collections)


@in_graphs
def mean_tensor(values: Any, weights: Any = None, metrics_collections: Any = None, updates_collections: Any = None,
                name: str | None = None) -> Metric:
    """The weighted mean of each element so far. values: number[...] of a known shape; weights: as mean."""
    with variable_scope(name, "mean", (values, weights)):
        values = in_dtype(values)
        total = metric_variable(values.get_shape(), float32, name="total_tensor")
        count = metric_variable(values.get_shape(), float32, name="count_tensor")
        amount = build.OnesLike(values)
        if weights is not None:
            values, _, weights = matched(values, None, weights)
            weights = broadcast_weights(in_dtype(weights), values)
            values, amount = build.Mul(values, weights), build.Mul(amount, weights)
        new_total = total.assign_add(values)
        with get_default_graph().control_dependencies([values]):
            new_count = count.assign_add(amount)
        value = build.DivNoNan(total.as_tensor(), count.as_tensor(), name="value")
        return collected(value, build.DivNoNan(new_total, new_count, name="update_op"), metrics_collections,
                         updates_collections)


@in_graphs
def accuracy(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
             updates_collections: Any = None, name: str | None = None) -> Metric:
    """How often predictions equal labels. labels, predictions: any[n] of one shape. See mean."""
    predictions, labels, weights = matched(predictions, labels, weights)
    correct = build.Cast(build.Equal(in_dtype(predictions, labels.dtype), labels), dtype=float32)
    return mean(correct, weights, metrics_collections, updates_collections, name or "accuracy")


def _mean_error(kind: str, words: str, of: Callable[[Tensor], Tensor]) -> Callable[..., Metric]:
    def error(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
              updates_collections: Any = None, name: str | None = None) -> Metric:
        predictions, labels, weights = matched(predictions, labels, weights)
        return mean(of(predictions - labels), weights, metrics_collections, updates_collections, name or kind)

    return in_graphs(named(error, kind, f"The mean of {words}. See mean."))


mean_absolute_error = _mean_error("mean_absolute_error", "|labels - predictions|", lambda x: build.Abs(x))
mean_squared_error = _mean_error("mean_squared_error", "(labels - predictions)^2", lambda x: build.Square(x))


@in_graphs
def root_mean_squared_error(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
                            updates_collections: Any = None, name: str | None = None) -> Metric:
    """The square root of mean_squared_error."""
    value, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    return collected(build.Sqrt(value), build.Sqrt(update), metrics_collections, updates_collections)


@in_graphs
def mean_relative_error(labels: Any, predictions: Any, normalizer: Any, weights: Any = None,
                        metrics_collections: Any = None, updates_collections: Any = None,
                        name: str | None = None) -> Metric:
    """The mean of |labels - predictions| / normalizer; 0 where the normalizer is 0. See mean."""
    predictions, labels, weights = matched(predictions, labels, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    merge(predictions.dims, normalizer.dims)
    errors = build.Select(build.Equal(normalizer, 0), build.ZerosLike(labels),
                          build.RealDiv(build.Abs(labels - predictions), normalizer))
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error")


@in_graphs
def mean_cosine_distance(labels: Any, predictions: Any, dim: int, weights: Any = None,
                         metrics_collections: Any = None, updates_collections: Any = None,
                         name: str | None = None) -> Metric:
    """1 less the mean of the products of labels and predictions, summed along `dim`; both have length 1 there."""
    predictions, labels, weights = matched(predictions, labels, weights)
    products = reduce_sum(build.Mul(predictions, labels), axis=[dim], keepdims=True)
    value, update = mean(products, weights, None, None, name or "mean_cosine_distance")
    return collected(1.0 - value, 1.0 - update, metrics_collections, updates_collections)


@in_graphs
def percentage_below(values: Any, threshold: Any, weights: Any = None, metrics_collections: Any = None,
                     updates_collections: Any = None, name: str | None = None) -> Metric:
    """How much of the values is below a threshold, as a part of 1. See mean."""
    below = build.Cast(build.Less(convert_to_tensor(values), threshold), dtype=float32)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")
