"""Sparse tensors made of others and of dense ones: sorted, sliced, joined, reshaped, filled up."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.constant_value import known, static_dims, static_value
from ...core.convert import convert_to_tensor
from ...core.dimensions import merge_sizes
from ...core.dtypes import float32, int64, string
from ...core.errors import ArgumentError, KindError, ShapeError
from ...core.graph import Tensor
from ...core.indexed_slices import IndexedSlices
from ...core.infer import axis_in
from ...core.name_scope import scope
from ...core.op import build
from ...core.shapes import is_known, show
from ...core.sparse_tensor import SparseTensor, as_sparse, parts_of
from ..arrays.creation import ones, zeros_like
from ..arrays.gathering import gather
from ..arrays.shaping import concat, expand_dims, reshape, shape, stack
from ..common.arguments import one_of
from .arithmetic import sparse_to_dense


def _known(shape: Tensor) -> Any:
    """The shape as an array if it is known, so that the sparse tensor says it before it runs."""
    dims = static_dims(shape)
    return np.array(dims, np.int64) if is_known(dims) else shape


def sparse_reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The entries in row-major order, as most functions expect them."""
    sparse = as_sparse(sp_input)
    indices, values = build.SparseReorder(*parts_of(sparse), name=name)
    return SparseTensor(indices, values, _known(sparse.dense_shape))


def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The entries where a mask holds. to_retain: bool[n], n the count of entries."""
    sparse = as_sparse(sp_input)
    mask = convert_to_tensor(to_retain)
    if mask.dims is not None and sparse.values.dims is not None:
        merge_sizes(mask.dims[0] if len(mask.dims) == 1 else -1, sparse.values.dims[0])
    where = reshape(build.Where(mask), [-1])
    return SparseTensor(gather(sparse.indices, where), gather(sparse.values, where), build.Identity(sparse.dense_shape))


def sparse_transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """Axes in the order of `perm`, reversed if there is none; the entries in row-major order."""
    sparse = as_sparse(sp_input)
    with scope(name, "SparseTranspose", [sparse]):
        if perm is None:
            rank = build.Size(sparse.dense_shape)
            perm = (rank - 1) - build.Range(0, rank, 1)
        perm = convert_to_tensor(perm)
        rank = sparse.dense_shape.dims[0] if sparse.dense_shape.dims else None
        merge_sizes(perm.dims[0] if perm.dims else None, rank)
        indices, shape = gather(sparse.indices, perm, axis=1), gather(sparse.dense_shape, perm)
        indices, values = build.SparseReorder(indices, sparse.values, shape)
        return SparseTensor(indices, values, build.Identity(shape))


def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The same entries in another shape of as many elements; one size may be -1. Raises ShapeError (ValueError)."""
    sparse = as_sparse(sp_input)
    wanted = convert_to_tensor(shape)
    wanted = wanted if wanted.dtype is int64 else build.Cast(wanted, dtype=int64)
    with scope(name, "SparseReshape", [sparse]) as full:
        indices, found = build.SparseReshape(sparse.indices, sparse.dense_shape, wanted, name=full)
        return SparseTensor(indices, build.Identity(sparse.values), convert_to_tensor(_known(found)))


def sparse_slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The entries within `size` from `start` on. start, size: int64[rank]."""
    sparse = as_sparse(sp_input)
    bounds = [convert_to_tensor(bound, int64) for bound in (start, size)]
    return SparseTensor(*build.SparseSlice(*parts_of(sparse), *bounds, name=name or "SparseSlice"))


def sparse_concat(axis: Any = None, sp_inputs: Any = None, name: str | None = None, expand_nonconcat_dim: bool = False,
                  concat_dim: Any = None, expand_nonconcat_dims: bool | None = None) -> SparseTensor:
    """Sparse tensors one after another along an axis.

    expand_nonconcat_dim: whether the other sizes may differ; the result has the greatest. concat_dim and
    expand_nonconcat_dims: other names. Raises KindError (TypeError) unless sp_inputs is a list of sparse tensors.
    """
    axis = int(one_of("axis", axis, "concat_dim", concat_dim))
    expand = expand_nonconcat_dim if expand_nonconcat_dims is None else expand_nonconcat_dims
    if not isinstance(sp_inputs, (list, tuple)):
        raise KindError(expected="a list of sparse tensors", found=repr(sp_inputs))
    inputs = [as_sparse(sparse) for sparse in sp_inputs]
    if not inputs:
        raise ArgumentError(expected="at least one sparse tensor to concatenate", found="none")
    if len(inputs) == 1:
        return inputs[0]
    shapes = [sparse.dense_shape for sparse in inputs]
    if expand:
        greatest = build.Max(stack(shapes), [0])
        rank = greatest.dims[0] if greatest.dims else None
        axis = axis_in(axis, rank) if rank is not None else axis
        shapes = [build.ConcatV2(0, greatest[:axis], shape[axis:][:1], greatest[axis:][1:]) for shape in shapes]
    indices, values, shape = build.SparseConcat(*[s.indices for s in inputs], *[s.values for s in inputs], *shapes,
                                                concat_dim=axis, n=len(inputs))
    known: list[Any] = [static_value(s) for s in shapes]
    if expand or any(s is None for s in known):
        return SparseTensor(indices, values, shape)
    whole = known[0].copy()
    whole[axis] = sum(s[axis] for s in known)
    return SparseTensor(indices, values, convert_to_tensor(whole))


def sparse_split(keyword_required: Any = None, sp_input: Any = None, num_split: Any = None, axis: Any = None,
                 name: str | None = None, split_dim: Any = None) -> list[SparseTensor]:
    """Pieces along an axis, the first ones longer if they are not equal. All arguments go by name."""
    if keyword_required is not None:
        raise ArgumentError("Keyword arguments are required", found="one by position")
    axis = one_of("axis", axis, "split_dim", split_dim)
    for what, value in ("sp_input", sp_input), ("num_split", num_split), ("axis", axis):
        if value is None:
            raise ArgumentError(f"{what} is required")
    parts = build.SparseSplit(convert_to_tensor(axis, int64, "split_dim"), *parts_of(as_sparse(sp_input)),
                              num_split=num_split, name=name)
    return [SparseTensor(*parts[i::num_split]) for i in range(num_split)]


def sparse_fill_empty_rows(sp_input: Any, default_value: Any, name: str | None = None) -> tuple[SparseTensor, Tensor]:
    """default_value at column 0 of each row without entry; and bool[rows]: which those were."""
    sparse = as_sparse(sp_input)
    with scope(name, "SparseFillEmptyRows", [sparse]):
        default = convert_to_tensor(default_value, sparse.dtype.base_dtype)
        indices, values, empty, _ = build.SparseFillEmptyRows(*parts_of(sparse), default)
        return SparseTensor(indices, values, sparse.dense_shape), empty


def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same entries in a larger shape, or in the smallest that has room for them.

    Raises ShapeError (ValueError) if new_shape is known to be smaller or of another rank; InvalidArgumentError if it
    turns out so in the run.
    """
    sparse = as_sparse(sp_input)
    indices, values, old = (build.Identity(part) for part in parts_of(sparse))
    if new_shape is None:
        return SparseTensor(indices, values, build.Maximum(np.int64(0), build.Max(indices, [0]) + 1))
    shape = convert_to_tensor(new_shape)
    shape = shape if shape.dtype is int64 else build.Cast(shape, dtype=int64)
    given, own = static_dims(shape), static_dims(old)
    if given is not None and own is not None:
        merge_sizes(len(own), len(given))
        if any(n is not None and m is not None and n < m for n, m in zip(given, own)):
            raise ShapeError("New shape should have dimension sizes of at least the old one's", expected=show(own),
                             found=show(given))
    if is_known(given) and is_known(own):
        return SparseTensor(indices, values, _known(shape))
    holds = build.All(build.GreaterEqual(shape, old), [0])
    check = build.Assert(holds, "x <= y did not hold element-wise: expected a new_shape of at least the old one:",
                         shape, old)
    with shape.graph.control_dependencies([check]):
        return SparseTensor(indices, values, build.Identity(shape))


def sparse_expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """One more axis of size 1, the last one by default. axis: int."""
    sparse = as_sparse(sp_input)
    with scope(name, "expand_dims", [sparse]):
        rank = sparse.dense_shape.dims[0] if sparse.dense_shape.dims else None
        if rank is None:
            raise ShapeError(expected="a sparse tensor of known rank", found=sparse)
        at = axis_in(-1 if axis is None else int(known(convert_to_tensor(axis))), rank + 1)
        indices = concat([sparse.indices[:, :at], zeros_like(sparse.indices[:, :1]), sparse.indices[:, at:]], 1)
        shape = concat([sparse.dense_shape[:at], np.array([1]), sparse.dense_shape[at:]], 0)
        return SparseTensor(indices, sparse.values, shape)


def sparse_eye(num_rows: Any, num_columns: Any = None, dtype: Any = float32, name: str | None = None) -> SparseTensor:
    """Ones on the diagonal."""
    with scope(name, "eye", [num_rows, num_columns]):
        rows = build.Cast(convert_to_tensor(num_rows, name="num_rows"), dtype=int64)
        columns = rows if num_columns is None else build.Cast(convert_to_tensor(num_columns), dtype=int64)
        count = build.Minimum(rows, columns)
        diagonal = build.Range(np.int64(0), count, np.int64(1))
        return SparseTensor(stack([diagonal, diagonal], axis=1), ones(reshape(count, [1]), dtype),
                            stack([rows, columns], name="SparseTensor/dense_shape"))


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements other than zero (False, the empty string), in row-major order."""
    with scope(name, "dense_to_sparse", [tensor]):
        tensor = convert_to_tensor(tensor)
        dtype = tensor.dtype.base_dtype
        nothing = np.array(b"" if dtype is string else 0, dtype.as_numpy_dtype)
        where = build.Where(build.NotEqual(tensor, convert_to_tensor(nothing)))
        return SparseTensor(where, build.GatherNd(tensor, where), shape(tensor, out_type=int64))


def sparse_merge(sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None = None,
                 already_sorted: bool = False) -> SparseTensor:
    """The values of one sparse tensor at the places that the ids of another say, in place of its last axis.

    sp_ids: int, sp_values: of the same indices, or lists for several such axes. vocab_size: their sizes.
    """
    several = isinstance(sp_ids, (list, tuple))
    ids = [as_sparse(s) for s in (sp_ids if several else [sp_ids])]
    sizes = list(vocab_size) if several else [vocab_size]
    if len(sizes) != len(ids):
        raise ArgumentError(expected=f"{len(ids)} vocab_size, one for each of sp_ids", found=len(sizes))
    values = as_sparse(sp_values)
    with scope(name, "SparseMerge", [*ids, values]):
        columns = [build.Cast(expand_dims(s.values, 1), dtype=int64) for s in ids]
        indices = concat([ids[0].indices[:, :-1], *columns], 1)
        sizes = [build.Cast(convert_to_tensor(size), dtype=int64) for size in sizes]
        merged = SparseTensor(indices, values.values, concat([ids[0].dense_shape[:-1], stack(sizes)], 0))
        return merged if already_sorted else sparse_reorder(merged)


def sparse_to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """Where an id occurs in a row: the ids are numbers of columns. sp_input: int[..., k] -> bool[..., vocab_size]."""
    sparse = as_sparse(sp_input)
    with scope(name, "SparseToIndicator", [sparse]) as full:
        found = build.Fill(build.Shape(sparse.values), np.array(True))
        merged = sparse_merge(sparse, sparse.with_values(found), vocab_size)
        return sparse_to_dense(merged.indices, merged.dense_shape, merged.values, False, False, name=full)


def sparse_mask(a: Any, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """IndexedSlices without the rows of these numbers. mask_indices: int[n]."""
    with scope(name, "sparse_mask", [a.values, mask_indices]) as full:
        kept, places = build.ListDiff(a.indices, mask_indices)
        return IndexedSlices(gather(a.values, places, name=full), kept, a.dense_shape)


def serialize_sparse(sp_input: Any, name: str | None = None, out_type: Any = "string") -> Tensor:
    """A sparse tensor as three texts, which queues and batches hold. -> string[3]. out_type: no other form is made."""
    return build.SerializeSparse(*parts_of(as_sparse(sp_input)), name=name)


def serialize_many_sparse(sp_input: Any, name: str | None = None, out_type: Any = "string") -> Tensor:
    """Each slice along axis 0 as three texts. -> string[n, 3]."""
    return build.SerializeManySparse(*parts_of(as_sparse(sp_input)), name=name)


def deserialize_sparse(serialized_sparse: Any, dtype: Any, rank: int | None = None,
                       name: str | None = None) -> SparseTensor:
    """The sparse tensor of texts, with their leading axes before its own. rank: of each. string[..., 3]."""
    indices, values, shape = build.DeserializeSparse(serialized_sparse, dtype=dtype, name=name)
    lead = indices.op.inputs[0].shape.ndims if not indices.graph.executing_eagerly else None
    if rank is not None and lead is not None:
        indices.set_shape([None, rank + lead - 1])
        shape.set_shape([rank + lead - 1])
    return SparseTensor(indices, values, shape)


deserialize_many_sparse = deserialize_sparse
