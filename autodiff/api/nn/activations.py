"""Activation functions and softmax: TensorFlow's tf.nn functions."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32
from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import OPS, build
from ..common.made import named

__all__ = ["bias_add", "crelu", "elu", "leaky_relu", "relu", "relu6", "relu_layer", "selu", "swish", "xw_plus_b"]


def _activation(op: str, words: str) -> Callable[..., Tensor]:
    def activation(features: Any, name: str | None = None) -> Tensor:
        return OPS[op](features, name=name)

    return named(activation, op.lower(), words)


relu = _activation("Relu", "max(x, 0); its derivative at 0 is 0. features: real[...] -> real[...].")
relu6 = _activation("Relu6", "min(max(x, 0), 6); its derivative at 0 and 6 is 0. features: real[...] -> real[...].")
elu = _activation("Elu", "x where x >= 0, else exp(x) - 1. features: float[...] -> float[...].")
selu = _activation("Selu", "The self-normalizing elu. features: float[...] -> float[...].")


def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Tensor:
    """x where x > 0, else alpha * x. features: real[...], integers become float32. alpha: a number, not a tensor."""
    with scope(name, "LeakyRelu", [features]) as full:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = build.Cast(features, dtype=float32)
        return build.LeakyRelu(features, alpha=float(alpha), name=full)


def crelu(features: Any, name: str | None = None, axis: int = -1) -> Tensor:
    """relu of x and of -x, joined along `axis`. Source: Shang et al. (2016), Concatenated rectified linear units."""
    with scope(name, "CRelu", [features]) as full:
        features = convert_to_tensor(features, name="features")
        return build.Relu(build.ConcatV2(axis, features, -features, name=full))


def swish(features: Any, name: str | None = None) -> Tensor:
    """x * sigmoid(x). Source: Ramachandran et al. (2017), Searching for activation functions."""
    return build.Swish(convert_to_tensor(features, name="features"), name=name or "swish")


def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Tensor:
    """One number added to each channel. value: number[..., c], or [n, c, ...] for "NC..."; bias: number[c].

    Raises ArgumentError (ValueError) for any other data_format.
    """
    with scope(name, "BiasAdd", [value, bias]) as full:
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype, name="bias")
        return build.BiasAdd(value, bias, data_format=_layout(data_format), name=full)


def _layout(data_format: str | None) -> str:
    if data_format is None or data_format.startswith("N") and data_format.endswith("C"):
        return "NHWC"
    if data_format.startswith("NC"):
        return "NCHW"
    raise ArgumentError(expected="a data_format of the form 'N...C' or 'NC...'", found=repr(data_format))


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """x @ weights + biases. x: float[n, k], weights: float[k, m], biases: float[m] -> float[n, m]."""
    with scope(name, "xw_plus_b", [x, weights, biases]) as full:
        x = convert_to_tensor(x, name="x")
        product = build.MatMul(x, convert_to_tensor(weights, name="weights"))
        return bias_add(product, convert_to_tensor(biases, name="biases"), name=full)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """relu(x @ weights + biases). x: float[n, k], weights: float[k, m], biases: float[m] -> float[n, m]."""
    with scope(name, "relu_layer", [x, weights, biases]) as full:
        x = convert_to_tensor(x, name="x")
        product = build.MatMul(x, convert_to_tensor(weights, name="weights"))
        return build.Relu(bias_add(product, convert_to_tensor(biases, name="biases")), name=full)
