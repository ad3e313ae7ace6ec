"""Ops that repeat, pad, turn round and regroup elements."""

import numpy as np

from ...core.constant_value import known, static_entries, static_value
from ...core.declare import op
from ...core.errors import ArgumentError, ShapeError
from ...core.infer import axis_in, rank_of, same_shape
from ...core.op import Index, Spec, blocked, build
from ...core.shapes import compatible, merge, show
from ..common.batch_axis import after, joined, rank_in, sizes

_PADDINGS = "paddings are integers"


def _tiled(input, multiples):
    rank_of(multiples, exactly=1, what="multiples")
    rank = rank_of(input)
    if multiples.dims is not None and multiples.dims[0] is not None:
        if rank is not None and multiples.dims[0] != rank:
            raise ShapeError(f"Shape must be rank {rank} but is rank {multiples.dims[0]}: the multiples")
        rank = multiples.dims[0]
    if rank is None:
        return Spec(input.dtype.base_dtype, None)
    times = static_entries(multiples, rank)
    if any(m is not None and m < 0 for m in times):
        raise ArgumentError(expected="multiples >= 0", found=times)
    dims = input.dims or (None,) * rank
    return Spec(input.dtype.base_dtype, tuple(None if None in (d, m) else d * m for d, m in zip(dims, times)))


@op("Tile", infer=_tiled)
def tile(input, multiples: Index):
    """The input repeated along each axis. input: any[d...], multiples: int[rank] -> any[d * m...]."""
    if len(multiples) != np.ndim(input):
        raise ValueError(f"Expected multiples argument to be a vector of length {np.ndim(input)} but got length "
                         f"{len(multiples)}")
    return np.tile(input, tuple(multiples.tolist()))


@tile.gradient
def _(node, dy):
    x, multiples = node.inputs
    times, shape = static_value(multiples), static_value(sizes(x))
    if times is not None and shape is not None:
        folded = np.stack([times, shape], axis=1).ravel().astype(np.int32)
        axes = np.arange(0, len(folded), 2, dtype=np.int32)
    else:
        pairs = build.Pack(multiples, sizes(x, multiples.dtype), axis=1)
        folded, axes = build.Reshape(pairs, [-1]), build.Range(0, 2 * build.Rank(x), 2)
    return build.Sum(build.Reshape(dy, folded), axes), blocked("multiples are integers")


@tile.batched_if_same(1)
def _(node, args, batched):
    return build.Tile(args[0], joined([1], args[1]))


def _padded(input, paddings, *_, **__):
    return _resized(input, paddings, 1)


def _resized(input, paddings, sign):
    """Each size plus (sign 1) or minus (sign -1) the padding before and after it."""
    dtype, rank = input.dtype.base_dtype, rank_of(input)
    rank_of(paddings, exactly=2, what="paddings")
    if paddings.dims is not None:
        if paddings.dims[1] not in (2, None) or None not in (rank, paddings.dims[0]) and rank != paddings.dims[0]:
            raise ShapeError(f"paddings have shape {show(paddings.dims)}, expected {show((rank, 2))}")
        rank = paddings.dims[0] if rank is None else rank
    if rank is None:
        return Spec(dtype, None)
    borders = static_entries(paddings, rank)
    if any(border is not None and min(border) < 0 for border in borders):
        raise ArgumentError("Paddings must be non-negative", found=borders)
    dims = input.dims or (None,) * rank
    return Spec(dtype, tuple(None if None in (d, border) else d + sign * sum(border)
                             for d, border in zip(dims, borders)))


@op("Pad", infer=_padded)
def pad(input, paddings: Index):
    """Zeros before and after each axis. input: any[...], paddings: int[rank, 2] -> any[...]."""
    return _with_border(input, paddings, 0)


@op("PadV2", infer=_padded)
def pad_v2(input, paddings: Index, constant_values):
    """A constant before and after each axis. input: any[...], paddings: int[rank, 2] -> any[...]."""
    return _with_border(input, paddings, constant_values)


def _with_border(x, paddings, value):
    if paddings.size and paddings.min() < 0:
        raise ValueError(f"Paddings must be non-negative: found {paddings.tolist()}")
    borders = paddings.tolist()
    out = np.full(tuple(n + a + b for n, (a, b) in zip(x.shape, borders)), value, x.dtype)
    out[tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, borders))] = x
    return out


def _unpadded(node, dy):
    x, paddings = node.inputs[:2]
    begin = known(paddings)
    begin = begin[:, 0]
    return build.Slice(dy, begin, sizes(x, paddings.dtype))


pad.gradient(lambda node, dy: (_unpadded(node, dy), blocked(_PADDINGS)))


@pad_v2.gradient
def _(node, dy):
    dx = _unpadded(node, dy)
    border = build.Sum(dy, build.Range(0, build.Rank(dy), 1)) - build.Sum(dx, build.Range(0, build.Rank(dx), 1))
    return dx, blocked(_PADDINGS), border


def _none_first(paddings):
    """Paddings with a row before them that leaves the leading axis as it is."""
    value = static_value(paddings)
    if value is not None:
        return np.concatenate([np.zeros((1, 2), value.dtype), value])
    return build.ConcatV2(0, np.zeros((1, 2), paddings.dtype.as_numpy_dtype), paddings)


@pad.batched_if_same(1)
def _(node, args, batched):
    return build.Pad(args[0], _none_first(args[1]))


@pad_v2.batched_if_same(1)
def _(node, args, batched):
    x, paddings, value = args
    if not batched[2]:
        return build.PadV2(x, _none_first(paddings), value)
    inside = build.Pad(x, _none_first(paddings)) if batched[0] else build.Pad(x, paddings)
    one = build.Pad(build.OnesLike(x), _none_first(paddings) if batched[0] else paddings)
    return inside + (1 - one) * value[(slice(None), *[None] * rank_in(node))]


@op("MirrorPad", infer=lambda input, paddings, *, mode: _resized(input, paddings, 1))
def mirror_pad(input, paddings: Index, *, mode):
    """The input mirrored beyond each end; REFLECT does not repeat the last element, SYMMETRIC does.

    input: any[...], paddings: int[rank, 2] -> any[...].
    """
    for n, border in zip(input.shape, paddings.tolist()):
        most = n - (mode == "REFLECT")
        if not 0 <= min(border) <= max(border) <= most:
            raise ValueError(f"paddings are {border} for an axis of size {n}, expected 0 to {most}")
    return np.pad(input, paddings.tolist(), mode="reflect" if mode == "REFLECT" else "symmetric")


@op("MirrorPadGrad", infer=lambda input, paddings, *, mode: _resized(input, paddings, -1))
def mirror_pad_grad(input, paddings: Index, *, mode):
    """The gradient of mirrored padding. input: number[...], paddings: int[rank, 2] -> number[...]."""
    out, skip = input, mode == "REFLECT"
    for axis, (a, b) in enumerate(paddings.tolist()):
        out = np.moveaxis(out, axis, 0)
        n = len(out) - a - b
        inner = out[a:a + n].copy()
        inner[skip:skip + a] += out[:a][::-1]
        inner[n - skip - b:n - skip] += out[a + n:][::-1]
        out = np.moveaxis(inner, 0, axis)
    return out


mirror_pad.gradient(lambda node, dy: (build.MirrorPadGrad(dy, node.inputs[1], **node.attrs), blocked(_PADDINGS)))


mirror_pad_grad.gradient(lambda node, dz: (build.MirrorPad(dz, node.inputs[1], **node.attrs), blocked(_PADDINGS)))


@mirror_pad.batched_if_same(1)
@mirror_pad_grad.batched_if_same(1)
def _(node, args, batched):
    return node.definition(args[0], _none_first(args[1]), **node.attrs)


def _reversed(tensor, axis):
    rank_of(axis, exactly=1, what="axis")
    axes = static_value(axis)
    if tensor.dims is not None and axes is not None:
        found = [axis_in(int(i), len(tensor.dims)) for i in axes]
        if len(set(found)) < len(found):
            raise ArgumentError(f"axis {max(found, key=found.count)} specified more than once", found=axes.tolist())
    return same_shape(tensor)


@op("ReverseV2", infer=_reversed)
def reverse(tensor, axis: Index):
    """The input turned round along some axes. tensor: any[...], axis: int[k] -> any[...]."""
    return np.flip(tensor, tuple(axis.tolist()))


reverse.gradient(lambda node, dy: (build.ReverseV2(dy, node.inputs[1]), blocked("an axis is an integer")))


@reverse.batched_if_same(1)
def _(node, args, batched):
    axes = known(args[1])
    return build.ReverseV2(args[0], axes + (axes >= 0) if isinstance(axes, np.ndarray) else after(axes))


def _rows_reversed(input, seq_lengths, *, seq_dim, batch_dim=0):
    rank = rank_of(input)
    rank_of(seq_lengths, exactly=1, what="seq_lengths")
    if rank is None:
        return same_shape(input)
    for what, axis in ("batch_dim", batch_dim), ("seq_dim", seq_dim):
        if axis >= rank:
            raise ShapeError(f"{what} must be < input rank: {axis} vs. {rank}")
    axis_in(seq_dim, rank)
    at = axis_in(batch_dim, rank)
    rows = merge(input.dims[at:at + 1], seq_lengths.dims)
    return Spec(input.dtype.base_dtype, (*input.dims[:at], *rows, *input.dims[at + 1:]))


@op("ReverseSequence", infer=_rows_reversed)
def reverse_sequence(input, seq_lengths: Index, *, seq_dim, batch_dim=0):
    """The first seq_lengths[i] entries of row i turned round. input: any[...], seq_lengths: int[rows] -> any[...]."""
    if batch_dim == seq_dim:
        raise ValueError(f"batch_dim == seq_dim == {seq_dim}")
    x = np.moveaxis(input, (batch_dim, seq_dim), (0, 1))
    if seq_lengths.size and not 0 <= seq_lengths.min() <= seq_lengths.max() <= x.shape[1]:
        raise ValueError(f"expected 0 <= seq_lengths <= {x.shape[1]}, found {seq_lengths.tolist()}")
    steps, lengths = np.arange(x.shape[1]), seq_lengths[:, None]
    place = np.where(steps < lengths, lengths - 1 - steps, steps)
    return np.moveaxis(x[np.arange(len(x))[:, None], place], (0, 1), (batch_dim, seq_dim))


@reverse_sequence.gradient
def _(node, dy):
    return build.ReverseSequence(dy, node.inputs[1], **node.attrs), blocked("lengths are integers")


@reverse_sequence.batched_if_same(1)
def _(node, args, batched):
    axes = {name: i + 1 if i >= 0 else i for name, i in node.attrs.items()}
    return build.ReverseSequence(*args, **axes)


def _rolled(input, shift, axis):
    rank_of(input, at_least=1, what="input")
    for what, places in (("shift", shift), ("axis", axis)):
        if len(places.dims or ()) > 1:
            raise ShapeError(f"Shape must be at most rank 1 but is rank {len(places.dims)}: {what}")
    if shift.dims is not None and axis.dims is not None and len(shift.dims) != len(axis.dims):
        raise ShapeError(f"Shapes must be equal rank, but are {len(shift.dims)} and {len(axis.dims)}",
                         expected="one shift for each axis", found=f"{show(shift.dims)} and {show(axis.dims)}")
    if shift.dims and axis.dims and not compatible(shift.dims, axis.dims):
        raise ShapeError(f"Dimension 0 in both shapes must be equal, but are {shift.dims[0]} and {axis.dims[0]}. "
                         f"Shapes are {show(shift.dims)} and {show(axis.dims)}.")
    return same_shape(input)


@op("Roll", infer=_rolled)
def roll(input, shift: Index, axis: Index):
    """Elements moved round along axes; what leaves at one end enters at the other. shift, axis: int[] or int[k]."""
    axes = tuple(np.atleast_1d(axis).tolist())
    for each in axes:
        if not -input.ndim <= each < input.ndim:
            raise ValueError(f"axis {each} is out of range")
    return np.roll(input, tuple(np.atleast_1d(shift).tolist()), axes)


@roll.gradient
def _(node, dy):
    _, shift, axis = node.inputs
    moved = known(shift)
    return build.Roll(dy, -moved, axis), blocked("a shift is an integer"), blocked("an axis is an integer")


@roll.batched_if_same(1, 2)
def _(node, args, batched):
    axes = known(args[2])
    return build.Roll(args[0], args[1], axes + (axes >= 0) if isinstance(axes, np.ndarray) else after(axes))
