"""tf.gfile: files of this machine, under TensorFlow's names."""
from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from glob import glob as _paths
from stat import S_ISDIR
from typing import Any, NamedTuple

from ..core import errors
from .common.unsupported import refusing

__all__ = ["Copy", "DeleteRecursively", "Exists", "FastGFile", "GFile", "Glob", "IsDirectory", "ListDirectory",
           "MakeDirs", "MkDir", "Open", "Remove", "Rename", "Stat", "Walk", "FileIO", "file_exists"]


class GFile:
    """A file: texts in the modes r, w, a, r+, w+, a+, bytes with a b. It is opened when it is first used.

    Reading begins at its start, whatever is written. Raises InvalidArgumentError for another mode; reading or writing
    raise PermissionDeniedError where the mode does not allow it.
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        self.name, self.mode, self._reads, self._writes = os.fspath(name), mode, None, None  # type: Any, str, Any, Any
        self._kind, self._is_binary = mode.replace("b", ""), "b" in mode
        if self._kind not in ("r", "w", "a", "r+", "w+", "a+"):
            raise errors.InvalidArgumentError(None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'",
                                              found=repr(mode))

    def _reader(self) -> Any:
        if self._kind in ("w", "a"):
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading", found=f"mode {self.mode!r}")
        if self._writes is not None:
            self._writes.flush()
        if self._reads is None:
            self._reads = _told(open, self.name, "rb")
        return self._reads

    def _writer(self) -> Any:
        if self._kind == "r":
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing", found=f"mode {self.mode!r}")
        if self._writes is None:
            self._writes = _told(open, self.name, "ab" if self._kind[0] == "a" else "wb")
        return self._writes

    def _given(self, data: bytes) -> Any:
        return data if self._is_binary else data.decode()

    def read(self, n: int = -1) -> Any:
        """The next n bytes; all that are left by default."""
        return self._given(self._reader().read(n))

    def readline(self) -> Any:
        """The next line, with its end."""
        return self._given(self._reader().readline())

    def readlines(self) -> list[Any]:
        """The lines that are left."""
        return list(self)

    def write(self, file_content: Any) -> None:
        """Append to what is written: a text or bytes."""
        self._writer().write(file_content.encode() if isinstance(file_content, str) else file_content)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go to a place, in bytes; position: the old name of offset. Raises InvalidArgumentError for none there is."""
        if (offset is None) == (position is None):
            raise errors.KindError("seek(): offset argument required" if offset is None else
                                   "seek(): offset and position may not be set simultaneously.")
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(None, None, f"Invalid whence argument: {whence!r}")
        try:
            self._reader().seek(position if offset is None else offset, whence)
        except (ValueError, OSError) as error:
            raise errors.InvalidArgumentError(None, None, f"seek(): {error}") from None

    def seekable(self) -> bool:
        """Whether seek works: always."""
        return True

    def tell(self) -> int:
        """The place, in bytes."""
        return (self._writer() if self._kind in ("w", "a") else self._reader()).tell()

    def size(self) -> int:
        """The file's size, in bytes."""
        return _told(os.path.getsize, self.name)

    def flush(self) -> None:
        """Hand what is written to the system."""
        if self._writes is not None:
            self._writes.flush()

    def close(self) -> None:
        """Write out and let go; what is read next begins anew."""
        for file in (self._reads, self._writes):
            if file is not None:
                file.close()
        self._reads = self._writes = None

    __del__ = close

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return map(self._given, self._reader())

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line


FastGFile = Open = FileIO = GFile


def Exists(filename: Any) -> bool:  # noqa: N802
    """Whether there is a file or directory of that name."""
    return os.path.exists(filename)


file_exists = Exists


def IsDirectory(dirname: Any) -> bool:  # noqa: N802
    """Whether there is a directory of that name."""
    return os.path.isdir(dirname)


def MakeDirs(dirname: Any) -> None:  # noqa: N802
    """Make a directory and those above it; one that is there is no error."""
    _told(os.makedirs, dirname, exist_ok=True)


def MkDir(dirname: Any) -> None:  # noqa: N802
    """Make one directory."""
    _told(os.mkdir, dirname)


def ListDirectory(dirname: Any) -> list[str]:  # noqa: N802
    """Names in a directory."""
    return sorted(_told(os.listdir, dirname))


def Glob(filename: Any) -> list[str]:  # noqa: N802
    """Paths that match a pattern, or a list of them."""
    return [path for pattern in (filename if isinstance(filename, (list, tuple)) else [filename])
            for path in sorted(_paths(os.fspath(pattern)))]


def Remove(filename: Any) -> None:  # noqa: N802
    """Delete a file."""
    _told(os.remove, filename)


def DeleteRecursively(dirname: Any) -> None:  # noqa: N802
    """Delete a directory and all in it."""
    _told(shutil.rmtree, dirname)


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:  # noqa: N802
    """Copy a file. Raises AlreadyExistsError unless overwrite is True."""
    _free(newpath, overwrite)
    _told(shutil.copyfile, oldpath, newpath)


def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:  # noqa: N802
    """Rename a file. Raises AlreadyExistsError unless overwrite is True."""
    _free(newname, overwrite)
    _told(os.replace, oldname, newname)


class FileStatistics(NamedTuple):
    """length: in bytes. mtime_nsec: when it was changed, in nanoseconds since 1970."""

    length: int
    mtime_nsec: int
    is_directory: bool


def Stat(filename: Any) -> FileStatistics:  # noqa: N802
    """The system's record of a file."""
    found = _told(os.stat, filename)
    return FileStatistics(found.st_size, found.st_mtime_ns, S_ISDIR(found.st_mode))


def Walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:  # noqa: N802
    """(directory, its directories, its files) for all below `top`."""
    return os.walk(top, topdown=in_order)


def _free(path: Any, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise errors.AlreadyExistsError(f"{path}: a file is there already", hint="pass overwrite=True to replace it")


_CLASSES: tuple[tuple[type[OSError], type[errors.OpError]], ...] = (
    (FileNotFoundError, errors.NotFoundError), (FileExistsError, errors.AlreadyExistsError),
    (PermissionError, errors.PermissionDeniedError))


def _told(call: Any, *args: Any, **options: Any) -> Any:
    """The result of a call; errors of the system become TensorFlow's."""
    try:
        return call(*args, **options)
    except OSError as error:
        kind = next((ours for theirs, ours in _CLASSES if isinstance(error, theirs)), errors.FailedPreconditionError)
        raise kind(f"{args[0]}: {error.strerror or error}") from None


copy, exists, glob, isdir, listdir, makedirs, mkdir, remove, rename, rmtree, stat, walk = (  # in tf.io.gfile
    Copy, Exists, Glob, IsDirectory, ListDirectory, MakeDirs, MkDir, Remove, Rename, DeleteRecursively, Stat, Walk)

__getattr__ = refusing("tf.gfile", __name__)
