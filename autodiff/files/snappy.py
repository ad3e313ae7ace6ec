"""Snappy's raw format, out of which compressed blocks of tables are read.

Source: Google's description of the format.
"""
from __future__ import annotations

from ..core.errors import DataLossError
from .protobuf_wire import read_varint


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
