"""Files read within bounds: no device without an end, no pipe without a writer; pickles of plain values and arrays."""
from __future__ import annotations

import errno
import os
import pickle
import stat
from typing import Any, BinaryIO

import numpy as np

from ...core.errors import DataLossError


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


_PARTS = {("_codecs", "encode"), ("numpy", "ndarray"), ("numpy", "dtype"), *(
    (f"numpy.{core}.multiarray", name) for core in ("core", "_core") for name in ("_reconstruct", "scalar"))}


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _PARTS:
            raise pickle.UnpicklingError(f"it holds a {module}.{name}, which is never made")
        return super().find_class(module, name)


def read_pickle(file: BinaryIO, is_array: bool = False) -> Any:
    """Dicts, lists, numbers, arrays; text of Python 2 as bytes. Raises DataLossError for all else.

    is_array: it lies in an .npy file, whose elements are such values, if they are not numbers.
    """
    try:
        if not is_array:
            return _Plain(file, encoding="bytes").load()
        np.lib.format.read_magic(file)
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        return (_Plain(file, encoding="bytes").load() if dtype.hasobject else
                np.frombuffer(file.read(), dtype)).reshape(shape)
    except Exception as error:  # a damaged one raises whatever it leads to
        raise DataLossError(f"no pickle of plain values and arrays: {error}") from None
