"""tf.distribute: strategies, for scripts that may run on several devices. Start with strategies.py."""

from ..common.unsupported import refusing
from . import strategies
from .strategies import *

__all__ = strategies.__all__
__getattr__ = refusing("tf.distribute", __name__)
