"""Turns: where somebody looks at every run, one thread at a time makes runs.

A run may wait in Python code of the user's for what the run of another thread gives, so others pass meanwhile.
"""
from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator

from ...core.errors import DeadlineExceededError

Context = contextlib.AbstractContextManager[None]
Away = Callable[[], Context]
_own = threading.local()  # turn: the one that this thread has, or None; session: whose run it makes


class RunsEnd(BaseException):
    """There are no turns any more: the thread is to end; not an Exception, so that handlers of errors let it pass."""


class Turn:
    """To be entered by who makes a run, any number of times by one thread; the others wait, first come, first served.

    holder: the thread that has it, or None. taken: how often one took it. is_lent: whether others make runs while its
    holder stands in the midst of one that somebody else goes on with.
    """

    def __init__(self) -> None:
        self.holder: threading.Thread | None = None
        self.taken = 0
        self.is_lent = False
        self._lock = threading.Lock()
        self._depth = 0
        self._waiting: deque[tuple[threading.Thread, threading.Event]] = deque()
        self._end: type[RunsEnd] | None = None

    def __enter__(self) -> Turn:
        me = threading.current_thread()
        if self.holder is not me:
            self._take(me)
            _own.turn = self
        self._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        if self.holder is not threading.current_thread():
            return  # it was lost in the midst
        self._depth -= 1
        if not self._depth:
            _own.turn = None
            self._leave()

    def end(self, kind: type[RunsEnd] = RunsEnd) -> None:
        """Nobody gets it any more: who waits for it, or comes for it, raises `kind`."""
        with self._lock:
            self._end = kind
            for _, ready in self._waiting:
                ready.set()
            self._waiting.clear()

    def _take(self, me: threading.Thread) -> None:
        with self._lock:
            if self._end is not None:
                raise self._end
            if self.holder is None:
                self.holder, self.taken = me, self.taken + 1
                return
            ready = threading.Event()
            self._waiting.append((me, ready))
        try:
            ready.wait()
        except BaseException:  # an exception that another thread raises here
            with self._lock, contextlib.suppress(ValueError):
                self._waiting.remove((me, ready))
            if self.holder is me:
                self._leave()
            raise
        if self.holder is not me:
            raise self._end or RunsEnd

    def _leave(self) -> None:
        with self._lock:
            self.holder = None
            if self._waiting and self._end is None:
                self.holder, ready = self._waiting.popleft()
                self.taken += 1
                ready.set()

    @contextlib.contextmanager
    def lent(self) -> Iterator[None]:
        """Inside, this thread goes on with the run that the holder stands in; if it waits, others pass as well."""
        if self.holder is None or getattr(_own, "turn", None) is not None:
            yield
            return
        _own.turn, self.is_lent = self, True
        try:
            yield
        finally:
            _own.turn, self.is_lent = None, False

    @contextlib.contextmanager
    def noted(self, away: Away) -> Iterator[None]:
        """Inside, `away` gives a context for each time that this thread lets others pass."""
        saved, _own.away = getattr(_own, "away", None), away
        try:
            yield
        finally:
            _own.away = saved

    @contextlib.contextmanager
    def passing(self) -> Iterator[None]:
        holder, depth, away = self.holder, self._depth, getattr(_own, "away", None)
        with away() if away is not None else contextlib.nullcontext():
            _own.turn = _own.away = None
            self._depth = 0
            self._leave()
            try:
                yield
            finally:
                self._take(threading.current_thread())
                self.holder, self._depth = holder, depth
                _own.turn, _own.away = self, away


@contextlib.contextmanager
def others_pass(session: object) -> Iterator[None]:
    """Inside, in a run of this session, other threads make runs if this one makes its own in its turn."""
    turn, saved = getattr(_own, "turn", None), getattr(_own, "session", None)
    _own.session = session
    try:
        with turn.passing() if turn is not None else contextlib.nullcontext():
            yield
    finally:
        _own.session = saved


@contextlib.contextmanager
def within(milliseconds: float) -> Iterator[None]:
    """Inside, what this thread's run waits for, and its loops, may take so long: see `check_deadline`."""
    saved, _own.deadline = deadline(), time.monotonic() + milliseconds / 1000
    try:
        yield
    finally:
        _own.deadline = saved


def deadline() -> float | None:
    """When this thread's run is to have ended, on the monotonic clock; None if it may take as long as it likes."""
    return getattr(_own, "deadline", None)


def check_deadline(what: str) -> None:
    """Raises DeadlineExceededError, naming what takes too long, when the run is to have ended."""
    until = deadline()
    if until is not None and time.monotonic() > until:
        raise DeadlineExceededError(None, None, f"Timed out waiting for notification: {what}")


def is_cancelled() -> bool:
    """Whether the session of the run that waits here was closed."""
    return getattr(getattr(_own, "session", None), "closed", False)
