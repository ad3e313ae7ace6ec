"""Elementwise arithmetic, with broadcasting."""

import numpy as np

from ..define import op
from ..dtypes import FLOATS, COMPLEX, NUMBERS
from ..graph import Tensor
from ..infer import broadcast_shape, same_shape
from ..op import build
from ..shapes import is_known


def unbroadcast(dy: Tensor, x: Tensor) -> Tensor:
    """`dy` summed over the axes that broadcasting added to `x`, or stretched."""
    if is_known(x.dims) and x.dims == dy.dims:
        return dy
    return build.SumTo(dy, list(x.dims) if is_known(x.dims) else build.Shape(x))


def conjugate(x: Tensor) -> Tensor:
    """The complex conjugate; a real tensor as it is."""
    return build.Conj(x) if x.dtype.is_complex else x


@op("Add", infer=broadcast_shape, elementwise=True, dtypes=NUMBERS)
def add(x, y, *, out=None):
    """x + y, broadcast. x, y: number[...] -> number[...]."""
    return np.add(x, y, out=out)


@add.gradient
def _(node, dy):
    x, y = node.inputs
    return unbroadcast(dy, x), unbroadcast(dy, y)


@op("Mul", infer=broadcast_shape, elementwise=True, dtypes=NUMBERS)
def mul(x, y, *, out=None):
    """x * y, broadcast. x, y: number[...] -> number[...]."""
    return np.multiply(x, y, out=out)


@mul.gradient
def _(node, dy):
    x, y = node.inputs
    return unbroadcast(dy * conjugate(y), x), unbroadcast(dy * conjugate(x), y)


@op("Conj", infer=same_shape, elementwise=True)
def conj(input):
    """The complex conjugate; a real input as it is. input: number[...] -> number[...]."""
    return np.conj(input)


@op("Tanh", infer=same_shape, elementwise=True, dtypes=FLOATS + COMPLEX)
def tanh(x, *, out=None):
    """Hyperbolic tangent, element by element. x: float[...] -> float[...]."""
    return np.tanh(x, out=out)


@tanh.gradient
def _(node, dy):
    y = node.outputs[0]
    return (dy * (1.0 - y * y),)
