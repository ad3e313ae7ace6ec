"""Archives of arrays (.npz): written plainly, and read only when their declared sizes go together.

Source: NumPy's description of its formats.
"""
from __future__ import annotations

import math
import os
import threading
import warnings
import zipfile
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from ...core.errors import AutodiffError, DataLossError
from .reading import open_file

_SMALL = 1 << 26  # bytes that an archive may unpack to whatever its own size is
_GROWTH = 100  # times its size that a larger one may
_PLAIN, _PACKED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
_ALONE = threading.Lock()  # NumPy has headers parsed as Python, which two threads at once may not in Python 3.11
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def write_arrays(file: BinaryIO, arrays: Mapping[str, Any]) -> None:
    """Write an archive, uncompressed, with nothing pickled. Raises ValueError for an array of Python objects."""
    with zipfile.ZipFile(file, "w", _PLAIN) as archive:
        for name, value in arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(value), allow_pickle=False)


def read_arrays(path: str) -> dict[str, np.ndarray]:
    """The arrays of an archive by name. Memory stays in proportion to the file: sizes are checked before it is taken.

    Raises OSError if the file cannot be read, DataLossError for what is no archive of arrays.
    """
    with open_file(path) as file:
        try:
            return arrays_in(file, os.fstat(file.fileno()).st_size)
        except AutodiffError as error:
            raise DataLossError(f"{path}: {error.sentence}") from None
        except Exception as error:  # zipfile, zlib and NumPy raise whatever a damaged file leads them to
            raise DataLossError(f"{path}: expected an archive of arrays (.npz), found a damaged one or none: "
                                f"{type(error).__name__}: {error}") from None


def arrays_in(file: BinaryIO, size: int) -> dict[str, np.ndarray]:
    """The arrays of an open archive of so many bytes."""
    with zipfile.ZipFile(file) as archive, _ALONE:
        members = archive.infolist()
        unpacked = sum(member.file_size for member in members)
        if sum(member.compress_size for member in members) > size or unpacked > max(_SMALL, _GROWTH * size):
            raise DataLossError(f"it says that its {size} bytes hold {unpacked}",
                                expected=f"at most {max(_SMALL, _GROWTH * size)}")
        return {member.filename.removesuffix(".npy"): _array(archive, member)
                for member in members if member.filename.endswith(".npy")}


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    name = member.filename.removesuffix(".npy")
    if member.compress_type not in (_PLAIN, _PACKED):
        raise DataLossError(f"array {name!r} is packed in a way that is not read")
    with archive.open(member) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Python's parser, about a damaged header
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:
            raise DataLossError(f"array {name!r} is of version {version}", expected="(1, 0) or (2, 0)")
        shape, _, dtype = _HEADERS[version](file)
        there = member.file_size - file.tell()
    if dtype.hasobject:
        raise DataLossError(f"array {name!r} holds Python objects, which are never read")
    if min(shape, default=0) < 0 or math.prod(shape) * (dtype.itemsize or 1) != there:
        raise DataLossError(f"array {name!r} says {dtype}{list(shape)}", expected=f"{there} bytes of elements")
    with archive.open(member) as file:
        return np.lib.format.read_array(file, allow_pickle=False)
