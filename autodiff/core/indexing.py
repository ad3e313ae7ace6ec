"""`tensor[1:, ..., None]`: a Python index as the inputs and masks of StridedSlice."""
from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import DType, int32
from .errors import ArgumentError, KindError
from .op import OPS
from .shapes import merge, num_elements

PART = "_part_of"  # of a tensor that was sliced while executing eagerly: (the variable's handle, the index)


def slice_tensor(graph: Any, tensor: Any, key: Any, *, name: str = "strided_slice", value: Any = None) -> Any:
    """The StridedSlice that a Python index means. Items may be ints, slices, `...`, None or scalar tensors.

    A boolean tensor or array alone is a mask. graph: the one that the ops join. value: what the part of the variable
    `tensor` is set to instead. Raises KindError (a TypeError) for any other item.
    """
    if isinstance(key, bool) or getattr(getattr(key, "dtype", None), "kind", "") == "b":
        return mask_tensor(graph, tensor, key)
    items = key if isinstance(key, (tuple, list)) else (key,)
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)
    for i, item in enumerate(items):
        bounds, flags = _bounds(item, tensor)
        for target, bound in zip((begin, end, strides), bounds):
            target.append(bound)
        for flag in flags:
            masks[flag] |= 1 << i
    with graph.as_default(), graph.name_scope(name) as scope:
        vectors = [_vector(graph, part) for part in (begin, end, strides)]
        if value is not None:
            return OPS["StridedSliceAssign"](tensor, *vectors, value, name=scope, **masks)
        return OPS["StridedSlice"](tensor, *vectors, name=scope, **masks)


def assigner(tensor: Any) -> Any:
    """A function of (value, name=None) that assigns to the part of a variable which this slice reads; else None.

    It returns the result of the variable's assign.
    """
    if PART in vars(tensor):
        variable, key = vars(tensor)[PART]
        return lambda value, name=None: slice_tensor(variable.graph, variable, key, value=value)
    source = tensor.op.inputs[0].op if tensor.op is not None and tensor.op.type == "StridedSlice" else None
    if source is None or source.type not in ("Identity", "ReadVariableOp"):
        return None
    handle = source.inputs[0]
    if not handle.dtype.is_ref and handle.dtype.name != "resource":
        return None

    def assign(value: Any, name: str | None = None) -> Any:
        return OPS["StridedSliceAssign"](handle, *tensor.op.inputs[1:], value, name=name or f"{tensor.op.name}/_assign",
                                         **tensor.op.attrs)
    return assign


def mask_tensor(graph: Any, tensor: Any, mask: Any, axis: int = 0, *, name: str = "boolean_mask") -> Any:
    """The slices of `tensor` where the mask holds; the mask's axes stand for those from `axis` on, which become one.

    Raises ArgumentError for a mask of unknown rank or without axes, ShapeError for sizes that differ.
    """
    with graph.name_scope(name):
        mask = mask if hasattr(mask, "dims") else OPS["Identity"](mask, name="mask")
        if not mask.dims:
            raise ArgumentError("mask cannot be scalar." if mask.dims is not None else
                                "Number of mask dimensions must be specified, even if some dimensions are None.",
                                expected="a mask of known rank >= 1", found=mask.describe())
        last = axis + len(mask.dims)
        if tensor.dims is not None:
            merge(tensor.dims[axis:last], mask.dims)
        tensor = _merged_axes(tensor, axis, last)  # for one axis too: the gradient is then dense, as in TensorFlow
        rows = OPS["Squeeze"](OPS["Where"](OPS["Reshape"](mask, [-1])), squeeze_dims=(1,))
        return OPS["GatherV2"](tensor, rows, axis)


def _merged_axes(tensor: Any, first: int, last: int) -> Any:
    shape = OPS["Shape"](tensor)
    size = OPS["Prod"](shape[first:last], [0])
    merged = OPS["Reshape"](tensor, OPS["ConcatV2"](0, shape[:first], OPS["Pack"](size, axis=0), shape[last:]))
    if tensor.dims is not None:
        merged.set_shape((*tensor.dims[:first], num_elements(tensor.dims[first:last]), *tensor.dims[last:]))
    return merged


def _bounds(item: Any, tensor: Any) -> tuple[tuple[Any, Any, Any], tuple[str, ...]]:
    if item is Ellipsis:
        return (0, 0, 1), ("ellipsis_mask",)
    if item is None:
        return (0, 0, 1), ("new_axis_mask",)
    if isinstance(item, slice):
        flags = tuple(flag for flag, part in (("begin_mask", item.start), ("end_mask", item.stop)) if part is None)
        bounds = (0 if item.start is None else _scalar(item.start), 0 if item.stop is None else _scalar(item.stop),
                  1 if item.step is None else _scalar(item.step))
        return bounds, flags
    index = _scalar(item)
    return (index, index + 1, 1), ("shrink_axis_mask",)


_SLICE_TYPE_ERROR = ("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
                     "tensors are valid indices")  # TensorFlow's name of its words


def _scalar(value: Any) -> Any:
    """An int, or a scalar integer tensor."""
    as_tensor = getattr(value, "as_tensor", None)
    value = as_tensor() if as_tensor is not None else value
    if hasattr(value, "op") or not hasattr(value, "__index__"):
        if hasattr(value, "op") and value.dtype.base_dtype.is_integer and value.dims in ((), None):
            return value
        raise KindError(_SLICE_TYPE_ERROR, found=repr(value))
    return value.__index__()


def _vector(graph: Any, items: list[Any]) -> Any:
    """A constant of the items, or what packs them when there are tensors among them; named `stack` as in TensorFlow."""
    tensors = [item for item in items if hasattr(item, "op")]
    if not tensors:
        return _constant(items, int32, "stack")
    dtype = tensors[0].dtype.base_dtype
    with graph.name_scope("stack") as scope:
        parts = [item if hasattr(item, "op") else _constant(item, dtype, str(i)) for i, item in enumerate(items)]
        return OPS["Pack"](*parts, axis=0, name=scope)


def _constant(value: Any, dtype: DType, name: str) -> Any:
    return OPS["Const"](value=np.array(value, dtype.as_numpy_dtype), dtype=dtype, name=name)
