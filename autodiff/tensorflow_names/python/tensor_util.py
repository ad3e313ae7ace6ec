"""tensorflow.python.framework.tensor_util: values of tensors known while the graph is built, and their messages."""
from __future__ import annotations

from typing import Any

from ...api.tensor_messages import get_static_value, make_ndarray, make_tensor_proto
from ...core.constant_value import static_dims, static_value
from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ...core.shapes import TensorShape
from ...core.tensor import Tensor

__all__ = ["MakeNdarray", "constant_value", "make_ndarray", "make_tensor_proto"]
constant_value = get_static_value
MakeNdarray = make_ndarray
_ENABLE_MAYBE_SET_STATIC_SHAPE = True  # asked by nobody: shapes are always told


def TF_TryEvaluateConstant_wrapper(graph: Any, output: Tensor) -> Any:  # noqa: N802
    """The value of a tensor if it is known, else None: for code that asks the C library for it, which knows more."""
    return constant_value(output)


def ShapeEquals(tensor_proto: Any, shape: Any) -> bool:  # noqa: N802
    """Whether a TensorProto has this shape: a list, or a TensorShapeProto."""
    return TensorShape(tensor_proto.tensor_shape).as_list() == TensorShape(shape).as_list()


def shape_tensor(shape: Any) -> Tensor:
    """A shape as an integer vector, int32 where that is enough."""
    sizes = shape.as_list() if isinstance(shape, TensorShape) else shape
    return convert_to_tensor(sizes, None if len(sizes) else int32)


def is_tensor(x: Any) -> bool:
    """Whether this is a tensor, a sparse tensor or a variable."""
    return isinstance(x, Tensor) or hasattr(x, "as_tensor") or hasattr(x, "dense_shape")


def constant_value_as_shape(tensor: Any) -> TensorShape:
    """The shape that an integer vector stands for, as far as it is known."""
    if tensor.shape.ndims == 0:
        value = static_value(tensor)
        if value is None:
            raise ValueError("Received a scalar with unknown value as shape; require a statically known scalar with "
                             "value '-1' to describe an unknown shape.")
        if value != -1:
            raise ValueError(f"Received a scalar value '{value}' as shape; require a statically known scalar with "
                             "value '-1' to describe an unknown shape.")
        return TensorShape(None)
    return TensorShape(static_dims(tensor))
