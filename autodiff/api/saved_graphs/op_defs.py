"""What TensorFlow's ops are: an OpDef of one, and those that a stored graph needs."""
from __future__ import annotations

from typing import Any

from ...core.graph import Operation
from ...core.traversal import reached
from ...files.graph_messages import GRAPH_MESSAGES
from ...files.op_table import Argument, op_schema
from ...files.tensor_values import dtype_number
from .attributes import attr_of
from .differences import their_op

OpDef, OpList = GRAPH_MESSAGES["OpDef"], GRAPH_MESSAGES["OpList"]


def op_def_of(operation: Operation) -> Any:
    """The OpDef of an operation: its arguments, results and attributes; of an op of ours alone, how many there are."""
    return op_def_named(their_op(operation)) or OpDef(
        name=operation.type, input_arg=[{"name": f"input_{i}"} for i in range(len(operation.inputs))],
        output_arg=[{"name": f"output_{i}"} for i in range(len(operation.outputs))])


def op_def_named(name: str) -> Any:
    """The OpDef of a name; None for an op that TensorFlow does not have."""
    schema = op_schema(name)
    if schema is None:
        return None
    made = OpDef(name=name)
    for field, arguments in ((made.input_arg, schema.inputs), (made.output_arg, schema.outputs)):
        for argument in arguments:
            field.add(**_argument(argument))
    for key, (kind, default) in sorted(schema.attributes.items()):
        declared = made.attr.add(name=key, type=kind)
        if default is not None:
            declared.default_value.CopyFrom(attr_of(kind, default))
    return made


def _argument(argument: Argument) -> dict[str, Any]:
    found = {"name": argument.name, "type_attr": argument.type_attr, "number_attr": argument.number_attr,
             "type_list_attr": argument.list_attr, "is_ref": argument.is_ref}
    if argument.dtype:
        found["type"] = dtype_number(argument.dtype)
    return found


def stripped_op_list_for_graph(graph_def: Any) -> Any:
    """The OpDefs that a graph and the functions which it calls need, by name, as an OpList."""
    functions = {function.signature.name: function for function in graph_def.library.function}

    def called(nodes: Any) -> list[str]:
        return [name for node in nodes for name in (node.op, *(
            attr.func.name for attr in node.attr.values() if attr.WhichOneof("value") == "func"))]

    found = reached(called(graph_def.node), lambda name: called(functions[name].node_def) if name in functions else [])
    return OpList(op=[made for name in sorted(found - set(functions)) if (made := op_def_named(name)) is not None])


def strip_default_attributes(graph_def: Any) -> None:
    """Leave out of a GraphDef the attributes that say what the op has without them."""
    for node in [*graph_def.node, *(each for f in graph_def.library.function for each in f.node_def)]:
        schema = op_schema(node.op)
        for name, (kind, default) in schema.attributes.items() if schema else ():
            if default is not None and name in node.attr and node.attr[name] == attr_of(kind, default):
                del node.attr[name]
