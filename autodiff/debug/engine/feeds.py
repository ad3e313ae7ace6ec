"""RunFeeds: what the debugger's own runs are fed: values by hand, a source of the script's, else the last run's."""
from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.errors import ArgumentError, KindError
from ...core.graph import Tensor
from ..facts.answers import Feed
from ..facts.stats import statistics
from .state import State


class RunFeeds:
    """source: gives the feeds of one run after the other, or None."""

    def __init__(self, state: State) -> None:
        self.state, self.model, self.overrides, self.log = state, state.model, state.overrides, state.log
        self.source: Iterator[Any] | None = None
        self._source_name = ""

    def feed(self, target: str, value: Any) -> Feed:
        """Feed this array or number from now on. Raises what a run would."""
        tensor = self.model.targets.outside(target)
        _, arrays = self.model.reader.read({tensor: value})
        self.overrides.feed(tensor, arrays[0])
        return self._feed_row(tensor, arrays[0], "constant")

    def feed_from(self, source: Any) -> Feed:
        """Feed what a function, generator or list of the script gives for each run, from its beginning.

        Each item is a dict, or a tuple in the order of the placeholders. A function is called for each run (with the
        step, if it takes an argument), a generator function once.
        """
        if isinstance(source, str):
            source = self._handle_value(source)
        self.source = _items(source, lambda: self.log.now.step + 1)
        self._source_name = getattr(source, "__name__", type(source).__name__)
        return Feed(", ".join(t.name for t in self.model.placeholders()), "", None, self._source_name)

    def _handle_value(self, name: str) -> Any:
        if name not in self.model.handles:
            raise ArgumentError(f"the script has no {name!r}")
        return self.model.handles[name]

    def clear(self) -> None:
        """Feed nothing by hand any more."""
        self.overrides.clear_fed()
        self.source, self._source_name = None, ""

    def rows(self) -> tuple[Feed, ...]:
        """What the next run would be fed, as far as it is known before."""
        rows = [self._feed_row(t, v, "constant") for t, v in self.overrides.fed.items()]
        if self.source is not None:
            return (*rows, *(Feed(t.name, "", None, self._source_name) for t in self.model.placeholders()
                             if t not in self.overrides.fed))
        last = self.state.fed_last()
        return (*rows, *(self._feed_row(t, v, "the last run") for t, v in last.items() if t not in self.overrides.fed))

    def _feed_row(self, tensor: Tensor, value: Any, source: str) -> Feed:
        array = np.asarray(value)
        text = str(array.tolist()) if array.size <= 6 else f"{array.dtype.name}{list(array.shape)}"
        return Feed(tensor.name, text, statistics(array), source)

    def next_feeds(self) -> dict[Any, Any] | None:
        """The feed_dict of the debugger's next own run; None when the source is exhausted."""
        feeds: dict[Any, Any] = {}
        if self.source is not None:
            try:
                feeds = self._as_feed_dict(next(self.source))
            except StopIteration:
                return None
        elif self.state.moments:
            feeds = self.state.fed_last()
        return {**feeds, **self.overrides.fed}

    def _as_feed_dict(self, item: Any) -> dict[Any, Any]:
        if isinstance(item, dict):
            return {self.model.targets.outside(key) if isinstance(key, str) else key: value for key,
                    value in item.items()}
        places = self.model.placeholders()
        if not isinstance(item, (list, tuple)) or len(item) != len(places):
            raise KindError(f"{self._source_name} gave {type(item).__name__}, expected a feed_dict or a tuple of "
                            f"{len(places)} values for {', '.join(t.name for t in places)}")
        return dict(zip(places, item))


def _items(source: Any, step: Any) -> Iterator[Any]:
    """One item for each run."""
    if inspect.isgeneratorfunction(source):
        return iter(source())
    if isinstance(source, dict):
        return itertools.repeat(source)
    if callable(source):
        return _calls(source, step)
    if hasattr(source, "__next__"):
        return source
    if isinstance(source, (list, tuple)):
        return iter(source)
    raise KindError(expected="a function, generator, list or dict to feed from", found=type(source).__name__)


def _calls(function: Any, step: Any) -> Iterator[Any]:
    try:
        wants = [p for p in inspect.signature(function).parameters.values()
                 if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        wants = []
    if len(wants) > 1:
        raise KindError(f"{getattr(function, '__name__', function)!r} takes {len(wants)} arguments, expected none or "
                        "the step")
    first = function(step()) if wants else function()
    if hasattr(first, "__next__"):
        yield from first
        return
    yield first
    while True:
        yield function(step()) if wants else function()
