"""TensorFlow's checkpoints of version 1: one table that holds the names and the arrays; only read.

Source: the messages of TensorFlow 1.15's saved_tensor_slice, what it writes.
"""
from __future__ import annotations

import glob
import math
import os
from typing import Any

import numpy as np

from ..core.errors import DataLossError
from .checkpoint_messages import CHECKPOINT_MESSAGES
from .disk.reading import read_file
from .graph_messages import GRAPH_MESSAGES
from .ordered_code import WHOLE, slice_key
from .protobuf_schema import messages
from .sstable import read_table
from .tensor_values import array_of_bytes, dtype_name

# The kinds of the lists of floats say `bytes`: packed numbers are that, and an array is made of them at once.
_MESSAGES = messages("""
message Values
    5 bytes float_val; 6 bytes double_val; 7 int32* int_val; 8 bytes* string_val; 9 bytes scomplex_val;
    10 int64* int64_val; 11 bool* bool_val; 12 bytes dcomplex_val
message SavedSliceMeta
    1 string name; 2 TensorShapeProto shape; 3 DataType type; 4 TensorSliceProto* slice
message SavedTensorSliceMeta
    1 SavedSliceMeta* tensor
message SavedSlice
    2 TensorSliceProto slice; 3 Values data
message SavedTensorSlices
    1 SavedTensorSliceMeta meta; 2 SavedSlice data
""", {**GRAPH_MESSAGES, **CHECKPOINT_MESSAGES})
_Slices = _MESSAGES["SavedTensorSlices"]
_PACKED = {"float32": "float_val", "float64": "double_val", "complex64": "scomplex_val", "complex128": "dcomplex_val"}
_LISTS = {"int64": "int64_val", "bool": "bool_val", "string": "string_val"}


def files_of(prefix: str) -> list[str]:
    """The files of a checkpoint: one of that very name, or its shards."""
    return [prefix] if os.path.isfile(prefix) else sorted(glob.glob(glob.escape(prefix) + "-?????-of-?????"))


class TableReader:
    """The arrays of a checkpoint by name, read when they are asked for. Raises DataLossError for damaged files."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._table: dict[bytes, bytes] = {}
        self.entries: dict[str, Any] = {}
        for path in files_of(prefix):
            table = read_table(read_file(path), f"checkpoint {path}")
            for tensor in _Slices.FromString(table.pop(b"", b"")).meta.tensor:
                if tensor.name in self.entries:
                    self.entries[tensor.name].slice.extend(tensor.slice)
                else:
                    self.entries[tensor.name] = tensor
            self._table.update(table)

    def dtypes(self) -> dict[str, str]:
        """Name -> element type."""
        return {name: dtype_name(entry.type) for name, entry in self.entries.items()}

    def shapes(self) -> dict[str, list[int]]:
        """Name -> shape; of a partitioned variable, that of the whole."""
        return {name: [dim.size for dim in entry.shape.dim] for name, entry in self.entries.items()}

    def read(self, name: str) -> np.ndarray:
        """An array, put together if it was stored in parts."""
        entry, shape = self.entries[name], self.shapes()[name]
        parts = []
        for each in entry.slice:
            extents = [(extent.start, extent.length if extent.HasField("length") else WHOLE) for extent in each.extent]
            dims = [full if length == WHOLE else length for (_, length), full in zip(extents, shape)]
            raw = self._table.get(slice_key(name, extents))
            if raw is None or len(dims) != len(shape):
                raise DataLossError(f"{self.prefix}: a part of {name!r} is missing")
            values = _array(dtype_name(entry.type), _Slices.FromString(raw).data.data, dims, f"{self.prefix}: {name!r}")
            parts.append(([slice(start, start + dim) for (start, _), dim in zip(extents, dims)], values))
        if sum(values.size for _, values in parts) != math.prod(shape) or not parts:
            raise DataLossError(f"{self.prefix}: the parts of {name!r} do not cover its shape {shape}")
        whole = np.empty(shape, parts[0][1].dtype)
        for place, values in parts:
            if whole[tuple(place)].shape != values.shape:
                raise DataLossError(f"{self.prefix}: a part of {name!r} of shape {list(values.shape)} does not fit")
            whole[tuple(place)] = values
        return whole


def _array(dtype: str, values: Any, shape: list[int], what: str) -> np.ndarray:
    if dtype in _PACKED:
        return array_of_bytes(dtype, getattr(values, _PACKED[dtype]), shape, what)
    listed = getattr(values, _LISTS.get(dtype, "int_val"))
    if len(listed) != math.prod(shape):
        raise DataLossError(f"{what}", expected=f"{math.prod(shape)} elements", found=len(listed))
    found = np.empty(len(listed), object)
    found[:] = listed
    return (found if dtype == "string" else found.astype(dtype)).reshape(shape)
