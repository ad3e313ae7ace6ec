"""Cuts out of images, and borders around them."""
from __future__ import annotations

from typing import Any

from ...core.convert import convert_to_tensor
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from .sides import as_batch, as_double, expect, floored, larger, row_axis, sides, smaller, waiting_for, with_pixels

__all__ = ["central_crop", "crop_to_bounding_box", "pad_to_bounding_box", "resize_image_with_crop_or_pad",
           "resize_with_crop_or_pad"]


def crop_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any,
                         target_width: Any) -> Tensor:
    """The part from (offset_height, offset_width) on. image: any[n, h, w, c] or any[h, w, c]."""
    with scope(None, "crop_to_bounding_box", [image]):
        batch, single = as_batch(convert_to_tensor(image, name="image"))
        height, width = sides(batch)
        checks = [*with_pixels(batch),
                  *expect(offset_width >= 0, "offset_width must be >= 0", offset_width),
                  *expect(offset_height >= 0, "offset_height must be >= 0", offset_height),
                  *expect(target_width > 0, "target_width must be > 0", target_width),
                  *expect(target_height > 0, "target_height must be > 0", target_height),
                  *expect(width >= target_width + offset_width, "width must be >= target + offset", width),
                  *expect(height >= target_height + offset_height, "height must be >= target + offset", height)]
        cropped = build.Slice(waiting_for(checks, batch), [0, offset_height, offset_width, 0],
                              [-1, target_height, target_width, -1])
        return build.Squeeze(cropped, squeeze_dims=[0]) if single else cropped


def pad_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any,
                        target_width: Any) -> Tensor:
    """Zeros around: `offset_height` rows above, and so on. image: number[n, h, w, c] or number[h, w, c]."""
    with scope(None, "pad_to_bounding_box", [image]):
        batch, single = as_batch(convert_to_tensor(image, name="image"))
        height, width = sides(batch)
        below, right = target_height - offset_height - height, target_width - offset_width - width
        checks = [*with_pixels(batch), *expect(offset_height >= 0, "offset_height must be >= 0", offset_height),
                  *expect(offset_width >= 0, "offset_width must be >= 0", offset_width),
                  *expect(right >= 0, "width must be <= target - offset", width),
                  *expect(below >= 0, "height must be <= target - offset", height)]
        padded = build.Pad(waiting_for(checks, batch), [[0, 0], [offset_height, below], [offset_width, right], [0, 0]])
        wanted = [None if isinstance(n, Tensor) else n for n in (target_height, target_width)]
        padded.set_shape([None, *wanted, None])
        return build.Squeeze(padded, squeeze_dims=[0]) if single else padded


def resize_image_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """The middle, cut out or with zeros around. image: number[n, h, w, c] or number[h, w, c]."""
    with scope(None, "resize_image_with_crop_or_pad", [image]):
        batch, single = as_batch(convert_to_tensor(image, name="image"))
        checks = [*with_pixels(batch), *expect(target_width > 0, "target_width must be > 0", target_width),
                  *expect(target_height > 0, "target_height must be > 0", target_height)]
        batch = waiting_for(checks, batch)
        height, width = sides(batch)
        more_height, more_width = target_height - height, target_width - width
        cropped = crop_to_bounding_box(batch, larger(-more_height // 2, 0), larger(-more_width // 2, 0),
                                       smaller(target_height, height), smaller(target_width, width))
        result = pad_to_bounding_box(cropped, larger(more_height // 2, 0), larger(more_width // 2, 0),
                                     target_height, target_width)
        return build.Squeeze(result, squeeze_dims=[0]) if single else result


resize_with_crop_or_pad = resize_image_with_crop_or_pad


def central_crop(image: Any, central_fraction: float) -> Tensor:
    """The middle, `central_fraction` of each side. image: any[n, h, w, c] or any[h, w, c]."""
    with scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        expect(0 < central_fraction <= 1, "central_fraction must be within (0, 1]", central_fraction)
        if central_fraction == 1:
            return image
        sizes, batch = sides(image), [0] * row_axis(image)
        starts = [floored((n - n * central_fraction) / 2) for n in map(as_double, sizes)]
        kept = [n - 2 * start for n, start in zip(sizes, starts)]
        return build.Slice(image, [*batch, *starts, 0], [*(n - 1 for n in batch), *kept, -1])
