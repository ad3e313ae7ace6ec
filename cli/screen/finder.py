"""Searching what is on the screen: a pattern is typed, looked for in slices, and its lines gone through."""
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from prompt_toolkit.buffer import Buffer

from .pages import Page
from .search import Search

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
