"""tf.contrib.metrics: tf.metrics under longer names, with the predictions before the labels, and dicts of them."""
import functools
from typing import Any

from ...core.dtypes import float32
from ...core.graph import Tensor
from ...core.op import build
from .. import metrics
from ..common.unsupported import unsupported_name
from ..math import confusion_matrix
from ..math.reductions import reduce_mean, reduce_sum
from ..metrics import metric_variable

__all__ = ["accuracy", "aggregate_metric_map", "aggregate_metrics", "confusion_matrix", "metric_variable"]


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Tensor:
    """The share of predictions that are the labels, of this run alone. weights: of each -> float32[]."""
    right = build.Cast(build.Equal(predictions, labels), dtype=float32, name=name)
    return reduce_mean(right) if weights is None else reduce_sum(right * weights) / reduce_sum(
        weights * build.OnesLike(right))


def aggregate_metrics(*value_update_tuples: Any) -> tuple[list[Any], list[Any]]:
    """(the values, the updates) of pairs of metrics."""
    return [value for value, _ in value_update_tuples], [update for _, update in value_update_tuples]


def aggregate_metric_map(names_to_tuples: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the values, the updates) of pairs of metrics, by their names."""
    values, updates = aggregate_metrics(*names_to_tuples.values())
    return dict(zip(names_to_tuples, values)), dict(zip(names_to_tuples, updates))


def _turned(function: Any) -> Any:
    """The metric of labels and predictions, to be called with predictions first."""
    @functools.wraps(function)
    def streaming(*args: Any, **options: Any) -> Any:
        given = {**dict(zip(("predictions", "labels"), args)), **options}
        labels, predictions = given.pop("labels"), given.pop("predictions")
        return function(labels, predictions, *args[2:], **given)
    return streaming


def __getattr__(name: str) -> Any:
    found = name.removeprefix("streaming_").removeprefix("sparse_").replace("percentage_less", "percentage_below")
    if found == name or found not in metrics.__all__:
        raise AttributeError(name) if name.startswith("__") else unsupported_name("tf.contrib.metrics", name, __all__)
    function = getattr(metrics, found)
    return function if found in ("mean", "mean_tensor", "percentage_below") else _turned(function)
