"""A sheet: the lines of a result for a screen, with the links in them; long tables are made as they come into view."""
from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import NamedTuple, Protocol

from rich.console import Group as Parts
from rich.segment import Segment

from ...model.results import Card, Result, Table
from ..blocks import blocks
from ..numbers.grids import Elements
from ..pieces import text_of
from ..rows import RowWriter
from ..text import display_width
from .console import segments
from .palette import Palette, fragment_style
from .renderables import MANY, Shown, renderables
from .tables import left_out

Fragments = list[tuple[str, str]]  # a style in prompt_toolkit's words, and a text


class Link(NamedTuple):
    """Columns start to end of a line lead to a command."""

    start: int
    end: int
    command: str


class Sheet(Protocol):
    """Lines by number."""

    def __len__(self) -> int: ...

    def line(self, at: int) -> Fragments: ...

    def links(self, at: int) -> list[Link]: ...

    def text(self, at: int) -> str:
        """What a search looks at: the line, with the whole of what was shortened."""
        ...


class Drawn:
    """Lines that rich has drawn."""

    def __init__(self, lines: Sequence[Sequence[Segment]]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, at: int) -> Fragments:
        return [(fragment_style(segment.style), segment.text) for segment in self._lines[at]]

    def links(self, at: int) -> list[Link]:
        return joined([(segment.text, str(_meta(segment, "command"))) for segment in self._lines[at]])

    def text(self, at: int) -> str:
        wholes = dict.fromkeys(str(_meta(segment, "whole")) for segment in self._lines[at])
        return "\n".join(["".join(segment.text for segment in self._lines[at]), *filter(None, wholes)])


class Rows:
    """A long table, row by row."""

    def __init__(self, rows: RowWriter, palette: Palette) -> None:
        self.rows, self._palette = rows, palette

    def __len__(self) -> int:
        return len(self.rows)

    def line(self, at: int) -> Fragments:
        return [(fragment_style(self._palette.style(piece.role)), piece.text) for piece in self.rows.line(at)]

    def links(self, at: int) -> list[Link]:
        return joined([(piece.text, piece.command) for piece in self.rows.line(at)])

    def text(self, at: int) -> str:
        line = self.rows.line(at)
        return "\n".join([text_of(line), *(piece.whole for piece in line if piece.whole)])


class Stack:
    """Sheets, one below the other."""

    def __init__(self, sheets: Sequence[Sheet]) -> None:
        self.sheets = sheets

    @property
    def ends(self) -> list[int]:
        """Where each sheet ends; one of them may still grow."""
        return list(accumulate(map(len, self.sheets)))

    def __len__(self) -> int:
        return sum(map(len, self.sheets))

    def line(self, at: int) -> Fragments:
        sheet, inside = self._part(at)
        return sheet.line(inside)

    def links(self, at: int) -> list[Link]:
        sheet, inside = self._part(at)
        return sheet.links(inside)

    def text(self, at: int) -> str:
        sheet, inside = self._part(at)
        return sheet.text(inside)

    def _part(self, at: int) -> tuple[Sheet, int]:
        ends = self.ends
        part = bisect_right(ends, at)
        return self.sheets[part], at - (ends[part - 1] if part else 0)


def sheet_of(result: Result, width: int, here: int | None = None, palette: Palette | None = None) -> Sheet:
    """The lines of a result on a screen of that width, none left out.

    here: flat index of an element; the first array is then shown element by element, with this one standing out.
    """
    palette = palette or Palette()
    sheets: list[Sheet] = []
    for block in blocks(result, width, here=here):
        if isinstance(block, Table) and (len(block.rows) > MANY
                                         or isinstance(block.rows, Elements) and here is not None):
            rows = RowWriter(block, width)
            sheets.append(Rows(rows, palette))
            if rows.left_out:
                sheets.append(Drawn(segments(left_out(rows.left_out, palette), width)))
        elif isinstance(block, Card):
            sheets.append(Drawn(segments(Shown(block, palette), width)))
        else:
            sheets.append(Drawn(segments(Parts(*renderables(block, palette, width)), width)))
    return Stack(sheets)


def line_of_element(sheet: Sheet, flat: int) -> int:
    """The line where an element stands that sheet_of was asked for; 0 if there is none."""
    for part, end in zip(sheet.sheets, sheet.ends) if isinstance(sheet, Stack) else ():
        if isinstance(part, Stack) and (found := line_of_element(part, flat)):
            return end - len(part) + found
        if isinstance(part, Rows) and isinstance(part.rows.table.rows, Elements):
            return end - len(part) + part.rows.heads + part.rows.table.rows.line_of(flat)
    return 0


def _meta(segment: Segment, name: str) -> object:
    return segment.style.meta.get(name, "") if segment.style is not None and segment.style.meta else ""


def joined(pieces: list[tuple[str, str]]) -> list[Link]:
    """The links in a line; pieces that lead to the same command are one."""
    found, at = [], 0
    for command, run in groupby(pieces, lambda piece: piece[1]):
        parts = [text for text, _ in run]
        text = "".join(parts)
        start = at + display_width(text) - display_width(text.lstrip())
        at += display_width(text)
        end = at - display_width(text) + display_width(text.rstrip())
        if command and end > start:
            found.append(Link(start, end, command))
    return found
