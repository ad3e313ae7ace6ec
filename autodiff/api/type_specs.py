"""tf.TensorSpec and its kin: element type and shape of a tensor, sparse tensor or IndexedSlices, without the value."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import as_dtype, float32, int64
from ..core.errors import ArgumentError
from ..core.shapes import TensorShape
from ..core.tensor import Tensor


class TypeSpec:
    """What a value is. Two are equal if they are of one class and say the same."""

    def _facts(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or what another spec stands for, may be taken for this."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._facts() == other._facts()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), str(self._facts())))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._facts()!r}"


class TensorSpec(TypeSpec):
    """shape, dtype and name of a tensor."""

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        self.shape, self.dtype, self.name = TensorShape(shape), as_dtype(dtype), name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> "TensorSpec":
        """That of another spec, under a name of its own."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> "TensorSpec":
        """That of a tensor. Raises ArgumentError (ValueError) for anything else."""
        if not isinstance(tensor, Tensor):
            raise ArgumentError("`tensor` should be a tf.Tensor", found=repr(tensor))
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    def _facts(self) -> tuple[Any, ...]:
        return self.shape.dims_tuple, self.dtype, self.name

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        return self.shape.is_compatible_with(spec_or_value.shape) and self.dtype == spec_or_value.dtype

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


class BoundedTensorSpec(TensorSpec):
    """A TensorSpec with the least and the greatest value that elements have."""

    def __init__(self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None) -> None:
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ArgumentError("minimum and maximum must be provided; but saw "
                                f"'{minimum}' and '{maximum}'")
        self.minimum: np.ndarray = np.array(minimum, self.dtype.as_numpy_dtype)
        self.maximum: np.ndarray = np.array(maximum, self.dtype.as_numpy_dtype)
        for bound, what in ((self.minimum, "minimum"), (self.maximum, "maximum")):
            bound.setflags(write=False)
            try:
                np.broadcast_shapes(bound.shape, tuple(1 if d is None else d for d in self.shape.as_list()))
            except (ValueError, TypeError) as error:
                raise ArgumentError(f"{what} is not compatible with shape. Message: {error}") from None

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> "BoundedTensorSpec":
        """That of another bounded spec, or of a type's whole range."""
        low, high = (spec.minimum, spec.maximum) if hasattr(spec, "minimum") else (spec.dtype.min, spec.dtype.max)
        return cls(spec.shape, spec.dtype, low, high, name or spec.name)

    def _facts(self) -> tuple[Any, ...]:
        return (*super()._facts(), self.minimum.tolist(), self.maximum.tolist())

    def __repr__(self) -> str:
        return (f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, "
                f"minimum={self.minimum!r}, maximum={self.maximum!r})")


class SparseTensorSpec(TypeSpec):
    """shape and dtype of a sparse tensor."""

    def __init__(self, shape: Any = None, dtype: Any = float32) -> None:
        self.shape, self.dtype = TensorShape(shape), as_dtype(dtype)

    def _facts(self) -> tuple[Any, ...]:
        return self.shape.dims_tuple, self.dtype

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        return hasattr(spec_or_value, "dense_shape") or isinstance(spec_or_value, SparseTensorSpec) and \
            self.shape.is_compatible_with(spec_or_value.shape) and self.dtype == spec_or_value.dtype


class IndexedSlicesSpec(TypeSpec):
    """shape and dtype of what IndexedSlices stand for, and the types of their parts."""

    def __init__(self, shape: Any = None, dtype: Any = float32, indices_dtype: Any = int64,
                 dense_shape_dtype: Any = None, indices_shape: Any = None) -> None:
        self.shape, self.dtype = TensorShape(shape), as_dtype(dtype)
        self.indices_dtype, self.indices_shape = as_dtype(indices_dtype), TensorShape(indices_shape).with_rank(1)
        self.dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)

    def _facts(self) -> tuple[Any, ...]:
        return (self.shape.dims_tuple, self.dtype, self.indices_dtype, self.dense_shape_dtype,
                self.indices_shape.dims_tuple)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        return isinstance(spec_or_value, IndexedSlicesSpec) and self.dtype == spec_or_value.dtype and \
            self.shape.is_compatible_with(spec_or_value.shape)
