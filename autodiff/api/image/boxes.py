"""Parts of images: boxes given by parts of the height and width, and windows. TensorFlow's tf.image functions."""
from __future__ import annotations

from typing import Any

from ...core.graph import Tensor
from ...core.op import build
from ..common.renamed_arguments import one_of

__all__ = ["crop_and_resize", "extract_image_patches", "extract_patches"]


def crop_and_resize(image: Any, boxes: Any, box_ind: Any = None, crop_size: Any = None, method: str = "bilinear",
                    extrapolation_value: float = 0, name: str | None = None, box_indices: Any = None) -> Tensor:
    """Each box of its image, brought to one size. image: real[b, h, w, c], crop_size: int32[2].

    boxes: float32[n, 4], (y1, x1, y2, x2) with 0 and 1 at the first and the last pixel; outside of the image stands
    extrapolation_value. box_ind (or box_indices): int32[n], the image of each. method: 'bilinear' or 'nearest'.
    -> float32[n, *crop_size, c], with gradients for the image and the boxes.
    """
    return build.CropAndResize(image, boxes, one_of("box_indices", box_indices, "box_ind", box_ind), crop_size,
                               method=method, extrapolation_value=float(extrapolation_value), name=name)


def extract_image_patches(images: Any, ksizes: Any = None, strides: Any = None, rates: Any = None, padding: Any = None,
                          name: str | None = None, sizes: Any = None) -> Tensor:
    """The pixels of each window, row by row, as the channels of one place; 0 outside of the image.

    images: real[n, h, w, c] -> real[n, h', w', kh * kw * c]. ksizes (or sizes), strides, rates (the distance of pixels
    in a window): 4 numbers each, the first and last 1. padding: 'SAME' or 'VALID'.
    """
    return build.ExtractImagePatches(images, ksizes=one_of("sizes", sizes, "ksizes", ksizes), strides=strides,
                                     rates=rates, padding=padding, name=name)


def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None) -> Tensor:
    """extract_image_patches by its newer name."""
    return extract_image_patches(images, sizes, strides, rates, padding, name)
