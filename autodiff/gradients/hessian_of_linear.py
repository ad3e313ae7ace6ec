"""Hessians of a function of A x, element by element: A^T diag(d) A, seen from the backward pass.

Logistic, Poisson and least-squares regression are of this kind.
"""
from __future__ import annotations

from typing import NamedTuple

from ..core.graph import Operation, Tensor
from ..core.op import build
from ..core.shapes import num_elements
from .batching import depending_on, vectorize

_SAME_ELEMENTS = frozenset(("Reshape", "Identity", "ExpandDims", "Squeeze"))


class Product(NamedTuple):
    """A product of a fixed matrix with a vector. rows: the matrix is A itself, with a row for each result."""

    matrix: Tensor
    is_rows: bool
    value: Tensor


def weighted_gram(direction: Tensor, found: Tensor) -> Tensor | None:
    """A^T diag(d) A, if that is what the linear map from `direction` to `found` is; else None."""
    ops = depending_on([found], {direction: direction})
    products = [p for op in ops if op.type == "MatMul" for p in _product(op, direction, ops)]
    if len(products) != 2 or sum(op.type == "MatMul" for op in ops) != 2:
        return None
    first, last = products
    if first.matrix is not last.matrix or first.is_rows is last.is_rows or not direction.dtype.is_floating:
        return None
    count = num_elements(first.value.dims)
    if count is None or not all(_goes_straight(op, first.value, last.value, count) for op in ops):
        return None
    inner = next(t for t in last.value.op.inputs if t is not last.matrix)
    ones = build.Fill([1, *first.value.dims], build.OnesLike(first.value[0, 0]))  # type: ignore[misc]
    weights = vectorize([inner], {first.value: ones}, 1)[0]
    matrix = first.matrix if first.is_rows else build.Transpose(first.matrix, [1, 0])
    return build.WeightedGram(matrix, build.Reshape(weights, [count]))


def _product(op: Operation, direction: Tensor, ops: list[Operation]) -> list[Product]:
    """The product that a MatMul is, if it is one."""
    on_the_way = {t for o in ops for t in o.outputs} | {direction}
    fixed = [i for i, t in enumerate(op.inputs) if t not in on_the_way]
    if len(fixed) != 1 or 1 not in (op.outputs[0].dims or ()):
        return []
    place = fixed[0]
    is_transposed = op.attrs["transpose_a" if place == 0 else "transpose_b"]
    return [Product(op.inputs[place], (place == 0) is not is_transposed, op.outputs[0])]


def _goes_straight(op: Operation, first: Tensor, last: Tensor, count: int) -> bool:
    """Whether an op is one of the products, moves nothing, or goes element by element between the two."""
    if op.type == "MatMul":
        return True
    size = num_elements(op.outputs[0].dims)
    if op.type in _SAME_ELEMENTS:
        return size is not None and size == num_elements(op.inputs[0].dims)
    is_between = first.op.index < op.index < last.op.index
    return is_between and op.definition.elementwise and size == count
