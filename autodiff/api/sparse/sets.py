"""Sets along the last axis of tensors: the namespace tf.sets."""
from __future__ import annotations

from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import int8, int32, int64
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ...core.sparse_tensor import SparseTensor, SparseTensorValue, as_sparse
from ..arrays.creation import ones_like
from ..arrays.shaping import shape
from ..common.unsupported import refusing
from .arithmetic import sparse_reduce_sum

__all__ = ["difference", "intersection", "set_difference", "set_intersection", "set_size", "set_union", "size", "union"]


def _entries(given: Any) -> SparseTensor:
    """Every element of a tensor, or the entries of a sparse one."""
    if isinstance(given, (SparseTensor, SparseTensorValue)):
        return as_sparse(given)
    tensor = convert_to_tensor(given)
    where = build.Where(ones_like(tensor, dtype=int8))
    return SparseTensor(where, build.GatherNd(tensor, where), shape(tensor, out_type=int64))


def _combined(a: Any, b: Any, operation: str, name: str) -> SparseTensor:
    with scope(None, name, [a, b]):
        first, second = _entries(a), _entries(b)
        return SparseTensor(*build.SetOperation(
            first.indices, first.values, first.dense_shape, second.indices, second.values, second.dense_shape,
            operation=operation))


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """What is in both, for each place of all axes but the last, ascending. int or string[..., n], or sparse."""
    return _combined(a, b, "intersection", "intersection")


def set_union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """What is in one of them, for each place of all axes but the last, ascending. int or string[..., n], or sparse."""
    return _combined(a, b, "union", "union")


def set_difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """What is in a and not in b, for each place of all axes but the last; the other way round without aminusb."""
    return _combined(a, b, "a-b" if aminusb else "b-a", "difference")


def set_size(a: Any, validate_indices: bool = True) -> Tensor:
    """How many different members there are at each place of all axes but the last. -> int32[...]."""
    members = _combined(a, a, "union", "size")
    return sparse_reduce_sum(SparseTensor(members.indices, ones_like(members.values, dtype=int32),
                                          members.dense_shape), axis=-1)


difference, intersection, size, union = set_difference, set_intersection, set_size, set_union

__getattr__ = refusing("tf.sets", __name__)
