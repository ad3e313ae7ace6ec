"""tf.python: TensorFlow's module paths as attributes, `tf.python.framework.ops`, where nothing is imported by name."""
from __future__ import annotations

from typing import Any

from .alias import Alias
from .places import ROOMS

_TOP = Alias("tensorflow.python", ROOMS["tensorflow.python"])


def __getattr__(name: str) -> Any:
    return getattr(_TOP, name)
