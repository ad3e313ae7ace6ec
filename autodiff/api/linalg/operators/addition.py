"""Sums of operators, of as special a kind as their sum allows."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ....core.errors import ArgumentError, KindError
from ....core.name_scope import scope
from ...arrays.creation import ones
from ...debugging import assert_proper_iterable
from . import support
from .base import LinearOperator
from .dense import LinearOperatorFullMatrix, LinearOperatorLowerTriangular
from .diagonal import LinearOperatorDiag
from .identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from .support import Hint, Hints


class Promises(NamedTuple):
    """What is promised of a sum; None leaves it to the addends."""

    is_non_singular: Hint = None
    is_positive_definite: Hint = None
    is_self_adjoint: Hint = None


class Adder:
    """Adds two operators of its `kinds` to one of a kind of its own."""

    kinds: tuple[type, ...] = ()

    def can_add(self, op1: Any, op2: Any) -> bool:
        return isinstance(op1, self.kinds) and isinstance(op2, self.kinds)

    def add(self, op1: Any, op2: Any, operator_name: str | None, hints: Promises | None = None) -> LinearOperator:
        """The operator of the sum."""
        adjoint, definite = op1.is_self_adjoint and op2.is_self_adjoint, (
            op1.is_positive_definite and op2.is_positive_definite)
        hints = hints or Promises()
        settled = {"is_self_adjoint": adjoint if hints.is_self_adjoint is None else hints.is_self_adjoint,
                   "is_positive_definite": definite if hints.is_positive_definite is None
                   else hints.is_positive_definite,
                   "is_non_singular": True if definite and hints.is_positive_definite is None
                   else hints.is_non_singular}
        with scope(None, type(self).__name__, [*op1.graph_parents, *op2.graph_parents]):
            return self._add(op1, op2, operator_name or f"Add/{op1.name}__{op2.name}/", settled)

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: Hints) -> LinearOperator:
        raise NotImplementedError


class AddAndReturnScaledIdentity(Adder):
    """Multiples of the identity."""

    kinds = LinearOperatorIdentity, LinearOperatorScaledIdentity

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: Hints) -> LinearOperator:
        first, second = (getattr(o, "multiplier", None) for o in (op1, op2))
        first = ones(op1.batch_shape_tensor(), op1.dtype) if first is None else first
        second = ones(op2.batch_shape_tensor(), op2.dtype) if second is None else second
        return LinearOperatorScaledIdentity(op1.range_dimension_tensor(), first + second, name=operator_name, **hints)


class AddAndReturnDiag(Adder):
    """Diagonals."""

    kinds = LinearOperatorDiag, *AddAndReturnScaledIdentity.kinds

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: Hints) -> LinearOperator:
        return LinearOperatorDiag(op1.diag_part() + op2.diag_part(), name=operator_name, **hints)


def _dense_sum(op1: Any, op2: Any) -> Any:
    """The matrix of the sum: a diagonal is added to the other's."""
    first, second = (op1, op2) if isinstance(op1, AddAndReturnDiag.kinds) else (op2, op1)
    return first.add_to_tensor(second.to_dense())


class AddAndReturnTriL(Adder):
    """Lower triangles, and diagonals among them."""

    kinds = LinearOperatorLowerTriangular, *AddAndReturnDiag.kinds

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: Hints) -> LinearOperator:
        return LinearOperatorLowerTriangular(_dense_sum(op1, op2), name=operator_name, **hints)


class AddAndReturnMatrix(Adder):
    """Whatever the operators are, as a dense matrix."""

    kinds = (LinearOperator,)

    def _add(self, op1: Any, op2: Any, operator_name: str, hints: Hints) -> LinearOperator:
        return LinearOperatorFullMatrix(_dense_sum(op1, op2), name=operator_name, **hints)


def add_operators(operators: Iterable[LinearOperator], operator_name: str | None = None,
                  addition_tiers: Sequence[Sequence[Any]] | None = None, name: str | None = None) -> list[Any]:
    """The operators with those added that the adders can: one, unless the tiers leave some apart.

    addition_tiers: lists of adders; what one can add is added before the next is asked. Raises ArgumentError for no
    operators, or of shapes that do not fit each other.
    """
    if addition_tiers is None:
        addition_tiers = [[AddAndReturnScaledIdentity()], [AddAndReturnDiag()], [AddAndReturnTriL()],
                          [AddAndReturnMatrix()]]
    assert_proper_iterable(operators)
    waiting = list(operators)[::-1]
    if not waiting:
        raise ArgumentError("Argument 'operators' must contain at least one operator.  Found: []")
    if not all(isinstance(o, LinearOperator) for o in waiting):
        raise KindError(f"Argument 'operators' must contain only LinearOperator instances.  Found: {waiting}")
    for axis in ("domain", "range"):
        sizes = [(o.name, size) for o in waiting if (size := getattr(o, f"{axis}_dimension").value) is not None]
        if len({size for _, size in sizes}) > 1:
            raise ArgumentError(f"Operators must have the same {axis} dimension. Found: {sizes}")
    support.broadcast_shapes(o.batch_shape for o in waiting)
    with scope(name, "add_operators", [p for o in waiting for p in o.graph_parents]):
        for tier in addition_tiers:
            trying, waiting = waiting, []
            while trying:
                first = trying.pop()
                for adder, second in ((a, o) for o in trying[::-1] for a in tier if a.can_add(first, o)):
                    trying.remove(second)
                    trying.append(adder.add(first, second, operator_name))
                    break
                else:
                    waiting.append(first)
        return waiting
