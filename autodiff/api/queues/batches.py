"""tensorflow.python.ops.batch_ops: rows that runs of several threads hand in become one batch."""
from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import int64
from ...core.errors import DeadlineExceededError, InvalidArgumentError
from ...core.function_graph import taking_anew
from ...core.graph import Tensor, get_default_graph
from ..control.custom import py_func
from .host import Waiting

__all__ = ["batch", "unbatch"]
_NUMBERS = itertools.count(1)
_Task = tuple[int, list[np.ndarray]]  # its number, its rows


class _Batch:
    def __init__(self, until: float) -> None:
        self.tasks: list[_Task] = []
        self.until, self.is_closed = until, False

    @property
    def rows(self) -> int:
        return sum(len(parts[0]) for _, parts in self.tasks)


class _Batcher(Waiting):
    """most: rows of a batch. seconds: how long its first task waits for others. sizes: to which it is filled up."""

    def __init__(self, most: int, seconds: float, sizes: Sequence[int]) -> None:
        super().__init__()
        self._most, self._seconds, self._sizes = most, seconds, sizes
        self._open: _Batch | None = None

    def hand_in(self, *arrays: np.ndarray) -> list[Any]:
        """The batch for the last of its tasks, nothing for the others; each task's rows in it; one's number."""
        rows = {np.shape(array)[:1] for array in arrays}
        if len(rows) != 1 or () in rows:
            raise InvalidArgumentError("Batching input tensors supplied in a given op invocation must have equal "
                                       f"0th-dimension size, found shapes {[np.shape(array) for array in arrays]}")
        task = next(_NUMBERS), list(arrays)
        with self._changed:
            if self._open is not None and self._open.rows + len(arrays[0]) > self._most:
                self._close(self._open)
            mine = self._open = self._open or _Batch(time.monotonic() + self._seconds)
            mine.tasks.append(task)
            while not mine.is_closed:
                if mine.rows >= self._most or time.monotonic() >= mine.until:
                    self._close(mine)
                else:
                    self._wait("Batch")
        last = mine.tasks[-1] is task
        ends = np.cumsum([0, *(len(parts[0]) for _, parts in mine.tasks)])
        index = [(number, *ends[i:i + 2]) for i, (number, _) in enumerate(mine.tasks) if last]
        columns = zip(*(parts for _, parts in mine.tasks))
        parts = [self._filled(column) for column in columns] if last else [array[:0] for array in arrays]
        return [*parts, np.array(index, np.int64).reshape(-1, 3), np.int64(task[0])]

    def _close(self, batch: _Batch) -> None:
        batch.is_closed, self._open = True, None
        self._changed.notify_all()

    def _filled(self, column: Sequence[np.ndarray]) -> np.ndarray:
        whole = np.concatenate(column)
        size = min((n for n in self._sizes if n >= len(whole)), default=len(whole))
        return np.concatenate([whole, *[column[-1][:1]] * (size - len(whole))])


class _Unbatcher(Waiting):
    """Gives each task its rows, once a batch has come; who has waited too long raises DeadlineExceededError."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds, self._parts = seconds, {}  # type: float, dict[int, np.ndarray]

    def own(self, whole: np.ndarray, index: np.ndarray, number: Any) -> np.ndarray:
        until = time.monotonic() + self._seconds
        with self._changed:
            self._parts.update({int(key): whole[start:end] for key, start, end in index})
            self._changed.notify_all()
            while int(number) not in self._parts:
                if time.monotonic() >= until:
                    raise DeadlineExceededError("Batched data did not arrive within timeout window.")
                self._wait("Unbatch")
            return self._parts.pop(int(number))


def _shared(name: str, make: Callable[[], Any]) -> Any:
    known = get_default_graph().outermost.extras.setdefault("batches", {})
    return known.setdefault(name, make()) if name else make()


def batch(in_tensors: Sequence[Any], num_batch_threads: int, max_batch_size: int, batch_timeout_micros: int,
          grad_timeout_micros: int, max_enqueued_batches: int = 10, allowed_batch_sizes: Sequence[int] = (),
          container: str = "", shared_name: str = "", batching_queue: str = "", name: str | None = None,
          ) -> tuple[list[Tensor], Tensor, Tensor]:
    """The rows of this run with those of other threads' runs, the rows of each, int64[n, 3], and its number, int64[].

    One run of those in a batch gets it, the others get nothing. No gradient flows through it.
    """
    made = _shared(shared_name, lambda: _Batcher(max_batch_size, batch_timeout_micros / 1e6, allowed_batch_sizes or ()))
    tensors = [convert_to_tensor(tensor) for tensor in in_tensors]
    *parts, index, number = py_func(taking_anew(made.hand_in), tensors, [*(t.dtype for t in tensors), int64, int64],
                                    name=name or "Batch")
    for part, tensor in zip(parts, tensors):
        part.set_shape(None if tensor.dims is None else (None, *tensor.dims[1:]))
    index.set_shape([None, 3])
    number.set_shape([])
    return parts, index, number


def unbatch(batched_tensor: Any, batch_index: Any, id: Any, timeout_micros: int, container: str = "",
            shared_name: str = "", name: str | None = None) -> Tensor:
    """The rows that this run handed in, of what was made of a batch; waits for the run that has it."""
    whole = convert_to_tensor(batched_tensor)
    made = _shared(f"unbatch {shared_name}" if shared_name else "", lambda: _Unbatcher(timeout_micros / 1e6))
    found = py_func(taking_anew(made.own), [whole, batch_index, id], whole.dtype, name=name or "Unbatch")
    found.set_shape(None if whole.dims is None else (None, *whole.dims[1:]))
    return found
