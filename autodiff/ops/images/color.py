"""Colors of images: hue, saturation and contrast. As in TensorFlow 1, only RGBToHSV has a gradient."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import FLOATS, float16, float32
from ...core.errors import ShapeError
from ...core.infer import rank_of, same_shape
from ...core.op import Float32, Spec, build
from ..common.batch_axis import in_front, slice_by_slice

_IMAGES = (float16, float32)
_NO_RULE = "TensorFlow 1 has no gradient of color adjustments; write them out of differentiable ops"


def _colors(images, *others, **_):
    rank_of(images, at_least=1, what="images")
    if images.dims and images.dims[-1] not in (3, None):
        raise ShapeError(expected="3 channels in the last axis", found=images.dims[-1])
    return same_shape(images)


def _adjusted(images, factor, **_):
    rank_of(images, at_least=3, what="images")
    rank_of(factor, exactly=0, what="the factor")
    return Spec(images.dtype.base_dtype, images.dims)


def _adjusted_colors(images, factor, **_):
    _colors(images)
    return _adjusted(images, factor)


def _hue(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hue in [0, 1), the largest and the smallest channel, each [...]."""
    r, g, b = x[..., 0], x[..., 1], x[..., 2]
    high, low = x.max(-1), x.min(-1)
    width = high - low
    share = np.divide(x.dtype.type(1 / 6), width, out=np.zeros_like(width), where=width > 0)
    h = np.where(r == high, share * (g - b),
                 np.where(g == high, share * (b - r) + x.dtype.type(2 / 6), share * (r - g) + x.dtype.type(4 / 6)))
    h = np.where(width > 0, h, 0)
    return np.where(h < 0, h + 1, h).astype(x.dtype, copy=False), high, low


def _colored(h: np.ndarray, high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """The color of a hue in [0, 1] between the smallest and the largest channel: [..., 3]."""
    h = 6 * h[..., None]
    away = np.abs(h - np.array([3, 2, 4], h.dtype)) * np.array([1, -1, -1], h.dtype) + np.array([-1, 2, 2], h.dtype)
    return low[..., None] + np.clip(away, 0, 1) * (high - low)[..., None]


@op("RGBToHSV", infer=_colors, dtypes=FLOATS, batched=in_front)
def rgb_to_hsv(images):
    """Hue, saturation and value of colors. images: float[..., 3] -> float[..., 3], hue and saturation in [0, 1]."""
    h, high, low = _hue(images)
    saturation = np.divide(high - low, high, out=np.zeros_like(high), where=high > 0)
    return np.stack([h, saturation, high], -1)


@rgb_to_hsv.gradient
def _(node, dy):
    """With k the largest channel, h = (x[k+1] - x[k+2]) / (6 (high - low)) + a constant and s = 1 - low / high."""
    x = node.inputs[0]
    dh, ds, dv = (dy[..., i:i + 1] for i in range(3))
    largest = build.OneHot(build.ArgMax(x, -1), 3, *_one_and_zero(x))
    smallest = build.OneHot(build.ArgMin(x, -1), 3, *_one_and_zero(x))
    others = build.GatherV2(largest, [2, 0, 1], -1) - build.GatherV2(largest, [1, 2, 0], -1)
    high, low, apart = (build.Sum(x * which, [-1], keep_dims=True) for which in (largest, smallest, others))
    share = build.DivNoNan(dh, 6 * (high - low))
    spread = build.DivNoNan(share * apart, high - low)
    d_high = dv + build.DivNoNan(ds * low, high * high) - spread
    d_low = spread - build.DivNoNan(ds, high)
    return others * share + largest * d_high + smallest * d_low


def _one_and_zero(x):
    return np.ones((), x.dtype.as_numpy_dtype), np.zeros((), x.dtype.as_numpy_dtype)


@op("HSVToRGB", infer=_colors, dtypes=FLOATS, batched=in_front,
    no_grad="TensorFlow 1 lets no gradient through HSVToRGB")
def hsv_to_rgb(images):
    """Colors of hue, saturation and value. images: float[..., 3] -> float[..., 3]."""
    h, saturation, value = images[..., 0], images[..., 1], images[..., 2]
    return _colored(h, value, (1 - saturation) * value)


@op("AdjustHue", infer=_adjusted_colors, dtypes=_IMAGES, no_rule=_NO_RULE)
def adjust_hue(images, delta: Float32):
    """The hue turned by `delta` of a full circle. images: float[..., h, w, 3], delta: float32[] -> float[..., 3]."""
    h, high, low = _hue(images.astype(np.float32, copy=False))
    return _colored(np.mod(h + delta, np.float32(1)), high, low).astype(images.dtype, copy=False)


@op("AdjustSaturation", infer=_adjusted_colors, dtypes=_IMAGES, no_rule=_NO_RULE)
def adjust_saturation(images, scale: Float32):
    """The saturation times `scale`, at most 1. images: float[..., h, w, 3], scale: float32[] -> float[..., 3]."""
    hsv = rgb_to_hsv.kernel(images.astype(np.float32, copy=False))
    hsv[..., 1] = np.clip(hsv[..., 1] * scale, 0, 1)
    return hsv_to_rgb.kernel(hsv).astype(images.dtype, copy=False)


@op("AdjustContrastv2", infer=_adjusted, dtypes=_IMAGES, no_rule=_NO_RULE)
def adjust_contrast(images, contrast_factor: Float32):
    """Distances to the mean of each channel of each image times a factor. images: float[..., h, w, c] -> the same."""
    x = images.astype(np.float32, copy=False)
    mean = x.mean((-3, -2), keepdims=True)
    return ((x - mean) * contrast_factor + mean).astype(images.dtype, copy=False)


for _definition in (adjust_hue, adjust_saturation, adjust_contrast):
    @_definition.batched
    def _(node, args, batched, definition=_definition):
        return slice_by_slice(node, args, batched) if batched[1] else definition(*args)
