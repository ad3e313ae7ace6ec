"""`tensor[1:, ..., None]`: a Python index as the inputs and masks of StridedSlice."""
from __future__ import annotations

from typing import Any

from .errors import KindError
from .op import OPS


def slice_tensor(tensor: Any, key: Any, *, name: str = "strided_slice") -> Any:
    """The StridedSlice that a Python index means. Items may be ints, slices, `...`, None or scalar tensors.

    Raises KindError (a TypeError) for any other item.
    """
    items = key if isinstance(key, tuple) else (key,)
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)
    for i, item in enumerate(items):
        bounds, flags = _bounds(item, tensor)
        for target, value in zip((begin, end, strides), bounds):
            target.append(value)
        for flag in flags:
            masks[flag] |= 1 << i
    with tensor.graph.name_scope(name) as scope:
        return OPS["StridedSlice"](tensor, _vector(begin), _vector(end), _vector(strides), name=scope, **masks)


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


def _scalar(value: Any) -> Any:
    """An int, or a scalar integer tensor."""
    as_tensor = getattr(value, "as_tensor", None)
    value = as_tensor() if as_tensor is not None else value
    if hasattr(value, "op") or not hasattr(value, "__index__"):
        if hasattr(value, "op") and value.dtype.base_dtype.is_integer and value.dims in ((), None):
            return value
        raise KindError(f"only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar integer "
                        f"tensors are valid indices, found {value!r}")
    return value.__index__()


def _vector(items: list[Any]) -> Any:
    return OPS["Pack"](*items, axis=0, name="stack") if any(hasattr(i, "op") for i in items) else items
