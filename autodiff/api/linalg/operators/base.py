"""A linear operator: a [batch of] matrices known by what they do to vectors, and hints about what holds of them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ....core.convert import convert_to_tensor
from ....core.errors import ArgumentError, KindError
from ....core.graph import Tensor
from ....core.op import build
from ....core.shapes import Dimension
from ...arrays.rearrange import eye
from ...common.made import named
from ...debugging import assert_equal, assert_less, assert_positive
from ...math.casts import cast
from .. import solvers
from ..decompositions import cholesky, svd
from . import algebra, support
from .shaped import NotServedError, Shaped


def _scoped(kind: str, words: str, scope: str = "", *, of_squares: bool = False) -> Any:
    """The method that calls `_kind` in the operator's name scope. of_squares: unless it is known not to be square."""
    def method(self: Any, name: str = scope or kind) -> Any:
        if of_squares and self.is_square is False:
            raise NotServedError("Determinant not implemented for an operator that is expected to not be square.")
        with self._name_scope(name):
            return getattr(self, f"_{kind}")()

    return named(method, kind, words)


class LinearOperator(Shaped):
    """A [batch of] matrices `A` of shape [..., m, n], of which a subclass says how they are applied.

    A subclass defines `_shape`, `_shape_tensor` and `_matmul(x, adjoint, adjoint_arg)`; what it knows better than by
    way of the dense matrix it overrides: `_solve`, `_determinant`, `_log_abs_determinant`, `_to_dense`, `_diag_part`,
    `_trace`, `_add_to_tensor`, `_matvec`, `_solvevec`, `_assert_non_singular` and the like.
    Hints: True or False promise what holds of the matrices; None promises nothing. Raises ArgumentError (ValueError)
    for hints that contradict each other.
    """

    ANSWERS: ClassVar[dict[str, Callable[..., Any]]] = {}  # name of a function of tf.linalg -> the same of operators

    assert_non_singular = _scoped("assert_non_singular", "The operation that fails with InvalidArgumentError if a "
                                  "matrix is singular, up to rounding.")

    def _assert_non_singular(self) -> Any:
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        values = svd(self.to_dense(), compute_uv=False)
        sizes = (cast(size, values.dtype) for size in (self.range_dimension_tensor(), self.domain_dimension_tensor()))
        most = 1.0 / (float(np.finfo(values.dtype.as_numpy_dtype).eps) * build.Maximum(100.0, build.Maximum(*sizes)))
        return assert_less(build.Max(values, [-1]) / build.Min(values, [-1]), most,
                           message="Singular matrix up to precision epsilon.")

    assert_positive_definite = _scoped("assert_positive_definite", "The operation that fails unless x^H A x has a "
                                       "positive real part for each x that is not 0.")

    def _assert_positive_definite(self) -> Any:
        if not self.is_self_adjoint:
            raise NotServedError("assert_positive_definite is not implemented.")
        factor = build.MatrixDiagPart(cholesky(self.to_dense()))
        return assert_positive(build.Real(factor) if factor.dtype.is_complex else factor,
                               message="Matrix was not positive definite.")

    assert_self_adjoint = _scoped("assert_self_adjoint", "The operation that fails unless the matrices equal their "
                                  "transposed conjugates exactly.")

    def _assert_self_adjoint(self) -> Any:
        dense = self.to_dense()
        return assert_equal(dense, solvers.adjoint(dense), message="Matrix was not equal to its adjoint.")

    def _check_input_dtype(self, x: Tensor) -> None:
        if x.dtype.base_dtype != self.dtype:
            raise KindError(f"Expected argument to have dtype {self.dtype}.  Found: {x.dtype} in tensor {x}")

    def _argument(self, x: Any, name: str, axis: int, size: Dimension) -> Tensor:
        """`x` as a tensor of the operator's dtype. Raises ArgumentError if the size of its axis is known not to fit."""
        x = convert_to_tensor(x, name=name)
        self._check_input_dtype(x)
        size.assert_is_compatible_with(None if x.dims is None else x.dims[axis])
        return x

    def _factors(self, x: LinearOperator, adjoint: bool, adjoint_arg: bool, name: str) -> tuple[Any, Any]:
        left, right = self.adjoint() if adjoint else self, x.adjoint() if adjoint_arg else x
        if not left.domain_dimension.is_compatible_with(right.range_dimension):
            raise ArgumentError(f"Operators are incompatible. Expected `{name}` to have dimension "
                                f"{left.domain_dimension} but got {right.range_dimension}.")
        return left, right

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """A @ x, or the operator of it if x is one. x: number[..., n, k] -> number[..., m, k].

        adjoint, adjoint_arg: with the transposed conjugates of A, of x.
        """
        if isinstance(x, LinearOperator):
            left, right = self._factors(x, adjoint, adjoint_arg, "x")
            with self._name_scope(name):
                return algebra.matmul(left, right)
        with self._name_scope(name):
            size = self.range_dimension if adjoint else self.domain_dimension
            return self._matmul(self._argument(x, "x", -1 if adjoint_arg else -2, size), adjoint=adjoint,
                                adjoint_arg=adjoint_arg)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        raise NotServedError("_matmul is not implemented.")

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """A @ x of vectors. x: number[..., n] -> number[..., m]."""
        with self._name_scope(name):
            size = self.range_dimension if adjoint else self.domain_dimension
            return self._matvec(self._argument(x, "x", -1, size), adjoint=adjoint)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return build.Squeeze(self.matmul(build.ExpandDims(x, -1), adjoint=adjoint), squeeze_dims=[-1])

    def _must_solve(self) -> None:
        for hint, word in ((self.is_non_singular, "be singular"), (self.is_square, "not be square")):
            if hint is False:
                raise NotServedError(f"Exact solve not implemented for an operator that is expected to {word}.")

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """x with A @ x = rhs, or the operator of it if rhs is one. rhs: number[..., n, k] -> number[..., n, k].

        Raises NotImplementedError if the hints or the shape say that A has no inverse.
        """
        self._must_solve()
        if isinstance(rhs, LinearOperator):
            left, right = self._factors(rhs, adjoint, adjoint_arg, "rhs")
            with self._name_scope(name):
                return algebra.solve(left, right)
        with self._name_scope(name):
            size = self.domain_dimension if adjoint else self.range_dimension
            return self._solve(self._argument(rhs, "rhs", -1 if adjoint_arg else -2, size), adjoint=adjoint,
                               adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rhs = solvers.adjoint(rhs) if adjoint_arg else rhs
        if self._can_use_cholesky():
            return support.cholesky_solve_with_broadcast(cholesky(self.to_dense()), rhs)
        return support.matrix_solve_with_broadcast(self.to_dense(), rhs, adjoint=adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Tensor:
        """The same for vectors. rhs: number[..., n] -> number[..., n]."""
        with self._name_scope(name):
            size = self.domain_dimension if adjoint else self.range_dimension
            return self._solvevec(self._argument(rhs, "rhs", -1, size), adjoint=adjoint)

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        return build.Squeeze(self.solve(build.ExpandDims(rhs, -1), adjoint=adjoint), squeeze_dims=[-1])

    def adjoint(self, name: str = "adjoint") -> Any:
        """The operator of the transposed conjugates; itself if it is self-adjoint."""
        if self.is_self_adjoint is True:
            return self
        with self._name_scope(name):
            return algebra.adjoint(self)

    H = property(adjoint, None)

    def inverse(self, name: str = "inverse") -> Any:
        """The operator of the inverses. Raises ArgumentError if it is known to have none."""
        for hint, word in ((self.is_square, "non square"), (self.is_non_singular, "singular")):
            if hint is False:
                raise ArgumentError(f"Cannot take the Inverse: This operator represents a {word} matrix.")
        with self._name_scope(name):
            return algebra.inverse(self)

    def cholesky(self, name: str = "cholesky") -> Any:
        """The operator of the lower triangular L with A = L L^H. Raises ArgumentError without the hints for it."""
        if not self._can_use_cholesky():
            raise ArgumentError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        with self._name_scope(name):
            return algebra.cholesky(self)

    def _can_use_cholesky(self) -> Any:
        return self.is_self_adjoint and self.is_positive_definite

    determinant = _scoped("determinant", "number[...], for each matrix of the batch. Raises NotImplementedError if "
                          "they are not square.", "det", of_squares=True)

    def _determinant(self) -> Tensor:
        if self._can_use_cholesky():
            return build.Exp(self.log_abs_determinant())
        return build.MatrixDeterminant(self.to_dense())

    log_abs_determinant = _scoped("log_abs_determinant", "The logarithm of the determinant's modulus.", "log_abs_det",
                                  of_squares=True)

    def _log_abs_determinant(self) -> Tensor:
        if self._can_use_cholesky():
            return 2 * build.Sum(build.Log(build.MatrixDiagPart(cholesky(self.to_dense()))), [-1])
        return solvers.log_matrix_determinant(self.to_dense()).log_abs_determinant

    to_dense = _scoped("to_dense", "The matrices themselves. -> number[..., m, n].")

    def _to_dense(self) -> Tensor:
        batch: Any = self.batch_shape.as_list() if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        size = self.domain_dimension.value
        return self.matmul(eye(self.domain_dimension_tensor() if size is None else size, batch_shape=batch,
                               dtype=self.dtype))

    diag_part = _scoped("diag_part", "The diagonals. -> number[..., min(m, n)].")

    def _diag_part(self) -> Tensor:
        return build.MatrixDiagPart(self.to_dense())

    trace = _scoped("trace", "The sums of the diagonals. -> number[...].")

    def _trace(self) -> Tensor:
        return build.Sum(self.diag_part(), [-1])

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Tensor:
        """A + x. x: number[..., m, n]."""
        with self._name_scope(name):
            x = convert_to_tensor(x, name="x")
            self._check_input_dtype(x)
            return self._add_to_tensor(x)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return self.to_dense() + x


def _inverse(input: LinearOperator, adjoint: bool = False, name: str | None = None) -> Any:
    inverse = input.inverse(name or "inverse")
    return inverse.adjoint() if adjoint else inverse


def _logdet(matrix: LinearOperator, name: str | None = None) -> Tensor:
    if not matrix._can_use_cholesky():
        raise ArgumentError("Expected matrix to be self-adjoint positive definite.")
    return matrix.log_abs_determinant(name or "log_abs_det")


def _matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
            adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False,
            name: str | None = None) -> Any:
    if transpose_a or transpose_b:
        raise ArgumentError("Transposing not supported at this time.")
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b, name=name or "matmul")
    # a b = (b^H a^H)^H
    return solvers.adjoint(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a, name=name or "matmul"))


def _solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    if not isinstance(matrix, LinearOperator):
        raise ArgumentError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.")
    return matrix.solve(rhs, adjoint=adjoint, name=name or "solve")


LinearOperator.ANSWERS.update(
    adjoint=lambda matrix, name=None: matrix.adjoint(name or "adjoint"),
    cholesky=lambda input, name=None: input.cholesky(name or "cholesky"),
    matrix_diag_part=lambda input, name="diag_part", k=0, padding_value=0: input.diag_part(name or "diag_part"),
    matrix_determinant=lambda input, name=None: input.determinant(name or "det"),
    matrix_inverse=_inverse, logdet=_logdet, matmul=_matmul, matrix_solve=_solve,
    trace=lambda x, name=None: x.trace(name or "trace"))
