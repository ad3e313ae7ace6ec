"""Checkpoints by TensorFlow's functions: reading one's arrays by name, listing, deleting, waiting for the next."""
from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ...core.dtypes import DType, as_dtype
from ...core.errors import ArgumentError, NotFoundError
from ...files import checkpoints as files
from ...files.checkpoint import Part, Stored, write_bundle
from ...files.checkpoint_messages import CHECKPOINT_MESSAGES
from ...files.graph_messages import GRAPH_MESSAGES
from ...files.tensor_values import STANDS_FOR, dtype_number
from ..logging import info
from .checkpoint_state import latest_checkpoint

__all__ = ["NewCheckpointReader", "checkpoint_exists", "list_variables", "load_checkpoint", "load_variable",
           "remove_checkpoint"]

OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"  # the key of a checkpoint of objects that tells which there were


def write_checkpoint(prefix: str, arrays: Mapping[str, Any]) -> None:
    """Write a checkpoint so that readers see the old one or the new one, and nothing between.

    arrays: name -> array, or the list of (array, part) of a partitioned variable.
    """
    write_bundle(prefix, {name: [_stored(array, part) for array, part in found] if isinstance(found, list) else
                          _stored(found) for name, found in arrays.items()})


def _stored(array: Any, part: Part | None = None) -> Stored:
    array = np.asarray(array)
    return Stored(as_dtype(array.dtype).name, array, part)


def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Whether there is a checkpoint of that name."""
    return files.checkpoint_exists(files.prefix_of(checkpoint_prefix))


def remove_checkpoint(checkpoint_prefix: Any, checkpoint_format_version: Any = None,
                      meta_graph_suffix: str = "meta") -> None:
    """Delete a checkpoint's files."""
    prefix = files.prefix_of(checkpoint_prefix)
    files.remove_checkpoint_files(prefix, f"{prefix}.{meta_graph_suffix}")


def meta_graph_filename(checkpoint_filename: Any, meta_graph_suffix: str = "meta") -> str:
    """The file beside a checkpoint that holds its graph."""
    return f"{files.prefix_of(checkpoint_filename).partition('-?????-of-')[0]}.{meta_graph_suffix}"


class CheckpointReader:
    """A checkpoint's arrays by name, each read when it is asked for.

    Raises NotFoundError if there is none, DataLossError if its files are damaged or of another format.
    """

    def __init__(self, path: Any) -> None:
        self._prefix = files.prefix_of(path)
        self._reader = files.open_checkpoint(self._prefix)
        self._held: dict[str, np.ndarray] = {}

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Name -> shape of all arrays."""
        return self._reader.shapes()

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """Name -> dtype of all arrays."""
        return {name: as_dtype(STANDS_FOR.get(dtype, dtype)) for name, dtype in self._reader.dtypes().items()}

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is an array of that name."""
        return tensor_str in self._reader.entries

    def get_tensor(self, tensor_str: str) -> np.ndarray:
        """A value by name, a text of rank 0 as bytes. Raises NotFoundError for an unknown one."""
        found = self.array(tensor_str)
        return found.item() if found.dtype == object and found.shape == () else found

    def array(self, tensor_str: str) -> np.ndarray:
        """An array by name. Raises NotFoundError for an unknown one."""
        if not self.has_tensor(tensor_str):
            raise NotFoundError(f"Key {tensor_str} not found in checkpoint {self._prefix!r}",
                                hint=f"it holds: {', '.join(self._reader.entries) or 'nothing'}")
        found = self._held.get(tensor_str)
        return self._reader.read(tensor_str) if found is None else found

    def hold(self, names: Iterable[str]) -> None:
        """Keep these arrays, and no others, so that they can be had when the files are gone."""
        self._held = {name: self.array(name) for name in names}

    @functools.cached_property
    def object_graph(self) -> Any:
        """The message of a checkpoint of objects; None for one of names."""
        if not self.has_tensor(OBJECT_GRAPH):
            return None
        return CHECKPOINT_MESSAGES["TrackableObjectGraph"].FromString(self.get_tensor(OBJECT_GRAPH))

    def keys_by_name(self) -> dict[str, str]:
        """The names of variables -> their keys in a checkpoint of objects; nothing for one of names."""
        nodes = () if self.object_graph is None else self.object_graph.nodes
        return {each.full_name: each.checkpoint_key for node in nodes for each in node.attributes}

    def debug_string(self) -> bytes:
        """A line for each array."""
        shapes, dtypes = self._reader.shapes(), self._reader.dtypes()
        kinds = {name: GRAPH_MESSAGES["DataType"].Name(dtype_number(dtype)) for name, dtype in dtypes.items()}
        return "".join(f"{name} ({kinds[name]}) [{','.join(map(str, shapes[name]))}]\n" for name in shapes).encode()


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


def wait_for_new_checkpoint(checkpoint_dir: str, last_checkpoint: str | None = None, seconds_to_sleep: float = 1,
                            timeout: float | None = None) -> str | None:
    """The latest checkpoint of a directory, once it is another than the last one; None after `timeout` seconds."""
    info("Waiting for new checkpoint at %s", checkpoint_dir)
    ends = None if timeout is None else time.time() + timeout
    while True:
        found = latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            info("Found new checkpoint at %s", found)
            return found
        if ends is not None and time.time() + seconds_to_sleep > ends:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(checkpoint_dir: str, min_interval_secs: float = 0, timeout: float | None = None,
                         timeout_fn: Callable[[], Any] | None = None) -> Iterator[str]:
    """Each new checkpoint of a directory. timeout_fn: asked after so many seconds without one whether to end."""
    last = None
    while True:
        found = wait_for_new_checkpoint(checkpoint_dir, last, timeout=timeout)
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        began, last = time.time(), found
        yield found
        time.sleep(max(began + min_interval_secs - time.time(), 0))
