"""IndexedSlices: the gradient of a gather, kept as the rows that were looked up."""
from __future__ import annotations

from typing import Any, NamedTuple

from .constant_value import static_dims
from .dtypes import DType
from .errors import ArgumentError
from .graph import Graph, Operation, Tensor
from .op import build
from .shapes import TensorShape


class IndexedSlicesValue(NamedTuple):
    """The fetched value of an IndexedSlices: values[i] is added to row indices[i]."""

    values: Any
    indices: Any
    dense_shape: Any


class IndexedSlices:
    """Rows of a gradient: the dense one has values[i] added to row indices[i], zero elsewhere.

    values: float[n, ...]. indices: int[n], duplicates allowed. dense_shape: int[rank] or None.
    It has no arithmetic; ops that take it densify it, duplicates summed.
    """

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None) -> None:
        self.values, self.indices, self.dense_shape = values, indices, dense_shape

    @property
    def dtype(self) -> DType:
        return self.values.dtype

    @property
    def name(self) -> str:
        return self.values.name

    @property
    def op(self) -> Operation:
        return self.values.op

    @property
    def graph(self) -> Graph:
        return self.values.graph

    @property
    def device(self) -> str:
        return self.values.device

    @property
    def shape(self) -> TensorShape:
        """Static shape of the dense gradient."""
        dims = None if self.dense_shape is None else static_dims(self.dense_shape)
        if dims is None and self.values.dims is not None:
            dims = (None, *self.values.dims[1:])
        return TensorShape(dims)

    def get_shape(self) -> TensorShape:
        return self.shape

    def as_tensor(self) -> Tensor:
        """The dense gradient, duplicates summed. Raises ArgumentError (ValueError) without dense_shape."""
        if self.dense_shape is None:
            raise ArgumentError(expected=f"dense_shape to make a tensor of {self}", found="None")
        rows = self.dense_shape[0]
        dense = build.UnsortedSegmentSum(self.values, self.indices, rows)
        dense.set_shape(self.shape)
        return dense

    def __neg__(self) -> "IndexedSlices":
        return IndexedSlices(-self.values, self.indices, self.dense_shape)

    def __str__(self) -> str:
        shape = "" if self.dense_shape is None else f", dense_shape={self.dense_shape}"
        return f"IndexedSlices(indices={self.indices}, values={self.values}{shape})"

    __repr__ = __str__


def dense(gradient: Tensor | IndexedSlices) -> Tensor:
    """A gradient as a Tensor."""
    return gradient.as_tensor() if isinstance(gradient, IndexedSlices) else gradient
