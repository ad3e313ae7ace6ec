"""tensorflow.compat.v2: what libraries that speak both versions take from it. The rest is TensorFlow 1's."""
from __future__ import annotations

from typing import Any

from ... import nn as nn  # noqa: PLC0414
from ...api.arrays.sorting import argsort
from ...api.math.selection import where_v2 as where

__all__ = ["argsort", "nn", "where"]


def enable_v2_behavior() -> Any:
    """Refused: raises RuntimeError."""
    raise RuntimeError("gradbg speaks TensorFlow 1: TensorFlow 2's behavior cannot be enabled")
