"""tensorflow.python.framework.constant_op: its `constant` is stricter than tf.constant, which it calls constant_v1."""
from __future__ import annotations

from typing import Any

from ....api.arrays.creation import constant as constant_v1
from ....core.convert import as_array
from ....core.dtypes import as_dtype
from ....core.errors import KindError
from ....core.graph import Tensor
from ....core.shapes import as_dims, num_elements

__all__ = ["constant", "constant_v1"]


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """tf.constant of a value that has as many elements as the shape, or one. Raises KindError (TypeError) if not."""
    array = as_array(value, None if dtype is None else as_dtype(dtype).base_dtype)
    if shape is not None and array.size not in (1, num_elements(as_dims(shape))):
        raise KindError(f"Expected Tensor's shape: {as_dims(shape)}, got {array.shape}.")
    return constant_v1(array, shape=shape, name=name)
