"""A graph as a GraphDef: each operation with all the attributes that TensorFlow's op of that name has."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...core.function_graph import Function
from ...core.graph import Graph, Operation, Tensor
from ...files.graph_messages import GRAPH_MESSAGES
from ...files.op_table import Argument, OpSchema, op_schema
from .attributes import attr_of, kind_of
from .differences import theirs, with_their_names
from .functions import Library

GraphDef, NodeDef = GRAPH_MESSAGES["GraphDef"], GRAPH_MESSAGES["NodeDef"]

PRODUCER, MIN_CONSUMER = 134, 12  # the versions that TensorFlow 1.15 writes


def graph_def_of(graph: Graph, from_version: int | None = None, add_shapes: bool = False) -> Any:
    """The GraphDef of a graph. from_version: only operations from this one on. add_shapes: with `_output_shapes`."""
    library = Library(node_def_of)
    made = GraphDef(versions={"producer": PRODUCER})
    made.node.extend_raw(nodes_of(graph.get_operations()[from_version or 0:], library, add_shapes=add_shapes))
    made.library.function.extend_raw(library.definitions)
    return made


def nodes_of(operations: Iterable[Operation], library: Library, *, add_shapes: bool = False) -> list[Any]:
    """The NodeDefs of operations. library: takes the functions that they call."""
    nodes = []
    for op in operations:
        node = node_def_of(op, library)
        if add_shapes and op.outputs:
            node.attr["_output_shapes"].CopyFrom(attr_of("list(shape)", [t.dims for t in op.outputs]))
        nodes.append(node)
    return nodes


def _reference(tensor: Tensor) -> str:
    """`x` for x:0, `x:1` for others."""
    return tensor.op.name if tensor.value_index == 0 else tensor.name


def node_def_of(op: Operation, library: Library | None = None,
                reference: Callable[[Tensor], str] = _reference) -> Any:
    """The NodeDef of an operation. library: takes the functions that it calls. reference: how inputs are named."""
    inputs = [reference(t) for t in op.inputs]
    node = NodeDef(name=op.name, op=op.type, device=op.device,
                   input=[*theirs(op.type, inputs), *(f"^{c.name}" for c in op.control_inputs)])
    schema = op_schema(op.type)
    attributes = with_their_names(op.type, op.attrs)
    if any(isinstance(value, Function) for value in attributes.values()):
        attributes = (library or Library(node_def_of)).called(op, attributes)
    known = attributes_of(op, schema, attributes) if schema else {}
    for name, (kind, value) in known.items():
        node.attr[name].CopyFrom(attr_of(kind, value))
    beside = {}
    for name, value in attributes.items():
        guessed = None if name in known else kind_of(value)
        if guessed is not None and not (schema and name in schema.attributes):
            node.attr[name].CopyFrom(attr_of(guessed, value))
        elif name not in known:
            beside[name] = value
    if beside:
        node.put_beside(beside)
    return node


def attributes_of(op: Operation, schema: OpSchema, given: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    """Name -> (kind, value) of the attributes that an op has in TensorFlow."""
    found = {}
    inferred = _inferred(op, schema)
    for name, (kind, default) in schema.attributes.items():
        if name in given:
            value = given[name]
            if kind == "list(type)" and isinstance(value, (str, bytes)):
                value = [value]
        elif name in inferred:
            value = inferred[name]
        elif default is not None:
            value = default
        else:
            continue
        if value is not None or kind == "shape":
            found[name] = (kind, value)
    return found


def _inferred(op: Operation, schema: OpSchema) -> dict[str, Any]:
    """The attributes that follow from the inputs, and from the outputs."""
    found: dict[str, Any] = {}
    inputs = theirs(op.type, op.inputs)
    at = 0
    for argument, count in zip(schema.inputs, schema.input_counts(len(inputs))):
        _infer(found, argument, inputs[at:at + count])
        at += count
    at = 0
    for argument in schema.outputs:
        count = len(op.outputs) - at if argument.is_several else 1
        _infer(found, argument, op.outputs[at:at + count])
        at += count
    return found


def _infer(found: dict[str, Any], argument: Argument, tensors: Any) -> None:
    if argument.number_attr:
        found.setdefault(argument.number_attr, len(tensors))
    if argument.type_attr and tensors:
        found.setdefault(argument.type_attr, tensors[0].dtype.base_dtype)
    if argument.list_attr:
        found.setdefault(argument.list_attr, [t.dtype.base_dtype for t in tensors])
