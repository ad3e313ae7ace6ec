"""Embeddings of sparse ids: the rows of each example looked up, and brought together by a weighted sum or mean."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.constant_value import static_dims
from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ...core.errors import ArgumentError, KindError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ...core.shapes import merge
from ...core.sparse_tensor import SparseTensor, parts_of
from ..arrays.gathering import gather
from ..sparse.rearrange import sparse_fill_empty_rows, sparse_reshape, sparse_retain
from ..variables.partitioned import PartitionedVariable
from .embedding import embedding_lookup

__all__ = ["embedding_lookup_sparse", "safe_embedding_lookup_sparse"]

_COMBINERS = ("mean", "sqrtn", "sum")


def embedding_lookup_sparse(params: Any, sp_ids: Any, sp_weights: Any, partition_strategy: str = "mod",
                            name: str | None = None, combiner: str | None = None,
                            max_norm: float | None = None) -> Tensor:
    """One row for each example: the weighted rows of its ids brought together. -> float[examples, ...].

    params: a table, or a list of parts of one. sp_ids: a SparseTensor of ids; the first index is the example, which
    must not decrease. sp_weights: a SparseTensor of the same places, None for ones. combiner: 'sum', 'mean' (the
    default; over the sum of weights) or 'sqrtn' (over the root of the sum of their squares). Examples after the last
    one with an id are left out. The gradient of a table is IndexedSlices, each id once.
    """
    combiner = _checked_combiner("mean" if combiner is None else combiner)
    if not isinstance(sp_ids, SparseTensor):
        raise KindError(expected="a SparseTensor of ids", found=repr(sp_ids))
    if sp_weights is not None:
        if not isinstance(sp_weights, SparseTensor):
            raise KindError(expected="a SparseTensor of weights or None", found=repr(sp_weights))
        for ids, weights in zip(parts_of(sp_ids), parts_of(sp_weights)):
            merge(ids.dims, weights.dims)
    tables = params if isinstance(params, (list, tuple, PartitionedVariable)) else [params]
    with scope(name, "embedding_lookup_sparse", [*tables, sp_ids]) as full:
        rows_of = build.Cast(sp_ids.indices[:, 0], dtype=int32)
        ids, places = build.Unique(sp_ids.values)
        found = embedding_lookup(params, ids, partition_strategy=partition_strategy, max_norm=max_norm)
        rows = gather(found, places)
        if rows.dtype.name == "float16":  # sums of many rows
            rows = build.Cast(rows, dtype="float32")
        if sp_weights is None:
            return _combined(rows, rows_of, combiner, full)
        return _weighted(rows, sp_weights.values, rows_of, combiner=combiner, name=full)


def _checked_combiner(combiner: str) -> str:
    if combiner not in _COMBINERS:
        raise ArgumentError(expected="a combiner 'mean', 'sqrtn' or 'sum'", found=repr(combiner))
    return combiner


def _combined(rows: Tensor, examples: Tensor, combiner: str, name: str) -> Tensor:
    if combiner == "sum":
        return build.SegmentSum(rows, examples, name=name)
    if combiner == "mean":
        return build.SegmentMean(rows, examples, name=name)
    ones = build.OnesLike(_beside(build.Cast(examples, dtype=rows.dtype), rows))
    counts = build.Maximum(build.SegmentSum(ones, examples), 1.0)
    return build.RealDiv(build.SegmentSum(rows, examples), build.Sqrt(counts), name=name)


def _weighted(rows: Tensor, weights: Tensor, examples: Tensor, *, combiner: str, name: str) -> Tensor:
    if weights.dtype is not rows.dtype:
        weights = build.Cast(weights, dtype=rows.dtype)
    weights = _beside(weights, rows)
    weighted = build.Mul(rows, weights)
    if combiner == "sum":
        return build.SegmentSum(weighted, examples, name=name)
    if combiner == "sqrtn":
        over = build.Sqrt(build.SegmentSum(build.Square(weights), examples))
    else:
        over = build.SegmentSum(weights, examples)
    return build.RealDiv(build.SegmentSum(weighted, examples), over, name=name)


def _beside(vector: Tensor, rows: Tensor) -> Tensor:
    """A number for each row, with axes of size 1 up to the rank of the rows."""
    if rows.dims is not None:
        return build.Reshape(vector, [-1] + [1] * (len(rows.dims) - 1))
    ones = build.Fill(build.ExpandDims(build.Rank(rows) - 1, 0), 1)
    return build.Reshape(vector, build.ConcatV2(0, [-1], ones))


def safe_embedding_lookup_sparse(embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None,
                                 combiner: str = "mean", default_id: int | None = None, name: str | None = None,
                                 partition_strategy: str = "div", max_norm: float | None = None) -> Tensor:
    """embedding_lookup_sparse without bad entries, and with a row for each example. -> float[*examples, ...].

    Ids below 0 are left out, and so are weights that are not above 0 unless combiner is 'sum'. An example without
    any gets the row of default_id, or zeros. sparse_ids: of shape [*examples, k].
    """
    tables = list(embedding_weights) if isinstance(embedding_weights, (list, tuple)) else [embedding_weights]
    if not tables or tables[0] is None:
        raise ArgumentError(expected="at least one table", found=repr(embedding_weights))
    _checked_combiner(combiner)
    for part in (sparse_ids, *([] if sparse_weights is None else [sparse_weights])):
        if not isinstance(part, SparseTensor):
            raise KindError(expected="a SparseTensor", found=repr(part))
    dtype = None if sparse_weights is None else sparse_weights.dtype.base_dtype
    tables = [t if hasattr(t, "as_tensor") and dtype in (None, t.dtype.base_dtype) else convert_to_tensor(t, dtype)
              for t in tables]
    with scope(name, "embedding_lookup", [*tables, sparse_ids]) as full:
        original = sparse_ids.dense_shape
        last = build.Size(original) - 1
        examples = build.Prod(build.Slice(original, [0], build.ExpandDims(last, 0)), [0])
        ids, weights = _usable(*_as_matrices(sparse_ids, sparse_weights, examples, last), combiner)
        ids, empty = sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = sparse_fill_empty_rows(weights, 1.0)
        rows = embedding_lookup_sparse(tables, ids, weights, partition_strategy=partition_strategy, combiner=combiner,
                                       max_norm=max_norm, name=None if default_id is None else full)
        if default_id is None:
            rows = build.SelectV2(_beside(empty, rows), build.ZerosLike(rows), rows, name=full)
        return _unflattened(rows, original)


def _as_matrices(ids: SparseTensor, weights: SparseTensor | None, examples: Tensor,
                 last: Tensor) -> tuple[SparseTensor, SparseTensor | None]:
    """Both with the examples in one axis."""
    matrix = sparse_reshape(ids, build.Pack(examples, gather(ids.dense_shape, last), axis=0))
    if weights is None:
        return matrix, None
    return matrix, SparseTensor(matrix.indices, weights.values, matrix.dense_shape)


def _usable(ids: SparseTensor, weights: SparseTensor | None, combiner: str) -> tuple[SparseTensor, SparseTensor | None]:
    """Without ids below 0, and without weights that would spoil a mean."""
    valid = build.GreaterEqual(ids.values, np.zeros((), ids.dtype.as_numpy_dtype))
    if weights is None:
        return sparse_retain(ids, valid), None
    ids, weights = sparse_retain(ids, valid), sparse_retain(weights, valid)
    if combiner == "sum":
        return ids, weights
    counts = build.Greater(weights.values, np.zeros((), weights.dtype.as_numpy_dtype))
    return sparse_retain(ids, counts), sparse_retain(weights, counts)


def _unflattened(rows: Tensor, original: Tensor) -> Tensor:
    """The axes of the examples again."""
    shape = build.Cast(original, dtype=int32)
    result = build.Reshape(rows, build.ConcatV2(0, shape[:-1], build.Shape(rows)[1:]))
    dims = static_dims(original)
    if dims is not None and rows.dims is not None:
        result.set_shape((*dims[:-1], *rows.dims[1:]))
    return result
