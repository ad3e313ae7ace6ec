"""Signals: a script's own handlers, accepted without effect in its thread; Ctrl-C, heard and handed on to it."""
from __future__ import annotations

import contextlib
import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from autodiff.ops.common.instead import instead

from .script_threads import frames_of

STORM = 0.1  # seconds within which further presses of Ctrl-C say nothing more
HEARD = 0.15  # seconds after Ctrl-C within which it should have been heeded, or it is said what is waited for
AGAIN = 1e-3  # seconds until an exception that was swallowed is raised again
STARTING = 500  # times a millisecond that a thread has to come out of the starting of another


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

    with instead([(signal, "signal", remember)]):
        yield


def heed_ctrl_c() -> None:
    """Let Ctrl-C be KeyboardInterrupt again where a shell that started the program in the background had it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextlib.contextmanager
def handled(number: int, handler: Callable[..., None]) -> Iterator[None]:
    """Inside, a handler is given a signal; outside of the main thread, which alone hears them, nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    saved = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, saved)


class Pressed:
    """Whether Ctrl-C was pressed, as a handler of SIGINT that raises nothing in the midst of what it interrupts.

    count: how often. fresh: how often, but for those that follow each other as in a storm. Outside of the main thread,
    where handlers cannot be set, both stay 0.
    """

    def __init__(self) -> None:
        self.count = self.fresh = 0
        self._last = -STORM

    def __call__(self, *_: Any) -> None:
        now = time.monotonic()
        self.count += 1
        self.fresh += now - self._last >= STORM
        self._last = now

    @contextlib.contextmanager
    def heard(self) -> Iterator[Pressed]:
        """Inside, it is the handler."""
        with handled(signal.SIGINT, self):
            yield self


class Reminder:
    """Says something a moment after Ctrl-C, unless it was heeded by then. has_said: whether it said the last."""

    def __init__(self) -> None:
        self.has_said = False
        self._timer: threading.Timer | None = None

    def begin(self, text: Callable[[], str]) -> None:
        """Say `text` if `cancel` is not called before."""
        self.cancel()
        self.has_said = False
        self._timer = threading.Timer(HEARD, self._say, (text,))
        self._timer.daemon = True
        self._timer.start()

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _say(self, text: Callable[[], str]) -> None:
        sys.stderr.write(text() + "\n")
        sys.stderr.flush()
        self.has_said = True


@contextlib.contextmanager
def nothing_swallowed(kinds: tuple[type[BaseException], ...]) -> Iterator[None]:
    """Inside, what `raise_in` raised where Python cannot pass it on, as in the callback of a weak reference, is again.

    kinds: the exceptions that are meant.
    """
    saved = sys.unraisablehook

    def hook(what: Any) -> None:
        if what.exc_type in kinds and threading.current_thread() is not threading.main_thread():
            again = threading.Timer(AGAIN, raise_in, (threading.current_thread(), what.exc_type))
            again.daemon = True
            again.start()
        else:
            saved(what)

    with instead([(sys, "unraisablehook", hook)]):
        yield


def raise_in(thread: threading.Thread | None, kind: type[BaseException]) -> None:
    """Raise an exception inside another thread, at its next Python instruction.

    One that is starting a third comes out of that first: until the third runs, Python takes it for the second, and a
    thread that ends before it runs is waited for by its starter for good.
    """
    if thread is not None and thread.ident is not None and thread.is_alive():
        for _ in range(STARTING):
            if all(frame.f_code is not threading.Thread.start.__code__ for frame in frames_of(thread)):
                break
            time.sleep(1e-3)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(kind))
