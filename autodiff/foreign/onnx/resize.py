"""ONNX's resizing: each axis by a matrix of weights, made in NumPy, since no gradient goes to sizes and scales."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import ArgumentError
from ..model import tf
from .table import axis_of, in_numpy, like, moved, onnx, rank_of, size_of, text, value_of


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
