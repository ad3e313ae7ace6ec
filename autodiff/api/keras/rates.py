"""Metrics of what was rightly and wrongly said to be true, at one threshold or several, and over classes."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.dtypes import float32
from ...core.op import build
from .. import math, nn
from ..arrays.creation import one_hot
from ..common.made import named
from ..control.dependencies import group
from ..math.histograms import confusion_matrix
from ..metrics.classes import mean_of_unions
from ..metrics.thresholds import KINDS, amounts, area_under, even, interpolated
from .metric_base import Metric

__all__ = ["AUC", "FalseNegatives", "FalsePositives", "MeanIoU", "Precision", "Recall", "TrueNegatives",
           "TruePositives"]


class _Counted(Metric):
    """Counts of some kinds at thresholds. top_k: of each row so many are positive. class_id: the only one counted."""

    def __init__(self, kinds: Any, thresholds: Any, name: Any, dtype: Any, top_k: Any = None,
                 class_id: Any = None) -> None:
        super().__init__(name, dtype)
        self.thresholds, self.top_k, self.class_id = list(thresholds), top_k, class_id
        self._totals = {kind: self.add_weight(KINDS[kind], [len(self.thresholds)]) for kind in kinds}

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        found = amounts(y_true, y_pred, self.thresholds, sample_weight, [*self._totals], self._chosen)
        return group(*(total.assign_add(found[kind]) for kind, total in self._totals.items()))

    def _chosen(self, predictions: Any, labels: Any) -> tuple[Any, Any]:
        if self.top_k is not None:
            best = math.reduce_sum(one_hot(nn.top_k(predictions, self.top_k).indices, predictions.dims[-1]), axis=-2)
            predictions = build.Select(best > 0, predictions, build.OnesLike(predictions) * -1e10)
        at = self.class_id
        return (predictions, labels) if at is None else (predictions[..., at], labels[..., at])


def _of(name: str, kinds: tuple[str, ...], value: Callable[..., Any], words: str) -> Any:
    class Made(_Counted):
        def __init__(self, thresholds: Any = None, top_k: Any = None, class_id: Any = None, name: Any = None,
                     dtype: Any = None) -> None:
            levels = (0.5 if top_k is None else -1e10) if thresholds is None else thresholds
            levels = [*levels] if isinstance(levels, (list, tuple)) else [levels]
            super().__init__(kinds, levels, name, dtype, top_k, class_id)

        def result(self) -> Any:
            made = value(*(total.as_tensor() for total in self._totals.values()))
            return made[0] if len(self.thresholds) == 1 else made

    return named(Made, name, words)


TruePositives, FalsePositives, TrueNegatives, FalseNegatives = (
    _of(name, (kind,), build.Identity, f"The count of {KINDS[kind].replace('_', ' ')}, at each threshold.")
    for name, kind in (("TruePositives", "tp"), ("FalsePositives", "fp"), ("TrueNegatives", "tn"),
                       ("FalseNegatives", "fn")))
Precision, Recall = (_of(name, ("tp", missed), lambda tp, other: build.DivNoNan(tp, tp + other), words)
                     for name, missed, words in (
    ("Precision", "fp", "The true ones among what was predicted positive."),
    ("Recall", "fn", "The ones predicted positive among what is.")))


class AUC(_Counted):
    """The area under a curve of rates, 'ROC' or 'PR'. thresholds: in place of num_thresholds even ones."""

    def __init__(self, num_thresholds: int = 200, curve: str = "ROC", summation_method: str = "interpolation",
                 name: Any = None, dtype: Any = None, thresholds: Any = None) -> None:
        levels = even(num_thresholds) if thresholds is None else [-1e-7, *sorted(thresholds), 1.0 + 1e-7]
        super().__init__(KINDS, levels, name, dtype)
        self.curve, self.summation_method = curve.upper(), summation_method

    def result(self) -> Any:
        c = {kind: total.as_tensor() for kind, total in self._totals.items()}
        if self.curve == "PR" and self.summation_method == "interpolation":
            return interpolated(c)
        recall = build.DivNoNan(c["tp"], c["tp"] + c["fn"])
        if self.curve == "PR":
            return area_under(recall, build.DivNoNan(c["tp"], c["tp"] + c["fp"]), self.summation_method)
        return area_under(build.DivNoNan(c["fp"], c["fp"] + c["tn"]), recall, self.summation_method)


class MeanIoU(Metric):
    """Intersection over union of each class, the mean over those that occur. y_true, y_pred: classes by number."""

    def __init__(self, num_classes: int, name: Any = None, dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.num_classes, self.total_cm = num_classes, self.add_weight("total_confusion_matrix", [num_classes] * 2)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        true, said = (build.Reshape(math.cast(each, "int64"), [-1]) for each in (y_true, y_pred))
        weights = None if sample_weight is None else build.Reshape(math.cast(sample_weight, float32), [-1])
        return self.total_cm.assign_add(confusion_matrix(true, said, self.num_classes, float32, weights=weights))

    def result(self) -> Any:
        return mean_of_unions(self.total_cm.as_tensor())
