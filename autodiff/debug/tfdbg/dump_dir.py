"""DebugDumpDir: the tensors of a run that was dumped, by name, and those that a filter finds."""
from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import ArgumentError, UnknownNameError
from ...files.debug_dump import DumpedTensor, read_dump

Filter = Callable[["DebugTensorDatum", Any], bool]


class DebugTensorDatum:
    """One dumped tensor, which is read when it is asked for."""

    def __init__(self, dumped: DumpedTensor, t0: int) -> None:
        self._dumped, self._t0 = dumped, t0
        self.node_name, self.output_slot, self.debug_op = dumped.node_name, dumped.output_slot, dumped.debug_op
        self.timestamp, self.device_name, self.file_path = dumped.timestamp, dumped.device, dumped.path

    @property
    def tensor_name(self) -> str:
        return self._dumped.name

    @property
    def watch_key(self) -> str:
        return f"{self.tensor_name}:{self.debug_op}"

    @property
    def dump_size_bytes(self) -> int:
        return os.path.getsize(self.file_path)

    def get_tensor(self) -> np.ndarray | None:
        """The value; None for a tensor that held none."""
        return self._dumped.read()

    def __repr__(self) -> str:
        return (f"{{DebugTensorDatum ({self.device_name}) {self.node_name}:{self.output_slot} @ {self.debug_op} @ "
                f"{self.timestamp - self._t0}}}")


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether a tensor holds NaN or an infinity."""
    if tensor is None or not isinstance(tensor, (np.ndarray, np.generic)) or tensor.dtype.kind not in "fc":
        return False
    return bool((~np.isfinite(tensor)).any())


def load_tensor_from_event_file(event_file_path: str) -> np.ndarray | None:
    """The tensor of one file of a dump."""
    return DumpedTensor("", 0, "", 0, "", event_file_path).read()


class DebugDumpDir:
    """A dump directory. Raises NotFoundError for a directory that is none."""

    def __init__(self, dump_root: Any, partition_graphs: Any = None, validate: bool = True) -> None:
        self._dump = read_dump(os.fspath(dump_root))
        self.t0 = min((tensor.timestamp for tensor in self._dump.tensors), default=0)
        self.dumped_tensor_data = [DebugTensorDatum(tensor, self.t0) for tensor in self._dump.tensors]
        self._nodes = {node.name: node for graph in self._dump.graphs.values() for node in graph.node}

    @property
    def dump_root(self) -> str:
        return self._dump.folder

    @property
    def size(self) -> int:
        """How many tensors were dumped."""
        return len(self.dumped_tensor_data)

    @property
    def core_metadata(self) -> dict[str, Any]:
        return self._dump.metadata

    @property
    def run_fetches_info(self) -> str:
        return self._dump.fetches

    @property
    def run_feed_keys_info(self) -> list[str]:
        return list(self._dump.feeds)

    def devices(self) -> list[str]:
        """Where something ran."""
        return list(self._dump.graphs)

    def partition_graphs(self) -> list[Any]:
        """The GraphDefs that ran, one of each device."""
        return list(self._dump.graphs.values())

    def loaded_partition_graphs(self) -> bool:
        """Whether there are graphs."""
        return bool(self._dump.graphs)

    def nodes(self, device_name: str | None = None) -> list[str]:
        """Names of all nodes."""
        return list(self._nodes)

    def node_exists(self, node_name: str, device_name: str | None = None) -> bool:
        """Whether there is a node of that name."""
        return node_name in self._nodes

    def _node(self, name: str) -> Any:
        if name not in self._nodes:
            raise ArgumentError(f"Node '{name}' does not exist in partition graphs.")
        return self._nodes[name]

    def node_op_type(self, node_name: str, device_name: str | None = None) -> str:
        """The op of a node."""
        return self._node(node_name).op

    def node_inputs(self, node_name: str, is_control: bool = False, device_name: str | None = None) -> list[str]:
        """Names of the inputs, or control inputs, of a node."""
        return [text.lstrip("^") for text in self._node(node_name).input if text.startswith("^") == is_control]

    def node_recipients(self, node_name: str, is_control: bool = False, device_name: str | None = None) -> list[str]:
        """Names of the nodes that take what a node gives, or wait for it."""
        self._node(node_name)
        return [name for name, node in self._nodes.items() for text in node.input
                if text.startswith("^") == is_control and text.lstrip("^").partition(":")[0] == node_name]

    def watch_key_to_data(self, debug_watch_key: str, device_name: str | None = None) -> list[DebugTensorDatum]:
        """What was dumped under `node:0:DebugIdentity`."""
        return [datum for datum in self.dumped_tensor_data if datum.watch_key == debug_watch_key]

    def debug_watch_keys(self, node_name: str, device_name: str | None = None) -> list[str]:
        """The keys that a node's tensors were dumped under."""
        return list(dict.fromkeys(d.watch_key for d in self.dumped_tensor_data if d.node_name == node_name))

    def get_tensors(self, node_name: str, output_slot: int, debug_op: str = "DebugIdentity",
                    device_name: str | None = None) -> list[Any]:
        """The values that a tensor had, in order. Raises UnknownNameError (KeyError) if none was dumped."""
        found = self.watch_key_to_data(f"{node_name}:{output_slot}:{debug_op}")
        if not found:
            raise UnknownNameError(f'Watch key "{node_name}:{output_slot}:{debug_op}" does not exist in the debug dump')
        return [datum.get_tensor() for datum in found]

    def get_tensor_file_paths(self, node_name: str, output_slot: int, debug_op: str = "DebugIdentity",
                              device_name: str | None = None) -> list[str]:
        """The files of a tensor's values."""
        return [d.file_path for d in self.watch_key_to_data(f"{node_name}:{output_slot}:{debug_op}")]

    def find(self, predicate: Filter, first_n: int = 0, device_name: str | None = None,
             exclude_node_names: str | None = None) -> list[DebugTensorDatum]:
        """The dumped tensors that a filter is true of, in the order of the run; only the first n, if n is not 0."""
        found = []
        for datum in self.dumped_tensor_data:
            if exclude_node_names and re.match(exclude_node_names, datum.node_name):
                continue
            if predicate(datum, datum.get_tensor()):
                found.append(datum)
                if 0 < first_n <= len(found):
                    break
        return found
