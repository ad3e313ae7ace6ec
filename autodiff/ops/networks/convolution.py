"""Convolutions and their two adjoints, in two and three dimensions."""

from typing import Any

import numpy as np

from ...core.constant_value import static_dims
from ...core.declare import op
from ...core.dtypes import FLOATS
from ...core.errors import ShapeError
from ...core.graph import Operation, Tensor
from ...core.infer import rank_of
from ...core.op import Index, Int32, OpDef, Spec, blocked, build
from ..common.batch_axis import count, merged_images, sizes, slice_by_slice, split_images
from ..common.correlate import at_least_single, correlate, for_filters, for_input
from ..common.windows import channels_first, channels_last, check_channels, extents, pads, placed, restored, slide_of

# ---- shapes -----------------------------------------------------------------------------

def _convolved(input, filter, **attrs):
    rank, layout = len(attrs["data_format"]), attrs["data_format"]
    slide = slide_of(**attrs)
    rank_of(input, exactly=rank, what="input")
    rank_of(filter, exactly=rank, what="filter")
    x, w = input.dims or (None,) * rank, filter.dims or (None,) * rank
    first = channels_first(layout)
    channels, space = (x[1], x[2:]) if first else (x[-1], x[1:-1])
    check_channels(channels, w[-2], input, filter)
    counts = extents(space, w[:-2], slide)
    return Spec(input.dtype.base_dtype, (x[0], w[-1], *counts) if first else (x[0], *counts, w[-1]))


def _sized(sizes, given, what, dy, attrs):
    rank = len(attrs["data_format"])
    slide_of(**attrs)
    rank_of(given, exactly=rank, what=what)
    rank_of(dy, exactly=rank, what="out_backprop")
    return Spec(given.dtype.base_dtype, static_dims(sizes) or (None,) * rank)


def _input_like(input_sizes, filter, out_backprop, **attrs):
    return _sized(input_sizes, filter, "filter", out_backprop, attrs)


def _filter_like(input, filter_sizes, out_backprop, **attrs):
    return _sized(filter_sizes, input, "input", out_backprop, attrs)


# ---- kernels ----------------------------------------------------------------------------

def _check_counts(space, window, slide, dy):
    expected = extents(space, window, slide)
    if tuple(expected) != dy.shape[1:-1]:
        raise ValueError(f"expected a gradient with {list(expected)} windows, found {list(dy.shape[1:-1])}")


@op("Conv2D", infer=_convolved, dtypes=FLOATS)
def conv2d(input, filter, *, strides, padding, data_format="NHWC", dilations=(1, 1, 1, 1), explicit_paddings=(),
           out=None):
    """Filters at each place. input: float[n, h, w, c], filter: float[kh, kw, c, f] -> float[n, h', w', f]."""
    slide = slide_of(strides=strides, padding=padding, data_format=data_format, dilations=dilations,
                     explicit_paddings=explicit_paddings)
    x, filters = at_least_single(channels_last(input, data_format)), np.ascontiguousarray(at_least_single(filter))
    space, window = x.shape[1:-1], filters.shape[:-2]
    if x.shape[-1] != filters.shape[-2]:
        raise ShapeError(f"channels differ: input has {x.shape[-1]}, filter takes {filters.shape[-2]}")
    counts = extents(space, window, slide)
    y = correlate(x, filters, counts, slide, pads(space, window, slide), None if channels_first(data_format) else out)
    return placed(restored(y, data_format).astype(input.dtype, copy=False), out)


@op("Conv2DBackpropInput", infer=_input_like, dtypes=FLOATS)
def conv2d_backprop_input(input_sizes: Int32, filter, out_backprop, *, strides, padding, data_format="NHWC",
                          dilations=(1, 1, 1, 1), explicit_paddings=(), out=None):
    """The adjoint of Conv2D in its input: a transposed convolution. -> float[input_sizes]."""
    slide = slide_of(strides=strides, padding=padding, data_format=data_format, dilations=dilations,
                     explicit_paddings=explicit_paddings)
    dy, filters = at_least_single(channels_last(out_backprop, data_format)), at_least_single(filter)
    n, *rest = (int(v) for v in input_sizes)
    space = rest[1:] if channels_first(data_format) else rest[:-1]
    _check_counts(space, filters.shape[:-2], slide, dy)
    dx = for_input(tuple(space), filters, dy, slide, pads(space, filters.shape[:-2], slide),
                   None if channels_first(data_format) else out)
    return placed(restored(dx, data_format).astype(filter.dtype, copy=False), out)


@op("Conv2DBackpropFilter", infer=_filter_like, dtypes=FLOATS)
def conv2d_backprop_filter(input, filter_sizes: Int32, out_backprop, *, strides, padding, data_format="NHWC",
                           dilations=(1, 1, 1, 1), explicit_paddings=()):
    """The adjoint of Conv2D in its filter. -> float[filter_sizes]."""
    slide = slide_of(strides=strides, padding=padding, data_format=data_format, dilations=dilations,
                     explicit_paddings=explicit_paddings)
    x, dy = (at_least_single(channels_last(a, data_format)) for a in (input, out_backprop))
    window = tuple(int(v) for v in filter_sizes[:-2])
    _check_counts(x.shape[1:-1], window, slide, dy)
    dw = for_filters(x, dy, window, slide, pads(x.shape[1:-1], window, slide))
    return dw.astype(input.dtype, copy=False)


@op("Conv3D", infer=_convolved, dtypes=FLOATS)
def conv3d(input, filter, *, strides, padding, data_format="NDHWC", dilations=(1, 1, 1, 1, 1)):
    """Filters at each place.

    input: float[n, d, h, w, c], filter: float[kd, kh, kw, c, f] -> float[n, d', h', w', f].
    """
    return conv2d.kernel(input, filter, strides=strides, padding=padding, data_format=data_format, dilations=dilations)


@op("Conv3DBackpropInputV2", infer=_input_like, dtypes=FLOATS)
def conv3d_backprop_input(input_sizes: Index, filter, out_backprop, *, strides, padding, data_format="NDHWC",
                          dilations=(1, 1, 1, 1, 1)):
    """The adjoint of Conv3D in its input. -> float[input_sizes]."""
    return conv2d_backprop_input.kernel(input_sizes, filter, out_backprop,
                                        strides=strides, padding=padding, data_format=data_format, dilations=dilations)


@op("Conv3DBackpropFilterV2", infer=_filter_like, dtypes=FLOATS)
def conv3d_backprop_filter(input, filter_sizes: Int32, out_backprop, *, strides, padding, data_format="NDHWC",
                           dilations=(1, 1, 1, 1, 1)):
    """The adjoint of Conv3D in its filter. -> float[filter_sizes]."""
    return conv2d_backprop_filter.kernel(input, filter_sizes, out_backprop,
                                         strides=strides, padding=padding, data_format=data_format, dilations=dilations)


# ---- gradients and batching: the three ops of a family refer to each other ----------------

_SIZES = "a shape is made of integers"


def gradients_of(forward: OpDef, for_input: OpDef, for_filter: OpDef) -> None:
    """The gradient rules of a convolution and its two adjoints."""
    @forward.gradient
    def _(node: Operation, dy: Tensor) -> Any:
        x, w = node.inputs
        return for_input(sizes(x), w, dy, **node.attrs), for_filter(x, sizes(w), dy, **node.attrs)

    @for_input.gradient
    def _(node: Operation, dz: Tensor) -> Any:
        _, w, dy = node.inputs
        return blocked(_SIZES), for_filter(dz, sizes(w), dy, **node.attrs), forward(dz, w, **node.attrs)

    @for_filter.gradient
    def _(node: Operation, dz: Tensor) -> Any:
        x, _, dy = node.inputs
        return for_input(sizes(x), dz, dy, **node.attrs), blocked(_SIZES), forward(x, dz, **node.attrs)


def _batching(forward: OpDef, for_input: OpDef, for_filter: OpDef) -> None:
    @forward.batched
    def _(node: Operation, args: list[Tensor], batched: list[bool]) -> Any:
        if batched == [True, False]:
            return split_images(forward(merged_images(args[0]), args[1], **node.attrs), args[0])
        if batched == [False, True]:
            filters = _absorbed(args[1], len(node.inputs[1].dims) - 1)
            return _released(forward(args[0], filters, **node.attrs), _channels(node), args[1])
        return slice_by_slice(node, args, batched)

    @for_input.batched
    def _(node: Operation, args: list[Tensor], batched: list[bool]) -> Any:
        if batched == [False, False, True]:
            merged = merged_images(args[2])
            shape = build.ConcatV2(0, build.Shape(merged)[:1], args[0][1:])
            return split_images(for_input(shape, args[1], merged, **node.attrs), args[2])
        return slice_by_slice(node, args, batched)

    @for_filter.batched
    def _(node: Operation, args: list[Tensor], batched: list[bool]) -> Any:
        x, w_sizes, dy = args
        rank, channels = len(node.attrs["data_format"]), _channels(node)
        if batched == [True, False, False]:
            x = _absorbed(x, channels)
            shape = build.ConcatV2(0, w_sizes[:-2], build.Shape(x)[channels:channels + 1], w_sizes[-1:])
            return _released(for_filter(x, shape, dy, **node.attrs), rank - 2, args[0])
        if batched == [False, False, True]:
            dy = _absorbed(dy, channels)
            shape = build.ConcatV2(0, w_sizes[:-1], build.Shape(dy)[channels:channels + 1])
            return _released(for_filter(x, shape, dy, **node.attrs), rank - 1, args[2])
        return slice_by_slice(node, args, batched)


def _channels(node: Operation) -> int:
    layout = node.attrs["data_format"]
    return 1 if channels_first(layout) else len(layout) - 1


def _absorbed(x: Tensor, axis: int) -> Tensor:
    """The leading axis joined with what was `axis` before there was one."""
    rank = len(x.dims)
    moved = build.Transpose(x, [*range(1, axis + 1), 0, *range(axis + 1, rank)])
    shape = sizes(x)
    return build.Reshape(moved, build.ConcatV2(0, shape[1:axis + 1], [-1], shape[axis + 2:]))


def _released(y: Tensor, axis: int, like: Tensor) -> Tensor:
    """The inverse of _absorbed: the leading axis of `like` taken out of `axis`, to the front."""
    rank, shape = len(y.dims), sizes(y)
    parted = build.Reshape(y, build.ConcatV2(0, shape[:axis], count(like), [-1], shape[axis + 1:]))
    return build.Transpose(parted, [axis, *range(axis), *range(axis + 1, rank + 1)])


for _family in ((conv2d, conv2d_backprop_input, conv2d_backprop_filter),
                (conv3d, conv3d_backprop_input, conv3d_backprop_filter)):
    gradients_of(*_family)
    _batching(*_family)
