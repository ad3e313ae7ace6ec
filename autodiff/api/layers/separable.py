"""Separable convolutions as layers: filters for each channel, then a mix of the channels."""
from __future__ import annotations

from typing import Any

from ...core.graph import Tensor
from ...core.op import build
from ...ops.common.op_counts import count_more
from ..nn.convolutions import separable_conv2d as separable_images
from ..variables.layer_base import callable_or_none
from ..variables.named_initializers import ZEROS
from .convolutional import Convolution
from .core import as_function


class _Separable(Convolution):
    """depthwise_kernel: float[*kernel_size, c, depth_multiplier]; pointwise_kernel: float[1…, c * depth_multiplier,
    filters]; bias: float[filters]."""

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str = "channels_last", dilation_rate: Any = 1, depth_multiplier: int = 1,
                 activation: Any = None, use_bias: bool = True, depthwise_initializer: Any = None,
                 pointwise_initializer: Any = None, bias_initializer: Any = ZEROS, depthwise_regularizer: Any = None,
                 pointwise_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 depthwise_constraint: Any = None, pointwise_constraint: Any = None, bias_constraint: Any = None,
                 trainable: bool = True, name: Any = None, **options: Any) -> None:
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         bias_initializer=bias_initializer, bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, bias_constraint=bias_constraint,
                         trainable=trainable, name=name, **options)
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer, self.pointwise_initializer = depthwise_initializer, pointwise_initializer
        self.depthwise_regularizer = callable_or_none(depthwise_regularizer, "depthwise_regularizer")
        self.pointwise_regularizer = callable_or_none(pointwise_regularizer, "pointwise_regularizer")
        self.depthwise_constraint, self.pointwise_constraint = depthwise_constraint, pointwise_constraint

    def build(self, input_shape: Any) -> None:
        channels = self.channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel", (*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer, regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint)
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel", (*[1] * self.rank, channels * self.depth_multiplier, self.filters),
            initializer=self.pointwise_initializer, regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint)
        self._make_bias()

    def _separated(self, images: Tensor, depthwise: Any, pointwise: Any, steps: Any, rate: Any, padding: str) -> Tensor:
        layout = "NCHW" if self.data_format == "channels_first" else "NHWC"
        count_more(2)
        strides = [1, 1, *steps] if layout == "NCHW" else [1, *steps, 1]
        return separable_images(images, depthwise, pointwise, strides, padding.upper(), rate, data_format=layout)


class SeparableConv1D(_Separable):
    """A separable convolution of rows. inputs: float[n, w, c] -> float[n, w', filters]."""

    rank, _causal = 1, True

    def call(self, inputs: Tensor) -> Tensor:
        padding = self.padding
        if padding == "causal":
            inputs, padding = self.shifted(inputs), "valid"
        axis = 2 if self.data_format == "channels_first" else 1
        images = self._separated(build.ExpandDims(inputs, axis), build.ExpandDims(self.depthwise_kernel, 0),
                                 build.ExpandDims(self.pointwise_kernel, 0), self.strides * 2,
                                 (1, *self.dilation_rate), padding)
        return self.finished(build.Squeeze(images, squeeze_dims=[axis]))


class SeparableConv2D(_Separable):
    """A separable convolution of images. inputs: float[n, h, w, c] -> float[n, h', w', filters]."""

    rank = 2

    def call(self, inputs: Tensor) -> Tensor:
        return self.finished(self._separated(inputs, self.depthwise_kernel, self.pointwise_kernel, self.strides,
                                             self.dilation_rate, self.padding))


separable_conv1d = as_function("separable_conv1d", SeparableConv1D)
separable_conv2d = as_function("separable_conv2d", SeparableConv2D)
