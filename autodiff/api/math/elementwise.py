"""Arithmetic, comparison and logic of tensors, element by element."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.convert import as_array, to_tensor
from ...core.dtypes import as_dtype
from ...core.errors import ArgumentError
from ...core.graph import Tensor, graph_of
from ...core.indexed_slices import IndexedSlices
from ...core.op import NO_ATTRIBUTES, OPS, build
from ...core.shapes import show
from ...core.sparse_tensor import SparseTensor

__all__ = ["abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0e", "bessel_i1e",
           "ceil", "cos", "cosh", "digamma", "div", "div_no_nan", "divide", "divide_no_nan", "equal", "erf", "erfc",
           "exp", "expm1", "floor", "floor_div", "floordiv", "floormod", "greater", "greater_equal", "is_finite",
           "is_inf", "is_nan", "less", "less_equal", "lgamma", "log", "log1p", "log_sigmoid", "logical_and",
           "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "mod", "multiply", "multiply_no_nan",
           "negative", "nextafter", "not_equal", "pow", "realdiv", "reciprocal", "reciprocal_no_nan", "rint", "round",
           "rsqrt", "scalar_mul", "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "squared_difference", "subtract",
           "tan", "tanh", "truediv", "truncatediv", "truncatemod", "xdivy", "xlogy"]


_OF_ENTRIES = frozenset(("Erf", "Neg", "Sign", "Sqrt", "Square", "Tanh"))  # what TensorFlow takes sparse tensors for


def _unary(op: str) -> Callable[..., Any]:
    definition = OPS[op]

    def function(x: Any, name: str | None = None) -> Any:
        if isinstance(x, SparseTensor) and op in _OF_ENTRIES:
            return x.with_values(definition(x.values, name=name))
        return definition.build(definition, (x,), NO_ATTRIBUTES, name)

    return _named(function, op)


def _binary(op: str, scope: str | None = None) -> Callable[..., Tensor]:
    """scope: the default name where it is not the op's."""
    definition = OPS[op]

    def function(x: Any, y: Any, name: str | None = None) -> Tensor:
        return definition.build(definition, (x, y), NO_ATTRIBUTES, name or scope)

    return _named(function, op)


def _named(function: Callable[..., Tensor], op: str) -> Callable[..., Tensor]:
    function.__name__ = function.__qualname__ = OPS[op].kernel.__name__
    function.__doc__ = OPS[op].doc
    return function


# arithmetic
add, subtract, multiply = map(_binary, ("Add", "Sub", "Mul"))
truediv = _binary("RealDiv", "truediv")
div_no_nan, multiply_no_nan = _binary("DivNoNan", "div_no_nan"), _binary("MulNoNan", "multiply_no_nan")
divide_no_nan = div_no_nan


def realdiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, broadcast; of integers an integer, rounded toward 0 as in TensorFlow: tf.truediv casts. -> number[...]."""
    given = next((v.dtype for v in (y, x) if hasattr(v, "dtype")), None) or as_array(x).dtype
    return (build.TruncateDiv if as_dtype(given).is_integer else build.RealDiv)(x, y, name=name)


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
nextafter = _binary("NextAfter")

# exponentials and their kin
exp, expm1, log, log1p, tanh, sigmoid = map(_unary, ("Exp", "Expm1", "Log", "Log1p", "Tanh", "Sigmoid"))
erf, erfc, lgamma, digamma = map(_unary, ("Erf", "Erfc", "Lgamma", "Digamma"))
bessel_i0e, bessel_i1e = map(_unary, ("BesselI0e", "BesselI1e"))


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


def as_operand(x: Any, name: str = "x") -> Tensor:
    """`x` as a tensor of its own graph. name: of the constant that a Python value becomes."""
    return x if isinstance(x, Tensor) else to_tensor(graph_of([x]), x, None, name)


def abs(x: Any, name: str | None = None) -> Any:
    """The absolute value; the modulus of complex numbers. x: number[...] -> real[...]. Sparse tensors stay sparse."""
    if isinstance(x, SparseTensor):
        return x.with_values(abs(x.values, name))
    with graph_of([x]).name_scope(name or "Abs") as scope:
        x = as_operand(x)
        return (build.ComplexAbs if x.dtype.is_complex else build.Abs)(x, name=scope)


def round(x: Any, name: str | None = None) -> Tensor:
    """The nearest whole number, the even one of two; integers as they are. x: real[...] -> real[...]."""
    x = as_operand(x)
    return x if x.dtype.is_integer else build.Round(x, name=name)


def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python 2 has it: floats divide, integers are floored. x, y: number[...] -> number[...]."""
    with graph_of([x, y]).name_scope(name or "div") as scope:
        x = as_operand(x)
        y = as_operand(y, "y") if hasattr(y, "as_tensor") else to_tensor(graph_of([x]), y, x.dtype.base_dtype, "y")
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
        return build.Neg(build.Softplus(-as_operand(x)), name=scope)
