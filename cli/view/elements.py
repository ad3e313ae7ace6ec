"""Elements of an array, a few a line with the index of the first, written when somebody looks at them."""
from __future__ import annotations

import math

import numpy as np

from .text import Line, clean, display_width, number, shorten

A_LINE = (1, 2, 4, 5, 8, 10, 16, 20)  # elements in a line, whatever has room
WIDEST = 20  # columns for one element


class ElementLines:
    """Lines of `count` elements of `value` from flat index `first`; a line never goes past a row's end.

    marked: bool like value, elements to stand out. here: flat index of the one element that was asked for.
    """

    def __init__(self, value: np.ndarray, width: int | None = None, *, first: int = 0, count: int | None = None,
                 marked: np.ndarray | None = None, here: int | None = None) -> None:
        self.value, self.here = value, here
        self._flat = value.reshape(-1)
        self._marked = None if marked is None else marked.reshape(-1)
        self._end = min(value.size, value.size if count is None else first + count)
        self._wide = _width(self._flat)
        self._lead = len(self._label(max(value.size - 1, 0)))
        room = (width or 120) - self._lead - 2
        self._many = max((n for n in A_LINE if n * (self._wide + 1) <= room), default=1)
        row = value.shape[-1] if value.ndim else 1
        offsets = np.arange(0, row, self._many)
        starts = (np.arange(value.size // max(row, 1))[:, None] * row + offsets).ravel() if value.size else offsets[:0]
        starts = starts[(starts > first) & (starts < self._end)]
        self._starts = np.concatenate([[first], starts]) if first < self._end else starts

    def __len__(self) -> int:
        return len(self._starts)

    def line(self, at: int) -> Line:
        start = int(self._starts[at])
        end = int(self._starts[at + 1]) if at + 1 < len(self._starts) else self._end
        line: Line = [("place", f"{self._label(start):>{self._lead}}  ")]
        for flat in range(start, end):
            text = shown(self._flat[flat])
            line += [("", " " * (self._wide - display_width(text))), (self._style(flat), text), ("", " ")]
        return line

    def line_of(self, flat: int) -> int:
        """The line that holds an element."""
        return int(np.searchsorted(self._starts, flat, side="right")) - 1

    def _label(self, flat: int) -> str:
        if not self.value.ndim:
            return "[]"
        index = np.unravel_index(flat, self.value.shape) if self.value.size else ()
        return f"[{','.join(str(int(i)) for i in index)}]"

    def _style(self, flat: int) -> str:
        if flat == self.here:
            return "current"
        if self._marked is not None and self._marked[flat]:
            return "warning"
        item = self._flat[flat]
        return "bad" if self.value.dtype.kind in "fc" and not math.isfinite(abs(item)) else ""


def shown(item: object) -> str:
    """One element: a number in three digits, or its text."""
    if isinstance(item, (bool, np.bool_)):
        return str(bool(item))
    if isinstance(item, (np.number, int, float)):
        return number(item)
    return shorten(clean(item.decode("utf-8", "backslashreplace") if isinstance(item, bytes) else str(item), keep=""),
                   WIDEST)


def _width(flat: np.ndarray) -> int:
    kind = flat.dtype.kind
    if kind in "iu":
        return max(len(str(flat.min())), len(str(flat.max()))) if flat.size else 1
    if kind in "fcb":
        return {"f": 9, "c": 19, "b": 5}[kind]
    return max((display_width(shown(item)) for item in flat[:1000]), default=1)
