"""Signals in the midst of a long call of C code: Python hears them when it is over, somebody has to say so before."""
from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator

from .script_signals import HEARD
from .script_threads import frames_of, operation_of

ENDING = 4 * HEARD  # seconds that the main thread has to end the process by itself


class Hearing:
    """Answers for the main thread where that is in C code. end: what to do about a signal that ends the process.

    hint: what else can be done, behind what is waited for.
    """

    def __init__(self, end: Callable[[int], None], hint: str = "") -> None:
        self._end, self._hint = end, hint
        self._main = threading.main_thread()
        self._sink: socket.socket | None = None

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Inside, for the main thread, what C code keeps waiting is answered."""
        if threading.current_thread() is not self._main:
            yield
            return
        if self._sink is None:
            source, self._sink = socket.socketpair()
            self._sink.setblocking(False)
            threading.Thread(target=self._listen, args=(source,), name="hearing", daemon=True).start()
        saved = signal.set_wakeup_fd(self._sink.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(saved)

    def _listen(self, source: socket.socket) -> None:
        """Take the numbers of signals as they come."""
        while numbers := source.recv(64):
            ends = {signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}.intersection(numbers)
            if (ends or signal.SIGINT in numbers) and not is_heeded(ENDING if ends else HEARD):
                if ends:
                    self._end(min(ends))
                    continue
                sys.stderr.write(f"waiting for {self._doing()} to end, which can not be interrupted{self._hint}\n")
                sys.stderr.flush()

    def _doing(self) -> str:
        """The operation, or the function of whatever library."""
        return operation_of(self._main) or next((frame.f_code.co_name for frame in frames_of(self._main)), "a call")


def is_heeded(seconds: float) -> bool:
    """Whether the main thread runs Python code, and so has the handlers of signals called, within so many seconds."""
    source, sink = os.pipe()
    try:  # what it is to call is C code, too: a handler that raises would raise in it
        ctypes.pythonapi.Py_AddPendingCall(ctypes.CDLL(None).close, ctypes.c_void_p(sink))
        return bool(select.select([source], [], [], seconds)[0])
    finally:
        os.close(source)
