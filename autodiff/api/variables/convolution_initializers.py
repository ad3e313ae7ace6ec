"""Initializers of convolutions that keep the norm of their inputs.

Source: Xiao et al. (2018), Dynamical Isometry and a Mean Field Theory of CNNs, algorithms 1 and 2.
"""
from __future__ import annotations

import itertools
from typing import Any

from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.op import build
from ...core.shapes import as_dims
from .. import random
from .initializers import Orthogonal

__all__ = ["convolutional_delta_orthogonal", "convolutional_orthogonal_1d", "convolutional_orthogonal_2d",
           "convolutional_orthogonal_3d"]


class ConvolutionDeltaOrthogonal(Orthogonal):
    """A kernel [*window, inputs, outputs] of zeros, but for orthonormal rows times `gain` in its middle.

    Raises ArgumentError (ValueError) for a shape of other than 3 to 5 axes, or for more inputs than outputs.
    """

    _ranks: tuple[int, ...] = (3, 4, 5)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        window, inputs, outputs = self._sizes(shape)
        middle = self._middle(inputs, outputs, dtype)
        sides = [[(size - 1) // 2, size - 1 - (size - 1) // 2] for size in window]
        return build.Pad(build.Reshape(middle, [*(1 for _ in window), inputs, outputs]), [*sides, [0, 0], [0, 0]])

    def _sizes(self, shape: Any) -> tuple[tuple[int, ...], int, int]:
        dims = as_dims(shape)
        if dims is None or len(dims) not in self._ranks:
            raise ArgumentError(f"The tensor to initialize must be {' or '.join(f'{n}-D' for n in self._ranks)}: found "
                                f"{shape}")
        *window, inputs, outputs = (int(size or 0) for size in dims)
        if inputs > outputs:
            raise ArgumentError(f"In_filters cannot be greater than out_filters: found {inputs} and {outputs}")
        return tuple(window), inputs, outputs

    def _middle(self, inputs: int, outputs: int, dtype: Any) -> Tensor:
        return super().__call__([outputs, outputs], dtype)[:inputs]


class ConvolutionOrthogonal1D(ConvolutionDeltaOrthogonal):
    """A kernel [size, inputs, outputs] that keeps the norm of periodic inputs, times `gain`.

    The product, as convolutions, of one orthogonal matrix and size - 1 kernels of size 2. Raises as the others do,
    and for a window that is not square.
    """

    _ranks = (3,)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        window, inputs, outputs = self._sizes(shape)
        if len({*window}) > 1:
            raise ArgumentError(f"Kernel sizes must be equal: found {list(window)}")
        axes = len(window)
        kernel = build.Reshape(self._middle(outputs, outputs, dtype), [*(1 for _ in window), outputs, outputs])
        for _ in range(window[0] - 1):
            halves = [self._projections(outputs, dtype) for _ in window]
            terms = []
            for place in itertools.product((0, 1), repeat=axes):
                term = kernel
                for half, side in zip(reversed(halves), reversed(place)):
                    term = build.BatchMatMulV2(half[side], term)
                terms.append(build.Pad(term, [*([at, 1 - at] for at in place), [0, 0], [0, 0]]))
            kernel = build.AddN(*terms)
        return kernel[..., :inputs, :]

    def _projections(self, size: int, dtype: Any) -> tuple[Tensor, Tensor]:
        """The projection on a random space and the one on what is orthogonal to it."""
        basis = Orthogonal(seed=self.seed)([size, size], self._dtype(dtype))
        kept = random.random_normal([size], dtype=self._dtype(dtype), seed=self.seed) > 0
        basis = basis * build.Cast(kept, dtype=basis.dtype)
        first = build.MatMul(basis, basis, transpose_b=True)
        return first, build.MatrixDiag(build.OnesLike(first[0])) - first


class ConvolutionOrthogonal2D(ConvolutionOrthogonal1D):
    """As ConvolutionOrthogonal1D, of a kernel [size, size, inputs, outputs]."""

    _ranks = (4,)


class ConvolutionOrthogonal3D(ConvolutionOrthogonal1D):
    """As ConvolutionOrthogonal1D, of a kernel [size, size, size, inputs, outputs]."""

    _ranks = (5,)


convolutional_delta_orthogonal = ConvolutionDeltaOrthogonal
convolutional_orthogonal_1d = ConvolutionOrthogonal1D
convolutional_orthogonal_2d = ConvolutionOrthogonal2D
convolutional_orthogonal_3d = ConvolutionOrthogonal3D
