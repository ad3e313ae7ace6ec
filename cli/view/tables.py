"""A table as lines made on demand: widths are found once, a row is written when somebody looks at it."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model.results import Column, Table, TreeBranch
from .text import GAP, Line, Piece, clean, display_width, number, shorten, sparkline, wrapped

SHORTEST = 24  # columns that a long name keeps where there is little room
LEAST = 12  # of these, what the lines of a tree leave to a name
MEASURED = 2000  # numbers of a column that are measured; beyond, a column has room for any number
NUMBER = 9
RIGHT = ("number", "count", "bad", "percent")


class TableLines:
    """The lines of `table` at a width (None: as wide as it takes) with at most `rows` rows (None: all).

    Line 0 on: title if there is one, head, rows, then what was left out and the notes.
    """

    def __init__(self, table: Table, width: int | None = None, rows: int | None = None) -> None:
        self.table = table
        self.shown = len(table.rows) if rows is None else min(rows, len(table.rows))
        seen = table.rows[:self.shown]
        self._places = [i for i, column in enumerate(table.columns) if not (
            width and column.shown in ("text", "place") and seen and not any(row[i] for row in seen))]
        self._wide = [_width(column, seen, i) for i, column in enumerate(table.columns)]
        if table.branches_drawn:
            self._wide[0] = max(self._wide[0], *(display_width(f"{branch_marks(at)}{row[0]}")
                                                 for at, row in zip(table.branches_drawn, seen)))
        natural = list(self._wide)
        self._left_out = _narrow(table.columns, self._places, self._wide, width)
        self._shortened = any(self._wide[i] < natural[i] for i in self._places)
        self._above: list[Line] = [[("title", clean(table.title))]] if table.title else []
        if table.columns and table.rows:
            self._above.append(self._spread([("head", column.name) for column in table.columns]))
        self._below = self._under(width)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is shortened or left out."""
        return not self._left_out and not self._shortened

    def __len__(self) -> int:
        return len(self._above) + self.shown + len(self._below)

    def line(self, at: int) -> Line:
        row = self.row_at(at)
        if row is None:
            return self._above[at] if at < len(self._above) else self._below[at - len(self._above) - self.shown]
        return self._spread([cell(value, column) for value, column in zip(row, self.table.columns)], self.lead(at))

    def lead(self, at: int) -> str:
        """What is drawn of a tree before a row's first cell; long ones are cut, as names need room too."""
        row = self.row_at(at)
        if not self.table.branches_drawn or row is None:
            return ""
        text = branch_marks(self.table.branches_drawn[at - len(self._above)])
        room = self._wide[0] - min(display_width(row[0]), LEAST)
        return text if len(text) <= room else "·" + text[len(text) - room + 1:]

    def row_at(self, at: int) -> tuple[Any, ...] | None:
        """The row that a line shows; None for the lines above and below the rows."""
        at -= len(self._above)
        return self.table.rows[at] if 0 <= at < self.shown else None

    def spans(self) -> list[tuple[Column, int, int, int]]:
        """Each column shown, its number, and where it begins and ends."""
        found, at = [], 0
        for place in self._places:
            found.append((self.table.columns[place], place, at, at + self._wide[place]))
            at += self._wide[place] + len(GAP)
        return found

    def _spread(self, cells: Sequence[Piece], lead: str = "") -> Line:
        line: Line = [("quiet", lead)] if lead else []
        for place in self._places:
            style, text = cells[place]
            room = self._wide[place] - (0 if place else len(lead))
            text = _pad(shorten(text, room), room, self.table.columns[place], place == self._places[-1])
            line += [("", GAP), (style, text)] if place != self._places[0] else [(style, text)]
        return line

    def _under(self, width: int | None) -> list[Line]:
        texts: list[str] = []
        more = len(self.table.rows) - self.shown
        if more:
            texts.append(f"… {more} more rows; add `| less` or `> FILE` to see them all")
        if self._left_out:
            texts.append(f"… left out for lack of room: {', '.join(self._left_out)}")
        texts += [text for note in self.table.notes for text in clean(note).split("\n")]
        return [[("quiet", part)] for text in texts for part in wrapped(text, width)]


def branch_marks(at: TreeBranch) -> str:
    """The lines of a tree before a row: those of the branches it lies on, and where its own begins or ends."""
    depth, begins, joins = at
    if not depth:
        return ""
    if begins:
        return "│  " * (depth - 1) + ("├→ " if joins else "├─ ")
    return "│  " * depth if not joins else "│  " * (depth - 1) + "│  └→ "


def cell(value: Any, column: Column) -> Piece:
    """One cell as text, with the style of its kind."""
    if value is None:
        return "quiet", "-" if column.shown != "text" else ""
    if column.shown == "spark":
        return "spark", sparkline(value)
    if column.shown in ("name", "text", "place") or isinstance(value, str):
        return {"name": "name", "place": "place"}.get(column.shown, ""), clean(str(value), keep="")
    if column.shown == "bad":
        return ("bad" if value else "quiet"), number(value)
    if column.shown == "percent":
        return ("warning" if value >= 90 else ""), f"{value:.0f}" if value in (0, 100) else f"{value:.1f}"
    text = number(value)
    return ("bad" if text in ("nan", "inf", "-inf") else ""), text


def _width(column: Column, rows: Sequence[tuple[Any, ...]], place: int) -> int:
    """Columns that the widest cell takes; strings, which are most of a long table, are measured at once."""
    values = [row[place] for row in rows]
    texts = [value for value in values if isinstance(value, str)]
    joined = "".join(texts)
    if joined.isascii() and joined.isprintable():
        widest = max(map(len, texts), default=0)
    else:
        widest = max((display_width(clean(text, keep="")) for text in texts), default=0)
    others = [value for value in values if not isinstance(value, str)]
    measured = max((display_width(cell(value, column)[1]) for value in others[:MEASURED]), default=0)
    if len(others) > MEASURED and column.shown != "spark":
        measured = max(measured, NUMBER)
    return max(display_width(column.name), widest, measured)


def _narrow(columns: Sequence[Column], places: list[int], wide: list[int], width: int | None) -> list[str]:
    """Make the columns fit: shorten the widest names, down to SHORTEST, then leave out columns; gives those."""
    left_out: list[str] = []
    if width is None:
        return left_out
    flexible = [i for i, c in enumerate(columns) if c.shown in ("name", "text", "place")]
    whole = list(wide)
    while True:
        over = sum(wide[i] for i in places) + len(GAP) * (len(places) - 1) - width
        if over <= 0:
            _give_back(-over, [i for i in places if wide[i] < whole[i]], wide, whole)
            return left_out
        roomy = sorted((wide[i], i) for i in flexible if i in places and wide[i] > SHORTEST)
        if roomy:
            widest, at = roomy[-1]
            next_widest = roomy[-2][0] if len(roomy) > 1 else SHORTEST
            wide[at] = max(next_widest if next_widest < widest else widest - 1, SHORTEST, widest - over)
            continue
        droppable = [i for i in places if columns[i].keep < 9]
        if not droppable:
            return left_out
        lost = min(droppable, key=lambda i: (columns[i].keep, -i))
        places.remove(lost)
        left_out.append(columns[lost].name)


def _give_back(spare: int, shortened: list[int], wide: list[int], whole: list[int]) -> None:
    """What a lost column leaves goes to those that were shortened, to the narrowest first."""
    while spare and shortened:
        at = min(shortened, key=lambda i: wide[i])
        wide[at], spare = wide[at] + 1, spare - 1
        if wide[at] == whole[at]:
            shortened.remove(at)


def _pad(text: str, wide: int, column: Column, last: bool) -> str:
    space = " " * (wide - display_width(text))
    if column.shown in RIGHT:
        return space + text
    return text if last else text + space
