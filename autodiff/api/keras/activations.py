"""tf.keras.activations: functions by their names."""
from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentError
from .. import nn
from ..common.unsupported import refusing
from ..math.elementwise import exp
from .functions.networks import elu, hard_sigmoid, relu, sigmoid, softmax, softplus, softsign, tanh

__all__ = ["elu", "exponential", "get", "hard_sigmoid", "linear", "relu", "selu", "sigmoid", "softmax", "softplus",
           "softsign", "tanh"]

exponential, selu = exp, nn.selu


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
    raise ArgumentError(f"Unknown activation function:{identifier}",
                        expected=", ".join(name for name in __all__ if name != "get"))


def serialize(activation: Any) -> str:
    """The name of a function."""
    return str(activation.__name__)


deserialize = get
__getattr__ = refusing("tf.keras.activations", __name__)
