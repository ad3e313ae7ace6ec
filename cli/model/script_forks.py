"""Processes that a script forks: they run without the debugger, whose prompt is not there, and end as Python's own."""
from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import NoReturn

from autodiff.ops.common.instead import instead


@contextlib.contextmanager
def forks(let_go: Callable[[], None]) -> Iterator[None]:
    """Inside, `let_go` is called in each process that os.fork makes, before it does anything else."""
    real, said = os.fork, False

    def fork() -> int:
        nonlocal said
        sys.stdout.flush()  # what is still to be written would be written twice
        process = real()
        if not process:
            let_go()
        elif not said:
            sys.stderr.write("gradbg: processes that the script forks run without the debugger\n")
            said = True
        return process

    with instead([(os, "fork", fork)]):
        yield


def end_forked(error: BaseException | None) -> None:
    """End a forked process where its script ends: in a thread, as which Python ends none by itself."""
    code: object = error.code if isinstance(error, SystemExit) else int(error is not None)
    if error is not None and not isinstance(error, SystemExit):
        sys.excepthook(type(error), error, error.__traceback__)
    elif not isinstance(code, int | None):
        sys.stderr.write(f"{code}\n")
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.current_thread():
            thread.join()
    leave((code or 0) & 0xff if isinstance(code, int | None) else 1)


def leave(code: int) -> NoReturn:
    """End the process as Python does, but for waiting for threads."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
