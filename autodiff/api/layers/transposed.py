"""Transposed convolutions as layers: the adjoint of a convolution, which enlarges."""
from __future__ import annotations

from typing import Any

from ...core.graph import Tensor
from ...core.op import build
from ...core.shapes import TensorShape, as_dims
from ...ops.common.op_counts import count_more
from ..arrays.shaping import stack
from ..nn.convolutions import conv2d_transpose as transposed_images
from ..nn.convolutions import conv3d_transpose as transposed_volumes
from .convolutional import Convolution
from .core import as_function


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
