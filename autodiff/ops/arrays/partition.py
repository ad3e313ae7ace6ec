"""Slices split by a partition number, and stitched together again: partition, stitch, unique."""

import numpy as np

from ...core.constant_value import static_value
from ...core.declare import op
from ...core.dtypes import as_dtype, int32, int64
from ...core.errors import ArgumentError, DTypeError, InvalidArgumentError, ShapeError
from ...core.infer import axis_in, rank_of, ranked, same_shape
from ...core.op import Index, Int32, Own, Spec, blocked, build, outputs
from ...core.shapes import merge, show
from ..common.batch_axis import all_batched, rank_in, shared, sizes
from ..common.refusals import first_outside


def _stitched(*tensors, n):
    indices, data = tensors[:n], tensors[n:]
    if len(tensors) != 2 * n or not n:
        raise ArgumentError(expected="as many indices as data", found=f"{n} and {len(tensors) - n}")
    dtype, rest, longest = data[0].dtype.base_dtype, None, 0
    for where_to, part in zip(indices, data):
        if where_to.dtype is not int32 or part.dtype.base_dtype is not dtype:
            raise DTypeError(expected=f"int32 indices and {dtype.name} data",
                             found=f"{where_to.dtype.name} and {part.dtype.name}")
        if where_to.dims is not None and part.dims is not None:
            merge(part.dims[:len(where_to.dims)], where_to.dims)
            rest = merge(rest, part.dims[len(where_to.dims):])
        value = static_value(where_to)
        longest = None if value is None or longest is None else max(longest, int(value.max(initial=-1)) + 1)
    return Spec(dtype, None if rest is None else (longest, *rest))


@op("DynamicStitch", infer=_stitched)
def dynamic_stitch(*tensors: Own, n):
    """Slices of several tensors put where their indices say; the last wins.

    tensors: n times int32[k...], then n times any[k..., ...] -> any[m, ...] with m the highest index + 1.
    """
    indices, data = tensors[:n], tensors[n:]
    rest = data[0].shape[indices[0].ndim:]
    length = max(int(i.max(initial=-1)) + 1 for i in indices)
    out = np.zeros((length, *rest), data[0].dtype)
    for where_to, part in zip(indices, data):
        out[where_to.ravel()] = part.reshape(-1, *rest) if part.size else part.reshape(where_to.size, *rest)
    return out


@dynamic_stitch.gradient
def _(node, dy):
    indices = node.inputs[:node.attrs["n"]]
    return *[blocked("indices are integers")] * len(indices), *(build.GatherV2(dy, i, 0) for i in indices)


@dynamic_stitch.batched
def _(node, args, batched):
    n = node.attrs["n"]
    _no_varying_indices(node, batched[:n])
    data = all_batched(args[n:], batched[n:])
    moved = [_axis_moved(x, 0, rank_in(node, i)) for i, x in enumerate(data)]
    return _axis_moved(build.DynamicStitch(*args[:n], *moved, n=n), 1, 0)


def _no_varying_indices(node, batched):
    if any(batched):
        raise ShapeError(f"cannot vectorize {node.type} over indices that vary from slice to slice",
                         node=f"{node.name}: {node.describe()}")


def _axis_moved(x, source, target):
    """`x` with one axis moved, the order of the others kept."""
    rank = len(x.dims) if x.dims is not None else None
    if rank is None:
        raise ShapeError(f"cannot vectorize over a tensor of unknown rank: {x.describe()}",
                         hint="use set_shape to give the rank")
    order = [i for i in range(rank) if i != source]
    order.insert(target, source)
    return build.Transpose(x, order)


def _parts(data, partitions, *, num_partitions):
    rest = None
    if data.dims is not None and partitions.dims is not None:
        merge(data.dims[:len(partitions.dims)], partitions.dims)
        rest = (None, *data.dims[len(partitions.dims):])
    return (Spec(data.dtype.base_dtype, rest),) * num_partitions


@op("DynamicPartition", infer=_parts)
def dynamic_partition(data, partitions: Int32, *, num_partitions):
    """The slices of each part. data: any[k..., ...], partitions: int32[k...] -> any[n_i, ...] num_partitions times."""
    if partitions.size and not 0 <= partitions.min() <= partitions.max() < num_partitions:
        raise ValueError(first_outside(partitions, num_partitions, "partitions"))
    return outputs([data[partitions == i] for i in range(num_partitions)])


@dynamic_partition.gradient
def _(node, *dys):
    data, partitions = node.inputs
    n = len(dys)
    shape = sizes(partitions)
    numbers = build.Reshape(build.Range(0, build.Prod(shape, [0]), 1), shape)
    places = build.DynamicPartition(numbers, partitions, num_partitions=n)
    whole = build.DynamicStitch(*places, *dys, n=n)
    return build.Reshape(whole, sizes(data)), blocked("parts are integers")


@dynamic_partition.batched
def _(node, args, batched):
    _no_varying_indices(node, batched[1:])
    inner = rank_in(node, 1)
    parts = build.DynamicPartition(_axis_moved(args[0], 0, inner), args[1], **node.attrs)
    return [_axis_moved(part, 1, 0) for part in parts]


@op("InvertPermutation", infer=ranked(same_shape, exactly=1, what="x"), no_grad="a permutation is made of integers")
def invert_permutation(x: Index):
    """The permutation that undoes x: y[x[i]] = i. x: int[n], each of 0 to n - 1 once -> int[n]."""
    y = np.full(x.shape, -1, x.dtype)
    if x.size and not 0 <= x.min() <= x.max() < x.size:
        raise ValueError(f"expected each of 0 to {x.size - 1} once, found {x.tolist()}")
    y[x] = np.arange(x.size, dtype=x.dtype)
    if x.size and y.min() < 0:
        raise ValueError(f"expected each of 0 to {x.size - 1} once, found {x.tolist()}")
    return y


@invert_permutation.batched
def _(node, args, batched):
    values, places = build.TopKV2(build.Neg(args[0]), build.Shape(args[0])[-1], sorted=True)
    return places if args[0].dtype is int32 else build.Cast(places, dtype=args[0].dtype)


def _distinct(x, *, out_idx=int32, axis=None):
    rank = rank_of(x, exactly=1 if axis is None else None, what="x")
    at = 0 if axis is None or rank is None else axis_in(axis, rank)
    dims = (None,) if axis is None else x.dims and (*x.dims[:at], None, *x.dims[at + 1:])
    return Spec(x.dtype.base_dtype, dims), Spec(as_dtype(out_idx), (None,) if x.dims is None else x.dims[at:at + 1])


@op("Unique", infer=_distinct, no_rule="which values are distinct jumps")
def unique(x, *, out_idx=int32, axis=None):
    """Distinct values in order of first occurrence; for each element its place there. x: any[n] -> any[k], int[n].

    axis: of slices along this axis of x, which may have any rank.
    """
    return _first_occurrences(x, out_idx, axis)[:2]


@op("UniqueWithCounts", infer=lambda x, *, out_idx=int32, axis=None: (
    *_distinct(x, out_idx=out_idx, axis=axis), Spec(as_dtype(out_idx), (None,))),
    no_rule="which values are distinct jumps")
def unique_with_counts(x, *, out_idx=int32, axis=None):
    """Unique, and how often each value occurs. x: any[n] -> any[k], int[n], int[k]."""
    return _first_occurrences(x, out_idx, axis)


def _first_occurrences(x, out_idx, axis):
    dtype = as_dtype(out_idx).as_numpy_dtype
    if x.dtype.kind == "i" and x.ndim == 1 and x.size:
        low = int(x.min())
        span = int(x.max()) - low + 1
        if span <= _WIDEST + 64 * x.size:
            return _first_of_numbers(x, np.subtract(x, low, dtype=np.intp), span, dtype)
    values, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    order = np.argsort(first, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return values.take(order, axis or 0), place[inverse.reshape(-1)].astype(dtype), counts[order].astype(dtype)


_WIDEST = 1 << 16  # range of whole numbers for which a table of places beats sorting, be they as few as they may


def _first_of_numbers(x, at, span, dtype):
    """`_first_occurrences` of whole numbers without sorting. at: x from zero on, below `span`."""
    numbers = np.arange(x.size)
    first = np.empty(span, np.intp)  # most of it is never touched
    first[at[::-1]] = numbers[::-1]  # the last that is written stays
    first = first.take(at)
    is_new = first == numbers
    place = (is_new.cumsum() - 1).take(first)
    return x[is_new], place.astype(dtype), np.bincount(place).astype(dtype)


def _difference(x, y, *, out_idx=int32):
    for value, what in ((x, "x"), (y, "y")):
        rank_of(value, exactly=1, what=what)
    return Spec(x.dtype.base_dtype, (None,)), Spec(as_dtype(out_idx), (None,))


@op("ListDiff", infer=_difference, no_rule="which values are in a set jumps")
def list_diff(x, y, *, out_idx=int32):
    """Values of x that are not in y, and their places in x. x: any[n], y: any[m] -> any[k], int[k]."""
    kept = np.flatnonzero(~np.isin(x, y))
    return x[kept], kept.astype(as_dtype(out_idx).as_numpy_dtype)


@unique.batched
@unique_with_counts.batched
@list_diff.batched
def _(node, args, batched):
    shared(node, batched, *range(len(batched)))  # each slice would give a result of its own length


@op("UnravelIndex", infer=lambda indices, dims: Spec(indices.dtype.base_dtype, None if indices.dims is None else (
    None if dims.dims is None else dims.dims[0], *indices.dims)), no_grad="indices are integers")
def unravel_index(indices: Index, dims: Index):
    """Coordinates of flat indices in an array of shape `dims`. indices: int[...], dims: int[rank] -> int[rank, ...]."""
    return np.array(np.unravel_index(indices, tuple(dims.tolist())), dtype=indices.dtype)


@unravel_index.batched_if_same(1)
def _(node, args, batched):
    found = build.UnravelIndex(*args)
    return _axis_moved(found, 1, 0)


def _order(src_format, dst_format):
    """For each letter of the one its place in the other."""
    if len(src_format) not in (4, 5):
        raise InvalidArgumentError(f"Source format must be of length 4 or 5, received src_format = {src_format}")
    if len(set(src_format)) != len(src_format) or sorted(src_format) != sorted(dst_format):
        raise InvalidArgumentError("Destination and source format must determine a permutation, got "
                                   f"{src_format} and {dst_format}")
    return np.array([dst_format.index(letter) for letter in src_format])


@op("DataFormatDimMap", infer=same_shape, elementwise=True, dtypes=(int32, int64), no_grad="axes are integers")
def data_format_dim_map(x, *, src_format="NHWC", dst_format="NCHW"):
    """Axes of one layout as those of another. x: int[...], -rank <= x < rank -> int[...]."""
    return _order(src_format, dst_format)[x].astype(x.dtype)


@op("DataFormatVecPermute", infer=same_shape, dtypes=(int32, int64), no_grad="sizes are integers")
def data_format_vec_permute(x, *, src_format="NHWC", dst_format="NCHW"):
    """Sizes, or pairs of them, in the order of another layout. x: int[4] or int[4, 2] -> the same."""
    order = _order(src_format, dst_format)
    if x.shape not in ((len(order),), (len(order), 2)):
        raise InvalidArgumentError(f"1D input must be of size {len(order)}", found=show(x.shape))
    return x[np.argsort(order)]


@data_format_vec_permute.batched
def _(node, args, batched):
    return build.GatherV2(args[0], np.argsort(_order(**node.attrs)).astype(np.int32), 1)
