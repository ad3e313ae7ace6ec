"""TensorFlow's files as models: GraphDefs, MetaGraphDefs with their checkpoint, SavedModels, dumps of its debugger."""
from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..api.messages import GraphDef, MetaGraphDef, NodeDef, SavedModel
from ..api.saved_graphs.meta_graph import read_message_file
from ..api.saved_graphs.reading import import_graph_def
from ..api.saved_model import constants
from ..api.saved_model.loader import maybe_saved_model_directory, read_saved_model
from ..api.saved_model.utils import get_tensor_from_tensor_info
from ..api.train.checkpoint_state import latest_checkpoint
from ..api.train.checkpoints import CheckpointReader
from ..api.train.saver import import_meta_graph
from ..core.collections import OUTPUTS, GraphKeys
from ..core.errors import ArgumentError, DataLossError
from ..core.graph import Graph, Tensor, get_default_graph
from ..files.checkpoints import checkpoint_exists
from ..files.debug_dump import DumpedTensor, read_dump, run_folders
from ..files.disk.arrays import read_arrays
from .model import Model, Restore

_PLACEHOLDERS = frozenset(("Placeholder", "PlaceholderWithDefault", "PlaceholderV2"))
_NO_RESULTS = frozenset(("Const", "VariableV2", "VarHandleOp", "Assign", "NoOp", "ReadVariableOp", "SaveV2",
                         "VarIsInitializedOp", "IsVariableInitialized"))
_MOST_OUTPUTS = 12
_FED = re.compile(r"^(?:_arg_(?P<arg>.+)_\d+_\d+|_recv_(?P<recv>.+)_\d+)$")
_LEFT_OUT = frozenset(("_Retval", "_Send", "_HostSend"))


def is_tensorflow_model(path: str) -> bool:
    """Whether a path is that of a graph or model of TensorFlow's, by its name; a directory by what is in it."""
    by_name = path.lower().endswith((".pb", ".pbtxt", ".meta"))
    return by_name or os.path.isdir(path) and (maybe_saved_model_directory(path) or bool(run_folders(path)))


def from_tensorflow(path: str) -> Model:
    """The graph of a file or of a SavedModel's directory, with what gives its variables their values.

    Inputs are fed from an .npz file of its name beside it, if there is one. Raises DataLossError for a damaged file.
    """
    path = os.path.expanduser(path)
    folder, name = os.path.split(path)
    if name in (constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT):
        path = folder or "."
    with Graph().as_default() as graph:
        feeds: dict[Tensor, np.ndarray] = {}
        if os.path.isdir(path) and run_folders(path):
            inputs, outputs, restore, feeds = dumped_run(run_folders(path)[-1])
        elif os.path.isdir(path):
            inputs, outputs, restore = _saved_model(path)
        elif path.lower().endswith(".meta"):
            inputs, outputs, restore = _meta_graph(path)
        else:
            inputs, outputs, restore = _graph_def(path)
        variables = {v.op.name: v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)}
    inputs = inputs or {op.name: op.outputs[0] for op in graph.get_operations() if op.type in _PLACEHOLDERS
                        and not op.name.startswith("save")}
    outputs = outputs or _results(graph)
    for tensor in outputs:
        graph.add_to_collection(OUTPUTS, tensor)
    return Model(graph, inputs, outputs, variables, feeds or _feeds_beside(path, graph), _losses(graph), restore)


def _saved_model(path: str) -> tuple[dict[str, Tensor], list[Tensor], Restore | None]:
    """The graph for serving, or else the first; the inputs and outputs of all its signatures."""
    model = read_saved_model(path)
    if not model.meta_graphs:
        raise DataLossError(f"{path}: a SavedModel without a graph")
    meta = next((m for m in model.meta_graphs if "serve" in m.meta_info_def.tags), model.meta_graphs[0])
    saver = import_meta_graph(meta)
    prefix = os.path.join(path, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
    restore = None if saver is None or not checkpoint_exists(prefix) else lambda session: saver.restore(session, prefix)
    inputs, outputs = {}, {}
    for signature in meta.signature_def.values():
        inputs.update(_named(signature.inputs))
        outputs.update(_named(signature.outputs))
    return {t.op.name: t for t in inputs.values()}, list(outputs.values()), restore


def _named(infos: Mapping[str, Any]) -> dict[str, Tensor]:
    return {info.name: get_tensor_from_tensor_info(info) for info in infos.values() if info.name}


def _meta_graph(path: str) -> tuple[dict[str, Tensor], list[Tensor], Restore | None]:
    """The graph, and the checkpoint that has its name."""
    saver, prefix = import_meta_graph(path), path.removesuffix(".meta")
    if saver is None or not checkpoint_exists(prefix):
        return {}, [], None
    return {}, [], lambda session: saver.restore(session, prefix)


def _graph_def(path: str) -> tuple[dict[str, Tensor], list[Tensor], Restore | None]:
    """A GraphDef; also what holds one, whatever its file is called."""
    message = None
    for kind in (GraphDef, MetaGraphDef, SavedModel):
        try:
            message = read_message_file(path, kind)
        except DataLossError:
            if message is None and kind is SavedModel:
                read_message_file(path, GraphDef)  # which says what is wrong with it
            continue
        if kind is GraphDef and message.node and all(node.op for node in message.node):
            import_graph_def(message, name="")
            return {}, [], _values_of(get_default_graph(), os.path.dirname(path) or ".")
        if kind is MetaGraphDef and message.graph_def.node:
            import_meta_graph(message)
            return {}, [], None
    raise DataLossError(f"{path}: expected a GraphDef, found a file without a graph")


def _values_of(graph: Graph, folder: str) -> Restore | None:
    """What gives the variables of a bare graph values: the directory's latest checkpoint, else their initializers."""
    names = [op.name for op in graph.get_operations() if op.type in ("VariableV2", "VarHandleOp")]
    path = latest_checkpoint(folder)
    if not names:
        return None

    def restore(session: Any) -> None:
        reader = None if path is None else CheckpointReader(path)
        for name in names:
            if reader is not None and reader.has_tensor(name):
                session.variables[name] = reader.array(name)
            elif f"{name}/Assign" in graph.operations:
                session.run(graph.operations[f"{name}/Assign"])

    return restore


def _results(graph: Graph) -> list[Tensor]:
    """Tensors that nobody takes and that nothing changes: floats if there are any, the last ones first."""
    leaves = [t for op in graph.get_operations() if op.type not in _NO_RESULTS and not op.definition.takes_run
              for t in op.outputs if not t.consumers() and not t.dtype.is_ref and t.dtype.kind in "fciub"]
    leaves = [t for t in leaves if not t.op.name.startswith(("save", "gradients"))] or leaves
    floats = [t for t in leaves if t.dtype.is_floating]
    if not leaves:
        raise ArgumentError("the graph has no tensor to look at", found=f"{len(graph.operations)} operations")
    return (floats or leaves)[::-1][:_MOST_OUTPUTS]


def _losses(graph: Graph) -> dict[str, Tensor]:
    """The tensor that is called `loss`, in whatever scope; the last of several."""
    found = [op.outputs[0] for op in graph.get_operations() if op.outputs and op.outputs[0].dims == ()
             and op.name.rpartition("/")[2] in ("loss", "total_loss", "cost") and not op.name.startswith("gradients")]
    return {"loss": found[-1]} if found else {}


def _feeds_beside(path: str, graph: Graph) -> dict[Tensor, np.ndarray]:
    """What an .npz file beside the model holds for its tensors."""
    beside = os.path.splitext(path.rstrip("/"))[0] + ".npz"
    if not os.path.isfile(beside):
        return {}
    return {graph.operations[name].outputs[0]: array for name, array in _known(read_arrays(beside), graph)}


def _known(arrays: Mapping[str, np.ndarray], graph: Graph) -> Iterable[tuple[str, np.ndarray]]:
    for name, array in arrays.items():
        name = name.removesuffix(":0")
        if name in graph.operations and graph.operations[name].type in _PLACEHOLDERS:
            yield name, array


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
