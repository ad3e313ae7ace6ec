"""The order in which a dataset's elements come out of a buffer that mixes them: TensorFlow's, where there is a seed."""
from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...ops.random.philox import stream_of, words_of


class Begun(list[np.ndarray]):
    """Values of the sources of one iterator. rounds: of each buffer that it goes through, the seeds of its passes."""

    def __init__(self, values: Any, rounds: dict[int, Iterator[int]] | None = None) -> None:
        super().__init__(values)
        self.rounds: dict[int, Iterator[int]] = {} if rounds is None else rounds

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        return Begun(found, self.rounds) if isinstance(at, slice) else found


class Buffer:
    """A buffer of so many elements. seeds: of its stream, None for another order each time; is_same: in each pass."""

    def __init__(self, size: int, seeds: tuple[int | None, int | None], is_same: bool) -> None:
        self._size, self.is_same = size, is_same
        self._seeds = None if None in seeds else seeds

    def mixed(self, passes: Iterator[Iterator[Any]], values: Begun | list[np.ndarray], is_one: bool) -> Iterator[Any]:
        """The items of passes, each in an order of its own; the next is read while the last of one are in the buffer.

        is_one: of a pass alone, rather than of those of an iterator that starts over by itself.
        """
        words, kept, ends, last = self._words(values, is_one), dict[int, Any](), deque[int](), 0
        items, first = next(passes, None), 0
        while True:
            while items is not None and last - first < self._size:
                for item in itertools.islice(items, self._size - (last - first)):
                    kept[last % self._size] = item
                    last += 1
                if last - first < self._size:
                    items = next(passes, None) if last > (ends[-1] if ends else first) else None
                    ends.append(last)
            while ends and ends[0] == first:
                ends.popleft()
            if first == last:
                return
            count = (ends[0] if ends else last) - first
            at, begin = (first + next(words) % count) % self._size, first % self._size
            chosen = kept[at]
            kept[at] = kept[begin]
            first += 1
            yield chosen

    def _words(self, values: list[np.ndarray], is_one: bool) -> Iterator[int]:
        if self._seeds is None:
            return words_of(stream_of(*np.random.SeedSequence().generate_state(2).tolist()))
        seeds: Any = self._seeds
        if is_one and not self.is_same:
            rounds = values.rounds if isinstance(values, Begun) else {}
            passes = rounds.setdefault(id(self), words_of(stream_of(*seeds)))
            seeds = next(passes), next(passes)
        return words_of(stream_of(*seeds))
