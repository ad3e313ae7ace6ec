"""Functions of numbers, element by element: `tf.math`, and their names at the root."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.convert import to_tensor
from ...core.dtypes import as_dtype, complex64, complex128, float32, float64, int32, int64
from ...core.errors import ArgumentError
from ...core.graph import Tensor, graph_of
from ...core.indexed_slices import IndexedSlices
from ...core.op import OPS, build
from ...core.shapes import merge, show
from ...core.sparse_tensor import SparseTensor
from ..arrays.gathering import invert_permutation  # noqa: F401  tf.math.invert_permutation
from ..arrays.sorting import in_top_k, top_k  # noqa: F401  tf.math.top_k
from ..common.unsupported import refusing
from . import reductions
from .histograms import confusion_matrix  # noqa: F401  tf.math.confusion_matrix
from .norms import l2_normalize  # noqa: F401  tf.math.l2_normalize
from .reductions import *  # noqa: F403
from .softmax import log_softmax, softmax, softplus, softsign, zero_fraction  # noqa: F401  tf.math.softmax

__all__ = ["abs", "acos", "acosh", "add", "angle", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0",
           "bessel_i0e", "bessel_i1", "bessel_i1e", "betainc", "cast", "ceil", "clip_by_value", "complex", "conj",
           "cos", "cosh", "cross", "digamma", "div", "div_no_nan", "divide", "equal", "erf", "erfc", "exp", "expm1",
           "floor", "floor_div", "floordiv", "floormod", "greater", "greater_equal", "igamma", "igammac", "imag",
           "is_finite", "is_inf", "is_nan",
           "is_non_decreasing", "is_numeric_tensor", "is_strictly_increasing", "lbeta", "less", "less_equal",
           "lgamma", "log", "log1p", "log_sigmoid", "logical_and", "logical_not", "logical_or", "logical_xor",
           "maximum", "minimum", "mod", "multiply", "multiply_no_nan", "negative", "not_equal", "polygamma",
           "polyval", "pow", "real", "realdiv", "reciprocal", "rint", "round", "rsqrt", "saturate_cast", "scalar_mul",
           "sigmoid", "sign", "sin", "sinh", "softplus", "softsign", "sqrt", "square", "squared_difference",
           "subtract", "tan", "tanh", "to_complex128", "to_complex64", "to_double", "to_float", "to_int32",
           "to_int64", "truediv", "truncatediv", "truncatemod", "where", "where_v2", "xdivy", "xlogy",
           "zeta"] + reductions.__all__


# ---- an op, as a function of tensors and a name --------------------------------------------

_OF_ENTRIES = frozenset(("Erf", "Neg", "Sign", "Sqrt", "Square", "Tanh"))  # what TensorFlow takes sparse tensors for


def _unary(op: str) -> Callable[..., Any]:
    definition = OPS[op]

    def function(x: Any, name: str | None = None) -> Any:
        if isinstance(x, SparseTensor) and op in _OF_ENTRIES:
            return x.with_values(definition(x.values, name=name))
        return definition(x, name=name)

    return _named(function, op)


def _binary(op: str, scope: str | None = None) -> Callable[..., Tensor]:
    """scope: the default name where it is not the op's."""
    definition = OPS[op]

    def function(x: Any, y: Any, name: str | None = None) -> Tensor:
        return definition(x, y, name=name or scope)

    return _named(function, op)


def _named(function: Callable[..., Tensor], op: str) -> Callable[..., Tensor]:
    function.__name__ = function.__qualname__ = OPS[op].kernel.__name__
    function.__doc__ = OPS[op].doc
    return function


# arithmetic
add, subtract, multiply = map(_binary, ("Add", "Sub", "Mul"))
realdiv, truediv = _binary("RealDiv"), _binary("RealDiv", "truediv")
div_no_nan, multiply_no_nan = _binary("DivNoNan", "div_no_nan"), _binary("MulNoNan", "multiply_no_nan")
divide_no_nan = div_no_nan


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y as Python has it: two numbers give a number, tensors a tensor as truediv does."""
    return x / y if name is None else truediv(x, y, name)


def reciprocal_no_nan(x: Any, name: str | None = None) -> Tensor:
    """1 / x, and 0 where x is 0."""
    graph = graph_of([x])
    x = to_tensor(graph, x, None, "x")
    return build.DivNoNan(to_tensor(graph, 1, x.dtype.base_dtype, "one"), x, name=name or "reciprocal_no_nan")
floordiv, floor_div = _binary("FloorDiv", "floordiv"), _binary("FloorDiv")
mod = floormod = _binary("FloorMod")
truncatediv, truncatemod = map(_binary, ("TruncateDiv", "TruncateMod"))
pow, squared_difference, maximum, minimum = map(_binary, ("Pow", "SquaredDifference", "Maximum", "Minimum"))
xlogy, xdivy = _binary("Xlogy"), _binary("Xdivy")
negative, sign, square, sqrt, rsqrt = map(_unary, ("Neg", "Sign", "Square", "Sqrt", "Rsqrt"))
reciprocal = _unary("Reciprocal")

# exponentials and their kin
exp, expm1, log, log1p, tanh, sigmoid = map(_unary, ("Exp", "Expm1", "Log", "Log1p", "Tanh", "Sigmoid"))
erf, erfc, lgamma, digamma = map(_unary, ("Erf", "Erfc", "Lgamma", "Digamma"))
bessel_i0e, bessel_i1e = map(_unary, ("BesselI0e", "BesselI1e"))


def zeta(x: Any, q: Any, name: str | None = None) -> Tensor:
    """Hurwitz's zeta: the sum of (q + k)^-x over k >= 0, for x > 1. x, q: float[...] -> float[...]."""
    return build.Zeta(x, q, name=name)


# trigonometry
sin, cos, tan, asin, acos, atan = map(_unary, ("Sin", "Cos", "Tan", "Asin", "Acos", "Atan"))
sinh, cosh, asinh, acosh, atanh = map(_unary, ("Sinh", "Cosh", "Asinh", "Acosh", "Atanh"))

# rounding and tests
floor, ceil, rint, is_nan, is_inf, is_finite = map(_unary, ("Floor", "Ceil", "Rint", "IsNan", "IsInf", "IsFinite"))

# comparison and logic
equal, not_equal, less, less_equal = map(_binary, ("Equal", "NotEqual", "Less", "LessEqual"))
greater, greater_equal = map(_binary, ("Greater", "GreaterEqual"))
logical_and, logical_or = map(_binary, ("LogicalAnd", "LogicalOr"))
logical_xor = _binary("LogicalXor")
logical_not = _unary("LogicalNot")


def atan2(y: Any, x: Any, name: str | None = None) -> Tensor:
    """The angle in radians of the point (x, y), -pi to pi, broadcast. y, x: float[...] -> float[...]."""
    return build.Atan2(y, x, name=name)


def polygamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The a-th derivative of digamma, a = 0, 1, 2, … a, x: float[...] -> float[...]."""
    return build.Polygamma(a, x, name=name)


def igamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The lower incomplete gamma function over gamma(a). a > 0, x >= 0, broadcast: float[...] -> 0 to 1, else nan."""
    return build.Igamma(a, x, name=name)


def igammac(a: Any, x: Any, name: str | None = None) -> Tensor:
    """1 - igamma(a, x), exact where it is tiny. a > 0, x >= 0, broadcast: float[...] -> 0 to 1, else nan."""
    return build.Igammac(a, x, name=name)


def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """The incomplete beta function over beta(a, b). a, b > 0, 0 <= x <= 1: float[...] of one shape or scalars."""
    return build.Betainc(a, b, x, name=name)


def _tensor(x: Any, name: str = "x") -> Tensor:
    return x if isinstance(x, Tensor) else to_tensor(graph_of([x]), x, None, name)


def abs(x: Any, name: str | None = None) -> Any:
    """The absolute value; the modulus of complex numbers. x: number[...] -> real[...]. Sparse tensors stay sparse."""
    if isinstance(x, SparseTensor):
        return x.with_values(abs(x.values, name))
    with graph_of([x]).name_scope(name or "Abs") as scope:
        x = _tensor(x)
        return (build.ComplexAbs if x.dtype.is_complex else build.Abs)(x, name=scope)


def round(x: Any, name: str | None = None) -> Tensor:
    """The nearest whole number, the even one of two; integers as they are. x: number[...] -> number[...]."""
    x = _tensor(x)
    return x if x.dtype.is_integer else build.Round(x, name=name)


def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python 2 has it: floats divide, integers are floored. x, y: number[...] -> number[...]."""
    with graph_of([x, y]).name_scope(name or "div") as scope:
        x = _tensor(x)
        y = _tensor(y, "y") if hasattr(y, "as_tensor") else to_tensor(graph_of([x]), y, x.dtype.base_dtype, "y")
        return (build.FloorDiv if x.dtype.is_integer else build.RealDiv)(x, y, name=scope)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A scalar times a tensor or IndexedSlices. Raises ArgumentError (ValueError) if it is no scalar."""
    dtype = x.dtype.base_dtype if hasattr(x, "dtype") else None
    factor = scalar if isinstance(scalar, Tensor) else to_tensor(graph_of([x]), scalar, dtype, "scalar")
    if factor.dims is not None and factor.dims != ():
        raise ArgumentError(f"only scalar multiply works, found shape {show(factor.dims)}")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(build.Mul(factor, x.values, name=name), x.indices, x.dense_shape)
    return build.Mul(factor, x, name=name)


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """log(sigmoid(x)) without overflow. x: float[...] -> float[...]."""
    with graph_of([x]).name_scope(name or "LogSigmoid") as scope:
        return build.Neg(build.Softplus(-_tensor(x)), name=scope)


def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function I_0. x: float[...] -> float[...]."""
    with graph_of([x]).name_scope(name or "bessel_i0"):
        x = _tensor(x)
        return build.Exp(build.Abs(x)) * build.BesselI0e(x)


def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function I_1. x: float[...] -> float[...]."""
    with graph_of([x]).name_scope(name or "bessel_i1"):
        x = _tensor(x)
        return build.Exp(build.Abs(x)) * build.BesselI1e(x)


def lbeta(x: Any, name: str | None = None) -> Tensor:
    """log |beta(x)| over the last axis: the sum of lgamma less lgamma of the sum. x: float[..., k] -> float[...]."""
    with graph_of([x]).name_scope(name or "lbeta"):
        x = _tensor(x)
        return build.Sum(build.Lgamma(x), [-1]) - build.Lgamma(build.Sum(x, [-1]))


def polyval(coeffs: Any, x: Any, name: str | None = None) -> Tensor:
    """The polynomial with these coefficients, highest power first, by Horner's rule. x: number[...]."""
    with graph_of([*coeffs, x]).name_scope(name or "polyval"):
        x = _tensor(x)
        if len(coeffs) < 1:
            return build.ZerosLike(x)
        total = to_tensor(x.graph, coeffs[0], None if isinstance(coeffs[0], Tensor) else x.dtype.base_dtype, "coeff")
        for coefficient in coeffs[1:]:
            total = build.Add(coefficient, build.Mul(total, x))
        return total


def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The cross product of vectors in the last axis. a, b: real[..., 3] -> real[..., 3]."""
    return build.Cross(a, b, name=name)


# ---- choosing and clipping ------------------------------------------------------------------

def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """x where the condition holds, else y; without both, the coordinates of what is true.

    x, y: any[...] of one shape. condition: bool of that shape, bool[n] for rows, or bool[]; it does
    not broadcast. Coordinates are int64[n, rank]. Raises ArgumentError (ValueError) for one of x
    and y alone, ShapeError (a ValueError) for shapes.
    """
    if x is None and y is None:
        return build.Where(condition, name=name)
    if x is None or y is None:
        raise ArgumentError(f"expected both x and y, or neither: found only {'y' if x is None else 'x'}")
    return build.Select(condition, x, y, name=name)


def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """`where`, with condition, x and y broadcast."""
    if x is None or y is None:
        return where(condition, x, y, name)
    return build.SelectV2(condition, x, y, name=name)


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """`t` with values outside of the bounds put on them. The gradient passes at the bounds, not beyond.

    t: real[...] or IndexedSlices. Raises ShapeError (ValueError) if a bound would make `t` larger.
    """
    with graph_of([t, clip_value_min, clip_value_max]).name_scope(name or "clip_by_value") as scope:
        values = t.values if isinstance(t, IndexedSlices) else _tensor(t, "t")
        lowered = build.Minimum(values, clip_value_max)
        merge(values.dims, lowered.dims)
        clipped = build.Maximum(lowered, clip_value_min, name=scope)
        merge(values.dims, clipped.dims)
        return IndexedSlices(clipped, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else clipped


# ---- element types --------------------------------------------------------------------------

def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """`x` as another element type; as it is if it has it. Floats lose their fraction.

    x: a tensor, Variable, IndexedSlices, SparseTensor or value. No gradient passes to or from integers.
    """
    base = as_dtype(dtype).base_dtype
    if isinstance(x, (Tensor, SparseTensor)) and x.dtype is base:
        return x
    if isinstance(x, SparseTensor):
        return x.with_values(cast(x.values, base, name))
    with graph_of([x]).name_scope(name or "Cast") as scope:
        if isinstance(x, IndexedSlices):
            return IndexedSlices(build.Cast(x.values, dtype=base, name=scope), x.indices, x.dense_shape)
        x = _tensor(x)
        return x if x.dtype.base_dtype is base else build.Cast(x, dtype=base, name=scope)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`value` as another element type; what does not fit becomes the nearest that does. value: real[...]."""
    with graph_of([value]).name_scope(name or "saturate_cast") as scope:
        value, target = _tensor(value, "value"), as_dtype(dtype)
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
        return build.Complex(_tensor(real, "real"), imag, name=scope)


def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate; a real tensor as it is. x: number[...] -> number[...]."""
    x = _tensor(x)
    return build.Conj(x, name=name) if x.dtype.is_complex else x


def real(input: Any, name: str | None = None) -> Tensor:
    """The real part; a real tensor as it is. input: number[...] -> real[...]."""
    with graph_of([input]).name_scope(name or "Real") as scope:
        input = _tensor(input, "input")
        return build.Real(input, name=scope) if input.dtype.is_complex else input


def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part; zeros of a real tensor. input: number[...] -> real[...]."""
    with graph_of([input]).name_scope(name or "Imag") as scope:
        input = _tensor(input, "input")
        return (build.Imag if input.dtype.is_complex else build.ZerosLike)(input, name=scope)


def angle(input: Any, name: str | None = None) -> Tensor:
    """The argument of a complex number in radians; zeros of a real tensor. input: number[...] -> real[...]."""
    with graph_of([input]).name_scope(name or "Angle") as scope:
        input = _tensor(input, "input")
        return (build.Angle if input.dtype.is_complex else build.ZerosLike)(input, name=scope)


# ---- order ----------------------------------------------------------------------------------

def is_numeric_tensor(tensor: Any) -> bool:
    """Whether this is a tensor of numbers."""
    return isinstance(tensor, Tensor) and (tensor.dtype.is_differentiable or tensor.dtype.is_integer)


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element, in row order, is at least the one before. x: real[...] -> bool[]."""
    return _in_order(x, name or "is_non_decreasing", build.LessEqual)


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element, in row order, is greater than the one before. x: real[...] -> bool[]."""
    return _in_order(x, name or "is_strictly_increasing", build.Less)


def _in_order(x: Any, name: str, compare: Callable[..., Tensor]) -> Tensor:
    with graph_of([x]).name_scope(name):
        flat = build.Reshape(_tensor(x), [-1])
        return build.All(compare(flat[:-1], flat[1:]), [0])


__getattr__ = refusing("tf.math", __name__)
