"""A script that asks: `input()` at the command line of the screen, `breakpoint()` with the terminal to itself."""
from __future__ import annotations

import contextlib
import io
import os
import pdb
import queue
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, TextIO

from autodiff.ops.common.instead import instead

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
