"""The body of a branch or loop made ready to be called many times: like the plan of a run, within one.

What a loop computes is kept for the loop that runs it backwards, which would compute it again otherwise.
"""
from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..core.function_graph import Function
from ..core.graph import Graph, Operation, Tensor
from .compiled.buffers import Strided
from .plan.interpreter import getter
from .plan.passes import drop_unused, is_pure, optimize
from .plan.plan import Plan, Step, plan_of
from .plan.state import Run
from .program import Program, Shapes


class FunctionProgram(Program):
    """A function graph as a loop at first, as a generated function once it is hot.

    is_fixed: whether calls change no variable, whose shape might change with it.
    """

    is_inner = True

    def __init__(self, plan: Plan, threads: int, *, relaxed: bool, is_fixed: bool) -> None:
        super().__init__(plan, threads, relaxed=relaxed)
        self._is_fixed = is_fixed
        tensors = {slot: tensor for tensor, slot in plan.slots.items()}
        self._numbers = {i for i, slot in enumerate(plan.feeds) if slot in tensors and tensors[slot].dims == ()}
        self._is_plain = not any(step.op.definition.takes_run for step in plan.steps)  # no step asks which call it is

    def bound(self, run: Run, captured: Sequence[Any]) -> Callable[[Sequence[Any], int], list[Any]]:
        """A function from arguments and turn to results, for calls with the same captures."""
        call = self._bound(run, captured)
        if self._is_plain:
            return call
        op, outside = run.op, run.current_call

        def numbered(arguments: Sequence[Any], turn: int) -> list[Any]:
            run.current_call = op, outside, turn
            try:
                return call(arguments, turn)
            finally:
                run.op, run.current_call = op, outside

        return numbered

    def _bound(self, run: Run, captured: Sequence[Any]) -> Callable[[Sequence[Any], int], list[Any]]:
        read = [run.variables.get(name) for name in self._reads]
        if not self._is_fixed or any(value is None for value in read):
            return lambda arguments, turn: self._interpreted(None, run, (*arguments, *captured))
        behind, variables, busy = (*map(_shape, captured), *map(_shape, read)), run.variables, self._busy
        shapes, variant, arrays, layout = None, None, getter(()), None  # of the call before: the next is like it

        def call(arguments: Sequence[Any], turn: int) -> list[Any]:
            nonlocal shapes, variant, arrays, layout
            if variant is None or [(x.shape, x.strides) for x in arrays(arguments)] != layout:
                own = tuple(map(_shape, arguments))
                shapes = own + behind
                variant = self._variants.get(shapes)
                arrays = getter([i for i, shape in enumerate(own) if shape is not None and i not in self._numbers])
                layout = [(x.shape, x.strides) for x in arrays(arguments)]
            if variant is None or not busy.acquire(False):
                return self._interpreted(shapes, run, (*arguments, *captured))
            try:
                return variant.function(run, variables, *arguments, *captured)  # NumPy is quiet already
            except Exception as error:
                if not variant.leaves_to_interpreter(error, run):
                    raise
            finally:
                busy.release()
            return self._interpreted(None, run, (*arguments, *captured))

        return call

    def _interpreted(self, shapes: Shapes | None, run: Run, fed: Sequence[Any]) -> list[Any]:
        """The results of the loop, which may make a function of it if the shapes are given."""
        op = run.op
        try:
            return self._values(shapes, run, fed)
        finally:
            run.op = op


class BackwardProgram(FunctionProgram):
    """The body of a loop's gradient, which takes values from that loop where it has kept them."""

    def __init__(self, plan: Plan, found: Recalled, threads: int, *, relaxed: bool, is_fixed: bool) -> None:
        super().__init__(plan, threads, relaxed=relaxed, is_fixed=is_fixed)
        self._history, self._tensors = found.history, found.tensors
        self._recalling = FunctionProgram(found.plan, threads, relaxed=relaxed, is_fixed=is_fixed)
        found.body.recalled.update(dict.fromkeys(found.tensors))  # from the next run on

    def bound(self, run: Run, captured: Sequence[Any]) -> Callable[[Sequence[Any], int], list[Any]]:
        kept = getattr(captured[self._history], "recalled", {})
        if any(tensor not in kept for tensor in self._tensors):
            return super().bound(run, captured)
        return self._recalling.bound(run, (*captured, *[kept[tensor] for tensor in self._tensors]))


def program_of(function: Function, also: tuple[Tensor, ...], threads: int, relaxed: bool) -> FunctionProgram:
    """How a function graph is called. also: inner tensors that calls give besides."""
    plan = optimize(plan_of(function, also))
    found = recalled(function, plan)
    is_fixed = not function.graph.updated
    if found is None:
        return FunctionProgram(plan, threads, relaxed=relaxed, is_fixed=is_fixed)
    return BackwardProgram(plan, found, threads, relaxed=relaxed, is_fixed=is_fixed)


def _shape(value: Any) -> Any:
    """The shape of an array in C order, a Strided of another: how it lies in memory decides about sums; else None."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.shape if value.flags.c_contiguous else Strided(value.shape, value.strides)
    return None


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
