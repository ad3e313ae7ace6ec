"""ONNX's resizing: each axis by a matrix of weights, made in NumPy, since no gradient goes to sizes and scales."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core.constant_value import static_dims
from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ..model import tf
from .sizes import axis_of, moved, rank_of, sizes_of, vector
from .table import Node, in_numpy, is_float, like, onnx, setting_of, text


def _hat(t: np.ndarray) -> np.ndarray:
    return np.maximum(0, 1 - np.abs(t))


def near(t: Any, a: float = -0.75) -> Any:
    """The cubic kernel of Keys (1981), equation 15, for distances up to 1."""
    return ((a + 2) * t - (a + 3)) * t * t + 1


def far(t: Any, a: float = -0.75) -> Any:
    """The same for distances from 1 to 2."""
    return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a


def _cubic(t: np.ndarray, a: float) -> np.ndarray:
    t = np.abs(t)
    return np.where(t <= 1, near(t, a), np.where(t < 2, far(t, a), 0))


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


def axis_weights(kind: str, coordinates: str, count: int, size: int, scale: float, *,
                 antialias: bool = False) -> np.ndarray:
    """float[count, size]: an axis of `size` elements as one of `count`, "linear" or "cubic" between the old ones."""
    kernel = _hat if kind == "linear" else functools.partial(_cubic, a=-0.5 if antialias else -0.75)
    return _weights(_sources(count, size, scale, coordinates, 0.0, 1.0), size, scale, kernel, antialias, antialias)


_NEAREST: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5), "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor, "ceil": np.ceil}


class _Method(NamedTuple):
    """How an axis gets another length. by_size: what is wanted are lengths, not scales. policy: of keeping the aspect
    ratio of all axes. outside: the value of what lies outside of a region."""

    kind: str
    coordinates: str
    nearest: str
    by_size: bool
    cubic: float = -0.75
    antialias: bool = False
    exclude_outside: bool = False
    policy: str = "stretch"
    outside: float = 0.0

    def lengths(self, old: Any, wanted: Any, ratios: np.ndarray) -> tuple[int, float]:
        """The new length of an axis, and its scale. ratios: of all axes, if their aspect is kept; else empty."""
        if not self.by_size:
            return int(np.floor(old * wanted)), float(wanted)
        if not ratios.size:
            return int(wanted), float(wanted / old)
        scale = float(ratios.min() if self.policy == "not_larger" else ratios.max())
        return int(np.floor(scale * old + 0.5)), scale

    def plan(self, old: Any, wanted: Any, region: Any, ratios: Any) -> tuple[np.ndarray, np.ndarray]:
        """For one axis the matrix, or the places of the nearest elements; and which new elements lie inside."""
        count, scale = self.lengths(old, wanted, ratios)
        size = int(old)
        at = _sources(count, size, scale, self.coordinates, float(region[0]), float(region[1]))
        inside = (at >= 0) & (at <= size - 1)
        if self.kind == "nearest":
            return np.clip(_NEAREST[self.nearest](at), 0, size - 1), inside
        kernel = _hat if self.kind == "linear" else functools.partial(_cubic, a=self.cubic)
        return _weights(at, size, scale, kernel, self.antialias, self.exclude_outside), inside


def _entries(listed: Any, count: int) -> list[Any]:
    """The entries of a vector: numbers where they are known, though others are not."""
    value = setting_of(listed)
    known = value.tolist() if value is not None else None if is_float(listed) else static_dims(listed)
    return [listed[i] if entry is None else entry for i, entry in enumerate(known or [None] * count)]


def _is_unchanged(old: Any, wanted: Any, by_size: bool, *, is_batch: bool) -> bool:
    """Whether an axis keeps its length. A batch or channel axis does if its lengths are only known in the run: images
    alone are resized, and no Python need run for the others."""
    if isinstance(wanted, Tensor):
        return is_batch and isinstance(old, Tensor)
    return bool(not isinstance(old, Tensor) and wanted == old if by_size else wanted == 1)


@onnx.op("Resize", note="linear and cubic are products with a matrix for each axis; sizes and scales may be fed")
def resize(x: Any, roi: Any = None, scales: Any = None, sizes: Any = None, *, antialias: int = 0, axes: Any = None,
           coordinate_transformation_mode: Any = b"half_pixel", cubic_coeff_a: float = -0.75, exclude_outside: int = 0,
           extrapolation_value: float = 0.0, keep_aspect_ratio_policy: Any = b"stretch", mode: Any = b"nearest",
           nearest_mode: Any = b"round_prefer_floor", node: Node) -> Any:
    if node.version < 11:
        return upsample(x, roi, mode=mode)  # its second input were the scales
    return _resized(x, roi, scales, sizes, axes, _Method(
        text(mode), text(coordinate_transformation_mode), text(nearest_mode), scales is None or scales.dims == (0,),
        cubic_coeff_a, bool(antialias), bool(exclude_outside), text(keep_aspect_ratio_policy), extrapolation_value))


@onnx.op("Upsample")
def upsample(x: Any, scales: Any, *, mode: Any = b"nearest") -> Any:
    scales = tf.constant(np.array(scales, np.float32)) if isinstance(scales, list) else scales
    return _resized(x, None, scales, None, None, _Method(text(mode), "asymmetric", "floor", by_size=False))


def _resized(x: Any, roi: Any, scales: Any, sizes: Any, axes: Any, method: _Method) -> Any:
    rank, by_size = rank_of(x), method.by_size
    at = [axis_of(a, rank) for a in axes] if axes else list(range(rank))
    crops, keeps = method.coordinates == "tf_crop_and_resize", by_size and method.policy != "stretch"
    old, wanted = sizes_of(x, *at), _entries(sizes if by_size else scales, len(at))
    ratios = tf.cast(sizes, tf.float64) / tf.cast(vector(old), tf.float64) if keeps else np.empty(0)
    corners = _entries(roi, 2 * len(at)) if crops else [0.0] * len(at) + [1.0] * len(at)
    y, inside = x, None
    for i, axis in enumerate(at):
        if not crops and not keeps and _is_unchanged(old[i], wanted[i], by_size, is_batch=axis < 2 < rank):
            continue
        ends = [corners[i], corners[i + len(at)]]
        region = tf.stack(ends) if any(isinstance(end, Tensor) for end in ends) else np.array(ends)
        dtype = tf.int64 if method.kind == "nearest" else x.dtype.base_dtype
        found, within = in_numpy(method.plan, [dtype, tf.bool], old[i], wanted[i], region, ratios)
        count = wanted[i] if by_size and not keeps and not isinstance(wanted[i], Tensor) else None
        if method.kind == "nearest":
            found.set_shape([count])
            y = tf.gather(y, found, axis=axis)
        else:
            found.set_shape([count, x.dims[axis]])
            y = moved(tf.tensordot(moved(y, axis, -1), found, [[rank - 1], [1]]), -1, axis)
        if crops:
            within = tf.reshape(within, [-1, *[1] * (rank - axis - 1)])
            inside = within if inside is None else tf.logical_and(inside, within)
    return y if inside is None else tf.where_v2(inside, y, like(method.outside, x))
