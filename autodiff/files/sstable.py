"""Sorted tables of keys and values: the index of a checkpoint.

A file is a row of blocks, each followed by its compression (a byte) and its checksum, and a footer that says where
the index block stands; the index says where the others stand. In a block each key leaves out what it shares with the
key before. Source: LevelDB's description of its table format. Blocks that are
compressed are so in Snappy's raw format (source: Google's description of that).
"""
from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from ..core.errors import DataLossError
from .crc32c import masked_crc32c
from .protobuf_wire import read_varint, write_varint

_MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
_FOOTER = 48
_TRAILER = 5
_BLOCK = 1 << 18      # bytes; a block that is longer is closed, as TensorFlow does
_RESTART = 16         # keys; so often one is written in full
_LARGEST = 1 << 26    # bytes that a compressed block may have
_PLAIN, _SNAPPY = 0, 1


def read_table(data: bytes, what: str) -> dict[bytes, bytes]:
    """Keys and values of a table. what: its name in errors. Raises DataLossError for what is no table."""
    if len(data) < _FOOTER or not data.endswith(_MAGIC):
        raise DataLossError(f"{what}", expected="a table (sstable)", found=f"{len(data)} bytes without its footer")
    start, total = len(data) - _FOOTER, len(data)
    _, _, at = _handle(data, start, total, what)
    offset, size, _ = _handle(data, at, total, what)
    found: dict[bytes, bytes] = {}
    for _, handle in _entries(_block(data, offset, size, what), f"{what}, index"):
        begin, length, _ = _handle(handle, 0, len(handle), what)
        found.update(_entries(_block(data, begin, length, what), f"{what}, block at {begin}"))
    return found


def _handle(data: bytes, at: int, end: int, what: str) -> tuple[int, int, int]:
    """Offset and size of a block, and the place after them."""
    offset, at = read_varint(data, at, end, what)
    size, at = read_varint(data, at, end, what)
    return offset, size, at


def _block(data: bytes, offset: int, size: int, what: str) -> bytes:
    end = offset + size
    if end + _TRAILER > len(data) - _FOOTER:
        raise DataLossError(f"{what}: a block at byte {offset} of {size} bytes is not inside of the file")
    if masked_crc32c(data[offset:end + 1]) != int.from_bytes(data[end + 1:end + _TRAILER], "little"):
        raise DataLossError(f"{what}: the checksum of the block at byte {offset} does not match")
    if data[end] == _PLAIN:
        return data[offset:end]
    if data[end] != _SNAPPY:
        raise DataLossError(f"{what}: unknown compression {data[end]} of the block at byte {offset}")
    return decompress(data[offset:end], _LARGEST)


def _entries(block: bytes, what: str) -> Iterator[tuple[bytes, bytes]]:
    restarts = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 - 4 * restarts
    if end < 0:
        raise DataLossError(f"{what}: a block of {len(block)} bytes with {restarts} restarts")
    at, key = 0, b""
    while at < end:
        begin = at
        shared, at = read_varint(block, at, end, what)
        more, at = read_varint(block, at, end, what)
        length, at = read_varint(block, at, end, what)
        if shared > len(key) or at + more + length > end:
            raise DataLossError(f"{what}: an entry at byte {begin} that is not inside of its block")
        key = key[:shared] + block[at:at + more]
        at += more + length
        yield key, block[at - length:at]


def write_table(entries: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The table of keys and values. entries: sorted by key."""
    found = bytearray()
    index: list[tuple[bytes, bytes]] = []
    pending: list[tuple[bytes, bytes]] = []
    size = 0
    for key, value in entries:
        if index and not pending:  # only now is it known what a key of the index has to stand before
            index[-1] = _between(index[-1][0], key), index[-1][1]
        pending.append((key, value))
        size += len(key) + len(value)
        if size >= _BLOCK:
            index.append((key, _append(found, _written(pending, _RESTART))))
            pending, size = [], 0
    if pending or not index:
        index.append((pending[-1][0] if pending else b"", _append(found, _written(pending, _RESTART))))
    index[-1] = _after(index[-1][0]), index[-1][1]
    handles = _append(found, _written([], 1)) + _append(found, _written(index, 1))
    return bytes(found) + handles.ljust(_FOOTER - len(_MAGIC), b"\0") + _MAGIC


def _between(low: bytes, high: bytes) -> bytes:
    """A short key that is not below `low`, and below `high`."""
    at = next((i for i, (a, b) in enumerate(zip(low, high)) if a != b), len(low))
    return low[:at] + bytes([low[at] + 1]) if at < len(low) and low[at] + 1 < high[at] else low


def _after(key: bytes) -> bytes:
    """A short key that is not below `key`."""
    at = next((i for i, byte in enumerate(key) if byte != 0xFF), len(key))
    return key[:at] + bytes([key[at] + 1]) if at < len(key) else key


def _append(found: bytearray, block: bytes) -> bytes:
    """Add a block; gives its handle."""
    handle = write_varint(len(found)) + write_varint(len(block))
    stored = block + bytes([_PLAIN])
    found += stored + struct.pack("<I", masked_crc32c(stored))
    return handle


def _written(entries: list[tuple[bytes, bytes]], restart: int) -> bytes:
    found, restarts, last = bytearray(), [], b""
    for i, (key, value) in enumerate(entries):
        shared = 0
        if i % restart == 0:
            restarts.append(len(found))
        else:
            while shared < min(len(key), len(last)) and key[shared] == last[shared]:
                shared += 1
        found += write_varint(shared) + write_varint(len(key) - shared) + write_varint(len(value))
        found += key[shared:] + value
        last = key
    restarts = restarts or [0]
    return bytes(found) + struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))


def decompress(data: bytes, limit: int) -> bytes:
    """What compressed bytes stand for. Raises DataLossError for damaged ones, or those of more than `limit` bytes."""
    length, at = read_varint(data, 0, len(data), "snappy")
    if length > limit:
        raise DataLossError(f"snappy: a block of {length} bytes, expected at most {limit}")
    found = bytearray()
    while at < len(data):
        tag = data[at]
        at = _copy(data, at, found) if tag & 3 else _literal(data, at, found)
        if len(found) > length:
            raise DataLossError(f"snappy: more than the {length} bytes that were promised, at byte {at}")
    if len(found) != length:
        raise DataLossError("snappy", expected=f"{length} bytes", found=len(found))
    return bytes(found)


def _literal(data: bytes, at: int, found: bytearray) -> int:
    """Bytes as they are; gives the place after them."""
    length, begin = (data[at] >> 2) + 1, at + 1
    if length > 60:
        extra = length - 60
        length, begin = int.from_bytes(data[begin:begin + extra], "little") + 1, begin + extra
    if begin + length > len(data):
        raise DataLossError(f"snappy: {length} bytes at byte {begin}, but only {len(data) - begin} are left")
    found += data[begin:begin + length]
    return begin + length


def _copy(data: bytes, at: int, found: bytearray) -> int:
    """Bytes that were there before; gives the place after the reference."""
    tag = data[at]
    width = {1: 1, 2: 2, 3: 4}[tag & 3]
    offset = int.from_bytes(data[at + 1:at + 1 + width], "little")
    length = (tag >> 2) + 1
    if width == 1:
        offset, length = offset | tag >> 5 << 8, (tag >> 2 & 7) + 4
    if at + 1 + width > len(data) or not 0 < offset <= len(found):
        raise DataLossError(f"snappy: a reference {offset} bytes back at byte {at}, of {len(found)} bytes")
    part = found[-offset:][:length]
    found += (part * (length // len(part) + 1))[:length]
    return at + 1 + width
