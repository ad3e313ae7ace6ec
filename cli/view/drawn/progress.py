"""How far a long answer is: drawn by rich on a terminal, told to a screen that shows it itself, silent in a pipe."""
from __future__ import annotations

import contextlib
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

PAUSE = 0.1  # seconds between two looks
PATIENCE = 0.5  # seconds without a word: most answers come sooner


class Progress:
    """Told how much is done by calling it. what: is counted, in the plural."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._tell = getattr(sys.stdout, "show_progress", None)  # a full screen's standard output
        self._is_shown = all(stream is not None and stream.isatty() for stream in (sys.stdout, sys.stderr)) \
            and os.environ.get("TERM") != "dumb"
        self._start = time.monotonic()
        self._drawn: Any = None  # rich's progress, once there is one

    def __enter__(self) -> "Progress":
        return self

    @property
    def is_heard(self) -> bool:
        """Whether anybody sees it."""
        return self._is_shown or self._tell is not None

    def __call__(self, done: int, total: int | None) -> None:
        """Say that `done` of `total` are there; None: nobody knows of how many."""
        seconds = time.monotonic() - self._start
        if self._tell is not None:
            self._tell(words(self._what, done, total, seconds))
        elif self._is_shown and seconds >= PATIENCE:
            if self._drawn is None:
                self._drawn = _opened(self._what, total)
            self._drawn.update(self._drawn.task_ids[0], completed=done, total=total, rate=f"{done / seconds:.3g}/s")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._tell is not None:
            self._tell("")
        if self._drawn is not None:
            self._drawn.stop()


def _opened(what: str, total: int | None) -> Any:
    """rich's bar with rate and time left; it goes when the answer comes."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    bars = Bars(TextColumn("{task.description}"), BarColumn(bar_width=None), MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"), TimeRemainingColumn(), transient=True,
                console=Console(file=sys.stdout, legacy_windows=False))
    bars.add_task(what, total=total, rate="")
    bars.start()
    return bars


def words(what: str, done: int, total: int | None, seconds: float) -> str:
    """`rows 128 of 1000, 64/s, 14 s left`."""
    rate = done / seconds if seconds > 0 else 0.0
    of = f" of {total}" if total is not None else ""
    left = f", {(total - done) / rate:.0f} s left" if rate and total is not None else ""
    return f"{what} {done}{of}" + (f", {rate:.3g}/s{left}" if rate else "")


@contextlib.contextmanager
def polled(what: str, done: Callable[[], int], total: float) -> Iterator[None]:
    """Progress of what does not tell it by itself: a thread asks `done`. total: infinite if nobody knows."""
    end = threading.Event()
    known = int(total) if math.isfinite(total) else None

    def poll() -> None:
        while not end.wait(PAUSE):
            report(done(), known)

    with Progress(what) as report:
        asker = threading.Thread(target=poll, name="progress", daemon=True)
        if report.is_heard and total > 1:
            asker.start()
        try:
            yield
        finally:
            end.set()
            if asker.ident is not None:
                asker.join()
