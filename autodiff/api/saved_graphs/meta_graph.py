"""MetaGraphDefs: a graph with its collections and its Saver, to a file and back."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.collections import GraphKeys
from ...core.errors import ArgumentError, AutodiffError, DataLossError, UnknownNameError, shown_as
from ...core.graph import Graph, Operation, Tensor, get_default_graph
from ...files.disk.reading import read_file
from ...files.disk.replacing import replace_file
from ...files.graph_messages import GRAPH_MESSAGES
from ...files.meta_graph_messages import META_GRAPH_MESSAGES
from ...files.protobuf_text import parse_message
from ..logging import warning
from ..variables.variable import Variable
from ..variables.variable_protos import VariableDef, variable_def_of, variable_of_def
from .attributes import plain_node
from .op_defs import strip_default_attributes, stripped_op_list_for_graph
from .reading import import_graph_def

MetaGraphDef = META_GRAPH_MESSAGES["MetaGraphDef"]

_VARIABLES = frozenset((
    GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.MODEL_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES, GraphKeys.GLOBAL_STEP, GraphKeys.EVAL_STEP,
    GraphKeys.METRIC_VARIABLES, "concatenated_variables"))
# Collection -> (class of messages, object -> message, message -> object): what libraries note for theirs.
PROTO_FUNCTIONS: dict[str, tuple[Any, Any, Any]] = {}
_TENSORFLOW = "1.15.5"  # whose format this is


@shown_as("OSError")
class MissingFileError(AutodiffError, OSError):
    """A file that is not there; an OSError, as TensorFlow's importer raises."""


def meta_graph_of(graph: Graph, saved: Mapping[str, list[Variable]] | None = None, *, tags: Iterable[str] = (),
                  collection_list: Iterable[Any] | None = None, export_scope: str = "") -> Any:
    """The MetaGraphDef of a graph. saved: the variables of its Saver, by name in the checkpoint; None for no Saver.

    export_scope: of collections, what is named below it alone, without it.
    """
    made = MetaGraphDef(meta_info_def={"tensorflow_version": _TENSORFLOW, "tags": list(tags)},
                        graph_def=graph.as_graph_def(add_shapes=True))
    if saved:
        nodes, saver_def = saver_nodes(saved, set(graph.operations))
        made.graph_def.node.extend_raw(nodes)
        made.saver_def.CopyFrom(saver_def)
    for key in graph.collections if collection_list is None else collection_list:
        if isinstance(key, str):
            _write_collection(made, key, graph.get_collection(key), export_scope)
    return made


def complete(made: Any, *, clear_devices: bool, strip_default_attrs: bool) -> None:
    """Say in a MetaGraphDef what its graph needs, without devices and without attributes as every op has them."""
    if clear_devices:
        for node in made.graph_def.node:
            node.device = ""
    if strip_default_attrs:
        strip_default_attributes(made.graph_def)
        made.meta_info_def.stripped_default_attrs = True
    made.meta_info_def.tensorflow_git_version = "unknown"
    made.meta_info_def.stripped_op_list.CopyFrom(stripped_op_list_for_graph(made.graph_def))


def _write_collection(made: Any, key: str, items: list[Any], scope: str) -> None:
    """One collection, unless it holds what a file cannot."""
    prefix = f"{scope}/" if scope else ""
    if scope and all(hasattr(item, "name") for item in items):
        items = [item for item in items if item.name.startswith(prefix)]
    if key in PROTO_FUNCTIONS and PROTO_FUNCTIONS[key][1] is not None:
        messages = (PROTO_FUNCTIONS[key][1](item, export_scope=scope or None) for item in items)
        made.collection_def[key].bytes_list.value.extend(m.SerializeToString() for m in messages if m is not None)
    elif items and key in _VARIABLES and all(isinstance(item, Variable) for item in items):
        made.collection_def[key].bytes_list.value.extend(variable_def_of(v, scope).SerializeToString() for v in items)
    elif items and all(isinstance(item, (Tensor, Operation, Variable)) for item in items):
        made.collection_def[key].node_list.value.extend(item.name.removeprefix(prefix) for item in items)
    elif items and all(isinstance(item, (str, bytes)) for item in items):
        made.collection_def[key].bytes_list.value.extend(
            item if isinstance(item, bytes) else item.encode() for item in items)
    elif items and all(type(item) is int for item in items):
        made.collection_def[key].int64_list.value.extend(items)
    elif items and all(isinstance(item, (int, float)) for item in items):
        made.collection_def[key].float_list.value.extend(items)


def write_message(message: Any, path: str, *, as_text: bool) -> None:
    """A message to a file, whole or not at all."""
    data = str(message).encode() if as_text else message.SerializeToString()
    replace_file(path, lambda file: file.write(data))


def read_message_file(path: Any, kind: Any) -> Any:
    """A message of a file, binary or text. Raises MissingFileError (OSError), DataLossError for another format."""
    path = os.fspath(path)
    try:
        data = read_file(path)
    except OSError as error:
        raise MissingFileError(f"File {path} does not exist.\n{error.strerror}") from None
    try:
        return kind.FromString(data)
    except DataLossError as error:
        refusal = error
    try:
        return parse_message(data.decode(), kind(), f"{path}: text format")
    except (UnicodeDecodeError, DataLossError) as error:
        is_text = isinstance(error, DataLossError) and not any(byte < 9 for byte in data[:1000])
        seen = f"\nas text: {error}" if is_text else ""
        raise DataLossError(f"{path}: neither {kind.__name__} in binary nor in text\n"
                            f"in binary: {refusal}{seen}") from None


def import_meta_graph(meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None,
                      wanted: Callable[[str], bool] = lambda key: True, **options: Any) -> tuple[Any, str | None]:
    """Add a MetaGraphDef's operations and collections to the graph at hand; gives it, and the scope it is below.

    wanted: whether a collection is to be added.
    """
    meta = meta_graph_or_file
    if not isinstance(meta, MetaGraphDef):
        meta = read_message_file(meta_graph_or_file, MetaGraphDef)
        if not meta.graph_def.node:
            raise DataLossError(f"{os.fspath(meta_graph_or_file)}: expected a MetaGraphDef, found one without a graph")
    graph = get_default_graph()
    if clear_devices:
        for node in meta.graph_def.node:
            node.device = ""
    scope = graph.unique_name(import_scope, mark_as_used=False) if import_scope else graph.scope or None
    import_graph_def(meta.graph_def, name=import_scope or (f"{scope}/" if scope else ""), **options)
    variables: dict[bytes, Variable] = {}
    for key, collection in sorted(meta.collection_def.items()):
        for item in _read_collection(graph, key, collection, scope, variables) if wanted(key) else ():
            graph.add_to_collection(key, item)
    return meta, scope


def _read_collection(graph: Graph, key: str, collection: Any, scope: str | None,
                     variables: dict[bytes, Variable]) -> list[Any]:
    kind = collection.WhichOneof("kind")
    if kind is None or kind == "any_list" or key in (GraphKeys.COND_CONTEXT, GraphKeys.WHILE_CONTEXT):
        return []
    items = getattr(collection, kind).value
    try:
        if kind == "node_list":
            return [graph.as_graph_element(f"{scope}/{name}" if scope else name) for name in items]
        if kind == "bytes_list" and key in PROTO_FUNCTIONS and PROTO_FUNCTIONS[key][2] is not None:
            message, _, made = PROTO_FUNCTIONS[key]
            return [made(message.FromString(data), import_scope=scope) for data in items]
        if kind == "bytes_list" and key in _VARIABLES:
            for data in items:
                if data not in variables:
                    variables[data] = variable_of_def(VariableDef.FromString(data), scope, graph)
            return [variables[data] for data in items]
    except (UnknownNameError, ArgumentError, DataLossError) as error:
        warning("the collection %s is left out: %s", key, error.message.partition("\n")[0])
        return []
    return list(items)


NodeDef, SaverDef = GRAPH_MESSAGES["NodeDef"], META_GRAPH_MESSAGES["SaverDef"]


def saver_nodes(variables: Mapping[str, Sequence[Any]], taken: set[str]) -> tuple[list[Any], Any]:
    """NodeDefs and SaverDef. variables: by name in the checkpoint, several ones for parts. taken: names of nodes."""
    scope = next(name for i in range(len(taken) + 1) if f"{(name := f'save_{i}' if i else 'save')}/Const" not in taken)
    rows = [(name, _slices(variable), variable) for name, found in variables.items() for variable in found]
    types = [variable.dtype.base_dtype for _, _, variable in rows]
    prefix = f"{scope}/Const"
    nodes = [_constant(f"{scope}/filename", [], b"model"),
             plain_node(prefix, "PlaceholderWithDefault", [f"{scope}/filename"], dtype=("type", "string"),
                   shape=("shape", ()))]
    columns = []
    for step in ("SaveV2", "RestoreV2"):
        columns = [f"{scope}/{step}/tensor_names", f"{scope}/{step}/shape_and_slices"]
        nodes += [_constant(columns[0], [len(rows)], *(name.encode() for name, _, _ in rows)),
                  _constant(columns[1], [len(rows)], *(slices.encode() for _, slices, _ in rows))]
        sources = [(v._snapshot if v.is_resource else v.handle_tensor).name.removesuffix(":0") for _, _, v in rows]
        nodes.append(plain_node(f"{scope}/{step}", step, [prefix, *columns, *(sources if step == "SaveV2" else ())],
                                dtypes=("list(type)", types)))
    nodes.append(plain_node(f"{scope}/control_dependency", "Identity", [prefix, f"^{scope}/SaveV2"],
                            T=("type", "string")))
    assigned = []
    for i, (_, _, variable) in enumerate(rows):
        source = f"{scope}/RestoreV2:{i}" if i else f"{scope}/RestoreV2"
        nodes.append(_assign(f"{scope}/Assign_{i}", variable, source))
        assigned.append(f"^{scope}/Assign_{i}")
    nodes.append(plain_node(f"{scope}/restore_all", "NoOp", assigned))
    return nodes, SaverDef(filename_tensor_name=f"{prefix}:0", save_tensor_name=f"{scope}/control_dependency:0",
                           restore_op_name=f"{scope}/restore_all", version="V2")


def _slices(variable: Any) -> str:
    """`7 2 0,3:0,2` for a part, empty for a whole variable."""
    info = getattr(variable, "_save_slice_info", None)
    if info is None:
        return ""
    extents = ":".join(f"{begin},{length}" for begin, length in zip(info.var_offset, info.var_shape))
    return f"{' '.join(map(str, info.full_shape))} {extents}"


def _constant(name: str, shape: Sequence[int], *texts: bytes) -> Any:
    array = np.array(texts, object).reshape(shape)
    return plain_node(name, "Const", [], dtype=("type", "string"), value=("tensor", array))


def _assign(name: str, variable: Any, source: str) -> Any:
    target, dtype = variable.handle_tensor.name.removesuffix(":0"), variable.dtype.base_dtype
    if variable.is_resource:
        return plain_node(name, "AssignVariableOp", [target, source], dtype=("type", dtype))
    return plain_node(name, "Assign", [target, source], T=("type", dtype), use_locking=("bool", True),
                 validate_shape=("bool", True))
