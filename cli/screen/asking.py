"""The script's world while the screen is open: its output goes to the page, what it asks to the command line."""
from __future__ import annotations

import asyncio
import contextlib
import io
import os
import pdb
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, TextIO

from prompt_toolkit.application import Application
from prompt_toolkit.application.run_in_terminal import in_terminal

from autodiff.ops.common.instead import instead

from .captured import Printed, captured

END = "\x04"  # an answer: there is no more to read


class Asking(io.TextIOBase):
    """Standard input while the screen is open: each line is asked for. ask: is told that somebody waits."""

    encoding = "utf-8"

    def __init__(self, ask: Callable[[], Any]) -> None:
        self._ask = ask
        self._answers: queue.Queue[str] = queue.Queue()
        self._process = os.getpid()

    def answer(self, text: str) -> None:
        """What was typed; END for the end of the input."""
        self._answers.put(text)

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
        if os.getpid() != self._process:
            return ""  # nobody types for a process that the script forked
        self._ask()
        text = self._answers.get()
        return "" if text == END else text + "\n"

    def read(self, size: int | None = -1) -> str:
        return "".join(iter(self.readline, ""))

    def readable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False


class TerminalPdb(pdb.Pdb):
    """Python's debugger on the terminal itself: the screen makes room for each of its prompts. lend: does that."""

    def __init__(self, lend: Callable[[], contextlib.AbstractContextManager[None]], terminal: TextIO) -> None:
        super().__init__(stdin=os.fdopen(os.dup(0)), stdout=terminal)
        self._lend = lend

    def interaction(self, frame: FrameType | None, traceback: Any) -> None:
        with self._lend():
            super().interaction(frame, traceback)


@contextlib.contextmanager
def breakpoints(lend: Callable[[], contextlib.AbstractContextManager[None]], terminal: TextIO) -> Iterator[None]:
    """Inside, `breakpoint()` opens pdb on the terminal."""
    def hook(*_: Any, **__: Any) -> None:
        TerminalPdb(lend, terminal).set_trace(sys._getframe(1))

    with instead([(sys, "breakpointhook", hook)]):
        yield


@contextlib.contextmanager
def taken_over(put: Callable[[str], Any], tell: Callable[[str], Any], asking: Asking, app: Application[None],
               terminal: TextIO | None) -> Iterator[Callable[[], None]]:
    """Inside, output is given to `put` and questions to `asking`; gives what waits until all output is given.

    terminal: where the screen is drawn; None where standard output is no terminal, which then stays as it is.
    """
    with contextlib.ExitStack() as stack:
        capture = None
        if terminal is not None:
            capture = stack.enter_context(captured(put))
            stack.enter_context(breakpoints(lambda: lent(app), terminal))
        printed = Printed(put if capture is None else capture.write, tell)
        stack.enter_context(contextlib.redirect_stdout(printed))
        stack.enter_context(contextlib.redirect_stderr(printed))
        stack.enter_context(instead([(sys, "stdin", asking)]))
        yield capture.settle if capture is not None else lambda: None


@contextlib.contextmanager
def lent(app: Application[None]) -> Iterator[None]:
    """Inside, in whatever thread, the terminal is as it was before the screen opened."""
    taken, given = threading.Event(), threading.Event()

    async def lend() -> None:
        async with in_terminal():
            taken.set()
            await asyncio.get_running_loop().run_in_executor(None, given.wait)

    if app.loop is None:
        yield
        return
    lending = asyncio.run_coroutine_threadsafe(_within(app, lend), app.loop)
    taken.wait()
    try:
        yield
    finally:
        given.set()
        lending.result()


async def _within(app: Application[None], run: Callable[[], Any]) -> None:
    """Run a coroutine where prompt_toolkit knows which application is meant."""
    if app.context is None:
        await run()
    else:
        await app.context.run(lambda: asyncio.ensure_future(run()))
