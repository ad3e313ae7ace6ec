"""tf.gfile: files of this machine, under TensorFlow's names."""
from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Iterator
from typing import Any

from ..core.errors import AlreadyExistsError, FailedPreconditionError, NotFoundError, OpError, PermissionDeniedError
from .common.unsupported import refusing

__all__ = ["Copy", "DeleteRecursively", "Exists", "FastGFile", "GFile", "Glob", "IsDirectory", "ListDirectory",
           "MakeDirs", "MkDir", "Open", "Remove", "Rename", "Stat", "Walk", "FileIO", "file_exists"]


class GFile:
    """An open file: texts in the modes r, w, a, bytes in rb, wb, ab. It is opened when it is first used."""

    def __init__(self, name: Any, mode: str = "r") -> None:
        self._name, self._mode, self._file = os.fspath(name), mode, None  # type: Any, str, Any

    @property
    def name(self) -> str:
        return self._name

    @property
    def mode(self) -> str:
        return self._mode

    def _open(self) -> Any:
        if self._file is None:
            text = "b" not in self._mode
            self._file = _told(open, self._name, self._mode, encoding="utf-8" if text else None)
        return self._file

    def read(self, n: int = -1) -> Any:
        """The next n characters or bytes; all that are left by default."""
        return self._open().read(n)

    def readline(self) -> Any:
        """The next line, with its end."""
        return self._open().readline()

    def readlines(self) -> list[Any]:
        """The lines that are left."""
        return self._open().readlines()

    def write(self, file_content: Any) -> None:
        """Append to what is written."""
        self._open().write(file_content)

    def seek(self, offset: int, whence: int = 0) -> None:
        """Go to a place, in bytes."""
        self._open().seek(offset, whence)

    def tell(self) -> int:
        """The place, in bytes."""
        return self._open().tell()

    def size(self) -> int:
        """The file's size, in bytes."""
        return _told(os.path.getsize, self._name)

    def flush(self) -> None:
        """Hand what is written to the system."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Write out and let go."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> GFile:
        self._open()
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._open())


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
            for path in sorted(glob.glob(os.fspath(pattern)))]


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


def Stat(filename: Any) -> os.stat_result:  # noqa: N802
    """The system's record of a file."""
    return _told(os.stat, filename)


def Walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:  # noqa: N802
    """(directory, its directories, its files) for all below `top`."""
    return os.walk(top, topdown=in_order)


def _free(path: Any, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise AlreadyExistsError(f"{path}: a file is there already", hint="pass overwrite=True to replace it")


_CLASSES: tuple[tuple[type[OSError], type[OpError]], ...] = (
    (FileNotFoundError, NotFoundError), (FileExistsError, AlreadyExistsError), (PermissionError, PermissionDeniedError))


def _told(call: Any, *args: Any, **options: Any) -> Any:
    """The result of a call; errors of the system become TensorFlow's."""
    try:
        return call(*args, **options)
    except OSError as error:
        kind = next((ours for theirs, ours in _CLASSES if isinstance(error, theirs)), FailedPreconditionError)
        raise kind(f"{args[0]}: {error.strerror or error}") from None


__getattr__ = refusing("tf.gfile", __name__)
