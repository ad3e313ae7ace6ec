"""A system that fails at its n-th call about the files of one folder, or kills the program there.

Stands in for `open` and the calls of `os` and `fcntl`. A program that was killed makes no call any more: what it had
not written is lost, and nothing of it is cleaned up.
"""
from __future__ import annotations

import builtins
import contextlib
import fcntl
import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

BY_PATH = "open replace rename remove unlink mkdir rmdir link chmod chown listdir scandir stat lstat access".split()
BY_NUMBER = "write ftruncate fstat close".split()
LOCKS = "flock lockf".split()


class Killed(BaseException):
    """The program is no more."""


class Faults:
    """Calls about files below a folder; the one of number `at` fails with an errno, or kills if that is 0.

    calls: their names so far. unraised: errors that nobody could be told, which is noise on a user's terminal.
    """

    def __init__(self, folder: Path, at: int = -1, error: int = 0) -> None:
        self.folder, self.at, self.error = str(folder), at, error
        self.calls: list[str] = []
        self.unraised: list[BaseException | None] = []
        self.is_dead = self.is_over = False
        self._numbers: set[int] = set()

    @property
    def has_failed(self) -> bool:
        return len(self.calls) > self.at >= 0

    def step(self, name: str) -> None:
        """A call is about to be made."""
        if self.is_over:
            return
        if self.is_dead:
            raise Killed
        self.calls.append(name)
        if len(self.calls) - 1 == self.at:
            if not self.error:
                self.is_dead = True
                raise Killed
            raise OSError(self.error, os.strerror(self.error), self.folder)

    def is_about(self, path: Any) -> bool:
        return isinstance(path, (str, bytes, os.PathLike)) and os.fsdecode(path).startswith(self.folder)

    @contextlib.contextmanager
    def active(self) -> Iterator[Faults]:
        """Inside, the system is this one."""
        with contextlib.ExitStack() as stack:
            for module, names, wrap in ((os, BY_PATH, self._by_path), (os, BY_NUMBER, self._by_number),
                                        (fcntl, LOCKS, self._by_number)):
                for name in names:
                    stack.enter_context(mock.patch.object(module, name, wrap(name, getattr(module, name))))
            for module in (builtins, io):
                stack.enter_context(mock.patch.object(module, "open", self._opener(builtins.open)))
            stack.enter_context(mock.patch.object(sys, "unraisablehook", lambda seen: self.unraised.append(
                seen.exc_value)))
            try:
                yield self
            finally:
                self.is_over = True

    def _by_path(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any = ".", *args: Any, **options: Any) -> Any:
            if not self.is_about(path):
                return real(path, *args, **options)
            self.step(name)
            found = real(path, *args, **options)
            if name == "open":
                self._numbers.add(found)
            return found

        return call

    def _by_number(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(number: int, *args: Any) -> Any:
            if number not in self._numbers:
                return real(number, *args)
            try:
                self.step(name)
            except OSError:
                if name == "write":
                    real(number, args[0][:len(args[0]) // 2])  # a disk that is full takes what it can
                if name == "close":
                    real(number)
                raise
            finally:
                if name == "close":
                    self._numbers.discard(number)
            return real(number, *args)

        return call

    def _opener(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def opened(path: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None,
                   errors: str | None = None, newline: str | None = None, *rest: Any) -> Any:
            if not self.is_about(path):
                return real(path, mode, buffering, encoding, errors, newline, *rest)
            raw = _File(self, path, mode.replace("b", "").replace("t", ""))
            kind = io.BufferedRandom if "+" in mode else io.BufferedReader if "r" in mode else io.BufferedWriter
            file = kind(raw)
            return file if "b" in mode else io.TextIOWrapper(file, encoding, errors, newline)

        return opened


class _File(io.FileIO):
    """A file whose calls are counted."""

    def __init__(self, faults: Faults, path: Any, mode: str) -> None:
        faults.step("open")
        self._faults = faults
        super().__init__(path, mode)

    def write(self, data: Any) -> int:
        try:
            self._faults.step("write")
        except OSError:
            super().write(bytes(data)[:len(data) // 2])
            raise
        return super().write(data)

    def readinto(self, buffer: Any) -> int | None:
        self._faults.step("read")
        return super().readinto(buffer)

    def readall(self) -> bytes | None:  # type: ignore[override]
        self._faults.step("read")
        return super().readall()

    def truncate(self, size: int | None = None) -> int:
        self._faults.step("truncate")
        return super().truncate(size)

    def close(self) -> None:
        was_open = not self.closed
        super().close()
        if was_open and not self._faults.is_dead:
            self._faults.step("close")
