"""fit, evaluate and predict of what gives batches, with the arguments in the order that they have there."""
from __future__ import annotations

from typing import Any


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
