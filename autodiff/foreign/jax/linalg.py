"""Primitives of linear algebra. Their gradients are traced from JAX: TensorFlow's take other halves of matrices."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ..model import tf
from .table import JAX, Tensor


@JAX.op("cholesky", pulled_back=True)
def cholesky(x: Tensor, **params: Any) -> Tensor:
    return tf.linalg.cholesky(x)


@JAX.op("eigh", pulled_back=True)
def eigh(x: Tensor, *, lower: bool, **params: Any) -> list[Tensor]:
    values, vectors = tf.linalg.eigh(x if lower else _adjoint(x))
    return [vectors, values]


@JAX.op("qr", pulled_back=True)
def qr(x: Tensor, *, full_matrices: bool, pivoting: bool = False, **params: Any) -> list[Tensor]:
    if pivoting:
        raise ArgumentError("qr with pivoting is not there")
    return list(tf.linalg.qr(x, full_matrices=full_matrices))


@JAX.op("svd", pulled_back=True)
def svd(x: Tensor, *, full_matrices: bool, compute_uv: bool, **params: Any) -> list[Tensor]:
    if not compute_uv:
        return [tf.linalg.svd(x, compute_uv=False)]
    values, left, right = tf.linalg.svd(x, full_matrices=full_matrices)
    return [values, left, _adjoint(right)]


@JAX.op("lu", pulled_back=True)
def lu(x: Tensor, **params: Any) -> list[Tensor]:
    factors, order = tf.linalg.lu(x)
    pivots = tf.py_func(_pivots, [order], tf.int32, stateful=False)
    pivots.set_shape([*x.dims[:-2], min(x.dims[-2:])])
    return [factors, pivots[..., :min(x.dims[-2:])], order]


def _pivots(orders: np.ndarray) -> np.ndarray:
    """The swaps that make permutations, row by row as LAPACK writes them."""
    found = np.empty(orders.shape, np.int32)
    for index in np.ndindex(*orders.shape[:-1]):
        now = list(range(orders.shape[-1]))
        for i, wanted in enumerate(orders[index].tolist()):
            at = now.index(wanted)
            now[i], now[at] = now[at], now[i]
            found[(*index, i)] = at
    return found


@JAX.op("lu_pivots_to_permutation")
def lu_pivots_to_permutation(pivots: Tensor, *, permutation_size: int) -> Tensor:
    def permuted(swaps: np.ndarray) -> np.ndarray:
        found = np.tile(np.arange(permutation_size, dtype=np.int32), (*swaps.shape[:-1], 1))
        for index in np.ndindex(*swaps.shape[:-1]):
            for i, at in enumerate(swaps[index].tolist()):
                found[(*index, i)], found[(*index, at)] = found[(*index, at)], found[(*index, i)]
        return found

    order = tf.py_func(permuted, [pivots], tf.int32, stateful=False)
    order.set_shape([*pivots.dims[:-1], permutation_size])
    return order


@JAX.op("triangular_solve", pulled_back=True)
def triangular_solve(a: Tensor, b: Tensor, *, left_side: bool, lower: bool, transpose_a: bool, conjugate_a: bool,
                     unit_diagonal: bool) -> Tensor:
    if unit_diagonal:
        a = tf.linalg.set_diag(a, tf.ones(a.dims[:-1], a.dtype))
    if conjugate_a and a.dtype.is_complex:
        a = tf.math.conj(a)
    if transpose_a:
        a, lower = _transposed(a), not lower
    if left_side:
        return tf.linalg.triangular_solve(a, b, lower=lower)
    return _transposed(tf.linalg.triangular_solve(_transposed(a), _transposed(b), lower=not lower))


def _transposed(x: Tensor) -> Tensor:
    axes: Sequence[int] = [*range(len(x.dims) - 2), len(x.dims) - 1, len(x.dims) - 2]
    return tf.transpose(x, axes)


def _adjoint(x: Tensor) -> Tensor:
    return tf.math.conj(_transposed(x)) if x.dtype.is_complex else _transposed(x)
