"""Norms of tensors, and tensors scaled by their norms: TensorFlow's functions."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.errors import ArgumentError, KindError
from ...core.graph import Tensor
from ...core.indexed_slices import IndexedSlices
from ...core.name_scope import scope
from ...core.op import build
from ...core.shapes import merge
from ..common.arguments import one_of
from .reductions import reduce_max, reduce_sum

__all__ = ["clip_by_average_norm", "clip_by_global_norm", "clip_by_norm", "global_norm", "norm"]


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool | None = None, name: str | None = None,
         keep_dims: bool | None = None) -> Tensor:
    """The norm of vectors, of matrices (two axes), or of all elements (axis None).

    ord: 'euclidean', 1, 2, inf, or any p > 0 for vectors; 'fro' too for matrices, where 2 is the largest singular
    value. `keep_dims` is the old spelling of `keepdims`. Raises ArgumentError (ValueError) for any other.
    """
    keep = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    axes = _checked_axes(ord, axis)
    with scope(name, "norm", [tensor]):
        tensor = convert_to_tensor(tensor)
        found = _norm(tensor, ord, axes)
        return found if keep else build.Squeeze(found, squeeze_dims=list(axes) if axes else _all_axes(tensor))


def _norm(x: Tensor, ord: Any, axes: tuple[int, ...] | None) -> Tensor:
    """The norm, its axes kept with size 1."""
    matrix = axes is not None and len(axes) == 2
    if matrix and ord == 2 and ord != "euclidean":
        return _spectral(x, axes)  # type: ignore[arg-type]
    if isinstance(ord, str) or ord == 2:
        squares = x * build.Conj(x) if x.dtype.is_complex else x * x
        total = reduce_sum(squares, axes, keepdims=True)
        return build.Sqrt(build.Cast(total, dtype=x.dtype.base_dtype) if x.dtype.is_complex else total)
    size = build.ComplexAbs(x) if x.dtype.is_complex else build.Abs(x)
    if ord == 1:
        total = reduce_sum(size, None if axes is None else axes[0], keepdims=True)
        return reduce_max(total, axes[1], keepdims=True) if matrix else total  # type: ignore[index]
    if ord == np.inf:
        size = reduce_sum(size, axes[1], keepdims=True) if matrix else size  # type: ignore[index]
        return reduce_max(size, None if axes is None else axes[0], keepdims=True)
    return build.Pow(reduce_sum(build.Pow(size, float(ord)), axes, keepdims=True), 1.0 / ord)


def _spectral(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    if x.dims is None:
        raise ArgumentError(expected="a tensor of known rank for the norm 2 of matrices", found=x.describe())
    rank = len(x.dims)
    last = [axis % rank for axis in axes]
    order = [*(i for i in range(rank) if i not in last), *last]
    largest = build.Max(build.Svd(build.Transpose(x, order), compute_uv=False)[0], [-1], keep_dims=True)
    return build.Transpose(build.ExpandDims(largest, -1), list(np.argsort(order)))


def _checked_axes(ord: Any, axis: Any) -> tuple[int, ...] | None:
    """The axes as a tuple, None for all. Raises ArgumentError for unknown axes or norms."""
    if isinstance(axis, (list, tuple)) and len(axis) == 2:
        if not all(isinstance(a, int) for a in axis) or axis[0] == axis[1]:
            raise ArgumentError("'axis' must be None, an integer, or a tuple of 2 unique integers", found=repr(axis))
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise ArgumentError("'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf]",
                                found=repr(ord))
        return tuple(axis)
    if axis is not None and not isinstance(axis, int):
        raise ArgumentError("'axis' must be None, an integer, or a tuple of 2 unique integers", found=repr(axis))
    if ord != "euclidean" and (isinstance(ord, str) or not np.isreal(ord) or ord <= 0):
        raise ArgumentError("'ord' must be a supported vector norm", expected="'euclidean', 1, 2, inf or p > 0",
                            found=repr(ord))
    return None if axis is None else (axis,)


def _all_axes(x: Tensor) -> list[int]:
    return [] if x.dims is None else list(range(len(x.dims)))


def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(tensor / norm, norm), the norm with its axes kept."""
    with scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        size = build.Cast(norm(tensor, ord, axis, keepdims=True), dtype=tensor.dtype.base_dtype)
        return tensor / size, size


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None) -> Tensor:
    """x / sqrt(max(sum(x^2), epsilon)) along an axis, or several, or all. `dim` is the old spelling of `axis`."""
    axis = one_of("axis", axis, "dim", dim)
    with scope(name, "l2_normalize", [x]) as full:
        x = convert_to_tensor(x, name="x")
        total = reduce_sum(build.Square(x), axis, keepdims=True)
        return build.Mul(x, build.Rsqrt(build.Maximum(total, epsilon)), name=full)


def _values(t: Any, name: str) -> Tensor:
    """The numbers of a tensor or of IndexedSlices, whose duplicates are not summed."""
    return convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name=name)


def _like(values: Any, t: Any) -> Any:
    return IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else values


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """`t` scaled down to the norm `clip_norm` where it is larger, along `axes` or as a whole.

    t: float[...] or IndexedSlices, clip_norm: float[]. The gradient at t = 0 is finite.
    """
    with scope(name, "clip_by_norm", [t, clip_norm]) as full:
        values = _values(t, "t")
        total = reduce_sum(values * values, axes, keepdims=True)
        positive = build.Greater(total, 0.0)
        # the square root is taken of a 1 where the sum is 0: its derivative there would be infinite
        root = build.Select(positive, build.Sqrt(build.Select(positive, total, build.OnesLike(total))), total)
        scaled = values * clip_norm
        merge(values.dims, scaled.dims)
        return _like(build.Identity(scaled / build.Maximum(root, clip_norm), name=full), t)


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """`t` scaled down where its norm divided by its count of elements is larger than `clip_norm`."""
    with scope(name, "clip_by_average_norm", [t, clip_norm]) as full:
        t = convert_to_tensor(t, name="t")
        count = build.Cast(build.Size(t), dtype=t.dtype.base_dtype)
        inverse = build.Rsqrt(reduce_sum(t * t))
        least = 1.0 / convert_to_tensor(clip_norm, dtype=t.dtype.base_dtype)
        return build.Identity(t * clip_norm * build.Minimum(inverse * count, least), name=full)


def global_norm(t_list: Any, name: str | None = None) -> Tensor:
    """The norm of all elements of a list of tensors, IndexedSlices (duplicates not summed) and Nones (skipped)."""
    if not isinstance(t_list, (list, tuple)):
        raise KindError(expected="a list of tensors", found=type(t_list).__name__)
    with scope(name, "global_norm", [t for t in t_list if t is not None]):
        values = [_values(t, f"t_{i}") for i, t in enumerate(t_list) if t is not None]
        if not values:
            return convert_to_tensor(0.0, name="global_norm")
        halves = build.Pack(*[build.L2Loss(v) for v in values], axis=0, name="stack")
        return build.Sqrt(build.Mul(reduce_sum(halves), 2.0), name="global_norm")


def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None) -> tuple[list[Any],
                                                                                                             Any]:
    """All tensors of a list scaled down together to the global norm `clip_norm`, and the norm they had.

    An infinite or undefined norm turns them all to nan. Nones pass. use_norm: the norm if it is known.
    """
    if not isinstance(t_list, (list, tuple)):
        raise KindError(expected="a list of tensors", found=type(t_list).__name__)
    use_norm = global_norm(t_list, name) if use_norm is None else use_norm
    with scope(name, "clip_by_global_norm", [t for t in t_list if t is not None]) as full:
        use_norm = convert_to_tensor(use_norm)
        dtype = use_norm.dtype.base_dtype
        one = convert_to_tensor(1.0, dtype=dtype)
        scale = clip_norm * build.Minimum(1.0 / use_norm, one / clip_norm)
        nan = convert_to_tensor(float("nan"), dtype=dtype)
        scale = build.Select(build.IsFinite(use_norm), scale, nan)
        values = [None if t is None else _values(t, f"t_{i}") for i, t in enumerate(t_list)]
        clipped = [None if v is None else build.Identity(v * scale, name=f"{full}_{i}") for i, v in enumerate(values)]
    return [None if t is None else _like(v, t) for v, t in zip(clipped, t_list)], use_norm
