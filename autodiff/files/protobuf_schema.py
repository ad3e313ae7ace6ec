"""A text that says which messages there are, to message classes.

    enum DataType DT_INVALID=0 DT_FLOAT=1       an enum: names and numbers; lines that are indented go on
    message NodeDef                             a message; its fields are in the indented lines below it
        1 string name; 2 string op              number, kind, name
        3 string* input;                        a star: repeated
        5 string -> AttrValue attr;             a map
        2 bytes s | value                       a member of the oneof `value`

A kind is a scalar, an enum or a message of this text or of those it builds on. `Summary.Value` is also an attribute
of `Summary`; so are the names of an enum inside of a message.
"""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .protobuf_fields import SCALARS, Enum, Field
from .protobuf_message import Message

_ROW = re.compile(r"(\d+)\s+(?:(\w+)\s*->\s*)?([\w.]+)(\*?)\s+(\w+)(?:\s*\|\s*(\w+))?$")


def messages(text: str, known: Mapping[str, Any] | None = None, *, explicit: bool = False) -> dict[str, Any]:
    """The classes and enums of a text, by name.

    known: those of other texts. explicit: every single field that is set is written, as in the second version of
    protocol buffers; without it, one that equals its default is not.
    """
    found: dict[str, Any] = {}
    rows: dict[str, list[str]] = {}
    for kind, name, body in _blocks(text):
        if kind == "enum":
            found[name] = Enum(name.rpartition(".")[2], {each.partition("=")[0]: int(each.partition("=")[2])
                                                         for each in " ".join(body).split()})
        else:
            found[name] = type(name.rpartition(".")[2], (Message,), {"__slots__": (), "__doc__": f"A {name}."})
            rows[name] = [row.strip() for line in body for row in line.split(";") if row]
    kinds = {**SCALARS, **(known or {}), **found}
    for name, body in rows.items():
        _fill(found[name], [_field(row, kinds, explicit) for row in body])
    for name, made in found.items():
        _nest(found, name, made)
    return found


def _blocks(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """(enum or message, name, what follows)."""
    block: tuple[str, str, list[str]] | None = None
    for line in filter(str.strip, text.splitlines()):
        if line.startswith(" "):
            assert block is not None
            block[2].append(line.strip())
            continue
        if block:
            yield block
        kind, name, *rest = line.split()
        block = kind, name, rest
    if block:
        yield block


def _field(row: str, kinds: Mapping[str, Any], explicit: bool) -> Field:
    match = _ROW.match(row)
    if match is None:
        raise SyntaxError(f"no field of a message: {row!r}")
    number, key, kind, star, name, oneof = match.groups()
    return Field(int(number), name, kinds[kind], bool(star), SCALARS[key] if key else None, oneof or "",
                 explicit or bool(oneof), isinstance(kinds[kind], type))


def _fill(made: Any, fields: list[Field]) -> None:
    made.FIELDS = tuple(sorted(fields))
    made.BY_NAME = {field.name: field for field in made.FIELDS}
    made.BY_NUMBER = {field.number: field for field in made.FIELDS}


def _nest(found: Mapping[str, Any], name: str, made: Any) -> None:
    outer, _, inner = name.rpartition(".")
    if outer in found:
        setattr(found[outer], inner, made)
        if isinstance(made, Enum):
            for each, number in made.items():
                setattr(found[outer], each, number)
