"""Operators of one other: its adjoint and its inverse."""
from __future__ import annotations

from typing import Any

from ....core.errors import ArgumentError
from ....core.graph import Tensor
from ....core.op import build
from ....core.shapes import TensorShape
from ...math.casts import conj
from ..solvers import adjoint as adjoint_of
from . import algebra, support
from .base import LinearOperator
from .support import Hint


class _Derived(LinearOperator):
    """An operator of which the hints hold that hold of another. word: what it is of the other."""

    _word, _suffix = "", ""

    def __init__(self, operator: LinearOperator, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
                 is_positive_definite: Hint = None, is_square: Hint = None, name: str | None = None) -> None:
        self._operator = operator
        given = {"is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
                 "is_positive_definite": is_positive_definite, "is_square": is_square}
        hints = {hint: support.use_operator_or_provided_hint_unless_contradicting(
            operator, hint, value, "An operator is {0} if and only if its {1} is {0}.".format(
                hint.removeprefix("is_").replace("_", "-"), self._word)) for hint, value in given.items()}
        super().__init__(operator.dtype, operator.graph_parents, name=name or operator.name + self._suffix, **hints)

    @property
    def operator(self) -> LinearOperator:
        return self._operator

    def _assert_non_singular(self) -> Any:
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self) -> Any:
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Any:
        return self._operator.assert_self_adjoint()


class LinearOperatorAdjoint(_Derived):
    """The transposed conjugate of an operator; it need not be square."""

    _word, _suffix = "adjoint", "_adjoint"

    def _shape(self) -> TensorShape:
        shape = self._operator.shape
        return shape[:-2].concatenate(None if shape.ndims is None else [shape[-1], shape[-2]])

    def _shape_tensor(self) -> Tensor:
        sizes = self._operator.shape_tensor()
        return build.ConcatV2(0, sizes[:-2], sizes[-1:], sizes[-2:-1])

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return self._operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        return self._operator.solvevec(rhs, adjoint=not adjoint)

    def _determinant(self) -> Tensor:
        return conj(self._operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self._operator.log_abs_determinant()

    def _trace(self) -> Tensor:
        return conj(self._operator.trace())

    def _to_dense(self) -> Tensor:
        return adjoint_of(self._operator.to_dense())


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
        return self._operator.shape

    def _shape_tensor(self) -> Tensor:
        return self._operator.shape_tensor()

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Tensor:
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        return -1.0 * self._operator.log_abs_determinant()


@algebra.adjoint.rule(LinearOperator)
def _(operator: LinearOperator) -> LinearOperator:
    return LinearOperatorAdjoint(operator)


@algebra.inverse.rule(LinearOperator)
def _(operator: LinearOperator) -> LinearOperator:
    return LinearOperatorInversion(operator)


@algebra.adjoint.rule(LinearOperatorAdjoint)
@algebra.inverse.rule(LinearOperatorInversion)
def _(operator: _Derived) -> LinearOperator:
    return operator.operator
