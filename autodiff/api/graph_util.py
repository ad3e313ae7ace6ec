"""tf.graph_util: GraphDefs cut down to what some nodes need, with constants in place of variables."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core.errors import ArgumentError, KindError
from ..core.traversal import reached
from .common.unsupported import refusing
from .messages import GraphDef, NodeDef
from .saved_graphs.attributes import attr_of
from .saved_graphs.layout import split_name

__all__ = ["convert_variables_to_constants", "extract_sub_graph", "remove_training_nodes"]

_VARIABLES = frozenset(("Variable", "VariableV2", "VarHandleOp"))


def extract_sub_graph(graph_def: Any, dest_nodes: Sequence[str]) -> Any:
    """The nodes that some nodes need, in their order. Raises KindError (TypeError), ArgumentError (unknown names)."""
    if not isinstance(graph_def, GraphDef):
        raise KindError("graph_def must be a graph_pb2.GraphDef proto.", found=type(graph_def).__name__)
    if isinstance(dest_nodes, str):
        raise KindError("dest_nodes must be a list.", found=repr(dest_nodes))
    nodes = {node.name: node for node in graph_def.node}
    for name in dest_nodes:
        if name not in nodes:
            raise ArgumentError(f"{name} is not in graph", hint="give names of nodes, without `:0`")
    needed = reached(dest_nodes, lambda name: [split_name(text)[0] for text in nodes[name].input] if name in nodes
                     else [])
    made = _like(graph_def)
    made.node.extend(node for node in graph_def.node if node.name in needed)
    return made


def _like(graph_def: Any) -> Any:
    """A GraphDef without nodes that has another's functions and versions."""
    made = GraphDef()
    made.library.CopyFrom(graph_def.library)
    made.versions.CopyFrom(graph_def.versions)
    return made


def convert_variables_to_constants(sess: Any, input_graph_def: Any, output_node_names: Sequence[str],
                                   variable_names_whitelist: Iterable[str] | None = None,
                                   variable_names_blacklist: Iterable[str] | None = None) -> Any:
    """A frozen graph: what some nodes need, with the values that a session holds in place of variables.

    variable_names_*: only variables of these names, or none of them. Raises FailedPreconditionError for a variable
    without a value.
    """
    found = extract_sub_graph(input_graph_def, output_node_names)
    names = [node.name for node in found.node if node.op in _VARIABLES
             and (variable_names_whitelist is None or node.name in set(variable_names_whitelist))
             and node.name not in set(variable_names_blacklist or ())]
    handles = {node.name for node in found.node if node.op == "VarHandleOp"}
    values = dict(zip(names, sess.run([_read_name(found, name) if name in handles else f"{name}:0" for name in names])))
    made = _like(found)
    for node in found.node:
        if node.name in values:
            made.node.extend_raw([_constant(node, values[node.name])])
        elif node.op == "ReadVariableOp" and _source(found, node.input[0]) in values:
            made.node.extend_raw([_identity(node)])
        elif node.op == "ResourceGather" and _source(found, node.input[0]) in values:
            made.node.extend_raw(_gather(node))
        else:
            made.node.append(node)
    return made


def _source(graph_def: Any, name: str) -> str:
    """The node that a handle comes from, through Identities."""
    nodes = {node.name: node for node in graph_def.node}
    while name in nodes and nodes[name].op == "Identity":
        name = split_name(nodes[name].input[0])[0]
    return name


def _read_name(graph_def: Any, handle: str) -> str:
    for node in graph_def.node:
        if node.op == "ReadVariableOp" and _source(graph_def, node.input[0]) == handle:
            return f"{node.name}:0"
    return f"{handle}/Read/ReadVariableOp:0"


def _constant(node: Any, value: Any) -> Any:
    made = NodeDef(name=node.name, op="Const")
    made.attr["dtype"].CopyFrom(node.attr["dtype"])
    made.attr["value"].CopyFrom(attr_of("tensor", value))
    return made


def _identity(node: Any) -> Any:
    made = NodeDef(name=node.name, op="Identity", input=node.input, device=node.device)
    made.attr["T"].CopyFrom(node.attr["dtype"])
    return made


def _gather(node: Any) -> list[Any]:
    axis = NodeDef(name=f"{node.name}/axis", op="Const")
    axis.attr["dtype"].CopyFrom(attr_of("type", "int32"))
    axis.attr["value"].CopyFrom(attr_of("tensor", 0))
    axis.attr["value"].tensor.dtype = axis.attr["dtype"].type
    axis.attr["value"].tensor.tensor_content = bytes(4)
    made = NodeDef(name=node.name, op="GatherV2", input=[*node.input[:2], axis.name, *node.input[2:]])
    made.attr["Tparams"].CopyFrom(node.attr["dtype"])
    made.attr["Tindices"].CopyFrom(node.attr["Tindices"])
    made.attr["Taxis"].CopyFrom(axis.attr["dtype"])
    return [axis, made]


def remove_training_nodes(input_graph: Any, protected_nodes: Iterable[str] | None = None) -> Any:
    """The graph without CheckNumerics and without Identities, except protected ones and those with control inputs."""
    kept, instead = set(protected_nodes or ()), {}
    checks = {f"^{node.name}" for node in input_graph.node if node.op == "CheckNumerics" and node.name not in kept}
    for node in input_graph.node:
        is_read_alone = len({*node.input} - checks) == 1 and not node.input[0].startswith("^")
        if node.op in ("Identity", "CheckNumerics") and is_read_alone and node.name not in kept:
            instead[node.name] = node.input[0]
    waited_for = {text[1:] for node in input_graph.node for text in node.input
                  if text.startswith("^") and text not in checks}
    made = _like(input_graph)
    for node in input_graph.node:
        if node.name in instead and node.name not in waited_for:
            continue
        made.node.append(node)
        inputs = [_followed(text, instead) for text in node.input if text not in checks]
        made.node[-1].ClearField("input")
        made.node[-1].input.extend(inputs)
    return made


def _followed(text: str, instead: dict[str, str]) -> str:
    while text in instead:
        text = instead[text]
    return text


__getattr__ = refusing("tf.graph_util", __name__)
