"""keras.models: models that are compiled with Keras' own optimizers, and that take the words of Keras 1."""
from __future__ import annotations

from typing import Any

from ...api.keras import models
from . import optimizers

__all__ = ["Model", "Sequential"]


class _Own:
    """compile with Keras' own optimizers."""

    def compile(self, optimizer: Any = "rmsprop", *args: Any, **options: Any) -> None:
        """As of tf.keras."""
        super().compile(optimizers.get(optimizer), *args, **options)  # type: ignore[misc]


class Model(_Own, models.Model):
    """As of tf.keras; `input` and `output` are the words of Keras 1."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{f"{key}s" if key in ("input", "output") else key: value
                                   for key, value in options.items()})


class Sequential(_Own, models.Sequential):
    """As of tf.keras."""
