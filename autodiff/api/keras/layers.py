"""tf.keras.layers: those of tf.layers, and Keras' own that change shapes, merge tensors or run along time."""

from ..common.unsupported import refusing
from ..layers import InputSpec
from .elementwise import *  # noqa: F403
from .models import Input, InputLayer
from .plain import *  # noqa: F403
from .plain import Weights as Layer
from .recurrent import *  # noqa: F403
from .shaping import *  # noqa: F403
from .wrappers import *  # noqa: F403

__all__ = ["Input", "InputLayer", "InputSpec", "Layer"]

__getattr__ = refusing("tf.keras.layers", __name__)
