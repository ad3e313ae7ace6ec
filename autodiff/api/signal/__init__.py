"""Fourier transforms, frames and windows: the namespace tf.signal.

Start with transforms.py.
"""
from ..common.unsupported import refusing
from . import transforms
from .frames import frame, hamming_window, hann_window, overlap_and_add
from .transforms import *

__all__ = ["frame", "hamming_window", "hann_window", "overlap_and_add", *transforms.__all__]

__getattr__ = refusing("tf.signal", __name__)
