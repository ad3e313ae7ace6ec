"""Fourier transforms under TensorFlow's older name, tf.spectral."""
from .common.unsupported import refusing
from .signal import fft, fft2d, fft3d, ifft, ifft2d, ifft3d, irfft, irfft2d, irfft3d, rfft, rfft2d, rfft3d  # noqa: F401

__getattr__ = refusing("tf.spectral", __name__)
