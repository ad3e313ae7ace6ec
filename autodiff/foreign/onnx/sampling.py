"""ONNX ops that look at images at places between their elements: grids, deformed windows, regions."""
from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..model import tf
from .resize import far, near
from .sizes import product, reshaped, size_of, sizes_of, vector
from .table import ints, like, onnx, text


def _taps(t: Any, kind: str) -> list[tuple[int, Any]]:
    """Neighbors of a place between elements 0 and 1, as (offset, weight). t: the part behind element 0."""
    if kind == "nearest":
        return [(0, None)]
    if kind == "linear":
        return [(0, 1 - t), (1, t)]
    return [(-1, far(t + 1)), (0, near(t)), (1, near(1 - t)), (2, far(2 - t))]


def _reflected(v: Any, low: float, high: Any) -> Any:
    """Places outside of low .. high, folded back as often as needed."""
    span = tf.maximum(high - low, 1e-6)
    t = tf.floormod(tf.abs(v - low), 2 * span)
    return low + tf.minimum(t, 2 * span - t)


def _neighbors(x: Any, places: Sequence[Any], kind: str,
               settle: Callable[[Any, int], Any] | None = None) -> Iterator[Any]:
    """(weight, values) of each combination of neighbors. x: float[n, c, *space]; places: float[n, p] for each axis of
    space; values: float[n, p, c]. settle(place, axis): where neighbors outside count; None: they are zero."""
    sizes = [like(tf.cast(n, tf.int64), places[0]) for n in sizes_of(x)[2:]]
    flat = tf.transpose(reshaped(x, [*sizes_of(x)[:2], product(sizes_of(x)[2:])]), [0, 2, 1])
    first = [tf.round(p) if kind == "nearest" else tf.floor(p) for p in places]
    for taps in itertools.product(*[_taps(p - f, kind) for p, f in zip(places, first)]):
        weight: Any = None
        number: Any = 0
        for axis, (offset, part) in enumerate(taps):
            at = first[axis] + offset
            if settle is None:
                inside = tf.logical_and(at >= 0, at <= sizes[axis] - 1)
                part = tf.where_v2(inside, tf.ones_like(at) if part is None else part, tf.zeros_like(at))
            else:
                at = settle(at, axis)
            at = tf.clip_by_value(at, tf.zeros_like(sizes[axis]), sizes[axis] - 1)
            number = number * sizes[axis] + at
            weight = part if weight is None else weight if part is None else weight * part
        yield weight, tf.gather(flat, tf.cast(number, tf.int64), batch_dims=1)


def sampled(x: Any, places: Sequence[Any], kind: str, settle: Callable[[Any, int], Any] | None = None) -> Any:
    """float[n, c, p]: what `x` is at places between its elements."""
    parts = [v if w is None else v * tf.expand_dims(tf.cast(w, x.dtype.base_dtype), -1)
             for w, v in _neighbors(x, places, kind, settle)]
    return tf.transpose(functools.reduce(tf.add, parts), [0, 2, 1])


@onnx.op("GridSample")
def grid_sample(x: Any, grid: Any, *, align_corners: int = 0, mode: Any = b"linear",
                padding_mode: Any = b"zeros") -> Any:
    return at_grid(x, grid, align_corners, text(mode).replace("bi", ""), text(padding_mode))


def at_grid(x: Any, grid: Any, align_corners: int, kind: str, outside: str, *, settled: bool = True) -> Any:
    """`x` at the places of a grid, which go from -1 to 1. settled: its places come to the border before neighbors are
    looked for, not these alone."""
    sizes = [like(tf.cast(n, tf.int64), grid) for n in sizes_of(x)[2:]]
    low = 0.0 if align_corners else -0.5
    flat = reshaped(grid, [size_of(x, 0), product(sizes_of(grid)[1:-1]), len(sizes)])

    def settle(v: Any, axis: int) -> Any:
        if outside == "reflection":
            v = _reflected(v, low, sizes[axis] - 1 - low)
        return tf.minimum(tf.maximum(v, 0.0), sizes[axis] - 1)

    places = []
    for axis, size in enumerate(sizes):
        v = flat[:, :, len(sizes) - 1 - axis]  # the last axis of space comes first
        v = (v + 1) / 2 * (size - 1) if align_corners else ((v + 1) * size - 1) / 2
        v = tf.round(v) if kind == "nearest" else v
        if outside == "border" and settled:
            is_out = tf.logical_or(v < low, v > size - 1 - low)
            v = tf.where_v2(is_out, settle(v, axis), v)
        elif outside == "reflection":
            v = _reflected(v, low, size - 1 - low)
        places.append(v)
    y = sampled(x, places, kind, None if outside == "zeros" else settle)
    return reshaped(y, [*sizes_of(x)[:2], *sizes_of(grid)[1:-1]])


@onnx.op("AffineGrid")
def affine_grid(theta: Any, size: Any, *, align_corners: int = 0) -> Any:
    count = int(theta.shape[1])
    known = ints(size)
    space = [known[2 + i] if known else tf.cast(size[2 + i], tf.int64) for i in range(count)]
    axes = []
    for i, n in enumerate(space):
        step = like(tf.range(tf.cast(n, tf.int64)), theta)
        whole = like(tf.cast(n, tf.int64), theta)
        line = 2 * step / (whole - 1) - 1 if align_corners else (2 * step + 1) / whole - 1
        axes.append(tf.broadcast_to(tf.reshape(line, [-1 if i == j else 1 for j in range(count)]), vector(space)))
    points = tf.stack([*axes[::-1], tf.ones_like(axes[0])], -1)
    flat = reshaped(points, [product(space), count + 1])
    return reshaped(tf.matmul(tf.expand_dims(flat, 0), theta, transpose_b=True), [size_of(theta, 0), *space, count])


@onnx.op("DeformConv")
def deform_conv(x: Any, w: Any, offset: Any, bias: Any = None, mask: Any = None, *, dilations: Any = None,
                group: int = 1, kernel_shape: Any = None, offset_group: int = 1, pads: Any = None,
                strides: Any = None) -> Any:
    """Two axes of space. offset: float[n, offset_group * kh * kw * 2, h', w'], as (down, right)."""
    window = kernel_shape or sizes_of(w)[2:]
    n, c, h, v = sizes_of(x)
    high, wide = sizes_of(offset)[2:]
    count, groups = window[0] * window[1], n * offset_group
    moves = reshaped(offset, [groups, count, 2, high, wide])
    places = []
    for axis, size in enumerate((high, wide)):
        line = tf.range(tf.cast(size, tf.int64)) * (strides or [1, 1])[axis] - (pads or [0, 0])[axis]
        taps = np.indices(window)[axis].reshape(-1, 1, 1) * (dilations or [1, 1])[axis]
        at = tf.reshape(line, [1, -1, 1] if axis == 0 else [1, 1, -1]) + taps
        places.append(reshaped(moves[:, :, axis] + like(at, x), [groups, count * high * wide]))
    y = sampled(reshaped(x, [groups, c // offset_group, h, v]), places, "linear")
    y = reshaped(y, [n, offset_group, c // offset_group, count, high, wide])
    if mask is not None:
        y = y * reshaped(mask, [n, offset_group, 1, count, high, wide])
    y = reshaped(y, [n, group, c // group * count, high * wide])
    filters = reshaped(w, [group, size_of(w, 0) // group, c // group * count])
    y = reshaped(tf.matmul(tf.expand_dims(filters, 0), y), [n, size_of(w, 0), high, wide])
    return y if bias is None else y + tf.reshape(bias, [-1, 1, 1])


def _in_bins(x: Any, start: Any, length: Any, bins: int, ratio: int) -> tuple[Any, Any]:
    """Places in each bin of each region along one axis, float[regions, bins, points], and which of them are used.

    ratio: places in a bin; 0 for one to each element, so that regions have different numbers of them.
    """
    start, length = (tf.reshape(v, [-1, 1, 1]) for v in (start, length))
    count = tf.fill(tf.shape(length), like(ratio, x)) if ratio else tf.ceil(length / bins)
    most = ratio or tf.cast(tf.reduce_max(count), tf.int64)
    step = tf.reshape(like(tf.range(tf.cast(most, tf.int64)), x), [1, 1, -1])
    places = start + length / bins * (np.arange(bins).reshape(1, -1, 1) + (step + 0.5) / count)
    return places, tf.broadcast_to(step < count, tf.shape(places))


def _crossed(rows: Any, columns: Any) -> tuple[Any, Any]:
    """What belongs to rows and to columns, each [regions, bins, points], as [regions, bins, points, bins, points]."""
    shape = tf.concat([tf.shape(rows), tf.shape(columns)[1:]], 0)
    return (tf.broadcast_to(rows[:, :, :, None, None], shape), tf.broadcast_to(columns[:, None, None], shape))


@onnx.op("RoiAlign", note="max takes the largest weighted neighbor, as onnx's reference does")
def roi_align(x: Any, rois: Any, batch_indices: Any, *, coordinate_transformation_mode: Any = b"half_pixel",
              mode: Any = b"avg", output_height: int = 1, output_width: int = 1, sampling_ratio: int = 0,
              spatial_scale: float = 1.0) -> Any:
    is_half, averages = text(coordinate_transformation_mode) == "half_pixel", text(mode) == "avg"
    corners = rois * spatial_scale - (0.5 if is_half else 0.0)
    starts, lengths = corners[:, :2], corners[:, 2:] - corners[:, :2]
    lengths = lengths if is_half else tf.maximum(lengths, 1.0)
    (rows, used_rows), (columns, used_columns) = (
        _in_bins(x, starts[:, k], lengths[:, k], bins, max(sampling_ratio, 0))
        for k, bins in ((1, output_height), (0, output_width)))
    used = tf.logical_and(*_crossed(used_rows, used_columns))
    places, seen = [], used
    for v, size in zip(_crossed(rows, columns), sizes_of(x)[2:]):
        size = like(tf.cast(size, tf.int64), x)
        seen = tf.logical_and(seen, tf.logical_and(v >= -1.0, v <= size))
        places.append(tf.reshape(tf.minimum(tf.maximum(v, 0.0), size - 1), tf.stack([tf.shape(v)[0], -1])))
    found = _neighbors(tf.gather(x, batch_indices), places, "linear", lambda v, axis: v)
    total = functools.reduce(tf.add if averages else tf.maximum, [tf.expand_dims(w, -1) * v for w, v in found])
    total = tf.reshape(total, tf.concat([tf.shape(seen), tf.shape(x)[1:2]], 0))
    total = tf.where_v2(tf.expand_dims(seen, -1), total, tf.zeros_like(total))
    if averages:
        counts = tf.reduce_sum(tf.cast(used, x.dtype.base_dtype), [2, 4])
        y = tf.reduce_sum(total, [2, 4]) / tf.expand_dims(tf.maximum(counts, 1.0), -1)
    else:
        y = tf.reduce_max(tf.where_v2(tf.expand_dims(used, -1), total, like(-np.inf, x)), [2, 4])
    y = tf.transpose(y, [0, 3, 1, 2])
    y.set_shape([rois.dims[0], x.dims[1], output_height, output_width])
    return y
