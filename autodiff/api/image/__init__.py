"""Images: TensorFlow's tf.image. Sizes, cuts, borders, mirrors and turns; values are the matter of `colors`."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.constant_value import static_entries, static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import float32, float64, int32
from ...core.errors import ArgumentError, ShapeError
from ...core.graph import Tensor
from ...core.infer import rank_of
from ...core.name_scope import scope
from ...core.op import build
from .. import math
from ..common.unsupported import refusing
from ..control.control_flow import case, cond
from ..control.dependencies import control_dependencies
from ..debugging import Assert
from ..random import random_uniform
from . import boxes, colors, quality
from .boxes import *  # noqa: F403
from .colors import *  # noqa: F403
from .quality import *  # noqa: F403

__all__ = ["ResizeMethod", "central_crop", "crop_to_bounding_box", "flip_left_right", "flip_up_down",
           "pad_to_bounding_box", "random_flip_left_right", "random_flip_up_down", "resize", "resize_area",
           "resize_bicubic", "resize_bilinear", "resize_image_with_crop_or_pad", "resize_image_with_pad",
           "resize_images", "resize_nearest_neighbor", "resize_with_crop_or_pad", "rot90", "total_variation",
           "transpose", "transpose_image"]
__all__ += colors.__all__ + boxes.__all__ + quality.__all__


class ResizeMethod:
    """How `resize_images` finds values between pixels."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


# ---- another size -----------------------------------------------------------------------

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
        batch, single = _as_batch(convert_to_tensor(images, name="images"), "images")
        size = convert_to_tensor(size, dtype=int32, name="size")
        if size.dims is not None and (len(size.dims) != 1 or size.dims[0] not in (2, None)):
            raise ShapeError(f"expected size to be a vector of 2, height and width, found shape {list(size.dims)}")
        if preserve_aspect_ratio:
            size = _within_size(batch, size)
        if method not in _RESIZERS:
            raise ArgumentError(f"resize method {method!r} is not implemented, expected one of ResizeMethod")
        if static_value(size) is None or _sides(batch) != static_entries(size, 2):
            batch = _RESIZERS[method](batch, size, align_corners=align_corners)
        return build.Squeeze(batch, squeeze_dims=[0]) if single else batch


resize = resize_images


def _within_size(images: Tensor, size: Tensor) -> Tensor:
    """The largest size in `size` with the proportions of the images."""
    most, space = static_value(size), _sides(images)
    if most is not None and None not in space:  # in float32, as the ops have it
        lengths = np.array(space, np.float32)
        return convert_to_tensor(np.rint((most / lengths).astype(np.float32).min() * lengths).astype(np.int32))
    lengths = math.cast(build.Shape(images)[1:3], float32)
    return math.cast(math.round(math.reduce_min(math.cast(size, float32) / lengths) * lengths), int32)


def resize_image_with_pad(image: Any, target_height: Any, target_width: Any, method: int = ResizeMethod.BILINEAR,
                          align_corners: bool = False) -> Tensor:
    """As large as fits with its proportions, with zeros around. image: real[n, h, w, c] or real[h, w, c]."""
    with scope(None, "resize_image_with_pad", [image]):
        batch, single = _as_batch(convert_to_tensor(image, name="image"))
        _expect(target_width > 0, "target_width above 0")
        _expect(target_height > 0, "target_height above 0")
        targets = [_double(target_height), _double(target_width)]
        sizes = [_double(n) for n in _space(batch)]
        ratio = _larger(sizes[1] / targets[1], sizes[0] / targets[0])
        fitting = [n / ratio for n in sizes]
        above, left = (_larger(0, _whole((target - n) / 2)) for target, n in zip(targets, fitting))
        resized = resize_images(batch, [_whole(n) for n in fitting], method, align_corners)
        padded = pad_to_bounding_box(resized, above, left, target_height, target_width)
        return build.Squeeze(padded, squeeze_dims=[0]) if single else padded


def _double(n: Any) -> Any:
    return math.cast(n, float64) if isinstance(n, Tensor) else float(n)


def _whole(x: Any) -> Any:
    return math.cast(math.floor(x), int32) if isinstance(x, Tensor) else int(x // 1)


# ---- cuts and borders -------------------------------------------------------------------

def _as_batch(image: Tensor, what: str = "image") -> tuple[Tensor, bool]:
    """The image as one of a batch, and whether it was alone. Raises ShapeError unless 3 or 4 axes are known."""
    if image.dims is None or len(image.dims) not in (3, 4):
        raise ShapeError(f"expected {what} of 3 or 4 axes, found shape {image.shape}")
    return (build.ExpandDims(image, 0), True) if len(image.dims) == 3 else (image, False)


def _sides(image: Tensor) -> list[Any]:
    """Height and width of an image or a batch, None where they are not known."""
    if image.dims is None or len(image.dims) not in (3, 4):
        raise ShapeError(f"expected image of 3 or 4 axes, found shape {image.shape}")
    return list(image.dims[-3:-1])


def _space(image: Tensor) -> list[Any]:
    """Height and width of an image or a batch: numbers where they are known, else tensors."""
    known = _sides(image)
    shape: Any = build.Shape(image)[-3:-1] if None in known else None
    return [shape[i] if n is None else n for i, n in enumerate(known)]


def _expect(holds: Any, what: str, found: Any = "") -> list[Any]:
    """Checks now if it can, else gives the op that checks when it is run. Raises ArgumentError."""
    if isinstance(holds, Tensor):
        return [Assert(holds, [f"expected {what}"])]
    if not holds:
        raise ArgumentError(f"expected {what}{f', found {found}' if found != '' else ''}")
    return []


def _after(checks: list[Any], image: Tensor) -> Tensor:
    if not checks:
        return image
    with control_dependencies(checks):
        return build.Identity(image)


def _larger(a: Any, b: Any) -> Any:
    return math.maximum(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else max(a, b)


def _smaller(a: Any, b: Any) -> Any:
    return math.minimum(a, b) if isinstance(a, Tensor) or isinstance(b, Tensor) else min(a, b)


def crop_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any,
                         target_width: Any) -> Tensor:
    """The part from (offset_height, offset_width) on. image: any[n, h, w, c] or any[h, w, c]."""
    with scope(None, "crop_to_bounding_box", [image]):
        batch, single = _as_batch(convert_to_tensor(image, name="image"))
        height, width = _space(batch)
        checks = [*_expect(offset_width >= 0, "offset_width of 0 or more", offset_width),
                  *_expect(offset_height >= 0, "offset_height of 0 or more", offset_height),
                  *_expect(target_width > 0, "target_width above 0", target_width),
                  *_expect(target_height > 0, "target_height above 0", target_height),
                  *_expect(width >= target_width + offset_width, "width of at least target + offset", width),
                  *_expect(height >= target_height + offset_height, "height of at least target + offset", height)]
        cropped = build.Slice(_after(checks, batch), [0, offset_height, offset_width, 0],
                              [-1, target_height, target_width, -1])
        return build.Squeeze(cropped, squeeze_dims=[0]) if single else cropped


def pad_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any,
                        target_width: Any) -> Tensor:
    """Zeros around: `offset_height` rows above, and so on. image: number[n, h, w, c] or number[h, w, c]."""
    with scope(None, "pad_to_bounding_box", [image]):
        batch, single = _as_batch(convert_to_tensor(image, name="image"))
        height, width = _space(batch)
        below, right = target_height - offset_height - height, target_width - offset_width - width
        checks = [*_expect(offset_height >= 0, "offset_height of 0 or more", offset_height),
                  *_expect(offset_width >= 0, "offset_width of 0 or more", offset_width),
                  *_expect(right >= 0, "width of at most target - offset", width),
                  *_expect(below >= 0, "height of at most target - offset", height)]
        padded = build.Pad(_after(checks, batch), [[0, 0], [offset_height, below], [offset_width, right], [0, 0]])
        wanted = [None if isinstance(n, Tensor) else n for n in (target_height, target_width)]
        padded.set_shape([None, *wanted, None])
        return build.Squeeze(padded, squeeze_dims=[0]) if single else padded


def resize_image_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """The middle, cut out or with zeros around. image: number[n, h, w, c] or number[h, w, c]."""
    with scope(None, "resize_image_with_crop_or_pad", [image]):
        batch, single = _as_batch(convert_to_tensor(image, name="image"))
        checks = [*_expect(target_width > 0, "target_width above 0", target_width),
                  *_expect(target_height > 0, "target_height above 0", target_height)]
        batch = _after(checks, batch)
        height, width = _space(batch)
        more_height, more_width = target_height - height, target_width - width
        cropped = crop_to_bounding_box(batch, _larger(-more_height // 2, 0), _larger(-more_width // 2, 0),
                                       _smaller(target_height, height), _smaller(target_width, width))
        result = pad_to_bounding_box(cropped, _larger(more_height // 2, 0), _larger(more_width // 2, 0),
                                     target_height, target_width)
        return build.Squeeze(result, squeeze_dims=[0]) if single else result


resize_with_crop_or_pad = resize_image_with_crop_or_pad


def central_crop(image: Any, central_fraction: float) -> Tensor:
    """The middle, `central_fraction` of each side. image: any[n, h, w, c] or any[h, w, c]."""
    with scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        _expect(0 < central_fraction <= 1, "central_fraction above 0, at most 1", central_fraction)
        if central_fraction == 1:
            return image
        sizes, batch = _space(image), [0] * _rows(image)
        starts = [_whole((n - n * central_fraction) / 2) for n in map(_double, sizes)]
        kept = [n - 2 * start for n, start in zip(sizes, starts)]
        return build.Slice(image, [*batch, *starts, 0], [*(n - 1 for n in batch), *kept, -1])


# ---- mirrors and turns ------------------------------------------------------------------

def _rows(image: Tensor) -> int:
    """The axis of rows; a single image if the rank is not known."""
    return 1 if rank_of(image, at_least=3, what="image") == 4 else 0


def _flip(image: Any, axis: int, name: str) -> Tensor:
    with scope(None, name, [image]):
        image = convert_to_tensor(image, name="image")
        return build.ReverseV2(image, [_rows(image) + axis])


def flip_left_right(image: Any) -> Tensor:
    """Columns turned round. image: any[n, h, w, c] or any[h, w, c]."""
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image: Any) -> Tensor:
    """Rows turned round. image: any[n, h, w, c] or any[h, w, c]."""
    return _flip(image, 0, "flip_up_down")


def _random_flip(image: Any, axis: int, seed: int | None, name: str) -> Tensor:
    with scope(None, name, [image]) as full:
        image = convert_to_tensor(image, name="image")
        place = _rows(image) + axis
        if place == axis:
            mirrored = math.less(random_uniform([], 0, 1.0, seed=seed), 0.5)
            return cond(mirrored, lambda: build.ReverseV2(image, [place]), lambda: image, name=full)
        count = build.Shape(image)[0]
        chance = random_uniform([count], 0, 1.0, seed=seed)
        flips = math.cast(math.round(build.Reshape(chance, [count, 1, 1, 1])), image.dtype.base_dtype)
        return flips * build.ReverseV2(image, [place]) + (1 - flips) * image


def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """flip_left_right of each image with a chance of one half. image: number[n, h, w, c] or any[h, w, c]."""
    return _random_flip(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """flip_up_down of each image with a chance of one half. image: number[n, h, w, c] or any[h, w, c]."""
    return _random_flip(image, 0, seed, "random_flip_up_down")


def _swapped(image: Tensor) -> Tensor:
    return build.Transpose(image, [0, 2, 1, 3] if _rows(image) else [1, 0, 2], name="transpose")


def transpose_image(image: Any, name: str | None = None) -> Tensor:
    """Rows and columns swapped. image: any[n, h, w, c] or any[h, w, c]."""
    with scope(name, "transpose", [image]):
        return _swapped(convert_to_tensor(image, name="image"))


transpose = transpose_image


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """Turned `k` times by a quarter, against the clock. image: any[n, h, w, c] or any[h, w, c], k: int[]."""
    with scope(name, "rot90", [image, k]) as full:
        image = convert_to_tensor(image, name="image")
        rows = _rows(image)
        turns: list[Callable[[], Tensor]] = [
            lambda: image, lambda: _swapped(build.ReverseV2(image, [rows + 1])),
            lambda: build.ReverseV2(image, [rows, rows + 1]), lambda: build.ReverseV2(_swapped(image), [rows + 1])]
        known = static_value(k)
        if known is not None:
            return build.Identity(turns[int(known) % 4](), name=full)
        k = math.mod(k, 4)
        return case([(math.equal(k, i), turns[i]) for i in (1, 2, 3)], default=turns[0], exclusive=True, name=full)


def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of absolute differences of neighboring pixels. images: real[n, h, w, c] -> [n]; real[h, w, c] -> [].

    Source: Rudin, Osher and Fatemi (1992), in its anisotropic form.
    """
    with scope(name, "total_variation", [images]):
        images = convert_to_tensor(images, name="images")
        rank = rank_of(images, what="images")
        if rank not in (3, 4):
            raise ShapeError(f"expected images of 3 or 4 axes, found shape {images.shape}")
        down = images[..., 1:, :, :] - images[..., :-1, :, :]
        across = images[..., 1:, :] - images[..., :-1, :]
        axes = [1, 2, 3] if rank == 4 else None
        return math.reduce_sum(math.abs(down), axis=axes) + math.reduce_sum(math.abs(across), axis=axes)


__getattr__ = refusing("tf.image", __name__)
