"""One string to another: cases, parts, patterns, encodings."""

import base64
import re
from functools import lru_cache

import numpy as np

from ...core.dtypes import INDICES, bool_, int32, string
from ...core.errors import InvalidArgumentError, ShapeError
from ...core.infer import rank_of, same_shape
from ...core.op import Spec, T
from ...core.shapes import broadcast, show
from ..common.texts import Text, check_word, each, plain, text_op

_UNITS = "BYTE", "UTF8_CHAR"
_OUTER = re.compile(rb"[^\x80-\xbf][\x80-\xbf]*|[\x80-\xbf]+")  # the characters of UTF-8
_BACK = re.compile(r"\\([0-9\\])")


@text_op("StringLower", infer=same_shape)
def string_lower(input: Text, *, encoding=""):
    """Small letters for capital ones, of ASCII alone unless encoding is utf-8. input: string[...] -> string[...]."""
    return each(lambda text: text.decode().lower().encode() if encoding else text.lower(), input)


@text_op("StringUpper", infer=same_shape)
def string_upper(input: Text, *, encoding=""):
    """Capital letters for small ones, of ASCII alone unless encoding is utf-8. input: string[...] -> string[...]."""
    return each(lambda text: text.decode().upper().encode() if encoding else text.upper(), input)


@text_op("StringStrip", infer=same_shape)
def string_strip(input: Text):
    """Without white space at its ends. input: string[...] -> string[...]."""
    return each(bytes.strip, input)


def _lengths(input, *, unit="BYTE"):
    check_word("StringLength", "unit", unit, _UNITS)
    return Spec(int32, input.dims)


@text_op("StringLength", infer=_lengths)
def string_length(input: Text, *, unit="BYTE"):
    """Bytes, or characters of UTF-8. input: string[...] -> int32[...]."""
    return each(len if unit == "BYTE" else lambda text: len(_OUTER.findall(text)), input, dtype=np.int32)


def _parts(input, pos, len, *, unit="BYTE"):
    check_word("Substr", "unit", unit, _UNITS)
    if pos.dims is not None and len.dims is not None and pos.dims != len.dims:
        raise ShapeError(f"pos and len shapes must match: {show(pos.dims)} vs. {show(len.dims)}")
    return Spec(string, broadcast(input.dims, pos.dims))


@text_op("Substr", infer=_parts, dtypes=INDICES)
def substr(input: Text, pos: T, len: T, *, unit="BYTE"):
    """`len` bytes or characters from `pos`, counted from the end if below 0. input: string[...], pos, len: int[...]."""
    def part(text, start, count):
        units = text if unit == "BYTE" else _OUTER.findall(text)
        size = units.__len__()
        if not -size <= start <= size:
            raise InvalidArgumentError(f"pos {start} out of range for string b'{text.decode(errors='replace')}'")
        start += size if start < 0 else 0
        found = units[start:start + max(count, 0)]
        return found if unit == "BYTE" else b"".join(found)

    return each(part, input, pos, len)


# ---- patterns: RE2's, as far as Python's say the same -------------------------------------

@lru_cache(maxsize=64)
def _pattern(text):
    try:
        return re.compile(text.decode("utf-8", "surrogateescape"), re.ASCII)
    except re.error as error:
        raise InvalidArgumentError(f"Invalid pattern: {text.decode(errors='replace')}, error: {error}") from None


def _of_patterns(input, *patterns, **_):
    for pattern in patterns:
        rank_of(pattern, exactly=0, what="pattern")
    return Spec(string, input.dims)


@text_op("RegexReplace", infer=_of_patterns)
def regex_replace(input: Text, pattern: Text, rewrite: Text, *, replace_global=True):
    r"""What fits a pattern, or the first of it, written anew; \1 is a group. input: string[...] -> string[...]."""
    compiled, template = _pattern(plain(pattern)), plain(rewrite).decode("utf-8", "surrogateescape")

    def fill(match):
        return _BACK.sub(lambda back: "\\" if back[1] == "\\" else match[int(back[1])] or "", template)

    def replaced(text):
        whole = compiled.sub(fill, text.decode("utf-8", "surrogateescape"), count=0 if replace_global else 1)
        return whole.encode("utf-8", "surrogateescape")

    return each(replaced, input)


@text_op("RegexFullMatch", infer=lambda input, pattern: Spec(bool_, _of_patterns(input, pattern).dims))
def regex_full_match(input: Text, pattern: Text):
    """Whether all of a string fits a pattern. input: string[...] -> bool[...]."""
    compiled = _pattern(plain(pattern))
    return each(lambda text: compiled.fullmatch(text.decode("utf-8", "surrogateescape")) is not None, input, dtype=bool)


# ---- encodings ----------------------------------------------------------------------------

@text_op("EncodeBase64", infer=same_shape)
def encode_base64(input: Text, *, pad=False):
    """As letters, digits, - and _, filled up with = if `pad`. input: string[...] -> string[...]."""
    return each(lambda text: base64.urlsafe_b64encode(text) if pad else base64.urlsafe_b64encode(text).rstrip(b"="),
                input)


@text_op("DecodeBase64", infer=same_shape)
def decode_base64(input: Text):
    """The bytes that EncodeBase64 wrote, with or without the filling. input: string[...] -> string[...]."""
    def decoded(text):
        bare = text if len(text) % 4 else re.sub(rb"={1,2}$", b"", text)
        if len(bare) % 4 == 1:
            raise InvalidArgumentError("Base64 string length cannot be 1 modulo 4")
        if not re.fullmatch(rb"[A-Za-z0-9_-]*", bare):
            raise InvalidArgumentError("Invalid character found in base64")
        return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))

    return each(decoded, input)
