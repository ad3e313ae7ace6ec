"""Layers with weights: fully connected, convolutions, bias."""
from __future__ import annotations

import functools
from typing import Any

from ....core.convert import convert_to_tensor
from ....core.errors import ArgumentError, ShapeError
from ....core.graph import Tensor
from ...layers.convolutional import Conv1D, Conv2D, Conv3D
from ...layers.core import Dense
from ...layers.pooling import sizes
from ...layers.separable import Conv2DTranspose, Conv3DTranspose, SeparableConv2D
from ...nn.activations import bias_add as with_bias
from ...nn.activations import elu as elu_of
from ...nn.activations import relu as relu_of
from ...nn.activations import relu6 as relu6_of
from ...nn.convolutions import depthwise_conv2d
from ...variables.named_initializers import ZEROS
from ...variables.variable_scope import variable_scope
from ..arg_scope import add_arg_scope
from ..framework import model_variable
from .initializers import xavier_initializer
from .utils import channels_first, collect, collections_for, finished, renaming_getter

__all__ = ["bias_add", "conv1d", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose", "convolution",
           "convolution1d", "convolution2d", "convolution2d_transpose", "convolution3d", "convolution3d_transpose",
           "elu", "fully_connected", "linear", "relu", "relu6", "separable_conv2d", "separable_convolution2d"]

_NAMES = {"bias": "biases", "kernel": "weights"}
_XAVIER = xavier_initializer()


@add_arg_scope
def fully_connected(inputs: Any, num_outputs: int, activation_fn: Any = relu_of, normalizer_fn: Any = None,
                    normalizer_params: Any = None, weights_initializer: Any = _XAVIER, weights_regularizer: Any = None,
                    biases_initializer: Any = ZEROS, biases_regularizer: Any = None, reuse: Any = None,
                    variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
                    scope: Any = None) -> Tensor:
    """activation_fn(inputs · weights + biases). inputs: float[..., k] -> float[..., num_outputs].

    normalizer_fn: such as batch_norm, in place of the biases. variables_collections: a list, or a dict by 'weights' and
    'biases'. Raises ArgumentError (ValueError) unless num_outputs is an int.
    """
    if not isinstance(num_outputs, int):
        raise ArgumentError(expected="an int as num_outputs", found=repr(num_outputs))
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse, custom_getter=renaming_getter(_NAMES)) as sc:
        inputs = convert_to_tensor(inputs)
        layer = Dense(num_outputs, None, not normalizer_fn and bool(biases_initializer), weights_initializer,
                      biases_initializer, weights_regularizer, biases_regularizer, trainable=trainable, name=sc.name,
                      dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse)
        outputs = _weighted(layer, inputs, variables_collections, normalizer_fn, normalizer_params)
        return finished(outputs, activation_fn, outputs_collections, sc.name)


def _weighted(layer: Any, inputs: Tensor, collections: Any, normalizer_fn: Any, normalizer_params: Any) -> Tensor:
    """What a layer gives, normalized; its weights are added to their collections."""
    outputs = layer(inputs)
    collect(layer.kernel, collections, "weights")
    collect(layer.bias, collections, "biases")
    return _normalized(outputs, normalizer_fn, normalizer_params)


def _normalized(outputs: Tensor, normalizer_fn: Any, normalizer_params: Any) -> Any:
    return outputs if normalizer_fn is None else normalizer_fn(outputs, **(normalizer_params or {}))


relu = functools.partial(fully_connected, activation_fn=relu_of)
relu6 = functools.partial(fully_connected, activation_fn=relu6_of)
elu = functools.partial(fully_connected, activation_fn=elu_of)
linear = functools.partial(fully_connected, activation_fn=None)


@add_arg_scope
def convolution(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                data_format: str | None = None, rate: Any = 1, activation_fn: Any = relu_of, normalizer_fn: Any = None,
                normalizer_params: Any = None, weights_initializer: Any = _XAVIER, weights_regularizer: Any = None,
                biases_initializer: Any = ZEROS, biases_regularizer: Any = None, reuse: Any = None,
                variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
                scope: Any = None, conv_dims: int | None = None) -> Tensor:
    """activation_fn(filters at each place of the inputs + biases), by the inputs' rank in 1, 2 or 3 axes of space.

    data_format: None, 'NWC', 'NCW', 'NHWC', 'NCHW', 'NDHWC' or 'NCDHW'. Other arguments as fully_connected.
    """
    layout = channels_first(data_format, (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"))
    with variable_scope(scope, "Conv", [inputs], reuse=reuse, custom_getter=renaming_getter(_NAMES)) as sc:
        inputs = convert_to_tensor(inputs)
        rank = None if inputs.dims is None else len(inputs.dims)
        if rank not in (3, 4, 5) or conv_dims not in (None, rank - 2):
            raise ShapeError(expected=f"inputs of rank {conv_dims + 2 if conv_dims else '3, 4 or 5'}",
                             found=inputs.describe())
        layer = {3: Conv1D, 4: Conv2D, 5: Conv3D}[rank](
            num_outputs, kernel_size, stride, padding, layout, rate, None,
            not normalizer_fn and bool(biases_initializer), weights_initializer, biases_initializer,
            weights_regularizer, biases_regularizer, trainable=trainable, name=sc.name, dtype=inputs.dtype.base_dtype,
            _scope=sc, _reuse=reuse)
        outputs = _weighted(layer, inputs, variables_collections, normalizer_fn, normalizer_params)
        return finished(outputs, activation_fn, outputs_collections, sc.name)


def _of_dims(conv_dims: int) -> Any:
    @functools.wraps(convolution._scoped)  # type: ignore[attr-defined]
    def function(inputs: Any, *args: Any, **options: Any) -> Tensor:
        return convolution(inputs, *args, conv_dims=conv_dims, **options)

    function.__name__ = function.__qualname__ = f"convolution{conv_dims}d"
    return add_arg_scope(function)


conv1d = convolution1d = _of_dims(1)
conv2d = convolution2d = _of_dims(2)
conv3d = convolution3d = _of_dims(3)


def _transposed(layer_class: Any, default_scope: str, formats: tuple[str, str]) -> Any:
    def function(inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
                 data_format: str = formats[0], activation_fn: Any = relu_of, normalizer_fn: Any = None,
                 normalizer_params: Any = None, weights_initializer: Any = _XAVIER, weights_regularizer: Any = None,
                 biases_initializer: Any = ZEROS, biases_regularizer: Any = None, reuse: Any = None,
                 variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
                 scope: Any = None) -> Tensor:
        """activation_fn(the adjoint of a convolution of the inputs + biases). Arguments as fully_connected."""
        layout = channels_first(data_format, formats)
        with variable_scope(scope, default_scope, [inputs], reuse=reuse, custom_getter=renaming_getter(_NAMES)) as sc:
            inputs = convert_to_tensor(inputs)
            layer = layer_class(num_outputs, kernel_size, stride, padding, layout, None,
                                not normalizer_fn and bool(biases_initializer), weights_initializer,
                                biases_initializer, weights_regularizer, biases_regularizer, trainable=trainable,
                                name=sc.name, dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse)
            outputs = _weighted(layer, inputs, variables_collections, normalizer_fn, normalizer_params)
            return finished(outputs, activation_fn, outputs_collections, sc.name)

    function.__name__ = function.__qualname__ = default_scope.lower().replace("conv", "convolution")
    return add_arg_scope(function)


conv2d_transpose = convolution2d_transpose = _transposed(Conv2DTranspose, "Conv2d_transpose", ("NHWC", "NCHW"))
conv3d_transpose = convolution3d_transpose = _transposed(Conv3DTranspose, "Conv3d_transpose", ("NDHWC", "NCDHW"))


@add_arg_scope
def separable_convolution2d(inputs: Any, num_outputs: int | None, kernel_size: Any, depth_multiplier: int = 1,
                            stride: Any = 1, padding: str = "SAME", data_format: str = "NHWC", rate: Any = 1,
                            activation_fn: Any = relu_of, normalizer_fn: Any = None, normalizer_params: Any = None,
                            weights_initializer: Any = _XAVIER, pointwise_initializer: Any = None,
                            weights_regularizer: Any = None, biases_initializer: Any = ZEROS,
                            biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
                            outputs_collections: Any = None, trainable: bool = True, scope: Any = None) -> Tensor:
    """depth_multiplier filters for each channel, then a mix of all into num_outputs, or none if that is None."""
    layout = channels_first(data_format)
    names = {"bias": "biases", "depthwise_kernel": "depthwise_weights", "pointwise_kernel": "pointwise_weights"}
    with variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=renaming_getter(names)) as sc:
        inputs = convert_to_tensor(inputs)
        use_bias = not normalizer_fn and bool(biases_initializer)
        if num_outputs is None:
            outputs = _depthwise(inputs, kernel_size, depth_multiplier, stride, padding, data_format, rate,
                                 weights_initializer, weights_regularizer, trainable, variables_collections)
            if use_bias:
                bias = _biases(outputs, data_format, biases_initializer, biases_regularizer, variables_collections,
                               trainable)
                outputs = with_bias(outputs, bias, data_format=data_format)
        else:
            layer = SeparableConv2D(
                num_outputs, kernel_size, stride, padding, layout, sizes(rate, 2, "rate"), depth_multiplier, None,
                use_bias, weights_initializer, pointwise_initializer or weights_initializer, biases_initializer,
                weights_regularizer, weights_regularizer, biases_regularizer, trainable=trainable, name=sc.name,
                dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse)
            outputs = layer(inputs)
            for made, what in ((layer.depthwise_kernel, "weights"), (layer.pointwise_kernel, "weights"),
                               (layer.bias, "biases")):
                collect(made, variables_collections, what)
        return finished(_normalized(outputs, normalizer_fn, normalizer_params), activation_fn, outputs_collections,
                        sc.name)


separable_conv2d = separable_convolution2d


def _depthwise(inputs: Tensor, kernel_size: Any, depth_multiplier: int, stride: Any, padding: str, data_format: str,
               rate: Any, initializer: Any, regularizer: Any, trainable: bool, collections: Any) -> Tensor:
    axis = 1 if data_format.startswith("NC") else -1
    shape = [*sizes(kernel_size, 2, "kernel_size"), _channels(inputs, axis), depth_multiplier]
    weights = model_variable("depthwise_weights", shape, inputs.dtype.base_dtype, initializer, regularizer, trainable,
                             collections_for(collections, "weights"))
    steps = sizes(stride, 2, "stride")
    return depthwise_conv2d(inputs, weights, [1, 1, *steps] if axis == 1 else [1, *steps, 1], padding,
                            rate=sizes(rate, 2, "rate"), data_format=data_format)


def _channels(inputs: Tensor, axis: int) -> int:
    if inputs.dims is None or inputs.dims[axis] is None:
        raise ShapeError(expected="inputs with a known number of channels", found=inputs.describe())
    return inputs.dims[axis]


def _biases(inputs: Tensor, data_format: str, initializer: Any, regularizer: Any, collections: Any,
            trainable: bool) -> Any:
    count = _channels(inputs, 1 if data_format == "NCHW" else -1)
    return model_variable("biases", [count], inputs.dtype.base_dtype, initializer, regularizer, trainable,
                          collections_for(collections, "biases"))


@add_arg_scope
def bias_add(inputs: Any, activation_fn: Any = None, initializer: Any = ZEROS, regularizer: Any = None,
             reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
             trainable: bool = True, data_format: str = "NHWC", scope: Any = None) -> Tensor:
    """activation_fn(inputs + biases), one for each channel."""
    channels_first(data_format)
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        biases = _biases(inputs, data_format, initializer, regularizer, variables_collections, trainable)
        return finished(with_bias(inputs, biases, data_format=data_format), activation_fn, outputs_collections, sc.name)
