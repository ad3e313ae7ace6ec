"""What is known of an operator without applying it: its shape, and hints about what holds of its matrices."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from ....core.convert import convert_to_tensor
from ....core.dtypes import DType, as_dtype
from ....core.errors import ArgumentError, AutodiffError
from ....core.graph import Tensor
from ....core.op import build
from ....core.shapes import Dimension, TensorShape
from ...control.dependencies import name_scope
from ...debugging import is_tensor
from ...variables.module import Module
from . import support
from .support import Hint, settled


class NotServedError(AutodiffError, NotImplementedError):
    """A question that this kind of operator has no answer to."""


class Shaped(Module):
    """Hints, dtype and shape of [batches of] matrices. Raises ArgumentError for hints that contradict each other."""

    _TF_MODULE_IGNORED_PROPERTIES = Module._TF_MODULE_IGNORED_PROPERTIES | {"_graph_parents"}

    def __init__(self, dtype: Any, graph_parents: Sequence[Any] | None = None, is_non_singular: Hint = None,
                 is_self_adjoint: Hint = None, is_positive_definite: Hint = None, is_square: Hint = None,
                 name: str | None = None) -> None:
        if is_positive_definite:
            is_non_singular = settled(is_non_singular, True, "A positive definite matrix is always non-singular.")
        if is_non_singular:
            is_square = settled(is_square, True, "A non-singular matrix is always square.")
        if is_self_adjoint:
            is_square = settled(is_square, True, "A self-adjoint matrix is always square.")
        for i, parent in enumerate(graph_parents or ()):
            if not (support.is_ref(parent) or is_tensor(parent)):
                raise ArgumentError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._is_square_set_or_implied_by_hints = is_square
        self.dtype: DType = as_dtype(dtype).base_dtype if dtype else dtype
        self._graph_parents, self._name = list(graph_parents or ()), name or type(self).__name__
        self.is_non_singular = is_non_singular
        self.is_self_adjoint = is_self_adjoint  # equal to its transposed conjugate
        self.is_positive_definite = is_positive_definite  # x^H A x has a positive real part for each x that is not 0

    @contextlib.contextmanager
    def _name_scope(self, name: str | None = None) -> Iterator[str]:
        with name_scope("/".join(filter(None, (self.name.rstrip("/"), name)))) as full:
            yield full

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors and variables that it is made of."""
        return self._graph_parents

    @property
    def is_square(self) -> Hint:
        same = self.domain_dimension == self.range_dimension
        if self._is_square_set_or_implied_by_hints is False and same:
            raise ArgumentError("User set is_square hint to False, but the operator was square.")
        hint = self._is_square_set_or_implied_by_hints
        return same if hint is None else hint

    def _shape(self) -> TensorShape:
        raise NotServedError("_shape is not implemented.")

    def _shape_tensor(self) -> Tensor:
        raise NotServedError("_shape_tensor is not implemented.")

    @property
    def shape(self) -> TensorShape:
        """[..., m, n], as far as it is known while the graph is built."""
        return self._shape()

    @property
    def batch_shape(self) -> TensorShape:
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int | None:
        return self.shape.ndims

    @property
    def domain_dimension(self) -> Dimension:
        """n, the size of the vectors that it takes."""
        return Dimension(None if self.shape.dims is None else self.shape.dims[-1])

    @property
    def range_dimension(self) -> Dimension:
        """m, the size of the vectors that it gives."""
        return Dimension(None if self.shape.dims is None else self.shape.dims[-2])

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """The shape as int32[rank]; a constant where it is known, as in all that follow."""
        with self._name_scope(name):
            return self._known(self.shape) if self.shape.is_fully_defined() else self._shape_tensor()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        with self._name_scope(name):
            known = self.batch_shape.is_fully_defined()
            return self._known(self.batch_shape) if known else self.shape_tensor()[:-2]

    @staticmethod
    def _known(shape: TensorShape) -> Tensor:
        return support.shape_tensor(shape.as_list())

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        with self._name_scope(name):
            rank = self.tensor_rank
            return build.Size(self.shape_tensor()) if rank is None else convert_to_tensor(rank)

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        return self._size(self.domain_dimension, -1, name)

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        return self._size(self.range_dimension, -2, name)

    def _size(self, size: Dimension, axis: int, name: str) -> Tensor:
        with self._name_scope(name):
            return self.shape_tensor()[axis] if size.value is None else convert_to_tensor(size.value)

    def _diag_shape(self) -> Any:
        """The shape of its diagonal: a list, or a tensor."""
        columns, rows = self.domain_dimension.value, self.range_dimension.value
        if columns is not None and rows is not None and self.batch_shape.is_fully_defined():
            return [*self.batch_shape.as_list(), min(columns, rows)]
        sizes = self.shape_tensor()
        return build.ConcatV2(0, sizes[:-2], build.ExpandDims(build.Min(sizes[-2:], [0]), 0))
