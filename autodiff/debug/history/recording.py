"""A recording: a folder with the graph and one .npz for each step; all that a Debugger needs to look at it again.

Each file is written beside its place and then moved there, so what is cut short loses the step under way at most.
Arrays are plain .npy members, everything else is JSON: nothing is pickled, nothing of it is run.
"""
from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ...core.graph import Graph, Tensor
from ...core.shapes import TensorShape
from ...runtime import fetch
from ..facts.graph_lists import variables_of
from ..facts.records import RunRecord, Sample, Stats, Stop
from ..language.targets import tensors_of
from .graph_json import Decoder, Encoder
from .replay import Moment

SCHEMA = 1
_GRAPH = "graph.npz"


def is_recording(path: str) -> bool:
    """Whether a path is the folder of a recording."""
    return os.path.isfile(os.path.join(path, _GRAPH))


class Recorder:
    """Writes steps into a folder. steps: written so far."""

    def __init__(self, path: str, graph: Graph, about: Mapping[str, Any], handles: Mapping[str, Any]) -> None:
        if os.path.exists(path) and not is_recording(path) and (not os.path.isdir(path) or os.listdir(path)):
            raise ArgumentError(f"{path!r} exists and is no recording: name another one")
        self.path, self.graph, self.steps = path, graph, 0
        self._about, self._handles = about, handles
        self._version = -1
        self._kept: dict[str, tuple[Any, int]] = {}  # variable -> value last written, and the step it is with
        os.makedirs(path, exist_ok=True)
        for name in os.listdir(path):
            if name.endswith(".npz"):
                os.remove(os.path.join(path, name))
        self._write_graph()

    def write(self, moment: Moment, record: RunRecord) -> None:
        """Add one step; the graph first, if it has grown."""
        if self.graph.version != self._version:
            self._write_graph()
        arrays, same, strings = {}, {}, []
        for name, value in moment.variables.items():
            kept = self._kept.get(name)
            if kept is not None and kept[0] is value:
                same[name] = kept[1]
            else:
                arrays[f"v:{name}"] = value
                self._kept[name] = value, moment.step
        arrays.update({f"f:{t.name}": v for t, v in moment.feeds.items()})
        outcomes = {t.name: _packed(v, f"o:{t.name}", arrays) for t, v in moment.outcomes.items()}
        for key, value in list(arrays.items()):
            if np.asarray(value).dtype == object:
                arrays[key] = np.asarray(value).astype("S")
                strings.append(key)
        wanted = moment.wanted
        about = {"schema": SCHEMA, "step": moment.step, "number": moment.number, "entropy": moment.entropy,
                 "draws": dict(moment.draws), "same": same, "strings": strings, "outcomes": outcomes,
                 "fetches": [] if wanted is None else [t.name for t in wanted.tensors],
                 "targets": [] if wanted is None else [op.name for op in wanted.targets],
                 "record": dataclasses.asdict(record)}
        self._save(f"step-{moment.step:07d}.npz", about, arrays)
        self.steps += 1

    def _write_graph(self) -> None:
        encoder = Encoder()
        ops, calls = encoder.graph(self.graph), encoder.calls(self.graph)
        handles = {name: ts[0].name for name, value in self._handles.items()
                   if len(ts := [t for t in tensors_of(value) if t.graph is self.graph]) == 1}
        listed = [{"tensor": v.handle_tensor.name, "name": v.name,
                   "shape": v.shape.as_list() if v.shape.ndims is not None else None, "trainable": trainable,
                   "initializer": getattr(v.initializer, "name", "")}
                  for v, trainable in variables_of(self.graph)]
        about = {"schema": SCHEMA, **self._about, "handles": handles, "variables": listed, "ops": ops, "calls": calls}
        self._save(_GRAPH, about, encoder.arrays)
        self._version = self.graph.version

    def _save(self, name: str, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        place = os.path.join(self.path, name)
        members: dict[str, Any] = {key: np.asarray(value) for key, value in arrays.items()}
        members["about.json"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
        with open(place + ".part", "wb") as file:
            np.savez(file, **members)
        os.replace(place + ".part", place)


@dataclasses.dataclass(frozen=True, eq=False)
class Recording:
    """What was read: a graph, and moments and records of its steps, oldest first."""

    graph: Graph
    handles: dict[str, Tensor]
    script: str
    y: str
    moments: tuple[Moment, ...]
    records: tuple[RunRecord, ...]


def _packed(value: Any, key: str, arrays: dict[str, Any]) -> Any:
    """Put the arrays of a value, maybe a list of such, into `arrays`; gives their keys in its structure."""
    if isinstance(value, list):
        return [_packed(item, f"{key}/{i}", arrays) for i, item in enumerate(value)]
    if value is not None:
        arrays[key] = np.asarray(value)
    return None if value is None else key


def _unpacked(item: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """The value that `_packed` put away."""
    return [_unpacked(each, arrays) for each in item] if isinstance(item, list) else None if item is None else (
        arrays[item])


def read(path: str) -> Recording:
    """A recording. Raises ArgumentError if it is none; steps that cannot be read are left out with all after them."""
    if not is_recording(path):
        raise ArgumentError(f"{path!r} is no recording: expected a folder with {_GRAPH} in it")
    about, arrays = _load(os.path.join(path, _GRAPH))
    if about.get("schema") != SCHEMA:
        raise ArgumentError(f"the recording {path!r} has schema {about.get('schema')}, expected {SCHEMA}")
    graph, decoder = Graph(), Decoder(arrays)
    try:
        decoder.graph(graph, about["ops"])
        graph.extras["calls"] = decoder.calls(graph, about["calls"])
        _declare(graph, about["variables"])
        handles = {name: graph.get_tensor_by_name(tensor) for name, tensor in about["handles"].items()}
    except (KeyError, TypeError, ValueError) as error:
        raise ArgumentError(f"the recording {path!r} is damaged: {type(error).__name__}: {error}") from None
    moments: list[Moment] = []
    records = []
    values: dict[tuple[str, int], Any] = {}
    for name in sorted(n for n in os.listdir(path) if n.startswith("step-") and n.endswith(".npz")):
        try:
            moment, record = _step(graph, *_load(os.path.join(path, name)), values)
        except (ArgumentError, KeyError, TypeError, ValueError):
            break
        moments.append(moment)
        records.append(record)
    return Recording(graph, handles, str(about.get("script", "")), str(about.get("y", "")), tuple(moments),
                     tuple(records))


def _load(place: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    try:
        with open(place, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return json.loads(arrays.pop("about.json").tobytes().decode()), arrays
    except Exception as error:  # zipfile and NumPy raise whatever a damaged file leads them to
        raise ArgumentError(f"cannot read {place!r}: {type(error).__name__}: {error}") from None


def _declare(graph: Graph, listed: list[dict[str, Any]]) -> None:
    """Variables as far as lists of them are concerned."""
    for entry in listed:
        tensor = graph.get_tensor_by_name(entry["tensor"])
        dtype = tensor.dtype if tensor.dtype.name != "resource" else tensor.op.attrs["dtype"]
        variable = SimpleNamespace(handle_tensor=tensor, op=tensor.op, name=entry["name"], graph=graph, dtype=dtype,
                                   shape=TensorShape(entry["shape"]),
                                   initializer=graph.operations.get(entry["initializer"]))
        graph.add_to_collection("variables", variable)
        if entry["trainable"]:
            graph.add_to_collection("trainable_variables", variable)


def _step(graph: Graph, about: dict[str, Any], arrays: dict[str, np.ndarray],
          values: dict[tuple[str, int], Any]) -> tuple[Moment, RunRecord]:
    step = int(about["step"])
    for key in about["strings"]:
        arrays[key] = arrays[key].astype(object)
    variables = {name: values[name, at] for name, at in about["same"].items()}
    feeds = {}
    for key, array in arrays.items():
        kind, _, name = key.partition(":")
        if kind == "v":
            array.flags.writeable = False
            variables[name] = values[name, step] = array
        elif kind == "f":
            feeds[graph.get_tensor_by_name(name)] = array
    outcomes = {graph.get_tensor_by_name(name): _unpacked(item, arrays) for name, item in about["outcomes"].items()}
    elements = [graph.get_tensor_by_name(n) for n in about["fetches"]] + [graph.operations[n] for n in about["targets"]]
    moment = Moment(step, int(about["number"]), int(about["entropy"]), variables, feeds,
                    fetch.parse(graph, elements), outcomes, about.get("draws", {}))
    return moment, _record(about["record"])


def _record(entry: dict[str, Any]) -> RunRecord:
    def figures(stats: dict[str, Any]) -> Stats:
        return Stats(**{**stats, "shape": tuple(stats["shape"])})

    def sample(item: dict[str, Any]) -> Sample:
        stats = None if item["stats"] is None else figures(item["stats"])
        return Sample(item["name"], item["of"], stats, item["missing"], tuple(map(figures, item["turns"])))

    stops = tuple(Stop(**{**stop, "commands": tuple(stop["commands"])}) for stop in entry["stops"])
    return RunRecord(entry["step"], tuple(entry["fetches"]), tuple(map(sample, entry["feeds"])), entry["loss"],
                     entry["loss_name"], tuple(map(sample, entry["samples"])), entry["ms"], stops, entry["error"],
                     tuple(entry["notes"]), entry.get("trains", False))
