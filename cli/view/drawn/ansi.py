"""What a script prints for a terminal: its own colors stay, what would move the cursor is left out."""
from __future__ import annotations

import re

from rich.ansi import AnsiDecoder

from ..links import linked
from ..pieces import Piece
from ..text import clean
from .palette import fragment_style

_COLORS = re.compile(r"\x1b\[[\d;]*m")
_OTHER = re.compile(r"\x1b\[[0-?]*[ -/]*[@-ln-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")  # cursor movements, titles
TAB = 8


def visible(line: str) -> str:
    """The characters of a line that take room, tabs as blanks, other controls as escapes."""
    if line.isascii() and line.isprintable():
        return line
    return clean(_COLORS.sub("", _OTHER.sub("", line)).expandtabs(TAB), keep="")


def fragments(line: str) -> list[tuple[str, str]]:
    """The visible characters in pieces, each with its style in prompt_toolkit's words."""
    shown = visible(line)
    if shown is line or "\x1b" not in line:
        return [("", shown)]
    text = AnsiDecoder().decode_line(_OTHER.sub("", line))
    text.expand_tabs(TAB)
    if text.plain != shown:  # it has other controls, which are shown
        return [("", shown)]
    edges = sorted({0, len(shown), *(edge for span in text.spans for edge in (span.start, span.end))})
    found = []
    for start, end in zip(edges, edges[1:]):
        styles = [span.style for span in text.spans if span.start <= start < span.end]
        found.append((" ".join(fragment_style(style) for style in styles if not isinstance(style, str)),
                      shown[start:end]))
    return found


def commands(text: str) -> list[tuple[str, str]]:
    """Pieces of a printed line with the commands of those that are links."""
    return [(piece.text, piece.command) for piece in linked([Piece("", text)])]
