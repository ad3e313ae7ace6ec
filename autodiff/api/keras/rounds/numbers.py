"""The numbers of a round through all batches: what is kept of each of them, and what is told at the end."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.errors import ArgumentError
from ..metric_base import Metric


class Numbers:
    """Sums over the batches so far, and by what they are divided.

    Of the loss each example or each batch counts once, of those of several outputs each batch. A metric that is a
    function counts as many values as that gives of a batch: one, if it is of the whole batch.
    """

    def __init__(self, names: Sequence[str], measured: Sequence[Any]) -> None:
        self._names, self._totals, self._counts = names, np.zeros(len(names)), np.zeros(len(names))
        first = len(names) - len(measured)
        self._counted = [first + i for i, each in enumerate(measured) if not isinstance(each, Metric)]
        self._kept = [first + i for i, each in enumerate(measured) if isinstance(each, Metric)]

    def with_batch(self, given: Sequence[Any], size: int) -> dict[str, float]:
        """The numbers after one more batch: the losses of it alone, metrics of all. given: values, then the counts."""
        values, counts = np.array(given[:len(self._names)], np.float64), np.ones(len(self._names))
        counts[0], counts[self._counted] = size, given[len(self._names):]
        self._totals, self._counts = self._totals + counts * values, self._counts + counts
        self._totals[self._kept] = values[self._kept] * self._counts[self._kept]
        return {**self.whole(), "loss": float(values[0])}

    def whole(self) -> dict[str, float]:
        """The numbers of all batches so far."""
        return dict(zip(self._names, map(float, self._totals / self._counts)))


def is_due(epoch: int, every: Any) -> bool:
    """Whether there is a validation after an epoch, counted from 0. every: a count, or the epochs, counted from 1."""
    if isinstance(every, int) and every < 1:
        raise ArgumentError("`validation_freq` can not be less than 1.")
    return (epoch + 1) % every == 0 if isinstance(every, int) else epoch + 1 in every
