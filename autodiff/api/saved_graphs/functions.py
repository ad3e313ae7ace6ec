"""Bodies of loops and branches as FunctionDefs: If and While as TensorFlow declares them.

TensorFlow's branches take all inputs of their If, and a loop's functions all of its While; here each takes its own.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ...core.dtypes import DType
from ...core.function_graph import Function
from ...core.graph import Operation, Tensor
from ...core.traversal import in_order
from ...files.graph_messages import GRAPH_MESSAGES
from ...files.op_table import op_schema
from ...files.tensor_values import dtype_number

FunctionDef, NameAttrList = GRAPH_MESSAGES["FunctionDef"], GRAPH_MESSAGES["NameAttrList"]
_INPUTS = frozenset(("Argument", "Captured"))

Reference = Callable[..., str]        # (tensor, name of its node where that is another) -> how an input names it
NodeWriter = Callable[..., list[Any]]  # (operation, library, reference) -> NodeDefs


def plain_reference(tensor: Tensor, name: str = "") -> str:
    """`x` for x:0, `x:1` for others."""
    name = name or tensor.op.name
    return name if tensor.value_index == 0 else f"{name}:{tensor.value_index}"


class Library:
    """The functions of a graph while it is written. definitions: those so far, with names of their own."""

    def __init__(self, write_node: NodeWriter) -> None:
        self.definitions: list[Any] = []
        self._taken: set[str] = set()
        self._write_node = write_node

    def called(self, op: Operation, attributes: dict[str, Any]) -> dict[str, Any]:
        """The attributes of an If or While, with its functions written into the library."""
        types = [t.dtype.base_dtype for t in op.inputs]
        if op.type == "While":
            return self._loop(op, attributes, types)
        then_branch, else_branch = attributes["then_branch"], attributes["else_branch"]
        count = len(then_branch.inputs)
        given = {"then_branch": (then_branch, range(count)), "else_branch": (else_branch, range(count, len(types) - 1))}
        return {name: self.added(f"{op.name}_{name}", function, list(places), types[1:])
                for name, (function, places) in given.items()} | {
                    "Tout": [t.dtype.base_dtype for t in then_branch.outputs]}

    def _loop(self, op: Operation, attributes: dict[str, Any], types: Sequence[DType]) -> dict[str, Any]:
        cond, body, count = attributes["cond"], attributes["body"], len(attributes["shapes"])
        split = count + len(cond.captured)
        state = list(range(count))
        dims = [*attributes["shapes"], *(t.dims for t in op.inputs[count:])]
        return {"cond": self.added(f"{op.name}_cond", cond, [*state, *range(count, split)], types),
                "body": self.added(f"{op.name}_body", body, [*state, *range(split, len(types))], types,
                                   passed=range(count, len(types))), "output_shapes": dims}

    def added(self, name: str, function: Function, places: Sequence[int], types: Sequence[DType],
              passed: Sequence[int] = ()) -> Any:
        """Write a function; gives the attribute that names it.

        places: which of the arguments its own inputs are. types: of all arguments. passed: arguments that it gives
        back after its own outputs.
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

        for op in in_order(function.graph.operations.values()):
            if op.type not in _INPUTS:
                made.node_def.extend_raw(self._write_node(op, self, reference))
        returned = [*((t.dtype, reference(t)) for t in function.outputs), *((types[i], f"input_{i}") for i in passed)]
        for i, (dtype, source) in enumerate(returned):
            made.signature.output_arg.add(name=f"output_{i}", type=dtype_number(dtype.base_dtype.name))
            made.ret[f"output_{i}"] = source
        return NameAttrList(name=name)


def output_place(tensor: Tensor) -> str:
    """`product:0`: which output of its op a tensor is, as functions name it."""
    schema, at = op_schema(tensor.op.type), tensor.value_index
    for argument in schema.outputs if schema else ():
        if at == 0 or argument.is_several:
            return f"{argument.name}:{at}"
        at -= 1
    return f"output:{at}"
