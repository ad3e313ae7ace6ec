"""tf.TensorSpec and its kin: element type and shape of a tensor, sparse tensor or IndexedSlices, without the value."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core import nest
from ..core.convert import as_array, convert_to_tensor
from ..core.dtypes import DType, as_dtype, float32, int64, variant
from ..core.errors import ArgumentError, KindError
from ..core.indexed_slices import IndexedSlices, IndexedSlicesValue
from ..core.shapes import TensorShape
from ..core.sparse_tensor import SparseTensor, SparseTensorValue, parts_of
from ..core.tensor import Tensor


class CompositeTensor:
    """A value made of several tensors. `_type_spec`: the TypeSpec that takes it apart and puts it together again."""

    @property
    def _type_spec(self) -> "TypeSpec":
        raise NotImplementedError(f"{type(self).__name__}._type_spec()")


class TypeSpec:
    """What a value is. Two are equal if they are of one class and `_serialize` gives the same for both.

    A class of a script's own has value_type, _component_specs, _to_components, _from_components and _serialize.
    """

    _component_specs: Any
    value_type: Any

    def _serialize(self) -> tuple[Any, ...]:
        raise NotImplementedError(f"{type(self).__name__}._serialize()")

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> "TypeSpec":
        return cls(*serialization)

    def _to_components(self, value: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._to_components()")

    def _from_components(self, components: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._from_components()")

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return nest.flatten(self._component_specs)

    def _to_tensor_list(self, value: Any) -> list[Any]:
        return nest.flatten(self._to_components(value))

    def _from_tensor_list(self, tensor_list: Any) -> Any:
        return self._from_components(nest.pack_sequence_as(self._component_specs, tensor_list))

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or what another spec stands for, may be taken for this."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        return type(self) is type(other) and _fits(self._serialize(), other._serialize())

    def most_specific_compatible_type(self, other: "TypeSpec") -> "TypeSpec":
        """The spec that says what both say. Raises ArgumentError (ValueError) if there is none."""
        if type(self) is not type(other):
            raise ArgumentError(f"No TypeSpec is compatible with both {self} and {other}")
        return self._deserialize(_common(self._serialize(), other._serialize()))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _key(self._serialize()) == _key(other._serialize())

    def __hash__(self) -> int:
        return hash((type(self), _key(self._serialize())))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"


def _key(part: Any) -> Any:
    """What a part of a spec is compared by."""
    if isinstance(part, Mapping):
        return tuple((key, _key(part[key])) for key in sorted(part))
    if isinstance(part, tuple):
        return tuple(map(_key, part))
    if isinstance(part, TensorShape):
        return TensorShape, part.dims_tuple
    return (part.shape, str(part.tolist())) if isinstance(part, np.ndarray) else part


def _fits(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_fits, a, b))
    if isinstance(a, Mapping):
        return sorted(a) == sorted(b) and all(_fits(a[key], b[key]) for key in a)
    return a.is_compatible_with(b) if isinstance(a, (TypeSpec, TensorShape, DType)) else _key(a) == _key(b)


def _common(a: Any, b: Any) -> Any:
    if type(a) is type(b):
        if isinstance(a, tuple) and len(a) == len(b):
            return tuple(map(_common, a, b))
        if isinstance(a, Mapping) and sorted(a) == sorted(b):
            return {key: _common(a[key], b[key]) for key in a}
        if isinstance(a, TensorShape):
            return a.most_specific_compatible_shape(b)
        if isinstance(a, TypeSpec):
            return a.most_specific_compatible_type(b)
        if _key(a) == _key(b):
            return a
    raise ArgumentError(f"Types are not compatible: {a!r} vs {b!r}")


_CONVERTERS: list[tuple[type, Callable[[Any], TypeSpec], bool]] = []


def register_type_spec_from_value_converter(type_object: type, converter_fn: Callable[[Any], TypeSpec],
                                            allow_subclass: bool = False) -> None:
    """Let type_spec_from_value describe the objects of a class by this function."""
    _CONVERTERS.append((type_object, converter_fn, allow_subclass))


def type_spec_from_value(value: Any) -> TypeSpec:
    """What a value is; nothing is added to a graph. Raises KindError (TypeError) for what no spec describes."""
    for kind, convert, allow_subclass in reversed(_CONVERTERS):
        if type(value) is kind or allow_subclass and isinstance(value, kind):
            return convert(value)
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, (SparseTensor, SparseTensorValue)):
        return SparseTensorSpec(getattr(value, "shape", None), as_dtype(value.values.dtype))
    if isinstance(value, IndexedSlices):
        return IndexedSlicesSpec(
            value.shape, value.dtype, value.indices.dtype,
            None if value.dense_shape is None else value.dense_shape.dtype, value.indices.shape)
    if isinstance(value, Tensor) or hasattr(value, "as_tensor"):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    try:
        array = as_array(value)
    except (TypeError, ValueError):
        raise KindError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}") from None
    return TensorSpec(array.shape, as_dtype(array.dtype))


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

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.name

    value_type = Tensor

    @property
    def _component_specs(self) -> Any:
        return self

    def _to_components(self, value: Any) -> Any:
        return convert_to_tensor(value, self.dtype)

    def _from_components(self, components: Any) -> Any:
        return components

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        other: Any = spec_or_value if hasattr(spec_or_value, "dtype") else type_spec_from_value(spec_or_value)
        return self.shape.is_compatible_with(other.shape) and self.dtype.is_compatible_with(other.dtype)

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        if not isinstance(other, TensorSpec) or self.dtype != other.dtype:
            raise ArgumentError(f"Types are not compatible: {self!r} vs {other!r}")
        return TensorSpec(self.shape.most_specific_compatible_shape(other.shape), self.dtype,
                          self.name if self.name == other.name else None)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


class BoundedTensorSpec(TensorSpec):
    """A TensorSpec with the least and the greatest value that elements have."""

    def __init__(self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None) -> None:
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ArgumentError(f"minimum and maximum must be provided; but saw '{minimum}' and '{maximum}'")
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

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.minimum, self.maximum, self.name

    def __eq__(self, other: object) -> bool:
        """As another of the same shape, type and name, whose bounds are as near as np.allclose asks."""
        return (isinstance(other, BoundedTensorSpec)
                and _key(TensorSpec._serialize(self)) == _key(TensorSpec._serialize(other))
                and np.allclose(self.minimum, other.minimum) and np.allclose(self.maximum, other.maximum))

    def __hash__(self) -> int:
        return hash(_key(TensorSpec._serialize(self)))

    def __repr__(self) -> str:
        return (f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, "
                f"minimum={self.minimum!r}, maximum={self.maximum!r})")


class SparseTensorSpec(TypeSpec):
    """shape and dtype of a sparse tensor."""

    def __init__(self, shape: Any = None, dtype: Any = float32) -> None:
        self.shape, self.dtype = TensorShape(shape), as_dtype(dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return self.shape, self.dtype

    value_type = SparseTensor

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self.shape.ndims
        return [TensorSpec([None, rank], int64), TensorSpec([None], self.dtype), TensorSpec([rank], int64)]

    @property
    def _flat_tensor_specs(self) -> list[TensorSpec]:
        return [TensorSpec(None, variant)]  # as TensorFlow hands a sparse tensor on: in one piece

    def _to_components(self, value: Any) -> list[Any]:
        return list(parts_of(value))

    def _from_components(self, components: Any) -> Any:
        arrays = all(isinstance(part, np.ndarray) for part in components)
        return (SparseTensorValue if arrays else SparseTensor)(*components)

    def _batch(self, batch_size: int | None) -> "SparseTensorSpec":
        return SparseTensorSpec(TensorShape([batch_size]).concatenate(self.shape), self.dtype)

    def _unbatch(self) -> "SparseTensorSpec":
        return SparseTensorSpec(self.shape[1:], self.dtype)


class IndexedSlicesSpec(TypeSpec):
    """shape and dtype of what IndexedSlices stand for, and the types of their parts."""

    def __init__(self, shape: Any = None, dtype: Any = float32, indices_dtype: Any = int64,
                 dense_shape_dtype: Any = None, indices_shape: Any = None) -> None:
        self._shape, self._values_dtype = TensorShape(shape), as_dtype(dtype)
        self._indices_dtype, self._indices_shape = as_dtype(indices_dtype), TensorShape(indices_shape).with_rank(1)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._values_dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape

    value_type = IndexedSlices

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        rows = self._indices_shape.concatenate(self._shape[1:])
        specs = TensorSpec(rows, self._values_dtype), TensorSpec(self._indices_shape, self._indices_dtype)
        if self._dense_shape_dtype is None:
            return specs
        return (*specs, TensorSpec([self._shape.ndims], self._dense_shape_dtype))

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        parts = value.values, value.indices
        return parts if value.dense_shape is None else (*parts, value.dense_shape)

    def _from_components(self, components: Any) -> Any:
        if all(isinstance(part, np.ndarray) for part in components):
            return IndexedSlicesValue(*components, *[None] * (3 - len(components)))
        return IndexedSlices(*components)


for _kind in (IndexedSlices, SparseTensor):  # of the core, which knows no specs: as composites of a structure
    setattr(_kind, "_type_spec", property(type_spec_from_value))  # noqa: B010
from_value, BatchableTypeSpec = type_spec_from_value, TypeSpec  # TensorFlow's module has them by these names too
