"""Operators of matrices that are given as such: whole, lower triangular; and reflections, given by an axis."""
from __future__ import annotations

from typing import Any

from ....core.errors import InvalidArgumentError, KindError
from ....core.graph import Tensor
from ....core.name_scope import scope
from ....core.op import build
from ....core.shapes import TensorShape
from ...arrays.creation import ones, zeros
from ...math.casts import cast, conj
from ...math.elementwise import abs as modulus
from ...math.norms import norm
from ..decompositions import cholesky
from ..products import matmul
from ..solvers import adjoint as adjoint_of
from . import algebra, support
from .base import LinearOperator
from .support import Hint, holds_always, settled


class LinearOperatorFullMatrix(LinearOperator):
    """Any matrices. matrix: float or complex[..., m, n]. ArgumentError for fewer axes, KindError for integers."""

    def __init__(self, matrix: Any, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
                 is_positive_definite: Hint = None, is_square: Hint = None,
                 name: str = "LinearOperatorFullMatrix") -> None:
        with scope(name, name, [matrix]):
            self._matrix = support.with_rank(matrix, "matrix", 2)
        if not (self._matrix.dtype.is_floating or self._matrix.dtype.is_complex):
            raise KindError(f"Argument matrix must have dtype float or complex.  Found: {self._matrix.dtype}")
        super().__init__(self._matrix.dtype, [self._matrix], is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Tensor:
        return build.Shape(self._matrix)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Any:
        return self._matrix


class LinearOperatorLowerTriangular(LinearOperator):
    """Square matrices with zeros above the diagonal. tril: number[..., n, n]; what it has above is not read."""

    def __init__(self, tril: Any, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
                 is_positive_definite: Hint = None, is_square: Hint = None,
                 name: str = "LinearOperatorLowerTriangular") -> None:
        is_square = settled(is_square, True, "Only square lower triangular operators supported at this time.")
        with scope(name, name, [tril]):
            self._tril = support.with_rank(tril, "tril", 2)
        super().__init__(self._tril.dtype, [self._tril], is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)

    def _shape(self) -> TensorShape:
        return self._tril.shape

    def _shape_tensor(self) -> Tensor:
        return build.Shape(self._tril)

    def _diag_part(self) -> Tensor:
        return build.MatrixDiagPart(self._tril)

    def _to_dense(self) -> Tensor:
        return build.MatrixBandPart(self._tril, -1, 0)

    def _assert_non_singular(self) -> Any:
        return support.assert_no_entries_with_modulus_zero(
            self._diag_part(), message="Singular operator:  Diagonal contained zero values.")

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return support.matrix_triangular_solve_with_broadcast(
            self._to_dense(), adjoint_of(rhs) if adjoint_arg else rhs, lower=True, adjoint=adjoint)

    def _determinant(self) -> Tensor:
        return build.Prod(self._diag_part(), [-1])

    def _log_abs_determinant(self) -> Tensor:
        return build.Sum(build.Log(modulus(self._diag_part())), [-1])


class LinearOperatorHouseholder(LinearOperator):
    """Reflections: I - 2 v v^H, with v the axis brought to length 1. reflection_axis: number[..., n]."""

    def __init__(self, reflection_axis: Any, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
                 is_positive_definite: Hint = None, is_square: Hint = None,
                 name: str = "LinearOperatorHouseholder") -> None:
        with scope(name, name, [reflection_axis]):
            self.reflection_axis = support.with_rank(reflection_axis, "reflection_axis", 1)
        facts = (settled(is_self_adjoint, True, "A Householder operator is always self adjoint."),
                 settled(is_positive_definite, False, "A Householder operator is always non-positive definite."),
                 settled(is_square, True, "A Householder operator is always square."))
        super().__init__(self.reflection_axis.dtype, [self.reflection_axis], is_non_singular, *facts, name=name)

    def _shape(self) -> TensorShape:
        return self.reflection_axis.shape.concatenate(self.reflection_axis.shape[-1:])

    def _shape_tensor(self) -> Tensor:
        sizes = build.Shape(self.reflection_axis)
        return build.ConcatV2(0, sizes, sizes[-1:])

    def _assert_positive_definite(self) -> Any:
        raise InvalidArgumentError("Householder operators are always non-positive definite.")

    _assert_non_singular = _assert_self_adjoint = holds_always

    def _unit(self) -> Tensor:
        return self.reflection_axis / norm(self.reflection_axis, axis=-1, keepdims=True)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x, axis = adjoint_of(x) if adjoint_arg else x, build.ExpandDims(self._unit(), -1)
        return x - 2 * axis * matmul(axis, x, adjoint_a=True)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _determinant(self) -> Tensor:
        return -ones(self.batch_shape_tensor(), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self.dtype)

    def _trace(self) -> Tensor:
        return cast(self.domain_dimension_tensor() - 2, self.dtype) * ones(self.batch_shape_tensor(), self.dtype)

    def _diag_part(self) -> Tensor:
        return 1.0 - 2 * self._unit() * conj(self._unit())


for _function in (algebra.adjoint, algebra.inverse):
    _function.rule(LinearOperatorHouseholder)(lambda a: a)
algebra.cholesky.rule(LinearOperator)(lambda a: LinearOperatorLowerTriangular(
    cholesky(a.to_dense()), is_non_singular=True, is_self_adjoint=False))
