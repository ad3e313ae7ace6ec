"""LookedUp: values of past runs that analyses asked for; the next question computes only what is not there yet."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.errors import AutodiffError
from ...core.graph import Operation, Tensor
from ...ops.common.threads import as_kernels_run
from ...runtime.plan.interpreter import run_step, starting_slots
from ...runtime.plan.plan import Plan, compile_plan
from ...runtime.plan.state import Run, handed_out
from ..facts.known import Known

_RUNS = 2  # whose values are kept
_PLANS = 32
BUDGET = 64 << 20  # bytes that the values of one run may take

Values = dict[Tensor, Any]


class LookedUp:
    """Values by run, which is any object that stands for it, and the plans that computed them. budget: bytes a run."""

    def __init__(self, budget: int = BUDGET) -> None:
        self.budget = budget
        self._values: OrderedDict[Any, Values] = OrderedDict()
        self._spent: dict[Any, int] = {}
        self._plans: OrderedDict[tuple[Any, ...], Plan] = OrderedDict()

    def of(self, moment: Any) -> Mapping[Tensor, Any]:
        """What is known of a run."""
        return self._values.get(moment, {})

    def add(self, moment: Any, found: Mapping[Tensor, Any]) -> None:
        """Keep more of a run, as far as there is room; the runs asked about longest ago go."""
        known = self._values.setdefault(moment, {})
        self._values.move_to_end(moment)
        for tensor, value in found.items():
            if isinstance(value, (np.ndarray, np.generic)) and self._spent.get(moment, 0) + value.nbytes <= self.budget:
                self._spent[moment] = self._spent.get(moment, 0) + value.nbytes
                known[tensor] = value
        while len(self._values) > _RUNS:
            self._spent.pop(self._values.popitem(last=False)[0], None)

    def compute(self, moment: Any, tensors: Sequence[Tensor], given: Mapping[Tensor, Any], run: Run) -> Values:
        """The values of those `tensors` that can be computed, starting from what is known and `given`."""
        known = {tensor: value for tensor, value in self.of(moment).items() if _may_be_given(tensor)}
        fed = {**known, **given}
        tensors, fed = sorted(tensors, key=_place), {t: fed[t] for t in sorted(fed, key=_place)}
        plan = self._plan(tuple(tensors), tuple(fed))
        slots = starting_slots(plan, list(fed.values()))
        failed = _run_what_can(plan, slots, run)
        found = [t for t in tensors if plan.slots[t] not in failed]
        return dict(zip(found, handed_out([slots[plan.slots[t]] for t in found])))

    def late(self, asked: Mapping[Operation, Mapping[Tensor, Tensor]], given: Mapping[Tensor, Any], run: Run) -> Known:
        """What ops read of variables that were updated meanwhile, under what the updates give. asked: of LateReads."""
        fed = sorted(given, key=_place)
        plan = self._plan(tuple(op.outputs[0] for op in asked), tuple(fed))
        slots = starting_slots(plan, [given[t] for t in fed])
        failed, found = _run_what_can(plan, slots, run), Known()
        for step in plan.steps:
            for tensor, slot in zip(step.op.inputs, step.inputs if step.op in asked else ()):
                update = asked[step.op].get(tensor)
                if update is not None and slot != plan.slots.get(tensor) and slot not in failed:
                    found[update] = handed_out([slots[slot]])[0]
                    found.late.setdefault(step.op, {})[tensor] = update
        return found

    def _plan(self, tensors: tuple[Tensor, ...], fed: tuple[Tensor, ...]) -> Plan:
        plan = self._plans.get((tensors, fed))
        if plan is None:
            plan = self._plans[tensors, fed] = compile_plan(tensors, (), fed)
            if len(self._plans) > _PLANS:
                self._plans.popitem(last=False)
        return plan


def _place(tensor: Tensor) -> tuple[int, str]:
    """For one order, whichever way tensors were found: the same question has the same plan."""
    return tensor.op.index, tensor.name


def _run_what_can(plan: Plan, slots: list[Any], run: Run) -> set[int]:
    """Run every step whose inputs are there; the slots of the others, and of those that failed."""
    failed: set[int] = set()
    refused: set[Operation] = set()
    with as_kernels_run(keeps_subnormals=plan.keeps_subnormals), np.errstate(all="ignore"):
        for step in plan.steps:
            if failed.isdisjoint(step.inputs) and refused.isdisjoint(step.op.control_inputs):
                try:
                    run_step(step, slots, run)
                    continue
                except AutodiffError:
                    pass
            failed.update(step.outputs)
            refused.add(step.op)
    return failed


def _may_be_given(tensor: Tensor) -> bool:
    """Whether a known value may stand for a tensor: not where it shares a variable's memory, as updates show there."""
    return not any(t.dtype.is_ref for t in tensor.op.inputs)
