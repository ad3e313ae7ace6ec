"""Looking up slices by index, and adding slices back: gather, gather_nd, scatter."""

import numpy as np

from ...core.constant_value import static_dims, static_value
from ...core.declare import op
from ...core.dtypes import NUMBERS, bool_
from ...core.errors import ArgumentError, ShapeError
from ...core.indexed_slices import IndexedSlices
from ...core.infer import axis_in, rank_of, same_shape
from ...core.op import Index, Spec, blocked, build
from ...core.shapes import merge, show
from ..common.batch_axis import after, all_batched, count, joined, numbered, sizes
from ..common.refusals import check_within, mismatch, not_within

_INDICES = "indices are integers"


def _gathered(params, indices, axis, *, batch_dims=0):
    dtype = params.dtype.base_dtype
    rank_of(axis, exactly=0, what="axis")
    rank, at = rank_of(params, at_least=1, what="params"), static_value(axis)
    if rank is None or indices.dims is None:
        return Spec(dtype, None)
    if at is None:
        return Spec(dtype, (None,) * (rank - 1 + len(indices.dims) - batch_dims))
    if not -rank <= at < rank:
        raise ShapeError(f"Shape must be at least rank {max(at + 1, -at)} but is rank {rank}", expected=f"an axis in "
                         f"[{-rank}, {rank})", found=int(at))
    i = axis_in(int(at), rank)
    if not 0 <= batch_dims <= min(i, len(indices.dims)):
        raise ArgumentError(expected=f"0 <= batch_dims <= axis {i} and rank of indices {len(indices.dims)}",
                            found=batch_dims)
    shared_dims = merge(params.dims[:batch_dims], indices.dims[:batch_dims])
    return Spec(dtype, (*shared_dims, *params.dims[batch_dims:i], *indices.dims[batch_dims:], *params.dims[i + 1:]))


@op("GatherV2", infer=_gathered)
def gather(params, indices: Index, axis: Index, *, batch_dims=0):
    """Slices of `params` along an axis, by index. params: any[..., n, ...], indices: int[k...] -> any[..., k..., ...].

    batch_dims: so many leading axes of both belong together. Raises InvalidArgumentError unless 0 <= index < n.
    """
    axis = int(axis)
    check_within(indices, params.shape[axis], " of the axis")
    if not batch_dims:
        return params.take(indices, axis)
    rows, place = _aligned(params, indices, axis, batch_dims)
    return np.moveaxis(rows[place], range(batch_dims, indices.ndim), _targets(axis, indices.ndim, batch_dims, params))


def _aligned(params, indices, axis, batch_dims):
    """`params` with the axis behind the batch axes, and the index that takes the slices."""
    lead = np.ogrid[tuple(slice(n) for n in indices.shape[:batch_dims])]
    lead = [b.reshape(b.shape + (1,) * (indices.ndim - batch_dims)) for b in lead]
    return np.moveaxis(params, axis, batch_dims), (*lead, indices)


def _targets(axis, index_rank, batch_dims, params):
    first = axis + params.ndim if axis < 0 else axis
    return range(first, first + index_rank - batch_dims)


@gather.gradient
def _(node, dy):
    params, indices, axis = node.inputs
    at, batch_dims = static_value(axis), node.attrs["batch_dims"]
    if at is not None and int(at) == 0:
        shape = sizes(params)
        rest = list(params.dims[1:]) if params.dims is not None and None not in params.dims[1:] else shape[1:]
        rows = build.Size(indices)[None] if not isinstance(rest, list) or 0 in rest else [-1]
        values = build.Reshape(dy, joined(rows, np.array(rest, np.int32) if isinstance(rest, list) else rest))
        flat = indices if indices.dims is not None and len(indices.dims) == 1 else build.Reshape(indices, [-1])
        return IndexedSlices(values, flat, shape), blocked(_INDICES), blocked("an axis is an integer")
    dx = build.GatherGrad(sizes(params), indices, axis, dy, batch_dims=batch_dims)
    return dx, blocked(_INDICES), blocked("an axis is an integer")


@gather.batched_if_same(2)
def _(node, args, batched):
    params, indices, axis = args
    batch_dims = node.attrs["batch_dims"]
    if not batched[1] and not batch_dims:
        return build.GatherV2(params, indices, after(axis))
    if not batched[0] and static_value(axis) is not None and int(static_value(axis)) == 0:
        return build.GatherV2(params, indices, axis)
    params, indices = all_batched(args[:2], batched[:2])
    return build.GatherV2(params, indices, after(axis), batch_dims=batch_dims + 1)


@op("GatherGrad", infer=lambda shape, indices, axis, dy, *, batch_dims=0: Spec(dy.dtype.base_dtype, static_dims(shape)),
    dtypes=NUMBERS)
def gather_grad(shape: Index, indices: Index, axis: Index, dy, *, batch_dims=0):
    """Zeros of `shape`, with the slices of `dy` added where a gather took them. dy: number[...] -> number[shape]."""
    dx = np.zeros(tuple(shape.tolist()), dy.dtype)
    axis = int(axis)
    check_within(indices, dx.shape[axis], " of the axis")
    rows, place = _aligned(dx, indices, axis, batch_dims)
    np.add.at(rows, place, np.moveaxis(dy, _targets(axis, indices.ndim, batch_dims, dx),
                                       range(batch_dims, indices.ndim)))
    return dx


@gather_grad.gradient
def _(node, dz):
    indices, axis = node.inputs[1:3]
    dy = build.GatherV2(dz, indices, axis, batch_dims=node.attrs["batch_dims"])
    return blocked("a shape is made of integers"), blocked(_INDICES), blocked("an axis is an integer"), dy


@gather_grad.batched_if_same(0, 2)
def _(node, args, batched):
    shape, indices, axis, dy = args
    batch_dims = node.attrs["batch_dims"]
    if batched[1] or batch_dims:
        indices, dy = all_batched([indices, dy], [batched[1], batched[3]])
        batch_dims += 1
    return build.GatherGrad(joined(count(dy), shape), indices, after(axis), dy, batch_dims=batch_dims)


def _gathered_nd(params, indices):
    rank_of(indices, at_least=1, what="indices")
    if params.dims is None or indices.dims is None or indices.dims[-1] is None:
        return Spec(params.dtype.base_dtype, None)
    depth = indices.dims[-1]
    if depth > len(params.dims):
        raise ShapeError(f"indices have {depth} entries, expected at most {len(params.dims)} for {show(params.dims)}")
    return Spec(params.dtype.base_dtype, (*indices.dims[:-1], *params.dims[depth:]))


def places_in(indices, shape, what="shape"):
    """The NumPy index that `indices[..., k]` is into the first k axes of `shape`, checked."""
    if indices.size and (indices.min() < 0 or (indices >= np.array(shape[:indices.shape[-1]])).any()):
        raise IndexError(not_within(indices, shape, what))
    return tuple(np.moveaxis(indices, -1, 0))


def _rows(indices, shape, what="shape"):
    """Which of the slices that the first k axes of `shape` hold `indices[..., k]` name, in one number each, checked.

    One number is three times as fast an index as two. None for k = 0, and where there is nothing to name.
    """
    depth = indices.shape[-1]
    if not depth or not indices.size or 0 in shape:
        return None
    try:
        return np.ravel_multi_index(tuple([indices[..., k] for k in range(depth)]), shape[:depth])
    except ValueError:
        raise IndexError(not_within(indices, shape, what)) from None


@op("GatherNd", infer=_gathered_nd)
def gather_nd(params, indices: Index):
    """Slices by full index. params: any[...], indices: int[..., k] -> any[..., rest of params]."""
    if not params.size and len(indices) and 0 in params.shape[:indices.shape[-1]]:
        raise ShapeError("Requested more than 0 entries, but params is empty.  Params shape: " + show(params.shape))
    if params.flags.c_contiguous:
        rows = _rows(indices, params.shape, "param shape")
        if rows is not None:
            return params.reshape(-1, *params.shape[indices.shape[-1]:])[rows]
    place = places_in(indices, params.shape, "param shape")
    return np.broadcast_to(params, indices.shape[:-1] + params.shape) if not place else params[place]


@gather_nd.gradient
def _(node, dy):
    params, indices = node.inputs
    if indices.dims is not None and len(indices.dims) == 2 and indices.dims[1] == 1:
        rows = build.Squeeze(indices, squeeze_dims=(-1,))
        return IndexedSlices(dy, rows, sizes(params, indices.dtype)), blocked(_INDICES)
    return build.ScatterNd(indices, dy, sizes(params, indices.dtype)), blocked(_INDICES)


@gather_nd.batched
def _(node, args, batched):
    params, indices = args
    if not batched[0]:
        return build.GatherNd(params, indices)
    return build.GatherNd(params, numbered(all_batched(args, batched)[1]))


def _scattered(indices, updates, shape):
    rank_of(indices, at_least=1, what="indices")
    rank_of(shape, exactly=1, what="shape")
    dims = static_dims(shape)
    _check_any(indices, updates, dims)
    if dims is None or 0 not in dims:
        _check_updates(indices, updates, dims)
    return Spec(updates.dtype.base_dtype, dims)


def _check_any(indices, updates, dims):
    """Nothing can be put into a tensor of no elements."""
    if dims is not None and 0 in dims and any(x.dims is not None and 0 not in (*x.dims, None) for x in (
            indices, updates)):
        raise ShapeError("Indices and updates specified for empty output shape", expected="no updates",
                         found=f"indices {show(indices.dims)} and updates {show(updates.dims)} for {show(dims)}")


def _check_updates(indices, updates, dims):
    """updates must have the outer shape of indices, then the rest of `dims`."""
    if indices.dims is None or indices.dims[-1] is None or dims is None:
        return
    depth = indices.dims[-1]
    if depth > len(dims):
        raise ShapeError(f"indices have {depth} entries, expected at most {len(dims)} for {show(dims)}")
    wanted = (*indices.dims[:-1], *dims[depth:])
    try:
        merge(updates.dims, wanted)
    except ShapeError:
        raise ShapeError(mismatch(indices.dims, updates.dims, dims), expected=show(wanted),
                         found=show(updates.dims)) from None


@op("ScatterNd", infer=_scattered, dtypes=(*NUMBERS, bool_))
def scatter_nd(indices: Index, updates, shape: Index):
    """Zeros, with updates added at indices. indices: int[..., k], updates: number[..., rest] -> number[shape]."""
    return _added(np.zeros(tuple(shape.tolist()), updates.dtype), indices, updates, np.add)


def _added(out, indices, updates, ufunc):
    if not out.size and indices.size and updates.size:
        raise ShapeError("Indices and updates specified for empty output")
    if not indices.size and not updates.size:
        return out
    rest = out.shape[indices.shape[-1]:]
    if out.flags.c_contiguous and updates.shape == indices.shape[:-1] + rest:
        rows = _rows(indices, out.shape)
        if rows is not None:
            ufunc.at(out.reshape(-1, *rest), rows.reshape(-1), updates.reshape(-1, *rest))
            return out
    place = places_in(indices, out.shape)
    if not place:
        updates = updates.reshape(-1, *out.shape).sum(axis=0)
    ufunc.at(out, place, updates)
    return out


@scatter_nd.gradient
def _(node, dy):
    return blocked(_INDICES), build.GatherNd(dy, node.inputs[0]), blocked("a shape is made of integers")


@scatter_nd.batched_if_same(2)
def _(node, args, batched):
    indices, updates = all_batched(args[:2], batched[:2])
    return build.ScatterNd(numbered(indices), updates, joined(count(updates), args[2]))


def _same_tensor(tensor, indices, updates):
    _check_any(indices, updates, tensor.dims)
    if 0 not in (tensor.dims or ()):
        _check_updates(indices, updates, tensor.dims)
    return same_shape(tensor)


@op("TensorScatterUpdate", infer=_same_tensor)
def tensor_scatter_update(tensor, indices: Index, updates):
    """`tensor` with slices replaced. tensor: any[...], indices: int[..., k], updates: any[..., rest] -> any[...]."""
    out = np.array(tensor)
    out[places_in(indices, out.shape)] = updates
    return out


@op("TensorScatterAdd", infer=_same_tensor, dtypes=(*NUMBERS, bool_))
def tensor_scatter_add(tensor, indices: Index, updates):
    """`tensor` with updates added to slices; shapes as for TensorScatterUpdate."""
    return _added(np.array(tensor), indices, updates, np.add)


@op("TensorScatterSub", infer=_same_tensor, dtypes=NUMBERS)
def tensor_scatter_sub(tensor, indices: Index, updates):
    """`tensor` with updates subtracted from slices; shapes as for TensorScatterUpdate."""
    return _added(np.array(tensor), indices, updates, np.subtract)


@tensor_scatter_update.gradient
def _(node, dy):
    _, indices, updates = node.inputs
    kept = build.TensorScatterUpdate(dy, indices, build.ZerosLike(updates))
    return kept, blocked(_INDICES), build.GatherNd(dy, indices)


tensor_scatter_add.gradient(lambda node, dy: (dy, blocked(_INDICES), build.GatherNd(dy, node.inputs[1])))


tensor_scatter_sub.gradient(lambda node, dy: (dy, blocked(_INDICES), build.Neg(build.GatherNd(dy, node.inputs[1]))))


@tensor_scatter_update.batched
@tensor_scatter_add.batched
@tensor_scatter_sub.batched
def _(node, args, batched):
    tensor, indices, updates = all_batched(args, batched)
    return node.definition(tensor, numbered(indices), updates)
