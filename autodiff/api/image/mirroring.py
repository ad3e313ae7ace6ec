"""Images mirrored and turned."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor
from ...core.errors import ShapeError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from .. import math
from ..control.control_flow import case, cond
from ..random import random_uniform
from .sides import row_axis

__all__ = ["flip_left_right", "flip_up_down", "random_flip_left_right", "random_flip_up_down", "rot90", "transpose",
           "transpose_image"]


def _flip(image: Any, axis: int, name: str) -> Tensor:
    with scope(None, name, [image]):
        image = _of_images(image)
        return build.ReverseV2(image, [row_axis(image) + axis])


def _of_images(image: Any) -> Tensor:
    """The tensor; one whose rank is not known is taken for a single image. Raises ShapeError for what is no image."""
    tensor = convert_to_tensor(image, name="image")
    if tensor.dims is None:
        tensor = build.Identity(tensor)
        tensor.set_shape([None] * 3)
    elif len(tensor.dims) < 3:
        raise ShapeError(f"'image' (shape {tensor.shape}) must be at least three-dimensional.")
    elif 0 in tensor.dims[-3:]:
        raise ShapeError(f"inner 3 dims of 'image.shape' must be > 0: {tensor.shape}")
    return tensor


def flip_left_right(image: Any) -> Tensor:
    """Columns turned round. image: any[n, h, w, c] or any[h, w, c]."""
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image: Any) -> Tensor:
    """Rows turned round. image: any[n, h, w, c] or any[h, w, c]."""
    return _flip(image, 0, "flip_up_down")


def _random_flip(image: Any, axis: int, seed: int | None, name: str) -> Tensor:
    with scope(None, name, [image]) as full:
        image = _of_images(image)
        place = row_axis(image) + axis
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
    return build.Transpose(image, [0, 2, 1, 3] if row_axis(image) else [1, 0, 2], name="transpose")


def transpose_image(image: Any, name: str | None = None) -> Tensor:
    """Rows and columns swapped. image: any[n, h, w, c] or any[h, w, c]."""
    with scope(name, "transpose", [image]):
        return _swapped(_of_images(image))


transpose = transpose_image


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """Turned `k` times by a quarter, against the clock. image: any[n, h, w, c] or any[h, w, c], k: int[]."""
    with scope(name, "rot90", [image, k]) as full:
        image = _of_images(image)
        rows = row_axis(image)
        turns: list[Callable[[], Tensor]] = [
            lambda: image, lambda: _swapped(build.ReverseV2(image, [rows + 1])),
            lambda: build.ReverseV2(image, [rows, rows + 1]), lambda: build.ReverseV2(_swapped(image), [rows + 1])]
        known = static_value(k)
        if known is not None:
            return build.Identity(turns[int(known) % 4](), name=full)
        k = math.mod(k, 4)
        return case([(math.equal(k, i), turns[i]) for i in (1, 2, 3)], default=turns[0], exclusive=True, name=full)
