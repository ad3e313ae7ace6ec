"""Layers of Keras that keep the shape: activations with settings, noise, normalization of each example, masks."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ....core.op import build
from ....ops.common.op_counts import counting
from ... import math, nn
from ...common.made import named
from ...layers import Layer
from ...layers.core import chosen
from .. import backend
from ..functions.arrays import random_normal, random_uniform
from ..regularizers import L1L2
from .plain import Weights

__all__ = ["ActivityRegularization", "AlphaDropout", "ELU", "GaussianDropout", "GaussianNoise", "LayerNormalization",
           "LeakyReLU", "Masking", "PReLU", "ReLU", "Softmax", "SpatialDropout1D", "SpatialDropout2D",
           "SpatialDropout3D", "ThresholdedReLU"]


def layer_of(name: str, words: str, function: Callable[..., Any], keeps_shape: bool = True, noise: bool = False) -> Any:
    """A layer that is one function of its input and of settings. noise: in training alone; else the input itself."""
    settings = inspect.signature(function)
    own = settings.replace(parameters=[each for each in settings.parameters.values() if each.name != "x"])

    class Made(Weights, Layer):
        supports_masking = keeps_shape
        __signature__ = own.replace(parameters=[*own.parameters.values(), inspect.Parameter(
            "options", inspect.Parameter.VAR_KEYWORD)])

        def __init__(self, *args: Any, **options: Any) -> None:
            given = {key: options.pop(key) for key in list(options) if key in own.parameters}
            super().__init__(**options)
            bound = own.bind(*args, **given)
            bound.apply_defaults()
            self._settings = bound.arguments

        def call(self, inputs: Any, training: Any = None) -> Any:
            if not noise:
                return function(inputs, **self._settings)
            training = backend.learning_phase() if training is None else training
            return chosen(training, lambda: function(inputs, **self._settings), lambda: build.Identity(inputs))

    return named(Made, name, words)


def _bounded(x: Any, max_value: float | None = None, negative_slope: float = 0.0) -> Any:
    if max_value == 6 and not negative_slope:
        return nn.relu6(x)
    y = nn.relu(x) if max_value is None else math.clip_by_value(x, 0.0, max_value)
    return y + negative_slope * math.minimum(x, 0.0) if negative_slope else y


def _channels_dropped(x: Any, rate: float) -> Any:
    sizes = build.Shape(x)
    return nn.dropout(x, noise_shape=[sizes[0], *[1] * (len(x.dims) - 2), sizes[-1]], rate=rate)


def _noise(x: Any, mean: float, deviation: float) -> Any:
    return random_normal(build.Shape(x), mean=mean, stddev=deviation, dtype=x.dtype)


_LEAST = -1.7580993408473766  # what a selu gives for -inf


def _alpha_dropped(x: Any, rate: float, noise_shape: Any = None, seed: Any = None) -> Any:
    kept = math.cast(random_uniform(build.Shape(x) if noise_shape is None else noise_shape, seed=seed) >= rate, x.dtype)
    scale = ((1.0 - rate) * (1.0 + rate * _LEAST ** 2)) ** -0.5
    return scale * (x * kept + _LEAST * (1.0 - kept)) - scale * _LEAST * rate


LeakyReLU = layer_of("LeakyReLU", "x where it is positive, alpha · x elsewhere.",
                     lambda x, alpha=0.3: nn.leaky_relu(x, alpha))
ELU = layer_of("ELU", "x where it is positive, alpha · (exp(x) - 1) elsewhere.",
               lambda x, alpha=1.0: nn.elu(x) if alpha == 1 else
               nn.relu(x) + alpha * nn.elu(math.minimum(x, 0.0)))
ThresholdedReLU = layer_of("ThresholdedReLU", "x where it is greater than theta, 0 elsewhere.",
                           lambda x, theta=1.0: x * math.cast(x > theta, x.dtype))
ReLU = layer_of("ReLU", "x between zero and max_value, negative_slope · x below.", _bounded)
Softmax = layer_of("Softmax", "exp(x) over its sum along an axis.", lambda x, axis=-1: nn.softmax(x, axis=axis))
GaussianNoise = layer_of("GaussianNoise", "x and normal noise of a standard deviation, in training.",
                         lambda x, stddev: x + _noise(x, 0.0, stddev), noise=True)
GaussianDropout = layer_of(
    "GaussianDropout", "x times normal noise of mean one, of the deviation of a dropout of this rate, in training.",
    lambda x, rate: x * _noise(x, 1.0, (rate / (1.0 - rate)) ** 0.5), noise=True)
SpatialDropout1D, SpatialDropout2D, SpatialDropout3D = (layer_of(
    name, "Drops channels as wholes, in training.", _channels_dropped, noise=True)
    for name in ("SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"))


AlphaDropout = layer_of("AlphaDropout", "The least that a selu gives in place of a share of x, its mean and variance "
                        "kept, in training.", _alpha_dropped, noise=True)


class ActivityRegularization(Weights, Layer):
    """x itself, and a penalty of l1 · Σ|x| + l2 · Σx²."""

    supports_masking = True

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **options: Any) -> None:
        super().__init__(activity_regularizer=L1L2(l1, l2), **options)

    def call(self, inputs: Any) -> Any:
        return inputs


class PReLU(Weights, Layer):
    """x where it is positive, alpha · x elsewhere; alpha is learnt, one for all along shared_axes (from 1)."""

    supports_masking = True

    def __init__(self, alpha_initializer: Any = "zeros", alpha_regularizer: Any = None, alpha_constraint: Any = None,
                 shared_axes: Any = None, **options: Any) -> None:
        super().__init__(**options)
        self._made = alpha_initializer, alpha_regularizer, alpha_constraint
        self.shared_axes = [shared_axes] if isinstance(shared_axes, int) else list(shared_axes or ())

    def build(self, input_shape: Any) -> None:
        initializer, regularizer, constraint = self._made
        sizes = [1 if i in self.shared_axes else dim for i, dim in enumerate(input_shape.as_list())][1:]
        self.alpha = self.add_weight("alpha", sizes, initializer=initializer, regularizer=regularizer,
                                     constraint=constraint)

    def call(self, inputs: Any) -> Any:
        return nn.relu(inputs) - self.alpha * nn.relu(-inputs)


class LayerNormalization(Weights, Layer):
    """(x - mean) / sqrt(variance + epsilon) · gamma + beta, of each example along axes. Source: Ba et al. (2016)."""

    supports_masking = True

    def __init__(self, axis: Any = -1, epsilon: float = 0.001, center: bool = True, scale: bool = True,
                 beta_initializer: Any = "zeros", gamma_initializer: Any = "ones", beta_regularizer: Any = None,
                 gamma_regularizer: Any = None, beta_constraint: Any = None, gamma_constraint: Any = None,
                 **options: Any) -> None:
        super().__init__(**options)
        self.axis, self.epsilon = [axis] if isinstance(axis, int) else list(axis), epsilon
        self.center, self.scale = center, scale
        self._made = {"gamma": (gamma_initializer, gamma_regularizer, gamma_constraint),
                      "beta": (beta_initializer, beta_regularizer, beta_constraint)}

    def build(self, input_shape: Any) -> None:
        dims = input_shape.as_list()
        self.axis = [axis % len(dims) for axis in self.axis]
        self.gamma, self.beta = (
            self.add_weight(name, [dims[axis] for axis in self.axis], initializer=initializer, regularizer=regularizer,
                            constraint=constraint) if getattr(self, wanted) else None
            for (name, (initializer, regularizer, constraint)), wanted in zip(self._made.items(), ("scale", "center")))

    def call(self, inputs: Any) -> Any:
        mean, variance = nn.moments(inputs, self.axis, keep_dims=True)
        sizes = [dim if axis in self.axis else 1 for axis, dim in enumerate(inputs.dims)]
        scale, offset = (None if each is None else build.Reshape(each, sizes) for each in (self.gamma, self.beta))
        return nn.batch_normalization(inputs, mean, variance, offset, scale, self.epsilon)


def mean_of_steps(values: Any, mask: Any, axis: int | None = None) -> Any:
    """The mean of what a mask leaves, along an axis or of all; of everything without a mask."""
    if mask is None:
        return math.reduce_mean(values, axis=axis)
    counted = math.cast(mask, values.dtype)
    return math.reduce_sum(values * counted, axis=axis) / math.reduce_sum(counted, axis=axis)


class Masking(Weights, Layer):
    """Zeros where all numbers of a step are mask_value; layers behind it leave such steps out."""

    def __init__(self, mask_value: float = 0.0, **options: Any) -> None:
        super().__init__(**options)
        self.mask_value = mask_value

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return math.reduce_any(math.not_equal(inputs, self.mask_value), axis=-1)

    @counting(3)
    def call(self, inputs: Any) -> Any:
        return inputs * math.cast(self.compute_mask(inputs)[..., None], inputs.dtype)
