"""The threads of a script: its main one, those that it starts, and what each of them is doing."""
from __future__ import annotations

import linecache
import os
import sys
import threading
from collections.abc import Collection, Iterator
from types import FrameType
from typing import TYPE_CHECKING

from autodiff.runtime.under_way import operation_in

if TYPE_CHECKING:
    from .script import ModelScript

LOOK = 0.1  # seconds after which one that waits for a thread looks whether it was interrupted


class ScriptThread(threading.Thread):
    """The main thread of a script. script: which.

    For the process, which does not wait for it, it is a daemon; for the threads that it starts it is none.
    """

    def __init__(self, script: ModelScript) -> None:
        super().__init__(target=script._main, name=threading.main_thread().name, daemon=True)
        self.script = script
        self._has_begun = False

    def run(self) -> None:
        self._has_begun = True
        super().run()

    @property
    def daemon(self) -> bool:  # type: ignore[override]
        return not self._has_begun


def waited_for(before: Collection[threading.Thread]) -> list[threading.Thread]:
    """The threads that Python waits for at a program's end. before: those that were there when it began.

    Those of pools do not count: they go on until they are told to end.
    """
    pools = getattr(sys.modules.get("concurrent.futures.thread"), "_threads_queues", ())
    return [thread for thread in threading.enumerate() if thread.is_alive() and thread not in before
            and not thread.daemon and thread not in pools and thread is not threading.current_thread()]


def join_others(before: Collection[threading.Thread]) -> None:
    """Wait for the threads that are left at a program's end."""
    while threads := waited_for(before):
        threads[0].join(LOOK)


def frames_of(thread: threading.Thread | None) -> Iterator[FrameType]:
    """Where a thread is now, innermost first."""
    frame = sys._current_frames().get(thread.ident or 0) if thread is not None else None
    while frame is not None:
        yield frame
        frame = frame.f_back


def line_of(thread: threading.Thread | None, file: str) -> str:
    """The line of a file that a thread executes now, `model.py:12: import torch`; "" if none is."""
    number = next((frame.f_lineno for frame in frames_of(thread) if frame.f_code.co_filename == file), 0)
    return f"{os.path.basename(file)}:{number}: {linecache.getline(file, number).strip()}" if number else ""


def operation_of(thread: threading.Thread | None) -> str:
    """The operation that a thread executes now, `MatMul at model.py:12`; "" if none is."""
    op = next(filter(None, map(operation_in, frames_of(thread))), None)
    site = op.site if op is not None else None
    return f"{op.type} at {os.path.basename(site.file)}:{site.line}" if op is not None and site is not None else ""
