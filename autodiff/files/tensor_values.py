"""TensorFlow's element types by number, and arrays out of bytes and TensorProtos and back.

An array of texts has dtype object and holds bytes. One of bfloat16 is float32 here: NumPy has no such type; its name
stands beside it.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import DataLossError, UnimplementedError
from .graph_messages import GRAPH_MESSAGES

TensorProto = GRAPH_MESSAGES["TensorProto"]
TensorShapeProto = GRAPH_MESSAGES["TensorShapeProto"]
DataType = GRAPH_MESSAGES["DataType"]

_NAMES = {"float": "float32", "double": "float64", "half": "float16"}  # where the enum has another word
DTYPE_NUMBERS: dict[str, int] = {_NAMES.get(word, word): number for name, number in DataType.items()
                                 for word in [name.removeprefix("DT_").lower()] if not word.endswith("_ref")}
DTYPE_NAMES = {number: name for name, number in DTYPE_NUMBERS.items()}
_REFERENCE = 100  # what a type's number has more when it is a variable's reference

_QUANTIZED = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32"}
STANDS_FOR = {**_QUANTIZED, "bfloat16": "float32"}  # TensorFlow's type -> the type that stands for it here
_FIELDS = {"float32": "float_val", "float64": "double_val", "string": "string_val", "complex64": "scomplex_val",
           "int64": "int64_val", "bool": "bool_val", "complex128": "dcomplex_val", "float16": "half_val",
           "bfloat16": "half_val", "uint32": "uint32_val", "uint64": "uint64_val"}  # all others: int_val
_LISTED = ("bool", "complex64", "complex128", "float16", "bfloat16", "uint16")
_MOST_BYTES = 1 << 28  # of an array that a few values stand for


def dtype_name(number: int) -> str:
    """The name of an element type, `float32_ref` for a reference. Raises UnimplementedError for an unknown number."""
    if number > _REFERENCE and number - _REFERENCE in DTYPE_NAMES:
        return DTYPE_NAMES[number - _REFERENCE] + "_ref"
    if number not in DTYPE_NAMES:
        raise UnimplementedError(f"unknown element type {number}")
    return DTYPE_NAMES[number]


def dtype_number(name: str) -> int:
    """The number of an element type's name."""
    base = name.removesuffix("_ref")
    return DTYPE_NUMBERS[base] + (_REFERENCE if base != name else 0)


def stored_dtype(name: str) -> np.dtype:
    """How the elements of a type lie in files. Raises UnimplementedError for types without such a form."""
    if name == "bfloat16":
        return np.dtype("<u2")
    try:
        found = np.dtype(_QUANTIZED.get(name, name))
    except TypeError:
        raise UnimplementedError(f"tensors of type {name} are not read") from None
    return found.newbyteorder("<")


def array_of_bytes(name: str, data: Any, shape: Sequence[int], what: str) -> np.ndarray:
    """The array that bytes stand for. Raises DataLossError if there are more or fewer than the shape says."""
    kind = stored_dtype(name)
    if math.prod(shape) * kind.itemsize != len(data):
        raise DataLossError(f"{what}", expected=f"{math.prod(shape)} elements of {name}", found=f"{len(data)} bytes")
    return _widened(name, np.frombuffer(data, kind)).reshape(shape)


def _widened(name: str, stored: np.ndarray) -> np.ndarray:
    """Elements as they lie in files, as the arrays that are worked with."""
    if name == "bfloat16":
        return (stored.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return stored.astype(stored.dtype.newbyteorder("="))


def bytes_of_array(name: str, array: np.ndarray) -> bytes:
    """The elements of an array as they lie in files."""
    if name == "bfloat16":
        bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
        rounded = bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
        return np.where(np.isnan(array), np.uint32(0x7FC00000), rounded).__rshift__(16).astype("<u2").tobytes()
    return np.ascontiguousarray(array, stored_dtype(name)).tobytes()


def shape_of_proto(shape: Any) -> tuple[int | None, ...] | None:
    """The dims of a TensorShapeProto, None for unknown ones; None for an unknown rank."""
    return None if shape.unknown_rank else tuple(None if dim.size < 0 else dim.size for dim in shape.dim)


def proto_of_shape(shape: Sequence[int | None] | None) -> Any:
    """The TensorShapeProto of dims."""
    if shape is None:
        return TensorShapeProto(unknown_rank=True)
    made = TensorShapeProto()
    for dim in shape:
        made.dim.add(size=-1 if dim is None else int(dim))
    return made


def proto_of_array(name: str, array: np.ndarray, shape: Sequence[int] | None = None) -> Any:
    """The TensorProto of an array. name: its element type's. shape: one with more elements, like the last, if not None.

    One element alone, and those of types that TensorFlow lists so, are listed; others are bytes.
    """
    made = TensorProto(dtype=dtype_number(name), tensor_shape=proto_of_shape(array.shape if shape is None else shape))
    if array.dtype == object:
        made.string_val.extend(v if isinstance(v, bytes) else str(v).encode() for v in array.ravel().tolist())
    elif array.size != 1 and name not in _LISTED and shape is None:
        made.tensor_content = bytes_of_array(name, array)
    else:
        stored = np.frombuffer(bytes_of_array(name, array), stored_dtype(name))
        if stored.dtype.kind == "c":
            stored = stored.view(stored.real.dtype)
        elif name in ("float16", "bfloat16"):
            stored = stored.view("<u2")
        getattr(made, _FIELDS.get(name, "int_val")).extend(stored.tolist())
    return made


def array_of_proto(proto: Any, what: str = "TensorProto") -> np.ndarray:
    """The array of a TensorProto. Where it holds fewer values than elements, the last one stands for the rest.

    Raises DataLossError for one that does not fit its shape, UnimplementedError for resources and variants.
    """
    name, dims = dtype_name(proto.dtype), shape_of_proto(proto.tensor_shape)
    if dims is None or None in dims:
        raise DataLossError(f"{what}: a tensor whose shape is not known")
    shape = tuple(dim or 0 for dim in dims)
    if proto.tensor_content:
        return array_of_bytes(name, proto.tensor_content, shape, what)
    values = _values(name, getattr(proto, _FIELDS.get(name, "int_val")))
    count = math.prod(shape)
    if values.size > count or count * values.itemsize > max(values.nbytes, _MOST_BYTES):
        raise DataLossError(f"{what}: {values.size} values for a tensor of shape {list(shape)}")
    if values.size == count:
        return values.reshape(shape)
    if values.size <= 1:
        zero = np.array(b"" if name == "string" else 0).astype(values.dtype)
        return np.broadcast_to(values[0] if values.size else zero[()], shape).astype(values.dtype)
    return np.concatenate([values, np.repeat(values[-1:], count - values.size)]).reshape(shape)


def _values(name: str, values: list[Any]) -> np.ndarray:
    """The list in a TensorProto as an array."""
    if name == "string":
        return np.array(values, object)
    kind = stored_dtype(name)
    if name in ("float16", "bfloat16"):
        return _widened(name, np.array(values, np.uint32).astype("<u2").view(kind))
    if kind.kind == "c":
        return np.array(values[:len(values) // 2 * 2], np.float64).view(np.complex128).astype(kind)
    return np.array(values, np.int64 if kind.kind in "iu" and kind.itemsize < 8 else kind).astype(
        kind.newbyteorder("="))
