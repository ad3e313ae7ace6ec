"""Protocol buffers' text format: messages to text and back, driven by the messages' tables of fields.

Source: the text format language specification.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .protobuf_fields import Enum, Field

_ESCAPES = {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", ord('"'): '\\"', ord("'"): "\\'", ord("\\"): "\\\\"}


def format_message(message: Any) -> str:
    """The text of a message, one field a line."""
    return "".join(f"{line}\n" for line in _lines(message, ""))


def _lines(message: Any, indent: str) -> Iterator[str]:
    for field, value in message.ListFields():
        if field.key is not None:
            for key in sorted(value):
                yield f"{indent}{field.name} {{"
                yield f"{indent}  key: {_scalar(field.key, key)}"
                yield from _field_lines(field, "value", value[key], indent + "  ")
                yield indent + "}"
        else:
            for each in value if field.repeated else [value]:
                yield from _field_lines(field, field.name, each, indent)


def _field_lines(field: Field, name: str, value: Any, indent: str) -> Iterator[str]:
    if field.is_message:
        yield f"{indent}{name} {{"
        yield from _lines(value, indent + "  ")
        yield indent + "}"
    else:
        yield f"{indent}{name}: {_scalar(field.kind, value)}"


def _scalar(kind: Any, value: Any) -> str:
    if isinstance(kind, Enum):
        return next((name for name, number in kind.items() if number == value), str(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if kind.name == "double" else str(np.float32(value))
    if isinstance(value, int):
        return str(value)
    return '"' + "".join(_ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
                         for byte in (value.encode() if isinstance(value, str) else value)) + '"'
