"""Activation functions and their gradient ops, element by element.

Each gradient op takes dy and the forward input or output, broadcast, so that it vectorizes like any other.
"""

import numpy as np

from ...core.declare import op
from ...core.dtypes import FLOATS, REALS
from ...core.infer import broadcast_shape, same_shape
from ...core.op import OPS, build

_SELU_SCALE = 1.0507009873554805  # Klambauer et al. (2017), Self-normalizing neural networks, equation 14
_SELU_SCALE_ALPHA = 1.7580993408473768


@op("Relu", infer=same_shape, elementwise=True, dtypes=REALS)
def relu(features, *, out=None):
    """max(x, 0). features: real[...] -> real[...]."""
    return np.maximum(features, features.dtype.type(0), out=out)


@op("ReluGrad", infer=broadcast_shape, elementwise=True, dtypes=REALS)
def relu_grad(gradients, features, *, out=None):
    """dy where x > 0, else 0. gradients, features: real[...] -> real[...]."""
    return np.multiply(gradients, features > 0, out=out)


relu.gradient(lambda node, dy: (build.ReluGrad(dy, node.outputs[0]),))


@op("Swish", infer=same_shape, elementwise=True, dtypes=FLOATS)
def swish(features, *, out=None):
    """x / (1 + e^-x). features: float[...] -> float[...]. Source: Ramachandran et al. (2017), arXiv:1710.05941."""
    return np.multiply(features, np.divide(1, 1 + np.exp(-features)), out=out)


@swish.gradient
def _(node, dy):
    x = node.inputs[0]
    slope = build.Sigmoid(x)  # of x alone, and multiplied last, as in TensorFlow: large parts would cancel to nan
    return (dy * (slope * (1 + x * (1 - slope))),)


@op("Relu6", infer=same_shape, elementwise=True, dtypes=REALS)
def relu6(features, *, out=None):
    """min(max(x, 0), 6). features: real[...] -> real[...]."""
    number = features.dtype.type
    return np.minimum(np.maximum(features, number(0), out=out), number(6), out=out)


@op("Relu6Grad", infer=broadcast_shape, elementwise=True, dtypes=REALS)
def relu6_grad(gradients, features, *, out=None):
    """dy where 0 < x < 6, else 0. gradients, features: real[...] -> real[...]."""
    return np.multiply(gradients, (features > 0) & (features < 6), out=out)


relu6.gradient(lambda node, dy: (build.Relu6Grad(dy, node.outputs[0]),))


def _slope(x, alpha):
    """alpha to the precision of float32, in which TensorFlow holds this attribute for any dtype."""
    return x.dtype.type(np.float32(alpha))


@op("LeakyRelu", infer=same_shape, elementwise=True, dtypes=FLOATS)
def leaky_relu(features, *, alpha=0.2):
    """x where x > 0, else alpha * x. features: float[...] -> float[...]."""
    slope = _slope(features, alpha)
    if 0 < slope <= 1:
        return np.maximum(features, features * slope)  # the same bits, without branches
    return np.where(features > 0, features, features * slope)


@op("LeakyReluGrad", infer=broadcast_shape, elementwise=True, dtypes=FLOATS)
def leaky_relu_grad(gradients, features, *, alpha=0.2):
    """dy where x > 0, else alpha * dy. gradients, features: float[...] -> float[...]."""
    slope = _slope(gradients, alpha)
    if 0 < slope <= 1:
        return gradients * np.maximum(features > 0, slope)  # the same bits, without branches
    return np.where(features > 0, gradients, gradients * slope)


leaky_relu.gradient(lambda node, dy: (build.LeakyReluGrad(dy, node.inputs[0], alpha=node.attrs["alpha"]),))


@relu_grad.gradient
@relu6_grad.gradient
@leaky_relu_grad.gradient
def _of_pieces(node, dz):
    """It is linear in dy; x only chooses."""
    x = node.inputs[1]
    return OPS[node.type](dz, x, **node.attrs), build.ZerosLike(x)


@op("Elu", infer=same_shape, elementwise=True, dtypes=FLOATS)
def elu(features):
    """x where x >= 0, else exp(x) - 1. features: float[...] -> float[...]."""
    return np.where(features < 0, np.expm1(features), features)


@op("EluGrad", infer=broadcast_shape, elementwise=True, dtypes=FLOATS)
def elu_grad(gradients, outputs):
    """dy * (y + 1) where y < 0, else dy. gradients, outputs: float[...] -> float[...]."""
    return np.where(outputs < 0, gradients * (outputs + outputs.dtype.type(1)), gradients)


elu.gradient(lambda node, dy: (build.EluGrad(dy, node.outputs[0]),))


@op("Selu", infer=same_shape, elementwise=True, dtypes=FLOATS)
def selu(features):
    """scale * x where x >= 0, else scale * alpha * (exp(x) - 1). features: float[...] -> float[...]."""
    number = features.dtype.type
    return np.where(features < 0, number(_SELU_SCALE_ALPHA) * np.expm1(features), number(_SELU_SCALE) * features)


@op("SeluGrad", infer=broadcast_shape, elementwise=True, dtypes=FLOATS)
def selu_grad(gradients, outputs):
    """dy * (y + scale * alpha) where y < 0, else dy * scale. gradients, outputs: float[...] -> float[...]."""
    number = outputs.dtype.type
    return gradients * np.where(outputs < 0, outputs + number(_SELU_SCALE_ALPHA), number(_SELU_SCALE))


selu.gradient(lambda node, dy: (build.SeluGrad(dy, node.outputs[0]),))


@elu_grad.gradient
@selu_grad.gradient
def _of_outputs(node, dz):
    dy, y = node.inputs
    return OPS[node.type](dz, y), build.ReluGrad(dz * dy, -y)  # d/dy only where y < 0


@op("Softplus", infer=same_shape, elementwise=True, dtypes=FLOATS)
def softplus(features, *, out=None):
    """log(1 + exp(x)), without overflow. features: float[...] -> float[...]."""
    return np.logaddexp(features, features.dtype.type(0), out=out)


@op("SoftplusGrad", infer=broadcast_shape, elementwise=True, dtypes=FLOATS)
def softplus_grad(gradients, features):
    """dy / (1 + exp(-x)). gradients, features: float[...] -> float[...]."""
    return gradients / (np.exp(-features) + features.dtype.type(1))


softplus.gradient(lambda node, dy: (build.SoftplusGrad(dy, node.inputs[0]),))


@softplus_grad.gradient
def _(node, dz):
    dy, x = node.inputs
    return build.SoftplusGrad(dz, x), dz * dy / (build.Exp(-x) + 2.0 + build.Exp(x))


@op("Softsign", infer=same_shape, elementwise=True, dtypes=FLOATS)
def softsign(features):
    """x / (1 + |x|). features: float[...] -> float[...]."""
    return features / (features.dtype.type(1) + np.abs(features))


@op("SoftsignGrad", infer=broadcast_shape, elementwise=True, dtypes=FLOATS)
def softsign_grad(gradients, features):
    """dy / (1 + |x|)^2. gradients, features: float[...] -> float[...]."""
    return gradients / np.square(features.dtype.type(1) + np.abs(features))


softsign.gradient(lambda node, dy: (build.SoftsignGrad(dy, node.inputs[0]),))


@softsign_grad.gradient
def _(node, dz):
    dy, x = node.inputs
    return build.SoftsignGrad(dz, x), -2.0 * dz * dy * build.Sign(x) / build.Pow(1.0 + build.Abs(x), 3.0)
