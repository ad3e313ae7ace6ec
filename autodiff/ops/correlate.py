"""Correlation of arrays with filters, and its two adjoints, in any number of dimensions.

Windows are copied into columns, a few images at a time so that the columns stay in the cache, and one matrix
product does the rest; nothing is kept for the backward pass.
"""

from collections.abc import Iterator

import numpy as np

from .windows import Slide, offsets, views

_COLUMNS = 1 << 20  # bytes of columns at a time: they are read while still in the cache


def _columns(x: np.ndarray, window: tuple[int, ...], counts: tuple[int, ...], slide: Slide
             ) -> Iterator[tuple[slice, np.ndarray]]:
    """Some images at a time, and their windows as rows [images * windows, elements of a window]."""
    n, channels = x.shape[0], x.shape[-1]
    rows, width = int(np.prod(counts)), int(np.prod(window)) * channels
    if width == channels and all(s == 1 for s in slide.strides):
        yield slice(0, n), np.ascontiguousarray(x).reshape(n * rows, width)
        return
    step = max(1, min(n, _COLUMNS // max(1, rows * width * x.itemsize)))
    narrow = channels == 1 and slide.strides[-1] == 1  # runs along the image are longer than those in a window
    buffer = np.empty(step * rows * width, x.dtype)
    for first in range(0, n, step):
        part = x[first:first + step]
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
              out: np.ndarray | None = None) -> np.ndarray:
    """Each window of the padded `x` times the filters, in `out` if it is of their type.

    x: [n, *space, c], filters: [*window, c, f] -> [n, *counts, f].
    """
    matrix = filters.reshape(-1, filters.shape[-1])
    is_fit = out is not None and out.dtype == x.dtype and out.flags.c_contiguous
    y = out if is_fit else np.empty((x.shape[0], *counts, filters.shape[-1]), x.dtype)
    for images, columns in _columns(x, filters.shape[:-2], counts, slide):
        np.dot(columns, matrix, out=y[images].reshape(-1, filters.shape[-1]))
    return y


def for_filters(x: np.ndarray, dy: np.ndarray, window: tuple[int, ...], slide: Slide) -> np.ndarray:
    """The adjoint of correlate in its filters: [*window, c, f]."""
    f = dy.shape[-1]
    total = np.zeros((int(np.prod(window)) * x.shape[-1], f), x.dtype)
    dy = np.ascontiguousarray(dy)
    for images, columns in _columns(x, window, dy.shape[1:-1], slide):
        total += np.dot(columns.T, dy[images].reshape(-1, f))
    return total.reshape(*window, x.shape[-1], f)


def for_input(shape: tuple[int, ...], filters: np.ndarray, dy: np.ndarray, slide: Slide) -> np.ndarray:
    """The adjoint of correlate in its input, which has `shape` with padding.

    One product for each place in the window: measured faster than a convolution with the filters turned around,
    and than one product whose columns are then added up.
    """
    window, counts = filters.shape[:-2], dy.shape[1:-1]
    dx, dy = np.zeros(shape, dy.dtype), np.ascontiguousarray(dy)
    step = max(1, _COLUMNS // max(1, dy[:1].nbytes))
    for first in range(0, len(dy), step):
        part, target = dy[first:first + step], dx[first:first + step]
        rows = part.reshape(-1, dy.shape[-1])
        for index, where in offsets(window, counts, slide):
            target[where] += np.dot(rows, filters[index].T).reshape(*part.shape[:-1], -1)
    return dx


def at_least_single(x: np.ndarray) -> np.ndarray:
    """`x`, in single precision if it has half: sums of half precision lose too much."""
    return x.astype(np.float32) if x.dtype == np.float16 else x
