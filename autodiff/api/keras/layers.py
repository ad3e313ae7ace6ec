"""tf.keras.layers: those of tf.layers, and Keras' own that change shapes, merge tensors or run along time."""

from ..common.unsupported import refusing
from ..layers import InputSpec
from .kinds.attention import *  # noqa: F403
from .kinds.cells import *  # noqa: F403
from .kinds.elementwise import *  # noqa: F403
from .kinds.plain import *  # noqa: F403
from .kinds.plain import Weights as Layer
from .kinds.recurrent import *  # noqa: F403
from .kinds.shaping import *  # noqa: F403
from .kinds.wrappers import *  # noqa: F403
from .models import Input, InputLayer, deserialize, serialize  # noqa: F401

__all__ = ["Input", "InputLayer", "InputSpec", "Layer"]

__getattr__ = refusing("tf.keras.layers", __name__)
