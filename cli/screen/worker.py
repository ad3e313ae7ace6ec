"""Commands run beside the screen, so that it always answers; Ctrl-C reaches them there."""
from __future__ import annotations

import io
import os
import queue
import signal
import threading
from collections.abc import Callable
from typing import Any

from ..model.results import Result, Text
from ..model.script import raise_in


class Worker:
    """Runs commands one after the other, in the thread that calls work(). run: what executes a line.

    told: is given each line and its result. busy: the line that is being run, or "".
    """

    def __init__(self, run: Callable[[str], Result], told: Callable[[str, Result], None]) -> None:
        self._run, self._told = run, told
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.busy = ""
        self._thread = threading.current_thread()

    def submit(self, line: str) -> None:
        self.busy = line
        self._lines.put(line)

    def close(self) -> None:
        """Let work() come to its end; what runs is interrupted."""
        self._lines.put(None)
        self.interrupt()

    def interrupt(self) -> bool:
        """Ctrl-C for the command that runs, as a terminal would give it; False if none does."""
        if not self.busy:
            return False
        if self._thread is threading.main_thread():
            os.kill(os.getpid(), signal.SIGINT)  # which wakes up what sleeps, too
        else:
            raise_in(self._thread, KeyboardInterrupt)
        return True

    def work(self) -> None:
        """Run what is submitted until closed."""
        while True:
            try:
                line = self._lines.get()
                if line is None:
                    return
                self.busy = line
                try:
                    result = self._run(line)
                except KeyboardInterrupt:
                    result = Text("interrupted", "warning")
            except KeyboardInterrupt:  # it came a moment too soon or too late
                line, result = self._waiting(), Text("interrupted", "warning")
                if line is None:
                    return
            if line:
                self._tell(line, result)

    def _waiting(self) -> str | None:
        """The command that was about to begin, "" if there was none; None if work is to end."""
        try:
            return self._lines.get_nowait()
        except queue.Empty:
            return self.busy

    def _tell(self, line: str, result: Result) -> None:
        told = False
        while not told:
            try:
                self.busy = ""
                self._told(line, result)
                told = True
            except KeyboardInterrupt:
                continue


class Printed(io.TextIOBase):
    """Standard output while the screen is open: what is written goes to `take`."""

    encoding = "utf-8"

    def __init__(self, take: Callable[[str], Any]) -> None:
        self._take = take

    def write(self, text: str) -> int:
        self._take(text)
        return len(text)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False
