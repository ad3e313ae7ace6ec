"""Fourier transforms, frames and windows: the namespace tf.signal.

Start with transforms.py.
"""
from ..common.unsupported import refusing
from .frames import frame, hamming_window, hann_window, overlap_and_add
from .transforms import (
    fft,
    fft2d,
    fft3d,
    fftshift,
    ifft,
    ifft2d,
    ifft3d,
    ifftshift,
    inverse_stft,
    inverse_stft_window_fn,
    irfft,
    irfft2d,
    irfft3d,
    rfft,
    rfft2d,
    rfft3d,
    stft,
)

__all__ = ["fft", "fft2d", "fft3d", "fftshift", "frame", "hamming_window", "hann_window", "ifft", "ifft2d", "ifft3d",
           "ifftshift", "inverse_stft", "inverse_stft_window_fn", "irfft", "irfft2d", "irfft3d", "overlap_and_add",
           "rfft", "rfft2d", "rfft3d", "stft"]

__getattr__ = refusing("tf.signal", __name__)
