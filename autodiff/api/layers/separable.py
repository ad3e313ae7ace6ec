"""Separable convolutions, and transposed ones, which are adjoints, as layers."""
from __future__ import annotations

from typing import Any

from ...core.graph import Tensor
from ...core.op import build
from ...core.shapes import TensorShape, as_dims
from ...ops.common.op_counts import count_more
from ..arrays.shaping import stack
from ..nn.convolutions import conv2d_transpose as transposed_images
from ..nn.convolutions import conv3d_transpose as transposed_volumes
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


class _Transposed(Convolution):
    """The adjoint of a convolution. kernel: float[*kernel_size, filters, c]."""

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str = "channels_last", *args: Any, **options: Any) -> None:
        super().__init__(filters, kernel_size, strides, padding, data_format, 1, *args, **options)

    def build(self, input_shape: Any) -> None:
        self._make(self.kernel_size + (self.filters, self.channels(input_shape)))

    def call(self, inputs: Tensor) -> Tensor:
        known = self.compute_output_shape(inputs.shape)
        shape = build.Shape(inputs)
        count_more(4)
        start = 2 if self.data_format == "channels_first" else 1
        lengths = [self._longer(shape[start + i], i) for i in range(self.rank)]
        sizes = [self.filters, *lengths] if start == 2 else [*lengths, self.filters]
        function = transposed_images if self.rank == 2 else transposed_volumes
        outputs = function(inputs, self.kernel, stack([shape[0], *sizes]), self.strides,
                           self.padding.upper(), data_format=self.layout)
        outputs.set_shape(known)
        return self.finished(outputs)

    def _longer(self, size: Any, i: int) -> Any:
        """The output's size along axis i of space."""
        if size is None:
            return None
        grown = size * self.strides[i]
        extra = max(self.kernel_size[i] - self.strides[i], 0) if self.padding == "valid" else 0
        return grown + extra if extra else grown

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = as_dims(input_shape) or ()
        first = self.data_format == "channels_first"
        space = tuple(self._longer(size, i) for i, size in enumerate(dims[2:] if first else dims[1:-1]))
        return TensorShape((dims[0], self.filters, *space) if first else (dims[0], *space, self.filters))


class Conv2DTranspose(_Transposed):
    """The adjoint of Conv2D. inputs: float[n, h, w, c] -> float[n, h * stride, w * stride, filters] if padding is
    'same', larger by what of the kernel overhangs if it is 'valid'."""

    rank = 2


class Conv3DTranspose(_Transposed):
    """The adjoint of Conv3D, as Conv2DTranspose is of Conv2D. inputs: float[n, d, h, w, c]."""

    rank = 3


conv2d_transpose = as_function("conv2d_transpose", Conv2DTranspose, of=Convolution, without="dilation_rate")
conv3d_transpose = as_function("conv3d_transpose", Conv3DTranspose, of=Convolution, without="dilation_rate")
