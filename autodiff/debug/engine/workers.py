"""Executors by name: `threads:4`, `processes:8`, `dask://HOST:PORT`."""
from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor

from ...core.errors import ArgumentError, StateError
from .processes import Processes

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
