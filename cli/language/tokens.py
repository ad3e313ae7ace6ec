"""A command line cut into words: quotes, brackets, /regexes/, comments."""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..model.usage_error import UsageError

PAIRS = {"[": "]", "(": ")", "{": "}"}


class Word(NamedTuple):
    """A word and where it stands in the line. text is without its quotes; quoted: it had some."""

    text: str
    start: int
    end: int
    quoted: bool = False


def split(line: str, start: int = 0) -> tuple[list[Word], UsageError | None]:
    """Words of `line` from `start` up to a `#` that begins a word, and what is wrong with the last one.

    White space inside quotes, brackets and /regexes/ does not separate. A quote or bracket left open reaches to the
    end of the line, and is the error.
    """
    words: list[Word] = []
    at, error = start, None
    while True:
        while at < len(line) and line[at].isspace():
            at += 1
        if at >= len(line) or line[at] == "#":
            return words, error
        end, error = _end_of_word(line, at)
        words.append(_word(line, at, end))
        at = end


def _end_of_word(line: str, start: int) -> tuple[int, UsageError | None]:
    at = _end_of_regex(line, start) or start
    depth: list[str] = []
    while at < len(line):
        char = line[at]
        if char in "'\"":
            close = _closing_quote(line, at)
            if close < 0:
                return len(line), UsageError(f"a quote is open: {line[at:][:30]}", f"close it with {char}",
                                             code="syntax", span=(at, len(line)))
            at = close
        elif char in PAIRS:
            depth.append(PAIRS[char])
        elif depth and char == depth[-1]:
            depth.pop()
        elif not depth and char.isspace():
            return at, None
        at += 1
    if not depth:
        return len(line), None
    return len(line), UsageError(expected=f"{depth[-1]!r}", found=f"the end of the line: {line[start:][:40]}",
                                 hint=f"{line}{''.join(reversed(depth))}", code="syntax", span=(start, len(line)))


def _unescaped(line: str, at: int, ends: Callable[[int], bool]) -> int:
    """The first place from `at` on that ends something, and that no backslash escapes; -1 if there is none."""
    while at < len(line):
        if line[at] == "\\":
            at += 1
        elif ends(at):
            return at
        at += 1
    return -1


def _closing_quote(line: str, start: int) -> int:
    return _unescaped(line, start + 1, lambda at: line[at] == line[start])


def _end_of_regex(line: str, start: int) -> int:
    """Index after the closing `/` of a regex that begins at `start`; 0 if there is none.

    A regex may hold blanks, so its end is the first `/` with white space, `[` or the end behind it;
    without one, the word is no regex (`/x` is a print format).
    """
    if line[start] != "/":
        return 0
    return 1 + _unescaped(line, start + 1, lambda at: line[at] == "/" and (
        at + 1 == len(line) or line[at + 1].isspace() or line[at + 1] == "["))


def _word(line: str, start: int, end: int) -> Word:
    raw = line[start:end]
    if len(raw) > 1 and raw[0] in "'\"" and raw[-1] == raw[0] and _closing_quote(line, start) == end - 1:
        return Word(raw[1:-1].replace("\\" + raw[0], raw[0]), start, end, True)
    return Word(raw, start, end)


def statements(line: str) -> list[str]:
    """A line cut at each `;` outside of quotes and brackets."""
    return parts(line, ";")


def parts(line: str, mark: str) -> list[str]:
    """A text cut at each `mark` outside of quotes and brackets; empty parts are left out."""
    found, start, at = [], 0, 0
    depth: list[str] = []
    while at < len(line):
        char = line[at]
        if char in "'\"" and (close := _closing_quote(line, at)) > 0:
            at = close
        elif char in PAIRS:
            depth.append(PAIRS[char])
        elif depth and char == depth[-1]:
            depth.pop()
        elif char == mark and not depth:
            found.append(line[start:at])
            start = at + 1
        at += 1
    return [part.strip() for part in (*found, line[start:]) if part.strip()]
