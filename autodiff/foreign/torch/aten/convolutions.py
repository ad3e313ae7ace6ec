"""ATen's convolution and its adjoint, in one to three dimensions, with groups, and windows as columns."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...model import tf
from .common import aten, dims, for_each_axis, rank, shape_of


@aten.op("convolution", "_convolution", "convolution_overrideable", "mkldnn_convolution.full")
def convolution(x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
                output_padding: Any, groups: int, *_: Any) -> Any:
    space = rank(weight) - 2
    is_single = rank(x) == space + 1
    x = tf.expand_dims(x, 0) if is_single else x
    steps, pads, holes = (for_each_axis(v, space) for v in (stride, padding, dilation))
    extra = for_each_axis(output_padding, space)
    if space == 1:  # rows are images of height 1
        x, weight = tf.expand_dims(x, 2), tf.expand_dims(weight, 2)
        steps, pads, holes, extra = [1, *steps], [0, *pads], [1, *holes], [0, *extra]
    y = _adjoint(x, weight, steps, pads, holes, extra, groups) if transposed else _forward(
        x, weight, steps, pads, holes, groups)
    y = tf.squeeze(y, axis=[2]) if space == 1 else y
    if bias is not None:
        y = y + tf.reshape(bias, [-1] + [1] * space)
    return tf.squeeze(y, axis=[0]) if is_single else y


@aten.op("mkldnn_convolution")
def mkldnn_convolution(x: Any, weight: Any, bias: Any, padding: Any, stride: Any, dilation: Any, groups: int) -> Any:
    return convolution(x, weight, bias, stride, padding, dilation, False, 0, groups)


def _layout(weight: Any) -> str:
    return "NCHW" if rank(weight) == 4 else "NCDHW"


def _filters_last(weight: Any) -> Any:
    """[f, c, ...] as [..., c, f]."""
    return tf.transpose(weight, [*range(2, rank(weight)), 1, 0])


def _forward(x: Any, weight: Any, steps: list[int], pads: list[int], holes: list[int], groups: int) -> Any:
    if any(pads):
        x = tf.pad(x, [[0, 0], [0, 0], *([p, p] for p in pads)])
    convolve = tf.nn.conv2d if rank(weight) == 4 else tf.nn.conv3d
    layout = {"strides": steps, "padding": "VALID", "data_format": _layout(weight), "dilations": holes}
    if groups == 1:
        return convolve(x, _filters_last(weight), **layout)
    parts = zip(tf.split(x, groups, axis=1), tf.split(weight, groups, axis=0))
    return tf.concat([convolve(a, _filters_last(w), **layout) for a, w in parts], axis=1)


def _adjoint(x: Any, weight: Any, steps: list[int], pads: list[int], holes: list[int], extra: list[int],
             groups: int) -> Any:
    """Spread over the whole extent, then cut by the padding."""
    sizes, window = dims(x), weight.dims[2:]
    full = [(sizes[2 + i] - 1) * steps[i] + holes[i] * (window[i] - 1) + 1 for i in range(len(window))]
    build = tf.nn.conv2d_transpose if rank(weight) == 4 else tf.nn.conv3d_transpose
    parts = []
    for a, w in zip(tf.split(x, groups, axis=1) if groups > 1 else [x],
                    tf.split(weight, groups, axis=0) if groups > 1 else [weight]):
        shape = shape_of([sizes[0], w.dims[1], *full])
        parts.append(build(a, _filters_last(w), shape, steps, "VALID", data_format=_layout(weight), dilations=holes))
    y = tf.concat(parts, axis=1) if groups > 1 else parts[0]
    if any(extra):
        y = tf.pad(y, [[0, 0], [0, 0], *([0, e] for e in extra)])
    if any(pads):
        cut = [slice(p, p + full[i] - 2 * p + extra[i]) for i, p in enumerate(pads)]
        y = y[(slice(None), slice(None), *cut)]
    return y


def columns(size: int, window: int, hole: int, pad: int, step: int) -> np.ndarray:
    """The places that each window covers along an axis that was padded. -> int[windows, window]."""
    count = (size + 2 * pad - hole * (window - 1) - 1) // step + 1
    return np.arange(count)[:, None] * step + np.arange(window)[None] * hole


def _column_places(height: int, width: int, window: Any, holes: Any, pads: Any, steps: Any) -> np.ndarray:
    """Places in the padded plane by offset in the window and by window. -> int[kh * kw, windows]."""
    rows = columns(height, window[0], holes[0], pads[0], steps[0])
    across = columns(width, window[1], holes[1], pads[1], steps[1])
    at = rows[:, :, None, None] * (width + 2 * pads[1]) + across[None, None]
    return at.transpose(1, 3, 0, 2).reshape(window[0] * window[1], -1)


@aten.op("im2col")
def im2col(x: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    if rank(x) == 3:
        return tf.squeeze(im2col(tf.expand_dims(x, 0), kernel_size, dilation, padding, stride), axis=[0])
    count, channels, height, width = dims(x)
    at = _column_places(height, width, kernel_size, dilation, padding, stride)
    wide = tf.pad(x, [[0, 0], [0, 0], [padding[0]] * 2, [padding[1]] * 2])
    taken = tf.gather(tf.reshape(wide, shape_of([count, channels, -1])), tf.constant(at), axis=2)
    return tf.reshape(taken, shape_of([count, channels * at.shape[0], at.shape[1]]))


@aten.op("col2im")
def col2im(x: Any, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    if rank(x) == 2:
        return tf.squeeze(col2im(tf.expand_dims(x, 0), output_size, kernel_size, dilation, padding, stride), axis=[0])
    height, width = output_size
    at = _column_places(height, width, kernel_size, dilation, padding, stride)
    tall, wide = height + 2 * padding[0], width + 2 * padding[1]
    count, joined, _ = dims(x)
    channels = joined // at.shape[0]
    rows = tf.transpose(tf.reshape(x, shape_of([count * channels, at.size])))
    summed = tf.math.unsorted_segment_sum(rows, tf.constant(at.ravel()), tall * wide)
    plane = tf.reshape(tf.transpose(summed), shape_of([count, channels, tall, wide]))
    return plane[:, :, padding[0]:padding[0] + height, padding[1]:padding[1] + width]


@aten.op("unfold_backward")
def unfold_backward(dy: Any, sizes: Any, axis: int, size: int, step: int) -> Any:
    at = np.arange(int(np.prod(sizes))).reshape(sizes)
    windows = np.lib.stride_tricks.sliding_window_view(at, size, axis)
    windows = windows[(slice(None),) * axis + (slice(None, None, step),)]
    flat = tf.math.unsorted_segment_sum(tf.reshape(dy, [-1]), tf.constant(windows.ravel().copy()), at.size)
    return tf.reshape(flat, list(sizes))


@aten.op("convolution_backward", note="other backward ops are taken apart by torch itself")
def convolution_backward(dy: Any, x: Any, weight: Any, bias_sizes: Any, *how: Any) -> Any:
    dx, dweight = tf.gradients(convolution(x, weight, None, *how[:-1]), [x, weight], dy)
    return dx, dweight, tf.reduce_sum(dy, axis=[a for a in range(rank(dy)) if a != 1])
