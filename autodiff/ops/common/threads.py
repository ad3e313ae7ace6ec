"""Threads of our own for large kernels, with NumPy's BLAS on one thread.

A BLAS gives each of its threads an equal part of every product and waits for all: where another process has taken a
processor, each product waits for a thread that does not run. Here threads take blocks of work while there are any
left. Where blocks begin depends on shapes alone, so that results are the same on any number of threads.
"""
from __future__ import annotations

import contextlib
import ctypes
import functools
import glob
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any

import numpy as np

from .subnormals import switches

WORTH_IT = 1 << 24  # multiplications that take some 0.4 ms: a thread is there after 0.03
PIECE = 1 << 17  # elements of arrays that are worth a thread
_FEW = 4  # pieces of rows: each takes several calls, and threads wait for one another between two of them
LARGE = 1 << 21  # elements from which on one thread alone is faster in pieces too, which stay in the cache
IN_CACHE = 1 << 15  # elements of each of some arrays that are worked on there, where all are
LATE = 0.9  # of the time that one thread would take: from there on help is no help
LONGEST_PAUSE = 256  # calls until help is tried again where it was none
_NAMES = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads",
          "openblas_{}_num_threads")


def processors() -> int:
    """How many this process may use: those there are, or OMP_NUM_THREADS if that is fewer."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return min(here, int(asked)) if asked.isdecimal() and int(asked) else here


class _Shared:
    """What the threads of this process share; made anew in the child of a fork, which has none of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.asked: SimpleQueue[_Help] = SimpleQueue()
        self.helpers = 0  # how many threads wait for what is asked
        self.runs, self.before = 0, 1  # how many keep the BLAS on one thread, and how many it had
        self.alone, self.pause = 0, 0  # how many of the next calls get no help, and of how many that was decided


_shared = _Shared()
_own = threading.local()  # limit: how many threads the kernels that this one calls may use; flushes: see _flush


def _after_fork() -> None:
    global _shared
    _shared = _Shared()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@functools.cache
def _blas() -> tuple[Callable[[], int], Callable[[int], Any]] | None:
    """How many threads NumPy's OpenBLAS uses, and the function that sets it; None if it has another BLAS."""
    folder = os.path.dirname(np.__file__)
    for path in (*glob.glob(f"{folder}.libs/*openblas*"), *glob.glob(f"{folder}/.dylibs/*openblas*")):
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(path)
            for name in _NAMES:
                if hasattr(library, name.format("set")):
                    return getattr(library, name.format("get")), getattr(library, name.format("set"))
    return None


class as_kernels_run:  # noqa: N801  # a context manager like np.errstate
    """While it is entered, NumPy's BLAS has one thread and kernels may use `threads` of ours; by default all.

    Subnormal numbers are 0 meanwhile, unless it keeps_subnormals.
    """

    def __init__(self, threads: int | None = None, *, keeps_subnormals: bool = False) -> None:
        self._threads, self._flushes, self._counted = threads, not keeps_subnormals, False

    def __enter__(self) -> None:
        self._outside, self._flushed = limit(), _flush()
        try:
            _own.limit = self._threads or processors()
            _flush(self._flushes)
            blas = _blas()
            if blas is None:
                return
            count, set_count = blas
            with _shared.lock:
                if not _shared.runs:
                    _shared.before = count()
                _shared.runs += 1
                self._counted = True
                if _shared.runs == 1 and _shared.before != 1:
                    set_count(1)
        except BaseException:  # an interrupt
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        _own.limit = self._outside
        try:
            _flush(self._flushed)
        finally:
            blas = _blas()
            if blas is not None and self._counted:
                with _shared.lock:
                    self._counted = False
                    _shared.runs -= 1
                    if not _shared.runs and _shared.before != 1:
                        blas[1](_shared.before)


def _flush(wanted: bool | None = None) -> bool:
    """Whether this thread has flushed subnormal numbers so far; from now on as wanted, if anything is."""
    was = getattr(_own, "flushes", False)
    if wanted is not None and was is not wanted:
        flush, leave = switches()
        _own.flushes = wanted  # first: if an interrupt comes between, it is put back all the same
        (flush if wanted else leave)()
    return was


def limit() -> int:
    """How many threads a kernel may use now: one outside of `as_kernels_run`."""
    return getattr(_own, "limit", 1)


def share(work: Callable[[int], Any], count: int, products: int | None = None, *,
          whole: Callable[[], Any] | None = None) -> None:
    """Call work(0) to work(count - 1), each on whichever thread is free first; raises what they raise.

    products: of products of matrices how many multiplications it is in all: a few are not worth another thread, and a
    BLAS that is not ours to set has its own. whole: does all of it at once, to the same bits, where no other thread is.
    """
    helpers = 0 if products is not None and (products < WORTH_IT or _blas() is None) else min(limit(), count) - 1
    if helpers > 0 and _shared.alone:
        _shared.alone -= 1
        helpers = 0
    if helpers < 1 and whole is not None:
        whole()
        return
    if helpers < 1:
        for i in range(count):
            work(i)
        return
    left = itertools.count()
    others = [_Help(work, left, count) for _ in range(helpers)]
    start = time.perf_counter()
    _ask(others)
    done = 0
    try:
        done = _take(work, left, count)
    finally:
        middle = time.perf_counter()
        for other in others:
            other.end()
    if done:
        _judge(time.perf_counter() - start, (middle - start) * count / done)


def _ask(helps: Sequence[_Help]) -> None:
    """Have them done by the threads that all sessions share, which are made when first needed."""
    shared = _shared
    while shared.helpers < len(helps):
        shared.helpers += 1
        threading.Thread(target=_serve, args=(shared.asked,), name="autodiff", daemon=True).start()
    for each in helps:
        shared.asked.put(each)


def _serve(asked: SimpleQueue[_Help]) -> None:
    _own.limit = 1
    with np.errstate(all="ignore"):  # each thread has a state of its own
        while True:
            asked.get()()


class _Help:
    """Blocks of work for another thread: a tenth of what a Future takes, which would be longer than short kernels."""

    def __init__(self, work: Callable[[int], Any], left: Iterator[int], count: int) -> None:
        self._given, self._flushes = (work, left, count), _flush()
        self._chances = [None]  # to begin, or to prevent it: whoever takes it first
        self._done = threading.Lock()
        self._done.acquire()
        self._error: BaseException | None = None

    def __call__(self) -> None:
        if not self._is_first():
            return
        try:
            _flush(self._flushes)
            _take(*self._given)
        except BaseException as error:
            self._error = error
        finally:
            self._done.release()

    def end(self) -> None:
        """Wait for it, if it has begun, and raise what it raised; else it never will."""
        if not self._is_first():
            self._done.acquire()
            if self._error is not None:
                raise self._error

    def _is_first(self) -> bool:
        try:
            self._chances.pop()
        except IndexError:
            return False
        return True


def by_rows(work: Callable[[slice], Any], rows: int, each: int, least: int = PIECE) -> None:
    """Call `work` for some rows of `each` elements at a time: for all if they are not twice the `least` of a call."""
    count = max(1, min(rows, _FEW, rows * each // least))
    size = -(-rows // count)
    share(lambda index: work(slice(index * size, (index + 1) * size)), -(-rows // max(size, 1)))


def _judge(took: float, alone: float) -> None:
    """Pause for twice as many calls as last time if help took as long as one thread `alone` would have.

    Where others have the processors, a thread may hold its block for longer than all blocks take.
    """
    is_late = took > LATE * alone
    _shared.pause = min(2 * _shared.pause + 1, LONGEST_PAUSE) if is_late else 0
    _shared.alone = _shared.pause


def _take(work: Callable[[int], Any], left: Iterator[int], count: int) -> int:
    """Do the blocks that are left; gives how many it were."""
    done = 0
    for i in left:
        if i >= count:
            break
        work(i)
        done += 1
    return done


def in_pieces(step: Callable[..., Sequence[Any]], *given: Any, into: Sequence[np.ndarray] = ()) -> Sequence[Any]:
    """What `step` gives, element by element, for arrays of one shape and single numbers; large ones piece by piece.

    into: large arrays for what it gives; they may be the first ones given.
    """
    first = given[0]
    if type(first) is np.ndarray and first.size < 2 * PIECE and not into:
        return step(*given)
    if not isinstance(first, np.ndarray) or not first.ndim:
        first = next((x for x in given if isinstance(x, np.ndarray) and x.ndim), None)
    if first is None or not into and first.size < (LARGE if limit() < 2 else 2 * PIECE):
        return step(*given)
    flat = [x.reshape(-1) if isinstance(x, np.ndarray) and x.shape == first.shape else x for x in given]
    results = [*into]
    begun = threading.Lock()
    size = min(PIECE, IN_CACHE) if into else PIECE

    def work(index: int) -> None:
        part = slice(index * size, (index + 1) * size)
        found = step(*[x[part] if isinstance(x, np.ndarray) and x.size == first.size else x for x in flat])
        with begun:
            if not results:
                results.extend([np.empty(first.shape, x.dtype) for x in found])
        for result, piece in zip(results, found):
            result.reshape(-1)[part] = piece

    share(work, -(-first.size // size))
    return results
