"""Linear systems, inverses and determinants of matrices in the last two axes."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ..arrays.rearrange import matrix_transpose
from .decompositions import svd

__all__ = ["LogMatrixDeterminant", "adjoint", "cholesky_solve", "det", "inv", "log_matrix_determinant", "logdet",
           "lstsq", "matrix_determinant", "matrix_inverse", "matrix_rank", "matrix_solve", "matrix_solve_ls",
           "matrix_triangular_solve", "pinv", "slogdet", "solve", "trace", "triangular_solve"]


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """x with A @ x = rhs, from the Cholesky factor of A. chol: float[..., n, n], rhs: float[..., n, k]."""
    with scope(name, "cholesky_solve", [chol, rhs]):
        y = build.MatrixTriangularSolve(chol, rhs, adjoint=False, lower=True)
        return build.MatrixTriangularSolve(chol, y, adjoint=True, lower=True)


def matrix_inverse(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverse, or that of the adjoint. input: float[..., n, n]. Singular: InvalidArgumentError when it runs."""
    return build.MatrixInverse(input, adjoint=adjoint, name=name)


def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """x with matrix @ x = rhs, or with the adjoint of the matrix. matrix: float[..., n, n], rhs: float[..., n, k]."""
    return build.MatrixSolve(matrix, rhs, adjoint=adjoint, name=name)


def matrix_triangular_solve(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False,
                            name: str | None = None) -> Tensor:
    """x with triangle @ x = rhs, or with its adjoint; only one triangle of the matrix is read."""
    return build.MatrixTriangularSolve(matrix, rhs, lower=lower, adjoint=adjoint, name=name)


def matrix_determinant(input: Any, name: str | None = None) -> Tensor:
    """The determinant. input: float[..., n, n] -> float[...]."""
    return build.MatrixDeterminant(input, name=name)


class LogMatrixDeterminant(NamedTuple):
    """The result of slogdet. determinant = sign * exp(log_abs_determinant)."""

    sign: Tensor
    log_abs_determinant: Tensor


def log_matrix_determinant(input: Any, name: str | None = None) -> LogMatrixDeterminant:
    """Sign of the determinant and logarithm of its absolute value. input: float[..., n, n] -> float[...] twice."""
    return LogMatrixDeterminant(*build.LogMatrixDeterminant(input, name=name))


def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of a positive definite matrix. matrix: float[..., n, n] -> float[...]."""
    with scope(name, "logdet", [matrix]):
        diagonal = build.MatrixDiagPart(build.Cholesky(matrix))
        return 2.0 * build.Sum(build.Log(build.Real(diagonal) if diagonal.dtype.is_complex else diagonal), [-1])


def matrix_solve_ls(matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True,
                    name: str | None = None) -> Tensor:
    """x that minimizes |matrix @ x - rhs|^2 + l2_regularizer |x|^2; of least norm if there are several.

    matrix: float[..., m, n], rhs: float[..., m, k] -> float[..., n, k]. Sizes of the matrix must be known.
    fast: by the normal equations; else by singular values, which also serves matrices of deficient rank.
    """
    with scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        matrix = convert_to_tensor(matrix, name="matrix")
        rhs = convert_to_tensor(rhs, name="rhs", dtype=matrix.dtype.base_dtype)
        if not fast:
            return build.BatchMatMulV2(pinv(matrix), rhs)
        rows, columns = (build.Shape(matrix)[-2], build.Shape(matrix)[-1]) if matrix.dims is None else matrix.dims[-2:]
        over = rows >= columns if isinstance(rows, int) and isinstance(columns, int) else True
        gram = build.BatchMatMulV2(matrix, matrix, adj_x=over, adj_y=not over)
        ridge = convert_to_tensor(l2_regularizer, dtype=matrix.dtype.base_dtype)
        factor = build.Cholesky(gram + ridge * build.MatrixDiag(build.OnesLike(build.MatrixDiagPart(gram))))
        if over:
            return cholesky_solve(factor, build.BatchMatMulV2(matrix, rhs, adj_x=True))
        return build.BatchMatMulV2(matrix, cholesky_solve(factor, rhs), adj_x=True)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The Moore-Penrose inverse. a: float[..., m, n] -> float[..., n, m].

    rcond: singular values below this part of the largest count as 0; 10 * max(m, n) * epsilon if None.
    """
    with scope(name, "pinv", [a]):
        a = convert_to_tensor(a, name="a")
        s, u, v = svd(a)
        if rcond is None:
            rcond = 10.0 * max(d or 1 for d in (a.dims or (1, 1))[-2:]) * np.finfo(s.dtype.as_numpy_dtype).eps
        large = build.Greater(s, rcond * build.Max(s, [-1], keep_dims=True))
        inverse = build.Select(large, build.Reciprocal(build.Select(large, s, build.OnesLike(s))), build.ZerosLike(s))
        return build.BatchMatMulV2(v * build.ExpandDims(inverse, -2), u, adj_y=True)


def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """How many singular values are above `tol`. a: float[..., m, n] -> int32[...]."""
    with scope(name, "matrix_rank", [a]):
        a = convert_to_tensor(a, name="a")
        s = svd(a, compute_uv=False)
        if tol is None:
            size = max(d or 1 for d in (a.dims or (1, 1))[-2:])
            tol = float(np.finfo(s.dtype.as_numpy_dtype).eps) * size * build.Max(s, [-1], keep_dims=True)
        return build.Sum(build.Cast(build.Greater(s, tol), dtype=int32), [-1])


def trace(x: Any, name: str | None = None) -> Tensor:
    """The sum of the diagonal. x: number[..., m, n] -> number[...]."""
    with scope(name, "Trace", [x]) as full:
        return build.Sum(build.MatrixDiagPart(convert_to_tensor(x, name="x")), [-1], name=full)


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """Transposed and conjugated. matrix: number[..., m, n] -> number[..., n, m]."""
    return matrix_transpose(matrix, name=name or "adjoint", conjugate=True)


# as tf.linalg names them
inv, det, slogdet = matrix_inverse, matrix_determinant, log_matrix_determinant
solve, triangular_solve, lstsq = matrix_solve, matrix_triangular_solve, matrix_solve_ls
