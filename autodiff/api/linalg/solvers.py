"""Linear systems, inverses and determinants of matrices in the last two axes."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ...core.errors import ArgumentError, ShapeError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ..arrays.rearrange import matrix_transpose
from ..common.arguments import or_answered
from .decompositions import svd

__all__ = ["LogMatrixDeterminant", "adjoint", "cholesky_solve", "det", "inv", "log_matrix_determinant", "logdet",
           "lstsq", "matrix_determinant", "matrix_inverse", "matrix_rank", "matrix_solve", "matrix_solve_ls",
           "matrix_triangular_solve", "pinv", "slogdet", "solve", "trace", "triangular_solve", "tridiagonal_matmul",
           "tridiagonal_solve"]


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """x with A @ x = rhs, from the Cholesky factor of A. chol: float[..., n, n], rhs: float[..., n, k]."""
    with scope(name, "cholesky_solve", [chol, rhs]):
        y = build.MatrixTriangularSolve(chol, rhs, adjoint=False, lower=True)
        return build.MatrixTriangularSolve(chol, y, adjoint=True, lower=True)


@or_answered
def matrix_inverse(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverse, or that of the adjoint. input: float[..., n, n]. Singular: InvalidArgumentError when it runs."""
    return build.MatrixInverse(input, adjoint=adjoint, name=name)


@or_answered
def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """x with matrix @ x = rhs, or with the adjoint of the matrix. matrix: float[..., n, n], rhs: float[..., n, k]."""
    return build.MatrixSolve(matrix, rhs, adjoint=adjoint, name=name)


def matrix_triangular_solve(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False,
                            name: str | None = None) -> Tensor:
    """x with triangle @ x = rhs, or with its adjoint; only one triangle of the matrix is read."""
    return build.MatrixTriangularSolve(matrix, rhs, lower=lower, adjoint=adjoint, name=name)


@or_answered
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


@or_answered
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
        large = build.Greater(s, build.ExpandDims(rcond * build.Max(s, [-1]), -1))
        inverse = build.Select(large, build.Reciprocal(build.Select(large, s, build.OnesLike(s))), build.ZerosLike(s))
        inverse = build.Cast(inverse, dtype=v.dtype) if v.dtype.is_complex else inverse
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


@or_answered
def trace(x: Any, name: str | None = None) -> Tensor:
    """The sum of the diagonal. x: number[..., m, n] -> number[...]."""
    with scope(name, "Trace", [x]) as full:
        return build.Sum(build.MatrixDiagPart(convert_to_tensor(x, name="x")), [-1], name=full)


@or_answered
def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """Transposed and conjugated. matrix: number[..., m, n] -> number[..., n, m]."""
    return matrix_transpose(matrix, name=name or "adjoint", conjugate=True)


# as tf.linalg names them
inv, det, slogdet = matrix_inverse, matrix_determinant, log_matrix_determinant
solve, triangular_solve, lstsq = matrix_solve, matrix_triangular_solve, matrix_solve_ls


def _three(diagonals: Any, form: str) -> list[Tensor]:
    """The diagonals above, on and below the middle, each as long as that: float[..., m]."""
    if form == "sequence":
        if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
            raise ArgumentError("Expected diagonals to be a sequence of length 3.")
        above, middle, below = map(convert_to_tensor, diagonals)
        for one in (above, below):
            if not one.shape[:-1].is_compatible_with(middle.shape[:-1]):
                raise ShapeError("Tensors representing the three diagonals must have the same shape,except for the "
                                 f"last dimension, got {below.shape}, {middle.shape}, {above.shape}")
        return [_as_long(above, middle, (0, 1)), middle, _as_long(below, middle, (1, 0))]
    if form == "compact":
        whole = convert_to_tensor(diagonals)
        if len(whole.shape) < 2:
            raise ShapeError(f"Expected diagonals to have rank at least 2, got {len(whole.shape)}")
        if whole.shape[-2].value not in (3, None):
            raise ShapeError(f"Expected 3 diagonals got {whole.shape[-2]}")
        return [whole[..., i, :] for i in range(3)]
    if form != "matrix":
        raise ArgumentError(f"Unrecognized diagonals_format: {form}")
    matrix = convert_to_tensor(diagonals)
    m, n = (size.value for size in matrix.shape[-2:])
    if None not in (m, n) and m != n:
        raise ShapeError(f"Expected last two dimensions of diagonals to be same, got {n} and {m}")
    if m is None and n is None:
        raise ShapeError('The size of the matrix needs to be known for diagonals_format="matrix"')
    middle = build.MatrixDiagPart(matrix)
    above, below = build.MatrixDiagPart(matrix[..., :-1, 1:]), build.MatrixDiagPart(matrix[..., 1:, :-1])
    return [_as_long(above, middle, (0, 1)), middle, _as_long(below, middle, (1, 0))]


def _as_long(one: Tensor, middle: Tensor, padding: tuple[int, int]) -> Tensor:
    n, m = one.shape[-1].value, middle.shape[-1].value
    if n is None or n == m:
        return one
    if n + 1 != m:
        raise ShapeError(f"Expected {'super' if padding[1] else 'sub'}diagonal to be have length {m} or {m - 1}, got "
                         f"{n}.")
    return build.Pad(one, [*[(0, 0)] * (len(one.shape) - 1), padding])


def tridiagonal_solve(diagonals: Any, rhs: Any, diagonals_format: str = "compact", transpose_rhs: bool = False,
                      conjugate_rhs: bool = False, name: str | None = None, partial_pivoting: bool = True) -> Tensor:
    """x with A @ x = rhs for a matrix of three diagonals. rhs: float[..., m] or float[..., m, k].

    diagonals: float[..., 3, m] (compact: above, on, below the middle), a sequence of the three, or a matrix.
    """
    with scope(name, "tridiagonal_solve"):
        whole = build.Pack(*_three(diagonals, diagonals_format), axis=-2)
        side = convert_to_tensor(rhs)
        rank = len(whole.shape)
        if len(side.shape) not in (rank, rank - 1):
            raise ShapeError(f"Expected the rank of rhs to be {rank - 1} or {rank}, got {len(side.shape)}")
        is_vector = len(side.shape) == rank - 1
        if not whole.shape[:-2].is_compatible_with(side.shape[:rank - 2]):
            raise ShapeError(f"Batch shapes {whole.shape[:-2]} and {side.shape[:rank - 2]} are incompatible")
        side = build.Conj(side) if conjugate_rhs else side
        side = build.ExpandDims(side, -1) if is_vector else matrix_transpose(side) if transpose_rhs else side
        if not whole.shape[-1].is_compatible_with(side.shape[-2]):
            raise ShapeError("Expected number of left-hand sided and right-hand sides to be equal, got "
                             f"{whole.shape[-1]} and {side.shape[-2]}")
        x = build.TridiagonalSolve(whole, side, partial_pivoting=partial_pivoting)
        return build.Squeeze(x, squeeze_dims=(-1,)) if is_vector else matrix_transpose(x) if transpose_rhs else x


def tridiagonal_matmul(diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None) -> Tensor:
    """The product of a matrix of three diagonals, given as to tridiagonal_solve, and float[..., m, n]."""
    with scope(name, "tridiagonal_matmul"):
        above, middle, below = (build.ExpandDims(one, -1) for one in _three(diagonals, diagonals_format))
        x = convert_to_tensor(rhs)
        zero = build.ZerosLike(x[..., :1, :])
        return (above * build.ConcatV2(-2, x[..., 1:, :], zero) + middle * x +
                below * build.ConcatV2(-2, zero, x[..., :-1, :]))
