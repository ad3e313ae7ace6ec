"""import_graph_def: the operations of a GraphDef once more, in the graph at hand."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.convert import convert_to_tensor
from ..core.errors import ArgumentError, KindError
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..core.graph_def import GraphDef, NodeDef
from ..core.op import OPS


def import_graph_def(graph_def: Any, input_map: Mapping[Any, Any] | None = None,
                     return_elements: Sequence[str] | None = None, name: str | None = None, op_dict: Any = None,
                     producer_op_list: Any = None) -> list[Tensor | Operation] | None:
    """Add the operations of a GraphDef (of `graph.as_graph_def()`) below the name scope `name`, "import" if None.

    input_map: names of tensors in graph_def -> tensors to use in their place. return_elements: names of operations and
    tensors in graph_def to give back. Raises KindError (TypeError) for other kinds, ArgumentError (ValueError) for
    names that graph_def does not have, or that the graph has already when name is "". Source: TensorFlow 1.15.
    """
    if not isinstance(graph_def, GraphDef):
        raise KindError(f"graph_def must be a GraphDef, found {type(graph_def).__name__}\n"
                        "graph.as_graph_def() gives one")
    if not isinstance(input_map or {}, Mapping):
        raise KindError("input_map must be a dictionary from names to tensors")
    if return_elements is not None and not all(isinstance(each, str) for each in return_elements):
        raise KindError("return_elements must be a list of names")
    graph = get_default_graph()
    with graph.name_scope("import" if name is None else name) as scope:
        importer = _Importer(graph, scope, {_tensor_name(k): convert_to_tensor(v)
                                            for k, v in (input_map or {}).items()})
        for node in graph_def.node:
            importer.add(node)
    importer.check_used()
    return None if return_elements is None else [importer.element(each) for each in return_elements]


def _tensor_name(name: Any) -> str:
    text = name.decode() if isinstance(name, bytes) else str(name)
    return text if text.startswith("^") or ":" in text else f"{text}:0"


class _Importer:
    """What has been made so far. mapped: tensors to use in place of the graph_def's own, by name."""

    def __init__(self, graph: Graph, scope: str, mapped: dict[str, Tensor]) -> None:
        self._graph, self._scope, self._mapped = graph, scope, mapped
        self._made: dict[str, Operation] = {}
        self._unused = set(mapped)

    def add(self, node: NodeDef) -> None:
        """One more operation; those that it reads come before it."""
        full = self._scope + node.name
        if full in self._graph.operations:
            raise ArgumentError(f"the graph has an operation {full!r} already\ngive import_graph_def a name")
        if node.op not in OPS:
            raise ArgumentError(f"node {node.name!r} has the unknown op type {node.op!r}")
        inputs = [self._tensor(text) for text in node.input if not text.startswith("^")]
        waits = [self._operation(text[1:]) for text in node.input if text.startswith("^")]
        with self._graph.control_dependencies(waits), self._graph.device(node.device or None):
            OPS[node.op](*inputs, name=node.name, **node.attr)
        self._made[node.name] = self._graph.operations[full]

    def _operation(self, name: str) -> Operation:
        if name not in self._made:
            raise ArgumentError(f"node {name!r} not found in graph_def, before the nodes that read it")
        return self._made[name]

    def _tensor(self, text: str) -> Tensor:
        name = _tensor_name(text)
        if name in self._mapped:
            self._unused.discard(name)
            return self._mapped[name]
        return self._output(name)

    def _output(self, name: str) -> Tensor:
        node, _, slot = name.rpartition(":")
        op = self._operation(node)
        if not slot.isdigit() or int(slot) >= len(op.outputs):
            raise ArgumentError(f"node {node!r} has no output {slot}: it has {len(op.outputs)}")
        return op.outputs[int(slot)]

    def element(self, name: str) -> Tensor | Operation:
        """What a name of return_elements stands for."""
        if ":" not in name:
            if name not in self._made:
                raise ArgumentError(f"requested return node {name!r} not found in graph_def")
            return self._made[name]
        return self._mapped[name] if name in self._mapped else self._output(name)

    def check_used(self) -> None:
        """Raises ArgumentError for names in input_map that graph_def does not have."""
        missing = sorted(n for n in self._unused if n.rpartition(":")[0] not in self._made)
        if missing:
            raise ArgumentError(f"input_map names what is not found in graph_def: {', '.join(missing)}")
