"""SparseTensor: the entries of a tensor that are not zero, and where they are."""
from __future__ import annotations

from typing import Any, NamedTuple

from .constant_value import static_dims
from .convert import to_tensor
from .defaults import session_for
from .dimensions import merge_sizes
from .dtypes import DType, float32, float64, int8, int16, int32, int64, uint8, uint16
from .errors import KindError
from .graph import Graph, Operation, Tensor, graph_of
from .infer import rank_of
from .name_scope import scope
from .op import build
from .shapes import TensorShape

_QUOTIENTS = {int8: float32, uint8: float32, int16: float32, uint16: float32, int32: float64, int64: float64}


class SparseTensorValue(NamedTuple):
    """A SparseTensor's arrays: what fetching one gives and what may be fed for one."""

    indices: Any
    values: Any
    dense_shape: Any


class SparseTensor:
    """values[i] at indices[i], zero elsewhere.

    indices: int64[n, rank]. values: any[n]. dense_shape: int64[rank]. Most functions expect the indices in row-major
    order, each once; tf.sparse_reorder sorts them. Raises ShapeError (ValueError) for parts that do not fit together.
    """

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        with scope(None, "SparseTensor", [indices, values, dense_shape]):
            graph = graph_of([indices, values, dense_shape])
            self._indices = to_tensor(graph, indices, int64, "indices")
            self._values = to_tensor(graph, values, None, "values")
            self._dense_shape = to_tensor(graph, dense_shape, int64, "dense_shape")
        rank_of(self._indices, exactly=2, what="indices")
        rank_of(self._values, exactly=1, what="values")
        rank_of(self._dense_shape, exactly=1, what="dense_shape")
        if self._indices.dims is not None:
            count, rank = self._indices.dims
            merge_sizes(count, self._values.dims[0] if self._values.dims else None)
            merge_sizes(rank, self._dense_shape.dims[0] if self._dense_shape.dims else None)

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> "SparseTensor":
        """A SparseTensor of a SparseTensorValue or another one. Raises KindError (TypeError) for anything else."""
        if not isinstance(sparse_tensor_value, (SparseTensor, SparseTensorValue)):
            raise KindError(expected="a SparseTensor or SparseTensorValue", found=repr(sparse_tensor_value))
        return cls(*parts_of(sparse_tensor_value))

    @property
    def indices(self) -> Tensor:
        return self._indices

    @property
    def values(self) -> Tensor:
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def op(self) -> Operation:
        return self._values.op

    @property
    def graph(self) -> Graph:
        return self._indices.graph

    @property
    def shape(self) -> TensorShape:
        """Static shape of the dense tensor."""
        return TensorShape(static_dims(self._dense_shape))

    def get_shape(self) -> TensorShape:
        return self.shape

    def consumers(self) -> list[Operation]:
        """The operations that take any of the parts as input, each once."""
        return list(dict.fromkeys(op for part in parts_of(self) for op in part.consumers()))

    def eval(self, feed_dict: dict | None = None, session: Any = None) -> SparseTensorValue:
        """The value, from `session` or the default session."""
        return session_for(self.graph, session, "evaluate sparse tensor using `eval()`").run(self, feed_dict)

    def as_tensor(self) -> Tensor:
        """Refuses: a SparseTensor does not become dense unasked. Raises KindError (TypeError)."""
        raise KindError(expected="a tensor", found=f"a SparseTensor: {self}",
                        hint="use tf.sparse_tensor_to_dense, or a tf.sparse function")

    def __mul__(self, other: Any) -> "SparseTensor":
        return self._by("SparseDenseCwiseMul", "mul", other)

    def __rmul__(self, other: Any) -> Any:
        return self * other if isinstance(other, Tensor) else NotImplemented

    def __div__(self, other: Any) -> "SparseTensor":
        return self._by("SparseDenseCwiseDiv", "div", other)

    def __truediv__(self, other: Any) -> "SparseTensor":
        return self._by("SparseDenseCwiseDiv", "truediv", other, _QUOTIENTS.get(self.dtype.base_dtype))

    def _by(self, op: str, name: str, other: Any, wide: DType | None = None) -> "SparseTensor":
        """An op of the entries and of the dense entries in their places. wide: what both become before it."""
        with scope(name, "", [self, other]) as full:
            values, other = self._values, to_tensor(self.graph, other, self.dtype.base_dtype, "y")
            if wide is not None:
                values, other = build.Cast(values, dtype=wide), build.Cast(other, dtype=wide)
            values = getattr(build, op)(self._indices, values, self._dense_shape, other, name=full)
        return self.with_values(values)

    def with_values(self, values: Tensor) -> "SparseTensor":
        """Other values in the same places."""
        return SparseTensor(self._indices, values, self._dense_shape)

    def __str__(self) -> str:
        return f"SparseTensor(indices={self._indices}, values={self._values}, dense_shape={self._dense_shape})"

    __repr__ = __str__


def parts_of(sparse: Any) -> tuple[Any, Any, Any]:
    """The indices, values and dense shape."""
    return sparse.indices, sparse.values, sparse.dense_shape


def as_sparse(value: Any) -> SparseTensor:
    """A SparseTensor, made of a SparseTensorValue if need be. Raises KindError (TypeError) for anything else."""
    if isinstance(value, SparseTensor):
        return value
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    raise KindError(expected="a SparseTensor", found=repr(value),
                    hint="use tf.sparse.from_dense to make one of a tensor")
