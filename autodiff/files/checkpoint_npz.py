"""Checkpoints of gradbg before it wrote TensorFlow's format: an npz archive under TensorFlow's file names; only read.

`<prefix>.data-00000-of-00001` holds the arrays and, as JSON, their names, dtypes and shapes.
"""
from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..core.errors import DataLossError
from .disk.arrays import read_arrays

MAGIC = b"PK\x03\x04"  # with which a zip archive begins


class ArchiveReader:
    """The arrays of a checkpoint by name. Raises DataLossError for a damaged one."""

    def __init__(self, path: str) -> None:
        try:
            arrays = read_arrays(path)
            index = json.loads(arrays["index"].tobytes())
            self.entries: dict[str, dict[str, Any]] = {entry["name"]: entry for entry in index["tensors"]}
            self._arrays = {name: arrays[e["array"]] if "array" in e else _texts(e) for name, e in self.entries.items()}
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise DataLossError(f"{path}: a damaged checkpoint (npz): {type(error).__name__}: {error}") from None

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
