"""Depthwise convolution: each channel has filters of its own."""

import numpy as np

from ...core.constant_value import static_dims
from ...core.declare import op
from ...core.dtypes import FLOATS
from ...core.infer import rank_of
from ...core.op import Int32, Spec, build
from ..common import windows
from ..common.batch_axis import merged_images, slice_by_slice, split_images
from .convolution import gradients_of


def _convolved(input, filter, **attrs):
    slide, first = windows.slide_of(**attrs), windows.channels_first(attrs["data_format"])
    rank_of(input, exactly=4, what="input")
    rank_of(filter, exactly=4, what="filter")
    x, w = input.dims or (None,) * 4, filter.dims or (None,) * 4
    windows.check_channels(x[1] if first else x[3], w[2], input, filter)
    counts = windows.extents(x[2:] if first else x[1:3], w[:2], slide)
    out = None if w[2] is None or w[3] is None else w[2] * w[3]
    return Spec(input.dtype.base_dtype, (x[0], out, *counts) if first else (x[0], *counts, out))


def _like(shape, dtype):
    return Spec(dtype.base_dtype, static_dims(shape) or (None,) * 4)


@op("DepthwiseConv2dNative", infer=_convolved, dtypes=FLOATS)
def depthwise_conv2d(input, filter, *, strides, padding, data_format="NHWC", dilations=(1, 1, 1, 1)):
    """m filters for each channel. input: float[n, h, w, c], filter: float[kh, kw, c, m] -> float[n, h', w', c * m]."""
    slide = windows.slide_of(strides=strides, padding=padding, data_format=data_format, dilations=dilations)
    x, window = windows.channels_last(input, data_format), filter.shape[:2]
    counts = windows.extents(x.shape[1:3], window, slide)
    x = windows.padded(x, windows.pads(x.shape[1:3], window, slide))
    y = np.zeros((x.shape[0], *counts, *filter.shape[2:]), x.dtype)
    for index, where in windows.offsets(window, counts, slide):
        y += x[where][..., None] * filter[index]
    return windows.restored(y.reshape(*y.shape[:3], y.shape[3] * y.shape[4]), data_format)


@op("DepthwiseConv2dNativeBackpropInput", dtypes=FLOATS,
    infer=lambda input_sizes, filter, out_backprop, **_: _like(input_sizes, filter.dtype))
def depthwise_backprop_input(input_sizes: Int32, filter, out_backprop, *, strides, padding, data_format="NHWC",
                             dilations=(1, 1, 1, 1)):
    """The adjoint of DepthwiseConv2dNative in its input. -> float[input_sizes]."""
    slide = windows.slide_of(strides=strides, padding=padding, data_format=data_format, dilations=dilations)
    dy, window = windows.channels_last(out_backprop, data_format), filter.shape[:2]
    n, *rest = (int(v) for v in input_sizes)
    space = rest[1:] if windows.channels_first(data_format) else rest[:2]
    widened, counts = windows.pads(space, window, slide), dy.shape[1:3]
    dy = dy.reshape(*dy.shape[:3], *filter.shape[2:])
    dx = np.zeros((n, *(a + size + b for size, (a, b) in zip(space, widened)), filter.shape[2]), dy.dtype)
    for index, where in windows.offsets(window, counts, slide):
        dx[where] += (dy * filter[index]).sum(axis=-1)
    return windows.restored(np.ascontiguousarray(dx[windows.inside(space, widened)]), data_format)


@op("DepthwiseConv2dNativeBackpropFilter", dtypes=FLOATS,
    infer=lambda input, filter_sizes, out_backprop, **_: _like(filter_sizes, input.dtype))
def depthwise_backprop_filter(input, filter_sizes: Int32, out_backprop, *, strides, padding, data_format="NHWC",
                              dilations=(1, 1, 1, 1)):
    """The adjoint of DepthwiseConv2dNative in its filter. -> float[filter_sizes]."""
    slide = windows.slide_of(strides=strides, padding=padding, data_format=data_format, dilations=dilations)
    x, dy = windows.channels_last(input, data_format), windows.channels_last(out_backprop, data_format)
    window, shape = tuple(int(v) for v in filter_sizes[:2]), tuple(int(v) for v in filter_sizes)
    x = windows.padded(x, windows.pads(x.shape[1:3], window, slide))
    dy = dy.reshape(*dy.shape[:3], *shape[2:])
    dw = np.empty(shape, x.dtype)
    for index, where in windows.offsets(window, dy.shape[1:3], slide):
        dw[index] = np.einsum("nhwc,nhwcm->cm", x[where], dy)
    return dw


gradients_of(depthwise_conv2d, depthwise_backprop_input, depthwise_backprop_filter)


@depthwise_conv2d.batched
def _(node, args, batched):
    if batched[1]:
        return slice_by_slice(node, args, batched)
    return split_images(build.DepthwiseConv2dNative(merged_images(args[0]), args[1], **node.attrs), args[0])


for each in (depthwise_backprop_input, depthwise_backprop_filter):
    each.batched(slice_by_slice)
