"""Work for another process or thread: a part of a graph with what it needs of a run, as bytes that are no code.

They are written as recordings are: JSON and plain arrays, nothing pickled. What a pack gives is what the graph itself
gives, to the bit, as the same session runs the same operations there.
"""
from __future__ import annotations

import hashlib
import io
import json
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import StateError
from ...core.graph import Graph, Operation, Tensor
from ...core.traversal import dependencies, in_order
from ...files.disk.arrays import arrays_in, write_arrays
from ..facts.function_calls import InnerOps
from ..facts.roles import VARIABLES, at_line, place_of
from .graph_json import Decoder, Encoder, holds_python, pack_value, packed_texts, unpack_value, unpacked_texts
from .replay import Moment, Replayer

_ABOUT = "about.json"
_local = threading.local()  # opened: the newest pack of each thread, as one is asked again and again


class HoldsPythonError(StateError):
    """Work that cannot be sent: there is Python code in it. names: of the operations that hold it."""

    def __init__(self, ops: Sequence[Operation]) -> None:
        self.names = named(ops)
        super().__init__(f"{', '.join(self.names)} holds Python code, which cannot be sent to workers")


def named(ops: Sequence[Operation]) -> tuple[str, ...]:
    """Operations with their lines, in words."""
    return tuple(f"{op.name} ({op.type}){at_line(place_of(op))}" for op in ops)


class Pack(NamedTuple):
    """key: tells packs apart. data: an archive of arrays (.npz) with JSON that says what they are."""

    key: str
    data: bytes


class Opened:
    """What a pack was made of: the part of the graph, and the moment. values: of its tensors, computed there."""

    def __init__(self, pack: Pack) -> None:
        arrays = arrays_in(io.BytesIO(pack.data), len(pack.data))
        about = json.loads(arrays.pop(_ABOUT).tobytes())
        arrays.update({key: unpacked_texts(item) for key, item in about["texts"].items()})
        self.graph = Graph()
        self.graph.keeps_subnormals = about["keeps_subnormals"]
        Decoder(arrays).graph(self.graph, about["ops"])
        for array in arrays.values():
            array.flags.writeable = False
        feeds = {self.tensor(name): unpack_value(item, arrays) for name, item in about["feeds"].items()}
        variables = {name: arrays[key] for name, key in about["variables"].items()}
        self.moment = Moment(0, about["number"], about["entropy"], variables, feeds, draws=about["draws"])
        self._replayer = Replayer(self.graph, InnerOps(self.graph))

    def tensor(self, name: str) -> Tensor:
        """A tensor by its name."""
        return self.graph.get_tensor_by_name(name)

    def values(self, tensors: Sequence[Tensor], feeds: dict[Tensor, Any]) -> list[Any]:
        """Replayer.values."""
        return self._replayer.values(self.moment, tensors, feeds)


def pack(moment: Moment, wanted: Sequence[Tensor], fed: Sequence[Tensor] = ()) -> Pack:
    """What gives `wanted` in that run, wherever it is opened. fed: tensors that are given values there.

    Raises HoldsPythonError if an operation holds code of Python's.
    """
    known = {**moment.outcomes, **moment.feeds, **dict.fromkeys(fed)}
    return pack_ops(moment, dependencies(wanted, known=known), fed)


def pack_ops(moment: Moment, ops: Collection[Operation], fed: Sequence[Tensor] = ()) -> Pack:
    """The same of these operations: what else goes into them has a value in the moment, or is `fed`."""
    known = {**moment.outcomes, **moment.feeds, **dict.fromkeys(fed)}
    used = dict.fromkeys(t for op in in_order(ops) for t in op.inputs if t in known)
    given = {t.op for t in (*used, *fed)}.difference(ops)
    encoder = Encoder()
    listed = encoder.part({*ops, *given}, given)
    here = {entry["name"] for entry in listed if entry["type"] == "PyFunc" or holds_python(entry["attrs"])}
    if here:
        raise HoldsPythonError([op for op in in_order(ops) if op.name in here])
    arrays = encoder.arrays
    feeds = {t.name: pack_value(known[t], f"f:{t.name}", arrays) for t in used if t not in fed}
    variables = {op.name: f"v:{op.name}" for op in ops if op.type in VARIABLES and op.name in moment.variables}
    arrays.update({key: np.asarray(moment.variables[name]) for name, key in variables.items()})
    texts = {key: packed_texts(arrays.pop(key)) for key, value in list(arrays.items()) if value.dtype == object}
    about: Mapping[str, Any] = {
        "ops": listed, "feeds": feeds, "variables": variables, "texts": texts, "number": moment.number,
        "entropy": moment.entropy, "draws": dict(moment.draws),
        "keeps_subnormals": any(op.graph.keeps_subnormals for op in ops)}
    file = io.BytesIO()
    write_arrays(file, {**arrays, _ABOUT: np.frombuffer(json.dumps(about).encode(), np.uint8)})
    data = file.getvalue()
    return Pack(hashlib.sha256(data).hexdigest(), data)


def opened(pack: Pack) -> Opened:
    """A pack, opened for this thread alone."""
    if getattr(_local, "key", "") != pack.key:
        _local.found, _local.key = Opened(pack), pack.key
    return _local.found
