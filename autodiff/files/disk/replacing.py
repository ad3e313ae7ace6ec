"""Files replaced whole: written beside their place, then moved there; what was there stays until then.

A writer that is killed leaves a `.part-…` file behind, and nothing else. Nothing is forced onto the disk (fsync): what
a killed process has written is there, a loss of power may take the newest file, and a sync for each step of a recording
would take longer than the step. Streams (a pipe, a terminal) are written to as they are.
"""
from __future__ import annotations

import contextlib
import errno
import fcntl
import glob
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

Write = Callable[[BinaryIO], Any]


class _Place(NamedTuple):
    """Where a file goes. path: links followed. found: what is there, or None."""

    path: str
    found: os.stat_result | None

    @property
    def is_stream(self) -> bool:
        return self.found is not None and not stat.S_ISREG(self.found.st_mode)


def _place(path: str) -> _Place:
    """Raises OSError, whose strerror says why, if no file can be put there."""
    if path.endswith(os.sep):
        raise IsADirectoryError(errno.EISDIR, "it is a directory, expected a file", path)
    real = os.path.realpath(path)
    try:
        found = os.stat(real if os.path.exists(real) else path)  # the path of a pipe's end is not a place
    except FileNotFoundError:
        return _Place(real, None)
    kind = stat.S_IFMT(found.st_mode)
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, "it is a directory, expected a file", path)
    if kind not in (stat.S_IFREG, stat.S_IFCHR, stat.S_IFIFO):
        raise OSError(errno.EINVAL, "it is a device, expected a file", path)
    if kind == stat.S_IFREG and any(_is_open_as(number, found) for number in (1, 2)):
        raise OSError(errno.EINVAL, "what this program prints goes there", path)
    if kind == stat.S_IFREG and os.geteuid() not in (0, found.st_uid):
        raise PermissionError(errno.EACCES, "it belongs to another user", path)
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    return _Place(real if kind == stat.S_IFREG else path, found)


def _is_open_as(number: int, found: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(number), found)
    except OSError:
        return False  # it is closed


def replace_file(path: str, write: Write) -> None:
    """Put a file in its place in one step, or leave what is there. Raises OSError."""
    replace_files({path: write})


def replace_files(writes: Mapping[str, Write]) -> None:
    """Put files in their places when all are written, the last one last; or leave what is there. Raises OSError."""
    places = [_place(path) for path in writes]
    mark = f".part-{os.urandom(4).hex()}"
    files = [place.path for place in places if not place.is_stream]
    try:
        for place, write in zip(places, writes.values()):
            if place.is_stream:
                with os.fdopen(_open_stream(place.path), "wb") as file:
                    write(file)
                continue
            with open(place.path + mark, "xb") as file:
                write(file)
            if place.found is not None:
                _make_alike(place.path + mark, place.found)
        if len(files) > 1:
            _move_together(files, mark)
        elif files:
            os.replace(files[0] + mark, files[0])
    except BaseException:
        for path in files:
            with contextlib.suppress(FileNotFoundError):
                os.remove(path + mark)
        raise


def _make_alike(path: str, found: os.stat_result) -> None:
    """Give a new file the rights and the owner of the one that it replaces."""
    if os.geteuid() != found.st_uid:
        os.chown(path, found.st_uid, found.st_gid)
    os.chmod(path, stat.S_IMODE(found.st_mode))


def _open_stream(path: str) -> int:
    """Raises OSError for a pipe that nobody reads, where opening would wait."""
    number = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    os.set_blocking(number, True)
    return number


def _move_together(files: list[str], mark: str) -> None:
    """Move files of one folder; one that fails takes the others back. `settled` reads what a kill leaves half done."""
    *others, last = files
    with _alone_in(os.path.dirname(last)):
        before = settled(last, *others)
        if before != last:
            os.replace(before, last)
        kept = []
        for path in others:
            with contextlib.suppress(OSError):  # there is none yet, or the file system has no links
                os.link(path, path + mark + ".old")
                kept.append(path)
        try:
            for path in files:
                os.replace(path + mark, path)
        except BaseException:
            for path in kept:
                os.replace(path + mark + ".old", path)  # which does nothing where both are the same file
            raise
        finally:
            for path in kept:
                with contextlib.suppress(OSError):
                    os.remove(path + mark + ".old")


def settled(last: str, *others: str) -> str:
    """Where to read the last of files that are replaced together: beside its place, if its writer died on the way."""
    for part in glob.glob(glob.escape(last) + ".part-*"):
        if all(_is_gone(other + part.removeprefix(last)) for other in others):
            return part
    return last


def _is_gone(path: str) -> bool:
    try:
        os.stat(path)
    except FileNotFoundError:
        return True
    except OSError:
        pass  # who knows
    return False


@contextlib.contextmanager
def _alone_in(folder: str) -> Iterator[None]:
    """Inside, no other of these writers is: a mixture of two would be of neither."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # a file system without locks
            number = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
            stack.callback(os.close, number)
            fcntl.flock(number, fcntl.LOCK_EX)
        yield


def append(path: str, data: bytes) -> None:
    """Add to a file, all or nothing; what others add at the same time stands before or after it. Raises OSError."""
    place = _place(path)
    if place.is_stream:
        return replace_file(path, lambda file: file.write(data))
    number = os.open(place.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(number, fcntl.LOCK_EX)
        size = os.fstat(number).st_size
        try:
            while data:
                data = data[os.write(number, data):]
        except OSError:
            os.ftruncate(number, size)
            raise
    finally:
        os.close(number)
