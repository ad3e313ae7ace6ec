"""What LAPACK gives that no op of ours has: swaps of rows, eigenvalues of any matrix."""
from __future__ import annotations

from typing import Any

import numpy as np

from .model import tf


def pivots_of(order: Any) -> Any:
    """The swaps that make permutations: row i with the row of that number, from the first. int32[..., n] of both."""
    def swaps(orders: np.ndarray) -> np.ndarray:
        found = np.empty(orders.shape, np.int32)
        for index in np.ndindex(*orders.shape[:-1]):
            now = list(range(orders.shape[-1]))
            for i, wanted in enumerate(orders[index].tolist()):
                at = now.index(wanted)
                now[i], now[at] = now[at], now[i]
                found[(*index, i)] = at
        return found

    pivots = tf.py_func(swaps, [order], tf.int32, stateful=False)
    pivots.set_shape(order.dims)
    return pivots


def permutation_of(pivots: Any, size: int) -> Any:
    """The permutation of `size` rows that swaps make. int32[..., k] -> int32[..., size]."""
    def permuted(swaps: np.ndarray) -> np.ndarray:
        found = np.tile(np.arange(size, dtype=np.int32), (*swaps.shape[:-1], 1))
        for index in np.ndindex(*swaps.shape[:-1]):
            for i, at in enumerate(swaps[index].tolist()):
                found[(*index, i)], found[(*index, at)] = found[(*index, at)], found[(*index, i)]
        return found

    order = tf.py_func(permuted, [pivots], tf.int32, stateful=False)
    order.set_shape([*pivots.dims[:-1], size])
    return order


def eig(x: Any) -> tuple[Any, Any]:
    """Eigenvalues and vectors of length 1 (columns), both complex, without a gradient."""
    wide = np.result_type(x.dtype.as_numpy_dtype, np.complex64)
    values, vectors = tf.py_func(lambda a: tuple(p.astype(wide) for p in np.linalg.eig(a)), [x], [wide, wide],
                                 stateful=False)
    values.set_shape(x.shape[:-1])
    vectors.set_shape(x.shape)
    return values, vectors
