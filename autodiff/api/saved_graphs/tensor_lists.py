"""Lists as TensorFlow's TensorLists, and back: TensorArrays, and what loops and branches keep for their gradients."""
from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from ...core.constant_value import static_value
from ...core.dtypes import DType, as_dtype, float32, int32, int64, variant
from ...core.function_graph import FunctionGraph, functions_of
from ...core.graph import Operation, Tensor
from ...core.op import build
from ...core.shapes import Dims, is_known
from .differences import kept_of


def as_theirs(kind: str, *inputs: Any, dtypes: tuple[DType, ...] = (variant,), **attributes: Any) -> Any:
    """An op that only TensorFlow has, to be written into a file; the first of what it gives."""
    made = build.NotServed(*inputs, type=kind, dtypes=dtypes, given=attributes, name=kind)
    return made[0] if isinstance(made, list) else made


def shape_input(dims: Dims | None) -> Any:
    """A shape as an input: -1 for what is not known."""
    return np.int32(-1) if dims is None else np.array([-1 if d is None else d for d in dims], np.int32)


def grown(dtype: DType, so_far: Tensor | None, item: Tensor | None) -> Tensor:
    """A TensorList, an empty one if there is none, with an item more, if there is one."""
    items = so_far if so_far is not None else as_theirs("EmptyTensorList", np.int32(-1), np.int32(-1),
                                                        element_dtype=dtype.base_dtype, shape_type=int32)
    return items if item is None else as_theirs("TensorListPushBack", items, item)


def _reserved(op: Operation, size: Any, **_: Any) -> Tensor:
    return as_theirs("TensorListReserve", np.int32(-1), size, element_dtype=element_of(op.outputs[0])[0],
                     shape_type=int32)


def _length(items: Tensor) -> Tensor:
    return as_theirs("TensorListLength", items, dtypes=(int32,))


def _item(items: Tensor, index: Tensor, dtype: DType, shape: Any) -> Tensor:
    return as_theirs("TensorListGetItem", items, index, shape, dtypes=(dtype.base_dtype,))


def _concat(op: Operation, items: Tensor, *_: Tensor, **__: Any) -> Tensor:
    sizes, dtype = op.type == "ListSizes", element_of(op.inputs[0])[0]
    dims = None if sizes or op.outputs[0].dims is None else (None, *op.outputs[0].dims[1:])
    made = build.NotServed(items, shape_input(dims), np.zeros(0, np.int64), type="TensorListConcatV2",
                           dtypes=(dtype, int64), given={"element_dtype": dtype, "shape_type": int32})
    return build.Cast(made[1], dtype=int32) if sizes else made[0]


def _set(op: Operation, items: Tensor, index: Tensor, item: Tensor, *, grow: bool = True, **_: Any) -> Tensor:
    if grow:
        items = as_theirs("TensorListResize", items, build.Maximum(_length(items), index + 1))
    return as_theirs("TensorListSetItem", items, index, item)


def _cleared(op: Operation, items: Tensor, index: Tensor) -> Tensor:
    dtype, dims = element_of(op.outputs[0])
    zeros = build.ZerosLike(_item(items, index, dtype, shape_input(dims)))
    return as_theirs("TensorListSetItem", items, index, zeros)


def _scattered(op: Operation, items: Tensor, indices: Tensor, x: Tensor, *, add: bool = True,
               grow: bool = True) -> Tensor:
    indices = build.Cast(indices, dtype=int32)
    if not add:
        return as_theirs("TensorListScatterIntoExistingList", items, x, indices)
    rows = as_theirs("TensorListScatterV2", x, indices, np.int32(-1), _length(items))
    return as_theirs("AddN", items, rows)


def _fitted(choice: str) -> Callable[..., Tensor]:
    """The list, as long as the shorter of two, or the longer."""
    return lambda op, items, like: as_theirs(
        "TensorListResize", items, getattr(build, choice)(_length(items), _length(like)))


def _row_shape(x: Tensor) -> Tensor:
    return build.StridedSlice(build.Shape(x), [1], [0], [1], end_mask=1)


LISTS: dict[str, Callable[..., Tensor | None]] = {  # (operation, its inputs, its attributes) -> what is written for it
    "ListReserve": _reserved, "ListZeros": lambda op, like: _reserved(op, _length(like)),
    "ListLength": lambda op, items: _length(items),
    "ListItem": lambda op, items, index, *, dtype, shape=None, **_: _item(
        items, index, op.outputs[0].dtype, shape_input(shape)),
    "ListItemOrZeros": lambda op, items, index, like: None if like.dtype is variant else _item(
        items, index, like.dtype, build.Shape(like)),
    "ListOf": lambda op, like, index, item: as_theirs(
        "TensorListSetItem", _reserved(op, _length(like)), index, item),
    "ListSet": _set, "ListClear": _cleared, "ListTrim": _fitted("Minimum"), "ListExtend": _fitted("Maximum"),
    "ListAdd": lambda op, x, y: as_theirs("AddN", x, y),
    "ListStack": lambda op, items, like, *, dtype, shape=None, **_: as_theirs(
        "TensorListStack", items, shape_input(shape), dtypes=(op.outputs[0].dtype,)),
    "ListConcat": _concat, "ListSizes": _concat,
    "ListUnstack": lambda op, x: as_theirs(
        "TensorListFromTensor", x, shape_input(None if x.dims is None else x.dims[1:])),
    "ListRestack": lambda op, items, like: as_theirs("TensorListStack", items, _row_shape(like), dtypes=(like.dtype,)),
    "ListGather": lambda op, items, indices, *, dtype, shape=None: as_theirs(
        "TensorListGather", items, build.Cast(indices, dtype=int32), shape_input(shape), dtypes=(op.outputs[0].dtype,)),
    "ListGatherOrZeros": lambda op, items, indices, like: as_theirs(
        "TensorListGather", items, build.Cast(indices, dtype=int32), _row_shape(like), dtypes=(like.dtype,)),
    "ListScatter": _scattered,
    "ListSplit": lambda op, x, sizes: as_theirs(
        "TensorListSplit", x, shape_input(None if x.dims is None else (None, *x.dims[1:])),
        build.Cast(sizes, dtype=int64))}


_ITEM = {"ListSet": 2, "ListOf": 2, "ListScatter": 2, "ListUnstack": 0, "ListSplit": 0}  # op -> input of elements
_ROWS = frozenset(("ListScatter", "ListUnstack"))


def element_of(items: Tensor) -> tuple[DType, Dims | None]:
    """Dtype and dims of a list's elements, as the op says that its first ones come from."""
    while True:
        op, at = items.op, items.value_index
        if op.type in _ITEM:
            item = op.inputs[_ITEM[op.type]]
            dims = item.dims if item.dims is None or op.type not in _ROWS else item.dims[1:]
            return item.dtype.base_dtype, None if op.type == "ListSplit" else dims
        functions, graph = functions_of(op), items.graph
        inner = [t for function in functions for t in function.kept] if op.type == "If" else kept_of(op)
        if functions and at >= len(op.outputs) - len(inner):
            item = inner[at - len(op.outputs)]
            return item.dtype.base_dtype, item.dims
        if op.type == "Argument" and isinstance(graph, FunctionGraph):
            callers = (each for each in graph.outer.operations.values() for f in functions_of(each) if f.graph is graph)
            op, at = next(callers), graph.arguments.index(items)
        if not op.inputs and op.type != "Captured" or op.type == "ListReserve":
            return as_dtype(op.attrs.get("dtype") or float32), None
        items = op.attrs["external"] if op.type == "Captured" else op.attrs["then_branch"].outputs[at] if \
            op.type == "If" else op.inputs[at if op.type == "While" else 0]


def _sized(items: Tensor, size: Any) -> Tensor:
    like = build.ListReserve(size)
    return build.ListExtend(build.ListTrim(items, like), like)


def _zeros(shape: Tensor, dtype: Any, *count: Tensor, known: bool = False) -> Tensor | None:
    """Elements that are not written, of a shape that is `known` or that a run tells; else None."""
    if not known and (static_value(shape) is not None or shape.dims == ()):
        return None
    return build.Fill(build.ConcatV2(0, *(build.Reshape(n, [1]) for n in count), shape), build.Cast(0, dtype=dtype))


def _dims(shape: Tensor) -> Dims | None:
    known = static_value(shape)
    return None if known is None or np.ndim(known) == 0 else tuple(None if d < 0 else int(d) for d in known)


def _read_item(items: Tensor, index: Tensor, shape: Tensor, element_dtype: Any, **_: Any) -> Tensor:
    zeros = _zeros(shape, element_dtype)
    return build.ListItem(items, index, dtype=element_dtype, shape=_dims(shape), written=False) if zeros is None else \
        build.ListItemOrZeros(items, index, zeros)


def _read_all(items: Tensor, shape: Tensor, element_dtype: Any, **_: Any) -> Tensor:
    zeros = _zeros(shape, element_dtype, build.ListLength(items))
    return build.ListStack(items, items, dtype=element_dtype, shape=_dims(shape)) if zeros is None else \
        build.ListRestack(items, zeros)


def joined(items: Tensor, dtype: Any, dims: Dims | None = None) -> list[Tensor]:
    """All elements along their axis 0, and their sizes."""
    return [build.ListConcat(items, items, dtype=dtype, shape=dims), build.Cast(build.ListSizes(items), dtype=int64)]


def _read_some(items: Tensor, indices: Tensor, shape: Tensor, element_dtype: Any, **_: Any) -> Tensor:
    zeros = _zeros(shape, element_dtype, build.Size(indices), known=is_known(_dims(shape)))
    return build.ListGather(items, indices, dtype=element_dtype, shape=_dims(shape)) if zeros is None else \
        build.ListGatherOrZeros(items, indices, zeros)


LIST_RECIPES: dict[str, Callable[..., Any]] = {  # of inputs in their order and attributes by name
    "TensorListReserve": lambda shape, size, element_dtype, **_: build.ListReserve(size, dtype=element_dtype),
    "EmptyTensorList": lambda shape, limit, element_dtype, **_: build.ListReserve(0, dtype=element_dtype),
    "TensorListPushBack": lambda items, item, **_: build.ListSet(items, build.ListLength(items), item),
    "TensorListLength": lambda items, **_: build.ListLength(items),
    "TensorListResize": lambda items, size, **_: _sized(items, size), "TensorListGetItem": _read_item,
    "TensorListSetItem": lambda items, index, item, **_: build.ListSet(items, index, item, grow=False, over=True),
    "TensorListStack": _read_all, "TensorListGather": _read_some,
    "TensorListFromTensor": lambda x, shape, **_: build.ListUnstack(x),
    "TensorListScatterV2": lambda x, indices, shape, size, **_: build.ListScatter(
        build.ListReserve(build.Maximum(size, 0)), indices, x),
    "TensorListScatterIntoExistingList": lambda items, x, indices, **_: build.ListScatter(items, indices, x),
    "TensorListSplit": lambda x, shape, sizes, **_: build.ListSplit(x, sizes),
    "TensorListConcatV2": lambda items, shape, leading, element_dtype, **_: joined(items, element_dtype, _dims(shape))}
OF_LISTS: dict[str, Callable[..., Any]] = {  # ops of any element type, where that is a list
    "AddN": lambda *lists, **_: reduce(lambda x, y: build.ListAdd(x, y), lists),
    "ZerosLike": lambda items, **_: build.ListZeros(items)}
