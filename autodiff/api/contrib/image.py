"""tf.contrib.image: images turned, moved and transformed, as layers of pixels.

images: uint8, int32, int64 or float, [n, h, w, c], [h, w, c] or [h, w]; of rank known. interpolation: "NEAREST" or
"BILINEAR". A transform is float32[8] or float32[n, 8]; see `transform`.
"""
from __future__ import annotations

from typing import Any

from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import float16, float32, float64, int32, int64, uint8
from ...core.errors import ArgumentError, KindError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ..arrays.creation import constant, ones, zeros
from ..arrays.shaping import concat, reshape, shape
from ..common.unsupported import refusing
from ..linalg.products import matmul
from ..math.casts import cast
from ..math.elementwise import cos, sin

__all__ = ["angles_to_projective_transforms", "compose_transforms", "flat_transforms_to_matrices",
           "matrices_to_flat_transforms", "rotate", "transform", "translate", "translations_to_projective_transforms"]

_DTYPES = uint8, int32, int64, float16, float32, float64


def rotate(images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None) -> Tensor:
    """Images turned counterclockwise about their centers, 0 where nothing was. angles: float[] or float[n], radians."""
    with scope(name, "rotate"):
        given = convert_to_tensor(images)
        four = _with_four_axes(given)
        height, width = (cast(shape(four)[axis], float32)[None] for axis in (1, 2))
        turned = transform(four, angles_to_projective_transforms(angles, height, width), interpolation)
        return _with_axes_of(given, turned)


def translate(images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None) -> Tensor:
    """Images moved, 0 where nothing was. translations: float[2] or float[n, 2], to the right and down, in pixels."""
    with scope(name, "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


def angles_to_projective_transforms(angles: Any, image_height: Any, image_width: Any,
                                    name: str | None = None) -> Tensor:
    """The transforms that turn images of a size about their centers. angles: float[] or float[n] -> float32[n, 8]."""
    with scope(name, "angles_to_projective_transforms"):
        angles = _rows(convert_to_tensor(angles, float32, name="angles"), 0, "Angles should have rank 0 or 1.")
        x_offset = ((image_width - 1) - (cos(angles) * (image_width - 1) - sin(angles) * (image_height - 1))) / 2.0
        y_offset = ((image_height - 1) - (sin(angles) * (image_width - 1) + cos(angles) * (image_height - 1))) / 2.0
        count = shape(angles)[0]
        return concat([cos(angles)[:, None], -sin(angles)[:, None], x_offset[:, None], sin(angles)[:, None],
                       cos(angles)[:, None], y_offset[:, None], zeros((count, 2))], 1)


def translations_to_projective_transforms(translations: Any, name: str | None = None) -> Tensor:
    """The transforms that move images. translations: float[2] or float[n, 2] -> float32[n, 8]."""
    with scope(name, "translations_to_projective_transforms"):
        moved = _rows(convert_to_tensor(translations, float32, name="translations"), 1,
                      "Translations should have rank 1 or 2.")
        count = shape(moved)[0]
        return concat([ones((count, 1)), zeros((count, 1)), -moved[:, 0, None], zeros((count, 1)), ones((count, 1)),
                       -moved[:, 1, None], zeros((count, 2))], 1)


def transform(images: Any, transforms: Any, interpolation: str = "NEAREST", output_shape: Any = None,
              name: str | None = None) -> Tensor:
    """Images whose point (x, y) is what the given ones have at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k).

    transforms: a0, a1, a2, b0, b1, b2, c0, c1, with k = c0 x + c1 y + 1; no gradient reaches them. output_shape: height
    and width, of the images by default. Raises KindError (TypeError) for other dtypes and ranks.
    """
    with scope(name, "transform"):
        given = convert_to_tensor(images, name="images")
        rows = convert_to_tensor(transforms, float32, name="transforms")
        four = _with_four_axes(given)
        if output_shape is None:
            output_shape = shape(four)[1:3]
            known = static_value(output_shape)
            output_shape = output_shape if known is None else known
        output_shape = convert_to_tensor(output_shape, int32, name="output_shape")
        if not output_shape.shape.is_compatible_with([2]):
            raise ArgumentError("output_shape must be a 1-D Tensor of 2 elements: new_height, new_width")
        rows = _rows(rows, 1, "Transforms should have rank 1 or 2.")
        seen = build.ImageProjectiveTransformV2(four, rows, output_shape, interpolation=interpolation.upper())
        return _with_axes_of(given, seen)


def compose_transforms(*transforms: Any) -> Tensor:
    """The one transform that is these ones after each other. -> float32[n, 8]."""
    if not transforms:
        raise ArgumentError("transforms cannot be empty")
    with scope(None, "compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for each in transforms[1:]:
            composed = matmul(composed, flat_transforms_to_matrices(each))
        return matrices_to_flat_transforms(composed)


def flat_transforms_to_matrices(transforms: Any) -> Tensor:
    """The matrices that take points of the result to those of the image. float[8] or float[n, 8] -> float[n, 3, 3]."""
    with scope(None, "flat_transforms_to_matrices"):
        transforms = convert_to_tensor(transforms, name="transforms")
        if transforms.shape.ndims not in (1, 2):
            raise ArgumentError(f"Transforms should be 1D or 2D, got: {transforms}")
        rows = reshape(transforms, constant([-1, 8]))
        return reshape(concat([rows, ones([shape(rows)[0], 1])], 1), constant([-1, 3, 3]))


def matrices_to_flat_transforms(transform_matrices: Any) -> Tensor:
    """The transforms of such matrices. float[3, 3] or float[n, 3, 3] -> float[n, 8]."""
    with scope(None, "matrices_to_flat_transforms"):
        matrices = convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ArgumentError(f"Matrices should be 2D or 3D, got: {matrices}")
        rows = reshape(matrices, constant([-1, 9]))
        rows /= rows[:, 8:9]
        return rows[:, :8]


def _with_four_axes(images: Tensor) -> Tensor:
    if images.dtype.base_dtype not in _DTYPES:
        raise KindError(f"Invalid dtype {images.dtype}.", expected=f"one of {', '.join(d.name for d in _DTYPES)}")
    if images.shape.ndims is None:
        raise KindError("image_or_images rank must be statically known")
    if images.shape.ndims not in (2, 3, 4):
        raise KindError("Images should have rank between 2 and 4.", found=str(images.shape))
    return images[None, :, :, None] if images.shape.ndims == 2 else images[None] if images.shape.ndims == 3 else images


def _with_axes_of(given: Tensor, four: Tensor) -> Tensor:
    return four[0, :, :, 0] if given.shape.ndims == 2 else four[0] if given.shape.ndims == 3 else four


def _rows(given: Tensor, rank: int, words: str) -> Tensor:
    """What is given for all images, or for each, as rows."""
    if given.shape.ndims not in (rank, rank + 1):
        raise KindError(words, found=str(given.shape))
    return given[None] if given.shape.ndims == rank else given


__getattr__ = refusing("tf.contrib.image", __name__)
