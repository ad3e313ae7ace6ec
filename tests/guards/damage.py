"""Damage by chance: to bytes, to the fields of a protocol buffer, to JSON, to the members of an archive."""
from __future__ import annotations

import io
import random
import zipfile
from typing import Any

from autodiff.core.errors import DataLossError
from autodiff.files.protobuf_wire import read_varint, write_varint

NUMBERS = (0, 1, 2, 7, 100, 127, 128, 255, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
ODD = (None, True, -1, 0, 1, 3, 1 << 40, 1 << 70, 1e308, float("nan"), "", "w:0", "x", "float32", "/dev/zero", "a\0b",
       "é", [], [[]], {}, [1, 2], {"dtype": "float32"}, {"tensor": "w:0"}, {"array": "a0"}, {"tuple": []},
       {"opaque": "x"})


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Bytes with some of them changed, gone, doubled or moved."""
    found = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at, end = sorted(chance.randrange(len(found) + 1) for _ in range(2))
        end = min(end, at + chance.choice((1, 4, 64, len(found))))
        kind = chance.randrange(6)
        if kind == 0 and found:
            found[min(at, len(found) - 1)] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
        elif kind == 1:
            del found[at:end]
        elif kind == 2:
            found[at:at] = found[at:end]
        elif kind == 3:
            found[at:at] = chance.randbytes(chance.choice((1, 4, 30)))
        elif kind == 4:
            del found[at:]
        else:
            found[at:end] = bytes(reversed(found[at:end]))
    return bytes(found)


def twisted(data: bytes, chance: random.Random) -> bytes:
    """A protocol buffer with one of its fields, however deep, changed, gone, doubled or in another's place."""
    fields = _fields(data)
    if not fields:
        return damaged(data, chance)
    at = chance.randrange(len(fields))
    number, wire, value = fields[at]
    if wire == 2 and isinstance(value, bytes) and len(value) > 2 and chance.random() < 0.8 and _fields(value):
        fields[at] = number, wire, twisted(value, chance)
    else:
        kind = chance.randrange(6)
        if kind == 0:
            del fields[at]
        elif kind == 1:
            fields.insert(at, fields[chance.randrange(len(fields))])
        elif kind == 2:
            fields[at] = fields[chance.randrange(len(fields))][0], wire, value
        elif wire == 0:
            fields[at] = number, wire, chance.choice(NUMBERS)
        elif wire == 2:
            others = [v for _, w, v in fields if w == 2]
            fields[at] = number, wire, chance.choice((b"", damaged(value, chance), chance.choice(others), value * 2))
        else:
            fields[at] = number, wire, chance.randbytes(len(value))
    return b"".join(write_varint(number << 3 | wire) + (
        write_varint(value) if wire == 0 else write_varint(len(value)) + value if wire == 2 else value)
        for number, wire, value in fields)


def _fields(data: bytes) -> list[tuple[int, int, Any]]:
    """Number, wire type and value of each field; none if this is no message."""
    found, at = [], 0
    try:
        while at < len(data):
            key, at = read_varint(data, at, len(data), "")
            number, wire = key >> 3, key & 7
            if wire == 0:
                value, at = read_varint(data, at, len(data), "")
            elif wire in (1, 2, 5):
                size = {1: 8, 5: 4}.get(wire, 0)
                if wire == 2:
                    size, at = read_varint(data, at, len(data), "")
                value, at = data[at:at + size], at + size
            if wire not in (0, 1, 2, 5) or at > len(data) or not number:
                return []
            found.append((number, wire, value))
    except DataLossError:
        return []
    return found


def twisted_json(value: Any, chance: random.Random) -> Any:
    """JSON with one of its values, however deep, changed, gone, or in another's place."""
    if isinstance(value, (dict, list)) and value and chance.random() < 0.9:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = chance.choice(keys)
        made = dict(value) if isinstance(value, dict) else list(value)
        if chance.random() < 0.1:
            del made[key]
        elif chance.random() < 0.1:
            made[key] = value[chance.choice(keys)]
        else:
            made[key] = twisted_json(value[key], chance)
        return made
    return chance.choice(ODD)


def rezipped(data: bytes, chance: random.Random) -> bytes:
    """An archive whose own bytes are in order, and those of a member are not."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name, out = chance.choice(list(members)), io.BytesIO()
    head = members[name][:128]
    members[name] = damaged(head, chance) + members[name][128:] if chance.random() < 0.7 else damaged(
        members[name], chance)
    with zipfile.ZipFile(out, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()
