"""Checkpoints of any format that is read: which there are, and the reader that fits one.

Only read are those of version 1, one table that holds the names and the arrays (source: the messages of TensorFlow
1.15's saved_tensor_slice, what it writes), and those of gradbg before it wrote TensorFlow's format: an npz archive
under TensorFlow's file names, which holds the arrays and, as JSON, their names, dtypes and shapes.
"""
from __future__ import annotations

import glob
import json
import math
import os
import re
from typing import Any

import numpy as np

from ..core.errors import DataLossError, NotFoundError
from .checkpoint import BundleReader, data_path, near_checkpoints
from .checkpoint_messages import CHECKPOINT_MESSAGES, WHOLE, slice_key
from .disk.arrays import read_arrays
from .disk.reading import read_file
from .graph_messages import GRAPH_MESSAGES
from .protobuf_schema import messages
from .sstable import read_table
from .tensor_values import array_of_bytes, dtype_name

_SHARD = re.compile(r"\.data-\d{5}-of-\d{5}$")
MAGIC = b"PK\x03\x04"  # with which a zip archive begins
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


def prefix_of(path: Any) -> str:
    """A checkpoint's name, of itself or of one of its files."""
    return _SHARD.sub("", os.fspath(path).removesuffix(".index"))


def checkpoint_exists(prefix: str) -> bool:
    """Whether there is a checkpoint of that name, of either version."""
    return os.path.isfile(prefix + ".index") or bool(files_of(prefix))


def open_checkpoint(path: Any) -> BundleReader | TableReader | ArchiveReader:
    """The reader of a checkpoint. Raises NotFoundError if there is none, DataLossError for what is none."""
    prefix = prefix_of(path)
    if not checkpoint_exists(prefix):
        near = near_checkpoints(prefix)
        raise NotFoundError(f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
                            f"{prefix}\nexpected {prefix}.index"
                            + (f"\nthere is {', '.join(near[:3])}" if near else ""))
    if not os.path.isfile(prefix + ".index"):
        return TableReader(prefix)
    data = data_path(prefix, 0, 1)
    if os.path.isfile(data):
        with open(data, "rb") as file:
            if file.read(len(MAGIC)) == MAGIC and not _is_table(prefix + ".index"):
                return ArchiveReader(data)
    return BundleReader(prefix)


def _is_table(path: str) -> bool:
    with open(path, "rb") as file:
        return not file.read(1).startswith(b"{")


def remove_checkpoint_files(prefix: str, *others: str) -> None:
    """Delete a checkpoint's files and others; the one that says it is whole goes first."""
    folder, name = os.path.split(prefix)
    shards = [os.path.join(folder, each) for each in (os.listdir(folder or ".") if os.path.isdir(folder or ".") else ())
              if each.startswith(name) and _SHARD.fullmatch(each[len(name):])]
    for path in (prefix + ".index", *sorted(shards), *([] if shards else files_of(prefix)), *others):
        if os.path.exists(path):
            os.remove(path)


class ArchiveReader:
    """The arrays of a checkpoint by name. Raises DataLossError for a damaged one."""

    def __init__(self, path: str) -> None:
        try:
            arrays = read_arrays(path)
            index = json.loads(arrays["index"].tobytes())
            self.entries: dict[str, dict[str, Any]] = {entry["name"]: entry for entry in index["tensors"]}
            self._arrays = {name: arrays[e["array"]] if "array" in e else _texts(e) for name, e in self.entries.items()}
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise DataLossError(f"{path}: a damaged checkpoint (npz): {type(error).__name__}: {error}") from None

    def dtypes(self) -> dict[str, str]:
        """Name -> element type."""
        return {name: entry["dtype"] for name, entry in self.entries.items()}

    def shapes(self) -> dict[str, list[int]]:
        """Name -> shape."""
        return {name: list(array.shape) for name, array in self._arrays.items()}

    def read(self, name: str) -> np.ndarray:
        """An array by name."""
        return self._arrays[name]


def _texts(entry: dict[str, Any]) -> np.ndarray:
    return np.array([text.encode("latin-1") for text in entry["texts"]], object).reshape(entry["shape"])


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
    found = np.array(listed, object)
    return (found if dtype == "string" else found.astype(dtype)).reshape(shape)
