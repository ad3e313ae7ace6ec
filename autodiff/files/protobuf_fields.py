"""What a field of a protocol buffer message is: its number, name and kind, and the values it takes."""
from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import ArgumentError, KindError

VARINT, EIGHT_BYTES, LENGTH, GROUP_START, GROUP_END, FOUR_BYTES = range(6)  # the wire types


class Scalar(NamedTuple):
    """A kind of single values. fixed: the NumPy dtype of those with a fixed width, else ''.

    accepts: a Python value as it is stored; it raises KindError or ArgumentError for what does not fit.
    """

    name: str
    wire: int
    default: Any
    accepts: Callable[[Any], Any]
    fixed: str = ""
    bits: int = 64
    signed: bool = False
    zigzag: bool = False


class Enum:
    """Names of numbers. An unknown number stays a number, as in the third version of protocol buffers."""

    wire, default, fixed, bits, signed, zigzag = VARINT, 0, "", 32, True, False

    def __init__(self, name: str, numbers_by_name: dict[str, int]) -> None:
        self.name = name
        self.numbers = numbers_by_name
        self._names = {number: each for each, number in reversed(numbers_by_name.items())}

    def accepts(self, value: Any) -> int:
        """The number of a name or a number."""
        return self.Value(value) if isinstance(value, str) else _integer("enum", 32, True)(value)

    def Value(self, name: str) -> int:  # noqa: N802
        """The number of a name. Raises ArgumentError (ValueError) for an unknown one."""
        if name not in self.numbers:
            raise ArgumentError(f"Enum {self.name} has no value defined for name {name!r}")
        return self.numbers[name]

    def Name(self, number: int) -> str:  # noqa: N802
        """The name of a number. Raises ArgumentError (ValueError) for one that has none."""
        if number not in self._names:
            raise ArgumentError(f"Enum {self.name} has no name defined for value {number}")
        return self._names[number]

    def keys(self) -> list[str]:
        """All names."""
        return list(self.numbers)

    def values(self) -> list[int]:
        """All numbers."""
        return list(self.numbers.values())

    def items(self) -> list[tuple[str, int]]:
        """Names with their numbers."""
        return list(self.numbers.items())


class Field(NamedTuple):
    """One row of a message's table.

    kind: a Scalar, an Enum or a Message class. key: the kind of a map's keys, None for other fields. oneof: the name of
    the group of which at most one field is set, '' for none. explicit: whether a set field is written even if it has
    its default value. is_message: whether its values are messages.
    """

    number: int
    name: str
    kind: Any
    repeated: bool = False
    key: Scalar | None = None
    oneof: str = ""
    explicit: bool = False
    is_message: bool = False


def _refused(value: Any, expected: str) -> KindError:
    return KindError(f"{value!r} has type {type(value).__name__}, but expected one of: {expected}")


def _integer(name: str, bits: int, signed: bool) -> Callable[[Any], int]:
    low, high = (-1 << bits - 1, (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)

    def accepts(value: Any) -> int:
        if not isinstance(value, (numbers.Integral, np.bool_)):
            raise _refused(value, "int, long")
        found = int(value)
        if not low <= found <= high:
            raise ArgumentError(f"Value out of range: {value}", hint=f"expected {name}: {low} to {high}")
        return found

    return accepts


def _double(value: Any) -> float:
    if not isinstance(value, (numbers.Real, np.bool_)):
        raise _refused(value, "int, long, float")
    return float(value)


def _float(value: Any) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(_double(value)))


def _bool(value: Any) -> bool:
    if not isinstance(value, (numbers.Integral, np.bool_)):
        raise _refused(value, "int, bool")
    return bool(value)


def _string(value: Any) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise ArgumentError(f"{value!r} has type bytes, but isn't valid UTF-8 encoding.") from None
    if not isinstance(value, str):
        raise _refused(value, "bytes, unicode")
    return str(value)


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise _refused(value, "bytes")
    return bytes(value)


def _varints() -> list[Scalar]:
    return [Scalar(name, VARINT, 0, _integer(name, bits, signed), bits=bits, signed=signed, zigzag=zigzag)
            for name, bits, signed, zigzag in (
                ("int32", 32, True, False), ("int64", 64, True, False), ("uint32", 32, False, False),
                ("uint64", 64, False, False), ("sint32", 32, True, True), ("sint64", 64, True, True))]


SCALARS: dict[str, Scalar] = {kind.name: kind for kind in (
    *_varints(), Scalar("bool", VARINT, False, _bool, bits=1),
    Scalar("fixed32", FOUR_BYTES, 0, _integer("fixed32", 32, False), "<u4"),
    Scalar("sfixed32", FOUR_BYTES, 0, _integer("sfixed32", 32, True), "<i4"),
    Scalar("float", FOUR_BYTES, 0.0, _float, "<f4"),
    Scalar("fixed64", EIGHT_BYTES, 0, _integer("fixed64", 64, False), "<u8"),
    Scalar("sfixed64", EIGHT_BYTES, 0, _integer("sfixed64", 64, True), "<i8"),
    Scalar("double", EIGHT_BYTES, 0.0, _double, "<f8"), Scalar("string", LENGTH, "", _string),
    Scalar("bytes", LENGTH, b"", _bytes))}
