"""ATen's resizing and sampling of images: constant weights along each axis, or bilinear at any place."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...model import tf
from .common import along, as_type, aten, dims, no_gradient, number, rank, shape_of, where


def _given(sizes: Any, factors: Any) -> tuple[Any, Any]:
    """Overloads that take the output's size or None, then factors for all axes."""
    return (sizes, factors) if isinstance(factors, (list, tuple)) or factors is None else (sizes, [factors])


def _resized(x: Any, sizes: Any, factors: Any, matrix: Any) -> Any:
    """Each axis of space by its own matrix(n, m, scale)."""
    sizes, factors = _given(sizes, factors)
    space = rank(x) - 2
    for i in range(space):
        axis = 2 + i
        n = x.dims[axis]
        factor = None if factors is None else factors[i]
        m = sizes[i] if sizes is not None else int(n * factor)
        weights = matrix(n, m, factor)
        if weights.shape[0] != n or (weights != np.eye(n)).any():
            x = along(x, axis, weights)
    return x


def _centers(n: int, m: int, factor: float | None, align_corners: bool, *, cut: bool = True) -> np.ndarray:
    """The place in n elements that each of m stands for."""
    if align_corners:
        return np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 0.0)
    scale = 1 / factor if factor else n / m
    found = (np.arange(m) + 0.5) * scale - 0.5
    return np.maximum(found, 0) if cut else found


def _linear(align_corners: bool) -> Any:
    def matrix(n: int, m: int, factor: float | None) -> np.ndarray:
        at = _centers(n, m, factor, align_corners)
        low = np.minimum(at.astype(int), n - 1)
        high = np.minimum(low + 1, n - 1)
        weights = np.zeros((m, n))
        np.add.at(weights, (np.arange(m), low), 1 - (at - low))
        np.add.at(weights, (np.arange(m), high), at - low)
        return weights
    return matrix


def _nearest(offset: float) -> Any:
    def matrix(n: int, m: int, factor: float | None) -> np.ndarray:
        scale = np.float32(1 / factor if factor else n / m)
        at = np.minimum(np.floor((np.arange(m, dtype=np.float32) + np.float32(offset)) * scale).astype(int), n - 1)
        return np.eye(n)[at]
    return matrix


def _cubic(align_corners: bool) -> Any:
    def matrix(n: int, m: int, factor: float | None) -> np.ndarray:
        a, at = -0.75, _centers(n, m, factor, align_corners, cut=False)
        low = np.floor(at).astype(int)
        weights = np.zeros((m, n))
        for k in range(-1, 3):
            d = np.abs(at - (low + k))
            near = (a + 2) * d**3 - (a + 3) * d**2 + 1
            far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
            np.add.at(weights, (np.arange(m), np.clip(low + k, 0, n - 1)), np.where(d <= 1, near, far))
        return weights
    return matrix


@aten.op("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d")
def upsample_nearest(x: Any, sizes: Any, *factors: Any) -> Any:
    return _resized(x, sizes, _factors(factors), _nearest(0.0))


@aten.op("_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d")
def upsample_nearest_exact(x: Any, sizes: Any, *factors: Any) -> Any:
    return _resized(x, sizes, _factors(factors), _nearest(0.5))


@aten.op("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d")
def upsample_linear(x: Any, sizes: Any, align_corners: bool, *factors: Any) -> Any:
    return _resized(x, sizes, _factors(factors), _linear(align_corners))


@aten.op("upsample_bicubic2d")
def upsample_cubic(x: Any, sizes: Any, align_corners: bool, *factors: Any) -> Any:
    return _resized(x, sizes, _factors(factors), _cubic(align_corners))


def _factors(given: tuple[Any, ...]) -> Any:
    if len(given) == 1 and isinstance(given[0], (list, tuple)):
        return given[0]
    return None if not given or all(g is None for g in given) else list(given)


# ---- sampling at places --------------------------------------------------------------------

def _unnormalized(place: Any, size: int, align_corners: bool) -> Any:
    if align_corners:
        return (place + 1) * number((size - 1) / 2, place)
    return ((place + 1) * number(float(size), place) - 1) / 2


def _kept_inside(place: Any, size: int, padding: int, align_corners: bool) -> Any:
    """padding: 0 leaves what is outside, 1 puts it on the border, 2 reflects it."""
    if padding == 2:
        low, high = (0.0, size - 1.0) if align_corners else (-0.5, size - 0.5)
        span = high - low
        if span <= 0:
            place = tf.zeros_like(place)
        else:
            away = tf.abs(place - number(low, place))
            flips = no_gradient(tf.floor(away / number(span, place)))
            rest = away - flips * number(span, place)
            is_even = tf.equal(tf.floormod(flips, 2), 0)
            place = where(is_even, rest + number(low, place), number(high, place) - rest)
    return tf.clip_by_value(place, number(0.0, place), number(size - 1.0, place)) if padding else place


@aten.op("grid_sampler_2d", "cudnn_grid_sampler", "grid_sampler")
def grid_sampler(x: Any, grid: Any, interpolation: int = 0, padding: int = 0, align_corners: bool = False) -> Any:
    if interpolation == 2:
        raise NotImplementedError("grid_sample with mode='bicubic'")
    height, width = x.dims[2:]
    across = _kept_inside(_unnormalized(grid[..., 0], width, align_corners), width, padding, align_corners)
    down = _kept_inside(_unnormalized(grid[..., 1], height, align_corners), height, padding, align_corners)
    if interpolation == 1:
        return _at(x, tf.round(down), tf.round(across)) * number(1.0, x)
    left, top = no_gradient(tf.floor(across)), no_gradient(tf.floor(down))
    result = None
    for i in (0, 1):
        for j in (0, 1):
            weight = _share(down - top, i) * _share(across - left, j)
            part = _at(x, top + i, left + j) * tf.expand_dims(weight, 1)
            result = part if result is None else result + part
    return result


def _share(part: Any, upper: int) -> Any:
    return part if upper else 1 - part


def _at(x: Any, rows: Any, columns: Any) -> Any:
    """x[n, c, rows, columns], zero outside. rows, columns: float[n, h, w] -> [n, c, h, w]."""
    count, channels, height, width = dims(x)
    rows, columns = no_gradient(rows), no_gradient(columns)
    inside = tf.logical_and(tf.logical_and(tf.greater_equal(rows, 0), tf.less(rows, height)),
                            tf.logical_and(tf.greater_equal(columns, 0), tf.less(columns, width)))
    i = tf.clip_by_value(tf.cast(rows, tf.int32), 0, height - 1)
    j = tf.clip_by_value(tf.cast(columns, tf.int32), 0, width - 1)
    flat = tf.reshape(x, shape_of([count, channels, height * width]))
    places = tf.reshape(i * width + j, shape_of([dims(rows)[0], -1]))
    taken = tf.gather(tf.transpose(flat, [0, 2, 1]), places, axis=1, batch_dims=1)
    taken = tf.reshape(tf.transpose(taken, [0, 2, 1]), shape_of([count, channels, *dims(rows)[1:]]))
    return taken * tf.expand_dims(as_type(inside, x.dtype.base_dtype), 1)


@aten.op("affine_grid_generator")
def affine_grid(theta: Any, size: Any, align_corners: bool) -> Any:
    axes = []
    for n in list(size[2:])[::-1]:
        at = np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
        axes.append(at if align_corners or n == 1 else at * (n - 1) / n)
    mesh = np.meshgrid(*axes[::-1], indexing="ij")[::-1]
    base = np.stack([*(m.ravel() for m in mesh), np.ones(mesh[0].size)], axis=1)
    grid = tf.einsum("kd,ned->nke", number(base, theta), theta)
    return tf.reshape(grid, shape_of([dims(theta)[0], *size[2:], len(axes)]))
