"""Values of images: brightness, contrast, hue, saturation, gray and element types. TensorFlow's functions."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import DType, as_dtype, float16, float32
from ...core.errors import ArgumentError, ShapeError
from ...core.graph import Tensor
from ...core.infer import rank_of
from ...core.name_scope import scope
from ...core.op import build
from .. import math
from ..linalg.products import tensordot
from ..math.reductions import reduce_std
from ..random import random_uniform
from .sides import expect, waiting_for

__all__ = ["adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation",
           "convert_image_dtype", "grayscale_to_rgb", "hsv_to_rgb", "per_image_standardization", "random_brightness",
           "random_contrast",
           "random_hue", "random_saturation", "rgb_to_grayscale", "rgb_to_hsv", "rgb_to_yiq", "rgb_to_yuv",
           "yiq_to_rgb", "yuv_to_rgb"]

_LUMA = [0.2989, 0.5870, 0.1140]  # weights of red, green and blue in gray; ITU-R BT.601 to four places
_PIXELS = [-1, -2, -3]


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Tensor:
    """An image as another element type, scaled: 1.0 in floats is the largest number in integers.

    image: real[...]. saturate: what does not fit becomes the nearest that does.
    """
    image, dtype = convert_to_tensor(image, name="image"), as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError(f"expected dtype to be floating point or integer, found {dtype.name}")
    source = image.dtype.base_dtype
    if dtype is source:
        return build.Identity(image, name=name)
    with scope(name, "convert_image", [image]) as full:
        cast = math.saturate_cast if saturate else math.cast
        if source.is_integer and dtype.is_integer:
            if source.max > dtype.max:
                return cast(math.div(image, (source.max + 1) // (dtype.max + 1)), dtype, name=full)
            return math.multiply(cast(image, dtype), (dtype.max + 1) // (source.max + 1), name=full)
        if source.is_integer:
            return math.multiply(math.cast(image, dtype), 1.0 / source.max, name=full)
        if dtype.is_floating:
            return math.cast(image, dtype, name=full)
        return cast(math.multiply(image, dtype.max + 0.5), dtype, name=full)  # 0.5: the cast drops fractions


def _as_float(image: Any, name: str = "image") -> tuple[Tensor, DType]:
    """The image as floats that the ops of colors take, and its own element type."""
    image = convert_to_tensor(image, name=name)
    dtype = image.dtype.base_dtype
    return (image if dtype in (float16, float32) else convert_image_dtype(image, float32)), dtype


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """`delta` added to all pixels, in the scale where 1 is the brightest. image: real[...]."""
    with scope(None, "adjust_brightness", [image, delta]) as full:
        x, dtype = _as_float(image)
        return convert_image_dtype(math.add(x, math.cast(delta, x.dtype.base_dtype), name=full), dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Distances to the mean of each channel of each image times a factor. images: real[..., h, w, c]."""
    with scope(None, "adjust_contrast", [images, contrast_factor]) as full:
        x, dtype = _as_float(images, "images")
        return convert_image_dtype(build.AdjustContrastv2(x, contrast_factor, name=full), dtype, saturate=True)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """The saturation of colors times a factor. image: real[..., h, w, 3]."""
    with scope(name, "adjust_saturation", [image]):
        x, dtype = _as_float(image)
        return convert_image_dtype(build.AdjustSaturation(x, saturation_factor), dtype)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """The hue of colors turned by `delta` of a full circle. image: real[..., h, w, 3]."""
    with scope(name, "adjust_hue", [image]):
        x, dtype = _as_float(image)
        return convert_image_dtype(build.AdjustHue(x, delta), dtype)


def _within(value: float, what: str, highest: float = float("inf")) -> None:
    if not 0 <= value <= highest:
        raise ArgumentError(expected=f"{what} to be from 0 to {highest}", found=value)


def _factor(lower: float, upper: float, seed: int | None) -> Tensor:
    _within(lower, "lower")
    if upper <= lower:
        raise ArgumentError(expected="upper to be above lower", found=f"{upper} and {lower}")
    return random_uniform([], lower, upper, seed=seed)


def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """adjust_brightness by a random delta in [-max_delta, max_delta)."""
    _within(max_delta, "max_delta")
    return adjust_brightness(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """adjust_contrast by a random factor in [lower, upper)."""
    return adjust_contrast(image, _factor(lower, upper, seed))


def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """adjust_saturation by a random factor in [lower, upper)."""
    return adjust_saturation(image, _factor(lower, upper, seed))


def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """adjust_hue by a random delta in [-max_delta, max_delta); max_delta is at most 0.5."""
    _within(max_delta, "max_delta", 0.5)
    return adjust_hue(image, random_uniform([], -max_delta, max_delta, seed=seed))


def per_image_standardization(image: Any) -> Tensor:
    """Each image with mean 0 and variance 1; a uniform image becomes zeros. image: real[..., h, w, c].

    The deviation counts as at least 1 / sqrt(h * w * c).
    """
    with scope(None, "per_image_standardization", [image]) as full:
        x, dtype = _as_float(image)
        rank_of(x, at_least=3, what="image")
        pixels = math.reduce_prod(build.Shape(x)[-3:])
        mean = math.reduce_mean(x, axis=_PIXELS, keepdims=True)
        deviation = reduce_std(x, axis=_PIXELS, keepdims=True)
        smallest = math.rsqrt(math.cast(pixels, x.dtype.base_dtype))
        result = math.div(x - mean, math.maximum(deviation, smallest), name=full)
        return convert_image_dtype(result, dtype, saturate=True)


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """The brightness of colors. images: real[..., 3] -> real[..., 1]."""
    with scope(name, "rgb_to_grayscale", [images]) as full:
        images = convert_to_tensor(images, name="images")
        gray = tensordot(convert_image_dtype(images, float32), _LUMA, [-1, -1])
        return convert_image_dtype(build.ExpandDims(gray, -1), images.dtype.base_dtype, name=full)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Grays as colors: the one channel three times. images: any[..., 1] -> any[..., 3]."""
    with scope(name, "grayscale_to_rgb", [images]) as full:
        images = convert_to_tensor(images, name="images")
        rank = None if images.dims is None else len(images.dims)
        if rank is not None and rank < 2:
            raise ShapeError("A grayscale image must be at least two-dimensional.", found=f"shape {images.shape}")
        if rank is None:
            rank_minus_1 = build.ExpandDims(build.Rank(images) - 1, 0)
            return build.Tile(images, build.ConcatV2(0, build.Fill(rank_minus_1, 1), [3]), name=full)
        if images.dims[-1] not in (1, None):
            raise ShapeError("Last dimension of a grayscale image should be size 1", expected=1, found=images.dims[-1])
        colors = build.Tile(images, [1] * (rank - 1) + [3], name=full)
        colors.set_shape([*images.dims[:-1], 3])
        return colors


def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """Hue, saturation and value of colors. images: float[..., 3] -> float[..., 3]."""
    return build.RGBToHSV(images, name=name)


def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Colors of hue, saturation and value. images: float[..., 3] -> float[..., 3]."""
    return build.HSVToRGB(images, name=name)


# Rows: red, green, blue; columns: brightness and two differences of colors; ITU-R BT.601
_TO_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_FROM_YIQ = [[1.0, 1.0, 1.0], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_TO_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
_FROM_YUV = [[1.0, 1.0, 1.0], [0.0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0.0]]


def _by_matrix(matrix: list[list[float]], text: str) -> Callable[[Any], Tensor]:
    def converted(images: Any) -> Tensor:
        images = convert_to_tensor(images, name="images")
        return tensordot(images, convert_to_tensor(matrix, dtype=images.dtype.base_dtype, name="kernel"), [[-1], [0]])

    converted.__doc__ = f"{text} images: float[..., 3] of 0 to 1 -> float[..., 3]."
    return converted


rgb_to_yiq = _by_matrix(_TO_YIQ, "Red, green and blue as brightness and the two colors of NTSC.")
yiq_to_rgb = _by_matrix(_FROM_YIQ, "The inverse of rgb_to_yiq.")
rgb_to_yuv = _by_matrix(_TO_YUV, "Red, green and blue as brightness and the two colors of PAL.")
yuv_to_rgb = _by_matrix(_FROM_YUV, "The inverse of rgb_to_yuv.")


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """gain * image ** gamma, in the scale where 1 is the brightest. image: real[...]. gamma: a number >= 0."""
    with scope(None, "adjust_gamma", [image, gamma, gain]):
        x, dtype = _as_float(image)
        gamma = waiting_for(expect(gamma >= 0, "Gamma should be a non-negative real number", gamma), gamma)
        return convert_image_dtype(gain * x ** gamma, dtype, saturate=True)
