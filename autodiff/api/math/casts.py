"""Conversion of elements to another type; parts of complex numbers."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import DType, as_dtype, complex64, complex128, float32, float64, int32, int64
from ...core.errors import DTypeError
from ...core.graph import Tensor, graph_of
from ...core.indexed_slices import IndexedSlices
from ...core.op import build
from ...core.sparse_tensor import SparseTensor
from .elementwise import as_operand

__all__ = ["angle", "cast", "complex", "conj", "imag", "real", "saturate_cast", "to_complex128", "to_complex64",
           "to_double", "to_float", "to_int32", "to_int64"]


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """`x` as another element type; as it is if it has it. Floats lose their fraction.

    x: a tensor, Variable, IndexedSlices, SparseTensor or value. No gradient passes to or from integers.
    """
    base = as_dtype(dtype).base_dtype
    if (isinstance(x, (Tensor, SparseTensor)) or getattr(x, "is_resource", False)) and x.dtype is base:
        return x  # of a resource variable the variable, which is read where it is used
    if isinstance(x, SparseTensor):
        return x.with_values(cast(x.values, base, name))
    with graph_of([x]).name_scope(name or "Cast") as scope:
        if isinstance(x, IndexedSlices):
            return IndexedSlices(build.Cast(x.values, dtype=base, name=scope), x.indices, x.dense_shape)
        x = as_operand(x)
        return x if x.dtype.base_dtype is base else build.Cast(x, dtype=base, name=scope)


def in_dtype(values: Any, dtype: DType = float32) -> Tensor:
    """Values as a tensor of an element type; unlike `cast` in no scope of its own."""
    tensor, base = convert_to_tensor(values), dtype.base_dtype
    return tensor if tensor.dtype.base_dtype is base else build.Cast(tensor, dtype=base)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`value` as another element type; what does not fit becomes the nearest that does. value: real[...]."""
    with graph_of([value]).name_scope(name or "saturate_cast") as scope:
        value, target = as_operand(value, "value"), as_dtype(dtype)
        own: Any = value.dtype.base_dtype
        if own.min < target.min:
            value = build.Maximum(value, np.array(target.min, own.as_numpy_dtype))
        if own.max > target.max:
            value = build.Minimum(value, np.array(target.max, own.as_numpy_dtype))
        return cast(value, target, scope)


def _caster(target: Any, scope: str) -> Callable[..., Tensor]:
    def function(x: Any, name: str | None = None) -> Tensor:
        return cast(x, target, name or scope)

    function.__doc__ = f"`x` cast to {target.name}."
    return function


to_float, to_double = _caster(float32, "ToFloat"), _caster(float64, "ToDouble")
to_int32, to_int64 = _caster(int32, "ToInt32"), _caster(int64, "ToInt64")
to_complex64, to_complex128 = _caster(complex64, "ToComplex64"), _caster(complex128, "ToComplex128")


def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """real + i imag, broadcast. real, imag: float[...] -> complex[...]."""
    with graph_of([real, imag]).name_scope(name or "Complex") as scope:
        return build.Complex(as_operand(real, "real"), imag, name=scope)


def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate; a real tensor as it is. x: number[...] -> number[...]."""
    x = as_operand(x)
    if x.dtype.kind in "bO":
        raise DTypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")
    return build.Conj(x, name=name) if x.dtype.is_complex else x


def real(input: Any, name: str | None = None) -> Tensor:
    """The real part; a real tensor as it is. input: number[...] -> real[...]."""
    with graph_of([input]).name_scope(name or "Real") as scope:
        input = as_operand(input, "input")
        return build.Real(input, name=scope) if input.dtype.is_complex else input


def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part; zeros of a real tensor. input: number[...] -> real[...]."""
    with graph_of([input]).name_scope(name or "Imag") as scope:
        input = as_operand(input, "input")
        return (build.Imag if input.dtype.is_complex else build.ZerosLike)(input, name=scope)


def angle(input: Any, name: str | None = None) -> Tensor:
    """The argument of a complex number in radians; zeros of a real tensor. input: number[...] -> real[...]."""
    with graph_of([input]).name_scope(name or "Angle") as scope:
        input = as_operand(input, "input")
        return (build.Angle if input.dtype.is_complex else build.ZerosLike)(input, name=scope)
