"""A checkpoint on disk: arrays by name, in a format of our own under TensorFlow's file names.

`<prefix>.data-00000-of-00001` is an npz archive that holds the arrays and, as JSON, their names, dtypes and shapes;
`<prefix>.index` is that JSON again, for readers; its presence says that the checkpoint is whole.
"""
from __future__ import annotations

import glob
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import numpy as np

from ...core.dtypes import DType, as_dtype
from ...core.errors import ArgumentError, DataLossError, NotFoundError
from .checkpoint_state import latest_checkpoint

FORMAT = "gradbg checkpoint 1"
_DATA = ".data-00000-of-00001"


def write_checkpoint(prefix: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a checkpoint so that readers see the old one or the new one, and nothing between."""
    stored: dict[str, Any] = {}
    listed = []
    for i, (name, array) in enumerate(sorted(arrays.items())):
        array = np.asarray(array)
        entry: dict[str, Any] = {"name": name, "dtype": as_dtype(array.dtype).name, "shape": list(array.shape)}
        if array.dtype == object:
            entry["texts"] = [v.decode("latin-1") for v in array.ravel().tolist()]
        else:
            stored[f"array{i}"] = array
            entry["array"] = f"array{i}"
        listed.append(entry)
    index = json.dumps({"format": FORMAT, "tensors": listed}, indent=1).encode()
    replace_file(prefix + _DATA, lambda file: np.savez(file, index=np.frombuffer(index, np.uint8), **stored))
    replace_file(prefix + ".index", lambda file: file.write(index))


def replace_file(path: str, write: Callable[[BinaryIO], Any]) -> None:
    """Write a file under another name, then give it its own in one step."""
    temporary = f"{path}.temporary-{os.getpid()}"
    try:
        with open(temporary, "wb") as file:
            write(file)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Whether there is a checkpoint of that name: its `.index`."""
    return os.path.exists(_prefix(checkpoint_prefix) + ".index")


def remove_checkpoint(checkpoint_prefix: Any, checkpoint_format_version: Any = None,
                      meta_graph_suffix: str = "meta") -> None:
    """Delete a checkpoint's files; the one that says it is whole goes first."""
    prefix = _prefix(checkpoint_prefix)
    for path in (prefix + ".index", prefix + _DATA, f"{prefix}.{meta_graph_suffix}"):
        if os.path.exists(path):
            os.remove(path)


def _prefix(path: Any) -> str:
    return os.fspath(path).removesuffix(".index").removesuffix(_DATA)


class CheckpointReader:
    """A checkpoint's arrays by name.

    Raises NotFoundError if there is none, DataLossError if its files are not of this format, such as TensorFlow's own.
    """

    def __init__(self, path: Any) -> None:
        self._prefix = prefix = _prefix(path)
        if not checkpoint_exists(prefix) or not os.path.exists(prefix + _DATA):
            near = [p.removesuffix(".index")
                    for p in sorted(glob.glob(os.path.join(os.path.dirname(prefix), "*.index")))]
            raise NotFoundError(f"no checkpoint {prefix!r}: expected {prefix}.index and {prefix}{_DATA}"
                                + (f"\nthere is {', '.join(near[:3])}" if near else ""))
        try:
            with open(prefix + _DATA, "rb") as file, np.load(file, allow_pickle=False) as archive:
                index = json.loads(archive["index"].tobytes())
                self._entries = {entry["name"]: entry for entry in index["tensors"]}
                self._arrays = {name: archive[e["array"]] if "array" in e else _texts(e)
                                for name, e in self._entries.items()}
        except (ValueError, KeyError, TypeError, OSError, zipfile.BadZipFile) as error:
            raise DataLossError(f"{prefix}{_DATA} is not a checkpoint that gradbg wrote: {error}\nTensorFlow's own "
                                "format is not read: save the variables with numpy there") from None

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Name -> shape of all arrays."""
        return {name: list(array.shape) for name, array in self._arrays.items()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """Name -> dtype of all arrays."""
        return {name: as_dtype(entry["dtype"]) for name, entry in self._entries.items()}

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is an array of that name."""
        return tensor_str in self._arrays

    def get_tensor(self, tensor_str: str) -> np.ndarray:
        """An array by name. Raises NotFoundError for an unknown one."""
        if tensor_str not in self._arrays:
            raise NotFoundError(f"Key {tensor_str} not found in checkpoint {self._prefix!r}\n"
                                f"it holds: {', '.join(self._arrays) or 'nothing'}")
        return self._arrays[tensor_str]

    def debug_string(self) -> bytes:
        """A line for each array."""
        return "".join(f"{name} ({e['dtype']}) {e['shape']}\n" for name, e in self._entries.items()).encode()


def _texts(entry: dict[str, Any]) -> np.ndarray:
    found = np.empty(len(entry["texts"]), object)
    found[:] = [text.encode("latin-1") for text in entry["texts"]]
    return found.reshape(entry["shape"])


NewCheckpointReader = CheckpointReader


def load_checkpoint(ckpt_dir_or_file: str) -> CheckpointReader:
    """The reader of a checkpoint, or of a directory's latest. Raises ArgumentError (ValueError) if it has none."""
    path: str | None = ckpt_dir_or_file
    if os.path.isdir(ckpt_dir_or_file):
        path = latest_checkpoint(ckpt_dir_or_file)
        if path is None:
            raise ArgumentError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {ckpt_dir_or_file}")
    return CheckpointReader(path)


def load_variable(ckpt_dir_or_file: str, name: str) -> np.ndarray:
    """One array of a checkpoint; `v:0` stands for `v`."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: str) -> list[tuple[str, list[int]]]:
    """(name, shape) of each array of a checkpoint."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())
