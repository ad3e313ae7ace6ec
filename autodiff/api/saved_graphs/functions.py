"""Bodies of loops and branches as FunctionDefs: If and While as TensorFlow declares them.

TensorFlow's branches take all inputs of their If, and a loop's functions all of its While; here each takes its own.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core.dtypes import DType, variant
from ...core.function_graph import Function
from ...core.graph import Graph, Operation, Tensor
from ...core.op import Spec
from ...core.traversal import in_order
from ...files.graph_messages import GRAPH_MESSAGES
from ...files.op_table import op_schema
from ...files.tensor_values import dtype_number
from .differences import kept_by, their_index, their_op
from .expansions import scratch
from .tensor_lists import grown

FunctionDef, NameAttrList = GRAPH_MESSAGES["FunctionDef"], GRAPH_MESSAGES["NameAttrList"]
_INPUTS = frozenset(("Argument", "Captured"))

Reference = Callable[..., str]        # (tensor, name of its node where that is another) -> how an input names it
Growing = tuple[DType, str, Tensor | None]  # a list: dtype of its elements, how it is named so far, what is added to it
NodeWriter = Callable[..., list[Any]]  # (operation, library, reference) -> NodeDefs


def plain_reference(tensor: Tensor, name: str = "") -> str:
    """`x` for x:0, `x:1` for others."""
    name = name or tensor.op.name
    at = their_index(tensor)
    return name if at == 0 else f"{name}:{at}"


class Library:
    """The functions of a graph while it is written. definitions: those so far, with names of their own.

    inlined: the graphs of those that are no definitions, but written where they are called.
    """

    def __init__(self, write_node: NodeWriter, write_plain: Callable[..., Any]) -> None:
        self.definitions: list[Any] = []
        self.inlined: set[Graph] = set()
        self._taken: set[str] = set()
        self._write_node, self._write_plain = write_node, write_plain

    def called(self, op: Operation, attributes: dict[str, Any]) -> dict[str, Any]:
        """The attributes of an If or While, with its functions written into the library."""
        types = [t.dtype.base_dtype for t in op.inputs]
        if op.type == "While":
            return self._loop(op, attributes, types)
        then_branch, else_branch = attributes["then_branch"], attributes["else_branch"]
        count = len(then_branch.inputs)
        kept = [*((t, 0) for t in then_branch.kept), *((t, 1) for t in else_branch.kept)]
        given = {"then_branch": (then_branch, range(count)), "else_branch": (else_branch, range(count, len(types) - 1))}
        return {name: self.added(f"{op.name}_{name}", function, list(places), types[1:],
                                 lists=[(t.dtype, "", t if side == which else None) for t, side in kept])
                for which, (name, (function, places)) in enumerate(given.items())} | {
                    "Tout": [t.dtype.base_dtype for t in op.outputs]}

    def _loop(self, op: Operation, attributes: dict[str, Any], types: Sequence[DType]) -> dict[str, Any]:
        cond, body, count = attributes["cond"], attributes["body"], len(attributes["shapes"])
        split = count + len(cond.captured)
        state = list(range(count))
        kept = list(kept_by(op).values())
        dims = [*attributes["shapes"], *(t.dims for t in op.inputs[count:]), *[()] * len(kept)]
        taken = [*types, *[variant] * len(kept)]
        return {"cond": self.added(f"{op.name}_cond", cond, [*state, *range(count, split)], taken),
                "body": self.added(f"{op.name}_body", body, [*state, *range(split, len(types))], taken,
                                   passed=range(count, len(types)),
                                   lists=[(t.dtype, f"input_{len(types) + i}", t) for i, t in enumerate(kept)]),
                "output_shapes": dims, "T": taken}

    def added(self, name: str, function: Function, places: Sequence[int], types: Sequence[DType],
              passed: Sequence[int] = (), lists: Sequence[Growing] = ()) -> Any:
        """Write a function; gives the attribute that names it.

        places: which of the arguments its own inputs are. types: of all arguments. passed: arguments that it gives
        back after its own outputs, before the lists.
        """
        base = name = re.sub(r"\W", "_", name)
        while name in self._taken:
            name = f"{base}_{len(self._taken)}"
        self._taken.add(name)
        made = FunctionDef(signature={"name": name})
        self.definitions.append(made)
        for i, dtype in enumerate(types):
            made.signature.input_arg.add(name=f"input_{i}", type=dtype_number(dtype.name))
        inside = {tensor: f"input_{place}" for tensor, place in zip(function.inputs, places)}

        def reference(tensor: Tensor, name: str = "") -> str:
            return inside.get(tensor) or f"{name or tensor.op.name}:{output_place(tensor)}"

        made.node_def.extend_raw(self.nodes_in(function, inside, reference))
        added = []
        for i, wanted in enumerate(lists):
            nodes, found = self.list_of(function.graph, f"{name}/list_{i}", reference, wanted)
            made.node_def.extend_raw(nodes)
            added.append(found)
        returned = [*((t.dtype, reference(t)) for t in function.outputs), *((types[i], f"input_{i}") for i in passed),
                    *((variant, each) for each in added)]
        for i, (dtype, source) in enumerate(returned):
            made.signature.output_arg.add(name=f"output_{i}", type=dtype_number(dtype.base_dtype.name))
            made.ret[f"output_{i}"] = source
        return NameAttrList(name=name)

    def nodes_in(self, function: Function, given: Mapping[Tensor, str], reference: Reference) -> list[Any]:
        """The nodes of a function's operations. given: how its inputs are named; reference: and all tensors."""
        waits = {f"^{tensor.op.name}": f"^{name}" for tensor, name in given.items()}
        nodes = []
        for op in in_order(function.graph.operations.values()):
            if op.type not in _INPUTS:
                nodes += self._write_node(op, self, reference)
            if any(c.type in _INPUTS for c in op.control_inputs):
                replace_inputs(nodes[-1], [waits.get(text, text) for text in nodes[-1].input])
        return nodes

    def list_of(self, graph: Graph, name: str, reference: Reference, wanted: Growing) -> tuple[list[Any], str]:
        """The nodes that make a list, the last of a name that the graph does not have, and what it gives."""
        dtype, so_far, item = wanted
        given: list[tuple[Any, str]] = [(Spec(variant, ()), so_far)] if so_far else []
        given += [] if item is None else [(item, reference(item))]
        made = scratch(given, lambda *g: grown(dtype, g[0] if so_far else None, None if item is None else g[-1]))
        return self.written(made, graph.names.take(name, mark=False), reference)

    def written(self, made: Any, name: str, reference: Reference) -> tuple[list[Any], str]:
        """The nodes of operations that stand for one of that name, which comes last, and what it gives."""
        operations, sources, result = made
        names = {op: f"{name}/{op.name}" for op in operations if op is not result.op} | {result.op: name}

        def inside(tensor: Tensor, other: str = "") -> str:
            return sources.get(tensor) or reference(tensor, other or names[tensor.op])

        nodes = []
        for op in names:
            nodes.append(self._write_plain(op, self, inside))
            nodes[-1].name = names[op]
        return nodes, inside(result)


def replace_inputs(node: Any, inputs: Sequence[str]) -> None:
    """Give a node other inputs."""
    node.ClearField("input")
    node.input.extend(inputs)


def output_place(tensor: Tensor) -> str:
    """`product:0`: which output of its op a tensor is, as functions name it."""
    schema, at = op_schema(their_op(tensor.op)), their_index(tensor)
    for argument in schema.outputs if schema else ():
        if at == 0 or argument.is_several:
            return f"{argument.name}:{at}"
        at -= 1
    return f"output:{at}"
