"""ATen's maxima and means of windows, in one to three dimensions, by fixed windows or to a fixed size."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ... import windows
from ...model import tf
from ...windows import Slide, extents, pads_of_ceil
from .common import along, as_given, aten, dims, for_each_axis, no_gradient, number, rank, shape_of


def _slide(x: Any, window: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> tuple[Any, Slide]:
    """`x` with an axis of batches, and how windows lie in it."""
    count = len(window)
    x = tf.expand_dims(x, 0) if rank(x) == count + 1 else x
    step = for_each_axis(stride, count) if isinstance(stride, int) or stride else list(window)
    slide = Slide(list(window), step, for_each_axis(dilation, count), [(p, p) for p in for_each_axis(padding, count)])
    return x, slide._replace(pads=pads_of_ceil(extents(x), slide)) if ceil_mode else slide


# ---- means ---------------------------------------------------------------------------------

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


# ---- maxima --------------------------------------------------------------------------------

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
        tf.gradients(adaptive_avg_pool(x, dy.dims[2 - 4 + rank(dy):][-(rank(dy) - 2):]), x, dy)[0],
})
