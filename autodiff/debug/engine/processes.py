"""An executor of processes, any of which may be lost at any moment.

The standard library's waits for ever where a process is killed while it sends a result, as others still hold the pipe's
other end (Python 3.11). Here each process has a pipe of its own, whose end is heard, and a thread that waits at it.
"""
from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

_SPAWN = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang


class Processes(Executor):
    """So many processes; the calls of one that is lost raise BrokenExecutor, and another takes its place.

    They end with this one, however it ends, and with `shutdown`, whatever they are at: Ctrl-C does not wait for them.
    """

    def __init__(self, count: int) -> None:
        self._waiting = ThreadPoolExecutor(count, "gradbg-worker")
        self._mine: dict[int, tuple[SpawnProcess, Connection]] = {}  # each thread's, and this end of its pipe
        self._changes = threading.Lock()
        self._is_over = False

    @property
    def pids(self) -> list[int | None]:
        """The processes that are there, by their numbers."""
        return [process.pid for process, _ in list(self._mine.values())]

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        """As any executor's."""
        return self._waiting.submit(self._ask, (function, args, options))

    def _ask(self, call: tuple[Any, ...]) -> Any:
        thread = threading.get_ident()
        if thread not in self._mine:
            self._begin(thread)
        process, pipe = self._mine[thread]
        try:
            pipe.send(call)
            value, error = pipe.recv()
        except (EOFError, OSError):
            del self._mine[thread]
            pipe.close()
            process.kill()
            process.join()
            raise BrokenExecutor(f"process {process.pid} was lost") from None
        if error is not None:
            raise error
        return value

    def _begin(self, thread: int) -> None:
        pipe, theirs = _SPAWN.Pipe()
        with self._changes, theirs, _without_script():
            if self._is_over:
                raise BrokenExecutor("shut down")
            process = _SPAWN.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            self._mine[thread] = process, pipe

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End the processes at once."""
        with self._changes:
            self._is_over = True
        self._waiting.shutdown(wait=False, cancel_futures=cancel_futures)
        for process, _ in list(self._mine.values()):
            process.kill()
        self._waiting.shutdown(wait)


@contextlib.contextmanager
def _without_script() -> Iterator[None]:
    """Inside, new processes do not run the user's script again, as they do with what is `__main__`.

    Nor do they hear of a Ctrl-C at the terminal: it is for this one.
    """
    script = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)
        sys.modules["__main__"] = script


def _serve(pipe: Connection) -> None:
    """In a new process: answer calls, and end when the one that made it does, or closes its end."""
    os.environ["OMP_NUM_THREADS"] = "1"  # there are as many processes as there is work for
    calls: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()

    def hear() -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                calls.put(pipe.recv())
        os._exit(0)

    threading.Thread(target=hear, daemon=True).start()
    while True:
        function, args, options = calls.get()
        try:
            pipe.send((function(*args, **options), None))
        except Exception as error:
            pipe.send((None, error))
