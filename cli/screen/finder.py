"""Searching what is on the screen: a pattern is typed, looked for in slices, and its lines gone through."""
from __future__ import annotations

import asyncio
import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prompt_toolkit.buffer import Buffer

from ..view.drawn.sheets import Sheet
from .pages import Page

SLICE = 400  # lines that are looked at in one go

if TYPE_CHECKING:
    from .app import FullScreen


class Finder:
    """The search of one screen. way: "/" or "?" while a pattern is typed. search: the last one, or None."""

    def __init__(self, screen: "FullScreen") -> None:
        self._screen = screen
        self.way = ""
        self.search: Search | None = None
        self.pattern = Buffer(multiline=False, accept_handler=self._accept)
        self._looking: asyncio.Task[None] | None = None

    def begin(self, way: str) -> None:
        """Let a pattern be typed."""
        self.way, self._screen.message = way, ""
        self.pattern.reset()
        self._screen.app.layout.focus(self.pattern)

    def end(self) -> None:
        """The pattern is typed, or was given up."""
        self.way = ""
        self._screen.app.layout.focus(self._screen.line)

    def forget(self) -> None:
        self.search, self._screen.message = None, ""

    def _accept(self, buffer: Buffer) -> bool:
        way, pattern = self.way, buffer.text or (self.search.pattern if self.search else "")
        self.end()
        if pattern:
            page = self._screen.page
            self.search = Search(pattern, page.sheet, backward=way == "?")
            if self._looking is not None:
                self._looking.cancel()
            self._looking = self._screen.app.create_background_task(self._look(self.search, page))
        return False

    async def _look(self, search: Search, page: Page) -> None:
        """Search in slices, so that keys are answered meanwhile; the first line found is shown at once."""
        for found in search.look(page.top):
            if found is None:
                await asyncio.sleep(0)
            elif search.at is None:
                search.at = found
                search.wrapped = found < page.top if not search.backward else found > page.top
                page.show(found)
                self._screen.app.invalidate()
        self._screen.message = f"{search}{'; Alt-n the next' if len(search.lines) > 1 else ''}"
        self._screen.app.invalidate()

    def again(self, way: int) -> None:
        """The next line found, or the one before."""
        page = self._screen.page
        if self.search is None or self.search.sheet is not page.sheet:
            self._screen.message = "nothing was searched for on this page: / searches"
            return
        found = self.search.move(way)
        if found is not None:
            page.show(found)
        self._screen.message = str(self.search)


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
