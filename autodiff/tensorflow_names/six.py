"""six, which came with TensorFlow 1 and which its scripts use: for where it is not installed. Python 3 alone."""
from __future__ import annotations

import io
import operator
import sys
import types
from collections.abc import Callable
from functools import wraps
from typing import Any

__all__ = ["BytesIO", "Iterator", "MAXSIZE", "PY2", "PY3", "PY34", "StringIO", "add_metaclass", "advance_iterator", "b",
           "binary_type", "byte2int", "class_types", "ensure_binary", "ensure_str", "ensure_text", "get_function_code",
           "get_function_globals", "get_method_function", "indexbytes", "int2byte", "integer_types", "iterbytes",
           "iteritems", "iterkeys", "itervalues", "next", "print_", "python_2_unicode_compatible", "raise_from",
           "reraise", "string_types", "text_type", "u", "unichr", "viewitems", "viewkeys", "viewvalues",
           "with_metaclass", "wraps"]

PY2, PY3, PY34, MAXSIZE = False, True, True, sys.maxsize
string_types, integer_types, class_types, text_type, binary_type = (str,), (int,), (type,), str, bytes
StringIO, BytesIO, Iterator, unichr, print_ = io.StringIO, io.BytesIO, object, chr, print
next = advance_iterator = next  # noqa: A001
int2byte, byte2int, indexbytes, iterbytes = operator.methodcaller("to_bytes", 1, "big"), operator.itemgetter(0), \
    operator.getitem, iter
get_method_function, get_function_code, get_function_globals = map(operator.attrgetter,
                                                                  ("__func__", "__code__", "__globals__"))
viewkeys, viewvalues, viewitems = map(operator.methodcaller, ("keys", "values", "items"))


def _iterating(kind: str) -> Callable[..., Any]:
    return lambda mapping, **options: iter(getattr(mapping, kind)(**options))


iterkeys, itervalues, iteritems = map(_iterating, ("keys", "values", "items"))


def b(text: str) -> bytes:
    """The bytes of a Latin-1 literal."""
    return text.encode("latin-1")


def u(text: str) -> str:
    """The text itself."""
    return text


def ensure_binary(text: str | bytes, encoding: str = "utf-8", errors: str = "strict") -> bytes:
    """Bytes of a text. Raises TypeError for anything else."""
    return _told(text).encode(encoding, errors) if isinstance(text, str) else _told(text)


def ensure_text(text: str | bytes, encoding: str = "utf-8", errors: str = "strict") -> str:
    """The text of bytes. Raises TypeError for anything else."""
    return _told(text).decode(encoding, errors) if isinstance(text, bytes) else _told(text)


ensure_str = ensure_text


def _told(text: Any) -> Any:
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"expected text or bytes, found {type(text).__name__}")
    return text


def reraise(kind: type, value: BaseException | None, traceback: types.TracebackType | None = None) -> None:
    """Raise an exception again, with its traceback."""
    raise (kind() if value is None else value).with_traceback(traceback)


def raise_from(value: BaseException, cause: BaseException | None) -> None:
    """raise value from cause."""
    raise value from cause


def with_metaclass(meta: type, *bases: type) -> type:
    """A stand-in for the bases of a class, which is made of `bases` by the metaclass."""
    class StandIn(type):
        def __new__(cls, name: str, _: Any, names: dict[str, Any]) -> Any:
            return meta(name, bases, names)

    return type.__new__(StandIn, "StandIn", (), {})


def add_metaclass(meta: type) -> Callable[[type], type]:
    """A decorator that makes a class anew, by a metaclass."""
    def decorated(made: type) -> type:
        names = {name: value for name, value in vars(made).items() if name not in ("__dict__", "__weakref__")}
        return meta(made.__name__, made.__bases__, names)
    return decorated


def python_2_unicode_compatible(made: type) -> type:
    """The class itself."""
    return made
