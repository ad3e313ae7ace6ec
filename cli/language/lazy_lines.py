"""A sheet: the lines of a result, made when they come into view, with the links in them."""
from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Protocol

from ..model.results import Array, Error, Group, Result, Stop, Table, Text
from ..view.arrays import above, below, indexed
from ..view.elements import ElementLines
from ..view.layout import layout
from ..view.tables import TableLines
from ..view.text import Line
from .links import Link, links_of_row, links_of_text


class Sheet(Protocol):
    """Lines by number."""

    def __len__(self) -> int: ...

    def line(self, at: int) -> Line: ...

    def links(self, at: int) -> list[Link]: ...

    def text(self, at: int) -> str:
        """What a search looks at: the line, with the whole of what was shortened."""
        ...


class Lines:
    """Lines that are there already."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, at: int) -> Line:
        return self._lines[at]

    def links(self, at: int) -> list[Link]:
        return links_of_text(self._lines[at])

    def text(self, at: int) -> str:
        return _joined(self._lines[at])


class Rows:
    """A table."""

    def __init__(self, table: Table, width: int) -> None:
        self._lines = TableLines(table, width)

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, at: int) -> Line:
        return self._lines.line(at)

    def links(self, at: int) -> list[Link]:
        return links_of_row(self._lines, at)

    def text(self, at: int) -> str:
        shown = _joined(self._lines.line(at))
        row = self._lines.row_at(at) if "…" in shown else None
        return shown if row is None else f"{shown}\n{' '.join(cell for cell in row if isinstance(cell, str))}"


class Elements:
    """Elements of an array."""

    def __init__(self, lines: ElementLines) -> None:
        self.lines = lines

    def __len__(self) -> int:
        return len(self.lines)

    def line(self, at: int) -> Line:
        return self.lines.line(at)

    def links(self, at: int) -> list[Link]:
        return []

    def text(self, at: int) -> str:
        return _joined(self.lines.line(at))


class Stack:
    """Sheets, one below the other."""

    def __init__(self, sheets: Sequence[Sheet]) -> None:
        self.sheets = [sheet for sheet in sheets if len(sheet)]
        self.ends = list(accumulate(map(len, self.sheets)))

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    def line(self, at: int) -> Line:
        sheet, inside = self._part(at)
        return sheet.line(inside)

    def links(self, at: int) -> list[Link]:
        sheet, inside = self._part(at)
        return sheet.links(inside)

    def text(self, at: int) -> str:
        sheet, inside = self._part(at)
        return sheet.text(inside)

    def _part(self, at: int) -> tuple[Sheet, int]:
        part = bisect_right(self.ends, at)
        return self.sheets[part], at - (self.ends[part - 1] if part else 0)


def sheet_of(result: Result, width: int, here: int | None = None) -> Sheet:
    """The lines of a result on a screen of that width, none left out.

    here: flat index of an element; the first array is then shown element by element, with this one standing out.
    """
    if isinstance(result, Table) and not result.prose:
        return Rows(result, width)
    if isinstance(result, Group):
        parts: list[Sheet] = []
        for part in result.parts:
            new = sheet_of(part, width, here)
            here = None if isinstance(part, Array) else here
            if parts and len(new) and not isinstance(part, (Text, Error, Stop)):
                parts.append(Lines([[]]))
            parts.append(new)
        return Stack(parts)
    if isinstance(result, Array):
        few = ElementLines(result.value, width, marked=result.marked, here=here) if here is not None \
            else indexed(result, width)
        if few is not None:
            return Stack((Lines(above(result, width)), Elements(few), Lines(below(result))))
    return Lines(layout(result, width))


def line_of_element(sheet: Sheet, flat: int) -> int:
    """The line where an element stands that sheet_of was asked for; 0 if there is none."""
    if isinstance(sheet, Stack):
        for part, end in zip(sheet.sheets, sheet.ends):
            if isinstance(part, Elements):
                return end - len(part) + part.lines.line_of(flat)
            found = line_of_element(part, flat)
            if found:
                return end - len(part) + found
    return 0


def array_in(result: Result) -> Array | None:
    """The first array of a result."""
    if isinstance(result, Array):
        return result
    if isinstance(result, Group):
        return next((found for part in result.parts if (found := array_in(part)) is not None), None)
    return None


def _joined(line: Line) -> str:
    return "".join(text for _, text in line)
