"""Correlation of arrays with filters, and its two adjoints, in any number of dimensions.

Windows are copied into columns, a few images at a time so that the columns stay in the cache, and one matrix
product does the rest; nothing is kept for the backward pass.
"""

import contextlib
import itertools
import math
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from .threads import share
from .windows import Slide, inside, offsets, padded, views

_COLUMNS = 3 << 19  # bytes of columns at a time: they are read while still in the cache
_BLOCKS, _FEWEST_ROWS = 4, 256  # of a product that is shared out: so many blocks, with so many rows each
_FEWEST_CHANNELS = 8  # of an input whose gradient is found by wide products
_PHASES = range(32, 129)  # channels of all phases of strides together, for which one product is faster than many


def _images_at_once(n: int, rows: int, width: int, matrix: np.ndarray) -> int:
    """How many images of `rows` rows of columns, as wide as this; about as many in each block.

    Few, but a large matrix is not read for a small product; at most a quarter where a product is worth a thread.
    """
    most = max(1, min(n, max(_COLUMNS, matrix.nbytes) // max(1, rows * width * matrix.itemsize)))
    blocks = max(-(-n // most), min(n, _BLOCKS, n * rows // _FEWEST_ROWS), 1)
    return max(1, -(-n // blocks))


class _Columns:
    """Windows of some images at a time as rows [images * windows, elements of a window]; blocks: how many times.

    matrix: what each of them is multiplied with or added to.
    """

    def __init__(self, x: np.ndarray, window: tuple[int, ...], counts: tuple[int, ...], slide: Slide,
                 pads: list[tuple[int, int]], matrix: np.ndarray) -> None:
        self._window, self._counts, self._slide = window, counts, slide
        self._rows, self._width = math.prod(counts), math.prod(window) * x.shape[-1]
        self._is_plain = math.prod(window) == 1 and all(s == 1 for s in slide.strides) and not any(map(any, pads))
        self._x = np.ascontiguousarray(x) if self._is_plain else padded(x, pads)
        self._narrow = x.shape[-1] == 1 and slide.strides[-1] == 1  # runs along the image are longer than in a window
        self._step = _images_at_once(len(x), self._rows, self._width, matrix)
        self._windows = views(self._x, window, counts, slide)
        self.blocks = -(-len(x) // self._step)
        self._spare: list[np.ndarray] = []  # of the threads that have done a block

    @contextlib.contextmanager
    def block(self, index: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Which images, and their windows, for as long as it is entered."""
        images = slice(index * self._step, min((index + 1) * self._step, len(self._x)))
        if self._is_plain:
            yield images, self._x[images].reshape(-1, self._width)
            return
        held = self._spare.pop() if self._spare else np.empty(self._step * self._rows * self._width, self._x.dtype)
        windows = self._windows[images]
        columns = held[:windows.size]
        if self._narrow:
            part, columns = self._x[images], columns.reshape(*self._window, len(windows), *self._counts)
            for where, place in offsets(self._window, self._counts, self._slide):
                columns[where] = part[place][..., 0]
            yield images, columns.reshape(self._width, -1).T
        else:
            np.copyto(columns.reshape(windows.shape), windows)
            yield images, columns.reshape(-1, self._width)
        self._spare.append(held)


def _joins(space: tuple[int, ...], window: tuple[int, ...], slide: Slide, pads: list[tuple[int, int]]) -> bool:
    """Whether windows are as wide as the last axis of space: places along it are then as good as channels."""
    return len(window) > 1 and window[-1] == space[-1] and slide.dilations[-1] == 1 and pads[-1] == (0, 0)


def _without_last(slide: Slide) -> Slide:
    return slide._replace(strides=slide.strides[:-1], dilations=slide.dilations[:-1])


def _joined(x: np.ndarray, axis: int) -> np.ndarray:
    """`x` with an axis and the next one as one."""
    both = x.shape[axis:]
    return x.reshape(*x.shape[:axis], both[0] * both[1], *both[2:])


def correlate(x: np.ndarray, filters: np.ndarray, counts: tuple[int, ...], slide: Slide,
              pads: list[tuple[int, int]], out: np.ndarray | None = None) -> np.ndarray:
    """Each window of `x`, widened by `pads`, times the filters, in `out` if it is of their type.

    x: [n, *space, c], filters: [*window, c, f] -> [n, *counts, f].
    """
    if _joins(x.shape[1:-1], filters.shape[:-2], slide, pads):
        inner = _joined(out, -3) if _is_fit(out, x) else None
        y = correlate(_joined(x, -2), _joined(filters, -3), counts[:-1], _without_last(slide), pads[:-1], inner)
        return y.reshape(len(x), *counts, filters.shape[-1]) if inner is None else out
    matrix = filters.reshape(-1, filters.shape[-1])
    y = out if _is_fit(out, x) else np.empty((x.shape[0], *counts, filters.shape[-1]), x.dtype)
    each = _Columns(x, filters.shape[:-2], counts, slide, pads, matrix)

    def work(index: int) -> None:
        with each.block(index) as (images, columns):
            np.dot(columns, matrix, out=y[images].reshape(-1, filters.shape[-1]))

    share(work, each.blocks, y.size * len(matrix))
    return y


def _is_fit(out: np.ndarray | None, x: np.ndarray) -> bool:
    """Whether a result of the type of `x` can be written to `out`, image by image."""
    return out is not None and out.dtype == x.dtype and out.flags.c_contiguous


def for_filters(x: np.ndarray, dy: np.ndarray, window: tuple[int, ...], slide: Slide,
                pads: list[tuple[int, int]]) -> np.ndarray:
    """The adjoint of correlate in its filters: [*window, c, f]."""
    f = dy.shape[-1]
    if _joins(x.shape[1:-1], window, slide, pads):
        dw = for_filters(_joined(x, -2), _joined(dy, -3), window[:-1], _without_last(slide), pads[:-1])
        return dw.reshape(*window, x.shape[-1], f)
    total = np.zeros((math.prod(window) * x.shape[-1], f), x.dtype)
    dy = np.ascontiguousarray(dy)
    each = _Columns(x, window, dy.shape[1:-1], slide, pads, total)
    done: dict[int, np.ndarray] = {}
    spare: list[np.ndarray] = []
    lock, added = threading.Lock(), 0

    def work(index: int) -> None:
        nonlocal added
        part = spare.pop() if spare else np.empty_like(total)
        with each.block(index) as (images, columns):
            done[index] = np.dot(columns.T, dy[images].reshape(-1, f), out=part)
        with lock:  # one after the other, in their order
            while added in done:
                part = done.pop(added)
                np.add(total, part, out=total)
                spare.append(part)
                added += 1

    share(work, each.blocks, dy.size * len(total))
    return total.reshape(*window, x.shape[-1], f)


def for_input(space: tuple[int, ...], filters: np.ndarray, dy: np.ndarray, slide: Slide,
              pads: list[tuple[int, int]], out: np.ndarray | None = None) -> np.ndarray:
    """The adjoint of correlate in its input, which was `space` before it was widened by `pads`: [n, *space, c].

    With larger strides and not many channels, the places of all phases come of one correlation.
    With stride 1, windows of dy are taken along the last axis and all products made at once; those for the other
    places in the window are then added up. Measured faster than one product for each place, and than a convolution
    with the filters turned around, whose columns are larger; not for few channels.
    """
    if _joins(space, filters.shape[:-2], slide, pads):
        inner = _joined(out, -2) if _is_fit(out, dy) else None
        dx = for_input(space[:-1], _joined(filters, -3), _joined(dy, -3), _without_last(slide), pads[:-1], inner)
        return dx.reshape(len(dy), *space, filters.shape[-2]) if inner is None else out
    phases = math.prod(slide.strides)
    if phases > 1 == math.prod(slide.dilations) and phases * filters.shape[-2] in _PHASES \
            and all(k >= s for k, s in zip(filters.shape, slide.strides)):
        return _by_phases(space, filters, dy, slide, pads, out)
    if filters.shape[-2] < _FEWEST_CHANNELS:
        return _for_few_channels(space, filters, dy, slide, pads, out)
    window, n, channels = filters.shape[:-2], len(dy), filters.shape[-2]
    dilation, dy = slide.dilations[-1], np.ascontiguousarray(dy)
    before = (window[-1] - 1) * dilation - pads[-1][0]
    at_once = slide.strides[-1] == 1 and before >= 0 and pads[-1][1] <= (window[-1] - 1) * dilation
    split = len(window) - at_once  # axes that are added up
    filters = filters[(..., slice(None, None, -1), slice(None), slice(None))] if at_once else filters
    turned = filters.transpose(*range(split), -2, *range(split, len(window)), -1).reshape(*window[:split], channels, -1)
    rows, width = (*dy.shape[1:split + 1], *space[split:]), turned.shape[-1]
    step = _images_at_once(n, math.prod(rows), width + at_once * turned.size // width, turned)
    dx = out if _is_fit(out, dy) else np.empty((n, *space, channels), dy.dtype)
    places = _places(window[:split], dy.shape[1:-1], slide, space, pads)
    given = _spread(dy, space[-1], window[-1], dilation, before) if at_once else dy

    def work(index: int) -> None:
        images = slice(index * step, min((index + 1) * step, n))
        held, total = given[images].reshape(-1, width), dx[images]
        products = np.dot(held, turned.reshape(-1, width).T).reshape(-1, *turned.shape[:-1]) if at_once else None
        is_first = True
        for index, taken, where in places:
            part = np.dot(held, turned[index].T) if products is None else products[(slice(None), *index)]
            part = part.reshape(-1, *rows, channels)[taken]
            if is_first and part.shape == total.shape:
                total[...] = part
            else:
                if is_first:
                    total[...] = 0
                total[where] += part
            is_first = False

    share(work, -(-n // step), dy.size * filters.size // filters.shape[-1])
    return dx


def _places(window: tuple[int, ...], counts: tuple[int, ...], slide: Slide, space: tuple[int, ...],
            pads: list[tuple[int, int]]) -> list[tuple[Any, ...]]:
    """For each place in the window: its index, which windows have it inside of `space`, and where; the middle first."""
    found = []
    for index in itertools.product(*map(range, window)):
        taken, where = [slice(None)], [slice(None)]
        for i, d, s, count, size, (a, _) in zip(index, slide.dilations, slide.strides, counts, space, pads):
            start = i * d - a
            low, high = max(0, -(start // s)), min(count, (size - 1 - start) // s + 1)
            taken.append(slice(low, high))
            where.append(slice(start + low * s, start + max(high - 1, low) * s + 1, s) if high > low else slice(0))
        found.append((index, tuple(taken), tuple(where)))
    return sorted(found, key=lambda place: sum(abs(2 * i - k + 1) for i, k in zip(place[0], window)))


def _by_phases(space: tuple[int, ...], filters: np.ndarray, dy: np.ndarray, slide: Slide,
               pads: list[tuple[int, int]], out: np.ndarray | None) -> np.ndarray:
    """`for_input` for strides: windows of dy times a filter for each phase, whose results are then dealt out.

    Some of the filters' elements are zero, since not all phases take all places of a window: up to twice as many
    multiplications, in one wide product.
    """
    *window, channels, f = filters.shape
    strides, n = slide.strides, len(dy)
    lowest = [-((k - 1 - a) // s) for k, (a, _), s in zip(window, pads, strides)]
    highest = [-(-a // s) for (a, _), s in zip(pads, strides)]
    counts = tuple(-(-size // s) for size, s in zip(space, strides))
    taken = np.zeros((*(b - a + 1 for a, b in zip(lowest, highest)), f, *strides, channels), dy.dtype)
    for place in np.ndindex(*window):
        steps, phase = zip(*[divmod(i - a, s) for i, (a, _), s in zip(place, pads, strides)])
        taken[(*(-step - a for step, a in zip(steps, lowest)), slice(None), *phase)] = filters[place].T
    ends = [(-a, count + b - size) for a, b, count, size in zip(lowest, highest, counts, dy.shape[1:-1])]
    within = tuple(slice(max(-a, 0), size + min(b, 0)) for (a, b), size in zip(ends, dy.shape[1:-1]))
    found = correlate(dy[(slice(None), *within)], taken.reshape(*taken.shape[:len(window) + 1], -1), counts,
                      slide._replace(strides=(1,) * len(window)), [(max(a, 0), max(b, 0)) for a, b in ends])
    dx = out if _is_fit(out, dy) else np.empty((n, *space, channels), dy.dtype)
    whole = tuple(count * s for count, s in zip(counts, strides))
    wide = dx if whole == space else np.empty((n, *whole, channels), dy.dtype)
    dealt = wide.reshape(n, *(size for pair in zip(counts, strides) for size in pair), channels)
    rank = len(window)
    dealt[...] = found.reshape(n, *counts, *strides, channels).transpose(
        0, *(1 + i + side for i in range(rank) for side in (0, rank)), -1)
    if wide is not dx:
        dx[...] = wide[inside(space, [(0, 0)] * rank)]
    return dx


def _for_few_channels(space: tuple[int, ...], filters: np.ndarray, dy: np.ndarray, slide: Slide,
                      pads: list[tuple[int, int]], out: np.ndarray | None) -> np.ndarray:
    """`for_input` for an input of few channels: one product for all places in the window and all channels.

    Its rows are added up in planes, one for each channel and each phase of the strides, where neighbors are neighbors
    in memory.
    """
    window, n, channels = filters.shape[:-2], len(dy), filters.shape[-2]
    dy, matrix = np.ascontiguousarray(dy), filters.reshape(-1, filters.shape[-1])
    counts, strides, rank = dy.shape[1:-1], slide.strides, len(space)
    lengths = tuple(-(-(a + size + b) // s) for size, (a, b), s in zip(space, pads, strides))
    planes_each = math.prod(lengths) * math.prod(strides) * channels
    step = _images_at_once(n, 1, math.prod(counts) * len(matrix) + planes_each, matrix)
    dx = out if _is_fit(out, dy) else np.empty((n, *space, channels), dy.dtype)
    axes = [rank + 1, *(i for axis in range(rank) for i in (rank + 2 + axis, axis)), rank]

    def work(index: int) -> None:
        images = slice(index * step, min((index + 1) * step, n))
        some = dy[images]
        products = np.dot(matrix, some.reshape(-1, dy.shape[-1]).T).reshape(*window, channels, len(some), *counts)
        planes = np.zeros((*strides, channels, len(some), *lengths), dy.dtype)
        for place in np.ndindex(*window):
            starts = [i * d for i, d in zip(place, slide.dilations)]
            phase = tuple(start % s for start, s in zip(starts, strides))
            at = tuple(slice(start // s, start // s + count) for start, s, count in zip(starts, strides, counts))
            planes[(*phase, slice(None), slice(None), *at)] += products[place]
        wide = planes.transpose(axes).reshape(len(some), *(a * s for a, s in zip(lengths, strides)), channels)
        dx[images] = wide[inside(space, pads)]

    share(work, -(-n // step), dy.size * len(matrix))
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
