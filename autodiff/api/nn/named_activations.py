"""Activations that layers accept by name."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.op import build
from .. import math
from ..math.softmax import softmax, softplus, softsign
from ..variables.named_initializers import look_up_name
from . import activations

_ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "elu": activations.elu, "exponential": math.exp, "linear": lambda x: x, "relu": activations.relu,
    "relu6": activations.relu6, "selu": activations.selu, "sigmoid": math.sigmoid, "softmax": softmax,
    "softplus": softplus, "softsign": softsign, "tanh": math.tanh,
    "hard_sigmoid": lambda x: build.Minimum(build.Maximum(0.2 * x + 0.5, 0.0), 1.0)}


def named_activation(activation: Any) -> Any:
    """The function of this name, or the function itself. Raises ArgumentError (ValueError) for another name."""
    return look_up_name(activation, _ACTIVATIONS, "activation")
