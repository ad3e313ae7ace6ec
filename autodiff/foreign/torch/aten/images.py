"""ATen's resizing and sampling of images: constant weights along each axis, or bilinear at any place."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...model import tf
from ...onnx.resize import axis_weights
from ...onnx.sampling import affine_grid, at_grid
from .common import along, aten, rank


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
    "upsample_bicubic2d": _weighted("cubic"),
    "_upsample_bilinear2d_aa": _weighted("linear", antialias=True),
    "_upsample_bicubic2d_aa": _weighted("cubic", antialias=True),
    "affine_grid_generator": lambda theta, size, align_corners:
        affine_grid(theta, tf.constant(size, tf.int64), align_corners=int(align_corners)),
})
