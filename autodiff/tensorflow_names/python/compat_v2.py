"""tensorflow.compat.v2: what libraries that speak both versions take from it. The rest is TensorFlow 1's."""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ... import nn as nn  # noqa: PLC0414
from ...api.arrays.sorting import argsort as argsort  # noqa: PLC0414
from ...api.math.selection import where_v2 as where  # noqa: F401
from ...api.train.optimizer import Optimizer
from . import version_2


def __getattr__(name: str) -> Any:
    return getattr(version_2, f"{name}_v2")  # of another signature than version 1's


optimizers = SimpleNamespace(Optimizer=Optimizer)  # what libraries derive from; Keras's own are not here


def enable_v2_behavior() -> Any:
    """Refused: raises RuntimeError."""
    raise RuntimeError("gradbg speaks TensorFlow 1: TensorFlow 2's behavior cannot be enabled")
