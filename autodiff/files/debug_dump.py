"""Dump directories of TensorFlow's debugger: a file for each tensor of a run, the graphs that ran, what was asked for.

Each file is an Event: a tensor in a Summary, a GraphDef, or a text. What a tensor's file is called says which it is:
`scope/w_0_DebugIdentity_1700000000000000` is scope/w:0, with the time in microseconds.
"""
from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import DataLossError, NotFoundError
from .disk.reading import read_file
from .event_file import Event
from .graph_messages import GRAPH_MESSAGES
from .tensor_values import array_of_proto, proto_of_array

GraphDef = GRAPH_MESSAGES["GraphDef"]

_DEVICE, _GRAPH, _CORE = "_tfdbg_device_", "_tfdbg_graph_", "_tfdbg_core_metadata_"
_FETCHES, _FEEDS = "_tfdbg_fetches_info_", "_tfdbg_feed_keys_info_"
_WATCHES = ("__copy_", "__dbg_")
_WAITS = tuple(f"^{name}" for name in _WATCHES)
_TENSOR = re.compile(r"(.+)_(\d+)_([A-Za-z][A-Za-z0-9]*)_(\d+)$")


class DumpedTensor(NamedTuple):
    """One dumped tensor. timestamp: microseconds since 1970. device: as `/job:localhost/.../device:CPU:0`."""

    node_name: str
    output_slot: int
    debug_op: str
    timestamp: int
    device: str
    path: str

    @property
    def name(self) -> str:
        """`scope/w:0`."""
        return f"{self.node_name}:{self.output_slot}"

    def read(self) -> np.ndarray | None:
        """The tensor; None for one that held no value. Raises DataLossError for a damaged file."""
        event = _event(self.path)
        if not event.summary.value or not event.summary.value[0].HasField("tensor"):
            raise DataLossError(f"{self.path}: expected a dumped tensor", found=event.WhichOneof("what") or "nothing")
        proto = event.summary.value[0].tensor
        return None if proto.dtype == 0 else array_of_proto(proto, self.path)


class Dump(NamedTuple):
    """What a directory holds. tensors: in the order of their times. graphs: by device. metadata: of the session."""

    folder: str
    tensors: tuple[DumpedTensor, ...]
    graphs: dict[str, Any]
    metadata: dict[str, Any]
    fetches: str
    feeds: tuple[str, ...]


def is_dump(folder: str) -> bool:
    """Whether a directory is a run's dump."""
    return os.path.isdir(folder) and any(name.startswith((_DEVICE, _CORE)) for name in os.listdir(folder))


def run_folders(root: str) -> list[str]:
    """The dumps below a directory, oldest first; the directory itself if it is one."""
    if is_dump(root):
        return [root]
    inside = [os.path.join(root, name) for name in os.listdir(root)] if os.path.isdir(root) else []
    return sorted((path for path in inside if is_dump(path)), key=lambda path: (_number(path), path))


def _number(path: str) -> int:
    found = re.search(r"(\d+)", os.path.basename(path))
    return int(found.group(1)) if found else 0


def _event(path: str) -> Any:
    try:
        return Event.FromString(read_file(path))
    except DataLossError as error:
        raise DataLossError(f"{path}: expected an Event: {error}") from None


def read_dump(folder: str) -> Dump:
    """The contents of a dump; tensors are read when they are asked for. Raises NotFoundError if it is none."""
    if not is_dump(folder):
        raise NotFoundError(f"{folder} is no dump of a debugged run", hint="expected files named _tfdbg_...")
    graphs: dict[str, Any] = {}
    tensors: list[DumpedTensor] = []
    metadata: dict[str, Any] = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.startswith(_DEVICE):
            device = "/" + name.removeprefix(_DEVICE).lstrip(",").replace(",", "/")
            device = re.sub(r"(job|replica|task|device|[CG]PU)_", r"\1:", device)
            graphs.update(_graphs(path, device))
            tensors.extend(_tensors(path, device))
        elif name.startswith(_CORE) and not metadata:
            metadata = _metadata(_event(path).log_message.message, path)
    tensors.sort(key=lambda tensor: tensor.timestamp)
    fetches, feeds = (_text(os.path.join(folder, name)) for name in (_FETCHES, _FEEDS))
    return Dump(folder, tuple(tensors), graphs, metadata, fetches, tuple(_names(feeds)))


def _text(path: str) -> str:
    return _event(path).log_message.message if os.path.isfile(path) else ""


def _names(text: str) -> list[str]:
    """Tensor names in what Python showed of some tensors."""
    return re.findall(r"'([\w./\-]+:\d+)'", text)


def _metadata(text: str, path: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        try:
            found = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            raise DataLossError(f"{path}: expected JSON", found=repr(text[:40])) from None
    return found if isinstance(found, dict) else {}


def _graphs(folder: str, device: str) -> Iterator[tuple[str, Any]]:
    for name in sorted(os.listdir(folder)):
        if name.startswith(_GRAPH):
            yield device, _without_watches(GraphDef.FromString(_event(os.path.join(folder, name)).graph_def))


def _without_watches(graph_def: Any) -> Any:
    """The graph without the nodes that the debugger put into it: a copy of each tensor, and what dumps it."""
    copied = {node.name: node.input[0] for node in graph_def.node if node.name.startswith("__copy_") and node.input}
    made = GraphDef(library=graph_def.library, versions=graph_def.versions)
    for node in graph_def.node:
        if not node.name.startswith(_WATCHES):
            inputs = [copied.get(text, text) for text in node.input if not text.startswith(_WAITS)]
            node.ClearField("input")
            node.input.extend(inputs)
            made.node.extend_raw([node])
    return made


def _tensors(folder: str, device: str) -> Iterator[DumpedTensor]:
    for base, _, names in os.walk(folder):
        inside = os.path.relpath(base, folder).replace(os.sep, "/")
        for name in names:
            match = _TENSOR.match(name)
            if match and not name.startswith("_tfdbg_"):
                node, slot, op, time = match.groups()
                yield DumpedTensor(node if inside == "." else f"{inside}/{node}", int(slot), op, int(time), device,
                                   os.path.join(base, name))


def write_dump(folder: str, arrays: dict[str, np.ndarray], graph_def: Any, *, fetches: str, feeds: str,
               timestamp: int) -> None:
    """Write a dump of one device. arrays: tensor name -> value, in the order of the run. timestamp: microseconds."""
    device = os.path.join(folder, f"{_DEVICE},job_localhost,replica_0,task_0,device_CPU_0")
    os.makedirs(device, exist_ok=True)
    seconds = timestamp / 1e6
    _write(os.path.join(device, f"{_GRAPH}hash0_{timestamp}"),
           Event(wall_time=seconds, graph_def=graph_def.SerializeToString()))
    about = {"global_step": -1, "session_run_index": 0, "executor_step_index": 0, "input_names": _names(feeds),
             "output_names": _names(fetches), "target_nodes": []}
    _write(os.path.join(folder, f"{_CORE}sessionrun0_{timestamp}"),
           Event(wall_time=seconds, log_message={"message": json.dumps(about)}))
    for name, text in ((_FETCHES, fetches), (_FEEDS, feeds)):
        _write(os.path.join(folder, name), Event(wall_time=seconds, log_message={"message": text}))
    for i, (name, array) in enumerate(arrays.items()):
        node, _, slot = name.rpartition(":")
        path = os.path.join(device, *f"{node}_{slot}_DebugIdentity_{timestamp + i}".split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        dtype = "string" if array.dtype == object else array.dtype.name
        value = {"tag": node, "node_name": f"{node}:{slot}:DebugIdentity", "tensor": proto_of_array(dtype, array)}
        _write(path, Event(wall_time=seconds, summary={"value": [value]}))


def _write(path: str, event: Any) -> None:
    with open(path, "wb") as file:
        file.write(event.SerializeToString())
