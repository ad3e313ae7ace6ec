"""ATen's linear algebra: solving, factors of matrices, eigenvalues."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...lapack import eig, permutation_of
from ...lapack import lu as plu
from ...model import tf
from .arithmetic import turn
from .common import aten, dims, rank, shape_of, with_gradient
from .types import as_type, no_gradient

_mt = tf.linalg.adjoint


def _unit(x: Any) -> Any:
    """x with ones on its diagonal."""
    return tf.linalg.set_diag(x, tf.ones_like(tf.linalg.diag_part(x)))


def _info(x: Any) -> Any:
    """That all went well, for each matrix."""
    return tf.zeros(shape_of(dims(x)[:-2]), tf.int32)


@aten.op("_linalg_slogdet", "linalg_slogdet", "slogdet")
def slogdet(x: Any) -> Any:
    if x.dtype.is_complex:  # whose sign turns too
        whole = tf.linalg.det(x)
        sign, logarithm = turn(whole), tf.math.log(tf.abs(whole))
    else:
        sign, logarithm = tf.linalg.slogdet(x)
    return sign, logarithm, x, _info(x)


@aten.op("_linalg_solve_ex", "linalg_solve_ex", "linalg_solve")
def solve(a: Any, b: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    is_vector = rank(b) == 1 or rank(b) == rank(a) - 1
    right = tf.expand_dims(b, -1) if is_vector else b
    if not left:
        right = tf.linalg.matrix_transpose(right)
    found = tf.linalg.solve(a if left else tf.linalg.matrix_transpose(a), _like_batch(right, a))
    found = found if left else tf.linalg.matrix_transpose(found)
    found = tf.squeeze(found, axis=[rank(found) - 1]) if is_vector else found
    return found, a, _info(a), _info(a)


def _like_batch(b: Any, a: Any) -> Any:
    """b with the leading axes of a."""
    return b if rank(a) == rank(b) else tf.broadcast_to(b, shape_of([*dims(a)[:-2], *dims(b)[-2:]]))


@aten.op("linalg_solve_triangular")
def solve_triangular(a: Any, b: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    if unitriangular:
        a = _unit(a)
    if left:
        return tf.linalg.triangular_solve(a, _like_batch(b, a), lower=not upper)
    turned = tf.linalg.triangular_solve(tf.linalg.matrix_transpose(a), tf.linalg.matrix_transpose(b), lower=upper)
    return tf.linalg.matrix_transpose(turned)


@aten.op("triangular_solve")
def triangular_solve(b: Any, a: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Any:
    a = tf.linalg.matrix_transpose(a) if transpose else a
    return solve_triangular(a, b, upper=upper != transpose, unitriangular=unitriangular), a


@aten.op("linalg_cholesky_ex", "cholesky", "linalg_cholesky")
def cholesky(x: Any, upper: bool = False, *, check_errors: bool = False) -> Any:
    found = tf.linalg.cholesky(x)
    return _mt(found) if upper else found, _info(x)


@aten.op("_linalg_eigh", "linalg_eigh", note="of one triangle; its slopes go to both, as torch's")
def eigh(x: Any, lower: str = "L", compute_v: bool = True) -> Any:
    half = tf.linalg.band_part(x, -1, 0) if lower == "L" else _mt(tf.linalg.band_part(x, 0, -1))
    values, vectors = tf.linalg.eigh(half)
    return _eigen(x, values, vectors, _mt(vectors), lambda inner: inner)


@aten.op("linalg_eig", "_linalg_eigvals", "linalg_eigvals")
def eig_of(x: Any) -> Any:
    values, vectors = eig(x)

    def across(inner: Any) -> Any:  # vectors have length 1: what points along them does not count
        own = tf.linalg.diag(as_type(tf.real(tf.linalg.diag_part(inner)), vectors.dtype))
        return inner - tf.matmul(tf.matmul(_mt(vectors), vectors), own)
    return _eigen(x, values, vectors, tf.linalg.inv(vectors), across)


def _eigen(x: Any, values: Any, vectors: Any, inverse: Any, free: Any) -> Any:
    """Both with torch's gradient. free: takes out of V^H dV what does not change the vectors."""
    gaps = tf.conj(tf.expand_dims(values, -2) - tf.expand_dims(values, -1))
    gaps = tf.linalg.set_diag(gaps, tf.ones_like(values))

    def back(middle: Any) -> Any:
        return [as_type(tf.matmul(_mt(inverse), tf.matmul(middle, _mt(vectors))), x.dtype.base_dtype)]

    def of_vectors(dv: Any) -> Any:
        middle = free(tf.matmul(_mt(vectors), dv)) / gaps
        return back(tf.linalg.set_diag(middle, tf.zeros_like(values)))
    return (with_gradient(values, [x], lambda dw: back(tf.linalg.diag(dw))), with_gradient(vectors, [x], of_vectors))


@aten.op("_linalg_svd", "linalg_svd")
def svd(x: Any, full_matrices: bool = False, compute_uv: bool = True, *, driver: Any = None) -> Any:
    values, left, right = tf.linalg.svd(x, full_matrices=full_matrices and x.dims[-2] == x.dims[-1])
    if full_matrices and x.dims[-2] != x.dims[-1]:  # those that belong to no value have no gradient
        rest = (no_gradient(v) for v in tf.linalg.svd(x, full_matrices=True)[1:])
        left, right = (tf.concat([v, w[..., v.dims[-1]:]], -1) for v, w in zip((left, right), rest))
    return left, values, _mt(right)


@aten.op("linalg_qr", note="of a wide matrix, the first columns make the orthogonal factor")
def qr(x: Any, mode: str = "reduced") -> Any:
    m, n = x.dims[-2:]
    q, r = tf.linalg.qr(x[..., :m] if m < n else x, full_matrices=mode == "complete")
    return q, tf.concat([r, tf.matmul(_mt(q), x[..., m:])], axis=-1) if m < n else r


@aten.op("ormqr")
def ormqr(x: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    if not left:
        return _mt(ormqr(x, tau, _mt(other), True, not transpose))
    return _reflected(x, tau, other, is_last_first=not transpose, is_adjoint=transpose)


def _reflected(x: Any, tau: Any, y: Any, *, is_last_first: bool, is_adjoint: bool = False) -> Any:
    """What Householder's reflections, in the columns of x below its diagonal, make of the columns of y."""
    columns = _unit(tf.linalg.band_part(x, -1, 0))
    count = tau.dims[-1]
    for i in reversed(range(count)) if is_last_first else range(count):
        v, scale = columns[..., i:i + 1], tau[..., i, None, None]
        y = y - (tf.conj(scale) if is_adjoint else scale) * tf.matmul(v, tf.matmul(v, y, adjoint_a=True))
    return y


@aten.op("linalg_lu_factor_ex", note="packed factors; the pivots carry no gradient")
def lu_factor(x: Any, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """Source of the gradient: Murray (2016), Differentiation of the Cholesky decomposition, LU by the same steps."""
    factors, pivots, order = plu(x)
    k = min(x.dims[-2:])

    def over(dy: Any, upper: Any) -> Any:  # dy times the inverse of the adjoint of an upper triangle
        return _mt(tf.linalg.triangular_solve(upper, _mt(dy), lower=False))

    def back(dy: Any) -> list[Any]:
        lower, upper = _triangles(factors)
        top, left = lower[..., :k, :], upper[..., :k]
        below = over(dy[..., k:, :], left) if x.dims[-2] > k else dy[..., k:, :k]
        beside = tf.linalg.triangular_solve(top, dy[..., k:], adjoint=True) if x.dims[-1] > k else dy[..., :k, k:]
        of_lower = tf.linalg.band_part(dy[..., :k, :k], -1, 0) - tf.matmul(beside, upper[..., k:], adjoint_b=True)
        of_upper = tf.linalg.band_part(dy[..., :k, :k], 0, -1) - tf.matmul(lower[..., k:, :], below, adjoint_a=True)
        inner = tf.linalg.band_part(tf.matmul(_mt(top), of_lower), -1, 0)
        outer = tf.linalg.band_part(tf.matmul(of_upper, _mt(left)), 0, -1)
        middle = tf.linalg.set_diag(inner, tf.zeros_like(tf.linalg.diag_part(inner))) + outer
        square = tf.linalg.triangular_solve(top, over(middle, left), adjoint=True)
        whole = tf.concat([tf.concat([square, beside], -1), tf.concat([below, dy[..., k:, k:]], -1)], -2)
        return [tf.matmul(_permutation(order, x), whole)]
    return with_gradient(factors, [x], back), pivots + 1, _info(x)


def _triangles(factors: Any) -> tuple[Any, Any]:
    """The lower factor, with ones on its diagonal, and the upper one."""
    k = min(factors.dims[-2:])
    return _unit(tf.linalg.band_part(factors[..., :k], -1, 0)), tf.linalg.band_part(factors[..., :k, :], 0, -1)


@aten.op("lu_unpack", note="permutation, lower and upper factor")
def lu_unpack(factors: Any, pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    return _permutation(permutation_of(pivots - 1, factors.dims[-2]), factors), *_triangles(factors)


def _permutation(order: Any, like: Any) -> Any:
    return tf.linalg.matrix_transpose(tf.one_hot(order, order.dims[-1], dtype=like.dtype))


@aten.op("linalg_lstsq", note="of matrices of full rank")
def lstsq(a: Any, b: Any, rcond: Any = None, *, driver: Any = None) -> Any:
    m, n = a.dims[-2:]
    is_vector = rank(b) == rank(a) - 1
    right = tf.expand_dims(b, -1) if is_vector else b
    x = tf.matmul(pinv(a)[0], right)
    left_over = tf.reduce_sum(tf.square(tf.abs(tf.matmul(a, x) - right)), axis=-2)
    full = tf.fill(shape_of(dims(a)[:-2]), np.int64(min(m, n)))
    none = tf.zeros([0], left_over.dtype)
    is_judged = m > n and driver in ("gels", "gelsd", "gelss")
    return (tf.squeeze(x, axis=[-1]) if is_vector else x, left_over if is_judged else none,
            tf.zeros([0], tf.int64) if driver == "gels" else full,
            no_gradient(tf.linalg.svd(a, compute_uv=False)) if driver in ("gelsd", "gelss") else none)


@aten.op("linalg_pinv.atol_rtol_tensor", "linalg_pinv", "pinverse", note="its gradient takes the rank as given")
def pinv(x: Any, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """Source of the gradient: Golub and Pereyra (1973), section 4."""
    rtol = rcond if rtol is None else rtol
    if rtol is not None or atol is not None:
        largest = tf.reduce_max(tf.linalg.svd(x, compute_uv=False), axis=-1)
        least, part = (as_type(0.0 if t is None else t, largest.dtype) for t in (atol, rtol))
        rtol = tf.maximum(least / largest, part)
    y = tf.linalg.pinv(x, rtol)

    def back(dy: Any) -> list[Any]:
        yh, dyh = _mt(y), _mt(dy)
        inner = tf.matmul(tf.matmul(yh, y), dyh)
        outer = tf.matmul(dyh, tf.matmul(y, yh))
        return [outer - tf.matmul(x, tf.matmul(y, outer)) + inner - tf.matmul(tf.matmul(inner, y), x) - tf.matmul(
            yh, tf.matmul(dy, yh))]
    return [with_gradient(y, [x], back)]


def _squared(factor: Any, upper: bool) -> Any:
    """The matrix that has this Cholesky factor."""
    return tf.matmul(factor, factor, adjoint_a=upper, adjoint_b=not upper)


def _product(factors: Any, pivots: Any, adjoint: bool) -> Any:
    swap, lower, upper = lu_unpack(factors, pivots)
    whole = tf.matmul(swap, tf.matmul(lower, upper))
    return _mt(whole) if adjoint else whole


aten.rows({
    "linalg_householder_product": lambda x, tau: _reflected(
        x, tau, tf.eye(*x.dims[-2:], batch_shape=x.dims[:-2], dtype=x.dtype), is_last_first=True),
    "linalg_inv_ex inverse linalg_inv": lambda x, *, check_errors=False: (tf.linalg.inv(x), _info(x)),
    "cholesky_solve": lambda b, factor, upper=False: tf.linalg.solve(_squared(factor, upper), b),
    "cholesky_inverse": lambda factor, upper=False: tf.linalg.inv(_squared(factor, upper)),
    "linalg_lu": lambda x, *, pivot=True: lu_unpack(*lu_factor(x)[:2]),
    "linalg_lu_solve": lambda factors, pivots, b, *, left=True, adjoint=False:
        solve(_product(factors, pivots, adjoint), b, left=left)[0],
    "_linalg_det linalg_det det": lambda x: (tf.linalg.det(x), x, _info(x)),
    "linalg_matrix_exp": lambda x: tf.linalg.expm(x),
    "_linalg_check_errors": lambda info, *_, **__: ()})
