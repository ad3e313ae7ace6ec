"""Arrays given by their entries: checking coordinates, numbering them, adding up what shares a place."""

import numpy as np

from ...core.dimensions import merge_sizes
from ...core.errors import ArgumentError
from ...core.infer import rank_of
from ...core.op import blocked
from ...core.shapes import show

_LONG = 8  # elements of a term from which on they are brought together in rounds, each of one term a place
_ROUNDS = 32  # the most of them
_UNEVEN = 8  # times the mean, that the most terms of a place may be
INDICES = blocked("indices are integers")
SHAPE = blocked("a shape is made of integers")


def coordinates(indices, values, shape):
    """The count of entries and the rank of a sparse tensor, each None if not known. Raises ShapeError for parts that
    do not fit together."""
    rank_of(indices, exactly=2, what="indices")
    rank_of(values, exactly=1, what="values")
    rank_of(shape, exactly=1, what="shape")
    count, rank = indices.dims or (None, None)
    return (merge_sizes(count, values.dims[0] if values.dims else None),
            merge_sizes(rank, shape.dims[0] if shape.dims else None))


def checked(indices, values, shape):
    """Raises ArgumentError unless there is a value for each index and each index is inside of `shape`."""
    if indices.ndim != 2 or indices.shape[1] != shape.size or values.shape != indices.shape[:1]:
        raise ArgumentError(expected=f"indices [n,{shape.size}] and values [n] for a shape {shape.tolist()}",
                            found=f"{show(indices.shape)} and {show(values.shape)}")
    if indices.size and any(column.min() < 0 or column.max() >= size for column, size in zip(indices.T, shape)):
        outside = ((indices < 0) | (indices >= shape)).any(axis=1)
        i = int(outside.argmax())
        raise ArgumentError(f"invalid index: indices[{i}] = {indices[i].tolist()} is out of bounds: need 0 <= index < "
                            f"{shape.tolist()}")


def numbers(indices, shape):
    """The row-major number of each index in an array of `shape`: int64[n]."""
    strides = np.concatenate([np.cumprod(shape[:0:-1].astype(np.int64))[::-1], [1]])[:len(shape)]
    return indices @ strides if indices.size else np.zeros(len(indices), np.int64)


def order_of(indices):
    """The positions of the indices in row-major order, equal ones as they come."""
    return np.lexsort(indices.T[::-1]) if indices.shape[1] else np.arange(len(indices))


def reduced(ufunc, terms, places, count, start=0):
    """Terms of one place brought together by a ufunc; `start` where there are none. terms: [n, ...] -> [count, ...]."""
    out = np.full((count, *terms.shape[1:]), start, terms.dtype)
    if not len(places):
        return out
    if (places[1:] < places[:-1]).any():
        order = np.argsort(places, kind="stable")
        terms, places = terms[order], places[order]
    starts = np.flatnonzero(np.concatenate(([True], places[1:] != places[:-1])))
    lengths = np.diff(starts, append=len(places))
    by_length = np.argsort(-lengths, kind="stable")
    longest = int(lengths[by_length[0]])
    if terms[0].size < _LONG or longest > _ROUNDS or longest * len(starts) > _UNEVEN * len(places):
        out[places[starts]] = ufunc.reduceat(terms, starts, axis=0, dtype=terms.dtype)
        return out
    starts, lengths = starts[by_length], lengths[by_length]
    found = terms[starts]
    for i in range(1, longest):  # what is the i-th of its place
        more = np.searchsorted(-lengths, -i)
        found[:more] = ufunc(found[:more], terms[starts[:more] + i])
    out[places[starts]] = found
    return out
