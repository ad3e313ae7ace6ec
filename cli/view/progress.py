"""A line that says how far a long answer is: on a terminal alone, and gone when the answer comes."""
from __future__ import annotations

import os
import sys
import time
from types import TracebackType

from .debugger_rows import duration

_WIDTH = 24  # characters of the bar
_PATIENCE = 0.4  # seconds without a line: most answers come sooner
_PAUSE = 0.1  # seconds between two lines


class Progress:
    """Told how much is done by calling it. what: is counted, in the plural."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._stream = sys.stderr
        self._is_shown = all(stream is not None and stream.isatty() for stream in (sys.stdout, sys.stderr)) \
            and os.environ.get("TERM") != "dumb"
        self._start = self._drawn = time.monotonic()
        self._length = 0

    def __enter__(self) -> "Progress":
        return self

    def __call__(self, done: int, total: int) -> None:
        """Say that `done` of `total` are there."""
        now = time.monotonic()
        if not self._is_shown or now - self._start < _PATIENCE or now - self._drawn < _PAUSE and done < total:
            return
        self._drawn = now
        line = text(self._what, done, total, now - self._start)
        self._stream.write("\r" + line.ljust(self._length))
        self._stream.flush()
        self._length = len(line)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._length:
            self._stream.write("\r" + " " * self._length + "\r")
            self._stream.flush()


def text(what: str, done: int, total: int, seconds: float) -> str:
    """`rows 128 of 1000 [###-----] 2.1 s left`: in ASCII, as a terminal need not have more."""
    full = _WIDTH * done // max(total, 1)
    left = f"  {duration(1e3 * seconds * (total - done) / done)} left" if done else ""
    return f"{what} {done} of {total} [{'#' * full}{'-' * (_WIDTH - full)}]{left}"
