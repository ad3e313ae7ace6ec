"""Counts of what was rightly and wrongly said to be true, and the rates that are made of two of them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.dtypes import bool_, float32
from ...core.graph import Tensor
from ...core.op import build
from ..common.made import named
from ..common.ranks import assert_broadcastable, matched
from ..control.dependencies import control_dependencies
from ..math.casts import in_dtype
from ..math.reductions import reduce_sum
from ..variables.variable_scope import variable_scope
from .streams import Metric, collected, in_graphs, metric_variable

__all__ = ["false_negatives", "false_positives", "precision", "recall", "true_negatives", "true_positives"]


def _count(hits: Callable[[Tensor, Tensor], Tensor], kind: str) -> Callable[..., Metric]:
    def metric(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
               updates_collections: Any = None, name: str | None = None) -> Metric:
        with variable_scope(name, kind, (predictions, labels, weights)):
            predictions, labels, weights = matched(in_dtype(predictions, bool_), in_dtype(labels, bool_), weights)
            return _counted(hits(labels, predictions), weights, metrics_collections, updates_collections)

    words = f"The (weighted) count of {kind.replace('_', ' ')}. labels, predictions: cast to bool[...]."
    return in_graphs(named(metric, kind, words))


def _counted(found: Tensor, weights: Any, metrics_collections: Any, updates_collections: Any) -> Metric:
    total = metric_variable((), float32, name="count")
    amount = build.Cast(found, dtype=float32)
    if weights is not None:
        weights = in_dtype(weights)
        with control_dependencies([assert_broadcastable(weights, amount)]):
            amount = build.Mul(amount, weights)
    return collected(build.Identity(total.as_tensor()), total.assign_add(reduce_sum(amount)), metrics_collections,
                     updates_collections)


true_positives = _count(lambda label, said: build.LogicalAnd(label, said), "true_positives")
false_positives = _count(lambda label, said: build.LogicalAnd(build.LogicalNot(label), said), "false_positives")
true_negatives = _count(lambda label, said: build.LogicalNot(build.LogicalOr(label, said)), "true_negatives")
false_negatives = _count(lambda label, said: build.LogicalAnd(label, build.LogicalNot(said)), "false_negatives")


def _rate(misses: Callable[..., Metric], kind: str, what: str) -> Callable[..., Metric]:
    def metric(labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
               updates_collections: Any = None, name: str | None = None) -> Metric:
        with variable_scope(name, kind, (predictions, labels, weights)):
            predictions, labels, weights = matched(in_dtype(predictions, bool_), in_dtype(labels, bool_), weights)
            right, more_right = true_positives(labels, predictions, weights)
            wrong, more_wrong = misses(labels, predictions, weights)
            return collected(build.DivNoNan(right, right + wrong, name="value"),
                             build.DivNoNan(more_right, more_right + more_wrong, name="update_op"),
                             metrics_collections, updates_collections)

    return in_graphs(named(metric, kind, f"True positives among what {what}. labels, predictions: cast to bool[...]."))


precision = _rate(false_positives, "precision", "was predicted positive")
recall = _rate(false_negatives, "recall", "is positive")
