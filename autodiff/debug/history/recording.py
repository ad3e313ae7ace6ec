"""A recording: a folder with the graph and one .npz for each run; all that a Debugger needs to look at it again.

Each file is written beside its place and then moved there, so what is cut short loses the run under way at most; a
marker says that the folder is a recording, and only the files that a recording has written are ever replaced.
Arrays are plain .npy members, everything else is JSON: nothing is pickled, nothing of it is run.
"""
from __future__ import annotations

import contextlib
import dataclasses
import errno
import fcntl
import functools
import json
import os
import re
import weakref
import zipfile
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from ...core.errors import ArgumentError, AutodiffError
from ...core.graph import Graph, Tensor
from ...core.shapes import TensorShape
from ...files.disk.arrays import read_arrays, write_arrays
from ...files.disk.reading import open_file
from ...files.disk.replacing import replace_file
from ...runtime import fetch
from ..facts.graph_lists import variables_of, version_of
from ..facts.records import RunRecord
from ..language.targets import tensors_of
from .graph_json import Decoder, Encoder, pack_value, packed_texts, unpack_value, unpacked_texts
from .replay import Moment

SCHEMA = 3
MARKER = "gradbg-recording.json"  # what makes a folder a recording; whoever writes into it has it locked
_GRAPH = "graph.npz"
_ABOUT = "about.json"
_SUBNORMALS = "keeps_subnormals"
_OWN = re.compile(r"(graph|run-\d{7,})\.npz(\.part-[0-9a-f]{8})?")


def is_recording(path: str) -> bool:
    """Whether a path is the folder of a recording."""
    return os.path.isfile(os.path.join(path, MARKER))


class Recorder:
    """Writes runs into a folder, new, empty, or a recording's. runs: written so far. replaced: what was there.

    Raises ArgumentError for a folder of anything else, for a recording unless is_replaced, and for one that another
    process writes; OSError if nothing can be written there.
    """

    def __init__(self, path: str, graph: Graph, about: Mapping[str, Any], handles: Mapping[str, Any], *,
                 is_replaced: bool = False) -> None:
        self.path, self.graph, self.runs, self.replaced = path, graph, 0, ""
        self._about, self._handles = about, handles
        self._version = (-1, -1)
        self._unlock: Callable[[], Any] | None = None
        self._kept: dict[str, tuple[Any, int]] = {}  # variable -> value last written, and the run it is with
        if os.path.lexists(path) and not is_recording(path) and (not os.path.isdir(path) or os.listdir(path)):
            raise ArgumentError(f"{path!r} exists and is no recording: name another one")
        if is_recording(path) and not is_replaced:
            raise ArgumentError(f"{path!r} is a recording already: {_held(path)}",
                                hint="name another one; record FILE --overwrite replaces it")
        is_new = not is_recording(path)
        made = not os.path.isdir(path)
        os.makedirs(path, exist_ok=True)
        try:
            self._unlock = weakref.finalize(self, _release, _locked(path))
            if is_replaced:
                self._clear()
            self._write_graph()
        except BaseException:
            self.close()
            with contextlib.suppress(OSError):
                if is_new:
                    os.remove(os.path.join(path, MARKER))
                if made:
                    os.rmdir(path)
            raise

    def close(self) -> None:
        """Let others write into the folder."""
        if self._unlock is not None:
            self._unlock()

    def _clear(self) -> None:
        """Remove what a recording before has left, and nothing else; the last run first, so that the rest is whole."""
        own = sorted(name for name in os.listdir(self.path) if _OWN.fullmatch(name))
        for name in own:
            if not name.endswith(".npz") or _is_ours(os.path.join(self.path, name)):
                continue
            raise ArgumentError(f"{os.path.join(self.path, name)!r} is not of a recording: move it away")
        if own:
            self.replaced = _held(self.path)
        for name in reversed(own):
            if name != _GRAPH:  # the new one takes its place
                os.remove(os.path.join(self.path, name))

    def write(self, moment: Moment, record: RunRecord, trained_before: int) -> None:
        """Add one run; the graph first, if it has grown. trained_before: training runs before it."""
        if version_of(self.graph) != self._version:
            self._write_graph()
        arrays, same, fresh = {}, {}, {}
        for name, value in moment.variables.items():
            kept = self._kept.get(name)
            if kept is not None and kept[0] is value:
                same[name] = kept[1]
            else:
                arrays[f"v:{name}"] = value
                fresh[name] = value, moment.run
        arrays.update({f"f:{t.name}": v for t, v in moment.feeds.items()})
        outcomes = {t.name: pack_value(v, f"o:{t.name}", arrays) for t, v in moment.outcomes.items()}
        texts = {key: packed_texts(arrays.pop(key)) for key, value in list(arrays.items())
                 if np.asarray(value).dtype == object}
        wanted = moment.wanted
        about = {"schema": SCHEMA, "run": moment.run, "trained_before": trained_before, "number": moment.number,
                 "entropy": moment.entropy, "draws": dict(moment.draws), "same": same, "texts": texts,
                 "outcomes": outcomes, "fetches": [] if wanted is None else [t.name for t in wanted.tensors],
                 "targets": [] if wanted is None else [op.name for op in wanted.targets],
                 "record": dataclasses.asdict(record)}
        self._save(f"run-{moment.run:07d}.npz", about, arrays)
        self._kept.update(fresh)  # only now: later runs refer to what is there
        self.runs += 1

    def _write_graph(self) -> None:
        encoder = Encoder()
        ops, calls = encoder.graph(self.graph), encoder.calls(self.graph)
        handles = {name: ts[0].name for name, value in self._handles.items()
                   if len(ts := [t for t in tensors_of(value) if t.graph is self.graph]) == 1}
        listed = [{"tensor": v.handle_tensor.name, "name": v.name,
                   "shape": v.shape.as_list() if v.shape.ndims is not None else None, "trainable": trainable,
                   "initializer": getattr(v.initializer, "name", "")} for v, trainable in variables_of(self.graph)]
        about = {"schema": SCHEMA, **self._about, _SUBNORMALS: self.graph.keeps_subnormals, "handles": handles,
                 "variables": listed, "ops": ops, "calls": calls}
        self._save(_GRAPH, about, encoder.arrays)
        self._version = version_of(self.graph)

    def _save(self, name: str, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        members = {**arrays, _ABOUT: np.frombuffer(json.dumps(about).encode(), np.uint8)}
        replace_file(os.path.join(self.path, name), lambda file: write_arrays(file, members))


def _locked(path: str) -> int:
    """The open marker of a folder, made if there is none. Raises ArgumentError if another process holds it."""
    number = os.open(os.path.join(path, MARKER), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.lockf(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.fstat(number).st_size:
            os.write(number, json.dumps({"made by": "gradbg record", "schema": SCHEMA}).encode() + b"\n")
    except BaseException as error:
        os.close(number)
        if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EAGAIN):
            raise ArgumentError(f"another gradbg is recording into {path!r}: name another one") from None
        raise
    return number


def _release(number: int) -> None:
    with contextlib.suppress(OSError):  # nothing was written
        os.close(number)


def _is_ours(file: str) -> bool:
    """Whether an archive in a recording's folder is a recording's; one that is damaged is."""
    try:
        with open_file(file) as opened, zipfile.ZipFile(opened) as archive:
            return f"{_ABOUT}.npy" in archive.namelist()
    except (zipfile.BadZipFile, ValueError):
        return True


def _held(path: str) -> str:
    """What a recording holds, in words."""
    sizes = {name: os.path.getsize(os.path.join(path, name)) for name in os.listdir(path) if _OWN.fullmatch(name)}
    runs = sorted(int(name[4:-4]) for name in sizes if re.fullmatch(r"run-\d+\.npz", name))
    shown = f"runs {runs[0]} to {runs[-1]}" if len(runs) > 1 else f"run {runs[0]}" if runs else "no runs"
    return f"{shown}, {sum(sizes.values())} bytes"


@dataclasses.dataclass(frozen=True, eq=False)
class Recording:
    """What was read: a graph, and moments and records of its runs, oldest first.

    trained_before: training runs before them.
    """

    graph: Graph
    handles: dict[str, Tensor]
    script: str
    y: str
    moments: tuple[Moment, ...]
    records: tuple[RunRecord, ...]
    trained_before: int


def read(path: str) -> Recording:
    """A recording. Raises ArgumentError if it is none; runs that cannot be read are left out with all after them."""
    if not is_recording(path):
        raise ArgumentError(f"{path!r} is no recording: expected a folder with {MARKER} in it")
    try:
        about, arrays = _load(os.path.join(path, _GRAPH))
        if about["schema"] != SCHEMA:
            raise ArgumentError(f"it has schema {about['schema']}, expected {SCHEMA}: record it anew")
        graph, decoder = Graph(), Decoder(arrays)
        graph.keeps_subnormals = bool(about.get(_SUBNORMALS))  # older recordings do not say
        decoder.graph(graph, about["ops"])
        graph.extras["calls"] = decoder.calls(graph, about["calls"])
        _declare(graph, about["variables"])
        handles = {name: graph.get_tensor_by_name(tensor) for name, tensor in about["handles"].items()}
        script, y = str(about["script"]), str(about["y"])
        names = sorted(name for name in os.listdir(path) if _OWN.fullmatch(name) and name.startswith("run-"))
    except Exception as error:  # whatever a damaged file leads to
        raise ArgumentError(f"cannot read the recording {path!r}: {_reason(error)}") from None
    moments: list[Moment] = []
    records = []
    trained = 0
    values: dict[tuple[str, int], Any] = {}
    for name in filter(lambda name: name.endswith(".npz"), names):
        try:
            about, arrays = _load(os.path.join(path, name))
            moment, record = _run(graph, about, arrays, values)
            trained = trained if moments else int(about["trained_before"])
        except Exception:  # as above: runs up to here are whole, and those that follow may need this one
            break
        moments.append(moment)
        records.append(record)
    return Recording(graph, handles, script, y, tuple(moments), tuple(records), trained)


def _reason(error: Exception) -> str:
    if isinstance(error, AutodiffError):
        return error.message
    return f"it is damaged: {type(error).__name__}: {error}" if not isinstance(error, OSError) else str(error.strerror)


def _load(place: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    arrays = read_arrays(place)
    return json.loads(arrays.pop(_ABOUT).tobytes().decode()), arrays


def _declare(graph: Graph, listed: list[dict[str, Any]]) -> None:
    """Variables as far as lists of them are concerned."""
    for entry in listed:
        tensor = graph.get_tensor_by_name(entry["tensor"])
        dtype = tensor.dtype if tensor.dtype.name != "resource" else tensor.op.attrs["dtype"]
        variable = SimpleNamespace(handle_tensor=tensor, op=tensor.op, name=str(entry["name"]), graph=graph,
                                   dtype=dtype, shape=TensorShape(entry["shape"]),
                                   initializer=graph.operations.get(entry["initializer"]))
        graph.add_to_collection("variables", variable)
        if entry["trainable"]:
            graph.add_to_collection("trainable_variables", variable)


def _run(graph: Graph, about: dict[str, Any], arrays: dict[str, np.ndarray],
         values: dict[tuple[str, int], Any]) -> tuple[Moment, RunRecord]:
    run = int(about["run"])
    arrays.update({key: unpacked_texts(item) for key, item in about["texts"].items()})
    variables = {name: values[name, at] for name, at in about["same"].items()}
    feeds = {}
    for key, array in arrays.items():
        kind, _, name = key.partition(":")
        if kind == "v":
            array.flags.writeable = False
            variables[name] = values[name, run] = array
        elif kind == "f":
            feeds[graph.get_tensor_by_name(name)] = array
    outcomes = {graph.get_tensor_by_name(name): unpack_value(item, arrays) for name, item in about["outcomes"].items()}
    elements = [graph.get_tensor_by_name(n) for n in about["fetches"]] + [graph.operations[n] for n in about["targets"]]
    draws = {name: int(count) for name, count in about["draws"].items()}
    moment = Moment(run, int(about["number"]), int(about["entropy"]), variables, feeds,
                    fetch.parse(graph, elements), outcomes, draws)
    return moment, _typed(RunRecord, about["record"])


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _typed(kind: Any, value: Any) -> Any:
    """JSON as what an annotation of a record says. Raises TypeError or AttributeError for anything else."""
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return kind(**{name: _typed(_hints(kind)[name], each) for name, each in value.items()})
    inside = get_args(kind)
    if get_origin(kind) is tuple and isinstance(value, list):
        return tuple(_typed(inside[0], each) for each in value)
    if type(None) in inside:
        return None if value is None else _typed(inside[0], value)
    if type(value) is not kind:
        raise TypeError(f"expected {kind}, found {value!r}")
    return value
