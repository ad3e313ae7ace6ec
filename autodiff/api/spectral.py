"""Fourier and cosine transforms under TensorFlow's older name, tf.spectral."""
from . import signal
from .common.unsupported import refusing

dct, idct, fft, fft2d, fft3d = signal.dct, signal.idct, signal.fft, signal.fft2d, signal.fft3d
ifft, ifft2d, ifft3d = signal.ifft, signal.ifft2d, signal.ifft3d
irfft, irfft2d, irfft3d = signal.irfft, signal.irfft2d, signal.irfft3d
rfft, rfft2d, rfft3d = signal.rfft, signal.rfft2d, signal.rfft3d

__getattr__ = refusing("tf.spectral", __name__)
