"""An optimizer that averages what it trains, and a Saver that saves the averages under the variables' names."""
from __future__ import annotations

from typing import Any

from ....core.errors import ArgumentError, StateError
from ...control.dependencies import control_dependencies, group
from ...train.moving_averages import ExponentialMovingAverage
from ...train.optimizer import GradsAndVars, Optimizer
from ...train.saved_variables import named_variables
from ...train.saver import Saver
from ...variables.assignment import global_variables

__all__ = ["MovingAverageOptimizer"]


class MovingAverageOptimizer(Optimizer):
    """The steps of `opt`, each followed by one of tf.train.ExponentialMovingAverage.

    sequential_update: the averages wait for the step; where they do not, they may see either the old or new values.
    """

    def __init__(self, opt: Optimizer, average_decay: Any = 0.9999, num_updates: Any = None,
                 sequential_update: bool = True) -> None:
        super().__init__(False, type(self).__name__)
        self._optimizer, self._sequential_update = opt, sequential_update
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped: dict[str, str] | None = None  # variable -> its average, and back

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """(gradient, variable) for each variable; see Optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: GradsAndVars, global_step: Any = None, name: str | None = None) -> Any:
        """The operation that takes one step with given gradients, and averages; see Optimizer."""
        pairs = list(grads_and_vars)
        step = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        trained = [variable for gradient, variable in pairs if gradient is not None]
        with control_dependencies([step] if self._sequential_update else []):
            averaging = self._ema.apply(trained)
        names = {variable.op.name: self._ema.average_name(variable) for variable in trained}
        self._swapped = names | {average: variable for variable, average in names.items()}
        return group(step, averaging, name="train_with_avg")

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Saver:
        """A Saver for training: a model that is evaluated with a plain Saver is given the averages.

        var_list: as Saver has it. Raises StateError (RuntimeError) before there are averages, ArgumentError
        (ValueError) where only one of a variable and its average is to be saved.
        """
        if self._swapped is None:
            raise StateError("Must call apply_gradients or minimize before creating the swapping_saver")
        wanted = named_variables(global_variables() if var_list is None else var_list)
        by_name = {variable.op.name if len(parts) > 1 else key: variable
                   for key, parts in wanted.items() for variable in parts}
        return Saver({key: [self._partner(by_name, variable.op.name if len(parts) > 1 else key, variable)
                            for variable in parts] for key, parts in wanted.items()}, name=name, **kwargs)

    def _partner(self, by_name: dict[str, Any], name: str, variable: Any) -> Any:
        """What is saved under the name of a variable."""
        other = (self._swapped or {}).get(name)
        if other is None:
            return variable
        if other not in by_name:
            raise ArgumentError(f"Variable to swap {other} is not part of variables to save. This breaks "
                                "MovingAverageOptimizer.")
        return by_name[other]
