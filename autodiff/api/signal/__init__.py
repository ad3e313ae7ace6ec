"""Fourier and cosine transforms, frames, windows and mel frequencies: the namespace tf.signal.

Start with transforms.py.
"""
from ..common.unsupported import refusing
from . import mel, transforms
from .frames import frame, hamming_window, hann_window, overlap_and_add
from .mel import *
from .transforms import *

__all__ = ["frame", "hamming_window", "hann_window", "overlap_and_add", *mel.__all__, *transforms.__all__]

__getattr__ = refusing("tf.signal", __name__)
