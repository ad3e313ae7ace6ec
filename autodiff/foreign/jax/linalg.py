"""Primitives of linear algebra. Their gradients are traced from JAX: TensorFlow's take other halves of matrices."""
from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentError
from .. import lapack
from ..model import tf
from .table import JAX, Tensor


@JAX.op("eigh", pulled_back=True)
def eigh(x: Tensor, *, lower: bool, **params: Any) -> list[Tensor]:
    values, vectors = tf.linalg.eigh(x if lower else tf.linalg.adjoint(x))
    return [vectors, values]


@JAX.op("eig", pulled_back=True)
def eig(x: Tensor, *, compute_left_eigenvectors: bool, compute_right_eigenvectors: bool, **params: Any) -> list[Tensor]:
    if compute_left_eigenvectors:
        raise ArgumentError("eig with left eigenvectors is not there")
    return list(lapack.eig(x)[:1 + compute_right_eigenvectors])


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
    return [values, left, tf.linalg.adjoint(right)]


@JAX.op("triangular_solve", pulled_back=True)
def triangular_solve(a: Tensor, b: Tensor, *, left_side: bool, lower: bool, transpose_a: bool, conjugate_a: bool,
                     unit_diagonal: bool) -> Tensor:
    if unit_diagonal:
        a = tf.linalg.set_diag(a, tf.ones(a.dims[:-1], a.dtype))
    if conjugate_a and a.dtype.is_complex:
        a = tf.math.conj(a)
    if transpose_a:
        a, lower = tf.linalg.matrix_transpose(a), not lower
    if left_side:
        return tf.linalg.triangular_solve(a, b, lower=lower)
    a, b = tf.linalg.matrix_transpose(a), tf.linalg.matrix_transpose(b)
    return tf.linalg.matrix_transpose(tf.linalg.triangular_solve(a, b, lower=not lower))


JAX.rows({
    "cholesky": lambda x, **params: tf.linalg.cholesky(x),
    "lu": lambda x, **params: list(lapack.lu(x)),
}, pulled_back=True)
JAX.rows({
    "lu_pivots_to_permutation": lambda pivots, *, permutation_size: lapack.permutation_of(pivots, permutation_size),
})
