"""tf.keras.initializers: those of tf.initializers, also by their names."""
from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentError
from ..common.unsupported import unsupported_name
from ..variables import initializers

__all__ = ["Initializer", "get"]
Initializer = initializers.Initializer
_BY_NAME = ("constant", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "lecun_normal", "lecun_uniform",
            "ones", "orthogonal", "random_normal", "random_uniform", "truncated_normal", "variance_scaling", "zeros")


def get(identifier: Any) -> Any:
    """The initializer of a name; one itself; None for None. Raises ArgumentError (ValueError) for others."""
    if identifier is None or callable(identifier):
        return identifier
    if isinstance(identifier, str) and identifier in _BY_NAME:
        return getattr(initializers, identifier)()
    raise ArgumentError(f"Unknown initializer: {identifier}", expected=", ".join(_BY_NAME))


def __getattr__(name: str) -> Any:
    try:
        return getattr(initializers, name)
    except AttributeError:
        raise unsupported_name("tf.keras.initializers", name, (*__all__, *_BY_NAME)) from None
