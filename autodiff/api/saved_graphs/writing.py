"""A graph as a GraphDef: each operation with all the attributes that TensorFlow's op of that name has."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...core.function_graph import Function
from ...core.graph import Graph, Operation, Tensor
from ...files.graph_messages import GRAPH_MESSAGES
from ...files.op_table import Argument, OpSchema, number_of, op_schema
from .attributes import attr_of, kind_of
from .differences import kept_by, takes_references, their_op, theirs, with_their_names
from .expansions import expanded
from .functions import Library, Reference, plain_reference, replace_inputs
from .switched import switched

GraphDef, NodeDef = GRAPH_MESSAGES["GraphDef"], GRAPH_MESSAGES["NodeDef"]

PRODUCER, MIN_CONSUMER = 134, 12  # the versions that TensorFlow 1.15 writes


def versions_of(graph: Graph) -> Any:
    """The VersionDef of a graph: TensorFlow 1.15's, or what was imported into it asks for."""
    producer, consumer = graph.extras.get("versions", (PRODUCER, 0))
    return GRAPH_MESSAGES["VersionDef"](producer=producer, min_consumer=consumer)


def graph_def_of(graph: Graph, from_version: int | None = None, add_shapes: bool = False) -> Any:
    """The GraphDef of a graph. from_version: only operations from this one on. add_shapes: with `_output_shapes`."""
    library = Library(nodes_of_op, node_def_of)
    made = GraphDef(versions=graph.graph_def_versions)
    made.node.extend_raw(nodes_of(graph.get_operations()[from_version or 0:], library, add_shapes=add_shapes))
    made.library.function.extend_raw(library.definitions)
    return made


def function_def_of(function: Function, attributes: dict[str, Any]) -> Any:
    """The FunctionDef of a function: arguments, then what it captures, as input_0, input_1, …; nameless."""
    library = Library(nodes_of_op, node_def_of)
    library.added("", function, range(len(function.inputs)), [t.dtype.base_dtype for t in function.inputs])
    made = library.definitions[0]
    for name, value in attributes.items():
        made.attr[name].CopyFrom(attr_of(kind_of(value) or "string", value))
    return made


def nodes_of(operations: Iterable[Operation], library: Library, *, add_shapes: bool = False) -> list[Any]:
    """The NodeDefs of operations. library: takes the functions that they call."""
    nodes = []
    for op in operations:
        made = nodes_of_op(op, library)
        if add_shapes and op.outputs and made[-1].op == op.type:
            made[-1].attr["_output_shapes"].CopyFrom(made[-1].attr["output_shapes"] if op.type == "While" else attr_of(
                "list(shape)", [t.dims for t in op.outputs]))
        nodes.extend(made)
    return nodes


def nodes_of_op(op: Operation, library: Library, reference: Reference = plain_reference) -> list[Any]:
    """The NodeDef of an operation, after those of which it is made for TensorFlow."""
    if takes_references(op):
        return switched(op, library, reference)
    found = expanded(op, map(reference, op.inputs))
    if found is not None:
        nodes, _ = library.written(found, op.name, reference)
        for node in nodes:
            node.device = op.device
        nodes[-1].input.extend(f"^{c.name}" for c in op.control_inputs)
        return nodes
    node, nodes, lists = node_def_of(op, library, reference), [], []
    for i, inner in enumerate(kept_by(op).values() if op.type == "While" else ()):
        more, name = library.list_of(op.graph, f"{op.name}/list_{i}", reference, (inner.dtype, "", None))
        nodes += more
        lists.append(name)
    if lists:
        replace_inputs(node, [*node.input[:len(op.inputs)], *lists, *node.input[len(op.inputs):]])
    return [*nodes, node]


def node_def_of(op: Operation, library: Library | None = None, reference: Reference = plain_reference) -> Any:
    """The NodeDef of an operation. library: takes the functions that it calls. reference: how inputs are named."""
    kind, tensors, given_attrs = _stood_for(op)
    inputs = [reference(t) for t in tensors]
    node = NodeDef(name=op.name, op=kind, device=op.device,
                   input=[*theirs(op.type, inputs), *(f"^{c.name}" for c in op.control_inputs)])
    schema = op_schema(kind)
    attributes = with_their_names(op.type, given_attrs)
    if any(isinstance(value, Function) for value in attributes.values()):
        attributes = (library or Library(nodes_of_op, node_def_of)).called(op, attributes)
    known = attributes_of(op, schema, attributes, tensors) if schema else {}
    for name, (declared, value) in known.items():
        node.attr[name].CopyFrom(attr_of(declared, value))
    given: dict[str, Any] = {}
    if op.colocated_names() != (op.name,):
        given["_class"] = [f"loc:@{_outermost(op, name)}" for name in op.colocated_names()]
    for name, value in {**given, **getattr(op, "_given", {})}.items():
        if value is not None:
            node.attr[name].CopyFrom(attr_of(kind_of(value) or "string", value))
    beside = {}
    for name, value in attributes.items():
        guessed = None if name in known else kind_of(value)
        if guessed is not None and schema is None:
            node.attr[name].CopyFrom(attr_of(guessed, value))
        elif name not in known:
            beside[name] = value
    if beside:
        node.put_beside(beside)
    return node


def _stood_for(op: Operation) -> tuple[str, Sequence[Tensor], dict[str, Any]]:
    """The op in TensorFlow, its inputs and attributes: a call in Python may be one of an op on a queue."""
    known = getattr(op.attrs.get("function"), "stands_for", None)
    if known is not None and known[1].graph is op.graph:
        kind, handle, attributes = known
        return kind, (handle, *op.inputs), attributes
    return their_op(op), op.inputs, op.attrs["given"] if op.type == "NotServed" else op.attrs


def _outermost(op: Operation, name: str) -> str:
    """The name of what an operation stands with: outside, if that is a capture."""
    other = op.graph.operations.get(name)
    while other is not None and other.type == "Captured":
        other = other.attrs["external"].op
    return name if other is None else other.name


def attributes_of(op: Operation, schema: OpSchema, given: dict[str, Any],
                  inputs: Sequence[Tensor]) -> dict[str, tuple[str, Any]]:
    """Name -> (kind, value) of the attributes that an op has in TensorFlow."""
    found = {}
    inferred = _inferred(op, schema, given, theirs(op.type, inputs))
    for name, (kind, default) in schema.attributes.items():
        if given.get(name) is not None or name in given and kind == "shape":
            value = given[name]
            if kind == "list(type)" and isinstance(value, (str, bytes)):
                value = [value]
        elif name in inferred:
            value = inferred[name]
        elif default is not None:
            value = default
        elif kind == "shape" and op.outputs:
            value = op.outputs[0].dims
        else:
            continue
        if value is not None or kind == "shape":
            found[name] = (kind, value)
    return found


def _inferred(op: Operation, schema: OpSchema, given: dict[str, Any], inputs: Sequence[Tensor]) -> dict[str, Any]:
    """The attributes that follow from the inputs, and from the outputs."""
    found: dict[str, Any] = {}
    at = 0
    for argument, count in zip(schema.inputs, schema.input_counts(len(inputs), given)):
        _infer(found, argument, inputs[at:at + count])
        at += count
    at = 0
    for argument in schema.outputs:
        told = number_of(argument, given)
        count = len(op.outputs) - at if told is None else told
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
