"""Cells of an array as a table: rows and columns with their indices, or elements one after the other."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from ...model.results import Column, Table
from ..pieces import Piece
from ..text import GAP, display_width
from .digits import Digits

ROWS = 16  # rows of a grid that leaves some out; one with a few more is shown whole
SLACK = 8
A_LINE = (1, 2, 4, 5, 8, 10, 16, 20)  # elements in a line of running ones, whatever has room
SAMPLE = 200  # lines of elements that are measured
ELIDED = Piece("quiet", "…")
WIDTH = 100  # columns where there is no screen
SHORT, BEGIN = 1000, 128  # elements: a vector is shown whole up to the one, by the other first if it has more


def grid(value: np.ndarray, width: int | None, *, marked: np.ndarray | None, name: str, whole: bool = False) -> Table:
    """The cells with their indices; what there is no room for is left out in the middle, and counted."""
    if value.ndim < 2 or not value.size:
        return running(value, width, marked=marked, count=None if whole or value.size <= SHORT else BEGIN, name=name)
    flat = value.reshape(-1, value.shape[-1])
    flags = None if marked is None else marked.reshape(flat.shape)
    digits = Digits(value)
    rows = _kept(len(flat), len(flat) if whole else ROWS)
    labels = ["" if row is None else _label(row, value.shape[:-1]) for row in rows]
    wide = max(_cell_width(digits, flat[[row for row in rows if row is not None]]), len(str(flat.shape[1])))
    room = (width or WIDTH) - max(map(len, labels)) - len(GAP) - 1  # the last cell may have a shade
    columns = _kept(flat.shape[1], max(room // (wide + len(GAP)), 3), slack=0)
    if whole and None in columns:
        return running(value, width, marked=marked)
    lost = len(flat) - len(rows) + 1, flat.shape[1] - len(columns) + 1
    heads = [Column("", "place"), *(Column(f"… {lost[1]}" if at is None else str(at), "number") for at in columns)]
    body = []
    for row, label in zip(rows, labels):
        cells = [ELIDED if row is None or at is None else
                 digits.piece(flat[row, at], is_marked=flags is not None and bool(flags[row, at])) for at in columns]
        body.append((Piece("quiet", f"… {lost[0]}") if row is None else Piece("head", label), *cells))
    notes = [f"cells {digits.unit}"] if digits.unit else []
    more = [f"{count} more {what}" for count, what, shown in zip(lost, ("rows", "columns"), (rows, columns))
            if None in shown]
    if more:
        notes.append(f"… {' and '.join(more)}; print/a {name} shows all, slices show a part")
    return Table(tuple(heads), tuple(body), notes=tuple(notes))


def _kept(count: int, most: int, slack: int = SLACK) -> list[int | None]:
    """Indices that are shown; None stands for those left out in the middle."""
    if count <= most + slack:
        return list(range(count))
    tail = max(min(3, most // 3), 1)
    head = max(most - tail - 1, 1)
    return [*range(head), None, *range(count - tail, count)]


def _label(row: int, leading: tuple[int, ...]) -> str:
    return ",".join(str(int(i)) for i in np.unravel_index(row, leading)) if leading else ""


def _cell_width(digits: Digits, cells: np.ndarray) -> int:
    """Columns of the widest cell; of very many, of a part."""
    some = cells.reshape(-1)
    some = some if some.size <= 2000 else np.concatenate([some[:1000], some[-1000:]])
    return max((display_width(digits.piece(item).text) for item in some), default=1)


class Elements(Sequence[tuple[Piece, ...]]):
    """Lines of elements of an array, each with the index of its first; written when somebody looks at them."""

    def __init__(self, value: np.ndarray, many: int, *, first: int, end: int, marked: np.ndarray | None,
                 here: int | None) -> None:
        self._value, self._flat, self.here, self._many, self._end = value, value.reshape(-1), here, many, end
        self._marked = None if marked is None else marked.reshape(-1)
        self.digits = Digits(value)
        row = value.shape[-1] if value.ndim else 1
        offsets = np.arange(0, row, many)
        starts = (np.arange(value.size // max(row, 1))[:, None] * row + offsets).ravel() if value.size else offsets[:0]
        starts = starts[(starts > first) & (starts < end)]
        self._starts = np.concatenate([[first], starts]) if first < end else starts

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, at: int) -> tuple[Piece, ...]: ...
    @overload
    def __getitem__(self, at: slice) -> list[tuple[Piece, ...]]: ...

    def __getitem__(self, at: int | slice) -> tuple[Piece, ...] | list[tuple[Piece, ...]]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        start = int(self._starts[at])
        end = int(self._starts[at + 1]) if at + 1 < len(self._starts) else self._end
        cells = [self._piece(flat) for flat in range(start, end)]
        return (Piece("head", f"[{_label(start, self._value.shape)}]"), *cells,
                *(Piece("", "") for _ in range(self._many - len(cells))))

    def __iter__(self) -> Iterator[tuple[Piece, ...]]:
        return (self[at] for at in range(len(self)))

    def sample(self) -> list[tuple[Piece, ...]]:
        """Some lines, among them the last, whose index is the longest."""
        step = max(len(self) // SAMPLE, 1)
        return [self[at] for at in dict.fromkeys([*range(0, len(self), step), max(len(self) - 1, 0)]) if len(self)]

    def line_of(self, flat: int) -> int:
        """The line that holds an element."""
        return int(np.searchsorted(self._starts, flat, side="right")) - 1

    def _piece(self, flat: int) -> Piece:
        is_marked = self._marked is not None and bool(self._marked[flat])
        piece = self.digits.piece(self._flat[flat], is_marked=is_marked)
        return piece._replace(role="current") if flat == self.here else piece


def running(value: np.ndarray, width: int | None, *, first: int = 0, count: int | None = None,
            marked: np.ndarray | None = None, here: int | None = None, name: str = "") -> Table:
    """`count` elements from flat index `first`, some in each line; a line never goes past a row's end."""
    end = min(value.size, value.size if count is None else first + count)
    lead = len(f"[{_label(max(value.size - 1, 0), value.shape)}]")
    wide = _cell_width(Digits(value), value) if value.size else 1
    room = (width or WIDTH) - lead - 1
    row = max(value.shape[-1] if value.ndim else 1, 1)
    many = max((n for n in (*A_LINE, row) if n * (wide + len(GAP)) <= room), default=1)
    many = min(many, row)
    rows = Elements(value, many, first=first, end=end, marked=marked, here=here)
    heads = [Column("", "place"), *(Column(f"+{at}" if many > 1 else "", "number") for at in range(many))]
    notes = [f"cells {rows.digits.unit}"] if rows.digits.unit else []
    if name and end < value.size:
        notes.append(f"… {value.size - end} more; print/a {name} shows all")
    return Table(tuple(heads), rows, notes=tuple(notes))
