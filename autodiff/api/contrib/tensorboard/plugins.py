"""tf.contrib.tensorboard.plugins."""
from __future__ import annotations

from ...common.unsupported import refusing
from . import projector

__all__ = ["projector"]

__getattr__ = refusing("tf.contrib.tensorboard.plugins", __name__)
