"""Commands run in a thread of their own, so that the screen always answers; Ctrl-C reaches them there."""
from __future__ import annotations

import io
import queue
import threading
from collections.abc import Callable
from typing import Any

from ..results import Result, Text
from ..script import raise_in
from ..shell import Shell


class Worker:
    """Runs commands one after the other. run: what executes a line. told: is given each line and its result.

    busy: the line that is being run, or "".
    """

    def __init__(self, shell: Shell, run: Callable[[str], Result], told: Callable[[str, Result], None]) -> None:
        self._shell, self._run, self._told = shell, run, told
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.busy = ""
        self._thread = threading.Thread(target=self._work, name="commands", daemon=True)
        self._thread.start()

    def submit(self, line: str) -> None:
        self.busy = line
        self._lines.put(line)

    def close(self) -> None:
        self._lines.put(None)

    def interrupt(self) -> str:
        """Stop what runs: training at the end of its step, anything else at once; gives what was done in words."""
        if not self.busy:
            return ""
        flag = self._shell.interrupt
        if flag is not None and not flag.pressed:
            flag.pressed = True
            return "stops after this step; Ctrl-C again stops at once"
        raise_in(self._thread, KeyboardInterrupt)
        return "stopping"

    def _work(self) -> None:
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
            except KeyboardInterrupt:  # it came a moment too late or too soon
                if not self.busy:
                    continue
                line, result = self.busy, Text("interrupted", "warning")
            self._tell(line, result)

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
