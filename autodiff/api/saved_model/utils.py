"""Tensors as a SavedModel's signatures name them."""
from __future__ import annotations

from typing import Any

from ...core.errors import StateError
from ...core.graph import get_default_graph
from ...core.sparse_tensor import SparseTensor
from ...files.tensor_values import dtype_number, proto_of_shape
from ...runtime.eager import executing_eagerly
from ..messages import TensorInfo


def build_tensor_info(tensor: Any) -> Any:
    """The TensorInfo of a tensor, variable or SparseTensor: its name, element type and shape.

    Raises StateError (RuntimeError) while executing eagerly, where tensors have no names.
    """
    if executing_eagerly():
        raise StateError("build_tensor_info is not supported in Eager mode.")
    made = TensorInfo(dtype=dtype_number(tensor.dtype.base_dtype.name))
    if isinstance(tensor, SparseTensor):
        made.coo_sparse.values_tensor_name = tensor.values.name
        made.coo_sparse.indices_tensor_name = tensor.indices.name
        made.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        made.name = tensor.name
    shape = tensor.get_shape()
    made.tensor_shape.CopyFrom(proto_of_shape(None if shape.ndims is None else shape.as_list()))
    return made


def build_tensor_info_from_op(op: Any) -> Any:
    """The TensorInfo of an operation: its name alone."""
    return TensorInfo(name=op.name, tensor_shape=proto_of_shape(None))


def get_element_from_tensor_info(tensor_info: Any, graph: Any = None, import_scope: str | None = None) -> Any:
    """The operation or tensor of a TensorInfo's name. Raises UnknownNameError (KeyError) if it is not there."""
    name = f"{import_scope}/{tensor_info.name}" if import_scope else tensor_info.name
    return (graph or get_default_graph()).as_graph_element(name)


def get_tensor_from_tensor_info(tensor_info: Any, graph: Any = None, import_scope: str | None = None) -> Any:
    """The tensor of a TensorInfo in a graph. Raises UnknownNameError (KeyError) if it is not there."""
    graph = graph or get_default_graph()

    def named(name: str) -> Any:
        return graph.get_tensor_by_name(f"{import_scope}/{name}" if import_scope else name)

    if tensor_info.WhichOneof("encoding") == "coo_sparse":
        sparse = tensor_info.coo_sparse
        return SparseTensor(named(sparse.indices_tensor_name), named(sparse.values_tensor_name),
                            named(sparse.dense_shape_tensor_name))
    return named(tensor_info.name)
