"""tensorflow.python.framework.tensor_spec and type_spec: what a tensor is, without the tensor."""
from __future__ import annotations

from ...api.type_specs import BoundedTensorSpec, IndexedSlicesSpec, SparseTensorSpec, TensorSpec, TypeSpec

__all__ = ["BoundedTensorSpec", "IndexedSlicesSpec", "SparseTensorSpec", "TensorSpec", "TypeSpec"]
