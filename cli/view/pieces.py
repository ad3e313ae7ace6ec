"""A line to be drawn, before anybody knows by whom: pieces with a role, a text and the command it leads to."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Piece(NamedTuple):
    """role: how it is drawn (roles.py). command: what a link in a screen runs, or empty.

    shade: for cells of a grid, a character that says in black and white what color says otherwise, or empty.
    whole: the text before it was shortened, where it was.
    """

    role: str
    text: str
    command: str = ""
    shade: str = ""
    whole: str = ""


Line = list[Piece]


class Paragraph(NamedTuple):
    """A line of prose, broken between words where the screen ends.

    indent: columns before it. hang: columns before what follows its first line.
    """

    line: Line
    indent: int = 0
    hang: int = 0


@dataclass(frozen=True)
class Prose:
    """Paragraphs, one below the other."""

    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True)
class Drawing:
    """Lines whose columns belong below each other: they are never broken."""

    lines: tuple[Line, ...]


def text_of(line: Iterable[Piece]) -> str:
    """A line without its roles."""
    return "".join(piece.text for piece in line)


def add(line: Line, role: str, text: str) -> None:
    """Put a text at the end of a line, joined to the last piece if that has the same role."""
    if line and line[-1].role == role and not line[-1].command:
        line[-1] = Piece(role, line[-1].text + text)
    else:
        line.append(Piece(role, text))
