"""Names and numbers as bytes that sort as they do: the keys of parts of partitioned variables in checkpoints.

Source: TensorFlow's strings/ordered_code, its table of headers, found by what TensorFlow 1.15 writes.
"""
from __future__ import annotations

from collections.abc import Sequence

WHOLE = -1  # the length of an extent that spans its whole dimension


def slice_key(name: str, extents: Sequence[tuple[int, int]]) -> bytes:
    """The key of a part of a variable. extents: start and length in each dimension; (0, WHOLE) for all of it."""
    return b"".join([_unsigned(0), _text(name.encode()), _unsigned(len(extents)),
                     *(_signed(number) for extent in extents for number in extent)])


def _text(data: bytes) -> bytes:
    """A zero byte would look like the end, so it gets a mark; the other special byte, 255, is not in UTF-8."""
    return data.replace(b"\0", b"\0\xff") + b"\0\1"


def _unsigned(number: int) -> bytes:
    """How many bytes, then the bytes, highest first."""
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return bytes([len(data)]) + data


def _signed(number: int) -> bytes:
    """The length stands in the leading ones of the first byte, turned around for negative numbers."""
    magnitude = ~number if number < 0 else number
    length = 1
    while magnitude >> 7 * length - 1:
        length += 1
    bits = 8 * length
    header = ((1 << length) - 1) << (bits - length)
    return ((number & (1 << bits) - 1) ^ header).to_bytes(length, "big")
