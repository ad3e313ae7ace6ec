"""Operators that multiply each element: what they share, and those of a diagonal."""
from __future__ import annotations

from typing import Any

from ....core.graph import Tensor
from ....core.name_scope import scope
from ....core.op import build
from ....core.shapes import TensorShape
from ...debugging import assert_positive
from ...math.casts import cast, conj, real
from ...math.elementwise import abs as modulus
from ..solvers import adjoint as adjoint_of
from . import algebra, support
from .base import LinearOperator
from .support import Hint, Hints, assert_no_entries_with_modulus_zero, assert_zero_imag_part, hints_of, settled

FACTOR: Hints = {"is_non_singular": True, "is_self_adjoint": True, "is_positive_definite": True}
REAL = "A real diagonal operator is always self adjoint."


class Diagonal(LinearOperator):
    """What multiplies each element. A subclass says by what: `_term`, which broadcasts to the diagonals."""

    def _term(self) -> Any:
        raise NotImplementedError

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return build.MatrixSetDiag(x, self._term() + build.MatrixDiagPart(x))


class LinearOperatorDiag(Diagonal):
    """Diagonal matrices. diag: number[..., n]. Raises ArgumentError for a scalar."""

    def __init__(self, diag: Any, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
                 is_positive_definite: Hint = None, is_square: Hint = None,
                 name: str = "LinearOperatorDiag") -> None:
        with scope(name, name, [diag]):
            self.diag = support.with_rank(diag, "diag", 1)
        if not self.diag.dtype.is_complex:
            is_self_adjoint = settled(is_self_adjoint, True, REAL)
        is_square = settled(is_square, True, "Only square diagonal operators currently supported.")
        super().__init__(self.diag.dtype, [self.diag], is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)

    def _term(self, adjoint: bool = False) -> Any:
        return conj(self.diag) if adjoint else self.diag

    def _shape(self) -> TensorShape:
        return self.diag.shape.concatenate(self.diag.shape[-1:])

    def _shape_tensor(self) -> Tensor:
        sizes = build.Shape(self.diag)
        return build.ConcatV2(0, sizes, sizes[-1:])

    def _assert_non_singular(self) -> Any:
        return assert_no_entries_with_modulus_zero(
            self.diag, message="Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self) -> Any:
        return assert_positive(real(self.diag), message=(
            "Diagonal operator had diagonal entries with non-positive real part, thus was not positive definite."
            if self.dtype.is_complex else
            "Real diagonal operator had non-positive diagonal entries, thus was not positive definite."))

    def _assert_self_adjoint(self) -> Any:
        return assert_zero_imag_part(self.diag, message=(
            "This diagonal operator contained non-zero imaginary values.   Thus it was not self-adjoint."))

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return build.ExpandDims(self._term(adjoint), -1) * (adjoint_of(x) if adjoint_arg else x)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return self._term(adjoint) * x

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return (adjoint_of(rhs) if adjoint_arg else rhs) * build.ExpandDims(1.0 / self._term(adjoint), -1)

    def _determinant(self) -> Tensor:
        return build.Prod(self.diag, [-1])

    def _log_abs_determinant(self) -> Tensor:
        return cast(build.Sum(build.Log(modulus(self.diag)), [-1]), self.dtype)

    def _to_dense(self) -> Tensor:
        return build.MatrixDiag(self.diag)

    def _diag_part(self) -> Any:
        return self.diag


algebra.adjoint.rule(LinearOperatorDiag)(lambda a: LinearOperatorDiag(conj(a.diag), **hints_of(a)))
algebra.inverse.rule(LinearOperatorDiag)(lambda a: LinearOperatorDiag(1.0 / a.diag, **hints_of(a)))
algebra.cholesky.rule(LinearOperatorDiag)(lambda a: LinearOperatorDiag(build.Sqrt(a.diag), **FACTOR))
