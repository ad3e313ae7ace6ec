"""keras.optimizers: the rules of tf.keras, with the rates that Keras had where none is given."""
from __future__ import annotations

import functools
from typing import Any

from ...api.keras import optimizers

_DEFAULTS: dict[str, dict[str, float]] = {
    "Adadelta": {"learning_rate": 1.0}, "Adagrad": {"learning_rate": 0.01, "initial_accumulator_value": 0.0},
    "Adamax": {"learning_rate": 0.002}, "Nadam": {"learning_rate": 0.002}, "Adam": {}, "RMSprop": {}, "SGD": {}}
_CLIPS = ("clipnorm", "clipvalue")  # of which 0 is none to Keras, and clips all away to tf.keras


def __getattr__(name: str) -> Any:
    if name not in _DEFAULTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _of_keras(name)


@functools.cache
def _of_keras(name: str) -> Any:
    rule: Any = getattr(optimizers, name)

    def __init__(self: Any, *args: Any, **options: Any) -> None:
        options = {key: value for key, value in options.items() if value or key not in _CLIPS}
        given = {"learning_rate", *options} if args or "lr" in options else {*options}
        rule.__init__(self, *args, **{key: value for key, value in _DEFAULTS[name].items() if key not in given},
                      **options)

    return type(name, (rule,), {"__init__": __init__, "__doc__": rule.__doc__})


def get(identifier: Any) -> Any:
    """The optimizer of a name, as Keras makes it; anything else as tf.keras understands it."""
    kind = next((each for each in _DEFAULTS if str(identifier).lower() == each.lower()), None)
    return optimizers.get(identifier) if kind is None else _of_keras(kind)()
