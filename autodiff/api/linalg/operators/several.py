"""Operators of several others: one after another, side by side on the diagonal, and their Kronecker product."""
from __future__ import annotations

import functools
import operator as arithmetic
from collections.abc import Callable, Iterable
from typing import Any

from ....core.errors import ArgumentError, InvalidArgumentError, KindError
from ....core.graph import Tensor
from ....core.op import build
from ....core.shapes import Dimension, TensorShape
from ...arrays.rearrange import matrix_transpose
from ...arrays.shaping import split
from ...control.dependencies import group
from ...debugging import assert_proper_iterable
from ...math.casts import cast
from ..solvers import adjoint as adjoint_of
from . import algebra
from .base import LinearOperator
from .support import Hint, broadcast_matrix_batch_dims, broadcast_shape_tensors, broadcast_shapes, hints_of, settled

_WORDS = {"is_non_singular": "non-singular", "is_self_adjoint": "self-adjoint",
          "is_positive_definite": "positive definite"}


def _total(numbers: Iterable[Any], combine: Callable[[Any, Any], Any] = arithmetic.mul) -> Any:
    return functools.reduce(combine, numbers)


class _OfSeveral(LinearOperator):
    """An operator made of others of one dtype. What holds of all of them and is among `_kept` holds of it."""

    _joint, _phrase, _nonempty = "", "", "Expected a non-empty list of operators."
    _kept = tuple(_WORDS)

    def __init__(self, operators: Iterable[LinearOperator], is_non_singular: Hint = None, is_self_adjoint: Hint = None,
                 is_positive_definite: Hint = None, is_square: Hint = None, name: str | None = None) -> None:
        assert_proper_iterable(operators)
        self.operators = list(operators)
        if not self.operators:
            raise ArgumentError(f"{self._nonempty} Found: []")
        if len({o.dtype for o in self.operators}) > 1:
            raise KindError("Expected all operators to have the same dtype.  Found "
                            + "   ".join(str((o.name, o.dtype)) for o in self.operators))
        hints = {"is_non_singular": is_non_singular, "is_self_adjoint": is_self_adjoint,
                 "is_positive_definite": is_positive_definite}
        for hint in self._kept:
            if all(getattr(o, hint) for o in self.operators):
                hints[hint] = settled(hints[hint], True, "The {1} of {0} operators is always {0}.".format(
                    _WORDS[hint], self._phrase))
        super().__init__(self.operators[0].dtype, [p for o in self.operators for p in o.graph_parents],
                         is_square=is_square, name=name or self._joint.join(o.name for o in self.operators), **hints)

    def _size_tensors(self, axis: str) -> list[Any]:
        return [getattr(o, f"{axis}_dimension_tensor")() for o in self.operators]

    def _combined(self, sizes: list[Any], axis: str) -> Any:
        """The size of the whole from those of the parts: Dimensions, or tensors."""
        raise NotImplementedError

    def _shape(self) -> TensorShape:
        batch = broadcast_shapes(o.batch_shape for o in self.operators)
        return batch.concatenate([self._combined([getattr(o, f"{axis}_dimension") for o in self.operators], axis)
                                  for axis in ("range", "domain")])

    def _shape_tensor(self) -> Tensor:
        sizes = [self._combined(self._size_tensors(axis), axis) for axis in ("range", "domain")]
        batch = broadcast_shape_tensors(o.batch_shape_tensor() for o in self.operators)
        return build.ConcatV2(0, batch, build.Pack(*sizes, axis=0))

    def _all(self, method: str) -> Any:
        return group(*(getattr(o, method)() for o in self.operators))

    def _determinant(self) -> Tensor:
        return _total(o.determinant() for o in self.operators)

    def _log_abs_determinant(self) -> Tensor:
        return _total((o.log_abs_determinant() for o in self.operators), arithmetic.add)


class LinearOperatorComposition(_OfSeveral):
    """The operators one after another, the last one first. Raises ArgumentError if their sizes do not fit."""

    _joint, _phrase, _kept = "_o_", "composition", ("is_non_singular",)

    def _combined(self, sizes: list[Any], axis: str) -> Any:
        return sizes[0 if axis == "range" else -1]

    def _shape(self) -> TensorShape:
        for left, right in zip(self.operators, self.operators[1:]):
            left.domain_dimension.assert_is_compatible_with(right.range_dimension)
        return super()._shape()

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        first, *more = self.operators if adjoint else self.operators[::-1]
        return _total([first.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg), *more],
                      lambda done, o: o.matmul(done, adjoint=adjoint))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        first, *more = self.operators[::-1] if adjoint else self.operators
        return _total([first.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg), *more],
                      lambda done, o: o.solve(done, adjoint=adjoint))


class LinearOperatorBlockDiag(_OfSeveral):
    """Square operators side by side on the diagonal. Raises ArgumentError for one that is not square."""

    _joint, _phrase = "_ds_", "direct sum"

    def __init__(self, operators: Iterable[LinearOperator], is_non_singular: Hint = None, is_self_adjoint: Hint = None,
                 is_positive_definite: Hint = None, is_square: Hint = True, name: str | None = None) -> None:
        super().__init__(operators, is_non_singular, is_self_adjoint, is_positive_definite, True, name)
        if not is_square or not all(o.is_square for o in self.operators):
            raise ArgumentError("Can only represent a block diagonal of square matrices.")

    def _combined(self, sizes: list[Any], axis: str) -> Any:
        return _total(sizes, arithmetic.add)

    def _blocks(self, x: Tensor, adjoint: bool, adjoint_arg: bool, method: str) -> Tensor:
        """The rows of `x` that belong to each operator, given to its method."""
        sizes = [o.domain_dimension.value for o in self.operators]
        parts = split(x, self._size_tensors("domain") if None in sizes else sizes, axis=-1 if adjoint_arg else -2)
        done = [getattr(o, method)(part, adjoint=adjoint, adjoint_arg=adjoint_arg)
                for o, part in zip(self.operators, parts)]
        return build.ConcatV2(-2, *broadcast_matrix_batch_dims(done))

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._blocks(x, adjoint, adjoint_arg, "matmul")

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._blocks(rhs, adjoint, adjoint_arg, "solve")

    def _trace(self) -> Tensor:
        return _total((o.trace() for o in self.operators), arithmetic.add)

    def _diag_part(self) -> Tensor:
        columns = broadcast_matrix_batch_dims([build.ExpandDims(o.diag_part(), -1) for o in self.operators])
        return build.Squeeze(build.ConcatV2(-2, *columns), squeeze_dims=[-1])

    def _assert_non_singular(self) -> Any:
        return self._all("assert_non_singular")

    def _assert_self_adjoint(self) -> Any:
        return self._all("assert_self_adjoint")

    def _assert_positive_definite(self) -> Any:
        return self._all("assert_positive_definite")


class LinearOperatorKronecker(_OfSeveral):
    """The Kronecker product: each element of the first matrix times the second, and so on."""

    _joint, _phrase, _nonempty = "_x_", "Kronecker product", "Expected a list of >=1 operators."

    def _combined(self, sizes: list[Any], axis: str) -> Any:
        return _total(sizes)

    def _factor_by_factor(self, x: Tensor, adjoint: bool, adjoint_arg: bool, method: str) -> Tensor:
        """Each operator's method on the part of the rows' numbering that is its own.

        Rows are numbered (n1, n2, ...): the first operator takes n1 as rows and the rest as columns, then its rows go
        behind the columns, and n2 is in front.
        """
        x = adjoint_of(x) if adjoint_arg else x
        columns, y = build.Shape(x)[-1:], x
        for o in self.operators:
            gives_range = (method == "matmul") == adjoint  # what it takes has the size of its range
            size = o.range_dimension_tensor() if gives_range else o.domain_dimension_tensor()
            y = build.Reshape(y, build.ConcatV2(0, build.Shape(y)[:-2], build.Pack(size, -1, axis=0)))
            y = matrix_transpose(getattr(o, method)(y, adjoint=adjoint))
        y = build.Reshape(y, build.ConcatV2(0, build.Shape(y)[:-2], columns, [-1]))
        y = matrix_transpose(y)
        if x.shape.ndims is not None:
            rows = self.domain_dimension if adjoint == (method == "matmul") else self.range_dimension
            y.set_shape(broadcast_shapes([x.shape[:-2], self.batch_shape]).concatenate([rows, x.shape[-1]]))
        return y

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._factor_by_factor(x, adjoint, adjoint_arg, "matmul")

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._factor_by_factor(rhs, adjoint, adjoint_arg, "solve")

    def _powers(self) -> list[Tensor]:
        """How often each operator stands in the product."""
        total = self.domain_dimension_tensor()
        return [cast(build.FloorDiv(total, size), self.dtype) for size in self._size_tensors("domain")]

    def _determinant(self) -> Tensor:
        return _total(o.determinant() ** power for o, power in zip(self.operators, self._powers()))

    def _log_abs_determinant(self) -> Tensor:
        return _total((o.log_abs_determinant() * power for o, power in zip(self.operators, self._powers())),
                      arithmetic.add)

    def _are_square(self) -> bool:
        return all(o.is_square for o in self.operators)

    def _trace(self) -> Tensor:
        return _total(o.trace() for o in self.operators) if self._are_square() else super()._trace()

    def _to_dense(self) -> Tensor:
        return _total((o.to_dense() for o in self.operators), _outer)

    def _assert_non_singular(self) -> Any:
        if not self._are_square():
            raise InvalidArgumentError("All Kronecker factors must be square for the product to be invertible.")
        return self._all("assert_non_singular")

    def _assert_self_adjoint(self) -> Any:
        if not self._are_square():
            raise InvalidArgumentError("All Kronecker factors must be square for the product to be self adjoint.")
        return self._all("assert_self_adjoint")


def _outer(a: Tensor, b: Tensor) -> Tensor:
    """The Kronecker product of dense matrices."""
    product = build.ExpandDims(build.ExpandDims(a, -1), -3) * build.ExpandDims(build.ExpandDims(b, -2), -4)
    sizes = build.Shape(product)
    dense = build.Reshape(product, build.ConcatV2(0, sizes[:-4], sizes[-4:-3] * sizes[-3:-2],
                                                  sizes[-2:-1] * sizes[-1:]))
    if a.dims is not None and b.dims is not None:
        dense.set_shape(broadcast_shapes([a.shape[:-2], b.shape[:-2]]).concatenate(
            [Dimension(a.shape[i]) * b.shape[i] for i in (-2, -1)]))
    return dense


def _each(method: str, **changes: Any) -> Callable[[Any], LinearOperator]:
    """The operator of the same kind whose parts are what `method` makes of the parts."""

    def derived(whole: _OfSeveral) -> LinearOperator:
        return type(whole)([getattr(o, method)() for o in whole.operators], **(changes or hints_of(whole)))

    return derived


for _kind in (LinearOperatorBlockDiag, LinearOperatorKronecker):
    algebra.adjoint.rule(_kind)(_each("adjoint"))
    algebra.inverse.rule(_kind)(_each("inverse"))
    algebra.cholesky.rule(_kind)(_each("cholesky", is_non_singular=True, is_square=True))
