"""tensorflow.python.framework.common_shapes: shapes of broadcasts."""
from __future__ import annotations

from typing import Any

from ...api.arrays.shaping import broadcast_static_shape
from ...core.shapes import TensorShape


def broadcast_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape of two that are broadcast. Raises ValueError where they do not go together."""
    return broadcast_static_shape(TensorShape(shape_x), TensorShape(shape_y))


def scalar_shape(unused_op: Any) -> list[TensorShape]:
    """The shape of one scalar output."""
    return [TensorShape([])]


def unknown_shape(op: Any) -> list[TensorShape]:
    """Unknown shapes, one for each output."""
    return [TensorShape(None) for _ in op.outputs]


def call_cpp_shape_fn(op: Any, require_shape_fn: bool = True) -> Any:
    """The shapes of an operation's outputs, as they were inferred when it was made."""
    return {"shapes": [tensor.shape for tensor in op.outputs]}


def is_broadcast_compatible(shape_x: Any, shape_y: Any) -> bool:
    """Whether two shapes can be broadcast together; False for one of unknown rank."""
    x, y = TensorShape(shape_x), TensorShape(shape_y)
    if x.ndims is None or y.ndims is None:
        return False
    try:
        broadcast_shape(x, y)
    except ValueError:
        return False
    return True
