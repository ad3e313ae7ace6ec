"""Products of a sparse matrix with a dense one: entries laid out by rows, and layouts remembered.

Rows with equally many entries lie together, so that one call of `np.matmul` makes the products of all of them, each
with the rows of the dense matrix that it faces. Sorting the entries costs as much as a product, and most sparse
matrices come again and again.
"""
from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np

from ..common.coordinates import checked

_TILE = 1 << 18  # bytes of gathered rows that stay in the cache
_MOST = 8  # matrices remembered
_LARGEST = 1 << 26  # bytes of indices that are worth remembering


class _Rows(NamedTuple):
    """Rows of `entries` entries each: those from `first` to `last` in the layout, whose first entry is `start`."""

    entries: int
    first: int
    last: int
    start: int


class RowLayout:
    """The entries of a sparse matrix of `count` rows in the order in which products take them."""

    def __init__(self, rows: np.ndarray, columns: np.ndarray, count: int) -> None:
        entries = np.bincount(rows, minlength=count)
        by_entries = np.argsort(entries, kind="stable")
        places = np.empty(count, np.intp)
        places[by_entries] = np.arange(count)
        wanted = places[rows]
        self._order = np.argsort(wanted.astype(np.uint16) if count <= 1 << 16 else wanted, kind="stable")  # by radix
        self._columns, self._places = columns[self._order], places
        self._groups: list[_Rows] = []
        sizes, firsts = np.unique(entries[by_entries], return_index=True)
        start = 0
        for size, first, last in zip(sizes.tolist(), firsts.tolist(), [*firsts[1:].tolist(), count]):
            self._groups.append(_Rows(size, first, last, start))
            start += size * (last - first)

    def product(self, values: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The product of the matrix that has these values with `b`; a row without entries is zero."""
        values, width = values.take(self._order), b.shape[1]
        out = np.empty((len(self._places), width), values.dtype)
        for size, first, last, start in self._groups:
            if not size:
                out[first:last] = 0
                continue
            step = max(_TILE // max(size * width * b.itemsize, 1), 1)
            for low in range(first, last, step):
                high = min(low + step, last)
                span = slice(start + (low - first) * size, start + (high - first) * size)
                facing = b.take(self._columns[span], axis=0).reshape(high - low, size, width)
                np.matmul(values[span].reshape(-1, 1, size), facing, out=out[low:high].reshape(-1, 1, width))
        return out.take(self._places, axis=0)


class _Known:
    """Checked indices and their layouts. given: the array they came in, if it cannot change while it exists."""

    def __init__(self, indices: np.ndarray, shape: tuple[int, ...]) -> None:
        self.indices, self.shape = indices.copy(), shape
        self.layouts: dict[bool, RowLayout] = {}
        self.given: Any = None

    def fits(self, indices: np.ndarray, shape: tuple[int, ...]) -> bool:
        """Whether these are the same indices into the same shape; where it must it compares them."""
        if shape != self.shape or indices.shape != self.indices.shape or indices.dtype != self.indices.dtype:
            return False
        if self.given is None or self.given() is not indices:
            if not np.array_equal(indices, self.indices):
                return False
            # what is fed comes as a view that nobody writes to; other arrays may be a buffer's or a variable's
            self.given = weakref.ref(indices) if indices.base is not None and not indices.flags.writeable else None
        return True


_known: list[_Known] = []  # the one used last comes first


def layout_of(indices: np.ndarray, values: np.ndarray, shape: np.ndarray, *, adjoint: bool) -> RowLayout:
    """The layout of a matrix's entries by rows, by columns for its adjoint. Raises ArgumentError as `checked` does."""
    dims = tuple(shape.tolist())
    found = next((known for known in _known if known.fits(indices, dims)), None)
    if found is None or len(values) != len(indices):
        checked(indices, values, shape)
        found = _Known(indices, dims)
    if (not _known or _known[0] is not found) and indices.nbytes <= _LARGEST:
        _known[:] = [found, *[known for known in _known if known is not found]][:_MOST]
    layout = found.layouts.get(adjoint)
    if layout is None:
        rows, columns = np.ascontiguousarray(found.indices.T[::-1 if adjoint else 1])
        layout = found.layouts[adjoint] = RowLayout(rows, columns, dims[1 if adjoint else 0])
    return layout
