"""tf.keras.metrics: how right predictions are, example by example."""
from __future__ import annotations

import inspect
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32, int64
from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.op import build
from .. import math, nn
from ..arrays.shaping import reshape
from ..common.made import named
from ..common.unsupported import refusing
from . import losses
from .metric_base import Mean, MeanMetricWrapper, Metric, Sum  # noqa: F401
from .rates import *  # noqa: F403


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Tensor:
    """How often y_pred > threshold says what is true, over the last axis."""
    predicted = convert_to_tensor(y_pred)
    said = math.cast(predicted > threshold, predicted.dtype)
    return math.reduce_mean(_same(math.cast(convert_to_tensor(y_true), predicted.dtype), said), axis=-1)


def categorical_accuracy(y_true: Any, y_pred: Any) -> Tensor:
    """Whether the greatest of y_pred is where the greatest of y_true is."""
    return _same(build.ArgMax(convert_to_tensor(y_true), -1), build.ArgMax(convert_to_tensor(y_pred), -1))


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Tensor:
    """Whether the greatest of y_pred is at the label. y_true: int[...] or [..., 1]."""
    best = build.ArgMax(convert_to_tensor(y_pred), -1)
    return _same(reshape(math.cast(convert_to_tensor(y_true), int64), build.Shape(best)), best)


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Tensor:
    """Whether the label is among the k greatest of y_pred. y_pred: float[n, classes]."""
    labels = reshape(math.cast(convert_to_tensor(y_true), int64), [-1])
    return math.cast(nn.in_top_k(convert_to_tensor(y_pred), labels, k), float32)


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Tensor:
    """Whether the greatest of y_true is among the k greatest of y_pred. Both: float[n, classes]."""
    return sparse_top_k_categorical_accuracy(build.ArgMax(convert_to_tensor(y_true), -1), y_pred, k)


def _same(one: Tensor, other: Tensor) -> Tensor:
    return math.cast(math.equal(one, other), float32)


def accuracy_for(loss: Any, true_rank: int | None, predicted: Tensor) -> Any:
    """What 'accuracy' means for an output: by its loss and its sizes."""
    size = None if predicted.dims is None else predicted.dims[-1]
    name = getattr(loss, "name", None) or getattr(loss, "__name__", "")
    if size == 1 or name == "binary_crossentropy":
        return binary_accuracy
    rank = len(predicted.dims or ())
    sparse = name == "sparse_categorical_crossentropy" or true_rank is not None and true_rank < rank
    return sparse_categorical_accuracy if sparse else categorical_accuracy


globals().update({name: getattr(losses, name) for name in (
    "mse", "MSE", "mae", "MAE", "mape", "MAPE", "msle", "MSLE", "kld", "KLD", "cosine", "cosine_proximity", "poisson",
    "mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "mean_squared_logarithmic_error",
    "kullback_leibler_divergence", "binary_crossentropy", "categorical_crossentropy", "hinge", "squared_hinge",
    "sparse_categorical_crossentropy")})


def _class_of(function: Any, kind: str, told: str) -> Any:
    defaults = {each.name: each.default for each in [*inspect.signature(function).parameters.values()][2:]}
    names = ("k", "name", "dtype") if "k" in defaults else ("name", "dtype", *defaults)

    class Made(MeanMetricWrapper):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(function, **{**defaults, "name": told, **dict(zip(names, args)), **options})

    return named(Made, kind, function.__doc__)


class RootMeanSquaredError(MeanMetricWrapper):
    """The root of the mean of (y_pred - y_true)²."""

    def __init__(self, name: str | None = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(lambda true, predicted: build.SquaredDifference(predicted, true), name, dtype)

    def result(self) -> Any:
        return build.Sqrt(super().result())


_CLASSES = {
    "BinaryAccuracy": binary_accuracy, "CategoricalAccuracy": categorical_accuracy,
    "SparseCategoricalAccuracy": sparse_categorical_accuracy, "TopKCategoricalAccuracy": top_k_categorical_accuracy,
    "SparseTopKCategoricalAccuracy": sparse_top_k_categorical_accuracy,
    "Accuracy": lambda y_true, y_pred: _same(*losses._pair(y_true, y_pred)),
    "LogCoshError": losses.logcosh,
    **{kind: function for kind, function in losses._CLASSES.items() if kind not in ("LogCosh", "Huber")}}
_TOLD = {"Accuracy": "accuracy", "CosineSimilarity": "cosine_similarity"}  # where not the function's
globals().update({kind: _class_of(function, kind, _TOLD.get(kind, function.__name__))
                  for kind, function in _CLASSES.items()})


def get(identifier: Any) -> Any:
    """The function of a name, which may be that of a loss. Raises ArgumentError (ValueError) for others."""
    if callable(identifier):
        return identifier
    found = globals().get(identifier) or getattr(losses, str(identifier), None)
    if not callable(found):
        raise ArgumentError(f"Unknown metric function:{identifier}", expected="the name of a metric, as 'accuracy'")
    return found() if isinstance(found, type) else found


__getattr__ = refusing("tf.keras.metrics", __name__)
