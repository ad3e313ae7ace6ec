"""Executors by name: `threads:4`, `processes:8`, `dask://HOST:PORT`."""
from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

from ...core.errors import ArgumentError, StateError

FORMS = "threads:4, processes:8 or dask://HOST:PORT"
_PATIENCE = 10  # seconds for a scheduler to answer
_FORM = re.compile(r"(threads|processes):([1-9]\d{0,3})|dask://([^\s/]+:\d+)")


@contextlib.contextmanager
def workers(on: str) -> Iterator[Executor]:
    """The workers of that name, until the end of the `with` block; what has not begun by then never does.

    Raises ArgumentError for another name, StateError if there is no dask here, or no scheduler at the address.
    """
    parts = _FORM.fullmatch(on)
    if parts is None:
        raise ArgumentError(expected=FORMS, found=repr(on))
    if parts[3]:
        with _cluster(parts[3]) as cluster:
            yield cluster
        return
    count = int(parts[2])
    executor = ThreadPoolExecutor(count, "gradbg-worker") if parts[1] == "threads" else Processes(count)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


class Processes(Executor):
    """So many processes; where one is lost, new ones take the place of all.

    They end with this one, however it ends, and with `shutdown`, whatever they are at: Ctrl-C does not wait for them.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._begin()

    def _begin(self) -> None:
        theirs, self._lifeline = multiprocessing.Pipe(duplex=False)
        context = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
        self._pool = ProcessPoolExecutor(self._count, context, _live_with, (theirs,))

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        """As any executor's."""
        with _without_script():
            try:
                return self._pool.submit(function, *args, **options)
            except BrokenExecutor:
                self.shutdown(wait=False)  # what is broken may never be over
                self._begin()
                return self._pool.submit(function, *args, **options)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End the processes at once."""
        self._lifeline.close()
        self._pool.shutdown(wait, cancel_futures=cancel_futures)


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


def _live_with(lifeline: Connection) -> None:
    """In a new process: end when the one that made it does, or closes its end."""
    os.environ["OMP_NUM_THREADS"] = "1"  # there are as many processes as there is work for

    def wait() -> None:
        with contextlib.suppress(EOFError, OSError):
            lifeline.recv()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    try:
        import distributed
    except ImportError:
        raise StateError("dask.distributed is not installed here", hint="pip install 'gradbg[dask]'") from None
    try:
        client = distributed.Client(f"tcp://{address}", timeout=_PATIENCE, set_as_default=False)
    except OSError:
        raise StateError(f"no dask scheduler answers at {address}", hint="dask scheduler starts one") from None
    try:
        yield client.get_executor(pure=False)
    finally:
        client.close()
