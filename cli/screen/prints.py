"""What the script prints, line by line: bounded, `\\r` overwrites, colors are kept; what is too old goes to a file."""
from __future__ import annotations

import os
import tempfile
import threading
from collections import deque

from ..view.drawn.ansi import commands, fragments, visible
from ..view.drawn.sheets import Fragments, Link, joined
from ..view.text import display_width

KEPT = 10_000  # lines that a page keeps
LARGEST = 1 << 20  # characters that are looked at in one go; of more the end


class Inbox:
    """Text on its way to the screen, from whatever thread; taken all at once, a few times a second."""

    def __init__(self) -> None:
        self._texts: deque[str] = deque()

    def put(self, text: str) -> None:
        self._texts.append(text)

    def take(self) -> str:
        """All that has come."""
        found = []
        while self._texts:
            found.append(self._texts.popleft())
        return "".join(found)


class Spill:
    """The file of the lines that no page keeps; made when it is needed, gone with the screen."""

    def __init__(self) -> None:
        self.path = ""
        self._lock = threading.Lock()

    def write(self, text: str) -> None:
        with self._lock:
            if not self.path:
                handle, self.path = tempfile.mkstemp(prefix="gradbg-printed-", suffix=".txt")
                os.close(handle)
            with open(self.path, "a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)

    def close(self) -> None:
        if self.path:
            os.unlink(self.path)
            self.path = ""


class Prints:
    """The lines of one page. dropped: how many went to the spill."""

    def __init__(self, spill: Spill) -> None:
        self.lines: list[str] = []
        self.dropped = 0
        self._spill = spill
        self._open = False  # whether the last line may go on
        self._returned = False  # whether what comes overwrites it

    def __len__(self) -> int:
        return len(self.lines)

    def feed(self, text: str) -> None:
        """Take what was printed."""
        if len(text) > LARGEST:
            cut = text.rindex("\n", 0, len(text) - LARGEST) + 1 if "\n" in text[:-LARGEST] else len(text) - LARGEST
            self._drop([*self.lines, text[:cut]])
            self.lines, text = [], text[cut:]
        *whole, last = text.split("\n")
        for line in whole:
            self._add(line)
            self._open = self._returned = False
        if last:
            self._add(last)
        if len(self.lines) > 2 * KEPT:
            self._drop(self.lines[:-KEPT])
            self.lines = self.lines[-KEPT:]

    def _add(self, text: str) -> None:
        """Go on with the last line, or begin one; `\\r` goes back to its beginning."""
        if not self._open:
            self.lines.append("")
            self._open = True
        for at, part in enumerate(text.split("\r")):
            self._returned = self._returned or at > 0
            if part:
                before = self.lines[-1]
                self.lines[-1] = _over(before, part) if self._returned else before + part
                self._returned = False

    def _drop(self, lines: list[str]) -> None:
        self._spill.write("".join(line if line.endswith("\n") else line + "\n" for line in lines))
        self.dropped += sum(max(line.count("\n"), 1) for line in lines)


def _over(before: str, text: str) -> str:
    """A line of which a beginning is overwritten."""
    return text if "\x1b" in before + text else text + before[len(text):]


class PrintedSheet:
    """Prints at a width: long lines are broken; only what was added is measured again."""

    def __init__(self, prints: Prints, width: int, spill: Spill) -> None:
        self._prints, self._width, self._spill = prints, max(width, 1), spill
        self._rows: list[tuple[int, int]] = []  # number of the line, first character
        self._dropped = prints.dropped
        self._seen = 0

    def sync(self) -> None:
        """Know what was printed since."""
        if self._dropped != self._prints.dropped:
            self._dropped, self._seen, self._rows = self._prints.dropped, 0, []
        if self._seen:  # the last one may have gone on
            self._seen -= 1
            while self._rows and self._rows[-1][0] >= self._seen:
                self._rows.pop()
        for number in range(self._seen, len(self._prints.lines)):
            line = self._prints.lines[number]
            size = len(line) if len(line) <= self._width else len(visible(line))
            self._rows += [(number, start) for start in range(0, max(size, 1), self._width)]
        self._seen = len(self._prints.lines)

    def __len__(self) -> int:
        return len(self._rows) + (1 if self._dropped else 0)

    def line(self, at: int) -> Fragments:
        if self._dropped and not at:
            return [("class:quiet", self._note())]
        number, start = self._rows[at - bool(self._dropped)]
        found, place = [], 0
        for style, text in fragments(self._prints.lines[number]):
            part = text[max(start - place, 0):max(start + self._width - place, 0)]
            found += [(style, part)] if part else []
            place += len(text)
        return found

    def text(self, at: int) -> str:
        return "".join(text for _, text in self.line(at))

    def links(self, at: int) -> list[Link]:
        if self._dropped and not at:
            note = self._note()
            end = display_width(note)
            return [Link(end - len(self._spill.path), end, f"list {self._spill.path}:1")]
        return joined(commands(self.text(at)))

    def _note(self) -> str:
        return f"… the {self._dropped} lines before are in {self._spill.path}"
