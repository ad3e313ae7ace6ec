"""Signals: a script's own handlers, accepted without effect in its thread; Ctrl-C, heard and handed on to it."""
from __future__ import annotations

import contextlib
import ctypes
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def quiet_signals(is_script: Callable[[], bool]) -> Iterator[None]:
    """Inside, `signal.signal` called from the script remembers the handler and installs nothing.

    Python allows it in the main thread alone, which is the prompt's; Ctrl-C is the debugger's anyway.
    """
    real = signal.signal
    handlers: dict[Any, Any] = {}

    def remember(number: Any, handler: Any) -> Any:
        if not is_script():
            return real(number, handler)
        if not handlers:
            sys.stderr.write("gradbg: the script's signal handlers are not installed under the debugger\n")
        old = handlers.get(number, signal.getsignal(number))
        handlers[number] = handler
        return old

    signal.signal = remember  # type: ignore[assignment]
    try:
        yield
    finally:
        signal.signal = real


def heed_ctrl_c() -> None:
    """Let Ctrl-C be KeyboardInterrupt again where a shell that started the program in the background had it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def say_it_is_heard() -> None:
    """Ctrl-C in a long step: it is not in vain."""
    sys.stderr.write("it stops at the end of this step; Ctrl-C again interrupts the step\n")
    sys.stderr.flush()


def raise_in(thread: threading.Thread | None, kind: type[BaseException]) -> None:
    """Raise an exception inside another thread, at its next Python instruction."""
    if thread is not None and thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(kind))
