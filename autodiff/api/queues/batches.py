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


class _Batcher(Waiting):
    """most: rows of a batch. seconds: how long its first task waits for others. sizes: to which it is filled up."""

    def __init__(self, most: int, seconds: float, sizes: Sequence[int]) -> None:
        super().__init__()
        self._most, self._seconds, self._sizes, self._until = most, seconds, sizes, 0.0
        self._open: list[tuple[int, tuple[np.ndarray, ...]]] = []  # the tasks' numbers and rows, of the batch to come

    def hand_in(self, *arrays: np.ndarray) -> list[Any]:
        """The batch for the last of its tasks, nothing for the others; each task's rows in it; one's number."""
        rows = {np.shape(array)[:1] for array in arrays}
        if len(rows) != 1 or () in rows:
            raise InvalidArgumentError("Batching input tensors supplied in a given op invocation must have equal "
                                       f"0th-dimension size, found shapes {[np.shape(array) for array in arrays]}")
        task = next(_NUMBERS), arrays
        with self._changed:
            if _ends([*self._open, task])[-1] > self._most:
                self._begin()
            mine, self._until = self._open, self._until if self._open else time.monotonic() + self._seconds
            mine.append(task)
            while mine is self._open:
                if _ends(mine)[-1] >= self._most or time.monotonic() >= self._until:
                    self._begin()
                else:
                    self._wait("Batch")
        if mine[-1] is not task:
            return [*(array[:0] for array in arrays), np.zeros((0, 3), np.int64), np.int64(task[0])]
        ends = _ends(mine)
        size = min((n for n in self._sizes if n >= ends[-1]), default=ends[-1])
        columns = zip(*(parts for _, parts in mine))
        parts = [np.concatenate([*column, *[column[-1][:1]] * (size - ends[-1])]) for column in columns]
        return [*parts, np.array([(n, *ends[i:i + 2]) for i, (n, _) in enumerate(mine)], np.int64), np.int64(task[0])]

    def _begin(self) -> None:
        """The open batch is whole, and another begins."""
        self._open = []
        self._changed.notify_all()


def _ends(tasks: list[Any]) -> list[int]:
    return [0, *itertools.accumulate(len(parts[0]) for _, parts in tasks)]


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
