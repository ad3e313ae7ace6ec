"""ONNX ops that look at images between their elements: resizing, grids of places, regions."""
from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import ArgumentError
from ..model import tf
from .table import (
    axis_of,
    in_numpy,
    ints,
    like,
    moved,
    onnx,
    product,
    rank_of,
    reshaped,
    size_of,
    sizes_of,
    text,
    value_of,
    vector,
)

# ---- resizing: each axis by a matrix of weights, in NumPy, since no gradient goes to the scales ----

def _hat(t: np.ndarray) -> np.ndarray:
    return np.maximum(0, 1 - np.abs(t))


def _cubic(t: np.ndarray, a: float) -> np.ndarray:
    """The cubic kernel of Keys (1981), equation 15, for any parameter a."""
    t = np.abs(t)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0))


def _sources(count: int, size: int, scale: float, mode: str, low: float, high: float) -> np.ndarray:
    """Where the `count` new elements of an axis lie among its `size` old ones. low, high: the region, as parts of 1."""
    i, length = np.arange(count, dtype=float), scale * size
    if mode == "align_corners":
        return i * 0 if length == 1 else i * (size - 1) / (length - 1)
    if mode == "asymmetric":
        return i / scale
    if mode == "tf_crop_and_resize":
        step = i * 0 + (high - low) / 2 if length == 1 else i * (high - low) / (length - 1)
        return (low + step) * (size - 1)
    if mode == "pytorch_half_pixel" and length == 1:
        return i * 0 - 0.5
    if mode not in ("half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"):
        raise ArgumentError(expected="a known coordinate_transformation_mode", found=repr(mode))
    shift = size / 2 * (1 - count / length) if mode == "half_pixel_symmetric" else 0.0
    return shift + (i + 0.5) / scale - 0.5


def _weights(at: np.ndarray, size: int, scale: float, kernel: Callable[[np.ndarray], np.ndarray], antialias: bool,
             exclude_outside: bool) -> np.ndarray:
    """float[new, old]; what would lie outside counts for the edge, or not at all."""
    narrow = min(scale, 1.0) if antialias else 1.0
    reach = int(np.ceil(2 / narrow)) + 1
    places = np.arange(-reach, size + reach)
    found = kernel((places - at[:, None]) * narrow)
    if exclude_outside:
        found[:, (places < 0) | (places >= size)] = 0
    if exclude_outside or antialias:
        found = found / found.sum(1, keepdims=True)
    folded = np.zeros((size, len(at)))
    np.add.at(folded, np.clip(places, 0, size - 1), found.T)
    return folded.T


_NEAREST: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5), "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor, "ceil": np.ceil}


class _Method(NamedTuple):
    """How an axis gets another length. by_size: what is wanted are lengths, not scales. policy: of keeping the aspect
    ratio of all axes."""

    kind: str
    coordinates: str
    nearest: str
    cubic: float
    antialias: bool
    exclude_outside: bool
    by_size: bool
    policy: str

    def lengths(self, i: int, old: Any, wanted: Any) -> tuple[int, float]:
        """The new length of axis i, and its scale."""
        if not self.by_size:
            return int(np.floor(old[i] * wanted[i])), float(wanted[i])
        ratios = np.asarray(wanted, float) / old
        if self.policy == "stretch":
            return int(wanted[i]), float(ratios[i])
        scale = float(ratios.min() if self.policy == "not_larger" else ratios.max())
        return int(np.floor(scale * old[i] + 0.5)), scale

    def plan(self, i: int, old: Any, wanted: Any, region: Any) -> tuple[np.ndarray, np.ndarray]:
        """For axis i the matrix, or the places of the nearest elements; and which new elements lie inside."""
        count, scale = self.lengths(i, old, wanted)
        size, low, high = int(old[i]), float(region[i]), float(region[i + len(old)])
        at = _sources(count, size, scale, self.coordinates, low, high)
        inside = (at >= 0) & (at <= size - 1)
        if self.kind == "nearest":
            return np.clip(_NEAREST[self.nearest](at), 0, size - 1), inside
        kernel = _hat if self.kind == "linear" else functools.partial(_cubic, a=self.cubic)
        return _weights(at, size, scale, kernel, self.antialias, self.exclude_outside), inside


@onnx.op("Resize", note="linear and cubic are products with a matrix for each axis; sizes and scales may be fed")
def resize(x: Any, roi: Any = None, scales: Any = None, sizes: Any = None, *, antialias: int = 0, axes: Any = None,
           coordinate_transformation_mode: Any = b"half_pixel", cubic_coeff_a: float = -0.75, exclude_outside: int = 0,
           extrapolation_value: float = 0.0, keep_aspect_ratio_policy: Any = b"stretch", mode: Any = b"nearest",
           nearest_mode: Any = b"round_prefer_floor") -> Any:
    rank = rank_of(x)
    at = [axis_of(a, rank) for a in axes] if axes else list(range(rank))
    by_size = scales is None or scales.dims == (0,)
    method = _Method(text(mode), text(coordinate_transformation_mode), text(nearest_mode), cubic_coeff_a,
                     bool(antialias), bool(exclude_outside), by_size, text(keep_aspect_ratio_policy))
    crops = method.coordinates == "tf_crop_and_resize"
    wanted, old = sizes if by_size else scales, tf.stack([tf.cast(size_of(x, a), tf.int64) for a in at])
    region = roi if crops else np.repeat(np.array([0, 1], np.float32), len(at))
    known = value_of(wanted)
    y, inside = x, None
    for i, axis in enumerate(at):
        unchanged = known is not None and known[i] == (x.dims[axis] if by_size else 1)
        if unchanged and not crops and method.policy == "stretch":
            continue
        dtype = tf.int64 if method.kind == "nearest" else x.dtype.base_dtype
        found, within = in_numpy(functools.partial(method.plan, i), [dtype, tf.bool], old, wanted, region)
        if method.kind == "nearest":
            found.set_shape([None])
            y = tf.gather(y, found, axis=axis)
        else:
            found.set_shape([None, None])
            y = moved(tf.tensordot(moved(y, axis, -1), found, [[rank - 1], [1]]), -1, axis)
        if crops:
            within = tf.reshape(within, [-1, *[1] * (rank - axis - 1)])
            inside = within if inside is None else tf.logical_and(inside, within)
    return y if inside is None else tf.where_v2(inside, y, like(extrapolation_value, x))


@onnx.op("Upsample")
def upsample(x: Any, scales: Any, *, mode: Any = b"nearest") -> Any:
    scales = tf.constant(np.array(scales, np.float32)) if isinstance(scales, list) else scales
    return resize(x, None, scales, mode=mode, coordinate_transformation_mode=b"asymmetric", nearest_mode=b"floor")


# ---- sampling at places ---------------------------------------------------------------------

def _taps(t: Any, kind: str) -> list[tuple[int, Any]]:
    """Neighbors of a place between elements 0 and 1, as (offset, weight). t: the part behind element 0."""
    if kind == "nearest":
        return [(0, None)]
    if kind == "linear":
        return [(0, 1 - t), (1, t)]
    a = -0.75
    near = lambda s: ((a + 2) * s - (a + 3)) * s * s + 1  # noqa: E731
    far = lambda s: ((a * s - 5 * a) * s + 8 * a) * s - 4 * a  # noqa: E731
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
    kind, outside = text(mode).replace("bi", ""), text(padding_mode)
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
        if outside == "border":
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


@onnx.op("RoiAlign", note="max takes the largest weighted neighbor, as onnx's reference does")
def roi_align(x: Any, rois: Any, batch_indices: Any, *, coordinate_transformation_mode: Any = b"half_pixel",
              mode: Any = b"avg", output_height: int = 1, output_width: int = 1, sampling_ratio: int = 0,
              spatial_scale: float = 1.0) -> Any:
    is_half = text(coordinate_transformation_mode) == "half_pixel"
    corners = rois * spatial_scale - (0.5 if is_half else 0.0)
    lines, masks = [], []
    for axis, bins in enumerate((output_height, output_width)):
        start, length = corners[:, 1 - axis], corners[:, 3 - axis] - corners[:, 1 - axis]
        length = length if is_half else tf.maximum(length, 1.0)
        per_bin = tf.ceil(length / bins) if sampling_ratio <= 0 else tf.fill(tf.shape(length), like(sampling_ratio, x))
        most = tf.cast(tf.reduce_max(per_bin), tf.int64) if sampling_ratio <= 0 else sampling_ratio
        step = tf.reshape(like(tf.range(tf.cast(most, tf.int64)), x), [1, 1, -1])
        column = lambda v: tf.reshape(v, [-1, 1, 1])  # noqa: E731
        bin_ = np.arange(bins).reshape(1, -1, 1)
        lines.append(column(start) + column(length) / bins * (bin_ + (step + 0.5) / column(per_bin)))
        masks.append(tf.broadcast_to(step < column(per_bin), tf.shape(lines[-1])))
    pair = lambda a, b: (a[:, :, :, None, None], b[:, None, None])  # noqa: E731
    rows, columns = pair(*lines)
    shape = tf.shape(rows + columns)  # [rois, bins, points, bins, points]
    used = tf.logical_and(*pair(*masks))
    places, seen = [], used
    for v, size in zip((rows, columns), sizes_of(x)[2:]):
        size = like(tf.cast(size, tf.int64), x)
        seen = tf.logical_and(seen, tf.logical_and(v >= -1.0, v <= size))
        inside = tf.minimum(tf.maximum(v, 0.0), size - 1)
        places.append(tf.reshape(tf.broadcast_to(inside, shape), tf.stack([shape[0], -1])))
    found = list(_neighbors(tf.gather(x, batch_indices), places, "linear", lambda v, axis: v))
    weighted = [tf.expand_dims(weight, -1) * values for weight, values in found]
    most_of = text(mode) != "avg"
    total = functools.reduce(tf.maximum if most_of else tf.add, weighted)
    total = tf.reshape(total, tf.concat([shape, tf.shape(x)[1:2]], 0))
    total = tf.where_v2(tf.expand_dims(seen, -1), total, tf.zeros_like(total))
    if most_of:
        y = tf.reduce_max(tf.where_v2(tf.expand_dims(used, -1), total, like(-np.inf, x)), [2, 4])
    else:
        counts = tf.reduce_sum(tf.cast(tf.broadcast_to(used, shape), x.dtype.base_dtype), [2, 4])
        y = tf.reduce_sum(total, [2, 4]) / tf.expand_dims(tf.maximum(counts, 1.0), -1)
    y = tf.transpose(y, [0, 3, 1, 2])
    y.set_shape([rois.dims[0], x.dims[1], output_height, output_width])
    return y
