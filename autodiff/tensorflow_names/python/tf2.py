"""tensorflow.python.tf2: this is TensorFlow 1."""
from __future__ import annotations


def enabled() -> bool:
    """Always False."""
    return False


def enable() -> None:
    """Refused: raises RuntimeError."""
    raise RuntimeError("gradbg speaks TensorFlow 1: TensorFlow 2's behavior cannot be enabled")


def disable() -> None:
    """It is disabled."""
