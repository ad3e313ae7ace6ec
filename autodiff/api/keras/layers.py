"""tf.keras.layers as far as they are tf.layers: the same classes, which also take the names of functions."""
from __future__ import annotations

from typing import Any

from .. import layers
from ..common.unsupported import refusing
from ..layers import InputSpec, Layer
from . import activations, initializers, regularizers

__all__ = ["InputSpec", "Layer"]
_KINDS = {"activation": activations, "initializer": initializers, "regularizer": regularizers}
_IGNORED = ("input_shape", "input_dim", "batch_input_shape", "input_length")  # shapes are known from the first input


def _function(kind: str, value: Any) -> Any:
    """What a text stands for as an activation, initializer or regularizer; anything else as it is."""
    if not isinstance(value, str) or kind == "activation" and value == "linear":
        return None if value == "linear" else value
    get = next((each.get for end, each in _KINDS.items() if kind.endswith(end)), None)
    return value if get is None else get(value)


def _named(kind: Any) -> Any:
    class Named(kind):
        __doc__ = kind.__doc__

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{key: _function(key, value) for key, value in options.items()
                                       if key not in _IGNORED})

    Named.__name__ = Named.__qualname__ = kind.__name__
    return Named


AveragePooling1D, AveragePooling2D, AveragePooling3D = (
    _named(kind) for kind in (layers.AveragePooling1D, layers.AveragePooling2D, layers.AveragePooling3D))
MaxPooling1D, MaxPooling2D, MaxPooling3D = (
    _named(kind) for kind in (layers.MaxPooling1D, layers.MaxPooling2D, layers.MaxPooling3D))
Conv1D, Conv2D, Conv3D, Conv2DTranspose, Conv3DTranspose, SeparableConv1D, SeparableConv2D = (
    _named(kind) for kind in (layers.Conv1D, layers.Conv2D, layers.Conv3D, layers.Conv2DTranspose,
                              layers.Conv3DTranspose, layers.SeparableConv1D, layers.SeparableConv2D))
BatchNormalization, Dense, Dropout, Flatten = (
    _named(kind) for kind in (layers.BatchNormalization, layers.Dense, layers.Dropout, layers.Flatten))
MaxPool1D, MaxPool2D, MaxPool3D = MaxPooling1D, MaxPooling2D, MaxPooling3D
AvgPool1D, AvgPool2D, AvgPool3D = AveragePooling1D, AveragePooling2D, AveragePooling3D
Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D


class Activation(Layer):
    """A function of its input, given or by name."""

    def __init__(self, activation: Any, **options: Any) -> None:
        super().__init__(**options)
        self.activation = _function("activation", activation)

    def call(self, inputs: Any) -> Any:
        return inputs if self.activation is None else self.activation(inputs)


class Lambda(Layer):
    """A function of its input."""

    def __init__(self, function: Any, **options: Any) -> None:
        super().__init__(**options)
        self.function = function

    def call(self, inputs: Any) -> Any:
        return self.function(inputs)


__getattr__ = refusing("tf.keras.layers", __name__)
