"""Searching a page: forward and back, around its ends, with a count."""
from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator

from ..view.drawn.sheets import Sheet

SLICE = 400  # lines that are looked at in one go


class Search:
    """One pattern on one sheet: a regular expression, or the text itself where it is none.

    Capital letters count only if the pattern has some. lines: those found so far, in order. done: all were looked at.
    """

    def __init__(self, pattern: str, sheet: Sheet, *, backward: bool = False) -> None:
        self.pattern, self.sheet, self.backward = pattern, sheet, backward
        self.lines: list[int] = []
        self.done = False
        self.at: int | None = None
        self.wrapped = False
        flags = 0 if any(c.isupper() for c in pattern) else re.IGNORECASE
        try:
            self._regex = re.compile(pattern, flags)
        except re.error:
            self._regex = re.compile(re.escape(pattern), flags)

    def look(self, start: int) -> Iterator[int | None]:
        """Look through all lines, the nearest to `start` first; gives each one found, or None after each slice."""
        count = len(self.sheet)
        order = range(start, start - count, -1) if self.backward else range(start, start + count)
        for number, line in enumerate(order, 1):
            line %= max(count, 1)
            if self._regex.search(self.sheet.text(line)):
                insort(self.lines, line)
                yield line
            if number % SLICE == 0:
                yield None
        self.done = True

    def move(self, way: int) -> int | None:
        """The line found next in the search's direction (way 1) or against it (-1), around the ends; None if none."""
        if not self.lines:
            return None
        at = -1 if self.at is None else self.at
        forward = (way > 0) != self.backward
        place = bisect_right(self.lines, at) if forward else bisect_left(self.lines, at) - 1
        self.wrapped = not 0 <= place < len(self.lines)
        self.at = self.lines[place % len(self.lines)]
        return self.at

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the pattern stands in a line; all of it, if it is in a part that has no room."""
        found = [match.span() for match in self._regex.finditer(text) if match[0]]
        return found

    def __str__(self) -> str:
        sign = "?" if self.backward else "/"
        if not self.lines:
            return f"{sign}{self.pattern}: not found" if self.done else f"{sign}{self.pattern}: looking"
        number = self.lines.index(self.at) + 1 if self.at in self.lines else 0
        more = "" if self.done else "+"
        return f"{sign}{self.pattern}: line {number} of {len(self.lines)}{more}{', wrapped' * self.wrapped}"
