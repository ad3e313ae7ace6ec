"""What LAPACK gives that no op of ours has: swaps of rows, eigenvalues of any matrix."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..core.function_graph import kernel
from .model import tf


def lu(x: Any) -> tuple[Any, Any, Any]:
    """Packed factors of matrices [..., m, n], the swaps (row i with the row of that number, from the first) as
    int32[..., min(m, n)], and the permutation that they make, int32[..., m]; without a gradient."""
    @kernel
    def factored(matrices: np.ndarray) -> tuple[np.ndarray, ...]:
        found, (*batch, m, n) = matrices.copy(), matrices.shape
        swaps = np.empty((*batch, min(m, n)), np.int32)
        order = np.tile(np.arange(m, dtype=np.int32), (*batch, 1))
        for index in np.ndindex(*batch):
            a = found[index]
            for k in range(min(m, n)):
                at = swaps[(*index, k)] = k + int(np.argmax(np.abs(a[k:, k].real) + np.abs(a[k:, k].imag)))
                a[[k, at]], order[index][[k, at]] = a[[at, k]], order[index][[at, k]]
                if a[k, k] != 0:
                    a[k + 1:, k] /= a[k, k]
                    a[k + 1:, k + 1:] -= np.outer(a[k + 1:, k], a[k, k + 1:])
        return found, swaps, order

    found = tf.py_func(factored, [x], [x.dtype.base_dtype, tf.int32, tf.int32], stateful=False)
    *batch, m, n = x.dims
    for y, shape in zip(found, ([m, n], [min(m, n)], [m])):
        y.set_shape([*batch, *shape])
    return tuple(found)


def permutation_of(pivots: Any, size: int) -> Any:
    """The permutation of `size` rows that swaps make. int32[..., k] -> int32[..., size]."""
    @kernel
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
    @kernel
    def found(a: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple([part.astype(np.result_type(a, np.complex64)) for part in np.linalg.eig(a)])

    wide = np.result_type(x.dtype.as_numpy_dtype, np.complex64)
    values, vectors = tf.py_func(found, [x], [wide, wide], stateful=False)
    values.set_shape(x.shape[:-1])
    vectors.set_shape(x.shape)
    return values, vectors
