"""TensorFlow's checkpoints of version 2: `<prefix>.index`, a table of what there is, and shards of data.

Source: tensor_bundle's description of its layout; what TensorFlow 1.15 writes.
"""
from __future__ import annotations

import glob
import math
import os
import struct
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ..core.errors import DataLossError, NotFoundError
from .checkpoint_messages import CHECKPOINT_MESSAGES, WHOLE, slice_key
from .crc32c import crc32c, mask, masked_crc32c
from .disk.reading import open_file, read_file
from .disk.replacing import replace_files, settled
from .protobuf_wire import read_varint, write_varint
from .sstable import read_table, write_table
from .tensor_values import array_of_bytes, bytes_of_array, dtype_name, dtype_number, proto_of_shape, shape_of_proto

_Header, _Entry = CHECKPOINT_MESSAGES["BundleHeaderProto"], CHECKPOINT_MESSAGES["BundleEntryProto"]


class Part(NamedTuple):
    """A part of a partitioned variable. offset: where it begins in the full array, in each dimension."""

    full_shape: tuple[int, ...]
    offset: tuple[int, ...]


class Stored(NamedTuple):
    """What a checkpoint holds under a name. part: of which whole it is one; None for a whole one."""

    dtype: str
    array: np.ndarray
    part: Part | None = None


def data_path(prefix: str, shard: int, shards: int) -> str:
    """The file of a shard."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


class BundleReader:
    """The arrays of a checkpoint by name, read when they are asked for.

    Raises NotFoundError for files that are not there, DataLossError for damaged ones.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        index = prefix + ".index"
        table = read_table(read_file(settled(index, data_path(prefix, 0, 1))), f"checkpoint index {index}")
        self._table, self.entries = table, {}
        header = _Header.FromString(table.pop(b"", b""))
        self._shards = header.num_shards
        if header.endianness:
            raise DataLossError(f"{index}: a checkpoint of a big-endian machine")
        for key, value in table.items():
            if not key.startswith(b"\0"):
                self.entries[key.decode("utf-8", "backslashreplace")] = _Entry.FromString(value)

    def dtypes(self) -> dict[str, str]:
        """Name -> element type."""
        return {name: dtype_name(entry.dtype) for name, entry in self.entries.items()}

    def shapes(self) -> dict[str, list[int]]:
        """Name -> shape; of a partitioned variable, that of the whole."""
        return {name: [dim.size for dim in entry.shape.dim] for name, entry in self.entries.items()}

    def read(self, name: str) -> np.ndarray:
        """An array, put together if it was stored in parts."""
        entry = self.entries[name]
        if not entry.slices:
            return self._whole(name, entry)
        shape = self._shape(name, entry)
        parts = [(extents, self._part(name, extents)) for extents in map(_extents, entry.slices)]
        if sum(part.size for _, part in parts) < math.prod(shape):
            raise DataLossError(f"{self.prefix}: the parts of {name!r} do not cover its shape {list(shape)}")
        whole = np.empty(shape, parts[0][1].dtype)
        for extents, part in parts:
            if len(extents) != len(shape):
                raise DataLossError(f"{self.prefix}: a part of {name!r} has other dimensions than its whole")
            place = tuple(slice(None) if length == WHOLE else slice(start, start + length) for start, length in extents)
            if whole[place].shape != part.shape:
                raise DataLossError(f"{self.prefix}: a part of {name!r} of shape {list(part.shape)} does not fit")
            whole[place] = part
        return whole

    def _part(self, name: str, extents: Sequence[tuple[int, int]]) -> np.ndarray:
        raw = self._table.get(slice_key(name, extents))
        if raw is None:
            raise DataLossError(f"{self.prefix}: a part of {name!r} is missing")
        return self._whole(name, _Entry.FromString(raw))

    def _shape(self, name: str, entry: Any) -> tuple[int, ...]:
        dims = shape_of_proto(entry.shape)
        if dims is None or None in dims:
            raise DataLossError(f"{self.prefix}: {name!r} has no shape")
        return tuple(dim or 0 for dim in dims)

    def _whole(self, name: str, entry: Any) -> np.ndarray:
        data, what = self._data(name, entry), f"{self.prefix}: {name!r}"
        shape, dtype = self._shape(name, entry), dtype_name(entry.dtype)
        if dtype == "string":
            return _texts(data, shape, entry.crc32c, what)
        if masked_crc32c(data) != entry.crc32c:
            raise DataLossError(f"{what}: the checksum of its data does not match")
        return array_of_bytes(dtype, data, shape, what)

    def _data(self, name: str, entry: Any) -> bytes:
        path = data_path(self.prefix, entry.shard_id, self._shards)
        if not os.path.exists(path):
            raise NotFoundError(f"{path}; No such file or directory",
                                hint=f"it holds {name!r}, which {self.prefix}.index lists")
        with open_file(path) as file:
            size = file.seek(0, os.SEEK_END)
            if not 0 <= entry.offset <= entry.offset + entry.size <= size:
                raise DataLossError(f"{path}: {name!r} has {entry.size} bytes at byte {entry.offset}, the file {size}")
            file.seek(entry.offset)
            return file.read(entry.size)


def _extents(slices: Any) -> list[tuple[int, int]]:
    return [(extent.start, extent.length if extent.HasField("length") else WHOLE) for extent in slices.extent]


def _texts(data: bytes, shape: Sequence[int], checksum: int, what: str) -> np.ndarray:
    """Lengths, their checksum, then the texts."""
    count, at, lengths = math.prod(shape), 0, []
    if count > len(data):
        raise DataLossError(f"{what}: {count} texts in {len(data)} bytes")
    for _ in range(count):
        length, at = read_varint(data, at, len(data), what)
        lengths.append(length)
    crc = _checksum_of_lengths(lengths)
    stored = data[at:at + 4]
    at += 4
    if stored != struct.pack("<I", mask(crc)) or at + sum(lengths) != len(data):
        raise DataLossError(f"{what}: the lengths of its texts do not match their checksum")
    if mask(crc32c(data[at:], crc32c(stored, crc))) != checksum:
        raise DataLossError(f"{what}: the checksum of its data does not match")
    found = np.empty(count, object)
    for i, length in enumerate(lengths):
        found[i] = data[at:at + length]
        at += length
    return found.reshape(shape)


def _checksum_of_lengths(lengths: Sequence[int]) -> int:
    return crc32c(b"".join(struct.pack("<I" if length < 1 << 32 else "<Q", length) for length in lengths))


def write_bundle(prefix: str, tensors: Mapping[str, Stored | Sequence[Stored]]) -> None:
    """Write a checkpoint of one shard; a list of parts stands for a partitioned variable.

    The files take the place of older ones when all are written.
    """
    table: dict[bytes, bytes] = {b"": _Header(num_shards=1, version={"producer": 1}).SerializeToString()}
    path = data_path(prefix, 0, 1)

    def write(file: BinaryIO) -> None:
        for name in sorted(tensors):
            stored = tensors[name]
            if isinstance(stored, Stored):
                table[name.encode()] = _written(file, stored)
            else:
                _write_parts(file, table, name, stored)

    replace_files({path: write, prefix + ".index": lambda file: file.write(write_table(sorted(table.items())))})


def _written(file: BinaryIO, stored: Stored) -> bytes:
    """Add an array to the data; gives its entry."""
    offset = file.tell()
    if stored.array.dtype == object:
        data, crc = _bytes_of_texts(stored.array)
    else:
        data = bytes_of_array(stored.dtype, stored.array)
        crc = masked_crc32c(data)
    file.write(data)
    return _Entry(dtype=dtype_number(stored.dtype), shape=proto_of_shape(stored.array.shape), offset=offset,
                  size=len(data), crc32c=crc).SerializeToString()


def _bytes_of_texts(array: np.ndarray) -> tuple[bytes, int]:
    texts = [text if isinstance(text, bytes) else str(text).encode() for text in array.ravel().tolist()]
    lengths = [len(text) for text in texts]
    crc = _checksum_of_lengths(lengths)
    stored, joined = struct.pack("<I", mask(crc)), b"".join(texts)
    crc = mask(crc32c(joined, crc32c(stored, crc)))
    return b"".join([*map(write_varint, lengths), stored, joined]), crc


def _write_parts(file: BinaryIO, table: dict[bytes, bytes], name: str, parts: Sequence[Stored]) -> None:
    first = parts[0]
    assert first.part is not None
    whole = _Entry(dtype=dtype_number(first.dtype), shape=proto_of_shape(first.part.full_shape))
    for stored in parts:
        assert stored.part is not None
        extents = list(zip(stored.part.offset, stored.array.shape))
        whole.slices.add(extent=[{"start": start, "length": length} for start, length in extents])
        table[slice_key(name, extents)] = _written(file, stored)
    table[name.encode()] = whole.SerializeToString()


def near_checkpoints(prefix: str) -> list[str]:
    """Prefixes of other checkpoints in the same directory."""
    folder = glob.escape(os.path.dirname(prefix))
    return [path.removesuffix(".index") for path in sorted(glob.glob(os.path.join(folder, "*.index")))]
