"""Ops that put tensors together along an axis and take them apart: concat, pack, split."""

from itertools import accumulate
from operator import itemgetter

import numpy as np

from ...core.constant_value import static_value
from ...core.declare import op
from ...core.errors import ArgumentError, ShapeError
from ...core.infer import axis_in, rank_of
from ...core.op import Index, Spec, blocked, build, outputs
from ...core.shapes import merge, show
from ..common.batch_axis import after, all_batched

_AXIS = "an axis is an integer"


def _static_axis(axis, rank):
    """The axis counted from 0, or None if it or the rank is unknown."""
    rank_of(axis, exactly=0, what="axis")
    value = static_value(axis)
    return None if value is None or rank is None else axis_in(int(value), rank)


def _some(values):
    if not values:
        raise ArgumentError(expected="at least one tensor", found="none")


def _joined_dims(axis, *values):
    _some(values)
    dtype = values[0].dtype.base_dtype
    known = [v.dims for v in values if v.dims is not None]
    if not known:
        return Spec(dtype, None)
    rank = len(known[0])
    for dims in known:
        if len(dims) != rank:
            raise ShapeError(f"Shapes must be equal rank, but are {rank} and {len(dims)}: {show(known[0])} and "
                             f"{show(dims)}")
    if rank == 0:
        raise ShapeError("Can't concatenate scalars (use tf.stack instead)",
                         hint="use tf.stack to make a vector of them")
    i = _static_axis(axis, rank)
    if i is None:
        return Spec(dtype, (None,) * rank)
    merged = None
    for dims in known:
        merged = merge(merged, (*dims[:i], None, *dims[i + 1:]))
    lengths = [dims[i] for dims in known]
    total = sum(lengths) if len(known) == len(values) and None not in lengths else None
    return Spec(dtype, (*merged[:i], total, *merged[i + 1:]))


@op("ConcatV2", infer=_joined_dims)
def concat(axis: Index, *values, out=None):
    """The inputs one after another along an axis. axis: int[], values: any[..., n, ...]... -> any[..., sum n, ...]."""
    return np.concatenate(values, axis=int(axis), out=out)


@concat.gradient
def _(node, dy):
    axis, values = node.inputs[0], node.inputs[1:]
    if len(values) == 1:
        return blocked(_AXIS), dy
    return blocked(_AXIS), *build.SplitV(dy, _lengths(axis, values), axis, num_split=len(values))


def _lengths(axis, values):
    i = static_value(axis)
    if i is not None and all(v.dims is not None and v.dims[int(i)] is not None for v in values):
        return [v.dims[int(i)] for v in values]
    return build.Pack(*(build.GatherV2(build.Shape(v), axis % build.Rank(v), 0) for v in values), axis=0)


@concat.batched_if_same(0)
def _(node, args, batched):
    return build.ConcatV2(after(args[0]), *all_batched(args[1:], batched[1:]))


def _packed(*values, axis=0):
    _some(values)
    dims = None
    for value in values:
        dims = merge(dims, value.dims)
    if dims is None:
        return Spec(values[0].dtype.base_dtype, None)
    i = axis_in(axis, len(dims) + 1)
    return Spec(values[0].dtype.base_dtype, (*dims[:i], len(values), *dims[i:]))


@op("Pack", infer=_packed)
def pack(*values, axis=0, out=None):
    """The inputs side by side along a new axis. values: any[...]... -> any[..., n, ...]."""
    return np.stack(values, axis=axis, out=out)


pack.gradient(lambda node, dy: build.Unpack(dy, num=len(node.inputs), axis=node.attrs["axis"]))


pack.batched(lambda node, args, batched: build.Pack(*all_batched(args, batched), axis=_after(node.attrs["axis"])))


def _after(axis):
    return axis + 1 if axis >= 0 else axis


def _unpacked(value, *, num, axis=0):
    dims = value.dims
    if dims is None:
        return (Spec(value.dtype.base_dtype, None),) * num
    if not dims:
        raise ShapeError("cannot unstack a scalar: expected rank >= 1")
    i = axis_in(axis, len(dims))
    if dims[i] not in (None, num):
        raise ShapeError(f"Input shape axis {axis} must equal {num}, got shape {show(dims)}")
    return (Spec(value.dtype.base_dtype, dims[:i] + dims[i + 1:]),) * num


@op("Unpack", infer=_unpacked)
def unpack(value, *, num, axis=0):
    """Each slice along an axis. value: any[..., num, ...] -> any[...] num times."""
    slices = tuple(np.moveaxis(value, axis, 0))
    if len(slices) != num:
        raise ArgumentError(f"axis {axis} has size {len(slices)}, expected {num}")
    return outputs(slices)


unpack.gradient(lambda node, *dys: build.Pack(*dys, axis=node.attrs["axis"], name="stack"))


@unpack.batched
def _(node, args, batched):
    return build.Unpack(args[0], num=node.attrs["num"], axis=_after(node.attrs["axis"]))


def _pieces(split_dim, value, *, num_split):
    dtype, dims = value.dtype.base_dtype, value.dims
    if num_split < 1:
        raise ArgumentError(expected="num_split >= 1", found=num_split)
    i = _static_axis(split_dim, rank_of(value, at_least=1, what="value"))
    if i is None:
        return (Spec(dtype, None if dims is None else (None,) * len(dims)),) * num_split
    if dims[i] is not None and dims[i] % num_split:
        raise ShapeError("Number of ways to split should evenly divide the split dimension, but got split_dim "
                         f"{i} (size = {dims[i]}) and num_split {num_split}")
    piece = None if dims[i] is None else dims[i] // num_split
    return (Spec(dtype, (*dims[:i], piece, *dims[i + 1:])),) * num_split


@op("Split", infer=_pieces)
def split(split_dim: Index, value, *, num_split):
    """Equal pieces along an axis. value: any[..., n, ...] -> any[..., n / num_split, ...] num_split times."""
    axis = int(split_dim)
    size, rest = divmod(value.shape[axis], num_split)
    if rest:
        raise ValueError(f"array split does not result in an equal division: {value.shape[axis]} by {num_split}")
    return outputs(_cut(value, axis, [size] * num_split))


def _cut(value, axis, lengths):
    """Views of consecutive pieces: np.split takes ten times as long."""
    return [value[place] for place in _places(value.ndim, axis, lengths)]


def _places(rank, axis, lengths):
    before = (slice(None),) * (axis % rank)
    return [(*before, slice(end - length, end)) for length, end in zip(lengths, accumulate(lengths))]


split.gradient(lambda node, *dys: (blocked(_AXIS), build.ConcatV2(node.inputs[0], *dys, name="concat")))


@split.batched_if_same(0)
def _(node, args, batched):
    return build.Split(after(args[0]), args[1], num_split=node.attrs["num_split"])


def _sized_pieces(value, size_splits, split_dim, *, num_split):
    dtype, dims = value.dtype.base_dtype, value.dims
    rank_of(size_splits, exactly=1, what="size_splits")
    if size_splits.dims is not None and size_splits.dims[0] not in (None, num_split):
        raise ShapeError(f"size_splits has {size_splits.dims[0]} sizes, expected num_split={num_split}")
    i = _static_axis(split_dim, rank_of(value, at_least=1, what="value"))
    if i is None:
        return (Spec(dtype, None if dims is None else (None,) * len(dims)),) * num_split
    sizes = static_value(size_splits)
    lengths = [None] * num_split if sizes is None else _filled(sizes.tolist(), dims[i], dims)
    return tuple(Spec(dtype, (*dims[:i], n, *dims[i + 1:])) for n in lengths)


def _filled(sizes, whole, dims):
    """Lengths of the pieces; one may be -1, which takes what the others leave."""
    given = sum(n for n in sizes if n >= 0)
    if sizes.count(-1) > 1:
        raise ShapeError(f"size_splits is {sizes}, expected at most one -1")
    if whole is None:
        return [None if n < 0 else n for n in sizes]
    if given > whole or -1 not in sizes and given != whole:
        raise ShapeError(f"can't split axis of size {whole} into pieces of size {sizes}: they add up to {given}")
    return [whole - given if n < 0 else n for n in sizes]


@op("SplitV", infer=_sized_pieces)
def split_v(value, size_splits: Index, split_dim: Index, *, num_split):
    """Pieces of given lengths along an axis; one may be -1. value: any[..., n, ...] -> any[..., n_i, ...]..."""
    axis = int(split_dim)
    return outputs(_cut(value, axis, _filled(size_splits.tolist(), value.shape[axis], value.shape)))


def with_lengths(node, values, forms):
    """A Split or SplitV as a function of the input at a place: (function, place); else None.

    values: of the inputs that are the same in each run; None for the others. forms: shapes and dtypes, as far as known.
    """
    place = {"Split": 1, "SplitV": 0}.get(node.type)
    if place is None or forms[place] is None or [v is None for v in values] != [i == place for i in range(len(values))]:
        return None
    shape, count = forms[place].shape, node.attrs["num_split"]
    axis = int(values[2 - 2 * place])
    lengths = [shape[axis] // count] * count if place else _filled(values[1].tolist(), shape[axis], shape)
    return itemgetter(*_places(len(shape), axis, lengths)), place


@split_v.gradient
def _(node, *dys):
    return build.ConcatV2(node.inputs[2], *dys, name="concat"), blocked("sizes are integers"), blocked(_AXIS)


@split_v.batched_if_same(1, 2)
def _(node, args, batched):
    return build.SplitV(args[0], args[1], after(args[2]), num_split=node.attrs["num_split"])
