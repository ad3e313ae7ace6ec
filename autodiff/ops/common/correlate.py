"""Correlation of arrays with filters, and its two adjoints, in any number of dimensions.

Windows are copied into columns, a few images at a time so that the columns stay in the cache, and one matrix
product does the rest; nothing is kept for the backward pass.
"""

import math
from collections.abc import Iterator

import numpy as np

from .windows import Slide, inside, offsets, padded, views

_COLUMNS = 3 << 19  # bytes of columns at a time: they are read while still in the cache
_FEWEST_CHANNELS = 8  # of an input whose gradient is found by wide products


def _images_at_once(n: int, each: int, matrix: np.ndarray) -> int:
    """How many images of `each` bytes of columns: few, but a large matrix is not read for a small product."""
    return max(1, min(n, max(_COLUMNS, matrix.nbytes) // max(1, each)))


def _columns(x: np.ndarray, window: tuple[int, ...], counts: tuple[int, ...], slide: Slide,
             pads: list[tuple[int, int]], matrix: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Some images at a time, and their windows as rows [images * windows, elements of a window].

    matrix: what each of them is multiplied with or added to.
    """
    n, channels, space = x.shape[0], x.shape[-1], x.shape[1:-1]
    rows, width = math.prod(counts), math.prod(window) * channels
    if width == channels and all(s == 1 for s in slide.strides) and not any(map(any, pads)):
        yield slice(0, n), np.ascontiguousarray(x).reshape(n * rows, width)
        return
    step = _images_at_once(n, rows * width * x.itemsize, matrix)
    narrow = channels == 1 and slide.strides[-1] == 1  # runs along the image are longer than those in a window
    buffer = np.empty(step * rows * width, x.dtype)
    wide = padded(np.zeros((step, *space, channels), x.dtype), pads)
    for first in range(0, n, step):
        part = x[first:first + step]
        if any(map(any, pads)):
            wide[:len(part)][inside(space, pads)] = part
            part = wide[:len(part)]
        held = buffer[:len(part) * rows * width]
        if narrow:
            columns = held.reshape(*window, len(part), *counts)
            for index, where in offsets(window, counts, slide):
                columns[index] = part[where][..., 0]
            yield slice(first, first + len(part)), columns.reshape(width, -1).T
        else:
            windows = views(part, window, counts, slide)
            np.copyto(held.reshape(windows.shape), windows)
            yield slice(first, first + len(part)), held.reshape(-1, width)


def correlate(x: np.ndarray, filters: np.ndarray, counts: tuple[int, ...], slide: Slide,
              pads: list[tuple[int, int]], out: np.ndarray | None = None) -> np.ndarray:
    """Each window of `x`, widened by `pads`, times the filters, in `out` if it is of their type.

    x: [n, *space, c], filters: [*window, c, f] -> [n, *counts, f].
    """
    matrix = filters.reshape(-1, filters.shape[-1])
    y = out if _is_fit(out, x) else np.empty((x.shape[0], *counts, filters.shape[-1]), x.dtype)
    for images, columns in _columns(x, filters.shape[:-2], counts, slide, pads, matrix):
        np.dot(columns, matrix, out=y[images].reshape(-1, filters.shape[-1]))
    return y


def _is_fit(out: np.ndarray | None, x: np.ndarray) -> bool:
    """Whether a result of the type of `x` can be written to `out`, image by image."""
    return out is not None and out.dtype == x.dtype and out.flags.c_contiguous


def for_filters(x: np.ndarray, dy: np.ndarray, window: tuple[int, ...], slide: Slide,
                pads: list[tuple[int, int]]) -> np.ndarray:
    """The adjoint of correlate in its filters: [*window, c, f]."""
    f = dy.shape[-1]
    total = np.zeros((math.prod(window) * x.shape[-1], f), x.dtype)
    part, dy = np.empty_like(total), np.ascontiguousarray(dy)
    for images, columns in _columns(x, window, dy.shape[1:-1], slide, pads, total):
        total += np.dot(columns.T, dy[images].reshape(-1, f), out=part)
    return total.reshape(*window, x.shape[-1], f)


def for_input(space: tuple[int, ...], filters: np.ndarray, dy: np.ndarray, slide: Slide,
              pads: list[tuple[int, int]], out: np.ndarray | None = None) -> np.ndarray:
    """The adjoint of correlate in its input, which was `space` before it was widened by `pads`: [n, *space, c].

    With stride 1, windows of dy are taken along the last axis and all products made at once; those for the other
    places in the window are then added up. Measured faster than one product for each place, and than a convolution
    with the filters turned around, whose columns are larger; not for few channels.
    """
    window, n, channels = filters.shape[:-2], len(dy), filters.shape[-2]
    dilation, dy = slide.dilations[-1], np.ascontiguousarray(dy)
    before = (window[-1] - 1) * dilation - pads[-1][0]
    at_once = slide.strides[-1] == 1 and before >= 0 and pads[-1][1] <= (window[-1] - 1) * dilation \
        and channels >= _FEWEST_CHANNELS
    split = len(window) - at_once  # axes that are added up
    filters = filters[(..., slice(None, None, -1), slice(None), slice(None))] if at_once else filters
    turned = filters.transpose(*range(split), -2, *range(split, len(window)), -1).reshape(*window[:split], channels, -1)
    rows, width = (*dy.shape[1:split + 1], *space[split:]), turned.shape[-1]
    step = _images_at_once(n, math.prod(rows) * (width + at_once * turned.size // width) * dy.itemsize, turned)
    dx = out if _is_fit(out, dy) else np.empty((n, *space, channels), dy.dtype)
    sums = np.empty((step, *(a + size + b for size, (a, b) in zip(space[:split], pads)), *space[split:], channels),
                    dy.dtype)
    for first in range(0, n, step):
        images = slice(first, min(first + step, n))
        held = _spread(dy[images], space[-1], window[-1], dilation, before) if at_once else dy[images]
        held, total = held.reshape(-1, width), sums[:len(held)]
        products = np.dot(held, turned.reshape(-1, width).T).reshape(-1, *turned.shape[:-1]) if at_once else None
        total[...] = 0
        for index, where in offsets(window[:split], dy.shape[1:-1], slide):
            part = np.dot(held, turned[index].T) if products is None else products[(slice(None), *index)]
            total[where] += part.reshape(-1, *rows, channels)
        dx[images] = total[inside(space[:split], pads)]
    return dx


def _spread(dy: np.ndarray, size: int, k: int, dilation: int, before: int) -> np.ndarray:
    """For each of `size` places of the input the k places of dy along the last axis that have a part in it.

    before: zeros before dy. -> [..., size, k, f].
    """
    wide: np.ndarray = np.zeros((*dy.shape[:-2], size + (k - 1) * dilation, dy.shape[-1]), dy.dtype)
    wide[..., before:before + dy.shape[-2], :] = dy
    *outer, along, last = wide.strides
    return np.lib.stride_tricks.as_strided(wide, (*dy.shape[:-2], size, k, dy.shape[-1]),
                                           (*outer, along, along * dilation, last), writeable=False)


def at_least_single(x: np.ndarray) -> np.ndarray:
    """`x`, in single precision if it has half: sums of half precision lose too much."""
    return x.astype(np.float32) if x.dtype == np.float16 else x
