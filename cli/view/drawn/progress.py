"""How far a long answer is: drawn by rich on a terminal, told to a screen that shows it itself, silent in a pipe."""
from __future__ import annotations

import builtins
import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from autodiff.ops.common.instead import instead

PAUSE = 0.1  # seconds between two looks
PATIENCE = 0.5  # seconds without a word: most answers come sooner
SPARE = 4  # columns that a bar leaves free: the terminal writes ^C behind it, and breaks a line that is full


class Progress:
    """Told how much is done by calling it. what: is counted, in the plural; "" where nothing is."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._tell = getattr(sys.stdout, "show_progress", None)  # a full screen's standard output
        self._is_shown = all(stream is not None and stream.isatty() for stream in (sys.stdout, sys.stderr)) \
            and os.environ.get("TERM") != "dumb"
        self._start = time.monotonic()
        self._drawn: Any = None  # rich's progress, once there is one
        self._undo = contextlib.ExitStack()

    def __enter__(self) -> "Progress":
        return self

    @property
    def is_heard(self) -> bool:
        """Whether anybody sees it."""
        return self._is_shown or self._tell is not None

    def __call__(self, done: int, total: int | None, where: str = "") -> None:
        """Say that `done` of `total` are there; None: nobody knows of how many. where: what is being done."""
        seconds = time.monotonic() - self._start
        said = words(self._what, done, total, seconds, where)
        if self._tell is not None:
            self._tell(said)
        elif self._is_shown and seconds >= PATIENCE:
            if self._drawn is None:
                self._drawn = self._undo.enter_context(_opened(is_counted=total is not None))
                self._undo.enter_context(_silent_at_questions(self._hush))
            self._drawn.update(self._drawn.task_ids[0], completed=done, total=total, description=said)

    def _hush(self) -> None:
        """The terminal is somebody else's from now on."""
        self._is_shown = False
        self._undo.close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._tell is not None:
            self._tell("")
        self._hush()


def _opened(*, is_counted: bool) -> Any:
    """What is said, with rich's bar where there is a whole; it goes when the answer comes."""
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bars
    from rich.table import Column

    screen = Console(file=sys.stdout, legacy_windows=False)
    screen.width = max(screen.width - SPARE, 1)
    bar = [BarColumn(bar_width=None, table_column=Column(ratio=1))] if is_counted else []
    text = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, ratio=3))
    bars = Bars(SpinnerColumn("line"), text, *bar, transient=True, expand=True, console=screen)
    bars.add_task("", total=None)
    return bars


@contextlib.contextmanager
def _silent_at_questions(hush: Callable[[], None]) -> Iterator[None]:
    """Inside, a script that asks for a line, or for Python's debugger, has the terminal without a bar."""
    asked, broken = builtins.input, sys.breakpointhook

    def ask(*prompt: Any) -> str:
        hush()
        return asked(*prompt)

    def stop(*values: Any, **named: Any) -> Any:
        hush()
        return broken(*values, **named)

    with instead([(builtins, "input", ask), (sys, "breakpointhook", stop)]):
        yield


def words(what: str, done: int, total: int | None, seconds: float, where: str = "") -> str:
    """`rows 128 of 1000, 64/s, 14 s left  model.py:12: h = tf.tanh(x)`; nothing is said of a rate that nobody knows."""
    rate = done / seconds if seconds > 0 else 0.0
    of = f" of {total}" if total is not None else ""
    left = f", {(total - done) / rate:.0f} s left" if rate and total is not None else ""
    counted = f"{what} {done}{of}" + (f", {rate:.3g}/s{left}" if rate else f", {seconds:.0f} s") if what else ""
    return "  ".join(filter(None, (counted, where, "" if what else f"{seconds:.0f} s")))


@contextlib.contextmanager
def polled(what: str, look: Callable[[], tuple[int, int | None, str]]) -> Iterator[None]:
    """Progress of what does not tell it by itself: a thread looks how many are done, of how many, and where it is."""
    end = threading.Event()

    def poll() -> None:
        while not end.wait(PAUSE):
            report(*look())

    with Progress(what) as report:
        asker = threading.Thread(target=poll, name="progress", daemon=True)
        if report.is_heard:
            asker.start()
        try:
            yield
        finally:
            end.set()
            if asker.ident is not None:
                asker.join()


@contextlib.contextmanager
def counted(what: str) -> Iterator[Callable[[int, int], None]]:
    """Progress of what tells how many are done, of how many, which may be seldom."""
    told: list[int] = [0, 0]
    with polled(what, lambda: (told[0], told[1] or None, "")):
        yield lambda done, total: told.__setitem__(slice(None), (done, total))


def seen(doing: Callable[[], str]) -> contextlib.AbstractContextManager[None]:
    """Say what is being done while it takes long, and for how long by now; `doing` is asked again and again."""
    return polled("", lambda: (0, None, doing()))
