"""Fourier transforms under TensorFlow's older name, tf.spectral."""
from .served import refusing
from .signal import (  # noqa: F401
    fft,
    fft2d,
    fft3d,
    ifft,
    ifft2d,
    ifft3d,
    irfft,
    irfft2d,
    irfft3d,
    rfft,
    rfft2d,
    rfft3d,
)

__getattr__ = refusing("tf.spectral", __name__)
