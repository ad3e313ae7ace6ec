"""Protocol buffers' wire format: bytes to messages and back, driven by the messages' tables of fields.

Source: the protocol buffers encoding guide.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import AutodiffError, DataLossError
from .protobuf_fields import EIGHT_BYTES, FOUR_BYTES, GROUP_END, GROUP_START, LENGTH, VARINT, Field

MAX_DEPTH = 100  # messages inside of messages; as in Google's own readers
_WIDTHS = {EIGHT_BYTES: 8, FOUR_BYTES: 4}


def write_message(message: Any) -> bytes:
    """The bytes of a message: fields by number, maps by key, then the fields that its table does not know."""
    parts: list[bytes] = []
    for field in message.FIELDS:
        if message.is_set(field):
            _write_field(parts, field, message.stored_values[field.name])
    return b"".join([*parts, *message.unknown_fields])


def _write_field(parts: list[bytes], field: Field, value: Any) -> None:
    kind = field.kind
    if field.key is not None:
        for key in sorted(value):
            entry: list[bytes] = []
            _write_one(entry, 1, field.key, key)
            _write_one(entry, 2, kind, value[key])
            _write_block(parts, field.number, b"".join(entry))
    elif not field.repeated:
        _write_one(parts, field.number, kind, value)
    elif field.is_message or kind.wire == LENGTH:
        for each in value:
            _write_one(parts, field.number, kind, each)
    elif kind.fixed:
        _write_block(parts, field.number, np.asarray(value, kind.fixed).tobytes())
    else:
        _write_block(parts, field.number, b"".join(write_varint(_unsigned(kind, each)) for each in value))


def _write_one(parts: list[bytes], number: int, kind: Any, value: Any) -> None:
    if isinstance(kind, type):
        _write_block(parts, number, write_message(value))
    elif kind.wire == LENGTH:
        _write_block(parts, number, value.encode() if isinstance(value, str) else value)
    else:
        parts.append(write_varint(number << 3 | kind.wire))
        parts.append(np.asarray(value, kind.fixed).tobytes() if kind.fixed else write_varint(_unsigned(kind, value)))


def _write_block(parts: list[bytes], number: int, data: bytes) -> None:
    parts += (write_varint(number << 3 | LENGTH), write_varint(len(data)), data)


def _unsigned(kind: Any, value: int) -> int:
    return (value << 1 ^ value >> 63) & 0xFFFFFFFFFFFFFFFF if kind.zigzag else int(value) & 0xFFFFFFFFFFFFFFFF


def write_varint(value: int) -> bytes:
    """A number of at most 64 bits, seven to a byte, lowest first. 0 <= value."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def read_varint(data: Any, at: int, end: int, what: str) -> tuple[int, int]:
    """The number at `at`, and the place after it. Raises DataLossError, which names `what` and the offset."""
    value = shift = 0
    start = at
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
    found = "more than ten bytes" if shift >= 70 else "the end of the data"
    raise DataLossError(f"{what}", expected=f"a number at byte {start}", found=found)


def read_message(message: Any, data: Any, what: str = "") -> None:
    """Add what bytes hold to a message; what: its name in errors, such as the file's.

    Raises DataLossError for bytes that are no message of this kind. A field that the table does not know is kept as
    it is. Memory is in proportion to the data: lengths are checked before anything is made.
    """
    view = memoryview(data).cast("B")
    _Reader(view, what or f"protocol buffer {type(message).__name__}").fill(message, 0, len(view), 0)


class _Reader:
    """Walks over the whole data; each message is a stretch of it, so that offsets in errors hold for the file."""

    def __init__(self, data: memoryview, what: str) -> None:
        self._data, self._what = data, what

    def _damaged(self, at: int, text: str) -> AutodiffError:
        return DataLossError(f"{self._what}: {text} at byte {at}")

    def fill(self, message: Any, at: int, end: int, depth: int) -> None:
        """Take the fields from `at` to `end`."""
        if depth > MAX_DEPTH:
            raise self._damaged(at, f"messages nested more than {MAX_DEPTH} deep")
        known = message.BY_NUMBER
        while at < end:
            begin = at
            key, at = read_varint(self._data, at, end, self._what)
            number, wire = key >> 3, key & 7
            if number == 0:
                raise self._damaged(begin, "a field of number 0")
            start, at = self._span(wire, number, at, end, depth)
            field = known.get(number)
            if field is None or not self._take(message, field, wire, start, at, depth):
                message.unknown_fields.append(bytes(self._data[begin:at]))

    def _span(self, wire: int, number: int, at: int, end: int, depth: int) -> tuple[int, int]:
        """Where a field's value starts and stops."""
        if wire == VARINT:
            return at, read_varint(self._data, at, end, self._what)[1]
        if wire == GROUP_START:
            return at, self._after_group(number, at, end, depth)
        start, width = at, _WIDTHS.get(wire)
        if wire == LENGTH:
            width, start = read_varint(self._data, at, end, self._what)
        if width is None:
            raise self._damaged(at, f"unexpected wire type {wire} of field {number}")
        if start + width > end:
            raise self._damaged(start, f"field {number} has {width} bytes, but only {end - start} are left")
        return start, start + width

    def _after_group(self, number: int, at: int, end: int, depth: int) -> int:
        """The place after a group, the old way to nest; no table here has one."""
        if depth > MAX_DEPTH:
            raise self._damaged(at, f"groups nested more than {MAX_DEPTH} deep")
        while True:
            key, at = read_varint(self._data, at, end, self._what)
            if key & 7 == GROUP_END:
                if key >> 3 != number:
                    raise self._damaged(at, f"group {number} is ended by {key >> 3}")
                return at
            _, at = self._span(key & 7, key >> 3, at, end, depth + 1)

    def _take(self, message: Any, field: Field, wire: int, start: int, stop: int, depth: int) -> bool:
        """Add one value to the message; False if its wire type is not the field's."""
        kind = field.kind
        expected = LENGTH if field.is_message or field.key is not None else kind.wire
        if field.repeated and wire == LENGTH != expected:
            message.slot(field).extend_raw(self._packed(kind, start, stop))
            return True
        if wire != expected:
            return False
        if field.key is not None:
            self._take_entry(message.slot(field), field, start, stop, depth)
        elif field.is_message:
            inner = message.slot(field).add() if field.repeated else message.slot(field)
            inner.mark_set()
            self.fill(inner, start, stop, depth + 1)
        elif field.repeated:
            message.slot(field).extend_raw([self._scalar(kind, start, stop)])
        else:
            message.put(field, self._scalar(kind, start, stop))
        return True

    def _take_entry(self, entries: Any, field: Field, start: int, stop: int, depth: int) -> None:
        """One entry of a map: key and value are the fields 1 and 2 of a message of their own."""
        key: Any = field.key.default if field.key else None
        value: Any = field.kind() if field.is_message else field.kind.default
        at = start
        while at < stop:
            tag, at = read_varint(self._data, at, stop, self._what)
            begin, at = self._span(tag & 7, tag >> 3, at, stop, depth)
            if tag >> 3 == 1 and field.key and tag & 7 == field.key.wire:
                key = self._scalar(field.key, begin, at)
            elif tag >> 3 == 2 and field.is_message and tag & 7 == LENGTH:
                self.fill(value, begin, at, depth + 1)
            elif tag >> 3 == 2 and not field.is_message and tag & 7 == field.kind.wire:
                value = self._scalar(field.kind, begin, at)
        entries.put(key, value)

    def _scalar(self, kind: Any, start: int, stop: int) -> Any:
        data = self._data[start:stop]
        if kind.fixed:
            return np.frombuffer(data, kind.fixed)[0].item()
        if kind.wire == VARINT:
            return _signed(kind, read_varint(self._data, start, stop, self._what)[0])
        if isinstance(kind.default, bytes):
            return bytes(data)
        try:
            return str(data, "utf-8")
        except UnicodeDecodeError:
            raise self._damaged(start, "a text that is not UTF-8") from None

    def _packed(self, kind: Any, start: int, stop: int) -> list[Any]:
        data = np.frombuffer(self._data[start:stop], np.uint8)
        if kind.fixed:
            if data.size % np.dtype(kind.fixed).itemsize:
                raise self._damaged(start, f"{data.size} bytes of packed {kind.name}")
            return data.view(kind.fixed).tolist()
        ends = np.flatnonzero(data < 0x80)
        if data.size and (ends.size == 0 or ends[-1] != data.size - 1):
            raise self._damaged(stop, f"a packed {kind.name} without an end")
        starts = np.concatenate([[0], ends[:-1] + 1]) if ends.size else ends
        lengths = ends - starts + 1
        if lengths.size and lengths.max() > 10:
            raise self._damaged(start, f"a packed {kind.name} of more than ten bytes")
        values = np.zeros(ends.size, np.uint64)
        for i in range(int(lengths.max(initial=0))):
            there = lengths > i
            values[there] |= (data[starts[there] + i] & 0x7F).astype(np.uint64) << np.uint64(7 * i)
        return [_signed(kind, value) for value in values.tolist()]


def _signed(kind: Any, value: int) -> Any:
    """What a varint of 64 bits stands for in its kind."""
    if kind.zigzag:
        value = value >> 1 ^ -(value & 1)
        return value
    if kind.bits == 1:
        return value != 0
    value &= (1 << kind.bits) - 1
    return value - (1 << kind.bits) if kind.signed and value >> (kind.bits - 1) else value
