"""Neural networks: TensorFlow's tf.nn."""
from __future__ import annotations

from . import activations, cross_entropy
from .activations import *
from .cross_entropy import *
from .ranking import in_top_k, top_k

__all__ = [*activations.__all__, *cross_entropy.__all__, "in_top_k", "top_k"]
