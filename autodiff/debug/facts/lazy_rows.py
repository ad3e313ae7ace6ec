"""Rows: a long list whose elements are made when they are looked at, and kept."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, overload

Row = TypeVar("Row")


class Rows(Sequence[Row], Generic[Row]):
    """make(item) of each item; equal to the tuple of them."""

    def __init__(self, items: Sequence[Any], make: Callable[[Any], Row]) -> None:
        self._items, self._make = items, make
        self._made: dict[int, Row] = {}

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, at: int) -> Row: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Row, ...]: ...

    def __getitem__(self, at: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(at, slice):
            return tuple([self[i] for i in range(*at.indices(len(self)))])
        at = range(len(self))[at]
        if at not in self._made:
            self._made[at] = self._make(self._items[at])
        return self._made[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (tuple, Rows)) and tuple(self) == tuple(other)

    def __repr__(self) -> str:
        return f"<{len(self)} rows>"

    __hash__ = None  # type: ignore[assignment]
