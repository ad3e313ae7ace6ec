"""Long lists whose versions share their elements: a loop that writes one element in each iteration costs one each.

Copies would make time and memory quadratic in the number of iterations, as histories keep every version.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

LONG = 128  # elements: below it a copy is faster
_DEPTH = 4  # older values that an index holds on to at most, whether a version that can see them is left or not

_Entry = tuple[int, Any, Any]  # version that wrote it, item, the entry before it


def put(items: list[Any], index: int, item: Any) -> list[Any]:
    """The list with another item at 0 <= index <= its length; `items` stays as it is."""
    if len(items) < LONG:
        changed = list(items)
        changed[index:index + 1] = [item]
        return changed
    return (items if type(items) is SharedList else SharedList(items)).put(index, item)


class SharedList(list[Any]):
    """A version of a list, which nobody changes. What reads lists takes it for one; the list that it is stays empty.

    _entries: of all versions, for each index the newest entry. _newest: the version that may write there, alone; one
    that comes of an older version begins anew.
    """

    __slots__ = ("_entries", "_newest", "_size", "_version")

    def __init__(self, items: Iterable[Any]) -> None:
        self._entries: list[_Entry | None] = [None if item is None else (0, item, None) for item in items]
        self._version, self._size, self._newest = 0, len(self._entries), [0]

    def put(self, index: int, item: Any) -> SharedList:
        entries, depth = self._entries, 0
        entry = before = entries[index] if index < self._size else None
        while entry is not None:
            entry, depth = entry[2], depth + 1
        try:
            if depth >= _DEPTH:
                raise ValueError
            self._newest.remove(self._version)  # of several threads it goes well in one
        except ValueError:
            return SharedList(self).put(index, item)
        changed = SharedList.__new__(SharedList)
        changed._entries, changed._newest, changed._version = entries, self._newest, self._version + 1
        entries[index:index + 1] = [(changed._version, item, before)]
        changed._size = len(entries)
        self._newest.append(changed._version)
        return changed

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(self._size))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(self._size)[index]]
        entry = self._entries[range(self._size)[index]]
        while entry is not None and entry[0] > self._version:
            entry = entry[2]
        return None if entry is None else entry[1]

    def __add__(self, other: list[Any]) -> list[Any]:  # type: ignore[override]
        return [*self, *other]

    def __radd__(self, other: list[Any]) -> list[Any]:
        return [*other, *self]

    def __contains__(self, item: object) -> bool:
        return item in [*self]

    def __reversed__(self) -> Iterator[Any]:
        return reversed([*self])

    def __eq__(self, other: object) -> bool:
        return [*self] == ([*other] if isinstance(other, SharedList) else other)

    def __repr__(self) -> str:
        return repr([*self])

    def __reduce__(self) -> Any:
        return list, ([*self],)
