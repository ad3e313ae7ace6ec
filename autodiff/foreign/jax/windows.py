"""Primitives over windows: pooling, and the gradients of pooling that JAX's programs hold."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import ArgumentError
from ..model import tf
from ..windows import Slide, max_pool, sum_pool
from .arrays import pad
from .reductions import lowest
from .table import JAX, Tensor


class Windows(NamedTuple):
    """The axes that windows span, at most three, and how they lie there."""

    axes: list[int]
    slide: Slide

    @classmethod
    def of(cls, sizes: Sequence[int], strides: Sequence[int], dilation: Sequence[int]) -> Windows:
        axes = [i for i, (size, step) in enumerate(zip(sizes, strides)) if size > 1 or step > 1] or [len(sizes) - 1]
        if len(axes) > 3:
            raise ArgumentError(f"windows of {list(sizes)} are not there: expected at most three axes")
        window, steps, apart = ([int(values[i]) for i in axes] for values in (sizes, strides, dilation))
        return cls(axes, Slide(window, steps, apart, [(0, 0)] * len(axes)))

    def rows(self, x: Tensor) -> Tensor:
        """The tensor as [n, 1, *the axes]."""
        return tf.reshape(tf.transpose(x, self._order(x)), [-1, 1, *(x.dims[i] for i in self.axes)])

    def back(self, rows: Tensor, like: Tensor) -> Tensor:
        """The reverse of `rows`; like: a tensor whose other axes count."""
        order = self._order(like)
        kept = [like.dims[i] for i in order[:len(order) - len(self.axes)]]
        return tf.transpose(tf.reshape(rows, [*kept, *rows.dims[2:]]), [int(i) for i in np.argsort(order)])

    def _order(self, x: Tensor) -> list[int]:
        return [i for i in range(len(x.dims)) if i not in self.axes] + self.axes


def _padded(x: Tensor, filler: Any, padding: Sequence[Sequence[int]], base_dilation: Sequence[int]) -> Tensor:
    config = [(low, high, step - 1) for (low, high), step in zip(padding, base_dilation)]
    return pad(x, tf.constant(filler, x.dtype), padding_config=config) if np.any(config) else x


def _pooled(pool: Callable[..., Tensor], sign: int = 1, filler: Any = lowest) -> Callable[..., Tensor]:
    def build(x: Tensor, *, window_dimensions: Sequence[int], window_strides: Sequence[int],
              padding: Sequence[Sequence[int]], base_dilation: Sequence[int],
              window_dilation: Sequence[int]) -> Tensor:
        windows = Windows.of(window_dimensions, window_strides, window_dilation)
        wide = _padded(x if sign > 0 else -x, filler(x.dtype), padding, base_dilation)
        y = windows.back(pool(windows.rows(wide), windows.slide), wide)
        return y if sign > 0 else -y
    return build


@JAX.op("select_and_scatter_add", note="the gradient of reduce_window_max and reduce_window_min")
def select_and_scatter_add(source: Tensor, x: Tensor, *, select_prim: str, window_dimensions: Sequence[int],
                           window_strides: Sequence[int], padding: Sequence[Sequence[int]]) -> Tensor:
    ones = [1] * len(x.dims)
    windows = Windows.of(window_dimensions, window_strides, ones)
    wide = _padded(x if select_prim == "ge" else -x, lowest(x.dtype), padding, ones)
    rows = windows.rows(wide)
    found = tf.gradients(max_pool(rows, windows.slide), rows, windows.rows(source))[0]
    return tf.slice(windows.back(found, wide), [low for low, _ in padding], list(x.dims))


@JAX.op("select_and_gather_add", note="the tangent of reduce_window_max and reduce_window_min")
def select_and_gather_add(tangent: Tensor, x: Tensor, *, select_prim: str, window_dimensions: Sequence[int],
                          window_strides: Sequence[int], padding: Sequence[Sequence[int]],
                          base_dilation: Sequence[int], window_dilation: Sequence[int]) -> Tensor:
    windows = Windows.of(window_dimensions, window_strides, window_dilation)
    rows = windows.rows(_padded(x if select_prim == "ge" else -x, lowest(x.dtype), padding, base_dilation))
    wide = _padded(tangent, 0, padding, base_dilation)
    y = max_pool(rows, windows.slide)
    seed = tf.zeros_like(y)  # the gradient by what a gradient is linear in is the tangent
    found = tf.gradients(tf.gradients(y, rows, seed)[0], seed, windows.rows(wide))[0]
    return windows.back(found, wide)


JAX.rows({
    "reduce_window_max": (_pooled(max_pool), "the first of several greatest has the gradient"),
    "reduce_window_min": (_pooled(max_pool, -1), "the first of several smallest has the gradient"),
    "reduce_window_sum": _pooled(sum_pool, filler=lambda dtype: 0),
})
