"""Products of two operators, and one solved for another: which operator they are."""
from __future__ import annotations

from typing import Any

from ....core.errors import ArgumentError
from . import algebra
from .base import LinearOperator
from .dense import LinearOperatorLowerTriangular
from .derived import LinearOperatorInversion
from .diagonal import LinearOperatorDiag
from .identity import LinearOperatorIdentity, LinearOperatorScaledIdentity, LinearOperatorZeros
from .several import LinearOperatorComposition
from .support import Hint, Hints, commuting


def _composed(a: LinearOperator, b: LinearOperator, left: LinearOperator) -> LinearOperator:
    """left b, where the hints of a and b say what holds of it."""
    square: Hint = None
    if None not in (a.is_square, b.is_square):
        square = a.is_square and b.is_square
        if a.is_square is b.is_square is False:
            square = a.range_dimension == b.domain_dimension
    hints: Hints = {"is_square": square}
    if square:
        hints["is_non_singular"] = commuting(a, b)["is_non_singular"]
    elif square is False:
        hints.update(is_non_singular=False, is_self_adjoint=False, is_positive_definite=False)
    return LinearOperatorComposition([left, b], **hints)


algebra.matmul.rule(LinearOperator, LinearOperator)(lambda a, b: _composed(a, b, a))
algebra.solve.rule(LinearOperator, LinearOperator)(lambda a, b: _composed(a, b, LinearOperatorInversion(a)))
algebra.solve.rule(LinearOperatorInversion, LinearOperator)(lambda a, b: a.operator.matmul(b))
algebra.matmul.rule(LinearOperatorIdentity, LinearOperator)(lambda a, b: b)
algebra.solve.rule(LinearOperatorIdentity, LinearOperator)(lambda a, b: b)
algebra.matmul.rule(LinearOperator, LinearOperatorIdentity)(lambda a, b: a)


def _nothing(a: LinearOperator, b: LinearOperator) -> LinearOperator:
    if not a.is_square or not b.is_square:
        raise ArgumentError("Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not "
                            "supported at this time.")
    return a if isinstance(a, LinearOperatorZeros) else b


for _pair in ((LinearOperatorZeros, LinearOperator), (LinearOperator, LinearOperatorZeros),
              (LinearOperatorZeros, LinearOperatorIdentity), (LinearOperatorIdentity, LinearOperatorZeros)):
    algebra.matmul.rule(*_pair)(_nothing)


def _term(operator: Any) -> Any:
    return operator.multiplier if isinstance(operator, LinearOperatorScaledIdentity) else operator.diag


for _kinds in ((LinearOperatorDiag, LinearOperatorDiag), (LinearOperatorDiag, LinearOperatorScaledIdentity),
               (LinearOperatorScaledIdentity, LinearOperatorDiag)):
    algebra.matmul.rule(*_kinds)(lambda a, b: LinearOperatorDiag(_term(a) * _term(b), **commuting(a, b)))
    algebra.solve.rule(*_kinds)(lambda a, b: LinearOperatorDiag(_term(b) / _term(a), **commuting(a, b)))


def _triangle(tril: Any, a: LinearOperator, b: LinearOperator) -> LinearOperator:
    return LinearOperatorLowerTriangular(tril, **{**commuting(a, b), "is_positive_definite": None})


algebra.matmul.rule(LinearOperatorDiag, LinearOperatorLowerTriangular)(
    lambda a, b: _triangle(a.diag[..., None] * b.to_dense(), a, b))
algebra.matmul.rule(LinearOperatorLowerTriangular, LinearOperatorDiag)(
    lambda a, b: _triangle(a.to_dense() * b.diag, a, b))
algebra.solve.rule(LinearOperatorDiag, LinearOperatorLowerTriangular)(
    lambda a, b: _triangle(b.to_dense() / a.diag[..., None], a, b))
