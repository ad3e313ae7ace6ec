"""The metrics that a model is compiled with, and how many operations TensorFlow 1.15 makes of them and of losses."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.graph import Tensor
from ...core.op import build
from .. import math
from ..variables.layer_calls import mask_of
from . import metrics
from .functions.arrays import FLOAT
from .kinds.elementwise import mean_of_steps

_OF = {
    "mean_squared_error": 3, "mean_absolute_error": 4, "mean_absolute_percentage_error": 12,
    "mean_squared_logarithmic_error": 17, "squared_hinge": 26, "hinge": 25, "categorical_hinge": 13, "logcosh": 10,
    "kullback_leibler_divergence": 13, "poisson": 7, "cosine_proximity": 17, "binary_crossentropy": 22,
    "categorical_crossentropy": 14, "sparse_categorical_crossentropy": 19, "binary_accuracy": 7,
    "categorical_accuracy": 6, "sparse_categorical_accuracy": 6, "top_k_categorical_accuracy": 5}
_OF_LOGITS = {"binary_crossentropy": ("Sigmoid", 13), "categorical_crossentropy": ("Softmax", 32),
              "sparse_categorical_crossentropy": ("Softmax", 13)}  # where a prediction is that of what came before
_AROUND_LOSS, _AROUND_METRIC = 21, 22  # what is the same for all: a target, the weights, the sums


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


def operations_of(outputs: list[Tensor], losses: list[Any], metrics: list[list[Any]]) -> int:
    """Those of the losses and metrics of a model; one's own functions have what is around them alone."""
    told = [(loss, output) for loss, output in zip(losses, outputs) if loss is not None]
    count = sum(_AROUND_LOSS + _of(loss, output) for loss, output in told)
    if len(told) > 1:
        count += _AROUND_METRIC * len(told) + 1  # the loss of each output is a metric, too
    return count + sum(_AROUND_METRIC + _of(each, output) for several, output in zip(metrics, outputs)
                       for each in _each(several))


def _each(several: Iterable[Any]) -> Iterable[Any]:
    """The functions; metrics that keep their numbers made their operations when they were made."""
    return (each for each in several if not hasattr(each, "update_state"))


def _of(function: Any, output: Tensor) -> int:
    name = str(getattr(function, "name", None) or getattr(function, "__name__", ""))
    kind, exact = _OF_LOGITS.get(name, ("", 0))
    while output.op.type in ("Identity", "Reshape"):
        output = output.op.inputs[0]
    is_exact = output.op.type == kind or getattr(function, "options", {}).get("from_logits")
    return exact if is_exact else _OF.get(name, 0)
