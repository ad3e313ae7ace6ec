"""Images scaled and moved by any factor, each pixel a mean of those around it, weighted by a kernel.

Source: Mitchell and Netravali (1988), equation 8; Keys (1981), equation 4; Lanczos's windowed sinc.
"""

from typing import Any

import numpy as np

from ...core.declare import op
from ...core.dtypes import REALS, float32
from ...core.errors import ArgumentError
from ...core.infer import rank_of
from ...core.op import Float32, Int32, Spec, blocked, build
from ..common.batch_axis import slice_by_slice
from .resize import Taps, checked_size, handed_back, resized, taken


def _lanczos(radius):
    return lambda x: np.sinc(x) * np.sinc(x / radius)


def _pieces(near, far):
    """A kernel of two polynomials: for 0 <= x < 1, and for 1 <= x < 2."""
    return lambda x: np.where(x < 1, np.polyval(near, x), np.polyval(far, x))


_KERNELS: dict[str, Any] = {  # name -> how far it reaches, its weight at a distance up to that
    "lanczos1": (1, _lanczos(1)), "lanczos3": (3, _lanczos(3)), "lanczos5": (5, _lanczos(5)),
    "gaussian": (1.5, lambda x: np.exp(-2 * x * x)), "triangle": (1, lambda x: 1 - x),
    "box": (1, lambda x: np.where(x == 0.5, 0.5, x < 0.5)),
    "keyscubic": (2, _pieces([1.5, -2.5, 0, 1], [-0.5, 2.5, -4, 2])),
    "mitchellcubic": (2, _pieces([7 / 6, -2, 0, 8 / 9], [-7 / 18, 2, -10 / 3, 16 / 9]))}


def _taps(n, m, scale, translation, *, kernel_type, antialias):
    reach, kernel = _KERNELS[kernel_type]
    inverse = np.float32(1) / scale
    at = (np.arange(m, dtype=np.float32) + np.float32(0.5)) * inverse - inverse * translation
    wide = max(inverse, 1.0) if antialias else 1.0
    first = np.ceil(at - reach * wide - 0.5).astype(np.intp)
    wanted = first[:, None] + np.arange(int(2 * reach * wide) + 2)
    distance = np.abs(wanted + 0.5 - at[:, None]) / wide
    is_there = (wanted >= 0) & (wanted < n) & (distance < reach) & ((at >= 0) & (at <= n))[:, None]
    weights = np.where(is_there, kernel(distance), 0)
    total = weights.sum(1, keepdims=True)
    weights = np.divide(weights, total, out=weights, where=total != 0)
    return Taps(np.clip(wanted, 0, n - 1), weights.astype(np.float32))


def _both(space, size, scale, translation, attrs):
    if not (np.asarray(scale) > 0).all():
        raise ArgumentError(expected="a scale above 0", found=np.asarray(scale).tolist())
    return [_taps(*axis, **attrs) for axis in zip(space, size, scale, translation)]


def _judged(scale, translation, kernel_type):
    rank_of(scale, exactly=1, what="scale")
    rank_of(translation, exactly=1, what="translation")
    if kernel_type not in _KERNELS:
        raise ArgumentError(expected=f"kernel_type to be one of {', '.join(_KERNELS)}", found=repr(kernel_type))


def _scaled(images, size, scale, translation, *, kernel_type, antialias):
    _judged(scale, translation, kernel_type)
    return Spec(float32, resized(images, size).dims)


def _unscaled(grads, original_image, scale, translation, *, kernel_type, antialias):
    _judged(scale, translation, kernel_type)
    return Spec(float32, original_image.dims)


@op("ScaleAndTranslate", infer=_scaled, dtypes=REALS, batched=slice_by_slice)
def scale_and_translate(images, size: Int32, scale: Float32, translation: Float32, *, kernel_type="lanczos3",
                        antialias=True):
    """A pixel at x comes to x * scale + translation. images: real[n, h, w, c], size: int[2] -> float32[n, *size, c].

    scale, translation: float32[2], of rows and of columns. antialias: the kernel grows as the images shrink.
    """
    attrs = {"kernel_type": kernel_type, "antialias": antialias}
    rows, columns = _both(images.shape[1:3], checked_size(size), scale, translation, attrs)
    return taken(taken(images.astype(np.float32, copy=False), rows, 1), columns, 2)


@op("ScaleAndTranslateGrad", infer=_unscaled, dtypes=(float32,), batched=slice_by_slice)
def scale_and_translate_grad(grads, original_image, scale: Float32, translation: Float32, *, kernel_type="lanczos3",
                             antialias=True):
    """The adjoint of ScaleAndTranslate; only the shape of original_image counts. -> float32[n, h, w, c]."""
    height, width = original_image.shape[1:3]
    attrs = {"kernel_type": kernel_type, "antialias": antialias}
    rows, columns = _both((height, width), grads.shape[1:3], scale, translation, attrs)
    return handed_back(handed_back(grads, columns, 2, width), rows, 1, height)


_NO_PLACES = blocked("TensorFlow has no gradient for a size, a scale and a translation")


@scale_and_translate.gradient
def _(node, dy):
    images, _, scale, translation = node.inputs
    if images.dtype.base_dtype is not float32:
        return (blocked(f"the images are of dtype {images.dtype.name}"), *[_NO_PLACES] * 3)
    return (scale_and_translate_grad(dy, images, scale, translation, **node.attrs), *[_NO_PLACES] * 3)


@scale_and_translate_grad.gradient
def _(node, dz):
    grads, _, scale, translation = node.inputs
    size = build.Shape(grads)[1:3]
    return (scale_and_translate(dz, size, scale, translation, **node.attrs), blocked("only its shape is used"),
            *[_NO_PLACES] * 2)
