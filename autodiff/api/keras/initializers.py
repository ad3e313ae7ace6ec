"""tf.keras.initializers: those of tf.initializers, also by their names; random ones are as small as Keras has them."""
from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentError
from ..common.unsupported import unsupported_name
from ..variables import initializers

__all__ = ["Initializer", "RandomNormal", "RandomUniform", "TruncatedNormal", "get"]
Initializer = initializers.Initializer


def _small(kind: Any, **defaults: float) -> Any:
    """An initializer whose first arguments are other ones by default."""
    def begin(self: Any, *given: Any, **named: Any) -> None:
        kind.__init__(self, **{**defaults, **dict(zip(kind._config, given)), **named})
    return type(kind.__name__, (kind,), {"__init__": begin, "__doc__": kind.__doc__})


RandomUniform = _small(initializers.RandomUniform, minval=-0.05, maxval=0.05)
RandomNormal, TruncatedNormal = (_small(kind, stddev=0.05) for kind in (initializers.RandomNormal,
                                                                        initializers.TruncatedNormal))
uniform = random_uniform = RandomUniform
normal = random_normal = RandomNormal
truncated_normal = TruncatedNormal
zero, one = initializers.Zeros, initializers.Ones
_BY_NAME = ("constant", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "identity", "lecun_normal",
            "lecun_uniform", "normal", "one", "ones", "orthogonal", "random_normal", "random_uniform",
            "truncated_normal", "uniform", "variance_scaling", "zero", "zeros", "Constant", "GlorotNormal",
            "GlorotUniform", "Identity", "Ones", "Orthogonal", "RandomNormal", "RandomUniform", "TruncatedNormal",
            "VarianceScaling", "Zeros")


def get(identifier: Any) -> Any:
    """The initializer of a name or config; one itself; None for None. Raises ArgumentError (ValueError) for others."""
    if identifier is None or callable(identifier):
        return identifier
    name, told = (identifier["class_name"], identifier["config"]) if isinstance(identifier, dict) else (identifier, {})
    if isinstance(name, str) and name in _BY_NAME:
        return (globals().get(name) or getattr(initializers, name))(**told)
    raise ArgumentError(f"Unknown initializer: {identifier}", expected=", ".join(_BY_NAME))


def __getattr__(name: str) -> Any:
    try:
        return getattr(initializers, name)
    except AttributeError:
        raise unsupported_name("tf.keras.initializers", name, (*__all__, *_BY_NAME)) from None
