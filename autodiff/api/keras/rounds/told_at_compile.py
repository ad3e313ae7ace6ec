"""How many operations TensorFlow 1.15 makes when a model is compiled; here they are made when there are targets."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....core.graph import Tensor

_OF = {
    "mean_squared_error": 3, "mean_absolute_error": 4, "mean_absolute_percentage_error": 12,
    "mean_squared_logarithmic_error": 17, "squared_hinge": 26, "hinge": 25, "categorical_hinge": 13, "logcosh": 10,
    "kullback_leibler_divergence": 13, "poisson": 7, "cosine_proximity": 17, "binary_crossentropy": 22,
    "categorical_crossentropy": 14, "sparse_categorical_crossentropy": 19, "binary_accuracy": 7,
    "categorical_accuracy": 6, "sparse_categorical_accuracy": 6, "top_k_categorical_accuracy": 5}
_OF_LOGITS = {"binary_crossentropy": ("Sigmoid", 13), "categorical_crossentropy": ("Softmax", 32),
              "sparse_categorical_crossentropy": ("Softmax", 13)}  # where a prediction is that of what came before
_AROUND_LOSS, _AROUND_METRIC = 21, 22  # what is the same for all: a target, the weights, the sums


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
