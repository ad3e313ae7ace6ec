"""Long short-term memory of pictures and other grids: convolutions in place of products."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.errors import ArgumentError
from ....core.graph import Tensor
from ....core.shapes import TensorShape
from ...arrays.shaping import concat, split
from ...math import sigmoid, tanh
from ...nn.convolutions import conv1d, conv2d, conv3d
from ...nn.rnn_cell.base import LSTMStateTuple, RNNCell
from ...variables.initializers import Zeros
from ...variables.variable_scope import get_variable

__all__ = ["Conv2DLSTMCell", "ConvLSTMCell"]


class ConvLSTMCell(RNNCell):
    """BasicLSTMCell of grids float[n, *input_shape]: gates are a convolution of [x, h], of output_channels each.

    input_shape: sizes of conv_ndims axes, then channels. skip_connection: the input stands beside the output.
    initializers is accepted without effect. Source: Shi et al. (2015), section 3.1, without peepholes.
    """

    def __init__(self, conv_ndims: int, input_shape: Sequence[int], output_channels: int, kernel_shape: Sequence[int],
                 use_bias: bool = True, skip_connection: bool = False, forget_bias: float = 1.0,
                 initializers: Any = None, name: Any = "conv_lstm_cell") -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ArgumentError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._ndims, self._sizes, self._channels = conv_ndims, list(input_shape), output_channels
        self._kernel_shape, self._use_bias = list(kernel_shape), use_bias
        self._skips, self._forget_bias = skip_connection, forget_bias

    @property
    def state_size(self) -> Any:
        size = TensorShape([*self._sizes[:-1], self._channels])
        return LSTMStateTuple(size, size)

    @property
    def output_size(self) -> Any:
        return TensorShape([*self._sizes[:-1], self._channels + (self._sizes[-1] if self._skips else 0)])

    def call(self, inputs: Tensor, state: Any) -> Any:
        c, h = state
        i, j, f, o = split(self._convolved(concat([inputs, h], -1)), 4, self._ndims + 1)
        c = sigmoid(f + self._forget_bias) * c + sigmoid(i) * tanh(j)
        output = tanh(c) * sigmoid(o)
        output = concat([output, inputs], -1) if self._skips else output
        return output, LSTMStateTuple(c, output)

    def _convolved(self, x: Tensor) -> Tensor:
        if self._ndims not in (1, 2, 3):
            raise ArgumentError("Conv Linear expects 3D, 4D or 5D arguments", found=x.describe())
        dtype, columns = x.dtype.base_dtype, 4 * self._channels
        kernel = get_variable("kernel", [*self._kernel_shape, x.dims[-1], columns], dtype)  # type: ignore[index]
        convolve: Any = (conv1d, conv2d, conv3d)[self._ndims - 1]
        y = convolve(x, kernel, 1 if self._ndims == 1 else [1] * (self._ndims + 2), padding="SAME")
        return y + get_variable("biases", [columns], dtype, Zeros()) if self._use_bias else y


class Conv2DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell of pictures."""

    def __init__(self, name: Any = "conv_2d_lstm_cell", **options: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **options)
