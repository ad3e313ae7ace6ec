"""Values that a loop keeps for the loop that runs it backwards, which would compute them again otherwise."""
from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ...core.function_graph import Function
from ...core.graph import Graph, Operation, Tensor
from .passes import drop_unused, is_pure
from .plan import Plan, Step


class Recalled(NamedTuple):
    """The plan of a backward loop's body that takes values from the loop it is the gradient of.

    history: which capture is the loop's history, which comes with the kept values. body: of that loop. tensors: those
    it has to keep; the lists of their values follow the plan's other feeds.
    """

    plan: Plan
    history: int
    body: Function
    tensors: tuple[Tensor, ...]


def recalled(function: Function, plan: Plan) -> Recalled | None:
    """The plan with values read from lists instead of computed again; None if this is no backward loop's body."""
    for history, outer in enumerate(function.captured):
        loop = outer.op
        if loop.type != "While" or loop.outputs.index(outer) != len(loop.attrs["shapes"]):
            continue
        inner = function.inputs[len(function.arguments) + history]
        readers = [op for op in inner.consumers() if op.type == "ListItem" and op.inputs[0] is inner]
        index = readers[0].inputs[1] if readers else None
        if index is not None and index in plan.slots:
            found, tensors = _reading(plan, function.graph, loop.attrs["body"].graph, plan.slots[index])
            if tensors:
                return Recalled(found, history, loop.attrs["body"], tensors)
    return None


def _reading(plan: Plan, graph: Any, source: Graph, index: int) -> tuple[Plan, tuple[Tensor, ...]]:
    steps: list[Step] = []
    lists: dict[int, Tensor] = {}
    for step in plan.steps:
        if not is_pure(step) or not _repeats(step.op, graph.copied, source):
            steps.append(step)
            continue
        for slot, tensor in zip(step.outputs, step.op.origin.outputs):  # type: ignore[union-attr]
            lists[plan.size + len(lists)] = tensor
            steps.append(replace(step, inputs=(plan.size + len(lists) - 1, index), outputs=(slot,),
                                 call=operator.getitem))
    plan = drop_unused(replace(plan, steps=steps, size=plan.size + len(lists)))
    used = {i for step in plan.steps for i in step.inputs}
    lists = {slot: tensor for slot, tensor in lists.items() if slot in used}
    return replace(plan, feeds=(*plan.feeds, *lists)), tuple(lists.values())


def _repeats(op: Operation, copied: Mapping[Operation, Any], source: Graph) -> bool:
    """Whether an op does again what one of the loop did."""
    return op in copied and copied[op][-1][0] is source and op.origin is not None and op.origin.graph is source
