"""ONNX's quantization by 8 and 16 bits. Rounding lets no gradient through, as ONNX knows no other rule."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..model import tf
from .table import axis_of, dtype_named, like, onnx, rank_of


def _spread(parameter: Any, x: Any, axis: int, block_size: int) -> Any:
    """A scale or zero point of the whole, of each slice along an axis, or of each block along it, beside `x`."""
    rank = len(parameter.dims)
    if rank == 0 or parameter.dims == (1,):
        return tf.reshape(parameter, [])
    if rank == 1:
        return tf.reshape(parameter, [-1 if i == axis_of(axis, rank_of(x)) else 1 for i in range(rank_of(x))])
    at = axis_of(axis, rank)
    return tf.gather(parameter, tf.range(tf.shape(x)[at]) // block_size, axis=at)


@onnx.op("QuantizeLinear")
def quantize_linear(x: Any, scale: Any, zero_point: Any = None, *, axis: int = 1, block_size: int = 0,
                    output_dtype: int = 0, precision: int = 0, saturate: int = 1) -> Any:
    dtype = zero_point.dtype.base_dtype if zero_point is not None else dtype_named(output_dtype or 2)
    y = tf.round(x / like(_spread(scale, x, axis, block_size), x))
    y = y if zero_point is None else y + like(_spread(zero_point, x, axis, block_size), x)
    bounds = np.iinfo(dtype.as_numpy_dtype)
    return tf.cast(tf.clip_by_value(y, float(bounds.min), float(bounds.max)), dtype)


@onnx.op("DequantizeLinear")
def dequantize_linear(x: Any, scale: Any, zero_point: Any = None, *, axis: int = 1, block_size: int = 0,
                      output_dtype: int = 0) -> Any:
    dtype = dtype_named(output_dtype) if output_dtype else scale.dtype.base_dtype
    y = tf.cast(x, dtype)
    if zero_point is not None:
        y = y - tf.cast(_spread(zero_point, x, axis, block_size), dtype)
    return y * tf.cast(_spread(scale, x, axis, block_size), dtype)


@onnx.op("DynamicQuantizeLinear", note="outputs: the bytes, their scale and zero point")
def dynamic_quantize_linear(x: Any) -> Any:
    low, high = tf.minimum(tf.reduce_min(x), 0.0), tf.maximum(tf.reduce_max(x), 0.0)
    scale = (high - low) / 255
    zero = tf.cast(tf.clip_by_value(tf.round(-low / scale), 0.0, 255.0), tf.uint8)
    return quantize_linear(x, scale, zero), scale, zero
