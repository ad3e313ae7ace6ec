"""Descriptors 1 and 2 while the screen is open: what C code, subprocesses and sys.__stdout__ write goes to the page."""
from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TextIO

LEAVING = 0.5  # seconds that are waited for what is still in the pipe
PIECE = 1 << 16  # bytes read at once
MARK = b"\x00settled\x00"  # in the pipe: whoever waits has been served


def own_terminal() -> TextIO | None:
    """A stream to the terminal on a descriptor of its own; None where standard output is none."""
    try:
        if not os.isatty(1):
            return None
        return os.fdopen(os.dup(1), "w", encoding=getattr(sys.stdout, "encoding", None) or "utf-8", errors="replace")
    except OSError:
        return None


class Capture:
    """Descriptors 1 and 2 lead here. put: is given what is written to them, in a thread of its own."""

    def __init__(self, put: Callable[[str], Any]) -> None:
        self._put = put
        self._settled = threading.Event()

    def write(self, text: str) -> None:
        """Write as the script's own prints do, so that all comes in the order it was written in."""
        data = text.encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(1, data):]

    def settle(self) -> None:
        """Wait until what was written so far has been given on."""
        self._settled.clear()
        os.write(1, MARK)
        self._settled.wait(LEAVING)

    def read(self, source: int) -> None:
        """Give on what comes, until nobody writes any more."""
        decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        with os.fdopen(source, "rb", buffering=0) as pipe:
            while piece := pipe.read(PIECE):
                self._put(decoder.decode(piece.replace(MARK, b"")))
                if MARK in piece:
                    self._settled.set()


@contextlib.contextmanager
def captured(put: Callable[[str], Any]) -> Iterator[Capture]:
    """Inside, everything written to descriptors 1 and 2 is given to `put`, in whatever thread."""
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None:
            stream.flush()
    saved = os.dup(1), os.dup(2)
    source, sink = os.pipe()
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    os.close(sink)
    capture = Capture(put)
    reader = threading.Thread(target=capture.read, args=(source,), name="captured output", daemon=True)
    reader.start()
    try:
        yield capture
    finally:
        for stream in (sys.__stdout__, sys.__stderr__):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    stream.flush()
        for descriptor, copy in zip((1, 2), saved):
            os.dup2(copy, descriptor)
            os.close(copy)
        reader.join(LEAVING)  # a process that the script left behind may hold the pipe open


class Printed(io.TextIOBase):
    """Standard output while the screen is open: what is written goes to `put`. tell: is told of progress."""

    encoding = "utf-8"

    def __init__(self, put: Callable[[str], Any], tell: Callable[[str], Any]) -> None:
        self._put, self._tell = put, tell

    def write(self, text: str) -> int:
        self._put(text)
        return len(text)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def show_progress(self, text: str) -> None:
        """Say how far a long answer is; "" when it is over."""
        self._tell(text)
