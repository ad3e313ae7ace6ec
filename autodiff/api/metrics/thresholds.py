"""Counts at several thresholds at once, and what is read off them: rates, areas, a rate where another is given."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import bool_, float32, int32
from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.op import build
from ..common.made import named
from ..common.ranks import broadcast_weights, matched
from ..control.dependencies import control_dependencies
from ..debugging import assert_greater_equal, assert_less_equal
from ..logging import warning
from ..math.casts import in_dtype
from ..math.reductions import reduce_sum
from ..variables.variable_scope import variable_scope
from .streams import Metric, collected, in_graphs, metric_variable

__all__ = ["auc", "false_negatives_at_thresholds", "false_positives_at_thresholds", "precision_at_thresholds",
           "recall_at_thresholds", "sensitivity_at_specificity", "specificity_at_sensitivity",
           "true_negatives_at_thresholds", "true_positives_at_thresholds"]

KINDS = {"tp": "true_positives", "fn": "false_negatives", "tn": "true_negatives", "fp": "false_positives"}
_NEAR = 1e-7  # beyond 0 and 1, and what keeps a rate of nothing defined
_SMALL = 1e-6  # what keeps the rates of an area defined
Counts = dict[str, Any]  # tp, fn, tn, fp -> float[thresholds]


def _counts(labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any,
            wanted: Sequence[str] = tuple(KINDS)) -> tuple[Counts, Counts]:
    """The counts so far, and with this run's added."""
    found = amounts(labels, predictions, thresholds, weights, wanted)
    totals = {kind: metric_variable([len(thresholds)], float32, name=KINDS[kind]) for kind in wanted}
    updates = {kind: total.assign_add(found[kind]) for kind, total in totals.items()}
    return {kind: total.as_tensor() for kind, total in totals.items()}, updates


def amounts(labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any, wanted: Sequence[str],
            chosen: Callable[[Any, Any], tuple[Any, Any]] = lambda *both: both) -> Counts:
    """This run's counts. predictions: float[...] in [0, 1], which each run checks. chosen: those that count."""
    predictions = convert_to_tensor(predictions)
    zero, one = (build.Cast(convert_to_tensor(bound), dtype=predictions.dtype.base_dtype) for bound in (0.0, 1.0))
    said = "predictions must be in [0, 1]"
    with control_dependencies([assert_greater_equal(predictions, zero, message=said),
                               assert_less_equal(predictions, one, message=said)]):
        predictions, labels, weights = matched(build.Cast(predictions, dtype=float32),
                                               build.Cast(convert_to_tensor(labels), dtype=bool_), weights)
    predictions, labels = chosen(predictions, labels)
    above = build.Greater(build.Reshape(predictions, [1, -1]), convert_to_tensor([[t] for t in thresholds], float32))
    positive = build.Reshape(labels, [1, -1])
    if weights is not None:
        weights = build.Reshape(broadcast_weights(in_dtype(weights), predictions), [1, -1])
    found = {}
    for kind in wanted:
        is_true, is_said = kind in ("tp", "fn"), kind in ("tp", "fp")
        hit = build.LogicalAnd(positive if is_true else build.LogicalNot(positive),
                               above if is_said else build.LogicalNot(above))
        amount = build.Cast(hit, dtype=float32)
        if weights is not None:
            amount = build.Mul(amount, weights)
        found[kind] = reduce_sum(amount, 1)
    return found


def even(number: int, last: float = _NEAR) -> list[float]:
    """So many thresholds, from just below 0 to just above 1."""
    return [-_NEAR, *((i + 1) / (number - 1) for i in range(number - 2)), 1.0 + last]


def _counted(kind: str) -> Callable[..., Metric]:
    def metric(labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any = None,
               metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> Metric:
        with variable_scope(name, KINDS[kind], (predictions, labels, weights)):
            values, updates = _counts(labels, predictions, thresholds, weights, (kind,))
            return collected(values[kind], updates[kind], metrics_collections, updates_collections)

    words = f"The (weighted) count of {KINDS[kind].replace('_', ' ')} at each threshold: float32[thresholds]."
    return in_graphs(named(metric, f"{KINDS[kind]}_at_thresholds", words))


true_positives_at_thresholds, false_negatives_at_thresholds = _counted("tp"), _counted("fn")
true_negatives_at_thresholds, false_positives_at_thresholds = _counted("tn"), _counted("fp")


def _rate(kind: str, misses: str) -> Callable[..., Metric]:
    def metric(labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any = None,
               metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> Metric:
        with variable_scope(name, f"{kind}_at_thresholds", (predictions, labels, weights)):
            values, updates = _counts(labels, predictions, thresholds, weights, ("tp", misses))
            value, update = (build.RealDiv(c["tp"], _NEAR + c["tp"] + c[misses], name=f"{kind}_{which}")
                             for c, which in ((values, "value"), (updates, "update_op")))
            return collected(value, update, metrics_collections, updates_collections)

    return in_graphs(named(metric, f"{kind}_at_thresholds", f"The {kind} at each threshold: float32[thresholds]."))


precision_at_thresholds, recall_at_thresholds = _rate("precision", "fp"), _rate("recall", "fn")


@in_graphs
def sensitivity_at_specificity(labels: Any, predictions: Any, specificity: float, weights: Any = None,
                               num_thresholds: int = 200, metrics_collections: Any = None,
                               updates_collections: Any = None, name: str | None = None) -> Metric:
    """The sensitivity at the threshold where the specificity is nearest to the one given, in [0, 1]."""
    if not 0 <= specificity <= 1:
        raise ArgumentError("`specificity` must be in the range [0, 1].")

    def read(c: Counts, which: str) -> Tensor:
        rates = build.RealDiv(c["tn"], c["tn"] + c["fp"] + _NEAR)
        at = build.Cast(build.ArgMin(build.Abs(rates - specificity), 0), dtype=int32)
        return build.RealDiv(c["tp"][at], c["tp"][at] + c["fn"][at] + _NEAR, name=which)

    with variable_scope(name, "sensitivity_at_specificity", (predictions, labels, weights)):
        values, updates = _counts(labels, predictions, even(num_thresholds), weights)
        return collected(read(values, "value"), read(updates, "update_op"), metrics_collections, updates_collections)


@in_graphs
def specificity_at_sensitivity(labels: Any, predictions: Any, sensitivity: float, weights: Any = None,
                               num_thresholds: int = 200, metrics_collections: Any = None,
                               updates_collections: Any = None, name: str | None = None) -> Metric:
    """The specificity at the last threshold where the sensitivity is nearest to the one given, in [0, 1]."""
    if not 0 <= sensitivity <= 1:
        raise ArgumentError("`sensitivity` must be in the range [0, 1].")

    def read(c: Counts, which: str) -> Tensor:
        away = build.Abs(build.RealDiv(c["tp"], c["tp"] + c["fn"] + _NEAR) - sensitivity)
        nearest = build.Cast(build.Equal(away, build.Min(away, [0])), dtype=int32)
        at = build.Cast(build.ArgMax(build.Cumsum(nearest, 0), 0), dtype=int32)
        return build.RealDiv(c["tn"][at], c["tn"][at] + c["fp"][at] + _NEAR, name=which)

    with variable_scope(name, "specificity_at_sensitivity", (predictions, labels, weights)):
        values, updates = _counts(labels, predictions, even(num_thresholds, -_NEAR), weights)
        return collected(read(values, "value"), read(updates, "update_op"), metrics_collections, updates_collections)


@in_graphs
def auc(labels: Any, predictions: Any, weights: Any = None, num_thresholds: int = 200,
        metrics_collections: Any = None, updates_collections: Any = None, curve: str = "ROC",
        name: str | None = None, summation_method: str = "trapezoidal", thresholds: Any = None) -> Metric:
    """The area under a curve of rates, summed up between thresholds.

    labels: cast to bool[...]; predictions: float[...] in [0, 1]. curve: "ROC", true against false positives, or "PR",
    precision against recall. thresholds: those between 0 and 1, in place of even ones. summation_method:
    "trapezoidal", "minoring", "majoring", or "careful_interpolation". Raises ArgumentError (ValueError) for others.
    """
    if curve not in ("ROC", "PR"):
        raise ArgumentError(f"curve must be either ROC or PR, {curve} unknown")
    if summation_method not in ("trapezoidal", "minoring", "majoring", "careful_interpolation"):
        raise ArgumentError(f"Invalid summation_method: {summation_method}")
    if curve == "PR" and summation_method == "trapezoidal":
        warning('Trapezoidal rule is known to produce incorrect PR-AUCs; please switch to "careful_interpolation" '
                "instead.")
    with variable_scope(name, "auc", (labels, predictions, weights)):
        levels = even(num_thresholds) if thresholds is None else [-_NEAR, *sorted(thresholds), 1.0 + _NEAR]
        values, updates = _counts(labels, predictions, levels, weights)
        return collected(_area(values, curve, summation_method, "value"),
                         _area(updates, curve, summation_method, "update_op"), metrics_collections, updates_collections)


def _area(c: Counts, curve: str, method: str, name: str) -> Tensor:
    if curve == "PR" and method == "careful_interpolation":
        return interpolated(c)
    recall = (c["tp"] + _SMALL) / (c["tp"] + c["fn"] + _SMALL)
    if curve == "ROC":
        x, y = c["fp"] / (c["fp"] + c["tn"] + _SMALL), recall
    else:
        x, y = recall, (c["tp"] + _SMALL) / (c["tp"] + c["fp"] + _SMALL)
    return area_under(x, y, method, name)


def area_under(x: Tensor, y: Tensor, method: str, name: str | None = None) -> Tensor:
    """The area under y between falling x, each piece as high as a method has it: its mean, lower or higher end."""
    left, right = y[:-1], y[1:]
    heights = build.Minimum(left, right) if method == "minoring" else build.Maximum(left, right) \
        if method == "majoring" else (left + right) / 2.0
    return reduce_sum((x[:-1] - x[1:]) * heights, name=name)


def interpolated(c: Counts) -> Tensor:
    """The area under precision and recall, with both counts linear between two thresholds.

    Source: Davis and Goadrich (2006), section 4; with p = tp + fp and slope = d tp / d p, the integral of precision
    over p is d tp + (tp - slope p) log(p_a / p_b), by hand.
    """
    tp, p = c["tp"], c["tp"] + c["fp"]
    step = tp[:-1] - tp[1:]
    slope = build.DivNoNan(step, build.Maximum(p[:-1] - p[1:], 0.0), name="prec_slope")
    intercept = tp[1:] - slope * p[1:]
    ratio = build.Select(build.LogicalAnd(p[:-1] > 0, p[1:] > 0), build.DivNoNan(p[:-1], build.Maximum(p[1:], 0.0)),
                         build.OnesLike(p[1:]))
    parts = build.DivNoNan(slope * (step + intercept * build.Log(ratio)), build.Maximum(tp[1:] + c["fn"][1:], 0.0))
    return reduce_sum(parts, name="interpolate_pr_auc")
