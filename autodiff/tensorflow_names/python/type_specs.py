"""tensorflow.python.framework.tensor_spec, type_spec, composite_tensor: what a value is, without the value."""
from __future__ import annotations

from ...api.type_specs import (
    BoundedTensorSpec,
    CompositeTensor,
    IndexedSlicesSpec,
    SparseTensorSpec,
    TensorSpec,
    TypeSpec,
    register_type_spec_from_value_converter,
    type_spec_from_value,
)

__all__ = ["BatchableTypeSpec", "BoundedTensorSpec", "CompositeTensor", "IndexedSlicesSpec", "SparseTensorSpec",
           "TensorSpec", "TypeSpec", "from_value", "register_type_spec_from_value_converter", "type_spec_from_value"]
from_value, BatchableTypeSpec = type_spec_from_value, TypeSpec
