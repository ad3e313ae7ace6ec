"""Choosing by index, condition or part, and order: TensorFlow's functions."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .convert import convert_to_tensor, to_tensor
from .dtypes import as_dtype, bool_, int32
from .errors import ArgumentError, ShapeError
from .graph import Tensor, graph_of
from .infer import axis_in
from .op import build
from .shapes import merge, num_elements
from .static import known, static_value

__all__ = ["argsort", "batch_gather", "boolean_mask", "dynamic_partition", "dynamic_stitch", "gather", "gather_nd",
           "invert_permutation", "scatter_nd", "searchsorted", "setdiff1d", "sort", "sparse_to_dense",
           "tensor_scatter_add", "tensor_scatter_nd_add", "tensor_scatter_nd_sub", "tensor_scatter_nd_update",
           "tensor_scatter_sub", "tensor_scatter_update", "unique", "unique_with_counts", "unravel_index", "where",
           "where_v2"]


def gather(params: Any, indices: Any, validate_indices: bool | None = None, name: str | None = None, axis: Any = None,
           batch_dims: int = 0) -> Tensor:
    """Slices of `params` along an axis (by default the first behind the batch axes), by index."""
    axis = batch_dims if axis is None else axis
    return build.GatherV2(params, indices, axis, batch_dims=batch_dims, name=name)


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """gather along the last axis of `indices`, the axes before it belonging together."""
    with graph_of([params, indices]).name_scope(name or "BatchGather"):
        indices = convert_to_tensor(indices, name="indices")
        if indices.dims is None:
            raise ShapeError(f"expected indices of known rank, found {indices.describe()}")
        batch_dims = len(indices.dims) - 1
        return build.GatherV2(convert_to_tensor(params, name="params"), indices, batch_dims, batch_dims=batch_dims)


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Tensor:
    """Slices by full index: the last axis of `indices` indexes the first axes of `params`."""
    if not batch_dims:
        return build.GatherNd(params, indices, name=name)
    with graph_of([params, indices]).name_scope(name or "BatchGatherNd"):
        indices = convert_to_tensor(indices, int32 if not isinstance(indices, Tensor) else None, "indices")
        batch = build.Shape(indices)[:batch_dims]
        numbers = build.Where(build.Fill(batch, True))
        depth = build.Shape(indices)[batch_dims:-1]
        ones, middle = build.OnesLike(depth), build.ConcatV2(0, batch, depth, [batch_dims])
        lead = build.BroadcastTo(build.Reshape(numbers, build.ConcatV2(0, batch, ones, [batch_dims])), middle)
        if indices.dtype is not lead.dtype:
            lead = build.Cast(lead, dtype=indices.dtype)
        return build.GatherNd(params, build.ConcatV2(-1, lead, indices))


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Zeros of `shape` with updates added at indices."""
    return build.ScatterNd(indices, updates, shape, name=name)


def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with slices replaced."""
    return build.TensorScatterUpdate(tensor, indices, updates, name=name)


def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with updates added to slices."""
    return build.TensorScatterAdd(tensor, indices, updates, name=name)


def tensor_scatter_nd_sub(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
    """`tensor` with updates subtracted from slices."""
    return build.TensorScatterSub(tensor, indices, updates, name=name)


tensor_scatter_update = tensor_scatter_nd_update
tensor_scatter_add = tensor_scatter_nd_add
tensor_scatter_sub = tensor_scatter_nd_sub


def sparse_to_dense(sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0,
                    validate_indices: bool = True, name: str | None = None) -> Tensor:
    """default_value everywhere but at sparse_indices, which must be sorted and distinct unless told otherwise."""
    return build.SparseToDense(sparse_indices, output_shape, sparse_values, default_value,
                               validate_indices=validate_indices, name=name)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """x where the condition holds, else y, without broadcasting; with neither, the positions where it holds."""
    if x is None and y is None:
        with graph_of([condition]).name_scope(name or "Where") as scope:
            return build.Where(convert_to_tensor(condition, name="condition", preferred_dtype=bool_), name=scope)
    _check_both(x, y)
    return build.Select(condition, x, y, name=name)


def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """where, with all three broadcast."""
    if x is None and y is None:
        return where(condition, name=name)
    _check_both(x, y)
    return build.SelectV2(condition, x, y, name=name)


def _check_both(x: Any, y: Any) -> None:
    if x is None or y is None:
        raise ArgumentError(f"expected both x and y or neither, found only {'y' if x is None else 'x'}")


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: int | None = None) -> Tensor:
    """The slices where the mask holds; its axes stand for those of `tensor` from `axis` on, which become one."""
    with graph_of([tensor, mask]).name_scope(name or "boolean_mask"):
        tensor, mask = convert_to_tensor(tensor, name="tensor"), convert_to_tensor(mask, name="mask")
        if not mask.dims:
            raise ArgumentError(f"expected a mask of known rank >= 1, found {mask.describe()}")
        first = axis or 0
        last = first + len(mask.dims)
        if tensor.dims is not None:
            merge(tensor.dims[first:last], mask.dims)
        if len(mask.dims) > 1:
            tensor = _merged_axes(tensor, first, last)
        rows = build.Squeeze(build.Where(build.Reshape(mask, [-1])), squeeze_dims=(1,))
        return build.GatherV2(tensor, rows, first)


def _merged_axes(tensor: Tensor, first: int, last: int) -> Tensor:
    shape = build.Shape(tensor)
    size = build.Prod(shape[first:last], [0])
    merged = build.Reshape(tensor, build.ConcatV2(0, shape[:first], build.Pack(size, axis=0), shape[last:]))
    if tensor.dims is not None:
        merged.set_shape((*tensor.dims[:first], num_elements(tensor.dims[first:last]), *tensor.dims[last:]))
    return merged


def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Tensor:
    """Slices of several tensors put where their indices say; where two say the same the last wins."""
    with graph_of([*indices, *data]).name_scope(name or "DynamicStitch") as scope:
        graph = graph_of([*indices, *data])
        dtype = next((d.dtype.base_dtype for d in data if isinstance(d, Tensor)), None)
        places = [to_tensor(graph, v, int32, f"indices_{i}") for i, v in enumerate(indices)]
        parts = [to_tensor(graph, v, dtype, f"data_{i}") for i, v in enumerate(data)]
        return build.DynamicStitch(*places, *parts, n=len(places), name=scope)


def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> list[Tensor]:
    """The slices of each part."""
    return build.DynamicPartition(data, partitions, num_partitions=num_partitions, name=name)


def invert_permutation(x: Any, name: str | None = None) -> Tensor:
    """The permutation that undoes `x`."""
    return build.InvertPermutation(x, name=name)


class Unique(NamedTuple):
    """y: distinct values in order of first occurrence. idx: for each element its place in y."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """Unique, and how often each value occurs."""

    y: Tensor
    idx: Tensor
    count: Tensor


class ListDiff(NamedTuple):
    """out: values of x that are not in y. idx: their places in x."""

    out: Tensor
    idx: Tensor


def unique(x: Any, out_idx: Any = int32, name: str | None = None) -> Unique:
    """Distinct values of a vector, and for each element its place among them."""
    return Unique(*build.Unique(x, out_idx=as_dtype(out_idx), name=name))


def unique_with_counts(x: Any, out_idx: Any = int32, name: str | None = None) -> UniqueWithCounts:
    """Distinct values of a vector, for each element its place among them, and how often each occurs."""
    return UniqueWithCounts(*build.UniqueWithCounts(x, out_idx=as_dtype(out_idx), name=name))


def setdiff1d(x: Any, y: Any, index_dtype: Any = int32, name: str | None = None) -> ListDiff:
    """Values of x that are not in y, and their places in x."""
    return ListDiff(*build.ListDiff(x, y, out_idx=as_dtype(index_dtype), name=name))


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """Coordinates of flat indices in a tensor of shape `dims`: int[rank, ...]."""
    return build.UnravelIndex(indices, dims, name=name)


def searchsorted(sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = int32,
                 name: str | None = None) -> Tensor:
    """For each value its place in the sorted row it belongs to, before ('left') or behind ('right') equal ones."""
    if side not in ("left", "right"):
        raise ArgumentError(f"side is {side!r}, expected 'left' or 'right'")
    rows, values = convert_to_tensor(sorted_sequence), convert_to_tensor(values)
    found = build.LowerBound if side == "left" else build.UpperBound
    places = found(_as_rows(rows), _as_rows(values), out_type=as_dtype(out_type), name=name)
    return build.Reshape(places, known(build.Shape(values)))


def _as_rows(x: Tensor) -> Tensor:
    return build.Reshape(x, build.ConcatV2(0, [-1], build.Shape(x)[-1:]))


def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """The values in order along an axis."""
    with graph_of([values]).name_scope(name or "sort"):
        return _ordered(values, axis, direction)[0]


def argsort(values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False,
            name: str | None = None) -> Tensor:
    """The places that put the values in order along an axis; equal ones keep theirs."""
    with graph_of([values]).name_scope(name or "argsort"):
        return _ordered(values, axis, direction)[1]


def _ordered(values: Any, axis: Any, direction: str) -> tuple[Tensor, Tensor]:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ArgumentError(f"direction is {direction!r}, expected 'ASCENDING' or 'DESCENDING'")
    at = static_value(axis)
    if at is None or at.ndim:
        raise ArgumentError(f"expected a constant scalar axis, found {axis!r}")
    values = convert_to_tensor(values, name="values")
    if values.dims is None and int(at) != -1:
        raise ShapeError(f"expected values of known rank to sort along axis {int(at)}, found {values.describe()}")
    last = values.dims is None or axis_in(int(at), len(values.dims)) == len(values.dims) - 1
    swap = None if last else _swapped(axis_in(int(at), len(values.dims)), len(values.dims))
    rows = values if swap is None else build.Transpose(values, swap)
    ascending = direction == "ASCENDING"
    found, places = build.TopKV2(-rows if ascending else rows, known(build.Shape(rows)[-1]))
    found = -found if ascending else found
    return (found, places) if swap is None else (build.Transpose(found, swap), build.Transpose(places, swap))


def _swapped(axis: int, rank: int) -> np.ndarray:
    order = np.arange(rank, dtype=np.int32)
    order[[axis, -1]] = order[[-1, axis]]
    return order
