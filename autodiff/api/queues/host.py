"""The queues themselves, beside the graph: elements wait in Python, and threads for them."""
from __future__ import annotations

import collections
import heapq
import threading
from typing import Any

import numpy as np

from ...core.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from ...ops.common.turns import check_deadline, is_cancelled

_LOOK = 0.05  # seconds after which a waiting thread looks whether it was interrupted
Element = tuple[Any, ...]


class Waiting:
    """What threads wait for, with the lock of it: a run that ends meanwhile, or Ctrl-C, ends the wait."""

    def __init__(self) -> None:
        self._changed = threading.Condition()

    def _wait(self, what: str) -> None:
        if is_cancelled():
            raise CancelledError(f"{what} operation was cancelled")
        check_deadline(f"the {what.lower()} operation")
        self._changed.wait(_LOOK)


class HostQueue(Waiting):
    """Elements in their order, up to `capacity` (below 1: any number); who takes or gives waits for the others."""

    kind = "FIFOQueue"
    attributes: dict[str, Any] = {}  # of its node, beside those that all have
    added_parts = 0  # of its elements that its node does not list
    all_at_once = False  # whether several elements are taken when there are as many

    def __init__(self, capacity: int, name: str) -> None:
        super().__init__()
        self.capacity = capacity if capacity > 0 else float("inf")
        self.name = name
        self.closed = self._refuses = False
        self._elements: list[Any] = []
        self._givers: list[collections.deque[Element]] = []  # what those who wait have yet to give

    def _put(self, element: Element) -> None:
        self._elements.append(element)

    def _take(self) -> Element:
        return self._elements.pop(0)

    def _available(self) -> int:
        return len(self._elements)

    def size(self) -> np.int32:
        return np.int32(len(self._elements))

    def enqueue(self, elements: list[Element]) -> None:
        """Add these, as places come free. Raises CancelledError on a closed queue."""
        with self._changed:
            if self.closed:
                raise CancelledError(f"{self.kind} '{self.name}' is closed.")
            rest = collections.deque(elements)
            self._givers.append(rest)
            try:
                self._refill()
                while rest:
                    self._wait("Enqueue")
                    if self._refuses:
                        raise CancelledError("Enqueue operation was cancelled")
            finally:
                self._givers = [giver for giver in self._givers if giver is not rest]

    def _refill(self) -> None:
        """Add what waits to be added, oldest first, as far as there are places: a queue is full again after a take."""
        for giver in self._givers:
            while giver and len(self._elements) < self.capacity:
                self._put(giver.popleft())
        self._changed.notify_all()

    def dequeue(self, count: int, *, at_most: bool = False) -> list[Element]:
        """So many elements. Raises OutOfRangeError where a closed queue has fewer; at_most: those that it has."""
        if count < 0:
            raise InvalidArgumentError(f"DequeueManyOp requested {count} < 0 elements")
        taken: list[Element] = []
        with self._changed:
            while len(taken) < count:
                if self._available() >= (count - len(taken) if self.all_at_once and not self.closed else 1):
                    taken.append(self._take())
                    self._refill()
                elif self.closed and (not self._elements or self._available() <= 0):
                    if at_most and taken:
                        break
                    for element in reversed(taken):
                        self._elements.insert(0, element)
                    raise OutOfRangeError(f"{self.kind} '{self.name}' is closed and has insufficient elements "
                                          f"(requested {count}, current size {len(self._elements)})")
                else:
                    self._wait("Dequeue")
        return taken

    def close(self, cancel: bool = False) -> None:
        """Take no more elements; cancel: also end who waits to give one."""
        with self._changed:
            self.closed = True
            self._refuses = self._refuses or cancel
            self._changed.notify_all()


class ShuffledQueue(HostQueue):
    """Takes any element, as long as more than `least` stay behind or the queue is closed."""

    kind = "RandomShuffleQueue"

    def __init__(self, capacity: int, name: str, least: int, seed: int | None) -> None:
        super().__init__(capacity, name)
        self.attributes = {"min_after_dequeue": least}
        self._least, self._random = least, np.random.RandomState(None if seed is None else seed % (1 << 32))

    def _take(self) -> Element:
        at = self._random.randint(len(self._elements))
        self._elements[at], self._elements[-1] = self._elements[-1], self._elements[at]
        return self._elements.pop()

    def _available(self) -> int:
        return len(self._elements) - (0 if self.closed else self._least)


class PaddedQueue(HostQueue):
    """A FIFO whose elements may differ in some sizes."""

    kind = "PaddingFIFOQueue"


class SortedQueue(HostQueue):
    """Takes the element of the lowest number first; those of one number in the order they came."""

    kind = "PriorityQueue"
    added_parts, all_at_once = 1, True  # so that they are in order

    def __init__(self, capacity: int, name: str) -> None:
        super().__init__(capacity, name)
        self._count = 0

    def _put(self, element: Element) -> None:
        self._count += 1
        heapq.heappush(self._elements, (int(element[0]), self._count, element))

    def _take(self) -> Element:
        return heapq.heappop(self._elements)[2]


def stacked(elements: list[Element]) -> list[np.ndarray]:
    """The parts of several elements, each part stacked; filled up with zeros where sizes differ."""
    parts = []
    for column in zip(*elements):
        arrays = [np.asarray(part) for part in column]
        if len({array.shape for array in arrays}) > 1:
            sizes = np.max([array.shape for array in arrays], axis=0)
            empty = b"" if arrays[0].dtype == object else 0
            whole = np.full((len(arrays), *sizes), empty, arrays[0].dtype)
            for row, array in zip(whole, arrays):
                row[tuple(slice(n) for n in array.shape)] = array
            parts.append(whole)
        else:
            parts.append(np.stack(arrays))
    return parts
