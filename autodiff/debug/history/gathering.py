"""Tasks on any `concurrent.futures.Executor`, and their results in order."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

from ...core.errors import AutodiffError, OpError, StateError

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

_TRIES = 4  # of one task that loses its worker: it may well be the reason


def gathered(executor: Executor, function: Callable[..., Any],
             tasks: Sequence[tuple[Any, ...]]) -> Generator[Any, None, None]:
    """`function` of each task's arguments, in order.

    A worker that is lost costs what it was at: that is handed out again, what is done stays; on an executor that takes
    no more it is done here. Left early, what has not begun never does. Raises what `function` raises if it is a child
    of AutodiffError, else StateError.
    """
    from concurrent.futures import BrokenExecutor

    futures: dict[int, Future[Any]] = {}  # of tasks that are not done here

    def hand_out(i: int) -> None:
        futures.pop(i, None)
        with contextlib.suppress(BrokenExecutor):
            futures[i] = executor.submit(_safely, function, *tasks[i])

    def is_lost(future: Future[Any]) -> bool:
        return future.done() and not future.cancelled() and isinstance(future.exception(), BrokenExecutor)

    try:
        for i in range(len(tasks)):
            hand_out(i)
        for i, task in enumerate(tasks):
            for left in reversed(range(_TRIES)):
                try:
                    found = futures[i].result() if i in futures else _safely(function, *task)
                    break
                except BrokenExecutor as error:
                    if not left:
                        raise StateError(f"part {i + 1} of {len(tasks)} lost its worker {_TRIES} times: {error}",
                                         hint="it may need more memory than a worker has") from error
                    for lost in [j for j, future in futures.items() if is_lost(future)]:
                        hand_out(lost)
                except AutodiffError:
                    raise
                except Exception as error:
                    raise StateError(f"a worker failed: {type(error).__name__}: {error}") from error
            futures.pop(i, None)
            yield found
    finally:
        for future in futures.values():
            future.cancel()


def _safely(function: Callable[..., Any], *task: Any) -> Any:
    """What a worker does: an error of its own travels without the operation, which is of the worker's graph."""
    try:
        return function(*task)
    except OpError as error:
        error.op = error.node_def = None
        raise
