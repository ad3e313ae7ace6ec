"""tf.keras.metrics: how right predictions are, example by example."""
from __future__ import annotations

from typing import Any

import numpy as np

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


class Metric:
    """A number over all that update_state was given since reset_states. Subclasses say both, and result."""

    def __init__(self, name: str | None = None, dtype: Any = None) -> None:
        self.name = name or type(self).__name__.lower()

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.update_state(*args, **options)  # type: ignore[attr-defined]
        return self.result()  # type: ignore[attr-defined]


class Mean(Metric):
    """The mean of values, while executing eagerly."""

    def __init__(self, name: str | None = "mean", dtype: Any = None) -> None:
        super().__init__(name)
        self.reset_states()

    def reset_states(self) -> None:
        self._total, self._count = 0.0, 0.0

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        values = np.asarray(convert_to_tensor(values), np.float64)
        weights = np.broadcast_to(1.0 if sample_weight is None else np.asarray(sample_weight), values.shape)
        self._total += float((values * weights).sum())
        self._count += float(weights.sum())

    def result(self) -> Any:
        return convert_to_tensor(np.float32(self._total / self._count if self._count else 0.0))


class MeanMetricWrapper(Mean):
    """The mean over examples of a function of what is true and what was predicted."""

    def __init__(self, fn: Any, name: str | None = None, dtype: Any = None, **options: Any) -> None:
        super().__init__(name)
        self.fn, self._options = fn, options

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        super().update_state(self.fn(y_true, y_pred, **self._options), sample_weight)


mse = MSE = losses.mse
mae = MAE = losses.mae


def _class_of(function: Any, kind: str) -> Any:
    class Made(MeanMetricWrapper):
        def __init__(self, name: str | None = None, dtype: Any = None, **options: Any) -> None:
            super().__init__(function, name or function.__name__, **options)

    return named(Made, kind, function.__doc__)


_CLASSES = {
    "BinaryAccuracy": binary_accuracy, "CategoricalAccuracy": categorical_accuracy,
    "SparseCategoricalAccuracy": sparse_categorical_accuracy, "TopKCategoricalAccuracy": top_k_categorical_accuracy,
    "Accuracy": lambda y_true, y_pred: _same(*losses._pair(y_true, y_pred)),
    **{kind: losses._CLASSES[kind] for kind in ("MeanSquaredError", "MeanAbsoluteError", "BinaryCrossentropy",
                                                "CategoricalCrossentropy", "SparseCategoricalCrossentropy")}}
globals().update({kind: _class_of(function, kind) for kind, function in _CLASSES.items()})


def get(identifier: Any) -> Any:
    """The function of a name, which may be that of a loss. Raises ArgumentError (ValueError) for others."""
    if callable(identifier):
        return identifier
    found = globals().get(identifier) or getattr(losses, str(identifier), None)
    if not callable(found):
        raise ArgumentError(f"Unknown metric function:{identifier}", expected="the name of a metric, as 'accuracy'")
    return found() if isinstance(found, type) else found


__getattr__ = refusing("tf.keras.metrics", __name__)
