"""Maxima and averages of sliding windows: TensorFlow's tf.nn functions."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, int64
from ...core.errors import ArgumentError, UnimplementedError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import OPS, build
from ..common.arguments import one_of
from ..common.made import named
from .shifted_windows import pool_with_holes

__all__ = ["avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d", "avg_pool_v2", "max_pool", "max_pool1d", "max_pool2d",
           "max_pool3d", "max_pool_v2", "max_pool_with_argmax", "pool"]


def entries(values: Any, layout: str, what: str) -> list[int]:
    """One entry an axis, from a number, one entry for each axis of space, or all of them."""
    listed = [int(v) for v in np.atleast_1d(values)]
    if len(listed) == len(layout):
        return listed
    if len(listed) == 1:
        listed *= len(layout) - 2
    if len(listed) != len(layout) - 2:
        raise ArgumentError(expected=f"1, {len(layout) - 2} or {len(layout)} {what} for {layout}", found=listed)
    return [1, 1, *listed] if layout[1] == "C" else [1, *listed, 1]


def _pooled(op: str, value: Any, ksize: Any, strides: Any, padding: str, layout: str, name: str | None) -> Tensor:
    return OPS[op](value, ksize=entries(ksize, layout, "sizes"), strides=entries(strides, layout, "strides"),
                   padding=padding.upper(), data_format=layout, name=name)


def max_pool(value: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC", name: str | None = None,
             input: Any = None) -> Tensor:
    """The largest of each window of images. value: float[n, h, w, c] -> float[n, h', w', c]. Its gradient goes to
    the first maximum of each window, row by row."""
    with scope(name, "MaxPool", [value, input]) as full:
        value = convert_to_tensor(input if value is None else value, name="input")
        sizes = entries(ksize, data_format, "sizes")
        if data_format == "NHWC" and sizes[3] > 1:
            return _max_of_channels(value, sizes, entries(strides, data_format, "strides"))
        return _pooled("MaxPool", value, ksize, strides, padding, data_format, full)


def _max_of_channels(value: Tensor, ksize: list[int], strides: list[int]) -> Tensor:
    """The largest of each group of channels."""
    sizes, depth = value.shape.with_rank(4), ksize[3]
    if ksize[1:3] != [1, 1] or strides[1:3] != [1, 1]:
        raise UnimplementedError(None, None, "MaxPooling supports exactly one of pooling across depth or pooling "
                                             "across width/height.")
    if strides[3] != depth:
        raise UnimplementedError(None, None, "Depthwise max pooling requires the depth window to equal the depth "
                                             "stride.")
    if sizes[3].value is None or sizes[3].value % depth:
        raise UnimplementedError(None, None, "Depthwise max pooling requires the depth window to evenly divide the "
                                             "input depth.")
    groups = build.Reshape(value, build.ConcatV2(0, build.Shape(value)[:3], [sizes[3].value // depth, depth]))
    return build.Max(groups, 4)


def max_pool_with_argmax(input: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC",
                         Targmax: Any = None, name: str | None = None, output_dtype: Any = None,  # noqa: N803
                         include_batch_in_index: bool = False) -> tuple[Tensor, Tensor]:
    """The largest of each window of images, and its place in the flattened image (or, asked for, in all of them).

    input: real[n, h, w, c] -> real[n, h', w', c], int[n, h', w', c]. output_dtype (old name: Targmax): of the places,
    int64 if None.
    """
    if data_format != "NHWC":
        raise ArgumentError(f"Data formats other than 'NHWC' are not yet supported, found {data_format!r}")
    y, places = build.MaxPoolWithArgmax(
        input, ksize=entries(ksize, "NHWC", "sizes"), strides=entries(strides, "NHWC", "strides"),
        padding=padding.upper(), Targmax=as_dtype(one_of("output_dtype", output_dtype, "Targmax", Targmax) or int64),
        include_batch_in_index=include_batch_in_index, name=name)
    return y, places


def avg_pool(value: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC", name: str | None = None,
             input: Any = None) -> Tensor:
    """The mean of each window of images; padding does not count. value: float[n, h, w, c] -> float[n, h', w', c]."""
    with scope(name, "AvgPool", [value, input]) as full:
        value = convert_to_tensor(input if value is None else value, name="value")
        return _pooled("AvgPool", value, ksize, strides, padding, data_format, full)


avg_pool2d = avg_pool


def _flat(op: str, x: Any, ksize: Any, strides: Any, padding: str, layout: str, name: str) -> Tensor:
    place = 2 if layout == "NCW" else 1
    sizes, steps = entries(ksize, layout, "sizes"), entries(strides, layout, "strides")
    with scope(None, name, [x]):
        image = build.ExpandDims(x, place)
        result = _pooled(op, image, [*sizes[:place], 1, *sizes[place:]], [*steps[:place], 1, *steps[place:]], padding,
                         layout.replace("W", "HW"), None)
        return build.Squeeze(result, squeeze_dims=[place])


def _made(name: str, pooled: Callable[..., Tensor], op: str, layout: str, words: str,
          scope: str | None = None) -> Callable[..., Tensor]:
    def pooling(input: Any, ksize: Any, strides: Any, padding: str, data_format: str = layout,
                name: str | None = None) -> Tensor:
        return pooled(op, input, ksize, strides, padding, data_format or layout, name or scope)

    return named(pooling, name, words)


max_pool2d = _made("max_pool2d", _pooled, "MaxPool", "NHWC", "The largest of each window of images.", "MaxPool2d")
max_pool3d, avg_pool3d = (
    _made(f"{name}3d", _pooled, op, "NDHWC", f"The {what} of each window of volumes. input: float[n, d, h, w, c].")
    for name, op, what in (("max_pool", "MaxPool3D", "largest"), ("avg_pool", "AvgPool3D", "mean")))
max_pool1d = _made("max_pool1d", _flat, "MaxPool", "NWC", "The largest of each window of rows. input: float[n, w, c].",
                   "MaxPool1d")
avg_pool1d = _made("avg_pool1d", _flat, "AvgPool", "NWC", "The mean of each window of rows. input: float[n, w, c].",
                   "AvgPool1D")


def pool(input: Any, window_shape: Any, pooling_type: str, padding: str, dilation_rate: Any = None, strides: Any = None,
         name: str | None = None, data_format: str | None = None, dilations: Any = None) -> Tensor:
    """Windows in one, two or three dimensions, by the rank of the input. pooling_type: 'MAX' or 'AVG'.

    dilation_rate (or dilations): the distance of a window's elements. Raises ArgumentError (ValueError) for strides of
    such windows.
    """
    rate = dilation_rate if dilations is None else dilations
    if pooling_type not in ("MAX", "AVG"):
        raise ArgumentError(expected="a pooling_type 'MAX' or 'AVG'", found=repr(pooling_type))
    with scope(name, "pool", [input]):
        x = convert_to_tensor(input, name="input")
        strides = 1 if strides is None else strides
        if rate is not None and np.max(rate, initial=1) > 1:
            if np.max(strides, initial=1) > 1:
                raise ArgumentError("strides > 1 not supported in conjunction with dilation_rate > 1", found=strides)
            first = data_format is not None and data_format.startswith("NC")
            axes = [*range(len(x.dims or ()))]
            x = build.Transpose(x, [0, *axes[2:], 1]) if first else x
            window, steps = (np.broadcast_to(values, len(axes) - 2).tolist() for values in (window_shape, rate))
            y = pool_with_holes(x, window, steps, padding, largest=pooling_type == "MAX")
            return build.Transpose(y, [0, axes[-1], *axes[1:-1]]) if first else y
        return _by_rank(x, window_shape, strides, padding, data_format, pooling_type == "MAX")


def _by_rank(x: Tensor, ksize: Any, strides: Any, padding: str, data_format: str | None, largest: bool) -> Tensor:
    kinds = {3: (max_pool1d, avg_pool1d, "NWC"), 4: (max_pool, avg_pool, "NHWC"), 5: (max_pool3d, avg_pool3d, "NDHWC")}
    if len(x.dims or ()) not in kinds:
        raise ArgumentError(f"Input tensor must be of rank 3, 4 or 5 but was {len(x.dims or ())}.", found=x.describe())
    maximum, mean, layout = kinds[len(x.dims or ())]
    return (maximum if largest else mean)(x, ksize, strides, padding, data_format or layout)


def _version_2(kind: str, what: str) -> Callable[..., Tensor]:
    def pooling(input: Any, ksize: Any, strides: Any, padding: str, data_format: str | None = None,
                name: str | None = None) -> Tensor:
        with scope(name, kind, [input]):
            return _by_rank(convert_to_tensor(input), ksize, strides, padding, data_format, kind == "max_pool")

    return named(pooling, f"{kind}_v2", f"The {what} of each window in one, two or three dimensions, by the rank.")


max_pool_v2, avg_pool_v2 = _version_2("max_pool", "largest"), _version_2("avg_pool", "mean")
