"""Element types: casts, and complex numbers and their parts."""

import numpy as np

from ...core.declare import op
from ...core.dtypes import COMPLEX, FLOATS, NUMBERS, as_dtype, bool_, complex64, complex128, string
from ...core.errors import UnimplementedError
from ...core.infer import broadcast_shape, same_shape
from ...core.op import Spec, blocked, build
from ...core.shapes import broadcast
from .elementwise import conjugate, unbroadcast

_COMPLEX_OF = {"float32": complex64, "float64": complex128}


@op("Cast", infer=lambda x, *, dtype: Spec(as_dtype(dtype).base_dtype, x.dims), elementwise=True,
    dtypes=NUMBERS + (bool_,))
def cast(x, *, dtype):
    """x as another element type: floats lose their fraction, complex numbers their imaginary part. x: number[...]."""
    target = as_dtype(dtype)
    if target is string:
        raise UnimplementedError(f"Cast {as_dtype(x.dtype).name} to string is not supported")
    if x.dtype.kind == "c" and target.kind != "c":
        x = x.real
    return x.astype(target.as_numpy_dtype)


@cast.gradient
def _(node, dy):
    x, y = node.inputs[0].dtype.base_dtype, node.outputs[0].dtype.base_dtype
    if not (x.is_differentiable and y.is_differentiable):
        return blocked(f"no gradient passes a cast from {x.name} to {y.name}"),
    return (build.Cast(dy, dtype=x),)


@op("Conj", infer=same_shape, elementwise=True)
def conj(input):
    """The complex conjugate; a real input as it is. input: number[...] -> number[...]."""
    return np.conj(input) if input.dtype.kind == "c" else input


conj.gradient(lambda node, dy: (conjugate(dy),))


def _part(input):
    return Spec(input.dtype.real_dtype, input.dims)


@op("Real", infer=_part, elementwise=True, dtypes=COMPLEX)
def real(input):
    """The real part. input: complex[...] -> float[...]."""
    return input.real


real.gradient(lambda node, dy: (build.Complex(dy, build.ZerosLike(dy)),))


@op("Imag", infer=_part, elementwise=True, dtypes=COMPLEX)
def imag(input):
    """The imaginary part. input: complex[...] -> float[...]."""
    return input.imag


imag.gradient(lambda node, dy: (build.Complex(build.ZerosLike(dy), dy),))


def _complex_shape(real, imag):
    spec = broadcast_shape(real, imag)
    return Spec(_COMPLEX_OF[spec.dtype.name], spec.dims)


@op("Complex", infer=_complex_shape, elementwise=True, dtypes=FLOATS[1:])
def complex_of(real, imag):
    """real + i imag, broadcast. real, imag: float[...] -> complex[...]."""
    z = np.empty(broadcast(real.shape, imag.shape), np.complex64 if real.dtype == np.float32 else np.complex128)
    z.real, z.imag = real, imag
    return z


@complex_of.gradient
def _(node, dz):
    x, y = node.inputs
    return unbroadcast(build.Real(dz), x), unbroadcast(build.Imag(dz), y)


@op("ComplexAbs", infer=_part, elementwise=True, dtypes=COMPLEX)
def complex_abs(x, *, out=None):
    """The modulus; its slope at 0 is taken as 0. x: complex[...] -> float[...]."""
    return np.abs(x, out=out)


@complex_abs.gradient
def _(node, dy):
    x, y = node.inputs[0], node.outputs[0]
    zeros = build.ZerosLike(dy)
    return (build.DivNoNan(build.Complex(dy, zeros), build.Complex(y, zeros)) * x,)


@op("Angle", infer=_part, elementwise=True, dtypes=COMPLEX)
def angle(input):
    """The argument in radians, -pi to pi. input: complex[...] -> float[...]."""
    return np.arctan2(input.imag, input.real)


@angle.gradient
def _(node, dy):
    z, = node.inputs
    turned = build.Complex(build.Imag(z), build.Real(z))
    return (-build.Complex(dy, build.ZerosLike(dy)) * build.Reciprocal(turned),)
