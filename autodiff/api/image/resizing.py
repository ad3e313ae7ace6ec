"""Images in another size."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.constant_value import static_entries, static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import float32, int32
from ...core.errors import ArgumentError, ShapeError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from .. import math
from .cropping import pad_to_bounding_box
from .sides import as_batch, as_double, expect, floored, known_sides, larger, sides

__all__ = ["ResizeMethod", "resize", "resize_area", "resize_bicubic", "resize_bilinear", "resize_image_with_pad",
           "resize_images", "resize_nearest_neighbor"]


class ResizeMethod:
    """How `resize_images` finds values between pixels."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


def resize_bilinear(images: Any, size: Any, align_corners: bool = False, name: str | None = None,
                    half_pixel_centers: bool = False) -> Tensor:
    """Interpolated between the four pixels around. images: real[n, h, w, c] -> float32[n, *size, c]."""
    return build.ResizeBilinear(images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers,
                                name=name)


def resize_nearest_neighbor(images: Any, size: Any, align_corners: bool = False, name: str | None = None,
                            half_pixel_centers: bool = False) -> Tensor:
    """The pixel that is nearest. images: real[n, h, w, c] -> real[n, *size, c]."""
    return build.ResizeNearestNeighbor(images, size, align_corners=align_corners,
                                       half_pixel_centers=half_pixel_centers, name=name)


def resize_bicubic(images: Any, size: Any, align_corners: bool = False, name: str | None = None,
                   half_pixel_centers: bool = False) -> Tensor:
    """By cubics through the sixteen pixels around. images: real[n, h, w, c] -> float32[n, *size, c]."""
    return build.ResizeBicubic(images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers,
                               name=name)


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
        batch, single = as_batch(convert_to_tensor(images, name="images"), "images")
        size = convert_to_tensor(size, dtype=int32, name="size")
        if size.dims is not None and (len(size.dims) != 1 or size.dims[0] not in (2, None)):
            raise ShapeError(expected="size to be a vector of 2, height and width", found=f"shape {list(size.dims)}")
        if preserve_aspect_ratio:
            size = _within_size(batch, size)
        if method not in _RESIZERS:
            raise ArgumentError(f"resize method {method!r} is not implemented, expected one of ResizeMethod")
        if static_value(size) is None or known_sides(batch) != static_entries(size, 2):
            batch = _RESIZERS[method](batch, size, align_corners=align_corners)
        return build.Squeeze(batch, squeeze_dims=[0]) if single else batch


resize = resize_images


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
    with scope(None, "resize_image_with_pad", [image]):
        batch, single = as_batch(convert_to_tensor(image, name="image"))
        expect(target_width > 0, "target_width above 0")
        expect(target_height > 0, "target_height above 0")
        targets = [as_double(target_height), as_double(target_width)]
        sizes = [as_double(n) for n in sides(batch)]
        ratio = larger(sizes[1] / targets[1], sizes[0] / targets[0])
        fitting = [n / ratio for n in sizes]
        above, left = (larger(0, floored((target - n) / 2)) for target, n in zip(targets, fitting))
        resized = resize_images(batch, [floored(n) for n in fitting], method, align_corners)
        padded = pad_to_bounding_box(resized, above, left, target_height, target_width)
        return build.Squeeze(padded, squeeze_dims=[0]) if single else padded
