"""Figures of an array: counts of what is not finite, range, mean and norm of what is."""
from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.indexed_slices import IndexedSlicesValue
from .records import Stats

_MANY = 4096
_ONES = np.ones(1024, np.float32)
_FLOAT32 = np.dtype(np.float32)
_SQUARED = {_FLOAT32, np.dtype(np.float64)}  # whose dot product is one fast pass
_LARGEST = 1e38  # a sum of squares that float32 still holds


def statistics(value: Any) -> Stats:
    """The Stats of an array, number or IndexedSlicesValue (of its rows); floats of any width, ints, bools, strings.

    An array without nan or inf costs five passes at most, as its minimum and maximum show that it has none.
    """
    array = _array(value)
    if array.dtype == _FLOAT32 and array.size and array.flags.c_contiguous:
        with np.errstate(invalid="ignore"):
            found = _of_float32(array)
        if found is not None:
            return found
    dtype = _name(array.dtype)
    if array.size == 0 or array.dtype.kind not in "biufc":
        return Stats(dtype, array.shape, array.size)
    zeros = array.size - int(np.count_nonzero(array if array.dtype.kind == "b" else array != 0))  # bools count fastest
    measured = np.abs(array) if array.dtype.kind == "c" else array
    if array.dtype.kind in "fc":
        with np.errstate(all="ignore"):
            low, high = measured.min(), measured.max()
        if not (math.isfinite(low) and math.isfinite(high)):
            return _with_nonfinite(array, measured, dtype, zeros)
    else:
        measured = array.astype(np.float64)
        low, high = measured.min(), measured.max()
    return Stats(dtype, array.shape, array.size, 0, 0, 0, zeros, float(low), float(high),
                 *_mean_and_norm(measured, float(low), float(high)))


def _array(value: Any) -> np.ndarray:
    """The numbers of a value: of an array, of rows, or of a TensorArray's elements as far as they were written."""
    if isinstance(value, list):
        written = [np.ravel(each) for each in value if each is not None]
        return np.concatenate(written) if written and len(written) < len(value) else np.asarray(written or value)
    return np.asarray(value.values if isinstance(value, IndexedSlicesValue) else value)


def _of_float32(array: np.ndarray) -> Stats | None:
    """The Stats of a contiguous array, in passes that are no slower than reading it; None if it is not finite.

    Comparisons with nan are its caller's to silence.
    """
    flat = array.reshape(-1)
    low, high = float(np.minimum.reduce(flat)), float(np.maximum.reduce(flat))
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    zeros = 0
    if low <= 0 <= high:
        equal = flat == 0
        zeros = int(np.count_nonzero(equal)) if equal.any() else 0  # most have none, and to see that is cheaper
    return Stats("float32", array.shape, array.size, 0, 0, 0, zeros, low, high, *_mean_and_norm(flat, low, high))


@functools.cache
def _name(dtype: np.dtype) -> str:
    return dtype.name if dtype.kind not in "OSU" else "string"


def _with_nonfinite(array: np.ndarray, measured: np.ndarray, dtype: str, zeros: int) -> Stats:
    nans = int(np.isnan(measured).sum())
    positive, negative = int(np.isposinf(measured).sum()), int(np.isneginf(measured).sum())
    finite = measured[np.isfinite(measured)]
    if not finite.size:
        return Stats(dtype, array.shape, array.size, nans, positive, negative, zeros)
    low, high = float(finite.min()), float(finite.max())
    return Stats(dtype, array.shape, array.size, nans, positive, negative, zeros, low, high,
                 *_mean_and_norm(finite, low, high))


def _mean_and_norm(finite: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """Mean and Euclidean norm, given the range; float32 sums only where they can neither overflow nor vanish."""
    flat, largest = finite.ravel(), max(abs(low), abs(high))
    if flat.dtype.itemsize == 4 and (largest == 0 or 1e-15 < largest and largest * largest * flat.size < _LARGEST):
        return _sum(flat) / flat.size, math.sqrt(np.dot(flat, flat))
    flat = flat.astype(np.float64)
    if largest == 0 or 1e-140 < largest < 1e140:
        return float(flat.mean()), float(np.sqrt(np.dot(flat, flat)))
    scaled = flat / largest
    return float(largest * scaled.mean()), float(largest * np.sqrt(np.dot(scaled, scaled)))


def _sum(flat: np.ndarray) -> float:
    """The sum of float32 elements: of rows by a product with ones, which is the fastest, then of those in float64."""
    if flat.size < _MANY:
        return float(flat.sum(dtype=np.float64))
    whole = flat.size - flat.size % _ONES.size
    rows = np.dot(flat[:whole].reshape(-1, _ONES.size), _ONES)
    total = float(np.add.reduce(rows, dtype=np.float64))
    return total if whole == flat.size else total + float(np.add.reduce(flat[whole:], dtype=np.float64))


def statistics_of(values: Sequence[Any]) -> list[Stats]:
    """The Stats of each; small float32 arrays are measured together, as most of their cost is that of the calls."""
    found: list[Stats | None] = [None] * len(values)
    small = [i for i, value in enumerate(values) if is_small(value)]
    if len(small) > 2:
        for i, stats in zip(small, _together([values[i] for i in small])):
            found[i] = stats
    with np.errstate(invalid="ignore"):
        return [stats or type(value) is np.ndarray and value.dtype == _FLOAT32 and value.size >= _MANY
                and value.flags.c_contiguous and _of_float32(value) or statistics(value)
                for stats, value in zip(found, values)]


def is_small(value: Any) -> bool:
    """Whether it is a float32 array of a few elements, which `statistics_of` measures together with others."""
    return type(value) is np.ndarray and value.dtype == _FLOAT32 and 0 < value.size < _MANY


def _together(arrays: list[np.ndarray]) -> list[Stats | None]:
    """Figures of float32 arrays, none of them empty; None for those that are not finite."""
    flat = np.concatenate([array.reshape(-1) for array in arrays])
    starts = list(itertools.accumulate([array.size for array in arrays[:-1]], initial=0))
    wide = flat.astype(np.float64)  # holds the square of any float32
    equal = flat == 0
    zeros = np.add.reduceat(equal, starts, dtype=np.intp).tolist() if equal.any() else [0] * len(arrays)
    with np.errstate(all="ignore"):
        figures = zip(arrays, zeros, *[found.tolist() for found in (
            np.minimum.reduceat(flat, starts), np.maximum.reduceat(flat, starts),
            np.add.reduceat(wide, starts), np.add.reduceat(wide * wide, starts))])
    return [Stats("float32", array.shape, array.size, 0, 0, 0, none, low, high, total / array.size, math.sqrt(squares))
            if math.isfinite(low) and math.isfinite(high) else None
            for array, none, low, high, total, squares in figures]


def has_nonfinite(value: Any) -> bool:
    """Whether any element is nan or inf; one pass where the sum of squares shows that none is, else two more."""
    array = _array(value)
    if array.dtype.kind == "c":
        return not bool(np.isfinite(array).all())
    if array.dtype.kind != "f" or not array.size:
        return False
    if array.ndim == 0:
        return not math.isfinite(array)
    with np.errstate(all="ignore"):
        if array.dtype.itemsize >= 4 and array.flags.c_contiguous:
            flat = array.reshape(-1)
            if math.isfinite(np.dot(flat, flat)):
                return False
        return not (np.isfinite(array.min()) and np.isfinite(array.max()))


def nonfinite_of(values: Sequence[Any]) -> list[bool]:
    """Whether each has any nan or inf; each is asked only where all together may have some."""
    return [False] * len(values) if are_finite(values) else [has_nonfinite(value) for value in values]


def are_finite(values: Iterable[Any]) -> bool:
    """Whether none has any nan or inf, seen from a sum of squares of all; False too where that is too large."""
    total, flat = 0.0, []
    for value in values:
        if type(value) is np.ndarray and value.dtype in _SQUARED:
            flat.append(value.ravel())
        elif type(value) is np.float32:
            total += abs(float(value))
        elif value is not None and has_nonfinite(value):
            return False
    if flat:
        with np.errstate(all="ignore"):
            total += sum([float(np.dot(each, each)) for each in flat])
    return math.isfinite(total)


def bad_elements(value: Any, most: int = 5) -> tuple[tuple[int, ...], ...]:
    """Indices of the first `most` elements that are nan or inf, in row-major order."""
    array = np.asarray(value.values if isinstance(value, IndexedSlicesValue) else value)
    if array.dtype.kind not in "fc" or not array.size:
        return ()
    flat = np.flatnonzero(~np.isfinite(array))[:most]
    return tuple(tuple(int(i) for i in np.unravel_index(f, array.shape)) for f in flat)
