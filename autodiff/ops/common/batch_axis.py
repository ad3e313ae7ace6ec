"""Tools of batching rules: one more leading axis for inputs and shapes, or one slice after the other."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.constant_value import static_value
from ...core.convert import to_tensor
from ...core.declare import op
from ...core.dimensions import merge_sizes
from ...core.dtypes import DType, int32
from ...core.errors import ShapeError
from ...core.graph import Operation, Tensor, graph_of
from ...core.op import OPS, Own, Spec, build
from ...core.shapes import is_known


def sizes(x: Tensor, dtype: DType = int32) -> Tensor:
    """The shape of `x` as a tensor: a constant if it is known, else a Shape."""
    if is_known(x.dims):
        return to_tensor(graph_of([x]), np.array(x.dims, dtype.as_numpy_dtype), dtype, "Shape")
    return build.Shape(x, out_type=dtype)


def count(x: Tensor) -> list[int] | Tensor:
    """Size of the leading axis, as a vector of one."""
    return [x.dims[0]] if x.dims and x.dims[0] is not None else build.Shape(x)[:1]


def joined(first: list[int] | Tensor, rest: Tensor | np.ndarray) -> Tensor | np.ndarray:
    """One vector of sizes, indices or axes after another; an array if both are known."""
    tail = static_value(rest)
    if isinstance(first, list):
        head = np.array(first, rest.dtype if isinstance(rest, np.ndarray) else rest.dtype.as_numpy_dtype)
        return build.ConcatV2(0, head, rest) if tail is None else np.concatenate([head, tail])
    if tail is not None:
        return build.ConcatV2(0, first, tail.astype(first.dtype.as_numpy_dtype))
    if first.dtype is not rest.dtype:
        first = build.Cast(first, dtype=rest.dtype)
    return build.ConcatV2(0, first, rest)


def repeated(x: Tensor, like: Tensor) -> Tensor:
    """`x` once for each slice of `like`, which has the leading axis."""
    return build.BroadcastTo(x, joined(count(like), sizes(x)))


def all_batched(args: list[Tensor], batched: list[bool]) -> list[Tensor]:
    """The inputs, each with the leading axis."""
    like = args[batched.index(True)]
    return [x if has else repeated(x, like) for x, has in zip(args, batched)]


def in_front(node: Operation, args: list[Tensor], batched: list[bool]) -> Tensor | tuple[Tensor, ...]:
    """The batching rule of an op that takes any number of leading axes: the op itself."""
    return node.definition(*all_batched(args, batched), **node.attrs)


def after(axis: int | Tensor) -> int | Tensor:
    """An axis, counted from either end, once there is a leading one."""
    value = static_value(axis)
    if value is not None:
        return int(value) + 1 if value >= 0 else int(value)
    return axis + build.Cast(build.GreaterEqual(axis, 0), dtype=axis.dtype.base_dtype)


def axes_behind(axis: Tensor) -> Tensor | np.ndarray:
    """The same axes behind one more: axes counted from the front move by one."""
    known = static_value(axis)
    if known is not None:
        return np.where(known < 0, known, known + 1).astype(known.dtype)
    return axis + build.Cast(build.GreaterEqual(axis, build.ZerosLike(axis)), dtype=axis.dtype.base_dtype)


def shared(node: Operation, batched: list[bool], *inputs: int) -> None:
    """Raises ShapeError if any of these inputs (shapes, indices) varies from slice to slice."""
    for i in inputs:
        if batched[i]:
            raise ShapeError(f"cannot vectorize {node.type} over input {i}", expected="the same for each slice",
                             found="one that varies", node=f"{node.name}: {node.describe()}", line=f"{node.site}")


def unvaried(*inputs: int) -> Callable[..., Any]:
    """The batching rule of an op that takes a leading axis as it is, while these inputs are the same for each slice."""
    def rule(node: Operation, args: list[Tensor], batched: list[bool]) -> Any:
        shared(node, batched, *inputs)
        return node.definition(*args, **node.attrs)
    return rule


def rank_in(node: Operation, index: int = 0) -> int:
    """Rank of an input before it got its leading axis. Raises ShapeError if unknown."""
    dims = node.inputs[index].dims
    if dims is None:
        raise ShapeError(f"cannot vectorize {node.type} over an input of unknown rank",
                         node=f"{node.name}: {node.describe()}", hint="use set_shape to give the rank")
    return len(dims)


def numbered(indices):
    """`indices[n, ..., k]` with the number of the slice before each index: `int[n, ..., k + 1]`."""
    shape = build.Shape(indices)
    numbers = build.Range(0, shape[0], 1)
    if indices.dtype.name != "int32":
        numbers = build.Cast(numbers, dtype=indices.dtype)
    column = build.Slice(indices, build.ZerosLike(shape), build.ConcatV2(0, shape[:-1], [1]))
    ones = build.OnesLike(shape[1:])
    numbers = build.BroadcastTo(build.Reshape(numbers, build.ConcatV2(0, shape[:1], ones)), build.Shape(column))
    return build.ConcatV2(-1, numbers, indices)


def merged_images(x: Tensor) -> Tensor:
    """The leading axis joined with the next one, that of the images of a batch."""
    return build.Reshape(x, joined([-1], sizes(x)[2:]))


def split_images(y: Tensor, like: Tensor) -> Tensor:
    """The inverse of merged_images: the leading axis of `like` taken out of the images."""
    return build.Reshape(y, build.ConcatV2(0, count(like), [-1], build.Shape(y)[1:]))


def _stacked(*inputs, kind, attrs, batched, specs):
    size = None
    for tensor, varies in zip(inputs, batched):
        if varies and tensor.dims is not None:
            size = merge_sizes(size, tensor.dims[0])
    made = tuple(Spec(dtype, None if dims is None else (size, *dims)) for dtype, dims in specs)
    return made if len(made) > 1 else made[0]


@op("EachSlice", infer=_stacked, no_rule="it is made by vectorizing, after differentiation")
def each_slice(*inputs: Own, kind, attrs, batched, specs):
    """The op `kind` for each slice of its batched inputs, results stacked. inputs: any[...]... -> any[slices, ...]."""
    kernel = OPS[kind].kernel
    count = next(len(x) for x, varies in zip(inputs, batched) if varies)
    results = [kernel(*(x[i] if varies else x for x, varies in zip(inputs, batched)), **attrs) for i in range(count)]
    return np.stack(results) if len(specs) == 1 else tuple(np.stack(parts) for parts in zip(*results))


each_slice.batched(lambda node, args, batched: slice_by_slice(node, args, batched))


def slice_by_slice(node: Operation, args: list[Tensor], batched: list[bool]) -> Tensor | list[Tensor]:
    """A batching rule that loops when it is run: for what no single call can do."""
    return build.EachSlice(*args, kind=node.type, attrs=node.attrs, batched=tuple(batched),
                           specs=tuple(Spec(t.dtype, t.dims) for t in node.outputs))
