"""Layers of Keras that are those of tf.layers: the same classes, which also take the names of functions."""
from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ....core.errors import ArgumentError
from ....core.graph import get_default_graph
from ....core.site import made_at
from ....ops.common.op_counts import counted_as
from ... import layers
from ...common.made import named
from ...nn.convolutions import depthwise_conv2d
from ...variables import layer_base
from ...variables.variable import Variable
from .. import activations, backend, constraints, initializers, regularizers

_KINDS = {"activation": activations, "constraint": constraints, "initializer": initializers,
          "regularizer": regularizers}


def function_of(kind: str, value: Any) -> Any:
    """What a text or a config stands for as an activation, constraint, initializer or regularizer; else it itself."""
    if not isinstance(value, (str, dict)) or kind == "activation" and value == "linear":
        return None if value == "linear" else value
    get = next((each.get for end, each in _KINDS.items() if kind.endswith(end)), None)
    return value if get is None else get(value)


class Weights(layers.Layer):
    """A layer of Keras: its variables are resources, in a scope of its name, and their values are at hand."""

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]
    _named_once = True

    def add_weight(self, name: str | None = None, *args: Any, use_resource: bool | None = None,
                   **options: Any) -> Variable:
        """A variable of this layer, a resource unless that is denied. Others by name, as functions of layers are."""
        told = {key: function_of(key, value) for key, value in options.items()}
        is_ours = type(self).__module__.partition(".")[0] == __name__.partition(".")[0]
        with made_at(get_default_graph(), self._frames if is_ours else ()):  # where it was told its initializers
            return super().add_weight(name or "Variable", *args, **{**told, "use_resource": use_resource is not False})

    def _regularize(self, *given: Any) -> None:
        with counted_as(0):  # made when a model is compiled
            super()._regularize(*given)

    def get_config(self) -> dict[str, Any]:
        """Its settings by name, as they were given."""
        return {**super().get_config(), **self._given()}

    def get_weights(self) -> list[np.ndarray]:
        """The values of the variables, those that are trained first."""
        if get_default_graph().executing_eagerly:
            return [np.asarray(variable) for variable in self.weights]
        return backend.get_session().run(self.weights) if self.weights else []

    def set_weights(self, weights: Any) -> None:
        """Give the variables values. Raises ArgumentError (ValueError) unless there is one for each."""
        if len(weights) != len(self.weights):
            raise ArgumentError(f"You called `set_weights(weights)` with a weight list of length {len(weights)}, but "
                                f"the layer was expecting {len(self.weights)} weights.")
        for variable, value in zip(self.weights, weights):
            backend.set_value(variable, value)


def make_inside(layer: Any, around: Any, input_shape: Any) -> None:
    """Have a layer make its variables in the scope of the one around it, but for those with a variable scope."""
    if isinstance(layer, layer_base.Layer) and not layer.built:
        if layer._named_once:
            layer._scope = around._scope
        layer._dtype = layer._dtype or around._dtype
        layer.build(input_shape)
        layer.built = True


def _named(kind: Any) -> Any:
    class Named(Weights, kind):
        def __init__(self, *args: Any, **options: Any) -> None:
            initial = options.pop("weights", None)
            told = {key: function_of(key, value) for key, value in options.items() if key != "input_length"}
            super().__init__(*args, **told)
            self._initial = initial
            if vars(self).get("activation", 0) is None:
                self.activation = activations.linear  # as Keras' layers tell

        __init__.__signature__ = inspect.signature(kind.__init__)  # type: ignore[attr-defined]

        def build(self, input_shape: Any) -> None:
            super().build(input_shape)
            if self._initial is not None:
                self.set_weights(self._initial)

    Named.supports_masking = not any(word in kind.__name__ for word in ("Conv", "Pool", "Flatten"))
    return named(Named, kind.__name__, kind.__doc__)


def _phased(kind: Any) -> Any:
    """As _named, of a layer that behaves otherwise in training: as Keras' phase says where it is not told."""
    class Phased(_named(kind)):  # type: ignore[misc]
        def call(self, inputs: Any, training: Any = None) -> Any:
            return super().call(inputs, training=backend.learning_phase() if training is None else training)

    return named(Phased, kind.__name__, kind.__doc__)


def _pooling(kind: Any) -> Any:
    """As _named, of a window of two and as far apart as it is large by default."""
    class Pooling(_named(kind)):  # type: ignore[misc]
        def __init__(self, pool_size: Any = 2, strides: Any = None, *args: Any, **options: Any) -> None:
            super().__init__(pool_size, pool_size if strides is None else strides, *args, **options)

    return named(Pooling, kind.__name__, kind.__doc__)


class _Depthwise(layers.Conv2D):
    """depth_multiplier filters for each channel. depthwise_kernel: float[height, width, c, depth_multiplier]."""

    def __init__(self, kernel_size: Any, strides: Any = (1, 1), padding: str = "valid", depth_multiplier: int = 1,
                 depthwise_initializer: Any = None, depthwise_regularizer: Any = None,
                 depthwise_constraint: Any = None, **options: Any) -> None:
        super().__init__(1, kernel_size, strides, padding, **options)
        self.depth_multiplier = depth_multiplier
        self._depthwise = {"initializer": depthwise_initializer, "regularizer": depthwise_regularizer,
                           "constraint": depthwise_constraint}

    def build(self, input_shape: Any) -> None:
        channels = self.channels(input_shape)
        self.depthwise_kernel = self.add_weight("depthwise_kernel", (
            *self.kernel_size, channels, self.depth_multiplier), **self._depthwise)
        self.filters = channels * self.depth_multiplier
        self._make_bias()

    def call(self, inputs: Any) -> Any:
        layout, steps = ("NCHW", (1, 1, *self.strides)) if self.data_format == "channels_first" else \
            ("NHWC", (1, *self.strides, 1))
        return self.finished(depthwise_conv2d(inputs, self.depthwise_kernel, steps, self.padding.upper(),
                                              self.dilation_rate, data_format=layout))


AveragePooling1D, AveragePooling2D, AveragePooling3D, MaxPooling1D, MaxPooling2D, MaxPooling3D = map(_pooling, (
    layers.AveragePooling1D, layers.AveragePooling2D, layers.AveragePooling3D, layers.MaxPooling1D,
    layers.MaxPooling2D, layers.MaxPooling3D))
Conv1D, Conv2D, Conv3D, Conv2DTranspose, Conv3DTranspose, SeparableConv1D, SeparableConv2D = map(_named, (
    layers.Conv1D, layers.Conv2D, layers.Conv3D, layers.Conv2DTranspose, layers.Conv3DTranspose,
    layers.SeparableConv1D, layers.SeparableConv2D))
DepthwiseConv2D = _named(_Depthwise)
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
Dense, Flatten = _named(layers.Dense), _named(layers.Flatten)
BatchNormalization, Dropout = _phased(layers.BatchNormalization), _phased(layers.Dropout)
MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
Convolution2DTranspose, Convolution3DTranspose = Conv2DTranspose, Conv3DTranspose

__all__ = [name for name, each in sorted(vars().items()) if isinstance(each, type) and name[0] != "_" and name != "Any"]
