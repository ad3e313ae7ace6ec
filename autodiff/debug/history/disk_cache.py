"""Spilling: past runs on disk, in a temporary folder; only where this is asked for.

Runs go there in groups, a file of plain arrays for each (.npz, nothing pickled), and are read when somebody looks.
"""
from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from ...core.errors import DataLossError, StateError
from ...files.disk.arrays import read_arrays, write_arrays
from .replay import Moment


class _Group(NamedTuple):
    """A file of some runs. size: in bytes."""

    path: str
    runs: int
    size: int


class Disk:
    """A temporary folder, removed when this is let go or the process ends. limit, spent: bytes; count: of runs in it.

    Raises OSError if there can be none.
    """

    def __init__(self, limit: int) -> None:
        self.limit, self.spent, self.count = limit, 0, 0
        self.folder = tempfile.mkdtemp(prefix="gradbg-")
        self._groups: deque[_Group] = deque()
        self._made = 0
        self._read: tuple[str, dict[str, np.ndarray]] = ("", {})  # the file that was read last, and its arrays
        self._close = weakref.finalize(self, _remove, self.folder, os.getpid())

    def close(self) -> None:
        """Remove the folder."""
        self._read = "", {}
        self._groups.clear()
        self.spent = self.count = 0
        self._close()

    def write(self, moments: Sequence[Moment]) -> list[dict[str, Stored]]:
        """Put the feeds, outcomes and known variables of runs into one file; what stands for each of them by its part.

        parts: "feeds", "outcomes" and, of the first, "variables". Raises OSError if there is no room.
        """
        self._made += 1
        path = os.path.join(self.folder, f"runs-{moments[0].run}-{self._made}.npz")
        arrays: dict[str, np.ndarray] = {}
        members: dict[int, str] = {}  # id of an array -> its name in the file
        made = []
        for moment in moments:
            parts = {"feeds": moment.feeds, "outcomes": moment.outcomes}
            if moment is moments[0]:
                parts["variables"] = cast(Any, moment.variables)
            made.append({part: Stored(self, path, *_parted(values, arrays, members)) for part, values in parts.items()})
        try:
            with open(path, "xb") as file:
                write_arrays(file, arrays)
            size = os.path.getsize(path)
        except OSError:
            if os.path.exists(path):
                os.remove(path)
            raise
        self._groups.append(_Group(path, len(moments), size))
        self.spent, self.count = self.spent + size, self.count + len(moments)
        return made

    def forget(self) -> int:
        """Let the oldest file go; how many runs were in it."""
        group = self._groups.popleft()
        self.spent, self.count = self.spent - group.size, self.count - group.runs
        if self._read[0] == group.path:
            self._read = "", {}
        try:
            os.remove(group.path)
        except OSError:
            pass  # somebody else removed it, which is as good
        return group.runs

    def read(self, path: str, member: str) -> np.ndarray:
        """An array. Raises StateError if the file is gone or damaged."""
        try:
            if self._read[0] != path:
                arrays = read_arrays(path)
                for array in arrays.values():
                    array.flags.writeable = False
                self._read = path, arrays
            return self._read[1][member]
        except (OSError, DataLossError, KeyError) as error:
            raise StateError(f"this step was put on disk, and cannot be read any more: {error}",
                             hint="look at a later step; set ring.disk 0 gives up those on disk") from None


def _remove(folder: str, owner: int) -> None:
    """Remove a folder, unless this is a copy of the process that it belongs to."""
    if os.getpid() == owner:
        with contextlib.suppress(OSError):
            shutil.rmtree(folder, ignore_errors=True)


def _parted(values: Mapping[Any, Any], arrays: dict[str, np.ndarray],
            members: dict[int, str]) -> tuple[dict[Any, str], dict[Any, Any]]:
    """Names in the file for values that can be there, put into `arrays`; and the other values."""
    names, others = {}, {}
    for key, value in values.items():
        if not _is_plain(value):
            others[key] = value
            continue
        names[key] = members.setdefault(id(value), str(len(members)))
        arrays[names[key]] = value
    return names, others


def _is_plain(value: Any) -> bool:
    """Whether an array comes back from a file as it was, to the order of its elements."""
    return type(value) is np.ndarray and value.dtype.kind in "biufc" and np.dtype(value.dtype.str) == value.dtype and (
        value.flags.c_contiguous or value.flags.f_contiguous)


class Stored(Mapping[Any, Any]):
    """Values by key, most of them on disk. Those that a file cannot hold (strings, lists) are here."""

    __slots__ = ("_disk", "_path", "_names", "_others")

    def __init__(self, disk: Disk, path: str, names: dict[Any, str], others: dict[Any, Any]) -> None:
        self._disk, self._path, self._names, self._others = disk, path, names, others

    def __getitem__(self, key: Any) -> Any:
        return self._disk.read(self._path, self._names[key]) if key in self._names else self._others[key]

    def __contains__(self, key: object) -> bool:
        return key in self._names or key in self._others

    def __iter__(self) -> Iterator[Any]:
        yield from self._names
        yield from self._others

    def __len__(self) -> int:
        return len(self._names) + len(self._others)


def put_away(disk: Disk, moments: Sequence[Moment], later: Any) -> list[Moment]:
    """The same runs with their values on disk. later: the variables of one that follows, given the one before it.

    Raises OSError if there is no room for them.
    """
    made: list[Moment] = []
    for moment, parts in zip(moments, disk.write(moments)):
        variables = parts["variables"] if not made else later(made[-1], moment.variables)
        made.append(replace(moment, variables=variables, feeds=cast(Any, parts["feeds"]),
                            outcomes=cast(Any, parts["outcomes"])))
    return made
