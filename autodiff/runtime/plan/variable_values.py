"""Values of variables, and what they were at earlier moments: kept by reference, or where rows change as old rows."""
from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np


class Kept:
    """The value of a variable at some moment: an array, and the rows that have been written since, as they were.

    Where a later value is kept too, it follows from that one.
    """

    __slots__ = ("array", "owner", "_undo", "_next", "__weakref__")

    def __init__(self, array: np.ndarray, owner: tuple[Variables, str]) -> None:
        self.array: np.ndarray | None = array
        self.owner = owner
        self._undo: list[tuple[Any, np.ndarray]] = []
        self._next: Kept | None = None

    def note(self, place: Any) -> None:
        """Keep the rows at an index: they are about to change."""
        place = tuple(map(_lasting, place)) if isinstance(place, tuple) else _lasting(place)
        self._undo.append((place, np.array(self.array[place])))  # type: ignore[index]

    def followed_by(self, array: np.ndarray) -> Kept:
        """The next kept value; this one if nothing has changed."""
        if not self._undo:
            return self
        self._next, self.array = Kept(array, self.owner), None
        return self._next

    def value(self) -> np.ndarray:
        """The value, read-only."""
        chain = [self]
        while chain[-1]._next is not None:
            chain.append(chain[-1]._next)
        array = chain[-1].array
        assert array is not None
        undo = [change for kept in chain for change in kept._undo]
        if undo:
            array = array.copy()
            for place, rows in reversed(undo):
                array[place] = rows
            array.flags.writeable = False
        return array

    @property
    def nbytes(self) -> int:
        """Bytes that would not be there without it."""
        variables, name = self.owner
        alone = self.array is not None and variables.get(name) is not self.array
        return sum(rows.nbytes for _, rows in self._undo) + (self.array.nbytes if alone else 0)  # type: ignore[union-attr]


def _lasting(index: Any) -> Any:
    return np.array(index) if isinstance(index, np.ndarray) else index  # arrays may be a buffer's


class Snapshot(Mapping[str, Any]):
    """The values of all variables at a moment. parts: name -> array, or Kept."""

    __slots__ = ("parts",)

    def __init__(self, parts: dict[str, Any]) -> None:
        self.parts = parts

    def __getitem__(self, name: str) -> Any:
        part = self.parts[name]
        return part.value() if type(part) is Kept else part

    def __contains__(self, name: object) -> bool:
        return name in self.parts

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)


class Variables(dict):
    """Operation name -> value. The arrays are read-only, and written by `own` alone: who holds one can keep it."""

    def __init__(self, *values: Any, **named: Any) -> None:
        super().__init__(*values, **named)
        self._newest: dict[str, weakref.ref[Kept] | None] = {}  # of those whose rows have changed: what is kept of it

    def __setitem__(self, name: str, value: Any) -> None:
        shared = type(value) is np.ndarray and not value.flags.writeable
        super().__setitem__(name, frozen(value if shared else np.array(value, order="C")))

    def take(self, name: str, value: Any) -> None:
        """Set a value that nobody else will write to: no copy is made of an array that owns its memory."""
        super().__setitem__(name, frozen(value))

    def own(self, name: str, place: Any) -> np.ndarray:
        """The value of a variable as an array to write into at `place`: itself if nobody else holds it, else a copy.

        Who holds it are slots of the run, views, past runs and Python code, all of which count as references; a
        Snapshot keeps the old rows instead. The caller makes it read-only again.
        """
        kept = self._kept(name)
        if self._is_shared(name, kept is not None):
            super().__setitem__(name, self[name].copy())
            self._newest[name] = None
        elif kept is not None:
            kept.note(place)
        self[name].setflags(True)
        return self[name]

    def all_own(self, names: Sequence[str]) -> list[np.ndarray]:
        """The values of some variables as arrays to write into if nobody else holds any of them, else none."""
        if len({*names}) < len(names) or any(map(self._is_shared, names)):
            return []
        values = [self[name] for name in names]
        for value in values:
            value.setflags(True)
        return values

    def snapshot(self) -> Snapshot:
        """The present values; of variables whose rows are updated only the rows that will change are copied."""
        parts = dict(self)
        for name in self._newest.keys() & parts.keys():
            kept = self._kept(name)
            kept = Kept(self[name], (self, name)) if kept is None else kept.followed_by(self[name])
            self._newest[name], parts[name] = weakref.ref(kept), kept
        return Snapshot(parts)

    def _kept(self, name: str) -> Kept | None:
        """What keeps the present value."""
        newest = self._newest.get(name)
        kept = newest() if newest is not None else None
        return kept if kept is not None and kept.array is self[name] else None

    def _is_shared(self, name: str, known: int = 0) -> bool:
        """Whether anybody else holds a value. known: references that do no harm."""
        return self._references(name) > _UNSHARED + known or not self[name].flags.owndata

    def _references(self, name: str) -> int:
        return sys.getrefcount(self[name])


def frozen(value: Any) -> np.ndarray:
    """A read-only, C-contiguous array that owns its memory; `value` itself if it can be."""
    if type(value) is not np.ndarray or value.base is not None or not value.flags.c_contiguous:
        value = np.array(value, dtype=object if isinstance(value, bytes) else None, order="C")
    value.setflags(False)  # by keyword, or by its flags, it takes longer
    return value


_UNSHARED = Variables(x=np.empty(0))._references("x")  # of a value that is here alone: what a call adds differs
