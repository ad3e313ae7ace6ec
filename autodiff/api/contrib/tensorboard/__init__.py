"""tf.contrib.tensorboard: what TensorBoard's projector is told. Start with projector.py."""
from ...common.unsupported import refusing
from . import plugins

__all__ = ["plugins"]

__getattr__ = refusing("tf.contrib.tensorboard", __name__)
