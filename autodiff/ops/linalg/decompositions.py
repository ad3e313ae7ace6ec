"""Factors of the matrices in the last two axes: Cholesky, eigenvectors, singular vectors, QR; the exponential.

The gradients are those of Giles (2008), An extended collection of matrix derivative results, and of
Townsend (2016), Differentiating the singular value decomposition, written for the conjugate of dL/dRe - i dL/dIm.
"""

import numpy as np

from ...core.declare import op
from ...core.dtypes import COMPLEX, float32, float64
from ...core.errors import NoGradientError
from ...core.infer import rank_of, square_matrix
from ...core.op import Spec, build
from ..common.batch_axis import in_front
from ..math.elementwise import conjugate, is_zero

_DTYPES = (float32, float64, *COMPLEX)


def _product(a, b, adj_x=False, adj_y=False):
    return build.BatchMatMulV2(a, b, adj_x=adj_x, adj_y=adj_y)


def last_two_exchanged(x):
    """The order of the axes of `x` in which the last two have changed places."""
    if x.dims is None:
        last = build.Range(0, build.Rank(x), 1)
        return build.ConcatV2(0, last[:-2], last[-1:], last[-2:-1])
    rank = len(x.dims)
    return [*range(rank - 2), rank - 1, rank - 2]


def _adjoint(x):
    order = last_two_exchanged(x)
    return build.Transpose(conjugate(x), order)


def _without(x, lower):
    """The strict lower or upper triangle, and half of the diagonal: what a symmetric matrix has on one side."""
    inside = build.MatrixBandPart(x, -1, 0) if lower else build.MatrixBandPart(x, 0, -1)
    return inside - 0.5 * build.MatrixBandPart(x, 0, 0)


def _inverse_gaps(e):
    """1 / (e_j - e_i) at [i, j], 0 on the diagonal. e: float[..., n] -> float[..., n, n]."""
    one = build.MatrixDiag(build.OnesLike(e))  # keeps 1/0, and the nan of its derivative, off the diagonal
    return build.Reciprocal(build.ExpandDims(e, -2) - build.ExpandDims(e, -1) + one) - one


@op("Cholesky", infer=square_matrix, dtypes=_DTYPES, batched=in_front)
def cholesky(input, *, raises=True):
    """The lower triangle L with L @ adjoint(L) = input; reads the lower triangle only.

    input: float[..., n, n], positive definite -> float[..., n, n]. Raises InvalidArgumentError if it is not; with
    raises=False it gives nan there, as JAX does.
    """
    try:
        return np.linalg.cholesky(input)
    except np.linalg.LinAlgError:
        if not raises:
            return np.stack([cholesky.kernel(x, raises=False) for x in input]) if input.ndim > 2 else input * np.nan
        raise ValueError("Cholesky decomposition was not successful. The input might not be valid: "
                         "expected a positive definite matrix") from None


@cholesky.gradient
def _(node, dl):
    factor = node.outputs[0]
    middle = _without(_product(factor, dl, adj_x=True), lower=True)
    inner = build.MatrixTriangularSolve(factor, middle, adjoint=True)  # L^-H @ middle
    dx = _adjoint(build.MatrixTriangularSolve(factor, _adjoint(inner), adjoint=True))  # ... @ L^-1
    return (0.5 * (dx + _adjoint(dx)),)


def _spectrum(input, *, compute_v=True, raises=True):
    dtype, dims = square_matrix(input)
    values = Spec(dtype, None if dims is None else dims[:-1])
    return values, Spec(dtype, dims if compute_v else (0,))


@op("SelfAdjointEigV2", infer=_spectrum, dtypes=_DTYPES)
def self_adjoint_eig(input, *, compute_v=True, raises=True):
    """Eigenvalues in ascending order and eigenvectors (columns) of a self-adjoint matrix; reads the lower triangle.

    input: float[..., n, n] -> e float[..., n], v float[..., n, n], or float[0] if it is not wanted. What is not finite
    raises LinAlgError, or, with raises=False, gives nan for its whole batch, as JAX does for a matrix.
    """
    if not raises and not np.isfinite(input).all():
        return input[..., 0].real * np.nan, input * np.nan
    if not compute_v:
        return np.linalg.eigvalsh(input).astype(input.dtype), np.zeros(0, input.dtype)
    e, v = np.linalg.eigh(input)
    return e.astype(input.dtype), v


@self_adjoint_eig.gradient
def _(node, de, dv):
    e, v = node.outputs
    middle = build.MatrixDiag(de)
    if not node.attrs["compute_v"]:
        v = build.SelfAdjointEigV2(node.inputs[0])[1]
    elif not is_zero(dv):
        middle = middle + _inverse_gaps(e) * _product(v, dv, adj_x=True)
    dx = _product(v, _product(middle, v, adj_y=True))
    return (_without(dx + _adjoint(dx), lower=True),)


@self_adjoint_eig.batched
def _(node, args, batched):
    e, v = node.definition(args[0], **node.attrs)
    return [e, v if node.attrs["compute_v"] else None]


def _singular(input, *, compute_uv=True, full_matrices=False):
    rank_of(input, at_least=2, what="matrix")
    dtype = input.dtype.base_dtype
    if input.dims is None:
        return (Spec(dtype, None),) * 3
    *batch, m, n = input.dims
    k = None if m is None or n is None else min(m, n)
    if not compute_uv:
        return Spec(dtype, (*batch, k)), Spec(dtype, (0,)), Spec(dtype, (0,))
    return (Spec(dtype, (*batch, k)), Spec(dtype, (*batch, m, m if full_matrices else k)),
            Spec(dtype, (*batch, n, n if full_matrices else k)))


@op("Svd", infer=_singular, dtypes=_DTYPES)
def svd(input, *, compute_uv=True, full_matrices=False):
    """Singular values, largest first, and vectors (columns): input = u @ diag(s) @ adjoint(v).

    input: float[..., m, n] -> s float[..., k], u float[..., m, k], v float[..., n, k] with k = min(m, n); m and n
    columns if full_matrices; u and v are float[0] if they are not wanted.
    """
    if not compute_uv:
        nothing = np.zeros(0, input.dtype)
        return np.linalg.svd(input, compute_uv=False).astype(input.dtype), nothing, nothing
    u, s, vh = np.linalg.svd(input, full_matrices=full_matrices)
    return s.astype(input.dtype), u, np.swapaxes(vh, -1, -2).conj()


@svd.gradient
def _(node, ds, du, dv):
    s, u, v = node.outputs
    x = node.inputs[0]
    if not node.attrs["compute_uv"] or is_zero(du) and is_zero(dv):
        if not node.attrs["compute_uv"] or node.attrs["full_matrices"]:
            _, u, v = build.Svd(x, full_matrices=False)
        return (_product(u, build.ExpandDims(ds, -1) * _adjoint(v)),)
    if node.attrs["full_matrices"] and not _is_square(x) or x.dtype.is_complex:
        raise NoGradientError("the gradient of singular vectors is defined for real matrices, and for full_matrices of "
                              f"square ones, found {x.describe()}")
    gaps = _inverse_gaps(s * s)
    row, column = build.ExpandDims(s, -2), build.ExpandDims(s, -1)
    a, b = _product(u, du, adj_x=True), _product(v, dv, adj_x=True)
    middle = (build.MatrixDiag(ds) + gaps * (a - _adjoint(a)) * row + column * (gaps * (b - _adjoint(b))))
    dx = _product(u, _product(middle, v, adj_y=True))
    outside_u = _product(build.RealDiv(du - _product(u, a), row), v, adj_y=True)
    outside_v = _product(u, build.RealDiv(dv - _product(v, b), row), adj_y=True)
    return (dx + outside_u + outside_v,)


def _is_square(x):
    return x.dims is not None and x.dims[-1] is not None and x.dims[-1] == x.dims[-2]


@svd.batched
def _(node, args, batched):
    s, u, v = node.definition(args[0], **node.attrs)
    return [s, u, v] if node.attrs["compute_uv"] else [s, None, None]


def _orthogonal(input, *, full_matrices=False):
    rank_of(input, at_least=2, what="matrix")
    dtype = input.dtype.base_dtype
    if input.dims is None:
        return Spec(dtype, None), Spec(dtype, None)
    *batch, m, n = input.dims
    k = m if full_matrices else None if m is None or n is None else min(m, n)
    return Spec(dtype, (*batch, m, k)), Spec(dtype, (*batch, k, n))


@op("Qr", infer=_orthogonal, dtypes=_DTYPES, batched=in_front)
def qr(input, *, full_matrices=False):
    """Orthogonal columns and an upper triangle: input = q @ r.

    input: float[..., m, n] -> q float[..., m, k], r float[..., k, n] with k = min(m, n), or m if full_matrices.
    """
    return tuple(np.linalg.qr(input, mode="complete" if full_matrices else "reduced"))


@qr.gradient
def _(node, dq, dr):
    q, r = node.outputs
    x = node.inputs[0]
    m, n = x.dims[-2:] if x.dims is not None else (None, None)
    if m is not None and n is not None and (m < n or m > n and node.attrs["full_matrices"]):
        raise NoGradientError("the gradient of QR is defined for at least as many rows as columns, and for "
                              f"full_matrices of square ones, found {x.describe()}")
    a = _product(q, dq, adj_x=True)
    b = _product(r, dr, adj_y=True)
    middle = build.MatrixBandPart(a - _adjoint(a) + b - _adjoint(b), -1, 0)
    if x.dtype.is_complex:
        middle = middle - 0.5 * build.MatrixBandPart(middle, 0, 0)
    inside = _product(q, dr + _over(middle, r))
    return (inside + _over(dq - _product(q, a), r),)


def _over(x, r):
    """x @ r^-H for an upper triangle r."""
    return _adjoint(build.MatrixTriangularSolve(r, _adjoint(x), lower=False))


_PADE = (64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
         10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0)


@op("MatrixExponential", infer=square_matrix, dtypes=_DTYPES, batched=in_front)
def matrix_exponential(input):
    """The sum of x^k / k! of matrices. input: float[..., n, n] -> float[..., n, n].

    By scaling, a Padé approximant of order 13, and squaring. Source: Higham (2005), The scaling and squaring
    method for the matrix exponential revisited.
    """
    norm = np.abs(input).sum(axis=-2).max(initial=0.0)
    squarings = max(0, int(np.ceil(np.log2(norm / 5.37)))) if np.isfinite(norm) and norm > 0 else 0
    a = input / input.dtype.type(2.0**squarings)
    one = np.eye(a.shape[-1], dtype=a.dtype)
    a2 = a @ a
    a4, c = a2 @ a2, [a.dtype.type(value) for value in _PADE]
    a6 = a4 @ a2
    u = a @ (a6 @ (c[13] * a6 + c[11] * a4 + c[9] * a2) + c[7] * a6 + c[5] * a4 + c[3] * a2 + c[1] * one)
    v = a6 @ (c[12] * a6 + c[10] * a4 + c[8] * a2) + c[6] * a6 + c[4] * a4 + c[2] * a2 + c[0] * one
    y = np.linalg.solve(v - u, v + u)
    for _ in range(squarings):
        y = y @ y
    return y


def derivative_of(function, x, dx):
    """That of a function of matrices at x in the direction dx: the upper right block of it at [[x, dx], [0, x]]."""
    both = build.ConcatV2(-2, build.ConcatV2(-1, x, dx), build.ConcatV2(-1, build.ZerosLike(x), x))
    n = x.dims[-1] if x.dims is not None and x.dims[-1] is not None else build.Shape(x)[-1]
    return function(both)[..., :n, n:]


matrix_exponential.gradient(lambda node, dy: (derivative_of(node.definition, _adjoint(node.inputs[0]), dy),))
