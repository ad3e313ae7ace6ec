"""Primitives that multiply and sum: dot_general, convolution, Fourier transforms, windows and their gradients."""
from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....core.errors import ArgumentError
from ...model import tf
from ...windows import Slide, max_pool, sum_pool
from .arrays import pad
from .reductions import lowest
from .table import JAX, Tensor


@JAX.op("dot_general")
def dot_general(x: Tensor, y: Tensor, *, dimension_numbers: Sequence[Any],
                preferred_element_type: str | None = None) -> Tensor:
    wanted = np.dtype(preferred_element_type or x.dtype.name)
    wide = max(wanted, *(np.dtype(v.dtype.name) for v in (x, y)), key=lambda dtype: dtype.itemsize)
    x, y = (v if v.dtype.name == wide.name else tf.cast(v, wide.name) for v in (x, y))
    product = _product(x, y, *dimension_numbers)
    return product if wide == wanted else tf.cast(product, wanted.name)


def _product(x: Tensor, y: Tensor, summed: Sequence[Any], batch: Sequence[Any]) -> Tensor:
    (x_summed, y_summed), (x_batch, y_batch) = summed, batch
    if not x_batch and len(x.dims) == len(y.dims) == 2 and len(x_summed) == 1:
        return tf.matmul(x, y, transpose_a=x_summed[0] == 0, transpose_b=y_summed[0] == 1)
    letters = iter(string.ascii_lowercase)
    of_x = [next(letters) for _ in x.dims]
    shared = {**dict(zip(y_batch, x_batch)), **dict(zip(y_summed, x_summed))}
    of_y = [of_x[shared[i]] if i in shared else next(letters) for i in range(len(y.dims))]
    result = [of_x[i] for i in x_batch]
    result += [c for i, c in enumerate(of_x) if i not in x_batch and i not in x_summed]
    result += [c for i, c in enumerate(of_y) if i not in shared]
    return tf.einsum(f"{''.join(of_x)},{''.join(of_y)}->{''.join(result)}", x, y)


@JAX.op("conv_general_dilated", note="up to three spatial axes, in any layout")
def conv_general_dilated(x: Tensor, kernel: Tensor, *, window_strides: Sequence[int], padding: Sequence[Sequence[int]],
                         lhs_dilation: Sequence[int], rhs_dilation: Sequence[int],
                         dimension_numbers: Mapping[str, Sequence[int]], feature_group_count: int = 1,
                         batch_group_count: int = 1, preferred_element_type: str | None = None) -> Tensor:
    x_layout, kernel_layout, out_layout = (dimension_numbers[k] for k in ("lhs_spec", "rhs_spec", "out_spec"))
    if len(x_layout) > 5:
        raise ArgumentError(f"a convolution over {len(x_layout) - 2} axes is not there: expected at most 3")
    if x.dtype.is_integer or x.dtype.is_complex:
        def of(*parts: Tensor) -> Tensor:
            return conv_general_dilated(
                *parts, window_strides=window_strides, padding=padding, lhs_dilation=lhs_dilation,
                rhs_dilation=rhs_dilation, dimension_numbers=dimension_numbers,
                feature_group_count=feature_group_count, batch_group_count=batch_group_count)
        if x.dtype.is_integer:
            return tf.cast(of(tf.cast(x, tf.float64), tf.cast(kernel, tf.float64)), preferred_element_type or x.dtype)
        (a, b), (c, d) = ((tf.real(v), tf.imag(v)) for v in (x, kernel))
        return tf.complex(of(a, c) - of(b, d), of(a, d) + of(b, c))
    x = tf.transpose(x, [x_layout[0], *x_layout[2:], x_layout[1]])
    kernel = tf.transpose(kernel, [*kernel_layout[2:], kernel_layout[1], kernel_layout[0]])
    margins = [(0, 0, 0), *((low, high, step - 1) for (low, high), step in zip(padding, lhs_dilation)), (0, 0, 0)]
    x = pad(x, tf.constant(0, x.dtype), padding_config=margins) if np.any(margins) else x
    groups = max(feature_group_count, batch_group_count)
    xs = tf.split(x, groups, axis=-1 if feature_group_count > 1 else 0) if groups > 1 else [x]
    kernels = tf.split(kernel, groups, axis=-1) if groups > 1 else [kernel]
    found = [_convolved(a, b, window_strides, rhs_dilation) for a, b in zip(xs, kernels)]
    y = tf.concat(found, -1) if groups > 1 else found[0]
    places = [out_layout[0], *out_layout[2:], out_layout[1]]
    return tf.transpose(y, [int(i) for i in np.argsort(places)])


def _convolved(x: Tensor, kernel: Tensor, strides: Sequence[int], dilations: Sequence[int]) -> Tensor:
    """x: [n, spatial..., c], kernel: [spatial..., c, k], without padding."""
    rank = len(x.dims) - 2
    missing = max(2 - rank, 0)  # axes of size 1 make a convolution over two of one over fewer
    if missing:
        x = tf.reshape(x, [x.dims[0], *[1] * missing, *x.dims[1:]])
        kernel = tf.reshape(kernel, [*[1] * missing, *kernel.dims])
    steps, apart = ([1, *[1] * missing, *map(int, values), 1] for values in (strides, dilations))
    if rank == 3:
        y = tf.nn.conv3d(x, kernel, steps, "VALID", dilations=apart)
    else:
        y = tf.nn.conv2d(x, kernel, steps, "VALID", dilations=apart)
    return tf.squeeze(y, list(range(1, 1 + missing))) if missing else y


@JAX.op("fft")
def fft(x: Tensor, *, fft_type: str, fft_lengths: Sequence[int]) -> Tensor:
    transform = getattr(tf.signal, f"{fft_type.lower()}{('', '2d', '3d')[len(fft_lengths) - 1]}")
    return transform(x, list(fft_lengths)) if fft_type.endswith("RFFT") else transform(x)


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
    "reduce_window_sum": _pooled(sum_pool, filler=lambda dtype: 0)})
