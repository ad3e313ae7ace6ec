"""TensorFlow's files as models: GraphDefs, MetaGraphDefs with their checkpoint, SavedModels, dumps of its debugger."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..api.messages import GraphDef, MetaGraphDef, SavedModel
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
from ..files.debug_dump import run_folders
from ..files.disk.arrays import read_arrays
from .model import Model, Restore
from .tensorflow_dumps import dumped_run

_PLACEHOLDERS = frozenset(("Placeholder", "PlaceholderWithDefault", "PlaceholderV2"))
_NO_RESULTS = frozenset(("Const", "VariableV2", "VarHandleOp", "Assign", "NoOp", "ReadVariableOp", "SaveV2",
                         "VarIsInitializedOp", "IsVariableInitialized"))
_MOST_OUTPUTS = 12


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
