"""Images in another size."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.constant_value import static_entries, static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import float32, int32
from ...core.errors import ArgumentError, ShapeError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import OPS, build
from .. import math
from ..common.made import named
from .cropping import pad_to_bounding_box
from .sides import as_batch, as_double, expect, floored, known_sides, larger, sides, waiting_for, with_pixels

__all__ = ["ResizeMethod", "resize", "resize_area", "resize_bicubic", "resize_bilinear", "resize_image_with_pad",
           "resize_images", "resize_nearest_neighbor"]


class ResizeMethod:
    """How `resize_images` finds values between pixels."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


def _resizer(op: str, words: str) -> Callable[..., Tensor]:
    def resizer(images: Any, size: Any, align_corners: bool = False, name: str | None = None,
                half_pixel_centers: bool = False) -> Tensor:
        return OPS[op](images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name)

    return named(resizer, OPS[op].kernel.__name__, words)


resize_bilinear = _resizer("ResizeBilinear", "Interpolated between the four pixels around. "
                           "images: real[n, h, w, c] -> float32[n, *size, c].")
resize_nearest_neighbor = _resizer("ResizeNearestNeighbor", "The pixel that is nearest. "
                                   "images: real[n, h, w, c] -> real[n, *size, c].")
resize_bicubic = _resizer("ResizeBicubic", "By cubics through the sixteen pixels around. "
                          "images: real[n, h, w, c] -> float32[n, *size, c].")


def resize_area(images: Any, size: Any, align_corners: bool = False, name: str | None = None) -> Tensor:
    """The mean of what each new pixel covers; no gradient. images: real[n, h, w, c] -> float32[n, *size, c]."""
    return build.ResizeArea(images, size, align_corners=align_corners, name=name)


_RESIZERS = {ResizeMethod.BILINEAR: resize_bilinear, ResizeMethod.NEAREST_NEIGHBOR: resize_nearest_neighbor,
             ResizeMethod.BICUBIC: resize_bicubic, ResizeMethod.AREA: resize_area}


def resize_images(images: Any, size: Any, method: int = ResizeMethod.BILINEAR, align_corners: bool = False,
                  preserve_aspect_ratio: bool = False, name: str | None = None) -> Tensor:
    """Images of another size. images: real[n, h, w, c] or real[h, w, c], size: int32[2], the new height and width.

    The result is float32 but by NEAREST_NEIGHBOR, or if the size stays. preserve_aspect_ratio: `size` is the most.
    """
    with scope(name, "resize", [images, size]):
        batch, size, single = _asked(images, size, preserve_aspect_ratio)
        if method not in _RESIZERS:
            raise ArgumentError("Resize method is not implemented.", expected="one of ResizeMethod", found=repr(method))
        if static_value(size) is None or known_sides(batch) != static_entries(size, 2):
            batch = _RESIZERS[method](batch, size, align_corners=align_corners)
        return build.Squeeze(batch, squeeze_dims=[0]) if single else batch


resize = resize_images
_V2: dict[str, Callable[..., Tensor]] = {
    "bilinear": resize_bilinear, "nearest": resize_nearest_neighbor, "bicubic": resize_bicubic,
    "area": lambda images, size, half_pixel_centers: resize_area(images, size)}
_WITH_ANTIALIAS = {"bilinear": "triangle", "bicubic": "keyscubic"}  # method -> kernel
_KERNELS = ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")


def resize_images_v2(images: Any, size: Any, method: str = "bilinear", preserve_aspect_ratio: bool = False,
                     antialias: bool = False, name: str | None = None) -> Tensor:
    """Version 2's resize: pixels lie at the halves. images: real[n, h, w, c] or real[h, w, c], size: int32[2].

    method: bilinear, nearest, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic. antialias: pixels that are
    left out of a smaller image count, too. The result is float32 but by nearest.
    """
    with scope(name, "resize", [images, size]):
        batch, size, single = _asked(images, size, preserve_aspect_ratio)
        if method in _KERNELS or antialias and method in _WITH_ANTIALIAS:
            scale = math.cast(size, float32) / math.cast(build.Shape(batch)[1:3], float32)
            batch = build.ScaleAndTranslate(batch, size, scale, [0.0, 0.0], antialias=antialias,
                                            kernel_type=_WITH_ANTIALIAS.get(method, method))
        elif method in _V2:
            batch = _V2[method](batch, size, half_pixel_centers=True)
        else:
            raise ArgumentError("Resize method is not implemented.", expected=f"one of {', '.join((*_V2, *_KERNELS))}",
                                found=repr(method))
        return build.Squeeze(batch, squeeze_dims=[0]) if single else batch


def _asked(images: Any, size: Any, preserve_aspect_ratio: bool) -> tuple[Tensor, Tensor, bool]:
    """The images as a batch, their new size, and whether there was one image alone. Raises ValueError for others."""
    images = convert_to_tensor(images, name="images")
    if images.dims is None:
        raise ShapeError("'images' contains no shape.", hint="use set_shape to say whether it is one image or a batch")
    if len(images.dims) not in (3, 4):
        raise ShapeError("'images' must have either 3 or 4 dimensions.", found=f"shape {images.shape}")
    batch, single = as_batch(images)
    try:
        size = convert_to_tensor(size, dtype=int32, name="size")
    except (TypeError, ValueError):
        raise ArgumentError("'size' must be a 1-D int32 Tensor", found=repr(size)) from None
    if size.dims is not None and (len(size.dims) != 1 or size.dims[0] not in (2, None)):
        raise ShapeError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width",
                         found=f"shape {list(size.dims)}")
    return batch, _within_size(batch, size) if preserve_aspect_ratio else size, single


def _within_size(images: Tensor, size: Tensor) -> Tensor:
    """The largest size in `size` with the proportions of the images."""
    most, space = static_value(size), known_sides(images)
    if most is not None and None not in space:  # in float32, as the ops have it
        lengths = np.array(space, np.float32)
        return convert_to_tensor(np.rint((most / lengths).astype(np.float32).min() * lengths).astype(np.int32))
    lengths = math.cast(build.Shape(images)[1:3], float32)
    return math.cast(math.round(math.reduce_min(math.cast(size, float32) / lengths) * lengths), int32)


def resize_image_with_pad(image: Any, target_height: Any, target_width: Any, method: int = ResizeMethod.BILINEAR,
                          align_corners: bool = False) -> Tensor:
    """As large as fits with its proportions, with zeros around. image: real[n, h, w, c] or real[h, w, c]."""
    return _with_pad(image, target_height, target_width,
                     lambda images, size: resize_images(images, size, method, align_corners))


resize_image_with_pad_v1 = resize_image_with_pad


def resize_image_with_pad_v2(image: Any, target_height: Any, target_width: Any, method: str = "bilinear",
                             antialias: bool = False) -> Tensor:
    """resize_image_with_pad by version 2's resize."""
    return _with_pad(image, target_height, target_width,
                     lambda images, size: resize_images_v2(images, size, method, antialias=antialias))


def _with_pad(image: Any, target_height: Any, target_width: Any, resize: Callable[..., Tensor]) -> Tensor:
    with scope(None, "resize_image_with_pad", [image]):
        batch, single = as_batch(convert_to_tensor(image, name="image"))
        batch = waiting_for([*with_pixels(batch), *expect(target_width > 0, "target_width must be > 0"),
                             *expect(target_height > 0, "target_height must be > 0")], batch)
        targets = [as_double(target_height), as_double(target_width)]
        sizes = [as_double(n) for n in sides(batch)]
        ratio = larger(sizes[1] / targets[1], sizes[0] / targets[0])
        fitting = [n / ratio for n in sizes]
        above, left = (larger(0, floored((target - n) / 2)) for target, n in zip(targets, fitting))
        resized = resize(batch, [floored(n) for n in fitting])
        padded = pad_to_bounding_box(resized, above, left, target_height, target_width)
        return build.Squeeze(padded, squeeze_dims=[0]) if single else padded
