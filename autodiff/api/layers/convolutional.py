"""Convolutions as layers, in one, two and three dimensions."""
from __future__ import annotations

from typing import Any

from ...core.errors import ShapeError
from ...core.graph import Tensor
from ...core.op import build
from ...core.shapes import TensorShape, as_dims
from ...ops.common.op_counts import count_more
from ..arrays.rearrange import pad
from ..nn.activations import bias_add
from ..nn.convolutions import check_steps
from ..nn.convolutions import conv1d as filtered_rows
from ..nn.convolutions import conv2d as filtered_images
from ..nn.convolutions import conv3d as filtered_volumes
from ..nn.named_activations import named_activation
from ..variables.layer_base import InputSpec, Layer, callable_or_none
from ..variables.named_initializers import ZEROS
from .core import as_function, checked_format
from .pooling import checked_padding, sizes


class Convolution(Layer):
    """activation(filters at each place of the inputs + bias), in `rank` axes of space.

    kernel: float[*kernel_size, c, filters], bias: float[filters]. data_format: 'channels_last' (float[n, *space, c])
    or 'channels_first' (float[n, c, *space]). padding: 'valid' or 'same', for rows also 'causal'.
    """

    rank: int
    _causal = False

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: str | None = "channels_last", dilation_rate: Any = 1, activation: Any = None,
                 use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = ZEROS,
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True, name: Any = None,
                 **options: Any) -> None:
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **options)
        rank, self.filters, self.use_bias = self.rank, filters, use_bias
        self.kernel_size, self.strides = sizes(kernel_size, rank, "kernel_size"), sizes(strides, rank, "strides")
        self.dilation_rate = sizes(dilation_rate, rank, "dilation_rate")
        self.padding, self.data_format = checked_padding(padding, self._causal), checked_format(data_format)
        self.activation = named_activation(activation)
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.kernel_regularizer = callable_or_none(kernel_regularizer, "kernel_regularizer")
        self.bias_regularizer = callable_or_none(bias_regularizer, "bias_regularizer")
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.input_spec = InputSpec(ndim=rank + 2)
        self.kernel: Any = None
        self.bias: Any = None

    @property
    def channel_axis(self) -> int:
        return 1 if self.data_format == "channels_first" else -1

    @property
    def layout(self) -> str:
        """The data format in the ops' words: 'NHWC', 'NCDHW', …"""
        space = "DHW"[3 - self.rank:]
        return f"NC{space}" if self.data_format == "channels_first" else f"N{space}C"

    def channels(self, input_shape: Any) -> int:
        """The number of channels of the inputs, which become those that all inputs must have."""
        dims = as_dims(input_shape)
        if not dims or dims[self.channel_axis] is None:
            raise ShapeError("The channel dimension of the inputs should be defined. Found `None`.",
                             found=f"shape {input_shape} in layer {self.name!r}")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={self.channel_axis: dims[self.channel_axis]})
        return dims[self.channel_axis]

    def build(self, input_shape: Any) -> None:
        self._make(self.kernel_size + (self.channels(input_shape), self.filters))

    def _make(self, kernel_shape: Any) -> None:
        self.kernel = self.add_weight("kernel", kernel_shape, initializer=self.kernel_initializer,
                                      regularizer=self.kernel_regularizer, constraint=self.kernel_constraint)
        self._make_bias()

    def _make_bias(self) -> None:
        if self.use_bias:
            self.bias = self.add_weight("bias", [self.filters], initializer=self.bias_initializer,
                                        regularizer=self.bias_regularizer, constraint=self.bias_constraint)
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        padding = self.padding
        check_steps(self.strides, self.dilation_rate)
        if padding == "causal":
            inputs, padding = self.shifted(inputs), "valid"
        function = (filtered_rows, filtered_images, filtered_volumes)[self.rank - 1]
        count_more(1)  # the constant dilation_rate
        return self.finished(function(inputs, self.kernel, self.strides, padding.upper(), data_format=self.layout,
                                      dilations=self.dilation_rate))

    def shifted(self, rows: Tensor) -> Tensor:
        """Rows with zeros before them, so that no output looks ahead."""
        before = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
        first = self.data_format == "channels_first"
        return pad(rows, [[0, 0], [0, 0], before] if first else [[0, 0], before, [0, 0]])

    def finished(self, outputs: Tensor) -> Tensor:
        """Outputs with bias and activation."""
        if self.use_bias and self.rank != 2 and self.data_format == "channels_first":
            outputs = outputs + build.Reshape(self.bias, [1, self.filters, *[1] * self.rank])
        elif self.use_bias:
            outputs = bias_add(outputs, self.bias, data_format="NCHW" if self.channel_axis == 1 else "NHWC")
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = as_dims(input_shape) or ()
        first = self.data_format == "channels_first"
        space = dims[2:] if first else dims[1:-1]
        new = tuple(map(self._length, space, self.kernel_size, self.strides, self.dilation_rate))
        return TensorShape((dims[0], self.filters, *new) if first else (dims[0], *new, self.filters))

    def _length(self, size: int | None, kernel: int, stride: int, rate: int) -> int | None:
        """The output's size along one axis."""
        if size is None:
            return None
        lost = 0 if self.padding in ("same", "causal") else (kernel - 1) * rate
        return (size - lost + stride - 1) // stride


class Conv1D(Convolution):
    """Filters at each place of rows. inputs: float[n, w, c] -> float[n, w', filters]."""

    rank, _causal = 1, True


class Conv2D(Convolution):
    """Filters at each place of images. inputs: float[n, h, w, c] -> float[n, h', w', filters]."""

    rank = 2


class Conv3D(Convolution):
    """Filters at each place of volumes. inputs: float[n, d, h, w, c] -> float[n, d', h', w', filters]."""

    rank = 3


conv1d, conv2d, conv3d = (as_function(layer.__name__.lower(), layer) for layer in (Conv1D, Conv2D, Conv3D))
