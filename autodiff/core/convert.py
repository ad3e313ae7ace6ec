"""Python and NumPy values as arrays and as constant tensors, by TensorFlow's rules."""
from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import DType, as_dtype, is_numpy
from .errors import ArgumentError, AutodiffError, DTypeError, KindError, ShapeError
from .graph import Graph, Operation, Tensor, get_default_graph
from .names import checked_op_name
from .op import OPS, Spec
from .shapes import Dimension, TensorShape, show

# what a NumPy kind found in a Python value may become, by the kind asked for
_ACCEPTS = {"f": "bfiu", "i": "biu", "u": "biu", "b": "b", "c": "bcfiu", "O": "OSU"}


def as_array(value: Any, dtype: DType | None = None) -> np.ndarray:
    """`value` as an array of `dtype`, or of the dtype TensorFlow infers.

    Python floats become float32, ints int32 (int64 if they do not fit); NumPy values keep their
    dtype, and are cast when `dtype` says so. Raises DTypeError (TypeError) when a Python value is
    not of the dtype's kind, ArgumentError (ValueError) for None and for ragged lists. Integers beyond the dtype's
    range wrap, as in TensorFlow: -1 as uint8 is 255.
    """
    if value is None:
        raise ArgumentError("None values not supported.", expected="a value that can become a tensor", found="None")
    if is_numpy(value):
        return _as_strings(np.asarray(value)) if np.asarray(value).dtype.kind in "SUO" else _cast(value, dtype)
    if isinstance(value, (TensorShape, Dimension)):
        if isinstance(value, TensorShape) and dtype is not None and not dtype.is_integer:
            raise DTypeError("Cannot convert a TensorShape", expected=dtype.name, found=value)
        value = _static_sizes(value)
    try:
        array = np.array(getattr(value, "__array__", lambda: value)())  # whichever arguments that takes
    except AutodiffError:
        raise
    except UnicodeDecodeError:  # of bytes beside text
        array = np.array(value, object)
    except ValueError as error:
        raise _ragged(value, dtype) from error
    except OverflowError as error:
        raise ArgumentError(expected="a number of at most 64 bits", found=shortened(value)) from error
    if array.dtype.kind in "OSU":
        array = _objects(value, array)
    return _typed(value, array, dtype)


def _cast(value: Any, dtype: DType | None) -> np.ndarray:
    array = np.asarray(value)
    if dtype is None:
        as_dtype(array.dtype)
        return array
    if dtype.kind == "O":
        raise DTypeError(expected=dtype.name, found=f"an array of {array.dtype}")
    return array.astype(dtype.as_numpy_dtype, copy=False)


def _typed(value: Any, array: np.ndarray, dtype: DType | None) -> np.ndarray:
    if dtype is None:
        if array.dtype == np.float64:
            return array.astype(np.float32)
        if array.dtype == np.int64:
            small = array.astype(np.int32)
            return small if np.array_equal(small, array) else array
        as_dtype(array.dtype)
        return array
    if array.size and array.dtype.kind not in _ACCEPTS.get(dtype.kind, ""):
        unfit = _first_unfit(value, _ACCEPTS.get(dtype.kind, ""))
        raise DTypeError(f"Expected {dtype.name}, got {shortened(unfit)} of type {type(unfit).__name__!r} instead.")
    if array.dtype == np.uint64 and dtype.is_integer and dtype.as_numpy_dtype is not np.uint64:
        raise ArgumentError(expected=f"values that fit in {dtype.name}", found=shortened(value))  # 2**63 or more
    return array.astype(dtype.as_numpy_dtype, copy=False)


def _ragged(value: Any, dtype: DType | None) -> ArgumentError:
    what = "Argument must be a dense tensor: " if dtype is None else ""
    return ArgumentError(f"{what}setting an array element with a sequence: expected rows of equal length",
                         found=shortened(value))


def _objects(value: Any, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind in "SU":
        return _as_strings(array.astype(object) if hasattr(value, "__array__") else np.array(value, dtype=object))
    flat = [v.value if isinstance(v, Dimension) else v for v in array.ravel()]
    if all(isinstance(v, (str, bytes)) for v in flat):
        return _as_strings(array)
    if any(isinstance(v, (list, tuple)) for v in flat):
        raise _ragged(value, None)
    if any(v is None for v in flat):
        raise KindError(expected="a value that can become a tensor", found=f"None in {shortened(value)}")
    try:
        again = np.array(flat)
    except (TypeError, ValueError):
        again = array
    if again.dtype.kind == "O":
        raise KindError(expected="numbers, strings, arrays or tensors",
                        found=f"{shortened(value)} of type {type(next(iter(flat), value)).__name__!r}")
    return again.reshape(array.shape)


def _as_strings(array: np.ndarray) -> np.ndarray:
    flat = [v.encode() if isinstance(v, str) else v for v in array.ravel().tolist()]
    other = next((v for v in flat if not isinstance(v, bytes)), None)
    if other is not None or None in flat:
        raise KindError(f"Type of feed value {shortened(other)} with type {type(other)} is not compatible with Tensor "
                        "type string", expected="strings alone")
    return np.array(flat, object).reshape(array.shape)


def _static_sizes(value: TensorShape | Dimension) -> Any:
    if isinstance(value, Dimension):
        return int(value)
    if not value.is_fully_defined():
        raise ShapeError(expected="a fully known shape to make a tensor of", found=value,
                         hint="use tf.shape(x) for sizes that are known only when it runs")
    sizes = np.array(value.as_list(), dtype=np.int64)
    return sizes.astype(np.int32) if sizes.max(initial=0) < 2 ** 31 else sizes


def _first_unfit(value: Any, kinds: str) -> Any:
    """The first leaf of nested lists whose NumPy kind is none of these; the value itself if it is no list."""
    if not isinstance(value, (list, tuple)):
        return value
    return next(_first_unfit(part, kinds) for part in value if np.asarray(part).dtype.kind not in kinds)


def shortened(value: Any) -> str:
    """A value as a message shows it: at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None,
                      dtype_hint: Any = None) -> Tensor:
    """`value` as a tensor of the default graph; a tensor is returned as it is.

    dtype: what it must be. preferred_dtype, dtype_hint: what it should be if it can. Raises ArgumentError
    (ValueError) for a tensor of another dtype, None or ragged lists; DTypeError (TypeError) otherwise.
    """
    wanted = None if dtype is None else as_dtype(dtype).base_dtype
    preferred_dtype = dtype_hint if preferred_dtype is None else preferred_dtype
    if wanted is None and preferred_dtype is not None:
        try:
            return to_tensor(get_default_graph(), value, as_dtype(preferred_dtype).base_dtype, name or "Const")
        except (TypeError, ValueError):
            wanted = None
    return to_tensor(get_default_graph(), value, wanted, name or "Const")


def to_tensor(graph: Graph, value: Any, dtype: DType | None, name: str) -> Tensor:
    """convert_to_tensor for a known graph and resolved dtype."""
    as_tensor = getattr(value, "as_tensor", None)
    if as_tensor is not None:
        value = as_tensor()
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype.base_dtype is not dtype:
            raise ArgumentError(f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
                                f"{value.dtype.name}: {value!r}")
        return value
    if CONVERSIONS:
        made = _registered(value, dtype, name)
        if made is not None:
            return made
    if isinstance(value, Operation):
        raise KindError(f"Can't convert Operation '{value.name}' to Tensor (target dtype={dtype!r}, name={name!r})",
                        hint="an operation has no value: take one of its outputs")
    if isinstance(value, (list, tuple)) and holds_tensor(value):
        return _pack(graph, value, dtype, name)
    return constant_in(graph, as_array(value, dtype), name)


CONVERSIONS: list[tuple[int, Any, Any]] = []  # (priority, classes, function), of a script's own classes


def register_tensor_conversion_function(base_type: Any, conversion_func: Any, priority: int = 100) -> None:
    """Teach ops a class, or a tuple of classes: conversion_func(value, dtype, name, as_ref) gives the tensor.

    It may give NotImplemented; then the next is asked, by rising priority. Raises KindError (TypeError) for others.
    """
    kinds = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(kind, type) for kind in kinds):
        raise KindError("base_type must be a type or a tuple of types.", found=repr(base_type))
    if not callable(conversion_func):
        raise KindError("conversion_func must be callable.", found=repr(conversion_func))
    CONVERSIONS.append((priority, base_type, conversion_func))
    CONVERSIONS.sort(key=lambda entry: entry[0])


def _registered(value: Any, dtype: DType | None, name: str) -> Tensor | None:
    for _, kinds, function in CONVERSIONS:
        if isinstance(value, kinds):
            made = function(value, dtype=dtype, name=name, as_ref=False)
            if made is not NotImplemented:
                return made
    return None


def constant_in(graph: Graph, array: np.ndarray, name: str) -> Tensor:
    """A Const of `array` in `graph`; the array becomes read-only."""
    name = checked_op_name(name, not graph.scope)
    array = np.array(array)
    array.flags.writeable = False
    spec = Spec(as_dtype(array.dtype), array.shape)
    return graph.add(OPS["Const"], (), {"value": array, "dtype": spec.dtype}, (spec,), name).outputs[0]


def holds_tensor(value: Any) -> bool:
    """Whether a nested list or tuple has a tensor or variable in it."""
    if isinstance(value, (list, tuple)):
        return any(holds_tensor(item) for item in value)
    return isinstance(value, Tensor) or hasattr(value, "as_tensor")


def _first_dtype(value: Any) -> DType | None:
    if isinstance(value, (list, tuple)):
        return next((found for found in map(_first_dtype, value) if found is not None), None)
    return value.dtype.base_dtype if isinstance(value, Tensor) or hasattr(value, "as_tensor") else None


def _pack(graph: Graph, values: Any, dtype: DType | None, name: str, casts: bool | None = None) -> Tensor:
    """casts: whether parts of another type are made into the whole's; None: where that is not the first part's."""
    found = _first_dtype(values)
    casts = dtype is not None and dtype is not found if casts is None else casts
    dtype = dtype or found
    with graph.name_scope("packed" if name == "Const" else name) as scope:
        parts = [_pack(graph, v, dtype, str(i), casts) if isinstance(v, (list, tuple)) and holds_tensor(v)
                 else to_tensor(graph, v, None if holds_tensor(v) else dtype, str(i)) for i, v in enumerate(values)]
        for place, part in enumerate(parts):
            if part.dtype.base_dtype is not dtype:
                if not casts:
                    raise DTypeError(expected=f"parts of dtype {dtype.name}",  # type: ignore[union-attr]
                                     found=part.describe())
                part = parts[place] = OPS["Cast"](part, dtype=dtype, name=f"{place}/Cast")
            if part.dims is not None and parts[0].dims is not None and len(part.dims) != len(parts[0].dims):
                raise ShapeError(expected="parts of equal shape", found=f"{show(parts[0].dims)} and {show(part.dims)}")
        return OPS["Pack"](*parts, axis=0, name=scope)
