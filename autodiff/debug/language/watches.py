"""Watches and breakpoints: what is looked at in each run, and when it stops."""
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import ArgumentError
from ..facts.answers import WatchRow
from .conditions import Condition


@dataclass
class Watch:
    """A numbered watch or breakpoint. kind: "watch" or "break". names: tensors it stands for. step: where to stop.

    at_op: whether the condition is asked inside of runs, right after the ops. place: the file and line of the script
    that it stops before, where it is none of runs; test: what has to hold there, as typed.
    of_gradients: whether the condition is asked of the gradients at the names alone, `grad(W)`.
    """

    number: int
    kind: str
    targets: tuple[str, ...]
    names: tuple[str, ...]
    condition: Condition | None = None
    step: int | None = None
    every: int = 1
    level: str = "stats"
    exclude: str = ""
    enabled: bool = True
    hits: int = 0
    ignore: int = 0
    commands: tuple[str, ...] = field(default=())
    is_temporary: bool = False
    at_op: bool = False
    place: tuple[str, int] | None = None
    test: str = ""
    of_gradients: bool = False

    def is_due(self, run: int) -> bool:
        return self.enabled and run % self.every == 0

    @property
    def is_alarm(self) -> bool:
        """Whether only what is not finite can stop it and nothing else is wanted of it: then a look at the range will
        do.
        """
        return self.kind == "break" and self.condition is not None and self.condition.is_alarm

    @property
    def seeks_harm(self) -> bool:
        """Whether it stops where something harms the loss or a gradient, whatever that is."""
        return self.kind == "break" and not self.targets and self.condition is not None and self.condition.seeks_harm

    @property
    def is_wide(self) -> bool:
        """Whether it stops where any tensor of the run is not finite."""
        return self.is_alarm and not self.targets and not self.seeks_harm

    @property
    def is_inside(self) -> bool:
        """Whether it stops inside of a run: at an op, whatever its value or because of it."""
        return self.kind == "break" and self.enabled and self.step is None and (self.condition is None or self.at_op)

    def is_excluded(self, name: str) -> bool:
        return bool(self.exclude) and re.search(self.exclude, name) is not None

    def hit(self) -> bool:
        """Count a hit; whether it stops, rather than being ignored."""
        self.hits += 1
        if self.ignore > 0:
            self.ignore -= 1
            return False
        return True

    def row(self, with_gradient: int = 0) -> WatchRow:
        text = self.condition.text if self.condition else f"step == {self.step}" if self.step is not None else self.test
        return WatchRow(self.number, self.kind, self.targets, self.names, text, self.every, self.level, self.enabled,
                        self.hits, self.ignore, self.exclude, self.commands, with_gradient, self.at_op,
                        self.is_temporary, self.place)


class WatchList:
    """Watches by number, which are never given twice. version: changes whenever the list does."""

    def __init__(self) -> None:
        self._items: dict[int, Watch] = {}
        self._made = 0
        self.version = 0

    def __iter__(self) -> Iterator[Watch]:
        return iter(list(self._items.values()))

    def keep(self, watch: Watch) -> None:
        """Take over one of another list, with its number."""
        self._items = dict(sorted({**self._items, watch.number: watch}.items()))
        self._made = max(self._made, watch.number)

    def add(self, kind: str, targets: tuple[str, ...], names: tuple[str, ...], *,
            condition: Condition | None = None, step: int | None = None, every: int = 1, level: str = "stats",
            exclude: str = "", is_temporary: bool = False, at_op: bool = False,
            place: tuple[str, int] | None = None, test: str = "", of_gradients: bool = False) -> Watch:
        """Raises ArgumentError for a bad level, period or pattern."""
        if every < 1:
            raise ArgumentError(expected="a period of at least 1 run", found=every)
        if level not in ("stats", "full"):
            raise ArgumentError(expected="the level 'stats' or 'full'", found=repr(level))
        try:
            re.compile(exclude)
        except re.error as error:
            raise ArgumentError(f"not a regular expression: {exclude!r}: {error}") from None
        self._made += 1
        self.version += 1
        watch = Watch(self._made, kind, targets, names, condition, step, every, level, exclude,
                      is_temporary=is_temporary, at_op=at_op, place=place, test=test, of_gradients=of_gradients)
        self._items[watch.number] = watch
        return watch

    def get(self, number: int) -> Watch:
        """Raises ArgumentError, with the numbers there are."""
        if number not in self._items:
            raise ArgumentError(f"no watch or breakpoint has number {number}: there are "
                                f"{', '.join(map(str, self._items)) or 'none'}")
        self.version += 1
        return self._items[number]

    def due(self, run: int) -> list[int]:
        """Numbers of those that look at a run."""
        return [number for number, watch in self._items.items() if watch.is_due(run)]

    def change(self, number: int, **fields: Any) -> Watch:
        """Give one other values of its fields. Raises ArgumentError as `get`."""
        watch = self.get(number)
        for name, value in fields.items():
            setattr(watch, name, value)
        return watch

    def touch(self) -> None:
        """Say that what is looked at has changed."""
        self.version += 1

    def remove(self, number: int) -> Watch:
        watch = self.get(number)
        del self._items[number]
        return watch
