"""The metrics that a model is compiled with: of names, of functions, and those of weighted examples."""
from __future__ import annotations

from typing import Any

from ...core.op import build
from .. import math
from ..variables.layer_calls import mask_of
from . import metrics
from .functions.arrays import FLOAT
from .kinds.elementwise import mean_of_steps


class Weighted(metrics.MeanMetricWrapper):
    """The mean of a metric over examples, each of its weight."""


def chosen_metrics(plain: Any, weighted: Any, loss: Any, rank: int | None, output: Any) -> list[tuple[str, Any]]:
    """The metrics of an output with their labels. plain, weighted: one, several or None. rank: of the targets."""
    def chosen(wanted: Any) -> list[tuple[str, Any]]:
        found = []
        for each in [] if wanted is None else wanted if isinstance(wanted, (list, tuple)) else [wanted]:
            is_accuracy = each in ("accuracy", "acc")
            function = metrics.accuracy_for(loss, rank, output) if is_accuracy else metrics.get(each)
            found.append(("acc" if is_accuracy else getattr(function, "name", None) or function.__name__, function))
        return found

    return [*chosen(plain), *((f"weighted_{label}", Weighted(function, f"weighted_{label}"))
                              for label, function in chosen(weighted))]


def metric_of(given: Any) -> Any:
    """A metric of a name, once for all batches; what 'accuracy' means is known when there are targets."""
    return metrics.get(given) if isinstance(given, str) and given not in ("accuracy", "acc") else given


def measured_by(metric: Any, true: Any, predicted: Any, weight: Any) -> tuple[Any, ...]:
    """What a metric says of a batch, and of one that keeps nothing how many values that is the mean of.

    weight: of the examples, None for none; only those that are to be weighted have it.
    """
    mask = mask_of(predicted)
    if isinstance(metric, metrics.Metric):
        weight = weight if isinstance(metric, Weighted) and weight is not None else mask
        return (metric(true, predicted, sample_weight=weight),)
    values = metric(true, predicted)
    return mean_of_steps(values, mask), build.Size(values) if mask is None else math.reduce_sum(math.cast(mask, FLOAT))
