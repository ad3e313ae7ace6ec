"""The body of a branch or loop made ready to be called many times: like the plan of a run, within one."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.function_graph import Function
from ..core.graph import Tensor
from .compiled.buffers import Strided
from .plan.interpreter import getter
from .plan.passes import optimize
from .plan.plan import Plan, plan_of
from .plan.recalled import Recalled, recalled
from .plan.state import Run
from .program import Program


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

    def bound(self, run: Run, captured: Sequence[Any]) -> Callable[[Sequence[Any]], list[Any]]:
        """A function from arguments to results, for calls with the same captures."""
        read = [run.variables.get(name) for name in self._reads]
        if not self._is_fixed or any(value is None for value in read):
            return lambda arguments: self.loop(run, (*arguments, *captured))
        behind = (*map(_shape, captured), *map(_shape, read))
        shapes, variant, arrays, layout = None, None, getter(()), None  # of the call before: the next is like it

        def call(arguments: Sequence[Any]) -> list[Any]:
            nonlocal shapes, variant, arrays, layout
            fed = (*arguments, *captured)
            if variant is None or [(x.shape, x.strides) for x in arrays(arguments)] != layout:
                own = tuple(map(_shape, arguments))
                shapes = own + behind
                variant = self._variants.get(shapes)
                arrays = getter([i for i, shape in enumerate(own) if shape is not None and i not in self._numbers])
                layout = [(x.shape, x.strides) for x in arrays(arguments)]
            if variant is not None and self._busy.acquire(False):
                try:
                    return variant(run, fed)
                finally:
                    self._busy.release()
            return self._values(shapes, run, fed)

        return call


class BackwardProgram(FunctionProgram):
    """The body of a loop's gradient, which takes values from that loop where it has kept them."""

    def __init__(self, plan: Plan, found: Recalled, threads: int, *, relaxed: bool, is_fixed: bool) -> None:
        super().__init__(plan, threads, relaxed=relaxed, is_fixed=is_fixed)
        self._history, self._tensors = found.history, found.tensors
        self._recalling = FunctionProgram(found.plan, threads, relaxed=relaxed, is_fixed=is_fixed)
        found.body.recalled.update(dict.fromkeys(found.tensors))  # from the next run on

    def bound(self, run: Run, captured: Sequence[Any]) -> Callable[[Sequence[Any]], list[Any]]:
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
