"""Initializers that layers accept by name, and the lookup of anything that may be given by name."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...core.errors import ArgumentError
from . import initializers

ZEROS, ONES = initializers.Zeros(), initializers.Ones()  # where the layers' biases, scales and means start

_INITIALIZERS: dict[str, Callable[[], Any]] = {
    **{name: getattr(initializers, name) for name in (
        "zeros", "ones", "constant", "orthogonal", "identity", "glorot_uniform", "glorot_normal", "he_normal",
        "he_uniform", "lecun_normal", "lecun_uniform", "truncated_normal", "random_uniform", "random_normal")},
    "uniform": lambda: initializers.RandomUniform(-0.05, 0.05), "normal": lambda: initializers.RandomNormal(0.0, 0.05)}


def named_initializer(initializer: Any) -> Any:
    """The initializer of this name; a class is made, anything else passes."""
    if isinstance(initializer, str):
        return look_up_name(initializer, _INITIALIZERS, "initializer")()
    return initializer() if inspect.isclass(initializer) else initializer


def look_up_name(item: Any, table: dict[str, Any], what: str) -> Any:
    """The entry of `table` under a name; other values pass. Raises ArgumentError (ValueError) for another name."""
    if not isinstance(item, str):
        return item
    if item not in table:
        raise ArgumentError(expected=f"an {what} of {', '.join(sorted(table))}", found=repr(item))
    return table[item]
