"""Shapes, joining and splitting: TensorFlow's array functions."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.convert import constant_in, convert_to_tensor, to_tensor
from ...core.dtypes import as_dtype, int32
from ...core.errors import ArgumentError, ShapeError, StateError
from ...core.graph import Tensor, get_default_graph, graph_of
from ...core.infer import axis_in
from ...core.name_scope import scope
from ...core.op import OPS, build
from ...core.shapes import Dimension, TensorShape, as_dims, broadcast, is_known, num_elements
from ...core.sparse_tensor import SparseTensor, SparseTensorValue
from ..common.arguments import one_of
from .creation import ones_like


def shape(input: Any, name: str | None = None, out_type: Any = int32) -> Tensor:
    """The shape as an integer vector: a constant if it is known."""
    with graph_of([input]).name_scope(name or "Shape") as scope:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            return build.Cast(convert_to_tensor(input.dense_shape), dtype=as_dtype(out_type).base_dtype)
        tensor = convert_to_tensor(input)
        if is_known(tensor.dims):
            return _constant(tensor, tensor.dims, out_type, scope)
        return build.Shape(tensor, out_type=as_dtype(out_type), name=scope)


def _constant(like: Tensor, value: Any, out_type: Any, name: str) -> Tensor:
    return constant_in(graph_of([like]), np.array(value, as_dtype(out_type).as_numpy_dtype), name)


def shape_n(input: Any, out_type: Any = int32, name: str | None = None) -> list[Tensor]:
    """The shape of each tensor of a list."""
    with graph_of(input).name_scope(name or "ShapeN"):
        return [build.Shape(x, out_type=as_dtype(out_type)) for x in input]


def size(input: Any, name: str | None = None, out_type: Any = int32) -> Tensor:
    """Count of elements: a constant if the shape is known."""
    with graph_of([input]).name_scope(name or "Size") as scope:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            return build.Prod(shape(input, out_type=out_type), [0], name=scope)
        tensor = convert_to_tensor(input)
        if is_known(tensor.dims) or tensor.dims is not None and 0 in tensor.dims:
            return _constant(tensor, num_elements(tensor.dims) or 0, out_type, scope)
        return build.Size(tensor, out_type=as_dtype(out_type), name=scope)


def rank(input: Any, name: str | None = None) -> Tensor:
    """Count of axes: a constant if it is known."""
    if isinstance(input, (SparseTensor, SparseTensorValue)):
        return size(input.dense_shape, name or "Rank")
    with graph_of([input]).name_scope(name or "Rank") as scope:
        tensor = convert_to_tensor(input)
        if tensor.dims is not None:
            return _constant(tensor, len(tensor.dims), int32, scope)
        return build.Rank(tensor, name=scope)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The same elements in another shape; one size may be -1."""
    return build.Reshape(tensor, shape, name=name)


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x`, checked while it runs to have this shape."""
    return build.EnsureShape(x, shape=as_dims(shape), name=name or "EnsureShape")


def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Tensor:
    """Axes in the order of `perm`, reversed if there is none; conjugated too on demand."""
    with graph_of([a, perm]).name_scope(name or "transpose") as scope:
        a = convert_to_tensor(a, name="a" if perm is None else "x")
        if perm is None:
            count = len(a.dims) if a.dims else build.Rank(a)
            perm = (count - 1) - (np.arange(count, dtype=np.int32) if a.dims else build.Range(0, count, 1))
        made = build.ConjugateTranspose if conjugate and a.dtype.is_complex else build.Transpose
        return made(a, perm, name=scope)


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """One more axis of size 1. Raises ArgumentError (ValueError) without an axis. dim: old name of axis."""
    axis = one_of("axis", axis, "dim", dim)
    if axis is None:
        raise ArgumentError("expand_dims needs an axis")
    return build.ExpandDims(input, axis, name=name)


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Tensor:
    """Without axes of size 1, or without those named. squeeze_dims: old name of axis."""
    axis = one_of("axis", axis, "squeeze_dims", squeeze_dims)
    axes = () if axis is None else (axis,) if np.ndim(axis) == 0 else axis
    return build.Squeeze(input, squeeze_dims=tuple(int(i) for i in axes), name=name)


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input` repeated to a shape that it broadcasts to."""
    return build.BroadcastTo(input, shape, name=name)


def broadcast_static_shape(shape_x: TensorShape, shape_y: TensorShape) -> TensorShape:
    """The shape that two static shapes broadcast to. Raises ShapeError if they do not."""
    try:
        return TensorShape(broadcast(as_dims(shape_x), as_dims(shape_y)))
    except ShapeError:
        raise ShapeError(f"Incompatible shapes for broadcasting: {shape_x} and {shape_y}") from None


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape that two shape tensors broadcast to."""
    return build.BroadcastArgs(shape_x, shape_y)


def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """The tensors one after another along `axis`."""
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    if len(values) == 1:
        with graph_of([values[0], axis]).name_scope(name):
            if convert_to_tensor(axis, int32, "concat_dim").dims not in ((), None):
                raise ArgumentError(expected="a scalar axis", found=repr(axis))
            return build.Identity(values[0], name=name)
    graph, dtype = graph_of([*values, axis]), first_dtype(values)
    with graph.name_scope(name or "concat") as scope:
        tensors = []
        for i, value in enumerate(values):
            tensors.append(to_tensor(graph, value, None if hasattr(value, "op") else dtype, f"values_{i}"))
            dtype = dtype or tensors[0].dtype.base_dtype
        return build.ConcatV2(axis, *tensors, name=scope)


def first_dtype(values: Any) -> Any:
    """The dtype of the first tensor among values, which Python values beside it take; None without one."""
    return next((v.dtype.base_dtype for v in values if isinstance(v, Tensor) or hasattr(v, "as_tensor")), None)


def parallel_stack(values: Any, name: str = "parallel_stack") -> Tensor:
    """The tensors, of known shapes, along a new axis 0. Raises StateError (RuntimeError) when executing eagerly."""
    if get_default_graph().executing_eagerly:
        raise StateError("tf.parallel_stack() is not compatible with eager execution.")
    with scope(name, "parallel_stack", [values]) as full:
        parts = [convert_to_tensor(value) for value in values]
        shape = TensorShape(parts[0].dims)
        if not shape.is_fully_defined():
            raise ShapeError("parallel_stack needs tensors of fully known shapes", found=parts[0].describe())
        return build.Pack(*parts, axis=0, name=full)


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """The tensors side by side along a new axis."""
    if isinstance(values, Tensor) and axis == 0:
        return values
    values = list(values)
    if axis == 0:
        return to_tensor(graph_of(values), values, None, name or "stack")
    definition = OPS["Pack"]
    return definition.build(definition, tuple(values), {"axis": axis}, name or "stack", first_dtype(values))


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Tensor]:
    """The slices along an axis. Raises ArgumentError (ValueError) if their number is not known."""
    value = convert_to_tensor(value) if num is None else value
    if num is None and value.dims is not None:
        if not value.dims:
            raise ArgumentError("cannot unstack a scalar: expected rank >= 1")
        num = value.dims[axis_in(axis, len(value.dims))]
    if num is None:
        raise ArgumentError(f"Cannot infer num from shape {value.shape}", hint="give num")
    return build.Unpack(value, num=num, axis=axis, name=name)


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None,
          name: str = "split") -> list[Tensor]:
    """Pieces along an axis: a number of equal ones, or a list of lengths."""
    sizes = convert_to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, (int, np.integer, Dimension)):
        return build.Split(axis, value, num_split=int(num_or_size_splits), name=name)
    if sizes.dims == ():
        raise ArgumentError(expected="a number or a vector of lengths",
                            found=f"the scalar tensor {num_or_size_splits!r}")
    if num is None:
        num = sizes.dims[0] if sizes.dims else None
        if num is None:
            raise ArgumentError(f"Cannot infer num from shape {num_or_size_splits}", hint="give num")
    return build.SplitV(value, sizes, axis, num_split=num, name=name)


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The part of `size` (-1: the rest) from `begin` on."""
    return build.Slice(input_, begin, size, name=name)


def strided_slice(input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: int = 0, end_mask: int = 0,
                  ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: Any = None,
                  name: str | None = None) -> Tensor:
    """`input_[begin:end:strides]` in each axis; bit i of a mask speaks of entry i."""
    strides = ones_like(begin) if strides is None else strides
    return build.StridedSlice(input_, begin, end, strides, begin_mask=begin_mask, end_mask=end_mask,
                              ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask,
                              shrink_axis_mask=shrink_axis_mask, name=name)
