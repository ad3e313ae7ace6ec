"""Linear systems, inverses and determinants of the matrices in the last two axes."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import COMPLEX, float32, float64
from ...core.errors import ShapeError
from ...core.infer import rank_of, square_matrix
from ...core.op import Spec, build
from ...core.shapes import compatible, merge, show
from ..common.batch_axis import in_front

_DTYPES = (float32, float64, *COMPLEX)


def _solution(matrix, rhs, **_):
    dims = square_matrix(matrix).dims
    rank_of(rhs, at_least=2, what="rhs")
    if dims is None or rhs.dims is None:
        return Spec(matrix.dtype.base_dtype, rhs.dims)
    if not compatible(dims[:-1], rhs.dims[:-1]):
        raise ShapeError(f"rows of the matrix and of the right side differ: {show(dims)} and {show(rhs.dims)}")
    return Spec(matrix.dtype.base_dtype, (*merge(dims[:-1], rhs.dims[:-1]), rhs.dims[-1]))


def _adjoint(x):
    return np.swapaxes(x, -1, -2).conj()


@op("MatrixInverse", infer=square_matrix, dtypes=_DTYPES, batched=in_front)
def matrix_inverse(input, *, adjoint=False):
    """The inverse, or that of the adjoint. input: float[..., n, n] -> float[..., n, n].

    Raises InvalidArgumentError for a singular matrix.
    """
    return _regular(np.linalg.inv, _adjoint(input) if adjoint else input, what="Input")


def _regular(function, *arrays, what="Input matrix"):
    try:
        return function(*arrays)
    except np.linalg.LinAlgError:
        raise ValueError(f"{what} is not invertible. Expected a matrix of full rank") from None


@matrix_inverse.gradient
def _(node, dy):
    y = node.outputs[0]
    if node.attrs["adjoint"]:
        return (-build.BatchMatMulV2(y, build.BatchMatMulV2(dy, y, adj_x=True)),)
    return (-build.BatchMatMulV2(y, build.BatchMatMulV2(dy, y, adj_y=True), adj_x=True),)


@op("MatrixSolve", infer=_solution, dtypes=_DTYPES, batched=in_front)
def matrix_solve(matrix, rhs, *, adjoint=False):
    """x with matrix @ x = rhs, or with the adjoint of the matrix. matrix: float[..., n, n], rhs: float[..., n, k].

    Raises InvalidArgumentError for a singular matrix.
    """
    return _regular(np.linalg.solve, _adjoint(matrix) if adjoint else matrix, rhs)


@matrix_solve.gradient
def _(node, dy):
    adjoint = node.attrs["adjoint"]
    drhs = build.MatrixSolve(node.inputs[0], dy, adjoint=not adjoint)
    return _for_matrix(node, drhs), drhs


def _for_matrix(node, drhs):
    x = node.outputs[0]
    left, right = (x, drhs) if node.attrs["adjoint"] else (drhs, x)
    return -build.BatchMatMulV2(left, right, adj_y=True)


@op("MatrixTriangularSolve", infer=_solution, dtypes=_DTYPES, batched=in_front)
def matrix_triangular_solve(matrix, rhs, *, lower=True, adjoint=False):
    """x with triangle @ x = rhs, or with its adjoint; only the lower (or upper) triangle of the matrix is read.

    matrix: float[..., n, n], rhs: float[..., n, k] -> float[..., n, k]. Raises InvalidArgumentError for a zero
    on the diagonal.
    """
    triangle = np.tril(matrix) if lower else np.triu(matrix)
    return _regular(np.linalg.solve, _adjoint(triangle) if adjoint else triangle, rhs)


@matrix_triangular_solve.gradient
def _(node, dy):
    lower, adjoint = node.attrs["lower"], node.attrs["adjoint"]
    drhs = build.MatrixTriangularSolve(node.inputs[0], dy, lower=lower, adjoint=not adjoint)
    kept = (-1, 0) if lower else (0, -1)
    return build.MatrixBandPart(_for_matrix(node, drhs), *kept), drhs


def _number(input):
    dims = square_matrix(input).dims
    return Spec(input.dtype.base_dtype, None if dims is None else dims[:-2])


@op("MatrixDeterminant", infer=_number, dtypes=_DTYPES, batched=in_front)
def matrix_determinant(input):
    """The determinant. input: float[..., n, n] -> float[...]."""
    return np.asarray(np.linalg.det(input))


@matrix_determinant.gradient
def _(node, dy):
    y = node.outputs[0]
    return (_as_matrices(dy * (build.Conj(y) if y.dtype.is_complex else y)) *
            build.MatrixInverse(node.inputs[0], adjoint=True),)


def _as_matrices(x):
    return build.ExpandDims(build.ExpandDims(x, -1), -1)


@op("LogMatrixDeterminant", infer=lambda input: (_number(input),) * 2, dtypes=_DTYPES, batched=in_front)
def log_matrix_determinant(input):
    """Sign of the determinant and logarithm of its absolute value. input: float[..., n, n] -> float[...] twice."""
    sign, logarithm = np.linalg.slogdet(input)
    return np.asarray(sign, input.dtype), np.asarray(logarithm, input.dtype)


@log_matrix_determinant.gradient
def _(node, dsign, dlogarithm):
    return (_as_matrices(dlogarithm) * build.MatrixInverse(node.inputs[0], adjoint=True),)
