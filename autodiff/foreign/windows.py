"""Convolutions and pooling as PyTorch and ONNX have them: channels first, one to three axes, padding in numbers."""
from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.graph import Tensor
from .model import tf

_LAYOUTS = {2: "NCHW", 3: "NCDHW"}
Pairs = Sequence[tuple[Any, Any]]


class Slide(NamedTuple):
    """How a window slides: one entry for each axis of space. pads: (before, after), negative to cut; after may be a
    tensor."""

    window: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    pads: Pairs

    @property
    def is_dense(self) -> bool:
        """Whether the elements of a window are neighbors."""
        return all(d == 1 for d in self.dilations)


def extents(x: Tensor) -> list[Any]:
    """The lengths of the axes of space: ints where known, else int32[]."""
    return [tf.shape(x)[i] if n is None else n for i, n in enumerate(x.dims or ())][2:]


def padded(x: Any, pads: Pairs, value: Any = 0) -> Any:
    """`x` with its axes of space widened by `value`, or cut."""
    if all(isinstance(b, int) and (a, b) == (0, 0) for a, b in pads):
        return x
    if any(isinstance(n, int) and n < 0 for pair in pads for n in pair):
        cut = [slice(_least(-a), -_least(-b) or None if isinstance(b, int) else None) for a, b in pads]
        x = x[(slice(None), slice(None), *cut)]
        pads = [(_least(a), _least(b)) for a, b in pads]
    pairs = [[0, 0], [0, 0], *[list(pair) for pair in pads]]
    return tf.pad(x, pairs, constant_values=tf.constant(value, x.dtype.base_dtype))


def _least(n: Any) -> Any:
    """A padding that is not negative. What is known in the run only is taken to be so."""
    return max(n, 0) if isinstance(n, int) else n


def _in_planes(x: Any, slide: Slide, of: Any) -> Any:
    """of(x, slide), for a row as for an image of height 1: our ops have two or three axes of space."""
    if len(slide.window) > 1:
        return of(x, slide)
    wide = Slide((1, *slide.window), (1, *slide.strides), (1, *slide.dilations), ((0, 0), *slide.pads))
    return tf.squeeze(of(tf.expand_dims(x, 2), wide), [2])


def convolve(x: Any, filters: Any, slide: Slide, groups: int = 1) -> Any:
    """Filters at each place. x: float[n, c, *space], filters: float[f, c / groups, *window] -> float[n, f, *space']."""
    def of(x: Any, slide: Slide) -> Any:
        w = _window_first(filters, slide)
        x = padded(x, slide.pads)
        if groups == 1:
            return _convolved(x, w, slide)
        if len(slide.window) == 2 and filters.dims[1] == 1:
            size = int(filters.shape[0]) // groups
            w = tf.reshape(tf.transpose(w, [0, 1, 3, 2]), [*slide.window, groups, size])
            steps, apart = [1, 1, *slide.strides], [1, 1, *slide.dilations]
            return tf.nn.depthwise_conv2d_native(x, w, steps, "VALID", "NCHW", apart)
        parts = zip(tf.split(x, groups, 1), tf.split(w, groups, -1))
        return tf.concat([_convolved(a, b, slide) for a, b in parts], 1)
    return _in_planes(x, slide, of)


def _window_first(filters: Any, slide: Slide) -> Any:
    """Filters as TensorFlow has them: [*window, c, f] of [f, c, *window]."""
    if len(filters.dims) - 2 < len(slide.window):
        filters = tf.expand_dims(filters, 2)
    rank = len(filters.dims)
    return tf.transpose(filters, [*range(2, rank), 1, 0])


def _convolved(x: Any, w: Any, slide: Slide) -> Any:
    of = tf.nn.conv2d if len(slide.window) == 2 else tf.nn.conv3d
    return of(x, w, [1, 1, *slide.strides], "VALID", data_format=_LAYOUTS[len(slide.window)],
              dilations=[1, 1, *slide.dilations])


def convolve_transposed(x: Any, filters: Any, slide: Slide, groups: int = 1, more: Sequence[int] = ()) -> Any:
    """The adjoint of convolve. x: float[n, c, *space], filters: float[c, f / groups, *window] -> float[n, f, *space'].

    more: how much longer each axis becomes at its end.
    """
    def of(x: Any, slide: Slide) -> Any:
        w = _window_first(filters, slide)  # [*window, f, c]
        parts = zip(tf.split(x, groups, 1), tf.split(w, groups, -1)) if groups > 1 else [(x, w)]
        made = [_spread(a, b, slide) for a, b in parts]
        longer = (0,) * (len(slide.window) - len(more)) + tuple(more)
        whole = tf.concat(made, 1) if groups > 1 else made[0]
        return padded(whole, [(-a, m - b) for (a, b), m in zip(slide.pads, longer)])
    return _in_planes(x, slide, of)


def _spread(x: Any, w: Any, slide: Slide) -> Any:
    """Each element of `x` times the filters, added up where they overlap."""
    geometry = zip(extents(x), slide.strides, slide.window, slide.dilations)
    shape = [tf.shape(x)[0] if x.dims[0] is None else x.dims[0], int(w.shape[-2]),
             *[(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in geometry]]
    shape = shape if all(isinstance(n, int) for n in shape) else tf.stack(shape)
    of = tf.nn.conv2d_transpose if len(slide.window) == 2 else tf.nn.conv3d_transpose
    return of(x, w, shape, [1, 1, *slide.strides], "VALID", _LAYOUTS[len(slide.window)],
              dilations=[1, 1, *slide.dilations])


def pads_of_ceil(sizes: Sequence[Any], slide: Slide) -> Pairs:
    """Padding with which no element is left over at the end, where a window begins before the padding there does."""
    found = []
    for n, k, s, d, (a, b) in zip(sizes, slide.window, slide.strides, slide.dilations, slide.pads):
        reach = (k - 1) * d + 1
        last = -(-(n + a + b - reach) // s)  # place of the last window, in strides
        least = min if isinstance(n, int) else tf.minimum
        last = least(last, (n + a - 1) // s)
        most = max if isinstance(n, int) else tf.maximum
        found.append((a, most(last * s + reach - n - a, b)))
    return found


def max_pool(x: Any, slide: Slide) -> Any:
    """The largest of each window; its gradient goes to the first one. x: real[n, c, *space]."""
    lowest = -np.inf if x.dtype.base_dtype.is_floating else np.iinfo(x.dtype.as_numpy_dtype).min

    def of(x: Any, slide: Slide) -> Any:
        x = padded(x, slide.pads, lowest)
        if not slide.is_dense:
            return functools.reduce(tf.maximum, [part for _, part in _parts(x, slide)])
        return _pooled(tf.nn.max_pool, tf.nn.max_pool3d, x, slide)
    return _in_planes(x, slide, of)


def _pooled(flat: Any, deep: Any, x: Any, slide: Slide) -> Any:
    of = flat if len(slide.window) == 2 else deep
    return of(x, [1, 1, *slide.window], [1, 1, *slide.strides], "VALID", _LAYOUTS[len(slide.window)])


def _parts(x: Any, slide: Slide) -> Iterator[tuple[tuple[int, ...], Any]]:
    """For each place in the window: the place, and the elements of `x` there, of all windows."""
    counts = [(n - (k - 1) * d - 1) // s + 1
              for n, k, s, d in zip(extents(x), slide.window, slide.strides, slide.dilations)]
    for place in itertools.product(*map(range, slide.window)):
        first = [i * d for i, d in zip(place, slide.dilations)]
        at = [slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(first, counts, slide.strides)]
        yield place, x[(slice(None), slice(None), *at)]


def max_places(x: Any, slide: Slide) -> list[Any]:
    """Where the largest of each window is: its coordinates, int64[n, c, *space'] for each axis of space."""
    lowest = -np.inf if x.dtype.base_dtype.is_floating else np.iinfo(x.dtype.as_numpy_dtype).min
    found = list(_parts(padded(x, slide.pads, lowest), slide))
    first = tf.argmax(tf.stack([part for _, part in found]), 0)
    coordinates = []
    for axis, (s, d, (before, _)) in enumerate(zip(slide.strides, slide.dilations, slide.pads)):
        offset = tf.gather(tf.constant([place[axis] * d - before for place, _ in found], tf.int64), first)
        count = tf.shape(first)[axis + 2]
        start = tf.reshape(tf.range(count) * s, [-1] + [1] * (len(slide.window) - axis - 1))
        coordinates.append(offset + tf.cast(start, tf.int64))
    return coordinates


def sum_pool(x: Any, slide: Slide) -> Any:
    """The sum of each window; padding adds nothing. x: float[n, c, *space]."""
    def of(x: Any, slide: Slide) -> Any:
        x = padded(x, slide.pads)
        if not slide.is_dense:
            return tf.add_n([part for _, part in _parts(x, slide)])
        return _pooled(tf.nn.avg_pool, tf.nn.avg_pool3d, x, slide) * float(np.prod(slide.window))
    return _in_planes(x, slide, of)


def average_pool(x: Any, slide: Slide, counted: Pairs) -> Any:
    """The mean of each window. counted: how much of the padding, before and after, counts as zeros."""
    if list(map(tuple, slide.pads)) == list(map(tuple, counted)):
        return sum_pool(x, slide) / float(np.prod(slide.window))
    ones = tf.ones([1, 1, *extents(x)], x.dtype.base_dtype)
    rest = [(a - p, b - q) for (a, b), (p, q) in zip(slide.pads, counted)]
    return sum_pool(x, slide) / sum_pool(padded(ones, counted, 1), slide._replace(pads=rest))
