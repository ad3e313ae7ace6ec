"""Choosing by index, mask or part: TensorFlow's functions."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core.constant_value import static_value
from ...core.convert import convert_to_tensor, to_tensor
from ...core.dtypes import as_dtype, int32
from ...core.errors import ArgumentError, DTypeError, KindError, ShapeError
from ...core.graph import Tensor, graph_of
from ...core.indexing import mask_tensor
from ...core.op import OPS, build
from ..common.made import named


def gather(params: Any, indices: Any, validate_indices: bool | None = None, name: str | None = None, axis: Any = None,
           batch_dims: int | None = 0) -> Tensor:
    """Slices of `params` along an axis (by default the first behind the batch axes), by index."""
    batch_dims = batch_dims or 0
    if batch_dims < 0:  # counted from the rank of the indices
        indices = convert_to_tensor(indices, name="indices")
        if indices.dims is None:
            raise ShapeError(expected="indices of known rank for a negative batch_dims", found=indices.describe())
        batch_dims += len(indices.dims)
    axis = batch_dims if axis is None else axis
    if not isinstance(axis, Tensor) and axis == 0 and not batch_dims and hasattr(params, "sparse_read"):
        return params.sparse_read(indices, name=name)
    return build.GatherV2(params, indices, axis, batch_dims=batch_dims, name=name)


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """gather along the last axis of `indices`, the axes before it belonging together."""
    with graph_of([params, indices]).name_scope(name or "BatchGather"):
        indices = convert_to_tensor(indices, name="indices")
        if indices.dims is None:
            raise ShapeError(expected="indices of known rank", found=indices.describe())
        batch_dims = len(indices.dims) - 1
        return build.GatherV2(convert_to_tensor(params, name="params"), indices, batch_dims, batch_dims=batch_dims)


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Tensor:
    """Slices by full index: the last axis of `indices` indexes the first axes of `params`.

    batch_dims: how many axes go along with the same ones of `params`, a number known while the graph is built, below
    the rank of `indices`. Raises KindError (TypeError) for a tensor of another shape, ArgumentError (ValueError) else.
    """
    if isinstance(batch_dims, Tensor):
        known = static_value(batch_dims)
        if known is None or np.size(known) != 1:
            raise KindError(expected="batch_dims, one number known while the graph is built", found=repr(batch_dims))
        batch_dims = int(np.reshape(known, ()))
    if batch_dims < 0:
        raise ArgumentError("batch_dims cannot be negative.", found=batch_dims)
    if not batch_dims:
        return build.GatherNd(params, indices, name=name)
    with graph_of([params, indices]).name_scope(name or "BatchGatherNd"):
        indices = convert_to_tensor(indices, int32 if not isinstance(indices, Tensor) else None, "indices")
        if indices.dims is not None and batch_dims >= len(indices.dims):
            raise ArgumentError(f"batch_dims = {batch_dims} must be less than rank(indices) = {len(indices.dims)}")
        return build.GatherNd(params, full_places(indices, batch_dims))


def full_places(indices: Tensor, batch_dims: int) -> Tensor:
    """Full indices of indices that go along with so many leading axes. int[..., k] -> int[..., batch_dims + k]."""
    batch = build.Shape(indices)[:batch_dims]
    numbers = build.Where(build.Fill(batch, True))
    depth = build.Shape(indices)[batch_dims:-1]
    ones, middle = build.OnesLike(depth), build.ConcatV2(0, batch, depth, [batch_dims])
    lead = build.BroadcastTo(build.Reshape(numbers, build.ConcatV2(0, batch, ones, [batch_dims])), middle)
    if indices.dtype is not lead.dtype:
        lead = build.Cast(lead, dtype=indices.dtype)
    return build.ConcatV2(-1, lead, indices)


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Zeros of `shape` with updates added at indices."""
    return build.ScatterNd(indices, updates, shape, name=name)


def _scattered(kind: str, words: str) -> Callable[..., Tensor]:
    def scattered(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Tensor:
        return OPS[f"TensorScatter{kind}"](tensor, indices, updates, name=name)

    return named(scattered, f"tensor_scatter_nd_{kind.lower()}", f"`tensor` with {words}.")


tensor_scatter_update = tensor_scatter_nd_update = _scattered("Update", "slices replaced")
tensor_scatter_add = tensor_scatter_nd_add = _scattered("Add", "updates added to slices")
tensor_scatter_sub = tensor_scatter_nd_sub = _scattered("Sub", "updates subtracted from slices")


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: int | None = None) -> Tensor:
    """The slices where the mask holds; the mask covers the axes of `tensor` from `axis` on, which become one."""
    graph = graph_of([tensor, mask])
    with graph.name_scope(name or "boolean_mask") as scope:
        tensor, mask = to_tensor(graph, tensor, None, "tensor"), to_tensor(graph, mask, None, "mask")
        return mask_tensor(graph, tensor, mask, axis or 0, name=scope)


def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Tensor:
    """Slices of several tensors put where their indices say; where two say the same the last wins."""
    with graph_of([*indices, *data]).name_scope(name or "DynamicStitch") as scope:
        graph = graph_of([*indices, *data])
        dtypes = [d.dtype.base_dtype for d in data if isinstance(d, Tensor)]
        if len(set(dtypes)) > 1:
            raise DTypeError(f"Tensors in list passed to 'data' of 'DynamicStitch' Op have types "
                             f"{[d.name for d in dtypes]} that don't all match.")
        dtype = dtypes[0] if dtypes else None
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
    count: Tensor  # type: ignore[assignment]  # TensorFlow's name hides tuple.count


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
