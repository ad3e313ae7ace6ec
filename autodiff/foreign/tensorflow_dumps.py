"""A dump of TensorFlow's debugger as a model: the graph that ran, fed what it was fed, with the variables' values then.

What the run computed is computed once more, so every tensor of it can be looked at, and differentiated.
"""
from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..api.messages import GraphDef, NodeDef
from ..api.saved_graphs.reading import import_graph_def
from ..core.errors import DataLossError
from ..core.graph import Tensor, get_default_graph
from ..files.debug_dump import DumpedTensor, read_dump
from .model import Restore

# What stands for a tensor that was fed: `_arg_x_0_0` (slot and place) or `_recv_x_0` (slot) for x:0.
_FED = re.compile(r"^(?:_arg_(?P<arg>.+)_\d+_\d+|_recv_(?P<recv>.+)_\d+)$")
_LEFT_OUT = frozenset(("_Retval", "_Send", "_HostSend"))


def dumped_run(folder: str) -> tuple[dict[str, Tensor], list[Tensor], Restore | None, dict[Tensor, np.ndarray]]:
    """(inputs, outputs, what restores the variables, feeds) of a dump, whose graph goes to the graph at hand."""
    dump = read_dump(folder)
    if not dump.graphs:
        raise DataLossError(f"{folder}: a dump without a graph")
    import_graph_def(_whole(dump.graphs.values()), name="")
    graph = get_default_graph()
    values = {tensor.name: tensor for tensor in dump.tensors}
    dumped_as = {_plain(tensor.node_name): tensor for tensor in dump.tensors}
    feeds = {op.outputs[0]: _read(dumped_as[op.name]) for op in graph.get_operations()
             if op.type == "Placeholder" and op.name in dumped_as}
    asked = [name for name in dump.metadata.get("output_names", ()) if name.partition(":")[0] in graph.operations]
    inputs = {tensor.op.name: tensor for tensor in feeds}
    return inputs, [graph.get_tensor_by_name(name) for name in asked], _restore(values), feeds


def _plain(name: str) -> str:
    """`_arg_x_0_0` -> x; other names stay."""
    found = _FED.match(name)
    return name if found is None else found.group("arg") or found.group("recv")


def _whole(graphs: Any) -> Any:
    """The parts that ran on each device as one graph, with placeholders for what was fed."""
    made, names = GraphDef(), {}
    for part in graphs:
        made.library.MergeFrom(part.library)
        made.versions.CopyFrom(part.versions)
        for node in part.node:
            plain = _plain(node.name)
            if plain != node.name and node.op in ("_Arg", "_Recv", "_HostRecv"):
                names[node.name] = plain
                fed = NodeDef(name=plain, op="Placeholder")
                fed.attr["dtype"].CopyFrom(node.attr["T" if "T" in node.attr else "tensor_type"])
                made.node.extend_raw([fed])
            elif node.op not in _LEFT_OUT:
                made.node.append(node)
    for node in made.node:
        inputs = [names.get(text, text) for text in node.input]
        node.ClearField("input")
        node.input.extend(inputs)
        node.device = ""
    return made


def _read(dumped: DumpedTensor) -> np.ndarray:
    found = dumped.read()
    if found is None:
        raise DataLossError(f"{dumped.path}: a tensor without a value")
    return found


def _restore(values: dict[str, DumpedTensor]) -> Restore:
    """Gives the variables the values that were dumped: of the reference, or of what read the resource."""
    def restore(session: Any) -> None:
        for op in session.graph.get_operations():
            if op.type == "VariableV2" and f"{op.name}:0" in values:
                session.variables[op.name] = _read(values[f"{op.name}:0"])
            elif f"{op.name}:0" in values and (op.type == "ReadVariableOp" or op.type == "Identity"
                                               and op.inputs[0].op.type == "VariableV2"):  # of a reference
                session.variables.setdefault(op.inputs[0].op.name, _read(values[f"{op.name}:0"]))

    return restore
