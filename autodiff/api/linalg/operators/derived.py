"""Operators of one other: its adjoint, its inverse, and the sum with a product of narrow matrices."""
from __future__ import annotations

from typing import Any

from ....core.errors import ArgumentError
from ....core.graph import Tensor
from ....core.name_scope import scope
from ....core.op import build
from ....core.shapes import Dimension, TensorShape
from ...arrays.shaping import broadcast_static_shape
from ...math.casts import cast, conj
from ...math.elementwise import abs as modulus
from ..decompositions import cholesky
from ..products import matmul
from ..solvers import adjoint as adjoint_of
from . import algebra, support
from .base import LinearOperator
from .diagonal import LinearOperatorDiag
from .identity import LinearOperatorIdentity
from .shaped import NotServedError
from .support import Hint, settled


class _Derived(LinearOperator):
    """An operator of which the hints hold that hold of another. word: what it is of the other."""

    _word, _suffix = "", ""

    def __init__(self, operator: LinearOperator, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
                 is_positive_definite: Hint = None, is_square: Hint = None, name: str | None = None) -> None:
        self.operator = operator
        given = {"is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
                 "is_positive_definite": is_positive_definite, "is_square": is_square}
        hints = {hint: support.use_operator_or_provided_hint_unless_contradicting(
            operator, hint, value, "An operator is {0} if and only if its {1} is {0}.".format(
                hint.removeprefix("is_").replace("_", "-"), self._word)) for hint, value in given.items()}
        super().__init__(operator.dtype, operator.graph_parents, name=name or operator.name + self._suffix, **hints)

    def _assert_non_singular(self) -> Any:
        return self.operator.assert_non_singular()

    def _assert_positive_definite(self) -> Any:
        return self.operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Any:
        return self.operator.assert_self_adjoint()


class LinearOperatorAdjoint(_Derived):
    """The transposed conjugate of an operator; it need not be square."""

    _word, _suffix = "adjoint", "_adjoint"

    def _shape(self) -> TensorShape:
        shape = self.operator.shape
        return shape[:-2].concatenate(None if shape.ndims is None else [shape[-1], shape[-2]])

    def _shape_tensor(self) -> Tensor:
        sizes = self.operator.shape_tensor()
        return build.ConcatV2(0, sizes[:-2], sizes[-1:], sizes[-2:-1])

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return self.operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        return self.operator.solvevec(rhs, adjoint=not adjoint)

    def _determinant(self) -> Tensor:
        return conj(self.operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self.operator.log_abs_determinant()

    def _trace(self) -> Tensor:
        return conj(self.operator.trace())

    def _to_dense(self) -> Tensor:
        return adjoint_of(self.operator.to_dense())


class LinearOperatorInversion(_Derived):
    """The inverse of an operator: applied by solving. Raises ArgumentError if it is known to have none."""

    _word, _suffix = "inverse", "_inv"

    def __init__(self, operator: LinearOperator, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
                 is_positive_definite: Hint = None, is_square: Hint = None, name: str | None = None) -> None:
        for hint, own, given in (("is_non_singular", operator.is_non_singular, is_non_singular),
                                 ("is_square", operator.is_square, is_square)):
            if False in (own, given):
                raise ArgumentError(f"operator and supplied hints must have `{hint}` equal to `True` or `None`.  "
                                    f"Found {own}, {given}")
        super().__init__(operator, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    def _shape(self) -> TensorShape:
        return self.operator.shape

    def _shape_tensor(self) -> Tensor:
        return self.operator.shape_tensor()

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self.operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Tensor:
        return 1.0 / self.operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        return -1.0 * self.operator.log_abs_determinant()


algebra.adjoint.rule(LinearOperator)(LinearOperatorAdjoint)
algebra.inverse.rule(LinearOperator)(LinearOperatorInversion)
algebra.adjoint.rule(LinearOperatorAdjoint)(lambda a: a.operator)
algebra.inverse.rule(LinearOperatorInversion)(lambda a: a.operator)


class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D V^H, with L an operator, U and V narrow and D diagonal; solved by way of L and a matrix of D's size.

    u, v: number[..., n, r]; v is u if None. diag_update: number[..., r]; the identity if None.
    Raises ArgumentError for hints or shapes that do not fit each other.
    """

    def __init__(self, base_operator: LinearOperator, u: Any, diag_update: Any = None, v: Any = None,
                 is_diag_update_positive: Hint = None, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
                 is_positive_definite: Hint = None, is_square: Hint = None,
                 name: str = "LinearOperatorLowRankUpdate") -> None:
        if diag_update is None:
            is_diag_update_positive = settled(is_diag_update_positive, True, "Default diagonal is the identity, which "
                                              "is positive.  However, user set 'is_diag_update_positive' to False.")
        self.is_diag_update_positive, self.base_operator = is_diag_update_positive, base_operator
        self._use_cholesky = bool(base_operator._can_use_cholesky() and is_diag_update_positive and v is None)
        if base_operator.is_self_adjoint and v is None and not base_operator.dtype.is_complex:
            is_self_adjoint = settled(is_self_adjoint, True, "A = L + UDU^H, with L self-adjoint and D real diagonal.  "
                                      "Since UDU^H is self-adjoint, this must be a self-adjoint operator.")
        if self._use_cholesky:
            is_non_singular, is_self_adjoint, is_positive_definite = (
                settled(hint, True, "Arguments imply this is self-adjoint positive-definite operator.")
                for hint in (is_non_singular, is_self_adjoint, is_positive_definite))
        with scope(name, name, [*base_operator.graph_parents, *(x for x in (u, diag_update, v) if x is not None)]):
            self.u = support.convert_nonref_to_tensor(u, name="u")
            self.v = self.u if v is None else support.convert_nonref_to_tensor(v, name="v")
            self.diag_update = support.convert_nonref_to_tensor(diag_update, name="diag_update")
            parents = [x for x in (self.u, self.diag_update, self.v) if x is not None]
            super().__init__(base_operator.dtype, [*base_operator.graph_parents, *parents], is_non_singular,
                             is_self_adjoint, is_positive_definite, is_square, name)
            self.diag_operator: LinearOperator = (
                LinearOperatorIdentity(self._rank(), dtype=self.dtype) if diag_update is None else
                LinearOperatorDiag(self.diag_update, is_positive_definite=is_diag_update_positive))
        self._check_shapes()

    def _rank(self) -> Any:
        known = None if self.u.shape.ndims is None else Dimension(self.u.shape[-1]).value
        return build.Shape(self.u)[-1] if known is None else known

    def _check_shapes(self) -> None:
        sizes = broadcast_static_shape(self.u.shape, self.v.shape)
        batch = broadcast_static_shape(self.base_operator.batch_shape, sizes[:-2])
        self.base_operator.domain_dimension.assert_is_compatible_with(sizes[-2])
        if self.diag_update is not None:
            Dimension(sizes[-1]).assert_is_compatible_with(self.diag_update.shape[-1])
            broadcast_static_shape(batch, self.diag_update.shape[:-1])

    def _shape(self) -> TensorShape:
        batch = broadcast_static_shape(self.base_operator.batch_shape, self.u.shape[:-2])
        return batch.concatenate(self.base_operator.shape[-2:])

    def _shape_tensor(self) -> Tensor:
        batch = build.BroadcastArgs(self.base_operator.batch_shape_tensor(), build.Shape(self.u)[:-2])
        return build.ConcatV2(0, batch, self.base_operator.shape_tensor()[-2:])

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        u, v = (self.v, self.u) if adjoint else (self.u, self.v)
        narrow = self.diag_operator.matmul(matmul(v, x, adjoint_a=True, adjoint_b=adjoint_arg), adjoint=adjoint)
        return self.base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg) + matmul(u, narrow)

    def _capacitance(self) -> Tensor:
        """D^-1 + V^H L^-1 U: number[..., r, r]."""
        inner = matmul(self.v, self.base_operator.solve(self.u), adjoint_a=True)
        return self.diag_operator.inverse().add_to_tensor(inner)

    def _determinant(self) -> Tensor:
        if self.is_positive_definite:
            return build.Exp(self.log_abs_determinant())
        return (build.MatrixDeterminant(self._capacitance()) * self.diag_operator.determinant()
                * self.base_operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        if self._use_cholesky:
            own = 2 * build.Sum(build.Log(build.MatrixDiagPart(cholesky(self._capacitance()))), [-1])
        else:
            own = cast(build.Log(modulus(build.MatrixDeterminant(self._capacitance()))), self.dtype)
        return own + self.diag_operator.log_abs_determinant() + self.base_operator.log_abs_determinant()

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        # (L + U D V^H)^-1 = L^-1 - L^-1 U (D^-1 + V^H L^-1 U)^-1 V^H L^-1, after Woodbury
        if self.base_operator.is_non_singular is False:
            raise NotServedError(
                "Solve not implemented unless this is a perturbation of a non-singular LinearOperator.")
        u, v = (self.v, self.u) if adjoint else (self.u, self.v)
        first = self.base_operator.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        narrow = matmul(v, first, adjoint_a=True)
        solved = (support.cholesky_solve_with_broadcast(cholesky(self._capacitance()), narrow) if self._use_cholesky
                  else support.matrix_solve_with_broadcast(self._capacitance(), narrow, adjoint=adjoint))
        return first - self.base_operator.solve(matmul(u, solved), adjoint=adjoint)
