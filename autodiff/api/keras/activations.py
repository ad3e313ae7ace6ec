"""tf.keras.activations: functions of tf.nn by their names."""
from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentError
from .. import math, nn
from ..common.unsupported import refusing
from ..math.elementwise import exp

__all__ = ["elu", "exponential", "get", "hard_sigmoid", "linear", "relu", "selu", "sigmoid", "softmax", "softplus",
           "softsign", "tanh"]

elu, relu, selu, softmax, softplus, softsign = nn.elu, nn.relu, nn.selu, nn.softmax, nn.softplus, nn.softsign
exponential, sigmoid, tanh = exp, math.sigmoid, math.tanh


def hard_sigmoid(x: Any) -> Any:
    """A line from 0 at -2.5 to 1 at 2.5."""
    return math.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


def linear(x: Any) -> Any:
    """x itself."""
    return x


def get(identifier: Any) -> Any:
    """The function of a name; a function itself; `linear` for None. Raises ArgumentError (ValueError) for others."""
    if identifier is None:
        return linear
    if callable(identifier):
        return identifier
    if identifier in __all__ and identifier != "get":
        return globals()[identifier]
    raise ArgumentError(f"Unknown activation: {identifier}", expected=", ".join(n for n in __all__ if n != "get"))


def serialize(activation: Any) -> str:
    """The name of a function."""
    return str(activation.__name__)


deserialize = get
__getattr__ = refusing("tf.keras.activations", __name__)
