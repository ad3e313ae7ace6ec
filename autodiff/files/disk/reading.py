"""Files read within bounds: a device without an end, or a pipe without a writer, is no file."""
from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO


def open_file(path: str) -> BinaryIO:
    """A file, open for reading its bytes. Raises OSError, also for what is no file: a device, a pipe."""
    if not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path):
        raise OSError(errno.EINVAL, "it is no file, but a device or a pipe", path)
    return open(path, "rb")


def read_file(path: str) -> bytes:
    """The bytes of a file. Raises OSError, as open_file."""
    with open_file(path) as file:
        return file.read()


def read_bytes(path: str, most: int) -> bytes:
    """The bytes of a file or pipe, at most so many. Raises OSError, also for more of them."""
    with open(path, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"expected a text of at most {most >> 20} MB, found more", path)
    return data


def read_text(path: str, most: int) -> str:
    """The same as text; what is not UTF-8 becomes a mark that says so."""
    return read_bytes(path, most).decode("utf-8", "replace")


def read_end(path: str, most: int) -> bytes:
    """The last bytes of a file, at most so many, beginning with a whole line. Raises OSError, as open_file."""
    with open_file(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - most, 0))
        if size > most:
            file.readline()
        return file.read(most)
