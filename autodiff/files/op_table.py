"""The ops of TensorFlow 1.15 that graphs here have or read: inputs, outputs, attributes; a line each in a text file.

    MatMul(a:T, b:T) -> (product:T) transpose_a:bool=false transpose_b:bool=false T:type

An input is of the element type of an attribute, or of a fixed one; `&` marks a reference, `T*N` N inputs of one type,
`Tin...` inputs of the types of a list. Source: TensorFlow 1.15's registry of ops.
"""
from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

_LINE = re.compile(r"(\w+)\((.*?)\) -> \((.*?)\) ?(.*)")
_ATTRIBUTE = re.compile(r'(\w+):([\w()]+)(?:=("(?:[^"\\]|\\.)*"|\S*))?')


class Argument(NamedTuple):
    """An input or output. dtype: a fixed type's name; else of the attribute `type_attr`, or of the list `list_attr`.

    number_attr: the attribute that says how many there are; empty for one.
    """

    name: str
    dtype: str
    type_attr: str
    number_attr: str
    list_attr: str
    is_ref: bool

    @property
    def is_several(self) -> bool:
        """Whether there may be any number of it."""
        return bool(self.number_attr or self.list_attr)


class OpSchema(NamedTuple):
    """One op. attributes: name -> (kind such as `type` or `list(int)`, default as Python value, None for none)."""

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    attributes: dict[str, tuple[str, Any]]

    def input_counts(self, count: int, given: Mapping[str, Any]) -> list[int]:
        """How many of `count` inputs belong to each argument. given: attributes, of which some may say it."""
        found = [number_of(argument, given) for argument in self.inputs]
        unsaid = found.count(None)
        share = (count - sum(n for n in found if n is not None)) // unsaid if unsaid else 0
        return [share if n is None else n for n in found]

    @property
    def derived(self) -> set[str]:
        """Attributes that follow from the inputs."""
        return {name for argument in self.inputs
                for name in (argument.type_attr, argument.number_attr, argument.list_attr) if name}


def number_of(argument: Argument, given: Mapping[str, Any]) -> int | None:
    """How many there are of an argument; None if nothing says it."""
    if argument.number_attr in given:
        return int(given[argument.number_attr])
    if argument.list_attr in given:
        return len(given[argument.list_attr])
    return None if argument.is_several else 1


@functools.cache
def _lines() -> dict[str, str]:
    text = Path(__file__).with_name("tensorflow_ops.txt").read_text(encoding="utf-8")
    return {line.partition("(")[0]: line for line in text.splitlines()}


@functools.cache
def op_schema(name: str) -> OpSchema | None:
    """The op of a name; None for one that is not in the file."""
    line = _lines().get(name)
    match = _LINE.match(line or "")
    if match is None:
        return None
    _, inputs, outputs, attributes = match.groups()
    found = {key: (kind, _default(kind, value)) for key, kind, value in _ATTRIBUTE.findall(attributes)}
    return OpSchema(name, _arguments(inputs, found), _arguments(outputs, found), found)


def _arguments(text: str, attributes: dict[str, Any]) -> tuple[Argument, ...]:
    made = []
    for part in filter(None, text.split(", ")):
        name, _, kind = part.partition(":")
        is_ref, kind = kind.startswith("&"), kind.removeprefix("&")
        kind, _, number = kind.partition("*")
        if kind.endswith("..."):
            made.append(Argument(name, "", "", "", kind.removesuffix("..."), is_ref))
        else:
            by_attribute = kind in attributes
            made.append(Argument(name, "" if by_attribute else kind, kind if by_attribute else "", number, "", is_ref))
    return tuple(made)


def _default(kind: str, text: str) -> Any:
    """The value that an attribute has where none is given; None if one must be given."""
    if not text:
        return None
    if kind == "string":
        return json.loads(text)
    if text == "?":  # a shape of unknown rank: no dims, as None is, so it needs no other value
        return None
    if text.startswith("["):
        return tuple(_single(each) for each in text[1:-1].split(",") if each)
    return _single(text)


def _single(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    return float(text) if re.fullmatch(r"-?(\d+\.\d*|\d*e-?\d+|\d+e-?\d+|\d*\.\d+e?-?\d*|inf|nan)", text) else (
        int(text) if re.fullmatch(r"-?\d+", text) else text)
