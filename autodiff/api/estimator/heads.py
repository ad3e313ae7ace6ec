"""What is behind a canned estimator's last layer: predictions, the loss of each example, metrics."""
from __future__ import annotations

from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32, int64, string
from ...core.op import build
from .. import math, metrics, nn
from ..arrays.creation import zeros_like
from ..arrays.rearrange import tile
from ..arrays.shaping import concat, reshape
from ..lookup.vocabulary import index_table_from_tensor, index_to_string_table_from_tensor
from ..strings import as_string
from .export import ClassificationOutput, PredictOutput, RegressionOutput


class Numbers:
    """Numbers and their squared errors. size: of an example's."""

    def __init__(self, size: int) -> None:
        self.size = size

    def predictions(self, logits: Any) -> dict[str, Any]:
        """Name -> float[b, size]."""
        return {"predictions": logits}

    def outputs(self, found: dict[str, Any]) -> dict[str, Any]:
        """What a SavedModel has, by signature."""
        told = RegressionOutput(found["predictions"])
        return {"serving_default": told, "regression": told, "predict": PredictOutput(found)}

    def true(self, labels: Any) -> Any:
        """The labels as a matrix."""
        return math.cast(reshape(convert_to_tensor(labels), [-1, self.size]), float32)

    def losses(self, logits: Any, true: Any) -> Any:
        """The loss of each example, and of each number."""
        return build.SquaredDifference(logits, true)

    def metrics(self, found: dict[str, Any], true: Any, weights: Any) -> dict[str, Any]:
        """Name -> (value, update)."""
        return {"prediction/mean": metrics.mean(found["predictions"], weights),
                "label/mean": metrics.mean(true, weights)}


class Classes(Numbers):
    """One of n classes by a softmax. words: of the labels, if they are no numbers."""

    def __init__(self, count: int, words: Any = None) -> None:
        super().__init__(1 if count == 2 else count)
        self._count, self._words = count, None if words is None else list(words)

    def predictions(self, logits: Any) -> dict[str, Any]:
        return {"logits": logits, **self._chosen(logits, nn.softmax(logits))}

    def _chosen(self, logits: Any, probabilities: Any) -> dict[str, Any]:
        ids = reshape(math.argmax(probabilities, axis=-1), [-1, 1])
        every = tile([list(range(self._count))], [build.Shape(logits)[0], 1])
        table = None if self._words is None else index_to_string_table_from_tensor(self._words)
        name = as_string if table is None else lambda numbers: table.lookup(math.cast(numbers, int64))
        return {"probabilities": probabilities, "class_ids": ids, "classes": name(ids), "all_class_ids": every,
                "all_classes": name(every)}

    def outputs(self, found: dict[str, Any]) -> dict[str, Any]:
        told = ClassificationOutput(scores=found["probabilities"], classes=found["all_classes"])
        return {"serving_default": told, "classification": told, "predict": PredictOutput(found)}

    def true(self, labels: Any) -> Any:
        labels = reshape(convert_to_tensor(labels), [-1, 1])
        if self._words is None:
            return math.cast(labels, int64)
        kind = string if labels.dtype is string else int64
        return index_table_from_tensor(self._words, dtype=kind).lookup(labels)

    def losses(self, logits: Any, true: Any) -> Any:
        return reshape(nn.sparse_softmax_cross_entropy_with_logits(labels=reshape(true, [-1]), logits=logits), [-1, 1])

    def metrics(self, found: dict[str, Any], true: Any, weights: Any) -> dict[str, Any]:
        return {"accuracy": metrics.accuracy(true, found["class_ids"], weights)}


class TwoClasses(Classes):
    """One of two classes by a sigmoid."""

    def predictions(self, logits: Any) -> dict[str, Any]:
        two = concat([zeros_like(logits), logits], -1)
        return {"logits": logits, "logistic": math.sigmoid(logits), **self._chosen(logits, nn.softmax(two))}

    def losses(self, logits: Any, true: Any) -> Any:
        return nn.sigmoid_cross_entropy_with_logits(labels=math.cast(true, float32), logits=logits)

    def metrics(self, found: dict[str, Any], true: Any, weights: Any) -> dict[str, Any]:
        share, chosen, probable = metrics.mean(true, weights), found["class_ids"], found["logistic"]
        return {**super().metrics(found, true, weights), "precision": metrics.precision(true, chosen, weights),
                "recall": metrics.recall(true, chosen, weights), "label/mean": share,
                "prediction/mean": metrics.mean(probable, weights),
                "accuracy_baseline": tuple(math.maximum(mean, 1.0 - mean) for mean in share),
                "auc": metrics.auc(true, probable, weights),
                "auc_precision_recall": metrics.auc(true, probable, weights, curve="PR")}
