"""Ops that take a rectangular part (StridedSlice, Slice), and their gradients, which put a part back."""

from functools import partial
from operator import itemgetter

import numpy as np

from ...core.constant_value import known, static_dims, static_entries
from ...core.declare import op
from ...core.errors import ShapeError
from ...core.infer import rank_of
from ...core.op import Index, Spec, blocked, build
from ...core.shapes import show
from ..common.batch_axis import joined, rank_in, sizes

_BOUNDS = "bounds are integers"


def index_of(begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask):
    """The NumPy index that bounds and masks stand for; bit i of a mask speaks of entry i."""
    index = []
    for i, (b, e, s) in enumerate(zip(begin.tolist(), end.tolist(), strides.tolist())):
        bit = 1 << i
        if ellipsis_mask & bit:
            index.append(Ellipsis)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            index.append(b)
        else:
            index.append(slice(None if begin_mask & bit else b, None if end_mask & bit else e, s))
    return tuple(index)


def sliced(input, begin, end, strides, *, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
           shrink_axis_mask=0):
    """The dtype and the (partial) shape of a StridedSlice of these inputs."""
    lengths = {t.dims[0] for t in (begin, end, strides) if t.dims is not None and t.dims[0] is not None}
    if len(lengths) > 1:
        raise ShapeError(f"begin, end and strides have lengths {sorted(lengths)}, expected equal ones")
    dtype = input.dtype.base_dtype
    if not lengths or input.dims is None:
        return Spec(dtype, None)
    length = lengths.pop()
    if bin(ellipsis_mask).count("1") > 1:
        raise ShapeError("Multiple ellipses in slice spec not allowed", expected="at most one")
    given = [i for i in range(length) if not (ellipsis_mask | new_axis_mask) >> i & 1]
    skipped = len(input.dims) - len(given)
    if skipped < 0:
        raise ShapeError(f"Index out of range using input dim {len(input.dims)}; input has only {len(input.dims)} dims",
                         expected=f"at most {len(input.dims)} indices for {show(input.dims)}", found=len(given))
    bounds = list(zip(*(static_entries(t, length) for t in (begin, end, strides))))
    dims, at = [], 0
    for i, (b, e, s) in enumerate(bounds):
        if ellipsis_mask >> i & 1:
            dims.extend(input.dims[at:at + skipped])
            at += skipped
        elif new_axis_mask >> i & 1:
            dims.append(1)
        elif shrink_axis_mask >> i & 1:
            _check_index(input.dims[at], b, s, at)
            at += 1
        else:
            masked = begin_mask >> i & 1, end_mask >> i & 1
            dims.append(_length(input.dims[at], b, e, s, masked))
            at += 1
    return Spec(dtype, (*dims, *input.dims[at:]))


def _check_index(size, index, stride, axis):
    if stride is not None and stride < 1:
        raise ShapeError(expected="stride 1 for a single index", found=stride)
    if size is not None and index is not None and not -size <= index < size:
        raise ShapeError(f"index {index} is out of bounds for axis {axis} of size {size}")


def _length(size, begin, end, stride, masked):
    """How many entries of an axis a slice takes, or None if unknown."""
    if stride == 0:
        raise ShapeError("expected a stride other than 0")
    if size is None or stride is None or begin is None and not masked[0] or end is None and not masked[1]:
        return None
    part = slice(None if masked[0] else begin, None if masked[1] else end, stride)
    return len(range(*part.indices(size)))


@op("StridedSlice", infer=sliced)
def strided_slice(input, begin: Index, end: Index, strides: Index, *, begin_mask=0, end_mask=0, ellipsis_mask=0,
                  new_axis_mask=0, shrink_axis_mask=0):
    """`input[begin:end:strides]`, with masks for open bounds, `...`, new and single entries. any[...] -> any[...]."""
    return input[index_of(begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)]


@strided_slice.gradient
def _(node, dy):
    x, *bounds = node.inputs
    dx = build.StridedSliceGrad(sizes(x, bounds[0].dtype), *bounds, dy, **node.attrs)
    return dx, blocked(_BOUNDS), blocked(_BOUNDS), blocked(_BOUNDS)


@strided_slice.batched_if_same(1, 2, 3)
def _(node, args, batched):
    return build.StridedSlice(args[0], *_whole_first(args[1:]), **_shifted(node.attrs))


def _whole_first(bounds):
    """Bounds with an entry before them that takes the whole leading axis."""
    begin, end, strides = bounds
    return joined([0], begin), joined([0], end), joined([1], strides)


def _shifted(masks):
    moved = {name: mask << 1 for name, mask in masks.items()}
    return {**moved, "begin_mask": moved["begin_mask"] | 1, "end_mask": moved["end_mask"] | 1}


@op("StridedSliceGrad",
    infer=lambda shape, begin, end, strides, dy, **masks: Spec(dy.dtype.base_dtype, static_dims(shape)))
def strided_slice_grad(shape: Index, begin: Index, end: Index, strides: Index, dy, *, begin_mask=0, end_mask=0,
                       ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0):
    """Zeros of `shape` with `dy` where the slice was taken. dy: any[...] -> any[shape]."""
    index = index_of(begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return _among_zeros(tuple(shape.tolist()), index, dy)


def _among_zeros(shape, index, dy):
    dx = np.zeros(shape, dy.dtype)
    dx[index] = dy
    return dx


def with_bounds(node, values):
    """A StridedSlice or its gradient as a function of the input at a place: (function, place); else None.

    values: of the inputs that are the same in each run; None for the others.
    """
    fixed = [value is not None for value in values]
    if node.type == "StridedSlice" and fixed == [False, True, True, True]:
        return itemgetter(index_of(*values[1:], **node.attrs)), 0
    if node.type == "StridedSliceGrad" and fixed == [True, True, True, True, False]:
        return partial(_among_zeros, tuple(values[0].tolist()), index_of(*values[1:4], **node.attrs)), 4
    return None


@strided_slice_grad.gradient
def _(node, dz):
    bounds = node.inputs[1:4]
    return *[blocked(_BOUNDS)] * 4, build.StridedSlice(dz, *bounds, **node.attrs)


@strided_slice_grad.batched_if_same(0, 1, 2, 3)
def _(node, args, batched):
    shape, *bounds, dy = args
    count = build.Shape(dy)[:1] if dy.dims is None or dy.dims[0] is None else [dy.dims[0]]
    return build.StridedSliceGrad(joined(count, shape), *_whole_first(bounds), dy, **_shifted(node.attrs))


def _part(input, begin, size):
    rank = rank_of(input)
    for bounds, what in ((begin, "begin"), (size, "size")):
        rank_of(bounds, exactly=1, what=what)
        if bounds.dims is not None and bounds.dims[0] is not None:
            if rank is not None and bounds.dims[0] != rank:
                raise ShapeError(f"{what} has {bounds.dims[0]} entries, expected {rank} for {show(input.dims)}")
            rank = bounds.dims[0]
    if rank is None:
        return Spec(input.dtype.base_dtype, None)
    whole = input.dims or (None,) * rank
    bounds = zip(range(rank), whole, static_entries(begin, rank), static_entries(size, rank))
    return Spec(input.dtype.base_dtype, tuple([_taken(*bound) for bound in bounds]))


def _taken(axis, whole, begin, size):
    """Length of a slice along one axis, or None; size -1 takes the rest."""
    if begin is not None and begin < 0 or size is not None and size < -1:
        raise ShapeError(expected="begin >= 0 and size >= -1", found=f"{begin} and {size} for axis {axis}")
    if whole is not None and begin is not None and begin + max(size or 0, 0) > whole:
        raise ShapeError(expected=f"begin + size <= {whole} for axis {axis}", found=f"{begin} + {size}")
    if size == -1:
        return None if whole is None or begin is None else whole - begin
    return size


@op("Slice", infer=_part)
def slice_(input, begin: Index, size: Index):
    """The part of `size` (-1: the rest) from `begin` on. input: any[...], begin, size: int[rank] -> any[size]."""
    index = []
    for axis, (whole, b, n) in enumerate(zip(input.shape, begin.tolist(), size.tolist())):
        _taken(axis, whole, b, n)
        index.append(slice(b, whole if n < 0 else b + n))
    return input[tuple(index)]


@slice_.gradient
def _(node, dy):
    x, begin, _ = node.inputs
    start = known(begin)
    length = known(sizes(dy, begin.dtype))
    ones = [1] * len(dy.dims) if dy.dims is not None else build.OnesLike(begin)
    dx = build.StridedSliceGrad(sizes(x, begin.dtype), start, start + length, ones, dy)
    return dx, blocked(_BOUNDS), blocked(_BOUNDS)


@slice_.batched_if_same(1, 2)
def _(node, args, batched):
    rank_in(node)
    return build.Slice(args[0], joined([0], args[1]), joined([-1], args[2]))
