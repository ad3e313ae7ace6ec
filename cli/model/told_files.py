"""Files that commands write and read, what goes wrong told in one line; command files that the user trusts."""
from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from autodiff.files.disk import reading, replacing
from autodiff.files.disk.reading import read_file, read_text
from autodiff.files.disk.replacing import append

from .usage_error import UsageError

_MOST = 1 << 22  # bytes of a command file
LOCAL = ".gradbgrc"
_MOST_TRUSTED = 1 << 24  # bytes of the list of trusted files


def write_file(path: str, content: str | bytes | Callable[[BinaryIO], Any]) -> None:
    """Put a file in its place when all of it is written; what is there stays until then. Raises UsageError."""
    data = _encoded(content) if isinstance(content, str) else content
    with _told(f"cannot write {path!r}", "give another file name", "system"):
        replacing.replace_file(path, data if callable(data) else lambda file: file.write(data))


def append_to_file(path: str, text: str) -> None:
    """Add to a file, all or nothing. Raises UsageError."""
    with _told(f"cannot write {path!r}", "give another file name", "system"):
        replacing.append(path, _encoded(text))


def command_lines(path: str) -> list[str]:
    """The lines of a command file. Raises UsageError for what cannot be read, or is too large to be one."""
    with _told(f"cannot read {path!r}", "give the name of a command file", "no_file"):
        return reading.read_text(path, _MOST).splitlines()


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


@contextlib.contextmanager
def _told(what: str, hint: str, code: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a name with \0, or an array of Python objects
        raise UsageError(f"{what}: {getattr(error, 'strerror', None) or error}", hint, code=code) from None


TRUSTED = os.path.join("~", ".config", "gradbg", "trusted")


def is_trusted(path: str) -> bool:
    """Whether this file, with this content, was trusted."""
    try:
        return _line(path) in read_text(os.path.expanduser(TRUSTED), _MOST_TRUSTED).splitlines()
    except OSError:
        return False


def trust(path: str) -> None:
    """Trust a file as it is now. Raises OSError."""
    line = _line(path)
    listed = os.path.expanduser(TRUSTED)
    os.makedirs(os.path.dirname(listed), exist_ok=True)
    if not is_trusted(path):
        append(listed, (line + "\n").encode("utf-8", "backslashreplace"))


def _line(path: str) -> str:
    digest = hashlib.sha256(read_file(path)).hexdigest()
    return f"{digest}  {os.path.realpath(path)}"
