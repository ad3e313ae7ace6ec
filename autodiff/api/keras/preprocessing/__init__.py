"""tf.keras.preprocessing: texts as numbers, sequences of one length, images as a generator gives them.

Start with sequence.py.
"""
from __future__ import annotations

from ...common.unsupported import refusing
from . import image, sequence, text

__all__ = ["image", "sequence", "text"]

__getattr__ = refusing("tf.keras.preprocessing", __name__)
