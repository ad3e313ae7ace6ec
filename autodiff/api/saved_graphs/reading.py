"""import_graph_def: the operations of a GraphDef in the graph at hand."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, variant
from ...core.errors import ArgumentError, AutodiffError, KindError
from ...core.function_graph import Function
from ...core.graph import Graph, Operation, Tensor, get_default_graph
from ...core.op import OPS, OpDef, build
from ...files.graph_messages import GRAPH_MESSAGES
from ...files.op_table import op_schema
from ..control.functional import if_of, while_of
from ..queues.queues import NODES, QueueBase
from .attributes import dtype_of, value_of
from .differences import RESERVING, ours, their_name
from .layout import full_name, layout_of, split_name
from .missing_ops import RECIPES
from .regions import Region
from .tensor_lists import OF_LISTS
from .writing import PRODUCER

GraphDef = GRAPH_MESSAGES["GraphDef"]

_UNKNOWN_IS_SCALAR = 24  # before this version a placeholder of shape [] has an unknown shape


def import_graph_def(graph_def: Any, input_map: Mapping[Any, Any] | None = None,
                     return_elements: Sequence[str] | None = None, name: str | None = None, op_dict: Any = None,
                     producer_op_list: Any = None) -> list[Tensor | Operation] | None:
    """Add the operations of a GraphDef below the name scope `name`, "import" if None.

    input_map: names of tensors in graph_def -> tensors to use in their place. return_elements: names of operations and
    tensors in graph_def to give back. Loops and branches of old become While and If; their results keep their names.
    Raises KindError (TypeError) for other kinds, ArgumentError (ValueError) for names that graph_def does not have.
    A name that the graph has already becomes another. Source: TensorFlow 1.15.
    """
    if not isinstance(graph_def, GraphDef):
        raise KindError("graph_def must be a GraphDef proto.")
    if not isinstance(input_map or {}, Mapping):
        raise KindError("input_map must be a dictionary mapping strings to Tensor objects.")
    if return_elements is not None and not all(isinstance(each, (str, bytes)) for each in return_elements):
        raise KindError("return_elements must be a list of strings.")
    if not name and name is not None and any(not isinstance(v, Tensor) for v in (input_map or {}).values()):
        raise ArgumentError("tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor "
                            "values. Try calling tf.convert_to_tensor() on `input_map` values before calling "
                            "tf.import_graph_def().")
    graph = get_default_graph()
    with graph.name_scope("import" if name is None else name) as scope:
        mapped = {_key(k): convert_to_tensor(v) for k, v in (input_map or {}).items()}
        try:
            importer = Importer(graph, scope, graph_def, mapped)
            importer.add_all()
        except AutodiffError:
            raise
        except Exception as error:  # nodes with other inputs and attributes than their ops have lead anywhere
            raise ArgumentError("the graph_def does not hold together", found=f"{type(error).__name__}: {error}",
                                hint="it is damaged, or was not written by TensorFlow") from error
    return None if return_elements is None else [
        importer.element(each.decode() if isinstance(each, bytes) else each) for each in return_elements]


def _check_versions(graph: Graph, versions: Any) -> None:
    """Note the versions of what joins a graph. Raises ArgumentError (ValueError) for those that nobody can read."""
    if versions.producer < 0:
        raise ArgumentError(f"GraphDef producer version {versions.producer} below min producer 0 supported by "
                            "TensorFlow 1.15.5.  Please regenerate your graph.")
    if versions.min_consumer > PRODUCER:
        raise ArgumentError(f"GraphDef min consumer version {versions.min_consumer} above current version {PRODUCER} "
                            "for TensorFlow 1.15.5.  Please upgrade TensorFlow.")
    producer, consumer = graph.extras.get("versions", (PRODUCER, 0))
    graph.extras["versions"] = min(producer, versions.producer), max(consumer, versions.min_consumer)


def _key(name: Any) -> str:
    text = name.decode() if isinstance(name, bytes) else str(name)
    return text if text.startswith("^") else full_name(text)


class Importer:
    """A GraphDef on its way into a graph. mapped: tensors to use in place of the graph_def's own, by name."""

    def __init__(self, graph: Graph, scope: str, graph_def: Any, mapped: dict[str, Tensor]) -> None:
        self._mapped, self._scope = mapped, scope
        _check_versions(graph, graph_def.versions)
        self._functions = {function.signature.name: function for function in graph_def.library.function}
        self._producer = graph_def.versions.producer or _UNKNOWN_IS_SCALAR
        self._nodes = {node.name: node for node in graph_def.node}
        if len(self._nodes) < len(graph_def.node):
            names = [node.name for node in graph_def.node]
            raise ArgumentError(f"Node '{next(n for n in names if names.count(n) > 1)}' is not unique")
        self._region = Region(layout_of(self._nodes, mapped), graph, self.make_node, mapped=mapped)

    def add_all(self) -> None:
        """Add every operation. Raises ArgumentError for names in input_map that graph_def does not have."""
        read = {full_name(text) for node in self._nodes.values() for text in node.input}
        missing = sorted(n for n in self._mapped if n not in read and (
            n.startswith("^") or split_name(n)[0] not in self._nodes or split_name(n)[1]))
        if missing:
            raise ArgumentError(f"Attempted to map inputs that were not found in graph_def: [{', '.join(missing)}]",
                                hint=f"input_map names what is not found in graph_def: {', '.join(missing)}")
        self._region.fill(self._nodes)
        for name, op in self._region.made.items():
            groups = self._nodes[name].attr["_class"].list.s if "_class" in self._nodes[name].attr else ()
            together = [text.decode().removeprefix("loc:@") for text in groups]
            for other in together:
                if other not in self._nodes:
                    raise ArgumentError(f"Node '{name}' expects to be colocated with unknown node '{other}'")
            others = [self._region.made[other] for other in together if other in self._region.made]
            if others:
                op.stand_with(tuple(dict.fromkeys(each.name for each in others)))
                op.device = next((each.device for each in others if each.device), "")

    def element(self, name: str) -> Tensor | Operation:
        """What a name of return_elements stands for."""
        node = split_name(name)[0]
        if name.count(":") > 1:
            raise ArgumentError(f"Cannot convert '{name}' to a tensor name.")
        if ":" not in name:
            if node not in self._region.made:
                raise ArgumentError(f"Requested return node {name!r} not found in graph def")
            return self._region.made[node]
        if full_name(name) in self._mapped:
            return self._mapped[full_name(name)]
        if full_name(name) not in self._region.known:
            if node in self._region.made:
                outputs = len(self._region.made[node].outputs)
                raise ArgumentError(f"Requested return_element {name!r} not found in graph_def. Invalid return output "
                                    f"{split_name(name)[1]} of node {node!r}, which has {outputs} output(s)")
            raise ArgumentError(f"Requested return tensor '{full_name(name)}' not found in graph def",
                                hint=f"return_element {name!r} not found in graph_def")
        return self._region.known[full_name(name)]

    def make_node(self, node: Any, inputs: list[Tensor]) -> Sequence[Tensor] | Operation:
        """Add the operation of a plain node, or what is computed in its place."""
        if node.op in ("While", "StatelessWhile") and not isinstance((node.beside or {}).get("body"), Function):
            return self._while(node, inputs)
        if node.op in ("If", "StatelessIf") and not isinstance((node.beside or {}).get("then_branch"), Function):
            return if_of(inputs[0], inputs[1:], self._called(node, "then_branch"), self._called(node, "else_branch"),
                         node.name)
        if node.op in self._functions or node.op in ("PartitionedCall", "StatefulPartitionedCall"):
            return self._call(node, inputs)
        if node.op.removesuffix("V2") in NODES:
            attributes = {key: value_of(attr, key) for key, attr in node.attr.items() if key[0] != "_"}
            made = NODES[node.op.removesuffix("V2")](QueueBase.of_node(inputs[0]), node.name, *inputs[1:], **attributes)
            return [made] if isinstance(made, Tensor) else made
        if node.op.endswith("Queue") and f"{node.op}V2" in OPS:
            return self._operation(OPS[f"{node.op}V2"], node, inputs)
        if node.op in OF_LISTS and inputs[0].dtype is variant:
            return [OF_LISTS[node.op](*inputs)]
        if node.op in OPS:
            return self._operation(OPS[node.op], node, inputs)
        if node.op not in RECIPES and op_schema(node.op) is None:
            raise ArgumentError(f"Op type not registered '{node.op}'",
                                hint=f"node {node.name!r} has the unknown op type {node.op!r}")
        return self._substituted(node, inputs)

    def _operation(self, definition: OpDef, node: Any, inputs: list[Tensor]) -> Sequence[Tensor] | Operation:
        attributes = self._attributes(definition, node)
        fixed = definition.parameters
        if len(fixed) != len(inputs) and not (fixed and fixed[-1].variadic):
            types = ", ".join(p.kind.allowed[0].word if p.kind.allowed else p.kind.name for p in fixed)
            raise ArgumentError(f"NodeDef expected inputs '{types}' do not match {len(inputs)} inputs specified: "
                                f"{node.op} takes {len(fixed)} inputs; node {node.name!r}")
        for i, (parameter, x) in enumerate(zip(fixed, inputs)):
            if len(parameter.kind.allowed) == 1 and x.dtype.base_dtype is not parameter.kind.allowed[0]:
                raise ArgumentError(f"Input {i} of node {self._scope}{node.name} was passed {x.dtype.base_dtype.word} "
                                    f"from {x.name} incompatible with expected {parameter.kind.allowed[0].word}.")
        graph, name = get_default_graph(), node.name
        if not graph.scope and name not in graph.operations and graph.unique_name(name, mark_as_used=False) != name \
                and not any(other.startswith(f"{name}/") for other in graph.operations):
            name = f"{name}/"  # only a scope that holds nothing is called so
        made = definition(*ours(node.op, inputs), name=name, **attributes)
        if isinstance(made, Operation):
            return made
        made = made if isinstance(made, list) else [made]
        return [*made, made[1], made[2], made[2]] if node.op in RESERVING else made

    def _attributes(self, definition: OpDef, node: Any) -> dict[str, Any]:
        schema, found = op_schema(node.op), {}
        for name in (*definition.attributes, *definition.required):
            key = their_name(node.op, name)
            if key in node.attr:
                found[name] = value_of(node.attr[key], f"node {node.name!r}, attribute {key!r}")
            elif name in definition.required and schema and key in schema.attributes:
                found[name] = schema.attributes[key][1]
        if node.op == "Placeholder" and self._producer < _UNKNOWN_IS_SCALAR and found.get("shape") == ():
            found["shape"] = None
        return {**found, **(node.beside or {})}

    def _substituted(self, node: Any, inputs: list[Tensor]) -> Sequence[Tensor] | Operation:
        """An op that only TensorFlow has, made of ours; the result has the node's name."""
        attributes = {key: value_of(attr, f"node {node.name!r}") for key, attr in node.attr.items()
                      if not key.startswith("_") and attr.WhichOneof("value") not in (None, "func")}
        schema = op_schema(node.op)
        for key, (_, default) in schema.attributes.items() if schema else ():
            attributes.setdefault(key, default)
        recipe = RECIPES.get(node.op)
        if recipe is None:
            return self._refused(node, inputs)
        with get_default_graph().name_scope(node.name) as full:
            made = recipe(*inputs, **attributes)
        if isinstance(made, Operation):
            return made
        made = made if isinstance(made, (list, tuple)) else [made]
        return list(made) if len(made) != 1 else [build.Identity(made[0], name=full)]

    def _refused(self, node: Any, inputs: list[Tensor]) -> Operation:
        """An op that fails when it runs: what does not need it can be looked at all the same."""
        schema = op_schema(node.op)
        dtypes = [dtype for argument in (schema.outputs if schema else ()) for dtype in self._dtypes(node, argument)]
        given = {key: value_of(attr, f"node {node.name!r}") for key, attr in node.attr.items() if key[:1] != "_"}
        made = build.NotServed(*inputs, type=node.op, dtypes=tuple(dtypes), given=given, name=node.name)
        return made if isinstance(made, Operation) else made[0].op

    @staticmethod
    def _dtypes(node: Any, argument: Any) -> list[Any]:
        """The element types of an output: one, or several for a list."""
        if argument.list_attr:
            return [dtype_of(number) for number in node.attr[argument.list_attr].list.type]
        dtype = dtype_of(node.attr[argument.type_attr].type) if argument.type_attr else as_dtype(argument.dtype)
        return [dtype] * (node.attr[argument.number_attr].i if argument.number_attr else 1)

    def _function(self, node: Any, attribute: str) -> Any:
        name = node.attr[attribute].func.name
        if name not in self._functions:
            raise ArgumentError(f"node {node.name!r} calls the function {name!r}, which is not in graph_def's library")
        return self._functions[name]

    def _called(self, node: Any, attribute: str) -> Any:
        return lambda *arguments: self.outputs(self._function(node, attribute), arguments)

    def outputs(self, function: Any, arguments: Sequence[Tensor]) -> list[Tensor]:
        """The operations of a function, added to the graph at hand; gives the function's results."""
        nodes, returned = plain_nodes(function)
        known = {f"{argument.name}:0": tensor for argument, tensor in zip(function.signature.input_arg, arguments)}
        region = Region(layout_of({node.name: node for node in nodes}), get_default_graph(), self.make_node,
                        known=known)
        region.fill(node.name for node in nodes if f"{node.name}:0" not in known)
        return [region.tensor(text) for text in returned]

    def _while(self, node: Any, inputs: list[Tensor]) -> list[Tensor]:
        shapes = [t.dims for t in inputs]
        given = value_of(node.attr["output_shapes"], node.name) if "output_shapes" in node.attr else ()
        if len(given) == len(shapes):
            shapes = list(given)
        return while_of(inputs, shapes, self._called(node, "cond"), self._called(node, "body"), node.name)

    def _call(self, node: Any, inputs: list[Tensor]) -> list[Tensor]:
        function = self._functions.get(node.op) or self._function(node, "f")
        with get_default_graph().name_scope(node.name):
            return self.outputs(function, inputs)


def function_of(definition: Any) -> Callable[..., list[Tensor]]:
    """The function of a FunctionDef: its operations join the graph where it is called."""
    def called(*arguments: Tensor) -> list[Tensor]:
        importer = Importer(get_default_graph(), "", GraphDef(), {})
        return importer.outputs(definition, arguments)

    return called


def plain_nodes(function: Any) -> tuple[list[Any], list[str]]:
    """A FunctionDef's nodes with inputs named as in a GraphDef, arguments as placeholders; and what it returns."""
    arguments = [argument.name for argument in function.signature.input_arg]
    ops = {node.name: node for node in function.node_def}
    made = [GRAPH_MESSAGES["NodeDef"](name=name, op="Placeholder") for name in arguments]
    for node in function.node_def:
        copy = GRAPH_MESSAGES["NodeDef"]()
        copy.CopyFrom(node)
        copy.ClearField("input")
        copy.input.extend(_plain_name(text, ops) for text in node.input)
        made.append(copy)
    return made, [_plain_name(function.ret[each.name], ops) for each in function.signature.output_arg]


def _plain_name(text: str, ops: Mapping[str, Any]) -> str:
    """`matmul:product:0` -> `matmul:0`."""
    name, *place = text.split(":")
    if text.startswith("^") or len(place) != 2 or name not in ops:
        return text
    return f"{name}:{_flat_slot(ops[name], place[0], int(place[1]))}"


def _flat_slot(node: Any, output: str, index: int) -> int:
    schema = op_schema(node.op)
    at = 0
    for argument in schema.outputs if schema else ():
        if argument.name == output:
            break
        at += _count(node, argument)
    return at + index


def _count(node: Any, argument: Any) -> int:
    if argument.number_attr:
        return node.attr[argument.number_attr].i
    return len(node.attr[argument.list_attr].list.type) if argument.list_attr else 1
