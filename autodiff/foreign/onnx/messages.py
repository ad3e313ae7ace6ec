"""ONNX's messages, and the arrays in them.

Source: the numbers, names and kinds of onnx.proto, version 14 of the format.
"""
from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from ...core.errors import ArgumentError, DataLossError, KindError
from ...files.disk.reading import open_file, read_file
from ...files.protobuf_schema import messages

MESSAGES = messages("""
message ModelProto
    1 int64 ir_version; 2 string producer_name; 7 GraphProto graph; 8 OperatorSetIdProto* opset_import;
    25 FunctionProto* functions
message OperatorSetIdProto
    1 string domain; 2 int64 version
message StringStringEntryProto
    1 string key; 2 string value
message GraphProto
    1 NodeProto* node; 2 string name; 5 TensorProto* initializer; 11 ValueInfoProto* input; 12 ValueInfoProto* output;
    13 ValueInfoProto* value_info
message FunctionProto
    1 string name; 4 string* input; 5 string* output; 7 NodeProto* node; 9 OperatorSetIdProto* opset_import;
    10 string domain; 11 AttributeProto* attribute_proto; 13 string overload
message NodeProto
    1 string* input; 2 string* output; 3 string name; 4 string op_type; 5 AttributeProto* attribute;
    6 string doc_string; 7 string domain; 8 string overload; 9 StringStringEntryProto* metadata_props
message AttributeProto
    1 string name; 2 float f; 3 int64 i; 4 bytes s; 5 TensorProto t; 6 GraphProto g; 7 float* floats; 8 int64* ints;
    9 bytes* strings; 10 TensorProto* tensors; 11 GraphProto* graphs; 14 TypeProto tp; 20 int32 type;
    21 string ref_attr_name
message ValueInfoProto
    1 string name; 2 TypeProto type
message TypeProto
    1 TypeProto.Tensor tensor_type | value; 4 TypeProto.Holder sequence_type | value;
    9 TypeProto.Holder optional_type | value
message TypeProto.Tensor
    1 int32 elem_type; 2 TensorShapeProto shape
message TypeProto.Holder
    1 TypeProto elem_type
message TensorShapeProto
    1 TensorShapeProto.Dimension* dim
message TensorShapeProto.Dimension
    1 int64 dim_value | value; 2 string dim_param | value
message TensorProto
    1 int64* dims; 2 int32 data_type; 4 float* float_data; 5 int32* int32_data; 6 bytes* string_data;
    7 int64* int64_data; 8 string name; 9 bytes raw_data; 10 double* double_data; 11 uint64* uint64_data;
    13 StringStringEntryProto* external_data; 14 int32 data_location
""", explicit=True)

ATTRIBUTE_FIELDS = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "floats", 7: "ints", 8: "strings", 9: "tensors",
                    10: "graphs", 13: "tp"}  # by AttributeType
STRING, BFLOAT16 = 8, 16
DTYPES: dict[int, Any] = {1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64,
                          STRING: np.object_, 9: np.bool_, 10: np.float16, 11: np.float64, 12: np.uint32,
                          13: np.uint64, 14: np.complex64, 15: np.complex128,
                          BFLOAT16: np.float32}  # NumPy has no bfloat16; every one is a float32
_EXTERNAL = 1


def read_model(source: Any) -> tuple[Any, str]:
    """A ModelProto of this module from a path, bytes, or onnx's own ModelProto; and the folder of its other files."""
    if hasattr(source, "SerializeToString"):
        return _parsed(source.SerializeToString(), "the ModelProto"), ""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _parsed(source, "the ONNX bytes"), ""
    if not isinstance(source, (str, os.PathLike)):
        raise KindError(expected="the path of an ONNX file, its bytes or a ModelProto", found=type(source).__name__)
    path = os.fspath(source)
    return _parsed(read_file(path), path), os.path.dirname(os.path.abspath(path))


def _parsed(data: Any, what: str) -> Any:
    model = MESSAGES["ModelProto"].FromString(data)
    if not model.HasField("graph") or not model.opset_import:
        raise DataLossError(f"{what} is no ONNX model: it has no graph, or no version of ONNX's operators")
    return model


def dtype_of(code: int) -> Any:
    """NumPy's dtype for a TensorProto.DataType. Raises ArgumentError for one that NumPy has not."""
    if code not in DTYPES:
        raise ArgumentError(expected="an element type that NumPy has", found=f"ONNX's number {code}")
    return np.dtype(DTYPES[code])


def array_of(tensor: Any, folder: str = "") -> np.ndarray:
    """The values of a TensorProto. folder: where files with the data of large tensors are.

    Raises DataLossError where they are not as many as its shape says.
    """
    shape, code = tuple(tensor.dims), tensor.data_type
    if code == STRING:
        return _shaped(np.array(list(tensor.string_data), object), shape, tensor.name)
    dtype, raw = dtype_of(code), tensor.raw_data
    if tensor.data_location == _EXTERNAL:
        raw = _external(tensor, folder)
    if not raw:
        return _shaped(_listed(tensor, code, dtype), shape, tensor.name)
    width = 2 if code == BFLOAT16 else dtype.itemsize
    if len(raw) % width:
        raise DataLossError(f"tensor {tensor.name!r} has {len(raw)} bytes", expected=f"elements of {width} bytes")
    if code == BFLOAT16:
        return _shaped((np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32), shape, tensor.name)
    array = np.frombuffer(raw, dtype.newbyteorder("<")).astype(dtype, copy=False)
    return _shaped(array, shape, tensor.name)


def _shaped(array: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    if min(shape, default=0) < 0 or array.size != math.prod(shape):
        raise DataLossError(f"tensor {name!r} of shape {list(shape)} has {array.size} elements")
    return array.reshape(shape)


def _listed(tensor: Any, code: int, dtype: Any) -> np.ndarray:
    if dtype.kind == "c":
        parts = np.array(tensor.float_data or tensor.double_data, np.float64).reshape(-1, 2)
        return (parts[:, 0] + 1j * parts[:, 1]).astype(dtype)
    if code == BFLOAT16:
        return (np.array(tensor.int32_data, np.uint32) << 16).view(np.float32)
    if dtype == np.float16:
        return np.array(tensor.int32_data, np.uint16).view(np.float16)
    held = {"float32": tensor.float_data, "float64": tensor.double_data, "int64": tensor.int64_data,
            "uint32": tensor.uint64_data, "uint64": tensor.uint64_data}
    return np.array(held.get(dtype.name, tensor.int32_data), dtype)


def _external(tensor: Any, folder: str) -> bytes:
    """The bytes of a tensor that are kept in another file, which must lie in the model's folder."""
    where = {entry.key: entry.value for entry in tensor.external_data}
    path = os.path.normpath(os.path.join(folder, where.get("location", "")))
    if not folder or os.path.commonpath([folder, path]) != folder:
        raise ArgumentError(f"tensor {tensor.name!r} is kept in {where.get('location')!r}, expected a file beside the "
                            "model", hint="give the path of the model")
    with open_file(path) as file:
        file.seek(int(where.get("offset", 0)))
        return file.read(int(where["length"]) if "length" in where else -1)


def declared(info: Any) -> tuple[Any, tuple[int | None, ...] | None] | None:
    """Dtype and partial shape that a ValueInfoProto declares; None for what is no tensor or has no type."""
    if info.type.WhichOneof("value") != "tensor_type" or not info.type.tensor_type.elem_type:
        return None
    tensor = info.type.tensor_type
    if not tensor.HasField("shape"):
        return dtype_of(tensor.elem_type), None
    dims = tuple(d.dim_value if d.WhichOneof("value") == "dim_value" and d.dim_value >= 0 else None
                 for d in tensor.shape.dim)
    return dtype_of(tensor.elem_type), dims
