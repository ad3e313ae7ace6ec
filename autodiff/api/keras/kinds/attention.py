"""Layers of Keras where each place looks at others, and those where each place has a kernel of its own."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....core.op import build
from ....core.shapes import TensorShape
from ... import math, nn
from ...arrays.shaping import expand_dims, reshape, transpose
from ...image.boxes import extract_image_patches
from ...layers import Layer
from ...linalg import matmul
from .plain import Weights, function_of

__all__ = ["AdditiveAttention", "Attention", "LocallyConnected1D", "LocallyConnected2D"]
_NEVER = 1e9  # less, for what is not to be looked at


class Attention(Weights, Layer):
    """Means of values, weighted by a softmax of query · key. Inputs: [query, value], or with the key as a third.

    float[b, q, k], float[b, v, d], float[b, v, k] -> float[b, q, d]. use_scale: a number that is learnt times the
    scores. causal: each place looks at those before it and itself. Source: Luong et al. (2015).
    """

    supports_masking = True

    def __init__(self, use_scale: bool = False, causal: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.use_scale, self.causal = use_scale, causal
        self.scale: Any = None

    def build(self, input_shape: Any) -> None:
        if self.use_scale:
            self.scale = self.add_weight("scale", (), initializer="ones")

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return mask[0] if mask else None

    def _scores(self, query: Any, key: Any) -> Any:
        scores = matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale

    def call(self, inputs: Any, mask: Any = None) -> Any:
        query, value, *rest = inputs
        scores = self._scores(query, rest[0] if rest else value)
        seen = [expand_dims(mask[1], 1)] if mask and mask[1] is not None else []
        if self.causal:
            seen.append(build.MatrixBandPart(build.OnesLike(scores), -1, 0) > 0.5)
        for each in seen:
            scores = scores - _NEVER * math.cast(math.logical_not(each), scores.dtype)
        found = matmul(nn.softmax(scores), value)
        return found if not mask or mask[0] is None else found * expand_dims(math.cast(mask[0], found.dtype), -1)


class AdditiveAttention(Attention):
    """As Attention, by scores of tanh(query + key), summed with weights that are learnt. Source: Bahdanau (2015)."""

    def __init__(self, use_scale: bool = True, **options: Any) -> None:
        super().__init__(use_scale=use_scale, **options)

    def build(self, input_shape: Any) -> None:
        if self.use_scale:
            self.scale = self.add_weight("scale", [TensorShape(input_shape[1]).as_list()[-1]],
                                         initializer="glorot_uniform")

    def _scores(self, query: Any, key: Any) -> Any:
        both = math.tanh(expand_dims(query, 2) + expand_dims(key, 1))
        return math.reduce_sum(both if self.scale is None else self.scale * both, axis=-1)


class LocallyConnected2D(Weights, Layer):
    """A convolution with another kernel at each place. kernel: float[places, height · width · k, filters]."""

    _axes = 2

    def __init__(self, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
                 data_format: Any = None, activation: Any = None, use_bias: bool = True,
                 kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, implementation: int = 1,
                 **options: Any) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **options)
        self.filters, self.use_bias, self.padding = filters, use_bias, padding
        self.kernel_size, self.strides = ([each] * self._axes if isinstance(each, int) else [*each]
                                          for each in (kernel_size, strides))
        self.activation = function_of("activation", activation)
        self._made = {"kernel": (kernel_initializer, kernel_regularizer, kernel_constraint),
                      "bias": (bias_initializer, bias_regularizer, bias_constraint)}

    def build(self, input_shape: Any) -> None:
        self.kernel: Any
        sizes: list[Any] = TensorShape(input_shape).as_list()[1:]
        channels = sizes.pop()
        self._places = [(size - width) // step + 1 for size, width, step in zip(sizes, self.kernel_size, self.strides)]
        shapes = {"kernel": [int(np.prod(self._places)), int(np.prod(self.kernel_size)) * channels, self.filters],
                  "bias": [*self._places, self.filters]}
        self.kernel, self.bias = (
            self.add_weight(name, shapes[name], initializer=initializer, regularizer=regularizer, constraint=constraint)
            if name == "kernel" or self.use_bias else None
            for name, (initializer, regularizer, constraint) in self._made.items())

    def call(self, inputs: Any) -> Any:
        images = inputs if self._axes == 2 else expand_dims(inputs, 1)
        height, width = self.kernel_size if self._axes == 2 else [1, *self.kernel_size]
        rows, columns = self.strides if self._axes == 2 else [1, *self.strides]
        patches = extract_image_patches(images, [1, height, width, 1], [1, rows, columns, 1], [1, 1, 1, 1], "VALID")
        by_place = transpose(reshape(patches, [-1, *self.kernel.shape.as_list()[:2]]), [1, 0, 2])
        y = reshape(transpose(matmul(by_place, self.kernel), [1, 0, 2]), [-1, *self._places, self.filters])
        y = y if self.bias is None else y + self.bias
        return y if self.activation is None else self.activation(y)


class LocallyConnected1D(LocallyConnected2D):
    """A convolution along time with another kernel at each step. kernel: float[steps, width · k, filters]."""

    _axes = 1
