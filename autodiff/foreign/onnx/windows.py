"""ONNX's convolutions and pooling."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import windows
from ..model import tf
from .sizes import product, rank_of, reshaped, size_of, sizes_of, vector
from .table import Node, ints, onnx, text


def _slide(x: Any, window: Any, *, auto_pad: Any = b"NOTSET", dilations: Any = None, pads: Any = None,
           strides: Any = None, ceil_mode: int = 0) -> windows.Slide:
    """The attributes that windows have in common."""
    count = len(window)
    ones, both = [1] * count, list(pads or [0] * 2 * count)
    slide = windows.Slide(window, strides or ones, dilations or ones, list(zip(both[:count], both[count:])))
    kind = text(auto_pad)
    if kind.startswith("SAME"):
        geometry = zip(windows.extents(x), slide.window, slide.strides, slide.dilations)
        return slide._replace(pads=[_same(n, k, s, d, kind == "SAME_UPPER") for n, k, s, d in geometry])
    if kind == "VALID":
        slide = slide._replace(pads=[(0, 0)] * count)
    return slide._replace(pads=windows.pads_of_ceil(windows.extents(x), slide)) if ceil_mode else slide


def _same(size: Any, window: int, stride: int, dilation: int, upper: bool) -> tuple[Any, Any]:
    """The padding with which there are size / stride windows, rounded up; upper: the odd one is at the end."""
    missing = (-(-size // stride) - 1) * stride + (window - 1) * dilation + 1 - size
    missing = max(missing, 0) if isinstance(missing, int) else tf.maximum(missing, 0)
    half = missing // 2
    return (half, missing - half) if upper else (missing - half, half)


def _biased(y: Any, bias: Any) -> Any:
    return y if bias is None else y + tf.reshape(bias, [-1, *[1] * (len(y.dims) - 2)])


@onnx.op("ConvTranspose")
def conv_transpose(x: Any, w: Any, bias: Any = None, *, auto_pad: Any = b"NOTSET", group: int = 1,
                   kernel_shape: Any = None, output_padding: Any = None, output_shape: Any = None, **how: Any) -> Any:
    slide = _slide(x, kernel_shape or sizes_of(w)[2:], **how)
    more, kind = list(output_padding or [0] * len(slide.window)), text(auto_pad)
    if output_shape is not None or kind.startswith("SAME"):
        wanted = output_shape or [n * s for n, s in zip(windows.extents(x), slide.strides)]
        found = []
        for n, k, s, d, m, size in zip(windows.extents(x), slide.window, slide.strides, slide.dilations, more, wanted):
            cut = (n - 1) * s + m + (k - 1) * d + 1 - size
            half = cut // 2
            found.append((half, cut - half) if kind == "SAME_UPPER" else (cut - half, half))
        slide = slide._replace(pads=found)
    return _biased(windows.convolve_transposed(x, w, slide, group, more), bias)


@onnx.op("CausalConvWithState", note="a depthwise convolution of what was and what comes")
def causal_conv_with_state(x: Any, w: Any, bias: Any = None, past: Any = None, *, activation: Any = b"none") -> Any:
    reach = size_of(w, 2) - 1
    wide = tf.pad(x, [[0, 0], [0, 0], [reach, 0]]) if past is None else tf.concat([past, x], 2)
    y = _biased(windows.convolve(wide, w, windows.Slide([reach + 1], [1], [1], [(0, 0)]), size_of(x, 1)), bias)
    return y if text(activation) == "none" else y * tf.sigmoid(y), wide[:, :, size_of(wide, 2) - reach:]


@onnx.op("MaxPool")
def max_pool_(x: Any, *, kernel_shape: Any, storage_order: int = 0, node: Node, **how: Any) -> Any:
    slide = _slide(x, kernel_shape, **how)
    y = windows.max_pool(x, slide)
    if node.wanted < 2:
        return y
    sizes = [tf.cast(n, tf.int64) for n in sizes_of(x)]
    coordinates = list(zip(windows.max_places(x, slide), sizes[2:]))
    place: Any = tf.constant(0, tf.int64)
    for at, size in coordinates[::-1] if storage_order else coordinates:
        place = place * size + at
    images = tf.reshape(tf.range(sizes[0] * sizes[1]), tf.stack([sizes[0], sizes[1], *[1] * len(kernel_shape)]))
    return y, place + images * product(sizes[2:])


def _average(x: Any, *, kernel_shape: Any, ceil_mode: int = 0, count_include_pad: int = 0, **how: Any) -> Any:
    counted = _slide(x, kernel_shape, **how).pads if count_include_pad else [(0, 0)] * len(kernel_shape)
    return windows.average_pool(x, _slide(x, kernel_shape, ceil_mode=ceil_mode, **how), counted)


def _norm(x: Any, p: int, total: Any) -> Any:
    return tf.sqrt(total(tf.square(x))) if p == 2 else tf.pow(total(tf.pow(tf.abs(x), float(p))), 1 / p)


def _over_space(reduced: Any) -> Any:
    return lambda x: reduced(x, list(range(2, rank_of(x))), keepdims=True)


@onnx.op("MaxUnpool")
def max_unpool(x: Any, indices: Any, output_shape: Any = None, *, kernel_shape: Any, pads: Any = None,
               strides: Any = None) -> Any:
    slide = _slide(x, kernel_shape, pads=pads, strides=strides)
    geometry = zip(windows.extents(x), slide.strides, kernel_shape, slide.pads)
    space = [(n - 1) * s - a - b + k for n, s, k, (a, b) in geometry]
    sizes = [*sizes_of(x)[:2], *space]
    flat = tf.scatter_nd(tf.reshape(indices, [-1, 1]), tf.reshape(x, [-1]), vector([product(sizes)]))
    y = reshaped(flat, sizes)
    if output_shape is None:
        return y
    after = tf.cast(output_shape, tf.int64) - tf.cast(vector(sizes), tf.int64)
    return tf.pad(y, tf.stack([tf.zeros_like(after), after], 1))


@onnx.op("Col2Im", note="any number of axes of space; what falls on the padding is lost")
def col2im(x: Any, image_shape: Any, block_shape: Any, *, dilations: Any = None, pads: Any = None,
           strides: Any = None) -> Any:
    axes = int(image_shape.shape[0])
    steps, apart = np.array(strides or [1] * axes), np.array(dilations or [1] * axes)
    both = np.array(pads or [0] * 2 * axes).reshape(2, axes)
    image, block = tf.cast(image_shape, tf.int64), tf.cast(block_shape, tf.int64)
    size = tf.reduce_prod(block)
    counts = (image + both.sum(0) - (block - 1) * apart - 1) // steps + 1
    places = tf.transpose(tf.unravel_index(tf.range(size), block)) * apart  # [block, axes]
    starts = tf.transpose(tf.unravel_index(tf.range(tf.reduce_prod(counts)), counts)) * steps - both[0]
    at = tf.expand_dims(places, 1) + tf.expand_dims(starts, 0)
    inside = tf.reduce_all(tf.logical_and(at >= 0, at < image), -1)
    number = tf.reduce_sum(at * tf.cumprod(image, exclusive=True, reverse=True), -1)
    number = tf.reshape(tf.where_v2(inside, number, -tf.ones_like(number)), [-1])
    batch = tf.cast(size_of(x, 0), tf.int64)
    channels = tf.cast(size_of(x, 1), tf.int64) // size
    columns = tf.transpose(tf.reshape(x, tf.stack([batch * channels, -1])))
    found = tf.transpose(tf.unsorted_segment_sum(columns, number, tf.reduce_prod(image)))
    y = tf.reshape(found, tf.concat([[batch, channels], image], 0))
    y.set_shape([None, None, *(ints(image_shape) or axes * [None])])
    return y


onnx.rows({
    "Conv": lambda x, w, bias=None, *, group=1, kernel_shape=None, **how:
        _biased(windows.convolve(x, w, _slide(x, kernel_shape or sizes_of(w)[2:], **how), group), bias),
    "AveragePool": _average,
    "LpPool": lambda x, *, kernel_shape, p=2, **how:
        _norm(x, p, lambda powers: windows.sum_pool(powers, _slide(x, kernel_shape, **how))),
    "GlobalAveragePool": _over_space(tf.reduce_mean), "GlobalMaxPool": _over_space(tf.reduce_max),
    "GlobalLpPool": lambda x, *, p=2: _norm(x, p, _over_space(tf.reduce_sum))})
