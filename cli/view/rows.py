"""The plain writer of rows: fixed widths, found once; a row is written when somebody looks at it.

It writes what goes to a pipe, and on a screen what is longer than rich draws at once (rich takes half a millisecond a
row). Everything shorter is drawn by rich, in tables.py.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model.results import Column, Table
from .links import of_cell
from .numbers.grids import Elements
from .pieces import Line, Piece
from .text import GAP, clean, display_width, number, shorten, sparkline

SHORTEST = 24  # columns that a long name keeps where there is little room
FEWEST = 8  # steps that a sparkline keeps there
MEASURED = 2000  # numbers of a column that are measured; beyond, a column has room for any number
NUMBER = 9
FLEXIBLE = ("text", "prose", "name", "place")  # kinds of columns that may be shortened
RIGHT = ("number", "count", "bad", "percent")  # kinds of columns whose cells stand at the right


class RowWriter:
    """The head and the rows of `table`, each in one line, at a width (None: as wide as it takes).

    left_out: columns that have no room.
    """

    def __init__(self, table: Table, width: int | None = None) -> None:
        self.table = table
        seen = table.rows.sample() if isinstance(table.rows, Elements) else table.rows[:]  # made once, where it is lazy
        natural = [natural_width(column, seen, at) for at, column in enumerate(table.columns)]
        if table.branches_drawn:
            natural[0] = max(natural[0], *(len(_lead(table, at)) + display_width(str(row[0]))
                                           for at, row in enumerate(table.rows)))
        self.places, self.left_out = fitting(table.columns, natural, width, len(GAP))
        self.widths = _shared(table.columns, natural, self.places, width)
        self.heads = 1 if table.columns and len(table.rows) and any(column.name for column in table.columns) else 0

    def __len__(self) -> int:
        return self.heads + len(self.table.rows)

    def line(self, at: int) -> Line:
        """A line by number; the head is the first."""
        if at < self.heads:
            return self._spread([Piece("head", column.name) for column in self.table.columns], "")
        row = at - self.heads
        return self._spread(cells_of(self.table.columns, self.table.rows[row]), _lead(self.table, row))

    def _spread(self, cells: Sequence[Piece], lead: str) -> Line:
        line: Line = [Piece("quiet", lead)] if lead else []
        for place in self.places:
            first, last = place == self.places[0], place == self.places[-1]
            room = self.widths[place] - (len(lead) if first else 0)
            if not first:
                line.append(Piece("", GAP))
            line += _padded(cells[place], room, is_right=self.table.columns[place].shown in RIGHT, last=last)
        return line


def fitting(columns: Sequence[Column], natural: Sequence[int], width: int | None, gap: int
            ) -> tuple[list[int], list[str]]:
    """Which columns have room, those of the lowest `keep` left out first, and the names of those left out."""
    places, left_out = list(range(len(columns))), []
    least = [least_width(column, wide) for column, wide in zip(columns, natural)]
    while width is not None and sum(least[i] for i in places) + gap * (len(places) - 1) > width:
        droppable = [i for i in places if columns[i].keep < 9]
        if not droppable:
            break
        lost = min(droppable, key=lambda i: (columns[i].keep, -i))
        places.remove(lost)
        left_out.append(columns[lost].name)
    return places, left_out


def least_width(column: Column, natural: int) -> int:
    """Columns that a column keeps where there is little room: names lose their middle, sparklines their first steps."""
    if column.shown == "spark":
        return min(natural, max(FEWEST, display_width(column.name)))
    return min(natural, SHORTEST) if column.shown in FLEXIBLE else natural


def natural_width(column: Column, rows: Sequence[tuple[Any, ...]], place: int) -> int:
    """Columns that the widest cell takes; strings, which are most of a long table, are measured at once."""
    values = [row[place] for row in rows]
    texts = [value for value in values if isinstance(value, str)]
    joined = "".join(texts)
    if joined.isascii() and joined.isprintable():
        widest = max(map(len, texts), default=0)
    else:
        widest = max((display_width(clean(text, keep="")) for text in texts), default=0)
    others = [value for value in values if not isinstance(value, str)]
    measured = max((display_width(cell(value, column).text) for value in others[:MEASURED]), default=0)
    if len(others) > MEASURED and column.shown != "spark":
        measured = max(measured, NUMBER)
    return max(max(map(display_width, column.name.split("\n"))), widest, measured)


def _shared(columns: Sequence[Column], natural: Sequence[int], places: list[int], width: int | None) -> list[int]:
    """The widths: what the widest names and sparklines have too much is taken from them, never below their least."""
    widths = list(natural)
    over = 0 if width is None else sum(widths[i] for i in places) + len(GAP) * (len(places) - 1) - width
    while over > 0:
        roomy = [i for i in places if widths[i] > least_width(columns[i], natural[i])]
        if not roomy:
            break
        widest = max(roomy, key=lambda i: widths[i])
        widths[widest] -= 1
        over -= 1
    return widths


def _lead(table: Table, row: int) -> str:
    """What stands before a row of a tree: two columns for each branch."""
    if not table.branches_drawn:
        return ""
    at = table.branches_drawn[row]
    return "  " * at.depth + ("→ " if at.joins and at.depth else "")


def _padded(piece: Piece, room: int, *, is_right: bool, last: bool) -> Line:
    piece = fitted(piece, room)
    space = " " * (room - display_width(piece.text))
    if is_right:
        return [Piece("", space), piece] if space else [piece]
    return [piece] if last or not space else [piece, Piece("", space)]


def cells_of(columns: Sequence[Column], row: Sequence[Any]) -> Line:
    """The cells of a row."""
    nans = any(value for value, column in zip(row, columns) if column.shown == "bad" and not isinstance(value, Piece))
    return [cell(value, column, nans=nans) for value, column in zip(row, columns)]


def fitted(piece: Piece, room: int) -> Piece:
    """A cell in so many columns: of a sparkline the last steps, of a text its beginning and end."""
    text = piece.text[-room:] if piece.role == "spark" else shorten(piece.text, room)
    return piece if text == piece.text else piece._replace(text=text, whole=piece.text)


def cell(value: Any, column: Column, *, nans: bool = False) -> Piece:
    """One cell; a value that is a Piece already stays as it is."""
    if isinstance(value, Piece):
        return value
    if value is None:
        return Piece("quiet", "-" if column.shown != "text" else "")
    if column.shown == "spark":
        return Piece("spark", sparkline(value))
    if column.shown in ("name", "text", "prose", "place") or isinstance(value, str):
        role = {"name": "name", "place": "place"}.get(column.shown, "")
        return Piece(role, clean(str(value), keep=""), of_cell(column, value, nans=nans))
    if column.shown == "bad":
        return Piece("bad" if value else "quiet", number(value), of_cell(column, value, nans=nans))
    if column.shown == "percent":
        return Piece("warning" if value >= 90 else "", f"{value:.0f}" if value in (0, 100) else f"{value:.1f}")
    text = number(value)
    return Piece("bad" if text in ("nan", "inf", "-inf") else "zero" if text == "0" else "", text)
