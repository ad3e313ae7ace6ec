"""Ops that change the shape and keep the elements: reshape, transpose, expand, squeeze, broadcast; and sizes."""

import math

import numpy as np

from ...core.constant_value import known, static_dims, static_value
from ...core.declare import op
from ...core.dimensions import merge_sizes
from ...core.dtypes import as_dtype, int32
from ...core.errors import ShapeError
from ...core.infer import axis_in, fixed, rank_of
from ...core.op import Index, Own, Spec, blocked, build
from ...core.shapes import broadcast, is_known, num_elements, show
from ..common.batch_axis import after, count, joined, rank_in, sizes, unvaried

_INTEGERS = "a shape, axis or permutation is made of integers"


def _reshaped(tensor, shape):
    rank_of(shape, exactly=1, what="shape")
    wanted = static_value(shape)
    if wanted is not None and wanted.size and wanted.min() < -1:
        raise ShapeError(expected="sizes >= 0, or -1 for the rest", found=wanted.tolist())
    dims, total = static_dims(shape), num_elements(tensor.dims)
    if dims is None or total is None:
        _check_divisible(tensor.dims, dims)
        return Spec(tensor.dtype.base_dtype, dims)
    rest = num_elements([d for d in dims if d is not None])
    unknown = dims.count(None)
    if not unknown and rest != total or unknown == 1 and rest and total % rest:
        factor = f": the size must be evenly divisible by {rest}" if unknown else ""
        raise ShapeError(f"Cannot reshape a tensor with {total} elements to shape {show(dims)}{factor}, found "
                         f"{show(tensor.dims)}")
    if unknown == 1 and rest:
        dims = tuple(total // rest if d is None else d for d in dims)
    return Spec(tensor.dtype.base_dtype, dims)


def _check_divisible(have, wanted):
    """With unknown sizes before and none after, the known ones must divide the count of elements."""
    total = num_elements(wanted)
    factor = num_elements([d for d in have if d is not None]) if have is not None else None
    if total is not None and factor and total % factor:
        raise ShapeError(f"Cannot reshape a tensor of {show(have)} to shape {show(wanted)}",
                         expected=f"a multiple of {factor} elements", found=total)


@op("Reshape", infer=_reshaped)
def reshape(tensor, shape: Index):
    """The same elements in another shape; one size may be -1. tensor: any[...], shape: int[rank] -> any[shape]."""
    if not tensor.size and -1 in shape and 0 in shape:  # NumPy cannot tell; TensorFlow leaves sizes of 0 out of both
        known = math.prod(n for n in tensor.shape if n) // max(1, math.prod(n for n in shape if n > 0))
        shape = tuple(known if n == -1 else n for n in shape)
    return tensor.reshape(shape)


reshape.gradient(lambda node, dy: (build.Reshape(dy, sizes(node.inputs[0])), blocked(_INTEGERS)))


@reshape.batched_if_same(1)
def _(node, args, batched):
    shape = node.outputs[0].dims if is_known(node.outputs[0].dims) else args[1]
    if isinstance(shape, tuple):
        return build.Reshape(args[0], joined(count(args[0]), np.array(shape, np.int32)))
    return build.Reshape(args[0], joined(count(args[0]), _without_rest(args[0], args[1])))


def _without_rest(x, shape):
    """A shape for each slice of `x`, in which a -1 is replaced, lest it takes in the leading axis."""
    if shape.op.type == "Shape":
        return shape
    each = build.FloorDiv(build.Size(x, out_type=shape.dtype), build.Shape(x, out_type=shape.dtype)[0])
    rest = build.FloorDiv(each, build.Maximum(-build.Prod(shape, [0]), 1))  # a -1 makes the product negative
    return build.SelectV2(build.Equal(shape, -1), rest, shape)


def _transposed(x, perm):
    rank_of(perm, exactly=1, what="perm")
    rank = rank_of(x)
    if rank is None:
        rank = None if perm.dims in (None, (1,)) else perm.dims[0]  # TensorFlow says nothing for one axis
    elif perm.dims is not None and perm.dims[0] is not None and perm.dims[0] != rank:
        raise ShapeError(f"Dimension must be {rank} but is {perm.dims[0]}: the axes of perm, for {show(x.dims)}")
    order = static_value(perm)
    if rank is None:
        return Spec(x.dtype.base_dtype, None)
    if order is None:
        return Spec(x.dtype.base_dtype, (None,) * rank)
    order = [axis_in(int(i), rank) for i in order]
    if sorted(order) != list(range(rank)):
        raise ShapeError(f"perm is {order}: {min(set(range(rank)) - set(order))} is missing, expected each of 0 to "
                         f"{rank - 1} once")
    return Spec(x.dtype.base_dtype, tuple(None if x.dims is None else x.dims[i] for i in order))


@op("Transpose", infer=_transposed)
def transpose(x, perm: Index):
    """Axes in another order: axis i of the result is axis perm[i]. x: any[...], perm: int[rank] -> any[...]."""
    return np.transpose(x, perm)


@transpose.gradient
def _(node, dy):
    perm = known(node.inputs[1])
    if isinstance(perm, np.ndarray):
        order = np.argsort(_nonnegative(perm)).astype(np.int32)
        return build.Transpose(dy, order, name="transpose"), blocked(_INTEGERS)
    return build.Transpose(dy, build.InvertPermutation(perm), name="transpose"), blocked(_INTEGERS)


@transpose.batched_if_same(1)
def _(node, args, batched):
    return build.Transpose(args[0], joined([0], _nonnegative(known(args[1])) + 1))


def _nonnegative(perm):
    return np.where(perm < 0, perm + len(perm), perm) if isinstance(perm, np.ndarray) else perm


@op("ConjugateTranspose", infer=_transposed)
def conjugate_transpose(x, perm: Index):
    """Transpose of the complex conjugate. x: number[...], perm: int[rank] -> number[...]."""
    return np.conj(np.transpose(x, perm))


@conjugate_transpose.gradient
def _(node, dy):
    return build.ConjugateTranspose(dy, build.InvertPermutation(node.inputs[1])), blocked(_INTEGERS)


@conjugate_transpose.batched_if_same(1)
def _(node, args, batched):
    return build.ConjugateTranspose(args[0], joined([0], _nonnegative(known(args[1])) + 1))


def _expanded(input, dim):
    axis = static_value(dim)
    if input.dims is None:
        return Spec(input.dtype.base_dtype, None)
    rank = len(input.dims) + 1
    if axis is None:
        return Spec(input.dtype.base_dtype, (None,) * rank)
    i = axis_in(_one(axis, "dim"), rank)
    return Spec(input.dtype.base_dtype, (*input.dims[:i], 1, *input.dims[i:]))


def _one(value, what):
    if value.size != 1:
        raise ShapeError(f"'{what}' must be a tensor with a single value", expected="one axis", found=show(value.shape))
    return int(value.reshape(()))


@op("ExpandDims", infer=_expanded)
def expand_dims(input, dim: Index):
    """One more axis of size 1 at `dim`. input: any[...], dim: int[] -> any[...]."""
    at, shape = dim.item(), input.shape
    if 0 <= at <= len(shape):
        return input.reshape(*shape[:at], 1, *shape[at:])  # in a tenth of the time
    return np.expand_dims(input, at)


expand_dims.gradient(lambda node, dy: (build.Reshape(dy, sizes(node.inputs[0])), blocked(_INTEGERS)))


@expand_dims.batched_if_same(1)
def _(node, args, batched):
    return build.ExpandDims(args[0], after(args[1]))


def _squeezed(input, *, squeeze_dims=()):
    dims = input.dims
    if dims is None:
        return Spec(input.dtype.base_dtype, None)
    if not squeeze_dims:
        return Spec(input.dtype.base_dtype, None if None in dims else tuple(d for d in dims if d != 1))
    axes = {axis_in(i, len(dims)) for i in squeeze_dims}
    for i in axes:
        if dims[i] not in (1, None):
            raise ShapeError(f"Can not squeeze dim[{i}], expected a dimension of 1, got {dims[i]} of {show(dims)}")
    return Spec(input.dtype.base_dtype, tuple(d for i, d in enumerate(dims) if i not in axes))


@op("Squeeze", infer=_squeezed)
def squeeze(input, *, squeeze_dims=()):
    """Without axes of size 1: all of them, or the named ones. input: any[...] -> any[...]."""
    return np.squeeze(input, axis=tuple({axis_in(i, input.ndim) for i in squeeze_dims}) or None)


squeeze.gradient(lambda node, dy: build.Reshape(dy, sizes(node.inputs[0])))


@squeeze.batched
def _(node, args, batched):
    axes = node.attrs["squeeze_dims"]
    if not axes:
        inner = node.outputs[0].dims
        if is_known(inner):
            return build.Reshape(args[0], joined(count(args[0]), np.array(inner, np.int32)))
        shape = build.Shape(args[0])[1:]
        kept = build.GatherV2(shape, build.Where(build.NotEqual(shape, 1))[:, 0], 0)
        return build.Reshape(args[0], joined(count(args[0]), kept))
    return build.Squeeze(args[0], squeeze_dims=tuple(i + 1 if i >= 0 else i for i in axes))


def _broadcast_to(input, shape):
    rank_of(shape, exactly=1, what="shape")
    dims = static_dims(shape)
    if dims is None or input.dims is None:
        return Spec(input.dtype.base_dtype, dims)
    if len(input.dims) > len(dims):
        raise ShapeError(f"Unable to broadcast tensor of shape {show(input.dims)} to tensor of shape {show(dims)}")
    for have, want in zip(input.dims[::-1], dims[::-1]):
        if have not in (1, want, None) and want is not None:
            raise ShapeError(f"Unable to broadcast tensor of shape {show(input.dims)} to tensor of shape {show(dims)}")
    new = len(dims) - len(input.dims)
    filled = tuple(have if want is None and have != 1 else want for have, want in zip(input.dims, dims[new:]))
    return Spec(input.dtype.base_dtype, dims[:new] + filled)


@op("BroadcastTo", infer=_broadcast_to)
def broadcast_to(input, shape: Index):
    """Repeated along axes of size 1 and new leading ones; a read-only view. input: any[...] -> any[shape]."""
    return np.broadcast_to(input, tuple(shape.tolist()))


broadcast_to.gradient(lambda node, dy: (build.SumTo(dy, sizes(node.inputs[0])), blocked(_INTEGERS)))


@broadcast_to.batched_if_same(1)
def _(node, args, batched):
    x, inner = args[0], node.outputs[0]
    if inner.dims is None:
        new = build.Size(args[1]) - build.Rank(node.inputs[0])
        ones, rest = build.Fill(build.Reshape(new, [1]), 1), build.Shape(x)[1:]
        x = build.Reshape(x, build.ConcatV2(0, build.Shape(x)[:1], ones, rest))
    elif len(inner.dims) > rank_in(node):
        x = x[(slice(None), *[None] * (len(inner.dims) - rank_in(node)))]
    return build.BroadcastTo(x, joined(count(x), args[1]))


@op("Size", infer=lambda input, *, out_type=int32: Spec(as_dtype(out_type), ()), no_grad="a size is an integer")
def size(input: Own, *, out_type=int32):
    """Count of elements. input: any[...] -> int[]."""
    return np.asarray(np.size(input), dtype=as_dtype(out_type).as_numpy_dtype)


@op("Rank", infer=fixed(int32), no_grad="a rank is an integer")
def rank(input: Own):
    """Count of axes. input: any[...] -> int32[]."""
    return np.asarray(np.ndim(input), dtype=np.int32)


@size.batched
@rank.batched
def _(node, args, batched):
    return [None]  # the same for each slice


@op("BroadcastArgs", infer=lambda s0, s1: Spec(s0.dtype.base_dtype, _longer(s0, s1)), no_grad=_INTEGERS)
def broadcast_args(s0: Index, s1: Index):
    """The shape that two shapes broadcast to. s0, s1: int[rank] -> int[rank]."""
    return np.array(broadcast(tuple(s0.tolist()), tuple(s1.tolist())), dtype=s0.dtype)


def _longer(s0, s1):
    if s0.dims is None or s1.dims is None or None in (*s0.dims, *s1.dims):
        return (None,)
    return (max(s0.dims[0], s1.dims[0]),)


broadcast_args.batched(unvaried(0, 1))


def _checked_shape(tensor, *, shape):
    dims = tensor.dims
    if shape is None:
        return Spec(tensor.dtype.base_dtype, dims)
    rank_of(tensor, exactly=len(shape))
    return Spec(tensor.dtype.base_dtype, tuple(shape) if dims is None else tuple(map(merge_sizes, dims, shape)))


@op("EnsureShape", infer=_checked_shape)
def ensure_shape(input, *, shape):
    """The input, if it has this shape. input: any[...] -> any[shape]. Raises InvalidArgumentError if not."""
    if shape is None:
        return input
    if len(shape) != np.ndim(input) or any(m is not None and m != n for m, n in zip(shape, np.shape(input))):
        raise ValueError(f"Shape of tensor {show(np.shape(input))} is not compatible with expected shape {show(shape)}")
    return input


ensure_shape.gradient(lambda node, dy: dy)


@ensure_shape.batched
def _(node, args, batched):
    return build.EnsureShape(args[0], shape=None if node.attrs["shape"] is None else (None, *node.attrs["shape"]))
