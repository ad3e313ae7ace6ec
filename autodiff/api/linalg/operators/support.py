"""What operators share: checks of their arguments, hints, batches of matrices broadcast against each other."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ....core.convert import convert_to_tensor
from ....core.dtypes import DType, as_dtype, int32
from ....core.errors import ArgumentError, KindError
from ....core.graph import Tensor
from ....core.name_scope import scope
from ....core.op import build
from ....core.shapes import TensorShape
from ...arrays.shaping import broadcast_static_shape
from ...debugging import assert_equal, assert_less, assert_proper_iterable
from ...math.casts import imag
from ...math.elementwise import abs as modulus
from ...variables.module import Module
from ...variables.variable import Variable
from ..solvers import cholesky_solve

Hint = bool | None
Hints = dict[str, Any]  # is_non_singular and so on -> Hint


def is_ref(x: Any) -> bool:
    """Whether x is a variable, or a module with dtype and shape: what may change from run to run."""
    return isinstance(x, Variable) or isinstance(x, Module) and hasattr(x, "dtype") and hasattr(x, "shape")


def assert_not_ref_type(x: Any, arg_name: str) -> None:
    """Raises KindError (TypeError) for what is_ref()."""
    if is_ref(x):
        raise KindError(f"Argument {arg_name} cannot be reference type. Found: {type(x)}")


def convert_nonref_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """A tensor of `value`; None and what is_ref() as they are. Raises KindError (TypeError) for another dtype."""
    if value is None:
        return None
    if not is_ref(value):
        return convert_to_tensor(value, dtype=dtype, preferred_dtype=dtype_hint, name=name)
    if dtype is not None and base_dtype(dtype) != base_dtype(value.dtype):
        raise KindError(f'Mutable type must be of dtype "{dtype_name(dtype)}" but is "{dtype_name(value.dtype)}".')
    return value


def base_dtype(dtype: Any) -> DType:
    """The type of the values, also of a variable's."""
    return as_dtype(dtype).base_dtype


def dtype_name(dtype: Any) -> str:
    """Its name: "float32"."""
    return base_dtype(dtype).name


def with_rank(value: Any, name: str, rank: int) -> Any:
    """`value` as what an operator holds. Raises ArgumentError if it is known to have fewer axes than `rank`."""
    held = convert_nonref_to_tensor(value, name=name)
    if held.shape.ndims is not None and held.shape.ndims < rank:
        raise ArgumentError(f"Argument {name} must have at least {rank} dimension{'s' * (rank > 1)}.  Found: {held}")
    return held


def shape_tensor(shape: Any, name: str | None = None) -> Tensor:
    """A shape, or a size, as a tensor; int32 where it is an empty list."""
    return convert_to_tensor(shape, dtype=int32 if isinstance(shape, (list, tuple)) and not shape else None, name=name)


def settled(hint: Hint, fact: bool, sentence: str) -> bool:
    """`fact`. Raises ArgumentError with the sentence for a hint that denies it."""
    if hint is not None and bool(hint) != fact:
        raise ArgumentError(sentence)
    return fact


def holds_always(operator: Any) -> Any:
    """The check, as a method, of what need not be checked."""
    return build.NoOp()


def hints_of(operator: Any) -> Hints:
    """The hints about an operator, as arguments for another of which the same holds."""
    return {name: getattr(operator, name) for name in
            ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")}


def commuting(a: Any, b: Any) -> Hints:
    """Hints about the product of square operators that may change places, from those of the two."""
    singular = False in (a.is_non_singular, b.is_non_singular)
    adjoint = {a.is_self_adjoint, b.is_self_adjoint}
    return {"is_non_singular": False if singular else a.is_non_singular and b.is_non_singular,
            "is_self_adjoint": None if None in adjoint or adjoint == {False} else adjoint == {True},
            "is_positive_definite": a._can_use_cholesky() and b._can_use_cholesky() or None, "is_square": True}


def use_operator_or_provided_hint_unless_contradicting(operator: Any, hint_attr_name: str, provided_hint_value: Hint,
                                                       message: str) -> Hint:
    """What is known of either; None if nothing is. Raises ArgumentError with the message if they contradict."""
    known = {bool(hint) for hint in (getattr(operator, hint_attr_name), provided_hint_value) if hint is not None}
    if len(known) > 1:
        raise ArgumentError(message)
    return known.pop() if known else None


def assert_no_entries_with_modulus_zero(x: Any, message: str | None = None,
                                        name: str = "assert_no_entries_with_modulus_zero") -> Any:
    """The operation that fails if an element is 0. x: number[...]."""
    with scope(name, name, [x]):
        size = modulus(convert_to_tensor(x, name="x"))
        return assert_less(convert_to_tensor(0, dtype=size.dtype), size, message=message)


def assert_zero_imag_part(x: Any, message: str | None = None, name: str = "assert_zero_imag_part") -> Any:
    """The operation that fails if an element is not real. x: number[...]."""
    with scope(name, name, [x]):
        x = convert_to_tensor(x, name="x")
        return assert_equal(build.ZerosLike(imag(x)), imag(x), message=message) if x.dtype.is_complex else build.NoOp()


def assert_compatible_matrix_dimensions(operator: Any, x: Tensor) -> Any:
    """The operation that fails if the operator cannot be applied to x: number[..., m, k] for its size."""
    return assert_equal(build.Shape(x)[-2], operator.domain_dimension_tensor(), message=(
        "Dimensions are not compatible.  shape[-2] of argument to be the same as this operator"))


def assert_is_batch_matrix(tensor: Tensor) -> None:
    """Raises ArgumentError for a tensor that is known to be no matrix."""
    if tensor.shape.ndims is not None and tensor.shape.ndims < 2:
        raise ArgumentError(f"Expected [batch] matrix to have at least two dimensions.  Found: {tensor}")


def broadcast_shapes(shapes: Iterable[Any]) -> TensorShape:
    """The shape that all of these broadcast to."""
    whole = TensorShape([])
    for shape in shapes:
        whole = broadcast_static_shape(whole, shape)
    return whole


def broadcast_shape_tensors(shapes: Iterable[Any]) -> Tensor:
    """The same of shapes known in a run."""
    first, *more = shapes
    for shape in more:
        first = build.BroadcastArgs(first, shape)
    return first


def broadcast_matrix_batch_dims(batch_matrices: Iterable[Any], name: str | None = None) -> list[Tensor]:
    """The matrices, all with the axes before the last two that these broadcast to.

    Raises ArgumentError for what has fewer than two axes, ShapeError for axes that do not fit each other.
    """
    assert_proper_iterable(batch_matrices)
    with scope(name, "broadcast_matrix_batch_dims", list(batch_matrices)):
        matrices = [convert_to_tensor(matrix) for matrix in batch_matrices]
        for matrix in matrices:
            assert_is_batch_matrix(matrix)
        if len(matrices) < 2:
            return matrices
        whole = broadcast_shapes(matrix.shape[:-2] for matrix in matrices)
        if whole.is_fully_defined():
            batch: Any = np.array(whole.as_list(), np.int32)
            return [matrix if matrix.shape[:-2] == whole else _spread(matrix, batch) for matrix in matrices]
        batch = broadcast_shape_tensors(build.Shape(matrix)[:-2] for matrix in matrices)
        return [_spread(matrix, batch) for matrix in matrices]


def _spread(matrix: Tensor, batch: Any) -> Tensor:
    return build.BroadcastTo(matrix, build.ConcatV2(0, batch, build.Shape(matrix)[-2:]))


def cholesky_solve_with_broadcast(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """cholesky_solve of batches that broadcast."""
    with scope(name, "CholeskySolveWithBroadcast", [chol, rhs]):
        chol, rhs = broadcast_matrix_batch_dims([chol, rhs])
        return cholesky_solve(chol, rhs)


def matrix_solve_with_broadcast(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """matrix_solve of batches that broadcast."""
    with scope(name, "MatrixSolveWithBroadcast", [matrix, rhs]):
        return build.MatrixSolve(*_of_one_dtype(matrix, rhs), adjoint=adjoint)


def matrix_triangular_solve_with_broadcast(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False,
                                           name: str | None = None) -> Tensor:
    """matrix_triangular_solve of batches that broadcast."""
    with scope(name, "MatrixTriangularSolve", [matrix, rhs]):
        return build.MatrixTriangularSolve(*_of_one_dtype(matrix, rhs), lower=lower, adjoint=adjoint)


def _of_one_dtype(matrix: Any, rhs: Any) -> list[Tensor]:
    matrix = convert_to_tensor(matrix, name="matrix")
    return broadcast_matrix_batch_dims([matrix, convert_to_tensor(rhs, name="rhs", dtype=matrix.dtype.base_dtype)])
