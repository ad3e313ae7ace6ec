"""tensorflow.python.lib.io.file_io: tf.gfile's functions in small letters, and whole files at once."""
from __future__ import annotations

import os
import zlib
from filecmp import cmp as compare_files
from typing import Any

from ....api import gfile
from ....core.errors import AlreadyExistsError

FileIO = gfile.GFile
file_exists, is_directory, create_dir, recursive_create_dir = (
    gfile.Exists, gfile.IsDirectory, gfile.MkDir, gfile.MakeDirs)
list_directory, get_matching_files, delete_file, delete_recursively = (
    gfile.ListDirectory, gfile.Glob, gfile.Remove, gfile.DeleteRecursively)
copy, rename, stat, walk = gfile.Copy, gfile.Rename, gfile.Stat, gfile.Walk


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """All of a file, as text or bytes."""
    with gfile.GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Any, file_content: Any) -> None:
    """Make a text, or bytes, all of a file."""
    with gfile.GFile(filename, "wb" if isinstance(file_content, bytes) else "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename: Any, contents: Any, overwrite: bool = True) -> None:
    """As write_string_to_file, of which nobody sees a part. Raises AlreadyExistsError unless overwriting."""
    if not overwrite and gfile.Exists(filename):
        raise AlreadyExistsError(None, None, f"{filename} already exists")
    temporary = f"{os.fspath(filename)}.tmp{os.getpid()}"
    write_string_to_file(temporary, contents)
    gfile.Rename(temporary, filename, overwrite=True)


def filecmp(filename_a: Any, filename_b: Any) -> bool:
    """Whether two files say the same."""
    return compare_files(filename_a, filename_b, shallow=False)


def file_crc32(filename: Any, block_size: int = 1 << 20) -> str:
    """The CRC32 of a file, as `0x1a2b3c4d`."""
    return hex(zlib.crc32(read_file_to_string(filename, binary_mode=True)))
