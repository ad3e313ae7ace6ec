"""Pages: what each command has shown, kept like a browser keeps them; scrolling, links, jumps."""
from __future__ import annotations

import re

import numpy as np

from ..model.results import Array, Result, Text, first_in
from ..model.usage_error import UsageError
from ..view.drawn.palette import Palette
from ..view.drawn.sheets import Link, Sheet, Stack, line_of_element, sheet_of
from .prints import PrintedSheet, Prints, Spill

KEPT = 100  # pages to go back to


class Page:
    """One command with what it printed and its result. top: first line on the screen; pan: columns left of it.

    chosen: line and number of the link that Enter follows, or None. height: lines there is room for. spill: where
    prints go that are too many.
    """

    def __init__(self, command: str, result: Result | None = None, palette: Palette | None = None,
                 spill: Spill | None = None) -> None:
        self.command, self.result, self._palette = command, result or Text(), palette or Palette()
        self._spill = spill or Spill()
        self.prints = Prints(self._spill)
        self.top = self.pan = 0
        self.width, self.height = 80, 20
        self.chosen: tuple[int, int] | None = None
        self._here: int | None = None
        self._kept: int | None = None
        self._made: tuple[tuple[int, Result, int | None], PrintedSheet, Sheet] | None = None

    @property
    def sheet(self) -> Sheet:
        """The lines at the present width: what was printed, then the result."""
        made = self._made
        if made is None or made[0][0] != self.width or made[0][1] is not self.result or made[0][2] != self._here:
            printed = PrintedSheet(self.prints, self.width, self._spill)
            shown = sheet_of(self.result, self.width, self._here, self._palette)
            made = self._made = (self.width, self.result, self._here), printed, Stack((printed, shown))
        made[1].sync()
        return made[2]

    def printed_more(self, text: str) -> None:
        """Take what the script prints; the page stays at its end, if it was there."""
        at_end = self.is_at_end
        self.prints.feed(text)
        if at_end:
            self.end()

    @property
    def is_at_end(self) -> bool:
        return self.top + self.height >= len(self.sheet)

    def scroll(self, lines: int) -> None:
        """Move down by so many lines, up if negative; it ends at the ends."""
        self.top = max(0, min(self.top + lines, len(self.sheet) - self.height))

    def turn(self, pages: int) -> None:
        """Move by whole pages, with one line in common."""
        self.scroll(pages * max(self.height - 1, 1))

    def home(self) -> None:
        self.top, self.pan = 0, 0

    def end(self) -> None:
        self.scroll(len(self.sheet))

    def show(self, line: int) -> None:
        """Bring a line into view; a far one to the middle."""
        if not self.top <= line < self.top + self.height:
            self.top = 0
            self.scroll(line - self.height // 2)

    def keep_in_view(self, line: int) -> None:
        """Bring a line into the middle, and again when the size changes."""
        self._kept = line
        self.top = 0
        self.scroll(line - self.height // 2)

    def sized(self, width: int, height: int) -> None:
        """The room there is now; what was at the top stays there, as far as lines can tell."""
        if (width, height) != (self.width, self.height):
            share = self.top / max(len(self.sheet), 1) if width != self.width else None
            self.width, self.height = max(width, 8), max(height, 1)
            if share is not None:
                self.top, self.chosen = round(share * len(self.sheet)), None
            self.scroll(0)
            if self._kept is not None:
                self.keep_in_view(self._kept)

    def link(self) -> Link | None:
        """The link that is chosen."""
        if self.chosen is None:
            return None
        links = self.sheet.links(self.chosen[0]) if self.chosen[0] < len(self.sheet) else []
        return links[self.chosen[1]] if self.chosen[1] < len(links) else None

    def next_link(self, way: int) -> bool:
        """Choose the next link (way 1) or the one before (-1), from the top of the screen on; False if none is left."""
        sheet = self.sheet
        if self.chosen is not None and self.top <= self.chosen[0] < self.top + self.height:
            line, number = self.chosen[0], self.chosen[1] + way
            if 0 <= number < len(sheet.links(line)):
                self.chosen = (line, number)
                return True
            line += way
        else:
            line = self.top if way > 0 else min(self.top + self.height, len(sheet)) - 1
        while 0 <= line < len(sheet):
            links = sheet.links(line)
            if links:
                self.chosen = (line, 0 if way > 0 else len(links) - 1)
                self._follow(line, way)
                return True
            line += way
        return False

    def link_in_line(self, way: int) -> bool:
        """Choose the nearest link in the lines below (way 1) or above (-1) on the screen, in about the same column."""
        chosen = self.link()
        if self.chosen is None or chosen is None:
            return self.next_link(way)
        line = self.chosen[0] + way
        while max(self.top - 1, 0) <= line < min(self.top + self.height + 1, len(self.sheet)):
            links = self.sheet.links(line)
            if links:
                nearest = min(range(len(links)), key=lambda i: abs(links[i].start - chosen.start))
                self.chosen = (line, nearest)
                self._follow(line, way)
                return True
            line += way
        return False

    def _follow(self, line: int, way: int) -> None:
        if line >= self.top + self.height or line < self.top:
            if abs(line - self.top) <= self.height + 1:
                self.scroll(line - self.top - (self.height - 1 if way > 0 else 0))
            else:
                self.show(line)

    def jump(self, text: str) -> str:
        """Go to the element `[3,0]` of the array that is shown; gives its value in words. Raises UsageError."""
        found = first_in(self.result, Array)
        if found is None:
            raise UsageError("there is no array on this screen", "print TARGET shows one")
        words = re.findall(r"-?\d+", text)
        value = found.value
        if len(words) != value.ndim or re.sub(r"[-\d\s,\[\]@]", "", text):
            index = ",".join("0" * value.ndim)
            raise UsageError(f"expected {value.ndim} numbers, found {text.strip()!r}", f"@[{index}]")
        try:
            flat = int(np.ravel_multi_index(
                [int(word) + (size if int(word) < 0 else 0) for word, size in zip(words, value.shape)], value.shape))
        except ValueError:
            raise UsageError(f"[{','.join(words)}] is outside of [{','.join(map(str, value.shape))}]",
                             f"@[{','.join(str(size - 1) for size in value.shape)}] is the last") from None
        self._here = flat
        self.show(line_of_element(self.sheet, flat))
        return f"[{','.join(words)}] = {value.reshape(-1)[flat]!s}"


class Pages:
    """The pages seen, oldest first, and which one is open."""

    def __init__(self) -> None:
        self._pages: list[Page] = [Page("")]
        self._at = 0

    @property
    def page(self) -> Page:
        return self._pages[self._at]

    @property
    def position(self) -> tuple[int, int]:
        """Number of the open page, from 1 on, and how many there are."""
        return self._at + 1, len(self._pages)

    def open(self, page: Page) -> None:
        """Show a new page behind the present one; those that came after go."""
        before = self.page
        page.width, page.height = before.width, before.height
        self._pages[self._at + 1:] = [page]
        if not before.command and not len(before.sheet):
            self._pages.remove(before)
        del self._pages[:-KEPT]
        self._at = len(self._pages) - 1

    def turn(self, by: int) -> bool:
        """Go back (-1) or forward (1); False at the end."""
        if not 0 <= self._at + by < len(self._pages):
            return False
        self._at += by
        return True
