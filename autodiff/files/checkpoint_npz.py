"""Checkpoints of gradbg before it wrote TensorFlow's format: an npz archive under TensorFlow's file names; only read.

`<prefix>.data-00000-of-00001` holds the arrays and, as JSON, their names, dtypes and shapes.
"""
from __future__ import annotations

import json
import zipfile
from typing import Any

import numpy as np

from ..core.errors import DataLossError

MAGIC = b"PK\x03\x04"  # with which a zip archive begins


class ArchiveReader:
    """The arrays of a checkpoint by name. Raises DataLossError for a damaged one."""

    def __init__(self, path: str) -> None:
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                index = json.loads(archive["index"].tobytes())
                self.entries: dict[str, dict[str, Any]] = {entry["name"]: entry for entry in index["tensors"]}
                self._arrays = {name: archive[e["array"]] if "array" in e else _texts(e)
                                for name, e in self.entries.items()}
        except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile) as error:
            raise DataLossError(f"{path}: a damaged checkpoint (npz): {error}") from None

    def dtypes(self) -> dict[str, str]:
        """Name -> element type."""
        return {name: entry["dtype"] for name, entry in self.entries.items()}

    def shapes(self) -> dict[str, list[int]]:
        """Name -> shape."""
        return {name: list(array.shape) for name, array in self._arrays.items()}

    def read(self, name: str) -> np.ndarray:
        """An array by name."""
        return self._arrays[name]


def _texts(entry: dict[str, Any]) -> np.ndarray:
    found = np.empty(len(entry["texts"]), object)
    found[:] = [text.encode("latin-1") for text in entry["texts"]]
    return found.reshape(entry["shape"])
