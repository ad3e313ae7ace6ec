"""Ops of a sparse tensor's entries with dense tensors: products, sums, quotients."""

import numpy as np

from ...core.constant_value import static_dims, static_value
from ...core.declare import op
from ...core.dtypes import NUMBERS, REALS
from ...core.errors import ArgumentError, ShapeError
from ...core.infer import rank_of
from ...core.op import Index, Int32, Spec, blocked, build
from ...core.shapes import show
from ..common.batch_axis import all_batched, count, joined, numbered, repeated, shared, sizes
from ..common.coordinates import INDICES, SHAPE, checked, coordinates, numbers, reduced
from ..math.elementwise import conjugate
from .row_layout import layout_of

# ---- the product of a sparse matrix with a dense one ---------------------------------------

def _product(a_indices, a_values, a_shape, b, *, adjoint_a=False, adjoint_b=False):
    _, rank = coordinates(a_indices, a_values, a_shape)
    if rank not in (None, 2):
        raise ShapeError(f"the sparse matrix has rank {rank}, expected rank 2")
    rank_of(b, exactly=2, what="b")
    m, k = (static_dims(a_shape) or (None, None))[::-1 if adjoint_a else 1]
    k_too, n = (b.dims or (None, None))[::-1 if adjoint_b else 1]
    if k is not None and k_too is not None and k != k_too:
        raise ShapeError(f"Dimensions must be equal, but are {k} and {k_too}: the inner ones of "
                         f"{show(static_dims(a_shape))} and {show(b.dims)}")
    return Spec(a_values.dtype.base_dtype, (m, n))


@op("SparseTensorDenseMatMul", infer=_product, dtypes=NUMBERS)
def sparse_tensor_dense_matmul(a_indices: Index, a_values, a_shape: Index, b, *, adjoint_a=False, adjoint_b=False):
    """The product of a sparse matrix and a dense one, or of their adjoints. a: [m, k], b: number[k, n] -> number[m, n].

    Each entry counts, in any order; entries of one place add up.
    """
    if a_shape.shape != (2,) or b.ndim != 2:
        raise ArgumentError(expected="two matrices", found=f"shapes {a_shape.tolist()} and {show(b.shape)}")
    layout = layout_of(a_indices, a_values, a_shape, adjoint=adjoint_a)
    k = a_shape[0 if adjoint_a else 1]
    b = b.T.conj() if adjoint_b else b
    if len(b) != k:
        raise ArgumentError(f"Cannot multiply A and B because inner dimension does not match: {k} vs. {len(b)}")
    return layout.product(a_values.conj() if adjoint_a else a_values, b)


@sparse_tensor_dense_matmul.gradient
def _(node, dy):
    """An entry gets the row of dy times the row of b that it brings together."""
    indices, values, shape, b = node.inputs
    adjoint_a, adjoint_b = node.attrs["adjoint_a"], node.attrs["adjoint_b"]
    rows, columns = _rows_and_columns(indices, adjoint_a)
    facing = build.GatherV2(build.Transpose(b, [1, 0]) if adjoint_b else conjugate(b), columns, 0)
    dvalues = build.Sum(build.GatherV2(dy, rows, 0) * facing, [1])
    db = build.SparseTensorDenseMatMul(indices, values, shape, dy, adjoint_a=not adjoint_a)
    return (INDICES, conjugate(dvalues) if adjoint_a else dvalues, SHAPE,
            conjugate(build.Transpose(db, [1, 0])) if adjoint_b else db)


def _rows_and_columns(indices, adjoint):
    rows, columns = indices[:, 0], indices[:, 1]
    return (columns, rows) if adjoint else (rows, columns)


@sparse_tensor_dense_matmul.batched_if_same(0, 2)
def _(node, args, batched):
    indices, values, shape, b = args
    adjoint_a = node.attrs["adjoint_a"]
    rows, columns = _rows_and_columns(indices, adjoint_a)
    if node.attrs["adjoint_b"]:
        b = conjugate(build.Transpose(b, [0, 2, 1] if batched[3] else [1, 0]))
    entries = build.ExpandDims(conjugate(values) if adjoint_a else values, -1)
    terms = entries * build.GatherV2(b, columns, 1 if batched[3] else 0)
    sums = build.UnsortedSegmentSum(build.Transpose(terms, [1, 0, 2]), rows, shape[1 if adjoint_a else 0])
    return build.Transpose(sums, [1, 0, 2])


# ---- entries with the dense elements in their places ------------------------------------

def _entries(sp_indices, sp_values, sp_shape, dense):
    return Spec(sp_values.dtype.base_dtype, (coordinates(sp_indices, sp_values, sp_shape)[0],))


def _faced(sp_indices, sp_values, sp_shape, dense):
    """The dense elements that the entries face, once the dense array is broadcast to the sparse shape."""
    checked(sp_indices, sp_values, sp_shape)
    own = sp_shape[len(sp_shape) - dense.ndim:]
    if dense.ndim > len(sp_shape) or any(d not in (1, s) for d, s in zip(dense.shape, own)):
        raise ArgumentError("SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
                            f"{show(sp_shape.tolist())} vs. {show(dense.shape)}")
    places = sp_indices[:, len(sp_shape) - dense.ndim:]
    return dense[tuple(np.where(d == 1, 0, place) for d, place in zip(dense.shape, places.T))]


@op("SparseDenseCwiseMul", infer=_entries, dtypes=NUMBERS)
def sparse_dense_cwise_mul(sp_indices: Index, sp_values, sp_shape: Index, dense):
    """Entries times the dense elements in their places. sp_values: number[n], dense broadcasts to sp_shape."""
    return sp_values * _faced(sp_indices, sp_values, sp_shape, dense)


@op("SparseDenseCwiseDiv", infer=_entries, dtypes=NUMBERS)
def sparse_dense_cwise_div(sp_indices: Index, sp_values, sp_shape: Index, dense):
    """Entries by the dense elements in their places, toward zero for integers. sp_values: number[n]."""
    faced = _faced(sp_indices, sp_values, sp_shape, dense)
    if sp_values.dtype.kind not in "iu":
        return sp_values / faced
    if not faced.all():
        raise ArgumentError("Integer division by zero")
    return np.sign(sp_values) * np.sign(faced) * (np.abs(sp_values) // np.abs(faced))


@sparse_dense_cwise_mul.gradient
def _(node, dy):
    indices, values, shape, dense = node.inputs
    return (INDICES, build.SparseDenseCwiseMul(indices, dy, shape, conjugate(dense)), SHAPE,
            _scattered(node, dy * conjugate(values)))


@sparse_dense_cwise_div.gradient
def _(node, dy):
    indices, _, shape, dense = node.inputs
    dvalues = build.SparseDenseCwiseDiv(indices, dy, shape, conjugate(dense))
    return INDICES, dvalues, SHAPE, _scattered(node, -dvalues * conjugate(node.outputs[0]))


def _scattered(node, terms):
    """Terms, one for each entry, added up in the shape of the dense input."""
    indices, _, shape, dense = node.inputs
    return build.ScatterNd(_facing(indices, shape, dense), terms, sizes(dense, indices.dtype))


def _facing(indices, shape, dense):
    """The index into the dense input that each entry faces: int[n, rank of dense]."""
    given = sizes(dense, indices.dtype)
    first = build.Size(shape) - build.Size(given)
    own = build.Slice(indices, build.Pack(0, first, axis=0), build.Fill([2], -1))
    return own * build.Cast(build.NotEqual(given, build.OnesLike(given)), dtype=indices.dtype)


@sparse_dense_cwise_mul.batched_if_same(0, 2)
@sparse_dense_cwise_div.batched_if_same(0, 2)
def _cwise_batched(node, args, batched):
    indices, values, shape, dense = args
    if node.inputs[3].dims == ():
        faced = build.ExpandDims(dense, -1)
    else:
        index = _facing(indices, shape, node.inputs[3])
        faced = build.GatherNd(dense, numbered(repeated(index, dense)) if batched[3] else index)
    return (build.Mul if node.type == "SparseDenseCwiseMul" else build.RealDiv)(values, faced)


def _sum(a_indices, a_values, a_shape, b):
    coordinates(a_indices, a_values, a_shape)
    return Spec(b.dtype.base_dtype, b.dims)


@op("SparseTensorDenseAdd", infer=_sum, dtypes=NUMBERS)
def sparse_tensor_dense_add(a_indices: Index, a_values, a_shape: Index, b):
    """Entries added to a dense array of the same shape; entries of one place add up. a_values: number[n]."""
    if b.shape != tuple(a_shape):
        raise ArgumentError(f"shapes differ: {a_shape.tolist()} and {show(b.shape)}")
    checked(a_indices, a_values, a_shape)
    out = b.copy()
    np.add.at(out, tuple(a_indices.T), a_values)
    return out


sparse_tensor_dense_add.gradient(lambda node, dy: (INDICES, build.GatherNd(dy, node.inputs[0]), SHAPE, dy))


@sparse_tensor_dense_add.batched_if_same(0, 2)
def _(node, args, batched):
    values, b = all_batched([args[1], args[3]], [batched[1], batched[3]])
    return build.TensorScatterAdd(b, numbered(repeated(args[0], values)), values)


# ---- sums and extremes along axes -----------------------------------------------------------

def _kept(input_indices, input_values, input_shape, reduction_axes, *, keep_dims=False):
    _, rank = coordinates(input_indices, input_values, input_shape)
    dtype, axes, dims = input_values.dtype.base_dtype, static_value(reduction_axes), static_dims(input_shape)
    if rank is None or axes is None:
        return Spec(dtype, (None,) * rank if rank is not None and keep_dims else None)
    gone = {int(axis) % rank for axis in np.ravel(axes) if -rank <= axis < rank}
    dims = dims or (None,) * rank
    return Spec(dtype, tuple(1 if i in gone else n for i, n in enumerate(dims) if keep_dims or i not in gone))


def axes_of(reduction_axes, rank):
    """The axes as a set of numbers from 0. Raises ArgumentError for one outside of the rank."""
    axes = {int(axis) for axis in np.ravel(reduction_axes)}
    outside = [axis for axis in axes if not -rank <= axis < rank]
    if outside:
        raise ArgumentError(f"Invalid reduction dimension {outside[0]}, for input with {rank} dimensions: expected "
                            f"{-rank} <= axis < {rank}")
    return {axis % rank for axis in axes}


def _along(ufunc, indices, values, shape, axes, keep_dims):
    checked(indices, values, shape)
    gone = axes_of(axes, len(shape))
    kept = [i for i in range(len(shape)) if i not in gone]
    flat = reduced(ufunc, values, numbers(indices[:, kept], shape[kept]), int(np.prod(shape[kept])))
    return flat.reshape([1 if i in gone else n for i, n in enumerate(shape.tolist()) if keep_dims or i not in gone])


@op("SparseReduceSum", infer=_kept, dtypes=NUMBERS)
def sparse_reduce_sum(input_indices: Index, input_values, input_shape: Index, reduction_axes: Int32, *,
                      keep_dims=False):
    """Sums of the entries along axes, dense: zero where there are none. input_values: number[n] -> number[...]."""
    return _along(np.add, input_indices, input_values, input_shape, reduction_axes, keep_dims)


@sparse_reduce_sum.gradient
def _(node, dy):
    """Every entry gets the element of dy that it went into."""
    indices, _, shape, axes = node.inputs
    rank = build.Size(shape)
    gone = build.Minimum(build.Sum(build.OneHot(build.FloorMod(build.Reshape(axes, [-1]), rank), rank, 1, 0), [0]), 1)
    kept = build.Cast(1 - gone, dtype=indices.dtype)
    sizes_kept = build.Maximum(shape * build.Cast(kept, dtype=shape.dtype), build.Cast(gone, dtype=shape.dtype))
    return INDICES, build.GatherNd(build.Reshape(dy, sizes_kept), indices * kept), SHAPE, blocked("axes are integers")


@sparse_reduce_sum.batched_if_same(0, 2, 3)
def _(node, args, batched):
    indices, values, shape, axes = args
    whole = build.ScatterNd(numbered(repeated(indices, values)), values, joined(count(values), shape))
    axes = build.FloorMod(build.Reshape(axes, [-1]), build.Size(shape)) + 1
    return build.Sum(whole, axes, keep_dims=node.attrs["keep_dims"])


@op("SparseReduceMax", infer=_kept, dtypes=REALS, no_rule="TensorFlow has none; make it dense for reduce_max")
def sparse_reduce_max(input_indices: Index, input_values, input_shape: Index, reduction_axes: Int32, *,
                      keep_dims=False):
    """The greatest entries along axes, dense: zero where there are none. input_values: real[n] -> real[...]."""
    return _along(np.maximum, input_indices, input_values, input_shape, reduction_axes, keep_dims)


def _kept_sparse(input_indices, input_values, input_shape, reduction_axes, *, keep_dims=False):
    dense = _kept(input_indices, input_values, input_shape, reduction_axes, keep_dims=keep_dims)
    rank = None if dense.dims is None else len(dense.dims)
    return (Spec(input_indices.dtype.base_dtype, (None, rank)), Spec(dense.dtype, (None,)),
            Spec(input_shape.dtype.base_dtype, (rank,)))


def _along_sparse(ufunc, indices, values, shape, axes, keep_dims):
    """Indices, values and shape of the entries brought together along axes."""
    checked(indices, values, shape)
    gone = axes_of(axes, len(shape))
    left = [i for i in range(len(shape)) if i not in gone]
    _, first, group = np.unique(numbers(indices[:, left], shape[left]), return_index=True, return_inverse=True)
    out = indices[first]
    out[:, list(gone)] = 0
    sizes_left = np.where(np.isin(np.arange(len(shape)), list(gone)), 1, shape)
    if not keep_dims:
        out, sizes_left = out[:, left], sizes_left[left]
    return out, reduced(ufunc, values, group, len(first)), sizes_left.astype(shape.dtype, copy=False)


_NO_RULE = "TensorFlow has none for it; use sparse_reduce_sum or tf.segment_sum"


@op("SparseReduceSumSparse", infer=_kept_sparse, dtypes=NUMBERS, no_rule=_NO_RULE)
def sparse_reduce_sum_sparse(input_indices: Index, input_values, input_shape: Index, reduction_axes: Int32, *,
                             keep_dims=False):
    """Sums of the entries along axes, sparse. Gives indices, values and shape. input_values: number[n]."""
    return _along_sparse(np.add, input_indices, input_values, input_shape, reduction_axes, keep_dims)


@op("SparseReduceMaxSparse", infer=_kept_sparse, dtypes=REALS, no_rule=_NO_RULE)
def sparse_reduce_max_sparse(input_indices: Index, input_values, input_shape: Index, reduction_axes: Int32, *,
                             keep_dims=False):
    """The greatest entries along axes, sparse. Gives indices, values and shape. input_values: real[n]."""
    return _along_sparse(np.maximum, input_indices, input_values, input_shape, reduction_axes, keep_dims)


@sparse_reduce_max.batched
@sparse_reduce_sum_sparse.batched
@sparse_reduce_max_sparse.batched
def _undifferentiated(node, args, batched):
    shared(node, batched, *range(4))  # no gradient flows, so that nothing asks for it
