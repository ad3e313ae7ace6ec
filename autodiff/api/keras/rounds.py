"""Rounds of Keras' models through batches: what fit was given, what is kept of a round, rounds through generators."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.site import RawFrames, capture, resolve
from .batches import Batch, line_of
from .metric_base import Metric


class Fit(NamedTuple):
    """One call. x, y: what it trains with. held: the part that validation_split keeps, () for none. frames: where it
    was called."""

    x: Any
    y: Any
    held: Batch | tuple[()]
    size: int
    shuffles: bool
    frames: RawFrames


def parted(arrays: Batch, share: float) -> tuple[Batch, Batch]:
    """The rows to train with, and the last ones, by their share of all."""
    at = int(len(arrays[0][0]) * (1.0 - share))
    return tuple(tuple([each[part] for each in side] for side in arrays)  # type: ignore[return-value]
                 for part in (slice(at), slice(at, None)))


def note_what_is_given(inputs: Sequence[Tensor], targets: Sequence[Tensor], source: Any, mapped: Sequence[Any]) -> None:
    """Note in the graph which argument of fit each placeholder is fed, and which line calls or gives that."""
    site = resolve(capture()[:1])[0]
    file, line = line_of(source) or (site.file, site.line)
    known = inputs[0].graph.extras.setdefault("given_to_keras", {})
    inputs[0].graph.extras.setdefault("mapped", {}).update((t.op, mapped) for t in (*inputs, *targets))
    for word, tensors in (("x", inputs), ("y", targets)):
        known.update((t.op, (word, i, len(tensors), file, line)) for i, t in enumerate(tensors))


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


class FromGenerators:
    """A model that is told by a generator what it takes; a count behind that is one of batches."""

    fit: Any
    evaluate: Any
    predict: Any

    def fit_generator(self, generator: Any, steps_per_epoch: int | None = None, epochs: int = 1, verbose: int = 1,
                      callbacks: Any = None, validation_data: Any = None, validation_steps: int | None = None,
                      validation_freq: Any = 1, class_weight: Any = None, max_queue_size: int = 10, workers: int = 1,
                      use_multiprocessing: bool = False, shuffle: bool = True, initial_epoch: int = 0) -> Any:
        """fit, of a generator."""
        return self.fit(generator, None, None, epochs, verbose, callbacks, 0.0, validation_data, shuffle, class_weight,
                        None, initial_epoch, steps_per_epoch, validation_steps, validation_freq)

    def evaluate_generator(self, generator: Any, steps: int | None = None, callbacks: Any = None, *_: Any,
                           **options: Any) -> Any:
        """evaluate, of a generator."""
        return self.evaluate(generator, steps=steps)

    def predict_generator(self, generator: Any, steps: int | None = None, callbacks: Any = None, *_: Any,
                          **options: Any) -> Any:
        """predict, of a generator."""
        return self.predict(generator, steps=steps)
