"""MetaGraphDefs of a part of a graph: what stands below a name scope, to be put below another one."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...core.collections import GraphKeys
from ...core.errors import ArgumentError
from ...core.graph import Graph, get_default_graph
from ...files.graph_messages import GRAPH_MESSAGES
from ..variables.variable import Variable
from .meta_graph import MetaGraphDef, complete, import_meta_graph, meta_graph_of, read_message_file, write_message

_UNBOUND = "$unbound_inputs_"  # before the names of inputs from outside of the part


def export_scoped_meta_graph(filename: str | None = None, graph_def: Any = None, graph: Graph | None = None,
                             export_scope: str | None = None, as_text: bool = False,
                             unbound_inputs_col_name: str | None = "unbound_inputs", clear_devices: bool = False,
                             saver_def: Any = None, clear_extraneous_savers: bool = False,
                             strip_default_attrs: bool = False, save_debug_info: bool = False,
                             collection_list: Any = None, **_: Any) -> tuple[Any, dict[str, Variable]]:
    """A MetaGraphDef of what stands below export_scope, or of all; and its variables, by their names without the scope.

    Inputs from outside are named in the collection unbound_inputs_col_name. It is written to a file if one is named.
    """
    graph = graph or get_default_graph()
    scope = (export_scope or "").rstrip("/")
    made = meta_graph_of(graph, collection_list=collection_list, export_scope=scope)
    if graph_def is not None:
        made.graph_def.CopyFrom(graph_def)
    if scope:
        whole = GRAPH_MESSAGES["GraphDef"]()
        whole.CopyFrom(made.graph_def)
        made.graph_def.ClearField("node")
        unbound: dict[str, None] = {}
        made.graph_def.node.extend(_below(node, scope, unbound) for node in whole.node
                                   if node.name.startswith(f"{scope}/"))
        if unbound and unbound_inputs_col_name:
            made.collection_def[unbound_inputs_col_name].bytes_list.value.extend(name.encode() for name in unbound)
    complete(made, clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
    if saver_def is not None:
        made.saver_def.CopyFrom(saver_def)
    if filename is not None:
        write_message(made, filename, as_text=as_text)
    keys = graph.collections if collection_list is None else collection_list
    return made, _variables(graph, scope) if GraphKeys.GLOBAL_VARIABLES in keys else {}


def create_meta_graph_def(meta_info_def: Any = None, graph_def: Any = None, saver_def: Any = None,
                          collection_list: Any = None, graph: Graph | None = None, export_scope: str | None = None,
                          strip_default_attrs: bool = False, **options: Any) -> Any:
    """The MetaGraphDef that export_scoped_meta_graph makes, with more facts. meta_info_def: these."""
    made = export_scoped_meta_graph(None, graph_def, graph, export_scope, saver_def=saver_def,
                                    collection_list=collection_list, strip_default_attrs=strip_default_attrs)[0]
    if meta_info_def is not None:
        made.meta_info_def.MergeFrom(meta_info_def)
    return made


def _variables(graph: Graph, scope: str) -> dict[str, Variable]:
    prefix = f"{scope}/" if scope else ""
    return {each.name.removeprefix(prefix): each for each in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
            if isinstance(each, Variable) and each.name.startswith(prefix)}


def _below(node: Any, scope: str, unbound: dict[str, None]) -> Any:
    """A node with names as they are within the scope. unbound: takes the names of inputs from outside."""
    made, prefix = type(node)(), f"{scope}/"
    made.CopyFrom(node)
    made.name = node.name.removeprefix(prefix)
    made.ClearField("input")
    for text in node.input:
        mark = "^" if text.startswith("^") else ""
        name = text.removeprefix("^")
        if not name.startswith(prefix):
            unbound[f"{mark}{_UNBOUND}{name}"] = None
        made.input.append(mark + (name.removeprefix(prefix) if name.startswith(prefix) else _UNBOUND + name))
    if "_class" in made.attr:
        groups = [text.removeprefix(b"loc:@") for text in node.attr["_class"].list.s]
        made.attr["_class"].list.ClearField("s")
        made.attr["_class"].list.s.extend(b"loc:@" + name.removeprefix(prefix.encode()) for name in groups
                                          if name.startswith(prefix.encode()))
    if "frame_name" in made.attr:
        made.attr["frame_name"].s = node.attr["frame_name"].s.removeprefix(prefix.encode())
    return made


def copy_scoped_meta_graph(from_scope: str, to_scope: str, from_graph: Graph | None = None,
                           to_graph: Graph | None = None) -> dict[str, Variable]:
    """Copy what stands below a name scope; gives its variables. Raises ArgumentError for one scope of one graph."""
    from_graph, to_graph = from_graph or get_default_graph(), to_graph or get_default_graph()
    if from_graph is to_graph and from_scope == to_scope:
        raise ArgumentError("'from_scope' and 'to_scope' need to be different when performing copy in the same graph.")
    made = export_scoped_meta_graph(export_scope=from_scope, graph=from_graph)[0]
    return import_scoped_meta_graph(made, graph=to_graph, import_scope=to_scope)


def import_scoped_meta_graph(meta_graph_or_file: Any, clear_devices: bool = False, graph: Graph | None = None,
                             import_scope: str | None = None, input_map: Mapping[str, Any] | None = None,
                             unbound_inputs_col_name: str | None = "unbound_inputs",
                             restore_collections_predicate: Callable[[str], bool] = lambda key: True,
                             ) -> dict[str, Variable]:
    """Add a MetaGraphDef's operations and collections below import_scope; gives its variables, by their names there.

    input_map: tensors for the inputs that were outside. Raises ArgumentError (ValueError) if one is missing.
    """
    meta = meta_graph_or_file
    if not isinstance(meta, MetaGraphDef):
        meta = read_message_file(meta_graph_or_file, MetaGraphDef)
    if unbound_inputs_col_name in meta.collection_def:
        names = [name.decode() for name in meta.collection_def[unbound_inputs_col_name].bytes_list.value]
        missing = sorted(name for name in names if name not in (input_map or {}))
        if missing:
            raise ArgumentError(f"Graph contains unbound inputs: {','.join(missing)}. Must provide these inputs "
                                "through input_map.")
    graph = graph or get_default_graph()
    with graph.as_default():
        _, scope = import_meta_graph(meta, clear_devices, import_scope, input_map=input_map,
                                     wanted=lambda key: key != unbound_inputs_col_name
                                     and restore_collections_predicate(key))
    return _variables(graph, scope or "")
