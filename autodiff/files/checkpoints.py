"""Checkpoints of any format that is read: which there are, and the reader that fits one."""
from __future__ import annotations

import os
import re
from typing import Any

from ..core.errors import NotFoundError
from .checkpoint import BundleReader, data_path, near_checkpoints
from .checkpoint_npz import MAGIC, ArchiveReader
from .checkpoint_v1 import TableReader, files_of

_SHARD = re.compile(r"\.data-\d{5}-of-\d{5}$")


def prefix_of(path: Any) -> str:
    """A checkpoint's name, of itself or of one of its files."""
    return _SHARD.sub("", os.fspath(path).removesuffix(".index"))


def checkpoint_exists(prefix: str) -> bool:
    """Whether there is a checkpoint of that name, of either version."""
    return os.path.isfile(prefix + ".index") or bool(files_of(prefix))


def open_checkpoint(path: Any) -> BundleReader | TableReader | ArchiveReader:
    """The reader of a checkpoint. Raises NotFoundError if there is none, DataLossError for what is none."""
    prefix = prefix_of(path)
    if not checkpoint_exists(prefix):
        near = near_checkpoints(prefix)
        raise NotFoundError(f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
                            f"{prefix}\nexpected {prefix}.index"
                            + (f"\nthere is {', '.join(near[:3])}" if near else ""))
    if not os.path.isfile(prefix + ".index"):
        return TableReader(prefix)
    data = data_path(prefix, 0, 1)
    if os.path.isfile(data):
        with open(data, "rb") as file:
            if file.read(len(MAGIC)) == MAGIC and not _is_table(prefix + ".index"):
                return ArchiveReader(data)
    return BundleReader(prefix)


def _is_table(path: str) -> bool:
    with open(path, "rb") as file:
        return not file.read(1).startswith(b"{")


def remove_checkpoint_files(prefix: str, *others: str) -> None:
    """Delete a checkpoint's files and others; the one that says it is whole goes first."""
    folder, name = os.path.split(prefix)
    shards = [os.path.join(folder, each) for each in (os.listdir(folder or ".") if os.path.isdir(folder or ".") else ())
              if each.startswith(name) and _SHARD.fullmatch(each[len(name):])]
    for path in (prefix + ".index", *sorted(shards), *([] if shards else files_of(prefix)), *others):
        if os.path.exists(path):
            os.remove(path)
