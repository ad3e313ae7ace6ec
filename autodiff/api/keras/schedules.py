"""tf.keras.optimizers.schedules: rates as functions of the step."""
from __future__ import annotations

import inspect
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32
from .. import math
from ..common.made import Configured, named
from ..common.unsupported import refusing
from ..train import schedules
from .utils import deserialized, serialized


def float_of(value: Any) -> Any:
    """A rate as float32[]."""
    return math.cast(convert_to_tensor(value), float32)


class LearningRateSchedule(Configured):
    """A rate for each step: `schedule(step)`."""

    def __call__(self, step: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __call__")

    def get_config(self) -> dict[str, Any]:
        """Its settings by name."""
        raise NotImplementedError(f"{type(self).__name__} has no get_config")


def _schedule(function: Any, kind: str, settings: str, first: str = "learning_rate") -> Any:
    """A class of settings: those of the function after the step, which is called anew for each step."""
    told = inspect.signature(function).parameters
    names = settings.split()

    class Made(LearningRateSchedule):
        def __init__(self, *args: Any, **options: Any) -> None:
            defaults = {key: told[key].default for key in names if key in told}
            self._settings = {**defaults, **dict(zip(names, args)), **options}
            self.name = self._settings.pop("name", None)

        def __call__(self, step: Any) -> Any:
            given = dict(self._settings)
            rate = {"learning_rate": float_of(given.pop("initial_learning_rate"))} if first == "learning_rate" else {}
            made = function(**rate, **given, **{"x" if first == "x" else "global_step": step})
            return made() if callable(made) else made

        def get_config(self) -> dict[str, Any]:
            return {**self._settings, "name": self.name}

    return named(Made, kind, function.__doc__)


ExponentialDecay = _schedule(schedules.exponential_decay, "ExponentialDecay",
                             "initial_learning_rate decay_steps decay_rate staircase name")
InverseTimeDecay = _schedule(schedules.inverse_time_decay, "InverseTimeDecay",
                             "initial_learning_rate decay_steps decay_rate staircase name")
PolynomialDecay = _schedule(schedules.polynomial_decay, "PolynomialDecay",
                            "initial_learning_rate decay_steps end_learning_rate power cycle name")
PiecewiseConstantDecay = _schedule(schedules.piecewise_constant, "PiecewiseConstantDecay", "boundaries values name",
                                   "x")


def deserialize(config: dict[str, Any], custom_objects: Any = None) -> Any:
    """The schedule that `serialize` told of. custom_objects: classes of one's own by name."""
    known = (ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay, PolynomialDecay)
    return deserialized(config, {kind.__name__: kind for kind in known}, custom_objects)


serialize = serialized
__getattr__ = refusing("tf.keras.optimizers.schedules", __name__)
