"""ATen's maxima and means of windows, in one to three dimensions, by fixed windows or to a fixed size."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...model import tf
from .common import along, aten, dims, no_gradient, number, rank, shape_of


def _all(values: Any, count: int) -> list[int]:
    listed = list(values) if isinstance(values, (list, tuple)) else [values]
    return listed * count if len(listed) == 1 else listed


def _windows(size: int, window: int, step: int, pad: int, hole: int, ceil_mode: bool) -> int:
    """How many windows there are; in ceil mode the last one begins inside of the tensor or its left padding."""
    reach = size + 2 * pad - hole * (window - 1) - 1
    count = -(-reach // step) + 1 if ceil_mode else reach // step + 1
    return count - 1 if ceil_mode and (count - 1) * step >= size + pad else count


class _Slide:
    """How windows lie along each axis of space. before, after: padding that makes them fit."""

    def __init__(self, space: list[int], window: Any, step: Any, pad: Any, hole: Any, ceil_mode: bool) -> None:
        count = len(space)
        self.space, self.window = space, _all(window, count)
        self.step = _all(step, count) if isinstance(step, int) or step else self.window
        self.before, self.hole = _all(pad, count), _all(hole, count)
        self.counts = [_windows(n, w, s, p, h, ceil_mode) for n, w, s, p, h in zip(
            space, self.window, self.step, self.before, self.hole)]
        self.after = [max((c - 1) * s + h * (w - 1) + 1 - n - p, 0) for c, s, h, w, n, p in zip(
            self.counts, self.step, self.hole, self.window, space, self.before)]

    def padded(self, x: Any, value: Any) -> Any:
        pairs = [[0, 0]] * (rank(x) - len(self.space)) + [list(p) for p in zip(self.before, self.after)]
        return tf.pad(x, pairs, constant_values=number(value, x)) if any(map(any, pairs)) else x

    def starts(self, axis: int) -> np.ndarray:
        return np.arange(self.counts[axis]) * self.step[axis]


def _batched(x: Any, space: int) -> tuple[Any, bool]:
    return (tf.expand_dims(x, 0), True) if rank(x) == space + 1 else (x, False)


def _pooled(function: Any, x: Any, slide: _Slide) -> Any:
    space = len(slide.space)
    if space == 1:
        y = function(tf.expand_dims(x, 2), [1, *slide.window], [1, *slide.step], "VALID", data_format="NCHW")
        return tf.squeeze(y, axis=[2])
    return function(x, slide.window, slide.step, "VALID", data_format="NCHW" if space == 2 else "NCDHW")


# ---- means ---------------------------------------------------------------------------------

@aten.op("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(x: Any, window: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
             count_include_pad: bool = True, divisor: int | None = None) -> Any:
    space = len(window)
    x, is_single = _batched(x, space)
    slide = _Slide(list(x.dims[2:]), window, stride, padding, 1, ceil_mode)
    function = tf.nn.avg_pool if space < 3 else tf.nn.avg_pool3d
    y = _pooled(function, slide.padded(x, 0.0), slide)
    size = int(np.prod(slide.window))
    if divisor is not None:
        y = y * number(size / divisor, y)
    else:
        counts = _counted(slide, count_include_pad)
        y = y * number(size / counts, y) if (counts != size).any() else y
    return tf.squeeze(y, axis=[0]) if is_single else y


def _counted(slide: _Slide, with_padding: bool) -> np.ndarray:
    """How many elements of each window count; what ceil mode adds never does."""
    total = np.ones([1] * len(slide.space))
    for axis, (n, w, p) in enumerate(zip(slide.space, slide.window, slide.before)):
        first = slide.starts(axis) - p
        last = np.minimum(first + w, n + p)
        counts = last - first if with_padding else np.minimum(last, n) - np.maximum(first, 0)
        total = total * counts.reshape([-1 if a == axis else 1 for a in range(len(slide.space))])
    return total


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
    space = len(window)
    x, is_single = _batched(x, space)
    slide = _Slide(list(x.dims[2:]), window, stride, padding, dilation, ceil_mode)
    wide = slide.padded(x, -np.inf)
    if max(slide.hole) == 1:
        y = _pooled(tf.nn.max_pool if space < 3 else tf.nn.max_pool3d, wide, slide)
    else:
        y = _chosen(wide, slide)[0]
    y = tf.squeeze(y, axis=[0]) if is_single else y
    return y, lambda: _places(wide, slide, is_single)


def _patch_places(slide: _Slide) -> np.ndarray:
    """Places in the padded space by window and by offset in it. -> int[windows, offsets]."""
    found = np.zeros([1] * 2 * len(slide.space), np.int64)
    for axis, n in enumerate(slide.space):
        at = slide.starts(axis)[:, None] + np.arange(slide.window[axis]) * slide.hole[axis]
        shape = [1] * 2 * len(slide.space)
        shape[axis], shape[len(slide.space) + axis] = at.shape
        found = found * (n + slide.before[axis] + slide.after[axis]) + at.reshape(shape)
    return found.reshape(int(np.prod(slide.counts)), -1)


def _chosen(wide: Any, slide: _Slide) -> tuple[Any, Any]:
    """The greatest of each window, and which element of the window it is."""
    lead = dims(wide)[:2]
    patches = tf.gather(tf.reshape(wide, shape_of([*lead, -1])), tf.constant(_patch_places(slide)), axis=2)
    which = tf.argmax(no_gradient(patches), axis=3)
    values = tf.squeeze(tf.gather(patches, tf.expand_dims(which, 3), axis=3, batch_dims=3), axis=[3])
    return tf.reshape(values, shape_of([*lead, *slide.counts])), which


def _places(wide: Any, slide: _Slide, is_single: bool) -> Any:
    """Where in the plane, without padding, each maximum is."""
    lead, patches = dims(wide)[:2], _patch_places(slide)
    _, which = _chosen(wide, slide)
    space = [n + b + a for n, b, a in zip(slide.space, slide.before, slide.after)]
    at = np.stack(np.unravel_index(patches, space)) - np.array(slide.before).reshape(-1, 1, 1)
    flat = np.ravel_multi_index(tuple(at), slide.space, mode="clip")
    chosen = tf.reduce_sum(tf.one_hot(which, flat.shape[1], dtype=tf.int64) * tf.constant(flat, tf.int64), axis=3)
    found = tf.reshape(chosen, shape_of([*lead, *slide.counts]))
    return tf.squeeze(found, axis=[0]) if is_single else found


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


@aten.op("avg_pool2d_backward", "avg_pool3d_backward")
def avg_pool_backward(dy: Any, x: Any, *how: Any) -> Any:
    return tf.gradients(avg_pool(x, *how), x, dy)[0]


@aten.op("_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward")
def adaptive_avg_pool_backward(dy: Any, x: Any) -> Any:
    return tf.gradients(adaptive_avg_pool(x, dy.dims[2 - 4 + rank(dy):][-(rank(dy) - 2):]), x, dy)[0]


@aten.op("max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward")
def max_pool_backward(dy: Any, x: Any, window: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
                      places: Any = None) -> Any:
    return tf.gradients(max_pool(x, window, stride, padding, dilation, ceil_mode)[0], x, dy)[0]


