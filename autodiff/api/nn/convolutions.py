"""Convolutions in one, two and three dimensions: TensorFlow's tf.nn functions."""
from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Any

import numpy as np

from ...core.constant_value import static_dims
from ...core.convert import convert_to_tensor
from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import OPS, build
from ..common.arguments import one_of
from ..common.made import named
from .pooling import entries

__all__ = ["atrous_conv2d", "atrous_conv2d_transpose", "conv1d", "conv1d_transpose", "conv2d", "conv2d_backprop_filter",
           "conv2d_backprop_input", "conv2d_transpose", "conv3d", "conv3d_backprop_filter", "conv3d_transpose",
           "conv_transpose", "convolution", "depthwise_conv2d", "depthwise_conv2d_native", "separable_conv2d"]


def _given(name: str, value: Any, old_name: str, old_value: Any) -> Any:
    """The argument under either name. Raises ArgumentError (ValueError) for both and for neither."""
    found = one_of(name, value, old_name, old_value)
    if found is None:
        raise ArgumentError(expected=f"an argument {name!r}", found="None")
    return found


def _steps(values: Any, layout: str, what: str) -> list[int]:
    return entries(1 if values is None else values, layout, what)


def _geometry(strides: Any, padding: Any, data_format: str | None, dilations: Any, default: str) -> dict[str, Any]:
    layout = data_format or default
    attrs = {"strides": _steps(strides, layout, "strides"), "data_format": layout,
             "dilations": _steps(dilations, layout, "dilations")}
    if isinstance(padding, str):
        if padding == "EXPLICIT":
            raise ArgumentError("explicit padding is given as 4 pairs (before, after), found 'EXPLICIT'")
        return {**attrs, "padding": padding.upper()}
    if len(default) != 4:
        raise ArgumentError(expected="padding 'SAME' or 'VALID'", found=repr(padding))
    pairs = np.array(padding, int)
    if pairs.shape != (4, 2):
        raise ArgumentError(expected="padding 'SAME', 'VALID' or 4 pairs (before, after)", found=repr(padding))
    channel = 1 if layout[1] == "C" else 3
    if pairs.min() < 0 or pairs[[0, channel]].any():
        raise ArgumentError(expected="padding >= 0, and none of batch and channels", found=repr(padding))
    return {**attrs, "padding": "EXPLICIT", "explicit_paddings": pairs.ravel().tolist()}


def check_steps(strides: Any, dilations: Any) -> None:
    """Raises ArgumentError (ValueError) if there are both strides and dilations, which TensorFlow's layers refuse."""
    wide = [np.max(1 if steps is None else steps, initial=1) > 1 for steps in (strides, dilations)]
    if all(wide):
        raise ArgumentError(f"strides and dilations cannot both be above 1, found {strides} and {dilations}",
                            hint="use tf.nn.conv2d, which has both")


def conv2d(input: Any, filter: Any = None, strides: Any = None, padding: Any = None, use_cudnn_on_gpu: bool = True,
           data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1), name: str | None = None,
           filters: Any = None) -> Tensor:
    """Filters at each place of images. input: float[n, h, w, c], filter: float[kh, kw, c, f] -> float[n, h', w', f].

    padding: 'SAME' (h' = ceil(h / stride)), 'VALID', or 4 pairs (before, after). data_format: 'NHWC' or 'NCHW'.
    """
    filter = _given("filter", filter, "filters", filters)
    return build.Conv2D(input, filter, name=name, **_geometry(strides, padding, data_format, dilations, "NHWC"))


def conv2d_backprop_input(input_sizes: Any, filter: Any = None, out_backprop: Any = None, strides: Any = None,
                          padding: Any = None, use_cudnn_on_gpu: bool = True, data_format: str = "NHWC",
                          dilations: Any = (1, 1, 1, 1), name: str | None = None, filters: Any = None) -> Tensor:
    """The gradient of conv2d for its input. out_backprop: that of its result -> float[input_sizes]."""
    filter = _given("filter", filter, "filters", filters)
    return build.Conv2DBackpropInput(input_sizes, filter, out_backprop, name=name,
                                     **_geometry(strides, padding, data_format, dilations, "NHWC"))


def conv2d_backprop_filter(input: Any, filter_sizes: Any, out_backprop: Any, strides: Any, padding: Any,
                           use_cudnn_on_gpu: bool = True, data_format: str = "NHWC", dilations: Any = (1, 1, 1, 1),
                           name: str | None = None) -> Tensor:
    """The gradient of conv2d for its filter. out_backprop: that of its result -> float[filter_sizes]."""
    return build.Conv2DBackpropFilter(input, filter_sizes, out_backprop, name=name,
                                      **_geometry(strides, padding, data_format, dilations, "NHWC"))


def conv3d_backprop_filter(input: Any, filter_sizes: Any, out_backprop: Any, strides: Any, padding: Any,
                           data_format: str = "NDHWC", dilations: Any = None, name: str | None = None) -> Tensor:
    """The gradient of conv3d for its filter. out_backprop: that of its result -> float[filter_sizes]."""
    return build.Conv3DBackpropFilterV2(input, filter_sizes, out_backprop, name=name,
                                        **_geometry(strides, padding, data_format, dilations, "NDHWC"))


def _adjoint(kind: str, op: str, layout: str, words: str) -> Callable[..., Tensor]:
    def transposed(value: Any = None, filter: Any = None, output_shape: Any = None, strides: Any = None,
                   padding: Any = "SAME", data_format: str = layout, name: str | None = None, input: Any = None,
                   filters: Any = None, dilations: Any = None) -> Tensor:
        return _transposed(op, _given("value", value, "input", input), _given("filter", filter, "filters", filters),
                           output_shape, _geometry(strides, padding, data_format, dilations, layout), name or kind)

    return named(transposed, kind, f"The adjoint of a convolution as a layer. value: {words} -> float[output_shape].")


conv2d_transpose = _adjoint("conv2d_transpose", "Conv2DBackpropInput", "NHWC",
                            "float[n, h, w, c], filter: float[kh, kw, f, c]")
conv3d_transpose = _adjoint("conv3d_transpose", "Conv3DBackpropInputV2", "NDHWC", "float[n, d, h, w, c]")


def conv_transpose(input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME",
                   data_format: str | None = None, dilations: Any = None, name: str | None = None) -> Tensor:
    """conv1d_transpose, conv2d_transpose or conv3d_transpose, by the length of output_shape.

    Raises ArgumentError (ValueError) for other lengths.
    """
    if not isinstance(output_shape, (Tensor, Sized)):
        raise ArgumentError("output_shape must be a tensor or sized collection.", found=repr(output_shape))
    length = output_shape.shape.as_list()[0] if isinstance(output_shape, Tensor) else len(output_shape)
    if length not in (3, 4, 5):
        raise ArgumentError(f"output_shape must be of length 3, 4 or 5 but was {length}.")
    kinds: Any = ((conv1d_transpose, "NWC"), (conv2d_transpose, "NHWC"), (conv3d_transpose, "NDHWC"))
    function, layout = kinds[length - 3]
    return function(input, filters, output_shape, strides, padding=padding, data_format=data_format or layout,
                    dilations=dilations, name=name or "conv_transpose")


def _transposed(op: str, value: Any, filter: Any, output_shape: Any, attrs: dict[str, Any], name: str) -> Tensor:
    with scope(None, name, [value, filter, output_shape]) as full:
        value, filter = convert_to_tensor(value, name="value"), convert_to_tensor(filter, name="filter")
        shape = convert_to_tensor(output_shape, name="output_shape")
        channel = 1 if attrs["data_format"][1] == "C" else len(attrs["data_format"]) - 1
        wanted = static_dims(shape)
        if wanted is not None and filter.dims is not None and None not in (wanted[channel], filter.dims[-2]) \
                and wanted[channel] != filter.dims[-2]:
            raise ArgumentError(expected=f"an output_shape with {filter.dims[-2]} channels, those of the filter",
                                found=list(wanted))
        return OPS[op](shape, filter, value, name=full, **attrs)


def conv3d(input: Any, filter: Any = None, strides: Any = None, padding: Any = None, data_format: str = "NDHWC",
           dilations: Any = (1, 1, 1, 1, 1), name: str | None = None, filters: Any = None) -> Tensor:
    """Filters at each place of volumes. input: float[n, d, h, w, c], filter: float[kd, kh, kw, c, f]."""
    filter = _given("filter", filter, "filters", filters)
    return build.Conv3D(input, filter, name=name, **_geometry(strides, padding, data_format, dilations, "NDHWC"))


def _as_image(x: Any, layout: str) -> Tensor:
    return build.ExpandDims(x, 2 if layout == "NCW" else 1)


def _layout_1d(data_format: str | None) -> str:
    layout = {None: "NWC", "NHWC": "NWC", "NCHW": "NCW"}.get(data_format, data_format)
    if layout not in ("NWC", "NCW"):
        raise ArgumentError(expected="a data_format 'NWC' or 'NCW'", found=repr(data_format))
    return layout


def _flat_geometry(stride: Any, padding: Any, layout: str, dilations: Any) -> dict[str, Any]:
    """The geometry of rows as that of images of height 1."""
    strides, dilated = _steps(stride, layout, "strides"), _steps(dilations, layout, "dilations")
    place = 2 if layout == "NCW" else 1
    return _geometry([*strides[:place], 1, *strides[place:]], padding, layout.replace("W", "HW"),
                     [*dilated[:place], 1, *dilated[place:]], "NHWC")


def conv1d(value: Any = None, filters: Any = None, stride: Any = None, padding: Any = None,
           use_cudnn_on_gpu: bool | None = None, data_format: str | None = None, name: str | None = None,
           input: Any = None,
           dilations: Any = None) -> Tensor:
    """Filters at each place of rows. value: float[n, w, c], filters: float[k, c, f] -> float[n, w', f]."""
    value, layout = _given("value", value, "input", input), _layout_1d(data_format)
    with scope(name, "conv1d", [value, filters]) as full:
        image = _as_image(value, layout)
        geometry = _flat_geometry(stride, padding, layout, dilations)
        result = build.Conv2D(image, build.ExpandDims(filters, 0), name=full, **geometry)
        return build.Squeeze(result, squeeze_dims=[2 if layout == "NCW" else 1])


def conv1d_transpose(input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME",
                     data_format: str = "NWC", dilations: Any = None, name: str | None = None) -> Tensor:
    """The adjoint of conv1d as a layer. input: float[n, w, c], filters: float[k, f, c] -> float[output_shape]."""
    layout = _layout_1d(data_format)
    with scope(name, "conv1d_transpose", [input, filters, output_shape]):
        place = 2 if layout == "NCW" else 1
        shape = convert_to_tensor(output_shape, name="output_shape")
        image = build.Conv2DBackpropInput(build.ConcatV2(0, shape[:place], [1], shape[place:]),
                                          build.ExpandDims(filters, 0),
                                          _as_image(input, layout), **_flat_geometry(strides, padding, layout,
                                                                                     dilations))
        return build.Squeeze(image, squeeze_dims=[place])


def atrous_conv2d(value: Any, filters: Any, rate: int, padding: Any, name: str | None = None) -> Tensor:
    """conv2d whose filters have holes: their elements are `rate` apart.

    value: float[n, h, w, c], filters: float[kh, kw, c, f].
    """
    return build.Conv2D(value, filters, name=name or "convolution", **_geometry(1, padding, "NHWC", rate, "NHWC"))


def atrous_conv2d_transpose(value: Any, filters: Any, output_shape: Any, rate: int, padding: Any,
                            name: str | None = None) -> Tensor:
    """The adjoint of atrous_conv2d as a layer. value: float[n, h, w, c], filters: float[kh, kw, f, c]."""
    return _transposed("Conv2DBackpropInput", value, filters, output_shape, _geometry(1, padding, "NHWC", rate, "NHWC"),
                       name or "atrous_conv2d_transpose")


def convolution(input: Any, filter: Any = None, padding: Any = None, strides: Any = None, dilation_rate: Any = None,
                name: str | None = None, data_format: str | None = None, filters: Any = None,
                dilations: Any = None) -> Tensor:
    """conv1d, conv2d or conv3d, by the rank of the input. strides, dilation_rate: one entry for each axis of space."""
    filter = _given("filter", filter, "filters", filters)
    rate = dilation_rate if dilations is None else dilations
    check_steps(strides, rate)
    with scope(name, "convolution", [input, filter]) as full:
        input = convert_to_tensor(input, name="input")
        filter = convert_to_tensor(filter, name="filter", dtype=input.dtype.base_dtype)
        ranks = [len(x.dims) for x in (input, filter) if x.dims is not None]
        if not ranks or ranks[0] not in (3, 4, 5):
            raise ArgumentError(f"Input tensor must be of rank 3, 4 or 5 but was {len(input.dims)}.",
                                found=input.describe())
        if ranks[0] == 3:
            return conv1d(input, filter, strides, padding, data_format=data_format, dilations=rate)
        made, default = (build.Conv2D, "NHWC") if ranks[0] == 4 else (build.Conv3D, "NDHWC")
        return made(input, filter, name=full, **_geometry(strides, padding, data_format, rate, default))


def depthwise_conv2d(input: Any, filter: Any, strides: Any, padding: Any, rate: Any = None, name: str | None = None,
                     data_format: str | None = None, dilations: Any = None) -> Tensor:
    """m filters for each channel. input: float[n, h, w, c], filter: float[kh, kw, c, m] -> float[n, h', w', c * m]."""
    with scope(name, "depthwise", [input, filter]) as full:
        rate = rate if dilations is None else dilations
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, name="filter_in")
        return build.DepthwiseConv2dNative(input, filter, name=full,
                                           **_geometry(strides, padding, data_format, rate, "NHWC"))


def depthwise_conv2d_native(input: Any, filter: Any, strides: Any, padding: Any, data_format: str = "NHWC",
                            dilations: Any = (1, 1, 1, 1), name: str | None = None) -> Tensor:
    """m filters for each channel. input: float[n, h, w, c], filter: float[kh, kw, c, m] -> float[n, h', w', c * m]."""
    return build.DepthwiseConv2dNative(input, filter, name=name, **_geometry(strides, padding, data_format, dilations,
                                                                             "NHWC"))


def separable_conv2d(input: Any, depthwise_filter: Any, pointwise_filter: Any, strides: Any, padding: Any,
                     rate: Any = None,
                     name: str | None = None, data_format: str | None = None, dilations: Any = None) -> Tensor:
    """Depthwise filters, then a mix of the channels.

    input: float[n, h, w, c], depthwise_filter: float[kh, kw, c, m], pointwise_filter: float[1, 1, c * m, f].
    """
    with scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as full:
        depthwise = depthwise_conv2d(input, depthwise_filter, strides, padding, rate, "depthwise", data_format,
                                     dilations)
        return build.Conv2D(depthwise, pointwise_filter, name=full, **_geometry(1, "VALID", data_format, 1, "NHWC"))
