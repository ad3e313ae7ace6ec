"""The terminal as it was found: given back at a signal and at os._exit, and for Ctrl-Z until fg."""
from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

try:
    import termios
except ImportError:  # a system without terminals of this kind: there is nothing to give back
    termios = None  # type: ignore[assignment]

PLAIN = b"\x1b[?2004l\x1b[?7h\x1b[0m\x1b[?25h"  # no bracketed paste, lines wrap, no colors, the cursor is seen
SCREEN = b"\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1049l"  # no mouse, the first of the two screens


class Terminal:
    """Standard output's terminal, as it is now. is_screen: the full screen has it. redraw: draws a prompt anew.

    Nothing is done to a terminal that is not there, or is another job's by now.
    """

    def __init__(self) -> None:
        self.is_screen = False
        self.redraw: Callable[[], Any] = lambda: None
        self._process, self._descriptor = os.getpid(), -1
        with contextlib.suppress(OSError):
            self._descriptor = os.dup(1) if os.isatty(1) and termios is not None else -1
        self._found = self._mode()

    def _mode(self) -> list[Any]:
        """How it treats keys; [] if it does not say."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError, termios.error):
                if os.tcgetpgrp(self._descriptor) == os.getpgrp():
                    return termios.tcgetattr(self._descriptor)
        return []

    def give_back(self, said: str = "") -> None:
        """Leave it as it was found. said: a last line to write there."""
        if os.getpid() != self._process or not self._found or not self._mode():
            return
        with contextlib.suppress(OSError, termios.error):
            if os.environ.get("TERM", "dumb") != "dumb":
                os.write(self._descriptor, SCREEN * self.is_screen + PLAIN)
            termios.tcsetattr(self._descriptor, termios.TCSANOW, self._found)
            os.write(self._descriptor, said.encode())

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Inside, what ends or stops the process gives the terminal back first."""
        if not self._found or threading.current_thread() is not threading.main_thread():
            yield
            return
        handlers = {signal.SIGTERM: self._end, signal.SIGHUP: self._end, signal.SIGQUIT: self._end,
                    signal.SIGTSTP: self._stop}
        saved = {number: signal.signal(number, handler) for number, handler in handlers.items()
                 if signal.getsignal(number) is signal.SIG_DFL}
        leave, abort = os._exit, os.abort

        def _exit(status: int) -> None:
            self.give_back(f"the script left by os._exit({status})\n" if self.is_screen else "")
            leave(status)

        def _abort() -> None:
            self.give_back()
            abort()

        os._exit, os.abort = _exit, _abort  # type: ignore[assignment]
        try:
            yield
        finally:
            os._exit, os.abort = leave, abort
            for number, handler in saved.items():
                signal.signal(number, handler)

    def _end(self, number: int, _: Any) -> None:
        self.end(number)

    def end(self, number: int) -> None:
        """Give it back, and end the process by a signal, from whatever thread."""
        self.give_back()
        ctypes.CDLL(None).signal(number, 0)  # which Python lets the main thread do alone
        os.kill(os.getpid(), number)

    def _stop(self, number: int, _: Any) -> None:
        """Stop the job until it is continued: all of its processes, as the terminal would at Ctrl-Z."""
        mode = self._mode()
        self.give_back()
        handler = signal.signal(number, signal.SIG_DFL)
        os.kill(0 if os.getpid() == self._process else os.getpid(), number)
        signal.signal(number, handler)
        if mode and mode != self._found and self._mode():
            termios.tcsetattr(self._descriptor, termios.TCSANOW, mode)
        self.redraw()


def suspend(_: Any = None) -> None:
    """Ctrl-Z as a key."""
    os.kill(os.getpid(), signal.SIGTSTP)
