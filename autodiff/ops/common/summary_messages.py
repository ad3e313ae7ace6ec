"""Messages of summaries, tf.Summary and its parts, in protocol buffers' wire format.

Source: the protocol buffers encoding guide; summary.proto for numbers of fields.
"""
from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.errors import ArgumentError, DataLossError, UnsupportedError

__all__ = ["HistogramProto", "Message", "Summary"]

_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5


class Repeated(list):
    """The values of a repeated field."""

    def __init__(self, kind: Any, values: Any = ()) -> None:
        super().__init__(values)
        self._kind = kind

    def add(self, **fields: Any) -> Any:
        """Append a new message, and give it."""
        self.append(self._kind(**fields))
        return self[-1]


class Message:
    """Fields by name. FIELDS: name -> (number, kind); a list of one kind stands for a repeated field.

    Raises ArgumentError (ValueError) for an unknown field in the constructor, UnsupportedError
    (AttributeError) for one that is set or read.
    """

    FIELDS: dict[str, tuple[int, Any]] = {}

    def __init__(self, **fields: Any) -> None:
        for name, value in fields.items():
            if name not in self.FIELDS:
                raise ArgumentError(self._unknown(name))
            setattr(self, name, value)

    def _unknown(self, name: str) -> str:
        return f"{type(self).__name__} has no field {name!r}: it has {', '.join(self.FIELDS)}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.FIELDS:
            raise UnsupportedError(self._unknown(name))
        kind = self.FIELDS[name][1]
        if isinstance(kind, str):
            return _ZEROS[kind]
        self.__dict__[name] = value = Repeated(kind[0]) if isinstance(kind, list) else kind()
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.FIELDS:
            raise UnsupportedError(self._unknown(name))
        kind = self.FIELDS[name][1]
        if isinstance(kind, list):
            value = Repeated(kind[0], value)
        elif kind == "float":
            value = float(np.float32(value))
        self.__dict__[name] = value

    def HasField(self, name: str) -> bool:  # noqa: N802
        """Whether a field was set."""
        return name in self.__dict__

    def SerializeToString(self) -> bytes:  # noqa: N802
        """The message as bytes."""
        return b"".join(_encoded(number, kind, self.__dict__[name])
                        for name, (number, kind) in self.FIELDS.items() if name in self.__dict__)

    def ParseFromString(self, data: bytes) -> int:  # noqa: N802
        """Take the fields out of bytes. Raises DataLossError for bytes that are no message."""
        self.__dict__.clear()
        names = {number: (name, kind) for name, (number, kind) in self.FIELDS.items()}
        try:
            for number, raw in _fields(bytes(data)):
                if number in names:
                    self._take(*names[number], raw)
        except (IndexError, struct.error, TypeError, UnicodeDecodeError) as error:
            raise DataLossError(f"expected the bytes of a {type(self).__name__}: {error}") from None
        return len(data)

    def _take(self, name: str, kind: Any, raw: Any) -> None:
        if isinstance(kind, list):
            getattr(self, name).extend(np.frombuffer(raw, "<f8").tolist() if kind == ["double"] else
                                       [_decoded(kind[0], raw)])
        else:
            self.__dict__[name] = _decoded(kind, raw)

    @classmethod
    def FromString(cls, data: bytes) -> Any:  # noqa: N802
        """The message that bytes hold."""
        message = cls()
        message.ParseFromString(data)
        return message

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())})"


_ZEROS: dict[str, Any] = {"text": "", "bytes": b"", "float": 0.0, "double": 0.0, "int": 0}


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _encoded(number: int, kind: Any, value: Any) -> bytes:
    if kind == ["double"]:
        return _with_length(number, np.asarray(value, "<f8").tobytes())
    if isinstance(kind, list):
        return b"".join(_encoded(number, kind[0], v) for v in value)
    if kind == "float":
        return _varint(number << 3 | _FOUR_BYTES) + struct.pack("<f", value)
    if kind == "double":
        return _varint(number << 3 | _EIGHT_BYTES) + struct.pack("<d", value)
    if kind == "int":
        return _varint(number << 3 | _VARINT) + _varint(int(value))
    return _with_length(number, value.encode() if isinstance(value, str) else
                        value if isinstance(value, bytes) else value.SerializeToString())


def _with_length(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH) + _varint(len(data)) + data


def _decoded(kind: Any, raw: Any) -> Any:
    if kind in ("float", "double"):
        return struct.unpack("<f" if kind == "float" else "<d", raw)[0]
    if kind == "text":
        return raw.decode()
    return raw if kind in ("bytes", "int") else kind.FromString(raw)


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """(number, raw value) of each field of a message."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        if key & 7 == _VARINT:
            value, at = _read_varint(data, at)
            yield key >> 3, value
            continue
        length = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}.get(key & 7)
        if length is None:
            length, at = _read_varint(data, at)
        if at + length > len(data):
            raise IndexError("it is cut off")
        yield key >> 3, data[at:at + length]
        at += length


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] & 128:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1


class HistogramProto(Message):
    """Counts of values: bucket[i] of them are below bucket_limit[i] and not below the limit before it."""

    FIELDS = {"min": (1, "double"), "max": (2, "double"), "num": (3, "double"), "sum": (4, "double"),
              "sum_squares": (5, "double"), "bucket_limit": (6, ["double"]), "bucket": (7, ["double"])}


class _Image(Message):
    FIELDS = {"height": (1, "int"), "width": (2, "int"), "colorspace": (3, "int"), "encoded_image_string": (4, "bytes")}


class _Texts(Message):
    FIELDS = {"dtype": (1, "int"), "string_val": (8, ["bytes"])}


class _Value(Message):
    FIELDS = {"tag": (1, "text"), "simple_value": (2, "float"), "image": (4, _Image), "histo": (5, HistogramProto),
              "node_name": (7, "text"), "tensor": (8, _Texts)}


class Summary(Message):
    """Values with a tag each, such as a loss: what a summary op gives, as bytes."""

    Value, Image = _Value, _Image
    FIELDS = {"value": (1, [_Value])}
