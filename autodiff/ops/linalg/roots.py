"""Square roots, logarithms and LU factors of the matrices in the last two axes."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import COMPLEX, as_dtype, float32, float64, int32
from ...core.infer import square_matrix
from ...core.op import Spec, build
from ..common.batch_axis import in_front
from .decompositions import derivative_of, last_two_exchanged

_DTYPES = (float32, float64, *COMPLEX)
_WELL = 1e6  # condition of the eigenvectors up to which they give the root
_STEPS = 60


def _adjoint(x):
    return build.ConjugateTranspose(x, last_two_exchanged(x))


def _of_each(function, input, wide):
    """A function of one matrix, computed in the type `wide`, of each of them."""
    flat = input.reshape(int(np.prod(input.shape[:-2])), *input.shape[-2:]).astype(wide)[:input.size]
    return np.array([function(a) for a in flat], wide).reshape(input.shape).astype(input.dtype, copy=False)


# ---- square root ----------------------------------------------------------------------------

def _by_iteration(a):
    """Denman and Beavers' iteration in product form, scaled; Higham (2008), Functions of Matrices, (6.29)."""
    n = len(a)
    m, x, one = a, a, np.eye(n, dtype=a.dtype)
    for _ in range(_STEPS):
        inverse = np.linalg.inv(m)
        scale = np.exp(-np.linalg.slogdet(m)[1] / (2 * n)) if np.linalg.norm(m - one) > 0.01 else 1.0
        square = scale * scale
        x = 0.5 * scale * (x @ (one + inverse / square))
        m = 0.5 * (one + 0.5 * (square * m + inverse / square))
        if np.linalg.norm(m - one) <= n * np.finfo(a.dtype).eps:
            break
    return x


def _root(a):
    """The principal root of one matrix; nan where it has none (of its own type)."""
    if not np.isfinite(a).all():
        return np.full_like(a, np.nan)
    e, v = np.linalg.eigh(a) if np.array_equal(a, a.conj().T) else np.linalg.eig(a)
    if a.dtype.kind == "f" and np.any((e.real < 0) & (np.abs(e.imag) <= 1e-14 * np.abs(e.real))):
        return np.full_like(a, np.nan)
    if np.linalg.cond(v) < _WELL:
        y = v * np.sqrt(e.astype(np.complex128)) @ np.linalg.inv(v)
        return y if a.dtype.kind == "c" else y.real
    try:
        return _by_iteration(a)
    except np.linalg.LinAlgError:  # singular, with too few eigenvectors
        return np.full_like(a, np.nan)


@op("MatrixSquareRoot", infer=square_matrix, dtypes=_DTYPES, batched=in_front)
def matrix_square_root(input):
    """The principal root y of each matrix, y @ y = input. input: float[..., n, n] -> float[..., n, n].

    nan for a matrix without one, such as a real one with a negative eigenvalue.
    """
    return _of_each(_root, input, np.complex128 if input.dtype.kind == "c" else np.float64)


matrix_square_root.gradient(lambda node, dy: (build.Sylvester(_adjoint(node.outputs[0]), dy),))


def _solved(r, c):
    """x of one r @ x + x @ r = c: over the eigenvectors of r if they are safe, else for all elements at once."""
    e, v = np.linalg.eig(r)
    if np.linalg.cond(v) < _WELL:
        x = v @ (np.linalg.solve(v, c @ v) / (e[:, None] + e)) @ np.linalg.inv(v)
    else:
        one = np.eye(len(r))
        x = np.linalg.solve(np.kron(r, one) + np.kron(one, r.T), c.reshape(-1)).reshape(c.shape)
    return x if c.dtype.kind == "c" else x.real


@op("Sylvester", infer=lambda r, c: Spec(c.dtype.base_dtype, square_matrix(c).dims), dtypes=_DTYPES, batched=in_front)
def sylvester(r, c):
    """x with r @ x + x @ r = c. r, c: float[..., n, n] of one shape -> float[..., n, n]."""
    count = int(np.prod(r.shape[:-2]))
    matrices = zip(r.reshape(count, *r.shape[-2:]), c.reshape(count, *c.shape[-2:]))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.array([_solved(*pair) for pair in matrices], c.dtype).reshape(c.shape)


@sylvester.gradient
def _(node, dx):
    dc = build.Sylvester(_adjoint(node.inputs[0]), dx)
    x = _adjoint(node.outputs[0])
    return -(build.BatchMatMulV2(dc, x) + build.BatchMatMulV2(x, dc)), dc


# ---- logarithm ------------------------------------------------------------------------------

def _log(a):
    """The principal logarithm of one matrix: by its eigenvectors if they are safe, else near the identity, of roots.

    There it is Gauss and Legendre's sum for the integral of X (I + tX)^-1. Higham (2008), Functions of Matrices, 11.
    """
    e, v = np.linalg.eig(a)
    if np.linalg.cond(v) < _WELL:
        return v * np.log(e) @ np.linalg.inv(v)
    one, factor = np.eye(len(a)), 1.0
    while np.linalg.norm(a - one, 1) > 0.25 and factor < 2.0 ** _STEPS:
        a, factor = _root(a), 2 * factor
    at, weights = np.polynomial.legendre.leggauss(8)
    x = a - one
    return factor * sum(w / 2 * np.linalg.solve(one + (t + 1) / 2 * x, x) for t, w in zip(at, weights))


@op("MatrixLogarithm", infer=square_matrix, dtypes=COMPLEX, batched=in_front)
def matrix_logarithm(input):
    """The principal logarithm y of each matrix, e^y = input. input: complex[..., n, n] -> complex[..., n, n]."""
    return _of_each(_log, input, np.complex128)


matrix_logarithm.gradient(lambda node, dy: (derivative_of(node.definition, _adjoint(node.inputs[0]), dy),))


# ---- LU -------------------------------------------------------------------------------------

def _factors(input, *, output_idx_type=int32):
    dtype, dims = square_matrix(input)
    return Spec(dtype, dims), Spec(as_dtype(output_idx_type), None if dims is None else dims[:-1])


@op("Lu", infer=_factors, dtypes=_DTYPES, batched=in_front,
    no_rule="TensorFlow 1.15 has none for LU factors; use matrix_solve or cholesky")
def lu(input, *, output_idx_type=int32):
    """Both triangles of each matrix with its rows exchanged, in one: L below a diagonal of ones, U from it on.

    input: float[..., n, n] -> lu float[..., n, n], p int[..., n] with L @ U = input[p]. Raises
    InvalidArgumentError for a singular matrix.
    """
    *batch, n, _ = input.shape
    y = input.reshape(int(np.prod(batch)), n, n).copy()
    p = np.tile(np.arange(n), (len(y), 1))
    every = np.arange(len(y))
    for k in range(n):
        pivot = k + np.argmax(np.abs(y[:, k:, k]), axis=1)
        for moved in (y, p):
            moved[every, k], moved[every, pivot] = moved[every, pivot], moved[every, k].copy()
        if not np.all(y[:, k, k]):
            raise ValueError("Input is not invertible: expected a matrix that has LU factors with no 0 on the diagonal")
        y[:, k + 1:, k] /= y[:, k, k][:, None]
        y[:, k + 1:, k + 1:] -= y[:, k + 1:, k, None] * y[:, k, None, k + 1:]
    return y.reshape(input.shape), p.reshape(*batch, n).astype(as_dtype(output_idx_type).as_numpy_dtype)
