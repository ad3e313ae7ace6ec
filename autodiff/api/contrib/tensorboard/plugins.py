"""tf.contrib.tensorboard.plugins."""
from ...common.unsupported import refusing
from . import projector

__all__ = ["projector"]

__getattr__ = refusing("tf.contrib.tensorboard.plugins", __name__)
