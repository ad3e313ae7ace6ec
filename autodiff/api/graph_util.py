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
    sources = _sources(found)
    values = dict(zip(names, sess.run([_read_name(found, sources, n) if n in handles else f"{n}:0" for n in names])))
    made = _like(found)
    functions = {function.signature.name: function for function in made.library.function}
    known = {node.name: node.attr["dtype"].type for node in found.node if node.name in handles & set(values)}
    made.node.extend_raw(_frozen([_constant(node, values[node.name]) if node.name in values else node
                                  for node in found.node], known, functions))
    return made


def _frozen(nodes: Iterable[Any], known: dict[str, int], functions: dict[str, Any]) -> list[Any]:
    """The nodes, those that read a variable with its value in place of the handle.

    known: node or argument that was the handle of a variable -> the variable's type; takes those that hand it on.
    functions: those that nodes call, by name; they take values in place of handles likewise.
    """
    made: list[Any] = []
    for node in nodes:
        sources = [known.get(text.split(":")[0]) for text in node.input]
        if not any(sources):
            made.append(node)
        elif node.op == "ResourceGather":
            made.extend(_gather(node))
        elif node.op in ("Identity", "ReadVariableOp"):
            if node.op == "Identity":
                known[node.name] = sources[0] or 0
            made.append(_identity(node, sources[0]))
        else:
            made.append(_with_values(node, sources, functions))
    return made


def _with_values(node: Any, sources: list[int | None], functions: dict[str, Any]) -> Any:
    """A call, or a choice or loop, that takes values in place of the handles of variables. sources: their types."""
    made = type(node)()
    made.CopyFrom(node)
    sources = sources[1:] if node.op in ("If", "StatelessIf") else sources
    for key in {"T", "Tin"} & set(made.attr):
        types = [new or old for new, old in zip(sources, made.attr[key].list.type)]
        made.attr[key].list.ClearField("type")
        made.attr[key].list.type.extend(types)
    for source, shape in zip(sources, made.attr["output_shapes"].list.shape if "output_shapes" in made.attr else ()):
        if source:
            shape.unknown_rank = True  # it was the handle's
    named = {attr.func.name for attr in made.attr.values() if attr.WhichOneof("value") == "func"}
    for called in named & set(functions):
        function, inside = functions[called], {}
        for argument, dtype in zip(function.signature.input_arg, sources):
            if dtype:
                argument.type = inside[argument.name] = dtype
        reads = [each.name for each in function.node_def if each.op == "ReadVariableOp"]
        nodes = _frozen(function.node_def, inside, functions)
        reads = [f"{each.name}:value:0" for each in nodes if each.name in reads and each.op == "Identity"]
        axes = {each.name: f"{each.name}:output:0" for each in nodes}  # as a function's nodes name what they read
        function.ClearField("node_def")
        for each in nodes:
            texts = [text.replace(":value:", ":output:") if text in reads else axes.get(text, text)
                     for text in each.input]
            each.ClearField("input")
            each.input.extend(texts)
        function.node_def.extend(nodes)
        for result in function.signature.output_arg:
            text = function.ret[result.name]
            function.ret[result.name] = text.replace(":value:", ":output:") if text in reads else text
            result.type = inside.get(text.split(":")[0], result.type)
    return made


def _sources(graph_def: Any) -> dict[str, str]:
    """Node that gives a handle -> the node that made it, through Identities."""
    found: dict[str, str] = {}
    for node in graph_def.node:
        if node.op == "VarHandleOp":
            found[node.name] = node.name
        elif node.op == "Identity" and split_name(node.input[0])[0] in found:
            found[node.name] = found[split_name(node.input[0])[0]]
    return found


def _read_name(graph_def: Any, sources: dict[str, str], handle: str) -> str:
    for node in graph_def.node:
        if node.op == "ReadVariableOp" and sources.get(node.input[0]) == handle:
            return f"{node.name}:0"
    return f"{handle}/Read/ReadVariableOp:0"


def _constant(node: Any, value: Any) -> Any:
    made = NodeDef(name=node.name, op="Const")
    made.attr["dtype"].CopyFrom(node.attr["dtype"])
    made.attr["value"].CopyFrom(attr_of("tensor", value))
    return made


def _identity(node: Any, dtype: int | None) -> Any:
    made = NodeDef(name=node.name, op="Identity", input=node.input, device=node.device)
    made.attr["T"].type = dtype
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
