"""TensorBoard's event files: scalars over steps, written byte by byte.

Source: TensorFlow's record format (length, masked CRC-32C of it, data, masked CRC-32C of that) and the messages Event
and Summary; CRC-32C: RFC 3720, appendix B.4.
"""
from __future__ import annotations

import struct
from collections.abc import Iterable

POLYNOMIAL = 0x82F63B78
MASK = 0xA282EAD8


def _table() -> tuple[int, ...]:
    found = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (POLYNOMIAL if byte & 1 else 0)
        found.append(byte)
    return tuple(found)


TABLE = _table()


def crc32c(data: bytes) -> int:
    """The Castagnoli checksum, 32 bits."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def record(data: bytes) -> bytes:
    """One record of an event file."""
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + MASK) & 0xFFFFFFFF)


def event_file(scalars: Iterable[tuple[str, int, float]], wall_time: float) -> bytes:
    """A whole file. scalars: tag, step and value. wall_time: seconds since 1970, of all of them."""
    begin = struct.pack("<Bd", 1 << 3 | 1, wall_time)
    parts = [record(begin + _text(3, b"brain.Event:2"))]
    for tag, step, value in scalars:
        shown = _text(1, tag.encode("utf-8", "backslashreplace")) + struct.pack("<Bf", 2 << 3 | 5, value)
        parts.append(record(begin + bytes([2 << 3]) + _varint(step) + _text(5, _text(1, shown))))
    return b"".join(parts)


def _text(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
