"""ATen's resizing and sampling of images: constant weights along each axis, or bilinear at any place."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...model import tf
from ...onnx.resize import axis_weights
from ...onnx.sampling import affine_grid, at_grid
from .common import along, aten, rank


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


def _weighted(kind: str, align_corners: bool, *, antialias: bool = False) -> Any:
    def matrix(n: int, m: int, factor: float | None) -> np.ndarray:
        if antialias and align_corners:  # changes the scale alone
            return axis_weights(kind, "half_pixel", m, n, (m - 1) / max(n - 1, 1), antialias=True)
        return axis_weights(kind, "align_corners" if align_corners else "half_pixel", m, n, factor or m / n,
                            antialias=antialias)
    return matrix


def _nearest(offset: float) -> Any:
    def matrix(n: int, m: int, factor: float | None) -> np.ndarray:
        scale = np.float32(1 / factor if factor else n / m)
        at = np.minimum(np.floor((np.arange(m, dtype=np.float32) + np.float32(offset)) * scale).astype(int), n - 1)
        return np.eye(n)[at]
    return matrix


def _factors(given: tuple[Any, ...]) -> Any:
    if len(given) == 1 and isinstance(given[0], (list, tuple)):
        return given[0]
    return None if not given or all(g is None for g in given) else list(given)


@aten.op("grid_sampler_2d", "grid_sampler_3d", "cudnn_grid_sampler", "grid_sampler")
def grid_sampler(x: Any, grid: Any, interpolation: int = 0, padding: int = 0, align_corners: bool = False) -> Any:
    kind, outside = ("linear", "nearest", "cubic")[interpolation], ("zeros", "border", "reflection")[padding]
    return at_grid(x, grid, int(align_corners), kind, outside, settled=kind != "cubic")


aten.rows({
    "upsample_nearest1d upsample_nearest2d upsample_nearest3d": lambda x, sizes, *factors:
        _resized(x, sizes, _factors(factors), _nearest(0.0)),
    "_upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d": lambda x, sizes, *factors:
        _resized(x, sizes, _factors(factors), _nearest(0.5)),
    "upsample_linear1d upsample_bilinear2d upsample_trilinear3d": lambda x, sizes, align_corners, *factors:
        _resized(x, sizes, _factors(factors), _weighted("linear", align_corners)),
    "upsample_bicubic2d": lambda x, sizes, align_corners, *factors:
        _resized(x, sizes, _factors(factors), _weighted("cubic", align_corners)),
    "_upsample_bilinear2d_aa": lambda x, sizes, align_corners, *factors:
        _resized(x, sizes, _factors(factors), _weighted("linear", align_corners, antialias=True)),
    "_upsample_bicubic2d_aa": lambda x, sizes, align_corners, *factors:
        _resized(x, sizes, _factors(factors), _weighted("cubic", align_corners, antialias=True)),
    "affine_grid_generator": lambda theta, size, align_corners:
        affine_grid(theta, tf.constant(size, tf.int64), align_corners=int(align_corners)),
})
