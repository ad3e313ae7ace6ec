"""Ops that arrange the entries of a sparse tensor: sorting, reshaping, slicing, joining, filling rows, softmax."""

import numpy as np

from ...core.constant_value import static_dims, static_value
from ...core.declare import op
from ...core.dtypes import FLOATS, bool_, int64
from ...core.errors import ArgumentError, DTypeError, ShapeError
from ...core.infer import rank_of
from ...core.op import Index, Own, Spec, blocked, build
from ...core.shapes import is_known, num_elements, show
from ..common.batch_axis import all_batched, count, joined, numbered, repeated, shared, unvaried
from ..common.coordinates import INDICES, SHAPE, checked, coordinates, numbers, order_of, reduced


def _positions(values):
    """0, 1, … for as many entries as there are values."""
    return build.Range(0, build.Size(values), 1)


# ---- order ------------------------------------------------------------------------------

def _same_entries(input_indices, input_values, input_shape):
    n, rank = coordinates(input_indices, input_values, input_shape)
    return Spec(input_indices.dtype.base_dtype, (n, rank)), Spec(input_values.dtype.base_dtype, (n,))


@op("SparseReorder", infer=_same_entries)
def sparse_reorder(input_indices: Index, input_values, input_shape: Index):
    """The entries in row-major order; entries of one place keep their order. indices: int[n, rank], values: any[n]."""
    order = order_of(input_indices)
    return input_indices[order], input_values[order]


def _order(indices, values, shape):
    return build.SparseReorder(indices, _positions(values), shape)[1]


@sparse_reorder.gradient
def _(node, dindices, dvalues):
    return INDICES, build.GatherV2(dvalues, build.InvertPermutation(_order(*node.inputs)), 0), SHAPE


@sparse_reorder.batched_if_same(0, 2)
def _(node, args, batched):
    return [None, build.GatherV2(args[1], _order(*node.inputs), 1)]


# ---- shape ------------------------------------------------------------------------------

def _reshaped(input_indices, input_shape, new_shape):
    rank_of(input_indices, exactly=2, what="indices")
    rank_of(input_shape, exactly=1, what="shape")
    rank_of(new_shape, exactly=1, what="shape")
    n = input_indices.dims[0] if input_indices.dims is not None else None
    whole, wanted = static_dims(input_shape), static_value(new_shape)
    if is_known(whole) and wanted is not None:
        try:
            _fitted(wanted, num_elements(whole))
        except ArgumentError as error:
            raise ShapeError(error.sentence) from None
    rank = new_shape.dims[0] if new_shape.dims is not None else None
    return Spec(input_indices.dtype.base_dtype, (n, rank)), Spec(new_shape.dtype.base_dtype, (rank,))


def _fitted(shape, elements):
    """`shape` with a -1 replaced by the size that gives this number of elements."""
    if (shape == -1).sum() > 1:
        raise ArgumentError("only one output dimension may be -1: At most one dimension can be unknown",
                            found=shape.tolist())
    rest = int(np.prod(shape[shape != -1]))
    fitted = np.where(shape == -1, elements // rest if rest else 0, shape)
    if int(np.prod(fitted)) != elements:
        wanted = f"requested shape requires a multiple of {rest}" if rest != np.prod(shape) else \
            f"requested shape has {rest}"
        raise ArgumentError(f"Cannot reshape: Input to reshape is a tensor with {elements} dense values, but the "
                            f"{wanted}", found=show(shape.tolist()))
    return fitted


@op("SparseReshape", infer=_reshaped, no_grad="indices and shapes are integers")
def sparse_reshape(input_indices: Index, input_shape: Index, new_shape: Index):
    """The indices in another shape of as many elements; one size may be -1. int[n, r], int[r], int[k] -> int[n, k]."""
    shape = _fitted(new_shape, int(np.prod(input_shape)))
    places = numbers(input_indices, input_shape)
    columns = np.empty((len(places), len(shape)), input_indices.dtype)
    for i in range(len(shape) - 1, -1, -1):
        places, columns[:, i] = np.divmod(places, max(int(shape[i]), 1))
    return columns, shape.astype(new_shape.dtype, copy=False)


sparse_reshape.batched(unvaried(0, 1, 2))


def _part(indices, values, shape, start, size):
    _, rank = coordinates(indices, values, shape)
    return (Spec(indices.dtype.base_dtype, (None, rank)), Spec(values.dtype.base_dtype, (None,)),
            Spec(shape.dtype.base_dtype, (rank,)))


@op("SparseSlice", infer=_part)
def sparse_slice(indices: Index, values, shape: Index, start: Index, size: Index):
    """The entries within `size` from `start` on. indices: int[n, rank] -> int[k, rank]."""
    for bound, what in ((start, "start"), (size, "size")):
        if bound.shape != shape.shape:
            raise ArgumentError(expected=f"{what} to have {shape.size} entries", found=f"shape {show(bound.shape)}")
    inside = ((indices >= start) & (indices < start + size)).all(axis=1)
    return indices[inside] - start, values[inside], np.maximum(np.minimum(size, shape - start), 0)


def _kept(indices, values, shape, start, size):
    return build.SparseSlice(indices, _positions(values), shape, start, size)[1]


@sparse_slice.gradient
def _(node, dindices, dvalues, dshape):
    values = node.inputs[1]
    return (INDICES, build.UnsortedSegmentSum(dvalues, _kept(*node.inputs), build.Size(values)), SHAPE,
            blocked("a start is made of integers"), blocked("a size is made of integers"))


@sparse_slice.batched_if_same(0, 2, 3, 4)
def _(node, args, batched):
    return [None, build.GatherV2(args[1], _kept(*node.inputs), 1), None]


# ---- joining and splitting ----------------------------------------------------------------

def _joined(*parts, concat_dim, n):
    indices, values, shapes = parts[:n], parts[n:2 * n], parts[2 * n:]
    total: int | None = 0
    rank = None
    for i, v, s in zip(indices, values, shapes):
        if v.dtype.base_dtype is not values[0].dtype.base_dtype:
            raise DTypeError(expected="values of one dtype", found=f"{values[0].describe()} and {v.describe()}")
        entries, own = coordinates(i, v, s)
        if None not in (rank, own) and rank != own:
            raise ShapeError(f"ranks differ: {rank} and {own}")
        rank = own if rank is None else rank
        total = None if total is None or entries is None else total + entries
    if rank is not None and not -rank <= concat_dim < rank:
        raise ArgumentError(f"axis {concat_dim} is out of range, expected {-rank} <= axis < {rank}")
    return Spec(int64, (total, rank)), Spec(values[0].dtype.base_dtype, (total,)), Spec(int64, (rank,))


@op("SparseConcat", infer=_joined, no_grad="TensorFlow declares joined sparse tensors not differentiable")
def sparse_concat(*parts: Own, concat_dim, n):
    """Sparse tensors one after another along an axis. parts: n indices, then n values, then n shapes."""
    indices, values, shapes = parts[:n], parts[n:2 * n], parts[2 * n:]
    rank = len(shapes[0])
    if not -rank <= concat_dim < rank:
        raise ArgumentError(f"axis {concat_dim} is out of range, expected {-rank} <= axis < {rank}")
    others = [np.delete(shape, concat_dim) for shape in shapes]
    if any(not np.array_equal(other, others[0]) for other in others):
        raise ArgumentError(f"Input shapes must match except along axis {concat_dim}: "
                            f"{[shape.tolist() for shape in shapes]}")
    moved, first = [], 0
    for part, shape in zip(indices, shapes):
        moved.append(part.copy())
        moved[-1][:, concat_dim] += first
        first += shape[concat_dim]
    shape = shapes[0].copy()
    shape[concat_dim] = first
    whole = np.concatenate(moved)
    order = order_of(whole)
    return whole[order], np.concatenate(values)[order], shape


@sparse_concat.batched
def _(node, args, batched):
    n = node.attrs["n"]
    shared(node, batched, *range(n), *range(2 * n, 3 * n))
    values = build.ConcatV2(1, *all_batched(args[n:2 * n], batched[n:2 * n]))
    ends = build.Range(0, build.Size(node.outputs[1]), 1)
    own = build.SplitV(ends, build.Pack(*[build.Size(v) for v in node.inputs[n:2 * n]], axis=0), 0, num_split=n)
    order = build.SparseConcat(*args[:n], *own, *args[2 * n:], **node.attrs)[1]
    return [None, build.GatherV2(values, order, 1), None]


def _pieces(split_dim, indices, values, shape, *, num_split):
    _, rank = coordinates(indices, values, shape)
    return (*[Spec(indices.dtype.base_dtype, (None, rank))] * num_split,
            *[Spec(values.dtype.base_dtype, (None,))] * num_split, *[Spec(shape.dtype.base_dtype, (rank,))] * num_split)


@op("SparseSplit", infer=_pieces, no_rule="TensorFlow has none for it; use sparse_slice for each piece")
def sparse_split(split_dim: Index, indices: Index, values, shape: Index, *, num_split):
    """Pieces along an axis, the first ones longer if they are not equal: all their indices, values, then shapes."""
    rank = len(shape)
    if not -rank <= split_dim < rank:
        raise ArgumentError(f"axis {split_dim} is out of range, expected {-rank} <= axis < {rank}")
    length = int(shape[split_dim])
    if not 1 <= num_split <= length:
        raise ArgumentError(expected=f"1 <= num_split <= {length}, the size of axis {split_dim}", found=num_split)
    short, longer = divmod(length, num_split)
    found = [], [], []
    first = 0
    for i in range(num_split):
        own = shape.copy()
        own[split_dim] = short + (i < longer)
        start = np.zeros_like(shape)
        start[split_dim] = first
        first += own[split_dim]
        for parts, part in zip(found, sparse_slice.kernel(indices, values, shape, start, own)):
            parts.append(part)
    return tuple(part for parts in found for part in parts)


@sparse_split.batched_if_same(0, 1, 3)
def _(node, args, batched):
    n = node.attrs["num_split"]
    parts = build.SparseSplit(args[0], args[1], _positions(node.inputs[2]), args[3], num_split=n)[n:2 * n]
    return [*[None] * n, *[build.GatherV2(args[2], part, 1) for part in parts], *[None] * n]


# ---- rows -------------------------------------------------------------------------------

def _filled(indices, values, dense_shape, default_value):
    n, rank = coordinates(indices, values, dense_shape)
    rank_of(default_value, exactly=0, what="default_value")
    rows = (static_dims(dense_shape) or (None,))[0]
    return (Spec(indices.dtype.base_dtype, (None, rank)), Spec(values.dtype.base_dtype, (None,)), Spec(bool_, (rows,)),
            Spec(int64, (n,)))


@op("SparseFillEmptyRows", infer=_filled)
def sparse_fill_empty_rows(indices: Index, values, dense_shape: Index, default_value):
    """default_value at column 0 of each row without entry, the entries sorted by row.

    Gives indices, values, bool[rows]: which were empty, and int64[n]: where each entry went.
    """
    if default_value.ndim:
        raise ArgumentError("default_value should be a scalar.", found=f"shape {show(default_value.shape)}")
    if not dense_shape.size:
        raise ArgumentError(expected="a shape of rank >= 1", found="[]")
    rows, count_of_rows = indices[:, 0], int(dense_shape[0])
    if len(rows) and (rows.min() < 0 or rows.max() >= count_of_rows):
        raise ArgumentError(expected=f"0 <= row < {count_of_rows}", found=f"{rows.min()} to {rows.max()}")
    empty = np.bincount(rows, minlength=count_of_rows) == 0
    added = np.zeros((int(empty.sum()), indices.shape[1]), indices.dtype)
    added[:, 0] = np.flatnonzero(empty)
    whole = np.concatenate([indices, added])
    order = np.argsort(whole[:, 0], kind="stable")
    filled = np.concatenate([values, np.full(len(added), default_value, values.dtype)])
    return whole[order], filled[order], empty, np.argsort(order, kind="stable")[:len(rows)].astype(np.int64)


@sparse_fill_empty_rows.gradient
def _(node, dindices, dvalues, dempty, dmap):
    given = build.GatherV2(dvalues, node.outputs[3], 0)
    return INDICES, given, SHAPE, build.Sum(dvalues, [0]) - build.Sum(given, [0])


@sparse_fill_empty_rows.batched_if_same(0, 2)
def _(node, args, batched):
    indices, values, shape, default = args
    like = values if batched[1] else default
    values = values if batched[1] else repeated(values, like)
    default = default if batched[3] else repeated(default, like)
    sources = build.SparseFillEmptyRows(indices, _positions(node.inputs[1]) + 1, shape, 0)[1]
    return [None, build.GatherV2(build.ConcatV2(1, build.ExpandDims(default, -1), values), sources, 1), None, None]


@op("SparseSoftmax", dtypes=FLOATS, infer=lambda sp_indices, sp_values, sp_shape: Spec(
    sp_values.dtype.base_dtype, (coordinates(sp_indices, sp_values, sp_shape)[0],)))
def sparse_softmax(sp_indices: Index, sp_values, sp_shape: Index):
    """The softmax of the entries of each row of the last axis; what has no entry has no share. sp_values: float[n]."""
    if len(sp_shape) < 2:
        raise ArgumentError(expected="rank >= 2", found=len(sp_shape))
    checked(sp_indices, sp_values, sp_shape)
    rows = np.unique(numbers(sp_indices[:, :-1], sp_shape[:-1]), return_inverse=True)[1]
    size = len(rows)
    powers = np.exp(sp_values - reduced(np.maximum, sp_values, rows, size)[rows])
    return powers / reduced(np.add, powers, rows, size)[rows]


@sparse_softmax.gradient
def _(node, dy):
    indices, _, shape = node.inputs
    y = node.outputs[0]
    sums = build.SparseReduceSum(indices, dy * y, shape, [-1])
    rows = build.Slice(indices, [0, 0], build.Pack(-1, build.Size(shape) - 1, axis=0))
    return INDICES, (dy - build.GatherNd(sums, rows)) * y, SHAPE


@sparse_softmax.batched_if_same(0, 2)
def _(node, args, batched):
    indices, values, shape = args
    index = numbered(repeated(indices, values))
    flat = build.Reshape(index, build.Pack(-1, build.Size(shape) + 1, axis=0))
    y = build.SparseSoftmax(flat, build.Reshape(values, [-1]), joined(count(values), shape))
    return build.Reshape(y, build.Shape(values))
