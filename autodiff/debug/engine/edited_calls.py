"""Branches and loops with edits inside: the same calls of copied functions."""
from __future__ import annotations

from collections.abc import Callable, Mapping

from ...core.errors import ArgumentError
from ...core.function_graph import Function, FunctionGraph, finish, functions_of, is_repeatable
from ...core.graph import Graph, Operation, Tensor
from ...core.traversal import dependencies, in_order
from ...gradients.control_flow import call_if, call_while
from ..analysis.edits.in_graph import Edit, copied

Now = Callable[[Tensor], Tensor]


def edited_call(op: Operation, by_op: Mapping[Operation, Edit], now: Now, graph: Graph) -> list[Tensor]:
    """What a branch or loop gives with edits inside, in `graph`: its first outputs. now: what stands for a tensor.

    Raises ArgumentError for one that does more than to compute.
    """
    inputs = [now(t) for t in op.inputs]
    with graph.as_default():
        if op.type == "If":
            first, second = (_edited(op.attrs[name], by_op, graph, now) for name in ("then_branch", "else_branch"))
            return call_if(inputs[0], first, second)
        if op.type == "While":
            cond, body = (_edited(op.attrs[name], by_op, graph, now) for name in ("cond", "body"))
            count = len(op.attrs["shapes"])
            return call_while(inputs[:count], cond, body, op.attrs["shapes"], back_prop=op.attrs["back_prop"])
    raise ArgumentError(f"{op.name} ({op.type}) does more than to compute: it cannot be done twice")


def _edited(function: Function, by_op: Mapping[Operation, Edit], outer: Graph, now: Now) -> Function:
    """A copy of a function in which the edits are made."""
    graph = FunctionGraph(outer)
    if function.kept and not all(is_repeatable(op) or "seed" in op.attrs or op.type == "ReadVariableOp" and not (
            function.graph.updated) for op in function.graph.operations.values()):  # a dropout may draw others
        raise ArgumentError("it changes a variable")
    known: dict[Tensor, Tensor] = {}
    for inner in function.arguments:
        known[inner] = graph.add_argument(inner.dtype, inner.dims, inner.op.name.rpartition("/")[2])
    for inner, outside in zip(function.inputs[len(function.arguments):], function.captured):
        known[inner] = graph.capture(now(outside))
    with graph.as_default():
        for op in in_order(dependencies(function.given)):
            if op.outputs and all(t in known for t in op.outputs):
                continue
            edit = by_op.get(op)
            if edit is not None and edit.build is not None:
                known.update(zip(op.outputs, edit.made(lambda t: known.get(t, t))))
            elif functions_of(op):
                known.update(zip(op.outputs, edited_call(op, by_op, lambda t: known.get(t, t), graph)))
            else:
                known.update(zip(op.outputs, copied(op, tuple(known[t] for t in op.inputs)).outputs))
        return finish(graph, [known[t] for t in function.outputs])
