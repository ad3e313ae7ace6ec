"""ATen's convolution and its adjoint, in one to three dimensions, with groups, and windows as columns."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...model import tf
from ...onnx.windows import col2im as summed_columns
from ...windows import Slide, convolve, convolve_transposed
from .common import as_given, aten, dims, for_each_axis, rank, shape_of
from .shapes import unfold


@aten.op("convolution", "_convolution", "convolution_overrideable", "mkldnn_convolution.full")
def convolution(x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
                output_padding: Any, groups: int, *_: Any) -> Any:
    space = rank(weight) - 2
    wide = tf.expand_dims(x, 0) if rank(x) == space + 1 else x
    steps, pads, holes, extra = (for_each_axis(v, space) for v in (stride, padding, dilation, output_padding))
    slide = Slide(weight.dims[2:], steps, holes, [(p, p) for p in pads])
    y = (convolve_transposed(wide, weight, slide, groups, extra) if transposed else
         convolve(wide, weight, slide, groups))
    return as_given(y if bias is None else y + tf.reshape(bias, [-1] + [1] * space), x)


@aten.op("im2col")
def im2col(x: Any, window: Any, holes: Any, pads: Any, steps: Any) -> Any:
    y = tf.expand_dims(x, 0) if rank(x) == 3 else x
    count, channels, *_ = dims(y)
    y = tf.pad(y, [[0, 0], [0, 0], [pads[0]] * 2, [pads[1]] * 2])
    for i, axis in enumerate((2, 4)):
        last = y.dims[axis] - holes[i] * (window[i] - 1)
        places = np.arange(window[i])[:, None] * holes[i] + np.arange(0, last, steps[i])
        y = tf.gather(y, tf.constant(places), axis=axis)
    y = tf.transpose(y, [0, 1, 2, 4, 3, 5])
    y = tf.reshape(y, shape_of([count, channels * window[0] * window[1], -1]))
    return tf.squeeze(y, axis=[0]) if rank(x) == 3 else y


@aten.op("convolution_backward", note="other backward ops are taken apart by torch itself")
def convolution_backward(dy: Any, x: Any, weight: Any, bias_sizes: Any, *how: Any) -> Any:
    dx, dweight = tf.gradients(convolution(x, weight, None, *how[:-1]), [x, weight], dy)
    return dx, dweight, tf.reduce_sum(dy, axis=[a for a in range(rank(dy)) if a != 1])


@aten.op("col2im")
def col2im(x: Any, sizes: Any, window: Any, holes: Any, pads: Any, steps: Any) -> Any:
    y = summed_columns(tf.expand_dims(x, 0) if rank(x) == 2 else x, tf.constant(sizes), tf.constant(window),
                       dilations=holes, pads=[*pads, *pads], strides=steps)
    return tf.squeeze(y, axis=[0]) if rank(x) == 2 else y


aten.rows({
    "mkldnn_convolution": lambda x, weight, bias, padding, stride, dilation, groups:
        convolution(x, weight, bias, stride, padding, dilation, False, 0, groups),
    "unfold_backward": lambda dy, sizes, axis, size, step:
        tf.gradients(unfold(z := tf.zeros(shape_of(sizes), dy.dtype.base_dtype), axis, size, step), z, dy)[0],
})
