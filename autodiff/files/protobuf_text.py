"""Protocol buffers' text format and JSON: messages to text and back, driven by the messages' tables of fields.

Source: the text format language specification; the JSON mapping of the proto3 language guide.
"""
from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..core.errors import AutodiffError, DataLossError
from .protobuf_fields import Enum, Field
from .protobuf_wire import MAX_DEPTH

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
        return repr(value)
    if isinstance(value, int):
        return str(value)
    return '"' + "".join(_ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
                         for byte in (value.encode() if isinstance(value, str) else value)) + '"'


_TOKEN = re.compile(r"""(?P<blank>(?:\s+|\#[^\n]*)+)
                        | (?P<text>"[^"\\\n]*(?:\\.[^"\\\n]*)*" | '[^'\\\n]*(?:\\.[^'\\\n]*)*')
                        | (?P<word>[-+]?[\w.]+(?:(?<=[eE])[-+]\w+)?) | (?P<sign>[][{}<>:;,/-])""", re.VERBOSE)
_CLOSING = {"{": "}", "<": ">"}
_ESCAPED = re.compile(rb"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))", re.DOTALL)
_LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


class _Token(NamedTuple):
    """kind: text, word, sign, or end after the last. at: its offset."""

    kind: str
    text: str
    at: int


def parse_message(text: str, message: Any, what: str = "text format") -> Any:
    """Add what a text says to a message, and give it. Raises DataLossError, which names the line, for other texts."""
    _Parser(text, what).fill(message, "", 0)
    return message


class _Parser:
    """Reads tokens one after the other, with a look at the next."""

    def __init__(self, text: str, what: str) -> None:
        self._text, self._what = text, what
        self._tokens = self._split()
        self._next = next(self._tokens)

    def _split(self) -> Iterator[_Token]:
        at = 0
        while at < len(self._text):
            match = _TOKEN.match(self._text, at)
            if match is None:
                raise self._unexpected(_Token("sign", self._text[at], at), "a name, a value or a bracket")
            if match.lastgroup != "blank":
                yield _Token(match.lastgroup or "", match.group(), at)
            at = match.end()
        yield _Token("end", "", at)

    def _unexpected(self, token: _Token, expected: str) -> AutodiffError:
        line = self._text.count("\n", 0, token.at) + 1
        column = token.at - self._text.rfind("\n", 0, token.at)
        found = repr(token.text[:40]) if token.text else "the end"
        return DataLossError(f"{self._what}: {line}:{column} ", expected=expected, found=found)

    def _take(self) -> _Token:
        token = self._next
        if token.kind != "end":
            self._next = next(self._tokens)
        return token

    def _took(self, sign: str) -> bool:
        if self._next.text != sign or self._next.kind != "sign":
            return False
        self._take()
        return True

    def fill(self, message: Any, closing: str, depth: int) -> None:
        """Take fields up to a closing bracket, or to the end of the text."""
        if depth > MAX_DEPTH:
            raise self._unexpected(self._next, f"at most {MAX_DEPTH} messages inside of one another")
        while not self._took(closing) if closing else self._next.kind != "end":
            name = self._take()
            if name.kind != "word" or name.text not in message.BY_NAME:
                raise self._unexpected(name, f"a field of {type(message).__name__}")
            self._field(message, message.BY_NAME[name.text], depth)
            if not self._took(","):
                self._took(";")

    def _field(self, message: Any, field: Field, depth: int) -> None:
        self._took(":")
        if not self._took("["):
            self._value(message, field, depth)
            return
        while not self._took("]"):
            self._value(message, field, depth)
            self._took(",")

    def _value(self, message: Any, field: Field, depth: int) -> None:
        """One value into its place in the message."""
        if field.key is not None:
            self._entry(message, field, depth)
        elif field.is_message:
            inner = message.slot(field).add() if field.repeated else message.slot(field)
            inner.mark_set()
            self.fill(inner, self._opened(), depth + 1)
        elif field.repeated:
            message.slot(field).extend_raw([self._scalar(field.kind)])
        else:
            message.put(field, self._scalar(field.kind))

    def _opened(self) -> str:
        token = self._take()
        if token.text not in _CLOSING or token.kind != "sign":
            raise self._unexpected(token, "'{'")
        return _CLOSING[token.text]

    def _entry(self, message: Any, field: Field, depth: int) -> None:
        """One entry of a map: `{ key: ... value: ... }`."""
        closing = self._opened()
        key: Any = field.key.default if field.key else None
        value: Any = field.kind() if field.is_message else field.kind.default
        while not self._took(closing):
            name = self._take()
            self._took(":")
            if name.text == "key":
                key = self._scalar(field.key)
            elif name.text != "value":
                raise self._unexpected(name, "key or value")
            elif field.is_message:
                self.fill(value, self._opened(), depth + 1)
            else:
                value = self._scalar(field.kind)
            self._took(",")
        message.slot(field).put(key, value)

    def _scalar(self, kind: Any) -> Any:
        token = self._take()
        if token.kind == "text":
            data = _unescaped(token.text)
            while self._next.kind == "text":
                data += _unescaped(self._take().text)
            return self._accepted(kind, data, token)
        if token.text == "-" and self._next.kind == "word":
            token = token._replace(kind="word", text="-" + self._take().text)
        if token.kind != "word":
            raise self._unexpected(token, f"a value ({kind.name})")
        return self._accepted(kind, _plain(kind, token.text), token)

    def _accepted(self, kind: Any, value: Any, token: _Token) -> Any:
        try:
            return kind.accepts(value)
        except (AutodiffError, UnicodeDecodeError):
            raise self._unexpected(token, f"a value ({kind.name})") from None


def _plain(kind: Any, text: str) -> Any:
    """The value of a word; the word itself if it is none, which its kind then refuses."""
    if isinstance(kind, Enum) and text in kind.numbers:
        return text
    if kind.name == "bool":
        return {"true": True, "True": True, "t": True, "1": True, "false": False, "False": False, "f": False,
                "0": False}.get(text, text)
    try:
        if kind.name in ("float", "double"):
            return float(text.rstrip("fF") if text.lower().lstrip("-") not in ("inf", "infinity", "nan") else text)
        return int(text, 0) if not re.fullmatch(r"-?0\d+", text) else int(text, 8)
    except ValueError:
        return None


def _unescaped(token: str) -> bytes:
    def plain(match: re.Match[bytes]) -> bytes:
        hexadecimal, octal, letter = match.groups()
        if hexadecimal or octal:
            return bytes([(int(hexadecimal, 16) if hexadecimal else int(octal, 8)) & 0xFF])
        return _LETTERS.get(letter, letter)

    return _ESCAPED.sub(plain, token[1:-1].encode("utf-8", "surrogatepass"))


def message_to_json(message: Any, *, keep_names: bool = False, indent: int | None = 2) -> str:
    """The JSON of a message. keep_names: of fields as they are declared rather than as lowerCamelCase."""
    return json.dumps(_of_message(message, keep_names), indent=indent)


def message_of_json(text: str | bytes, message: Any) -> Any:
    """Add what a JSON text says to a message, and give it. Raises DataLossError for what it cannot be."""
    try:
        message.MergeFrom(type(message)(**_fields(type(message), json.loads(text))))
    except (ValueError, TypeError, AttributeError) as error:
        raise DataLossError(f"Failed to load JSON: {error}") from None
    return message


def _camel(name: str) -> str:
    return re.sub("_([a-z0-9])", lambda found: found[1].upper(), name)


def _of_message(message: Any, keep_names: bool) -> dict[str, Any]:
    def plain(field: Field, value: Any) -> Any:
        if field.is_message:
            return _of_message(value, keep_names)
        if isinstance(field.kind, Enum):
            return field.kind.Name(value)
        if isinstance(value, bytes):
            return base64.b64encode(value).decode()
        wide = isinstance(value, int) and not isinstance(value, bool) and field.kind.bits == 64
        return str(value) if wide else value

    return {field.name if keep_names else _camel(field.name):
            {str(key): plain(field, each) for key, each in sorted(value.items())} if field.key is not None else
            [plain(field, each) for each in value] if field.repeated else plain(field, value)
            for field, value in message.ListFields()}


def _fields(kind: Any, data: Any) -> dict[str, Any]:
    """Keyword arguments of a message from an object of JSON."""
    named = {name: field for field in kind.FIELDS for name in (field.name, _camel(field.name))}
    found: dict[str, Any] = {}
    for name, value in data.items():
        if name not in named:
            raise ValueError(f'Message type "{kind.__name__}" has no field named "{name}"')
        field = named[name]
        if field.key is not None:
            found[field.name] = {field.key.accepts(key if field.key.name == "string" else int(key)): _value(field, each)
                                 for key, each in value.items()}
        elif value is not None:
            found[field.name] = [_value(field, each) for each in value] if field.repeated else _value(field, value)
    return found


def _value(field: Field, value: Any) -> Any:
    if field.is_message:
        return field.kind(**_fields(field.kind, value))
    if isinstance(field.kind, Enum) or not isinstance(value, str) or field.kind.name == "string":
        return value
    return base64.b64decode(value) if field.kind.name == "bytes" else \
        float(value) if field.kind.name in ("float", "double") else int(value)
