"""ATen's windows and images: convolutions, columns, pooling, resizing and sampling."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ... import windows
from ...model import tf
from ...onnx.resize import axis_weights
from ...onnx.sampling import affine_grid, at_grid
from ...onnx.windows import col2im as summed_columns
from ...windows import Slide, convolve, convolve_transposed, extents, pads_of_ceil
from .common import along, as_given, aten, dims, for_each_axis, rank, shape_of
from .shapes import unfold
from .types import no_gradient, number


@aten.op("convolution", "_convolution", "convolution_overrideable", "mkldnn_convolution.full")
def convolution(x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
                output_padding: Any, groups: int, *_: Any) -> Any:
    space = rank(weight) - 2
    wide = tf.expand_dims(x, 0) if rank(x) == space + 1 else x
    steps, pads, holes, extra = (for_each_axis(v, space) for v in (stride, padding, dilation, output_padding))
    slide = Slide(weight.dims[2:], steps, holes, [(p, p) for p in pads])
    y = (convolve_transposed(wide, weight, slide, groups, extra) if transposed else
         convolve(wide, weight, slide, groups))
    return as_given(y if bias is None else y + tf.reshape(bias, [-1] + [1] * space), x)


@aten.op("im2col")
def im2col(x: Any, window: Any, holes: Any, pads: Any, steps: Any) -> Any:
    y = tf.expand_dims(x, 0) if rank(x) == 3 else x
    count, channels, *_ = dims(y)
    y = tf.pad(y, [[0, 0], [0, 0], [pads[0]] * 2, [pads[1]] * 2])
    for i, axis in enumerate((2, 4)):
        last = y.dims[axis] - holes[i] * (window[i] - 1)
        places = np.arange(window[i])[:, None] * holes[i] + np.arange(0, last, steps[i])
        y = tf.gather(y, tf.constant(places), axis=axis)
    y = tf.transpose(y, [0, 1, 2, 4, 3, 5])
    y = tf.reshape(y, shape_of([count, channels * window[0] * window[1], -1]))
    return tf.squeeze(y, axis=[0]) if rank(x) == 3 else y


@aten.op("convolution_backward", note="other backward ops are taken apart by torch itself")
def convolution_backward(dy: Any, x: Any, weight: Any, bias_sizes: Any, *how: Any) -> Any:
    dx, dweight = tf.gradients(convolution(x, weight, None, *how[:-1]), [x, weight], dy)
    return dx, dweight, tf.reduce_sum(dy, axis=[a for a in range(rank(dy)) if a != 1])


@aten.op("col2im")
def col2im(x: Any, sizes: Any, window: Any, holes: Any, pads: Any, steps: Any) -> Any:
    y = summed_columns(tf.expand_dims(x, 0) if rank(x) == 2 else x, tf.constant(sizes), tf.constant(window),
                       dilations=holes, pads=[*pads, *pads], strides=steps)
    return tf.squeeze(y, axis=[0]) if rank(x) == 2 else y


aten.rows({
    "mkldnn_convolution": lambda x, weight, bias, padding, stride, dilation, groups:
        convolution(x, weight, bias, stride, padding, dilation, False, 0, groups),
    "unfold_backward": lambda dy, sizes, axis, size, step:
        tf.gradients(unfold(z := tf.zeros(shape_of(sizes), dy.dtype.base_dtype), axis, size, step), z, dy)[0]})


def _slide(x: Any, window: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> tuple[Any, Slide]:
    """`x` with an axis of batches, and how windows lie in it."""
    count = len(window)
    x = tf.expand_dims(x, 0) if rank(x) == count + 1 else x
    step = for_each_axis(stride, count) if isinstance(stride, int) or stride else list(window)
    slide = Slide(list(window), step, for_each_axis(dilation, count), [(p, p) for p in for_each_axis(padding, count)])
    return x, slide._replace(pads=pads_of_ceil(extents(x), slide)) if ceil_mode else slide


@aten.op("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(x: Any, window: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
             count_include_pad: bool = True, divisor: int | None = None) -> Any:
    wide, slide = _slide(x, window, stride, padding, 1, ceil_mode)
    if divisor is not None:
        return as_given(windows.sum_pool(wide, slide) / number(float(divisor), x), x)
    counted = for_each_axis(padding, len(window)) if count_include_pad else [0] * len(window)
    return as_given(windows.average_pool(wide, slide, [(p, p) for p in counted]), x)


@aten.op("_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d",
      "mkldnn_adaptive_avg_pool2d")
def adaptive_avg_pool(x: Any, sizes: Any) -> Any:
    space = len(sizes)
    for i, m in enumerate(sizes):
        axis = rank(x) - space + i
        n = x.dims[axis]
        low, high = _bounds(n, m)
        inside = (np.arange(n) >= low[:, None]) & (np.arange(n) < high[:, None])
        x = along(x, axis, inside / (high - low)[:, None])
    return x


def _bounds(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each of m windows over n elements begins and ends."""
    i = np.arange(m)
    return i * n // m, -(-(i + 1) * n // m)


@aten.op("max_pool1d", "max_pool2d_with_indices", "max_pool3d_with_indices", "max_pool1d_with_indices", "max_pool2d",
      "max_pool3d", "mkldnn_max_pool2d", note="the first of equal ones has the gradient; places are those of the plane")
def max_pool(x: Any, window: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
             ceil_mode: bool = False) -> Any:
    wide, slide = _slide(x, window, stride, padding, dilation, ceil_mode)

    def places() -> Any:
        """Where in the plane, without padding, each maximum is."""
        at = windows.max_places(wide, slide)
        return as_given(functools.reduce(lambda flat, pair: flat * pair[1] + pair[0], zip(at[1:], extents(wide)[1:]),
                                          at[0]), x)
    return as_given(windows.max_pool(wide, slide), x), places


@aten.op("adaptive_max_pool2d", "adaptive_max_pool3d", "adaptive_max_pool1d")
def adaptive_max_pool(x: Any, sizes: Any) -> Any:
    space = len(sizes)
    lead, n = dims(x)[:-space], list(x.dims[-space:])
    patches = _adaptive_places(n, list(sizes))
    flat = tf.reshape(x, shape_of([*lead, -1]))
    count = rank(flat)
    wide = tf.gather(flat, tf.constant(np.maximum(patches, 0)), axis=count - 1)
    hidden = tf.where_v2(tf.constant(patches < 0), number(-np.inf, x), wide)
    which = tf.expand_dims(tf.argmax(no_gradient(hidden), axis=count), count)
    values = tf.squeeze(tf.gather(hidden, which, axis=count, batch_dims=count), axis=[count])
    at = tf.reduce_sum(tf.one_hot(tf.squeeze(which, axis=[count]), patches.shape[1], dtype=tf.int64) * tf.constant(
        patches, tf.int64), axis=count)
    shape = shape_of([*lead, *sizes])
    return tf.reshape(values, shape), tf.reshape(at, shape)


def _adaptive_places(n: list[int], m: list[int]) -> np.ndarray:
    """Places in the plane that each window covers, filled up with -1. -> int[windows, most]."""
    bounds = [_bounds(a, b) for a, b in zip(n, m)]
    plane = np.arange(int(np.prod(n))).reshape(n)
    found = []
    for window in np.ndindex(*m):
        cut = tuple(slice(low[i], high[i]) for i, (low, high) in zip(window, bounds))
        found.append(plane[cut].ravel())
    most = max(map(len, found))
    return np.array([np.pad(f, (0, most - len(f)), constant_values=-1) for f in found])


@aten.op("max_unpool2d", "max_unpool3d")
def max_unpool(x: Any, at: Any, sizes: Any, *_: Any) -> Any:
    lead = dims(x)[:-len(sizes)]
    count = int(np.prod(lead))
    size = int(np.prod(sizes))
    rows = tf.reshape(at, [count, -1]) + tf.range(count, dtype=tf.int64)[:, None] * size
    flat = tf.tensor_scatter_update(tf.zeros([count * size], x.dtype.base_dtype), tf.reshape(rows, [-1, 1]),
                                    tf.reshape(x, [-1]))
    return tf.reshape(flat, shape_of([*lead, *sizes]))


aten.rows({
    "max_pool2d_with_indices_backward max_pool3d_with_indices_backward": lambda dy, x, *how:
        tf.gradients(max_pool(x, *how[:5])[0], x, dy)[0],
    "avg_pool2d_backward avg_pool3d_backward": lambda dy, x, *how: tf.gradients(avg_pool(x, *how), x, dy)[0],
    "_adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward": lambda dy, x:
        tf.gradients(adaptive_avg_pool(x, dy.dims[2 - 4 + rank(dy):][-(rank(dy) - 2):]), x, dy)[0]})


def _resizing(x: Any, sizes: Any, factors: tuple[Any, ...], matrix: Any) -> Any:
    """Each axis of space by its own matrix(n, m, scale). factors: of all axes or each; None where there are sizes."""
    scales = factors[0] if len(factors) == 1 and isinstance(factors[0], (list, tuple)) else factors
    for i in range(rank(x) - 2):
        n = x.dims[2 + i]
        factor = scales[i] if scales and any(s is not None for s in scales) else None
        weights = matrix(n, sizes[i] if sizes is not None else int(n * factor), factor)
        if weights.shape[0] != n or (weights != np.eye(n)).any():
            x = along(x, 2 + i, weights)
    return x


def _weighted(kind: str, *, antialias: bool = False) -> Any:
    def build(x: Any, sizes: Any, align_corners: bool, *factors: Any) -> Any:
        def matrix(n: int, m: int, factor: float | None) -> np.ndarray:
            if antialias and align_corners:  # changes the scale alone
                return axis_weights(kind, "half_pixel", m, n, (m - 1) / max(n - 1, 1), antialias=True)
            return axis_weights(kind, "align_corners" if align_corners else "half_pixel", m, n, factor or m / n,
                                antialias=antialias)
        return _resizing(x, sizes, factors, matrix)
    return build


def _nearest(offset: float) -> Any:
    def matrix(n: int, m: int, factor: float | None) -> np.ndarray:
        scale = np.float32(1 / factor if factor else n / m)
        at = np.minimum(np.floor((np.arange(m, dtype=np.float32) + np.float32(offset)) * scale).astype(int), n - 1)
        return np.eye(n)[at]
    return lambda x, sizes, *factors: _resizing(x, sizes, factors, matrix)


@aten.op("grid_sampler_2d", "grid_sampler_3d", "cudnn_grid_sampler", "grid_sampler")
def grid_sampler(x: Any, grid: Any, interpolation: int = 0, padding: int = 0, align_corners: bool = False) -> Any:
    kind, outside = ("linear", "nearest", "cubic")[interpolation], ("zeros", "border", "reflection")[padding]
    return at_grid(x, grid, int(align_corners), kind, outside, settled=kind != "cubic")


aten.rows({
    "upsample_nearest1d upsample_nearest2d upsample_nearest3d": _nearest(0.0),
    "_upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d": _nearest(0.5),
    "upsample_linear1d upsample_bilinear2d upsample_trilinear3d": _weighted("linear"),
    "upsample_bicubic2d": _weighted("cubic"), "_upsample_bilinear2d_aa": _weighted("linear", antialias=True),
    "_upsample_bicubic2d_aa": _weighted("cubic", antialias=True),
    "affine_grid_generator": lambda theta, size, align_corners:
        affine_grid(theta, tf.constant(size, tf.int64), align_corners=int(align_corners))})
