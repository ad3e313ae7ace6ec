"""TFRecord files: records one after the other, each with its length and checksums; plain or compressed.

Source: TensorFlow's description of the format (length, masked CRC-32C of it, data, masked CRC-32C of that).
"""
from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from ..core.errors import DataLossError, InvalidArgumentError
from .crc32c import masked_crc32c

_CHUNK = 1 << 20
_WINDOWS = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS | 16}  # zlib's names for its own and gzip's headers


def pack_record(data: bytes) -> bytes:
    """One record as it is stored."""
    length = struct.pack("<Q", len(data))
    return b"".join([length, struct.pack("<I", masked_crc32c(length)), data, struct.pack("<I", masked_crc32c(data))])


def _window(compression: str) -> int:
    if compression not in _WINDOWS:
        raise InvalidArgumentError(f"Unsupported compression_type:{compression}. Available values are NONE, ZLIB, GZIP")
    return _WINDOWS[compression]


class RecordWriter:
    """Writes records to an open file. compression: '', 'GZIP' or 'ZLIB'; level: 0 to 9, -1 for zlib's own choice."""

    def __init__(self, file: BinaryIO, compression: str = "", level: int = -1) -> None:
        self._file = file
        self._squeeze = zlib.compressobj(level, zlib.DEFLATED, _window(compression)) if compression else None

    def write(self, data: bytes) -> None:
        """Add a record."""
        stored = pack_record(data)
        self._file.write(self._squeeze.compress(stored) if self._squeeze else stored)

    def flush(self) -> None:
        """Let readers see what was written."""
        if self._squeeze:
            self._file.write(self._squeeze.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    @property
    def closed(self) -> bool:
        return self._file.closed

    def close(self) -> None:
        """End the compression and close the file."""
        if not self._file.closed:
            if self._squeeze:
                self._file.write(self._squeeze.flush())
            self._file.close()


class _Bytes:
    """A file's bytes, out of their compression, asked for in pieces; no more of them are held than asked for."""

    def __init__(self, file: BinaryIO, compression: str, what: str) -> None:
        self._file, self._window, self._what = file, _window(compression) if compression else 0, what
        self._inflate = zlib.decompressobj(self._window) if compression else None
        self._rest = b""

    def read(self, count: int) -> bytes:
        """So many bytes; fewer at the end."""
        parts = []
        while count > 0:
            part = self._inflated(min(count, _CHUNK)) if self._inflate else self._file.read(min(count, _CHUNK * 16))
            if not part:
                break
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _inflated(self, count: int) -> bytes:
        assert self._inflate is not None
        while True:
            if self._inflate.eof:  # members of gzip may follow one another
                self._rest = self._inflate.unused_data
                self._inflate = zlib.decompressobj(self._window)
            fresh = self._rest or self._file.read(_CHUNK)
            try:
                part = self._inflate.decompress(fresh, count)
            except zlib.error as error:
                raise DataLossError(f"{self._what}: damaged compression: {error}") from None
            self._rest = self._inflate.unconsumed_tail
            if part or not fresh:
                return part


def read_records(file: BinaryIO, what: str, compression: str = "") -> Iterator[bytes]:
    """The records of an open file. Raises DataLossError for damaged ones, after those before them were given."""
    source, at = _Bytes(file, compression, what), 0
    while True:
        head = source.read(12)
        if not head:
            return
        if len(head) < 12 or masked_crc32c(head[:8]) != int.from_bytes(head[8:], "little"):
            raise DataLossError(f"corrupted record at {at}", hint=f"{what}: expected a record of a TFRecord file")
        length = int.from_bytes(head[:8], "little")
        body = source.read(length + 4)
        if len(body) < length + 4:
            raise DataLossError(f"truncated record at {at}", hint=f"{what}: expected {length} bytes, found {len(body)}")
        data = body[:-4]
        if masked_crc32c(data) != int.from_bytes(body[-4:], "little"):
            raise DataLossError(f"corrupted record at {at}", hint=f"{what}: the checksum of its data does not match")
        yield data
        at += 16 + length
