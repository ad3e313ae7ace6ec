"""A command line cut into words: quotes, brackets, /regexes/, comments, redirections."""
from __future__ import annotations

from typing import NamedTuple

from ..model.usage_error import UsageError

PAIRS = {"[": "]", "(": ")", "{": "}"}


class Word(NamedTuple):
    """A word and where it stands in the line. text is without its quotes; quoted: it had some."""

    text: str
    start: int
    end: int
    quoted: bool = False


def split(line: str, *, open_end: bool = False) -> list[Word]:
    """Words of `line` up to a `#` that begins a word.

    White space inside quotes, brackets and /regexes/ does not separate. open_end: a line still being
    typed, whose last quote or bracket may be open. Raises UsageError for an open quote or bracket else.
    """
    words: list[Word] = []
    at = 0
    while True:
        while at < len(line) and line[at].isspace():
            at += 1
        if at >= len(line) or line[at] == "#":
            return words
        end = _end_of_word(line, at, open_end)
        words.append(_word(line, at, end))
        at = end


def _end_of_word(line: str, start: int, open_end: bool) -> int:
    at = _end_of_regex(line, start) or start
    depth: list[str] = []
    while at < len(line):
        char = line[at]
        if char in "'\"":
            close = _closing_quote(line, at)
            if close < 0:
                if open_end:
                    return len(line)
                raise UsageError(f"a quote is open from column {at + 1}: {line[at:][:30]}", f"close it with {char}",
                                 code="syntax")
            at = close
        elif char in PAIRS:
            depth.append(PAIRS[char])
        elif depth and char == depth[-1]:
            depth.pop()
        elif not depth and char.isspace():
            return at
        at += 1
    if depth and not open_end:
        raise UsageError(f"expected {depth[-1]!r} before the end of the line: {line[start:][:40]}",
                         f"{line}{''.join(reversed(depth))}", code="syntax")
    return len(line)


def _closing_quote(line: str, start: int) -> int:
    at = start + 1
    while at < len(line):
        if line[at] == "\\":
            at += 1
        elif line[at] == line[start]:
            return at
        at += 1
    return -1


def _end_of_regex(line: str, start: int) -> int:
    """Index after the closing `/` of a regex that begins at `start`; 0 if there is none.

    A regex may hold blanks, so its end is the first `/` with white space, `[` or the end behind it;
    without one, the word is no regex (`/x` is a print format).
    """
    if line[start] != "/":
        return 0
    at = start + 1
    while at < len(line):
        if line[at] == "\\":
            at += 1
        elif line[at] == "/" and (at + 1 == len(line) or line[at + 1].isspace() or line[at + 1] == "["):
            return at + 1
        at += 1
    return 0


def _word(line: str, start: int, end: int) -> Word:
    raw = line[start:end]
    if len(raw) > 1 and raw[0] in "'\"" and raw[-1] == raw[0] and _closing_quote(line, start) == end - 1:
        return Word(raw[1:-1].replace("\\" + raw[0], raw[0]), start, end, True)
    return Word(raw, start, end)


def statements(line: str) -> list[str]:
    """A line cut at each `;` outside of quotes and brackets."""
    parts, start, at = [], 0, 0
    depth: list[str] = []
    while at < len(line):
        char = line[at]
        if char in "'\"" and (close := _closing_quote(line, at)) > 0:
            at = close
        elif char in PAIRS:
            depth.append(PAIRS[char])
        elif depth and char == depth[-1]:
            depth.pop()
        elif char == ";" and not depth:
            parts.append(line[start:at])
            start = at + 1
        at += 1
    return [part.strip() for part in (*parts, line[start:]) if part.strip()]


def without_comment(line: str) -> str:
    """`line` up to a comment, stripped."""
    words = split(line, open_end=True)
    return line[words[0].start:words[-1].end] if words else ""


class Output(NamedTuple):
    """Where the output of a line goes: kind is "", ">", ">>" or "|"; to is a file name or a shell command."""

    kind: str = ""
    to: str = ""


def redirection(line: str) -> tuple[str, Output]:
    """A line parted from `> FILE`, `>> FILE` or `| PROGRAM` at its end."""
    words = split(line, open_end=True)
    for i, word in enumerate(words):
        if word.quoted or i == 0:
            continue
        if word.text == "|":
            return line[:word.start].rstrip(), Output("|", line[word.end:].strip())
    if len(words) > 1 and not words[-1].quoted and words[-1].text in (">", ">>"):
        return line[:words[-1].start].rstrip(), Output(words[-1].text)
    if len(words) > 2 and words[-2].text in (">", ">>") and not words[-2].quoted:
        return line[:words[-2].start].rstrip(), Output(words[-2].text, words[-1].text)
    last = words[-1] if len(words) > 1 else None
    if last and not last.quoted and last.text[0] == ">" and last.text.strip("=>"):
        mark = ">>" if last.text.startswith(">>") else ">"
        return line[:last.start].rstrip(), Output(mark, last.text[len(mark):])
    return line, Output()
