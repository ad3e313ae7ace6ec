"""Activations and initialisers that layers accept by name."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .. import activations, initializers, math
from ..errors import ArgumentError
from ..op import build

ZEROS, ONES = initializers.Zeros(), initializers.Ones()  # where the layers' biases, scales and means start

_ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "elu": activations.elu, "exponential": math.exp, "linear": lambda x: x, "relu": activations.relu,
    "relu6": activations.relu6, "selu": activations.selu, "sigmoid": math.sigmoid, "softmax": activations.softmax,
    "softplus": activations.softplus, "softsign": activations.softsign, "tanh": math.tanh,
    "hard_sigmoid": lambda x: build.Minimum(build.Maximum(0.2 * x + 0.5, 0.0), 1.0),
}
_INITIALIZERS: dict[str, Callable[[], Any]] = {
    **{name: getattr(initializers, name) for name in (
        "zeros", "ones", "constant", "orthogonal", "identity", "glorot_uniform", "glorot_normal", "he_normal",
        "he_uniform", "lecun_normal", "lecun_uniform", "truncated_normal", "random_uniform", "random_normal")},
    "uniform": lambda: initializers.RandomUniform(-0.05, 0.05), "normal": lambda: initializers.RandomNormal(0.0, 0.05),
}


def named_activation(activation: Any) -> Any:
    """The function of this name, or the function itself. Raises ArgumentError (ValueError) for another name."""
    return _looked_up(activation, _ACTIVATIONS, "activation")


def named_initializer(initializer: Any) -> Any:
    """The initialiser of this name; a class is made, anything else passes."""
    if isinstance(initializer, str):
        return _looked_up(initializer, _INITIALIZERS, "initializer")()
    return initializer() if inspect.isclass(initializer) else initializer


def _looked_up(item: Any, table: dict[str, Any], what: str) -> Any:
    if not isinstance(item, str):
        return item
    if item not in table:
        raise ArgumentError(f"expected an {what} of {', '.join(sorted(table))}, found {item!r}")
    return table[item]
