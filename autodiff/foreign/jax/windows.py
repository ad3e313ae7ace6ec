"""Primitives over windows: pooling, and the gradients of pooling that JAX's programs hold."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import ArgumentError
from ...core.op import build
from ..model import tf
from .arrays import pad
from .reductions import lowest
from .table import JAX, Tensor


class Windows(NamedTuple):
    """The axes that windows span, at most three, and what a pooling op is told, for [n, z, y, x, c]."""

    axes: list[int]
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, sizes: Sequence[int], strides: Sequence[int], dilation: Sequence[int]) -> Windows:
        axes = [i for i, (size, step) in enumerate(zip(sizes, strides)) if size > 1 or step > 1]
        if len(axes) > 3 or any(d > 1 and size > 1 for d, size in zip(dilation, sizes)):
            raise ArgumentError(f"windows of {list(sizes)} with dilation {list(dilation)} are not there: expected no "
                                "dilation, and at most three axes")
        unused = (1,) * (3 - len(axes))
        return cls(axes, (1, *unused, *(sizes[i] for i in axes), 1), (1, *unused, *(strides[i] for i in axes), 1))

    def rows(self, x: Tensor) -> Tensor:
        """The tensor as [n, z, y, x, 1]."""
        moved = tf.transpose(x, self._order(x))
        return tf.reshape(moved, [-1, *(1,) * (3 - len(self.axes)), *(x.dims[i] for i in self.axes), 1])

    def back(self, rows: Tensor, like: Tensor) -> Tensor:
        """The reverse of `rows`; like: a tensor whose other axes count."""
        order = self._order(like)
        kept = [like.dims[i] for i in order[:len(order) - len(self.axes)]]
        whole = tf.reshape(rows, [*kept, *rows.dims[4 - len(self.axes):4]])
        return tf.transpose(whole, [int(i) for i in np.argsort(order)])

    def _order(self, x: Tensor) -> list[int]:
        return [i for i in range(len(x.dims)) if i not in self.axes] + self.axes


def _pooled(pool: Callable[..., Tensor], x: Tensor, filler: Any, window_dimensions: Sequence[int],
            window_strides: Sequence[int], padding: Sequence[Sequence[int]], base_dilation: Sequence[int],
            window_dilation: Sequence[int]) -> Tensor:
    windows = Windows.of(window_dimensions, window_strides, window_dilation)
    x = _padded(x, filler, padding, base_dilation)
    return windows.back(pool(windows.rows(x), windows.sizes, windows.strides), x)


def _padded(x: Tensor, filler: Any, padding: Sequence[Sequence[int]], base_dilation: Sequence[int]) -> Tensor:
    config = [(low, high, step - 1) for (low, high), step in zip(padding, base_dilation)]
    return pad(x, tf.constant(filler, x.dtype), padding_config=config) if np.any(config) else x


def _greatest(rows: Tensor, sizes: Sequence[int], strides: Sequence[int]) -> Tensor:
    return tf.nn.max_pool3d(rows, sizes, strides, "VALID")


@JAX.op("reduce_window_max", note="the first of several greatest has the gradient")
def reduce_window_max(x: Tensor, **params: Any) -> Tensor:
    return _pooled(_greatest, x, lowest(x.dtype), **params)


@JAX.op("reduce_window_min", note="the first of several smallest has the gradient")
def reduce_window_min(x: Tensor, **params: Any) -> Tensor:
    return -_pooled(_greatest, -x, lowest(x.dtype), **params)


@JAX.op("reduce_window_sum")
def reduce_window_sum(x: Tensor, **params: Any) -> Tensor:
    def total(rows: Tensor, sizes: Sequence[int], strides: Sequence[int]) -> Tensor:
        return tf.nn.avg_pool3d(rows, sizes, strides, "VALID") * float(np.prod(sizes))

    return _pooled(total, x, 0, **params)


@JAX.op("select_and_scatter_add", note="the gradient of reduce_window_max and reduce_window_min")
def select_and_scatter_add(source: Tensor, x: Tensor, *, select_prim: str, window_dimensions: Sequence[int],
                           window_strides: Sequence[int], padding: Sequence[Sequence[int]]) -> Tensor:
    sign = 1 if select_prim == "ge" else -1
    windows = Windows.of(window_dimensions, window_strides, [1] * len(x.dims))
    wide = _padded(sign * x, lowest(x.dtype), padding, [1] * len(x.dims))
    rows = windows.rows(wide)
    found = build.MaxPool3DGrad(rows, _greatest(rows, windows.sizes, windows.strides), windows.rows(source),
                                ksize=windows.sizes, strides=windows.strides, padding="VALID")
    return tf.slice(windows.back(found, wide), [low for low, _ in padding], list(x.dims))


@JAX.op("select_and_gather_add", note="the tangent of reduce_window_max and reduce_window_min")
def select_and_gather_add(tangent: Tensor, x: Tensor, *, select_prim: str, window_dimensions: Sequence[int],
                          window_strides: Sequence[int], padding: Sequence[Sequence[int]],
                          base_dilation: Sequence[int], window_dilation: Sequence[int]) -> Tensor:
    sign = 1 if select_prim == "ge" else -1
    windows = Windows.of(window_dimensions, window_strides, window_dilation)
    rows = windows.rows(_padded(sign * x, lowest(x.dtype), padding, base_dilation))
    moved = windows.rows(wide := _padded(tangent, 0, padding, base_dilation))
    found = build.MaxPool3DGradGrad(rows, _greatest(rows, windows.sizes, windows.strides), moved,
                                    ksize=windows.sizes, strides=windows.strides, padding="VALID")
    return windows.back(found, wide)
