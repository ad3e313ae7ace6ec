"""Values of tensors known while the graph is built, and arrays as TensorProtos and back."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..core.constant_value import static_value
from ..core.convert import as_array
from ..core.dtypes import DType, as_dtype
from ..core.errors import ArgumentError, KindError
from ..core.tensor import Tensor
from ..files.tensor_values import array_of_proto, proto_of_array

_SEEN_THROUGH = ("Rank", "Range", "Cast", "Concat", "ConcatV2", "Pack", "Fill", "Equal", "NotEqual")


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """A tensor's value, if it is made of constants and of known shapes; else None. It may not be fed from then on.

    partial: of a stack, the parts that are known, as an array of objects with None for the others.
    """
    if not isinstance(tensor, Tensor):
        return None if hasattr(tensor, "as_tensor") or hasattr(tensor, "dense_shape") else tensor
    value = _value(tensor, partial)
    if value is not None and not tensor.graph.executing_eagerly:
        tensor.graph.prevent_feeding(tensor)
    return value


def _value(tensor: Tensor, partial: bool) -> Any:
    if getattr(tensor, "array", None) is not None:  # executing eagerly
        return tensor.array  # type: ignore[attr-defined]
    op = tensor.op
    if op.type == "Const":
        return op.attrs["value"]
    if op.type in ("Shape", "Size", "Rank"):
        return static_value(tensor)
    if op.type not in _SEEN_THROUGH:
        return None
    values = [_value(item, partial) for item in op.inputs]
    if partial and op.type == "Pack" and any(value is not None for value in values):
        return np.array([None if value is None else value for value in values], dtype=object) \
            if any(value is None for value in values) else np.array(values)
    if any(value is None for value in values):
        return None
    return np.asarray(op.definition.kernel(*values, **op.attrs), tensor.dtype.as_numpy_dtype)


def make_tensor_proto(values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False,
                      allow_broadcast: bool = False) -> Any:
    """The TensorProto of an array, a list or a number.

    shape: what to give it; a single value stands for all elements. Raises ValueError for None or where values do not
    fit the shape, TypeError for values of another kind than dtype.
    """
    if values is None:
        raise ArgumentError("None values not supported.")
    if hasattr(values, "SerializeToString"):
        return values
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(values, Tensor):
        raise KindError(f"Expected an array, a list or a number, got {values!r}")
    array = _of_quantized(values, wanted) if wanted is not None and wanted.is_quantized else as_array(values, wanted)
    name = (wanted or as_dtype(array.dtype)).name
    if shape is not None:
        dims = tuple(int(d) for d in shape)
        if verify_shape and array.shape != dims:
            raise KindError(f"Expected Tensor's shape: {dims}, got {array.shape}.")
        if array.size > int(np.prod(dims)):
            raise ArgumentError(f"Too many elements provided. Needed at most {int(np.prod(dims))}, but received "
                                f"{array.size}")
        if 0 < array.size < int(np.prod(dims)):
            return proto_of_array(name, array, dims)
        array = array.reshape(dims)
    return proto_of_array(name, array)


def _of_quantized(values: Any, wanted: DType) -> np.ndarray:
    """Numbers that stand for others: each is a tuple of one, as in TensorFlow."""
    leaf = values
    while isinstance(leaf, list) and leaf:
        leaf = leaf[0]
    if not isinstance(leaf, (tuple, np.ndarray)):
        raise KindError(f"Expected {wanted.name}, got {leaf!r} of type {type(leaf).__name__!r} instead.",
                        hint="write each number as a tuple of one")
    array: np.ndarray = np.array(values, wanted.as_numpy_dtype)
    return array if array.dtype.names is None else array[array.dtype.names[0]].reshape(array.shape)


def make_ndarray(tensor: Any) -> np.ndarray:
    """The array of a TensorProto. Raises TypeError for a type that has no arrays."""
    return array_of_proto(tensor)
