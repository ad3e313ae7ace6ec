"""Operators known by their sizes: the identity, a number times it, and zeros."""
from __future__ import annotations

from typing import Any

from ....core.constant_value import static_value
from ....core.dtypes import as_dtype, float32
from ....core.errors import ArgumentError, InvalidArgumentError, KindError
from ....core.graph import Tensor
from ....core.name_scope import scope
from ....core.op import build
from ....core.shapes import TensorShape
from ...arrays.creation import ones, zeros
from ...control.dependencies import control_dependencies
from ...debugging import assert_non_negative, assert_positive, assert_rank
from ...math.casts import cast, conj, real
from ...math.elementwise import abs as modulus
from ..solvers import adjoint as adjoint_of
from . import algebra, support
from .base import LinearOperator
from .diagonal import FACTOR, REAL, Diagonal
from .support import Hint, assert_zero_imag_part, hints_of, holds_always, settled


def _sized(value: Any, name: str, rank: int, is_checked: bool) -> Tensor:
    """A size, or sizes, as a tensor. Raises KindError unless an integer, ArgumentError if known not to fit; the rest
    is checked in a run if `is_checked`."""
    support.assert_not_ref_type(value, name)
    sizes = support.shape_tensor(value, name=name)
    shaped, signed = f"Argument {name} must be a {rank}-D Tensor.", f"Argument {name} must be non-negative."
    if not sizes.dtype.is_integer:
        raise KindError(f"Argument {name} must be integer type.  Found: {sizes}")
    known = static_value(sizes)
    if known is not None and (known.ndim != rank or (known < 0).any()):
        raise ArgumentError(f"{signed if known.ndim == rank else shaped}  Found: {known}")
    if known is None and is_checked:
        with control_dependencies([assert_rank(sizes, rank, message=shaped),
                                   assert_non_negative(sizes, message=signed)]):
            return build.Identity(sizes)
    return sizes


def _static(sizes: Tensor) -> Any:
    known = static_value(sizes)
    return None if known is None else known.tolist()


class _OfSizes(LinearOperator):
    """Operators that are known by their sizes: rows, columns, and the axes before them."""

    _num_columns: Tensor

    def _set_sizes(self, num_rows: Any, batch_shape: Any, is_checked: bool) -> None:
        self._assert_proper_shapes = is_checked
        self._num_rows = self._num_columns = _sized(num_rows, "num_rows", 0, is_checked)
        self._batch = None if batch_shape is None else _sized(batch_shape, "batch_shape", 1, is_checked)

    def _shape(self) -> TensorShape:
        batch = TensorShape([] if self._batch is None else _static(self._batch))
        return batch.concatenate([_static(self._num_rows), _static(self._num_columns)])

    def _shape_tensor(self) -> Tensor:
        sizes = build.Pack(self._num_rows, self._num_columns, axis=0)
        return sizes if self._batch is None else build.ConcatV2(0, self._batch, sizes)

    def _checked(self, x: Tensor) -> Tensor:
        if not self._assert_proper_shapes:
            return x
        with control_dependencies([support.assert_compatible_matrix_dimensions(self, x)]):
            return build.Identity(x)

    def _in_batch(self, x: Tensor) -> Tensor:
        """`x` broadcast to the batch of the operator."""
        if self._batch is None:
            return x
        if self.batch_shape.is_fully_defined() and support.broadcast_shapes(
                [x.shape, self.batch_shape.concatenate([1, 1])]) == x.shape:
            return x
        return x + zeros(build.ConcatV2(0, self.batch_shape_tensor(), [1, 1]), self.dtype)

    def _smaller_size(self) -> Tensor:
        return cast(build.Minimum(self._num_rows, self._num_columns), self.dtype)


class LinearOperatorIdentity(_OfSizes, Diagonal):
    """The identity on vectors of num_rows elements, as often as batch_shape says.

    assert_proper_shapes: what is not known while the graph is built is checked in a run.
    """

    def __init__(self, num_rows: Any, batch_shape: Any = None, dtype: Any = None, is_non_singular: Hint = True,
                 is_self_adjoint: Hint = True, is_positive_definite: Hint = True, is_square: Hint = True,
                 assert_proper_shapes: bool = False, name: str = "LinearOperatorIdentity") -> None:
        for hint, word in ((is_non_singular, "non-singular"), (is_self_adjoint, "self adjoint"),
                           (is_positive_definite, "positive-definite"), (is_square, "square")):
            settled(hint or False, True, f"An identity operator is always {word}.")
        super().__init__(as_dtype(dtype or float32), None, True, True, True, True, name)
        with scope(name, name):
            self._set_sizes(num_rows, batch_shape, assert_proper_shapes)

    def _term(self) -> Any:
        return 1

    _assert_non_singular = _assert_positive_definite = _assert_self_adjoint = holds_always

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._in_batch(self._checked(adjoint_of(x) if adjoint_arg else x))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _determinant(self) -> Tensor:
        return ones(self.batch_shape_tensor(), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self.dtype)

    def _trace(self) -> Tensor:
        return self._smaller_size() * ones(self.batch_shape_tensor(), self.dtype)

    def _diag_part(self) -> Tensor:
        return ones(self._diag_shape(), self.dtype)


class LinearOperatorScaledIdentity(_OfSizes, Diagonal):
    """A number times the identity. multiplier: number[...], one for each matrix."""

    def __init__(self, num_rows: Any, multiplier: Any, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
                 is_positive_definite: Hint = None, is_square: Hint = True, assert_proper_shapes: bool = False,
                 name: str = "LinearOperatorScaledIdentity") -> None:
        with scope(name, name, [multiplier, num_rows]):
            self.multiplier = support.convert_nonref_to_tensor(multiplier, name="multiplier")
            if not self.multiplier.dtype.is_complex:
                is_self_adjoint = settled(is_self_adjoint, True, REAL)
            is_square = settled(is_square, True, "A ScaledIdentity operator is always square.")
            super().__init__(self.multiplier.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite,
                             is_square, name)
            self._set_sizes(num_rows, None, assert_proper_shapes)

    def _shape(self) -> TensorShape:
        return self.multiplier.shape.concatenate(super()._shape())

    def _shape_tensor(self) -> Tensor:
        return build.ConcatV2(0, build.Shape(self.multiplier), super()._shape_tensor())

    def _term(self, axes: int = 1, adjoint: bool = False) -> Any:
        term = conj(self.multiplier) if adjoint else self.multiplier
        for _ in range(axes):
            term = build.ExpandDims(term, -1)
        return term

    def _assert_non_singular(self) -> Any:
        return assert_positive(modulus(self.multiplier), message="LinearOperator was singular")

    def _assert_positive_definite(self) -> Any:
        return assert_positive(real(self.multiplier), message="LinearOperator was not positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return assert_zero_imag_part(self.multiplier, message="LinearOperator was not self-adjoint")

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._checked(adjoint_of(x) if adjoint_arg else x) * self._term(2, adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._checked(adjoint_of(rhs) if adjoint_arg else rhs) / self._term(2, adjoint)

    def _determinant(self) -> Tensor:
        return self.multiplier ** cast(self._num_rows, self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        size = modulus(self.multiplier)
        return cast(self._num_rows, size.dtype) * build.Log(size)

    def _trace(self) -> Tensor:
        return self.multiplier * self._smaller_size()

    def _diag_part(self) -> Tensor:
        return self._term() * ones(self._diag_shape(), self.dtype)


class LinearOperatorZeros(_OfSizes):
    """Matrices of zeros. num_columns: as many as rows by default; others need is_square=False."""

    def __init__(self, num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = None,
                 is_non_singular: Hint = False, is_self_adjoint: Hint = True, is_positive_definite: Hint = False,
                 is_square: Hint = True, assert_proper_shapes: bool = False, name: str = "LinearOperatorZeros") -> None:
        if is_square:
            is_self_adjoint = settled(is_self_adjoint, True, "A zero operator is always self adjoint.")
        is_non_singular = settled(is_non_singular, False, "A zero operator is always singular.")
        is_positive_definite = settled(is_positive_definite, False, "A zero operator is always not positive-definite.")
        super().__init__(as_dtype(dtype or float32), None, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)
        with scope(name, name):
            self._set_sizes(num_rows, batch_shape, assert_proper_shapes)
            if num_columns is not None:
                self._num_columns = _sized(num_columns, "num_columns", 0, assert_proper_shapes)
        rows, columns = _static(self._num_rows), _static(self._num_columns)
        if is_square and None not in (rows, columns) and rows != columns:
            raise ArgumentError("LinearOperatorZeros initialized as is_square=True, but got "
                                f"num_rows({rows}) != num_columns({columns})")

    def _assert_non_singular(self) -> Any:
        raise InvalidArgumentError("Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Any:
        raise InvalidArgumentError("Zero operators are always non-positive definite.")

    _assert_self_adjoint = holds_always

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        sizes = build.Shape(self._checked(adjoint_of(x) if adjoint_arg else x))
        rows = self._num_columns if adjoint else self._num_rows
        return self._in_batch(zeros(build.ConcatV2(0, sizes[:-2], build.Pack(rows, sizes[-1], axis=0)), self.dtype))

    def _determinant(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self.dtype)

    _trace = _determinant

    def _diag_part(self) -> Tensor:
        return zeros(self._diag_shape(), self.dtype)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return self._in_batch(x)


def _scaled(like: LinearOperatorScaledIdentity, multiplier: Any, **hints: Any) -> LinearOperatorScaledIdentity:
    return LinearOperatorScaledIdentity(like._num_rows, multiplier, **hints)


for _function in (algebra.adjoint, algebra.inverse, algebra.cholesky):
    _function.rule(LinearOperatorIdentity)(lambda a: a)
algebra.adjoint.rule(LinearOperatorScaledIdentity)(lambda a: _scaled(a, conj(a.multiplier), **hints_of(a)))
algebra.inverse.rule(LinearOperatorScaledIdentity)(lambda a: _scaled(a, 1.0 / a.multiplier, **hints_of(a)))
algebra.cholesky.rule(LinearOperatorScaledIdentity)(lambda a: _scaled(a, build.Sqrt(a.multiplier), **FACTOR))
