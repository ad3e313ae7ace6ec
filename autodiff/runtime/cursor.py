"""Execution: a run that goes step by step, with every value so far to be looked at and changed."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import GraphError, StateError
from ..core.graph import Operation, Tensor
from ..ops.common.threads import as_kernels_run
from . import feed
from .fetch import Fetches
from .plan.interpreter import run_step, starting_slots
from .plan.plan import Plan, Step
from .plan.state import Run, handed_out
from .variable_aliases import after_updates, aliases_of


class Execution:
    """A cursor over a plan with one step for each operation; no buffers, so no value is overwritten.

    plan: the steps. position: index of the step that runs next. failed_op: the operation that
    raised, or None; all values before it are there, and after `set` it may be tried again.
    """

    def __init__(self, plan: Plan, fetches: Fetches, run: Run, fed: Sequence[Any]) -> None:
        self.plan, self.run = plan, run
        self.position = 0
        self.failed_op: Operation | None = None
        self._fetches = fetches
        self._slots = starting_slots(plan, fed)
        self._known = set(plan.feeds)
        self._pinned: set[int] = set()
        self._undo: dict[int, dict[str, Any]] = {}  # position -> variables as they were

    @property
    def is_done(self) -> bool:
        return self.position == len(self.plan.steps)

    @property
    def next_step(self) -> Step | None:
        """The step that `step` would run; None at the end."""
        return None if self.is_done else self.plan.steps[self.position]

    @property
    def next_op(self) -> Operation | None:
        """The operation that `step` would run; None at the end."""
        return None if self.is_done else self.plan.steps[self.position].op

    def step(self) -> Operation:
        """Run the next operation, and give it. Raises StateError at the end, and what the operation raises."""
        step = self.next_step
        if step is None:
            raise StateError("the run is at its end: there is no further operation")
        self._run(step, self.position)
        self._known.update(step.outputs)
        self.position += 1
        return step.op

    def _run(self, step: Step, position: int) -> None:
        pinned = [(slot, self._slots[slot]) for slot in step.outputs if slot in self._pinned]
        self.failed_op = step.op
        if step.op.definition.takes_run:
            names = [name for name in step.inputs if isinstance(name, str)] if step.reads is None else []
            self._undo[position] = {name: self.run.variables.get(name) for name in names}
        if len(pinned) < len(step.outputs) or not pinned:
            with as_kernels_run(keeps_subnormals=step.op.graph.keeps_subnormals), np.errstate(all="ignore"):
                run_step(step, self._slots, self.run)
        self.failed_op = None
        for slot, value in pinned:
            self._slots[slot] = value

    def back(self, count: int = 1) -> Operation | None:
        """Take back the last `count` operations and their changes of variables; gives the operation that runs next.

        What a Python function gave is kept: it is not called again.
        """
        for _ in range(min(count, self.position)):
            self.position -= 1
            self._take_back(self.plan.steps[self.position], self.position)
        self.failed_op = None
        return self.next_op

    def _take_back(self, step: Step, position: int) -> None:
        if step.op.type == "PyFunc":
            self._pinned.update(step.outputs)
        self._known.difference_update(slot for slot in step.outputs if slot not in self._pinned)
        for name, value in self._undo.pop(position, {}).items():
            if value is None:
                self.run.variables.pop(name, None)
            else:
                self.run.variables.take(name, value)

    def finish(self) -> Any:
        """Run what is left; gives the fetched values in their structure."""
        while not self.is_done:
            self.step()
        values = handed_out([self._slots[i] for i in self.plan.fetches])
        fed = [tensor for tensor, slot in self.plan.slots.items() if slot in self.plan.feeds]
        aliases = aliases_of(self._fetches.tensors, fed, self.plan)
        return self._fetches.rebuild(after_updates(values, aliases, self.run.variables) if aliases else values)

    def has_value(self, tensor: Tensor) -> bool:
        """Whether `value(tensor)` is there already."""
        return self.plan.slots.get(tensor) in self._known

    def value(self, tensor: Tensor) -> Any:
        """The value of a tensor so far, not to be written to. Raises GraphError (a ValueError) if it has none yet."""
        if not self.has_value(tensor):
            place = "has not run yet" if tensor in self.plan.slots else "is not part of this run"
            raise GraphError(f"{tensor.name!r} has no value: {tensor.op.name!r} {place}")
        value = self._slots[self.plan.slots[tensor]]
        if isinstance(value, np.ndarray):
            value = value.view()
            value.flags.writeable = False
        return value

    def set(self, tensor: Tensor, value: Any) -> None:
        """Give a tensor a value from here on, instead of what was or will be computed.

        An operation whose outputs are all set is passed over, which is a way past one that fails. What has run already
        and depends on the tensor runs again.

        Raises GraphError if the tensor is not part of this run, and what feeding the value would raise.
        """
        slot = self.plan.slots.get(tensor)
        if slot is None:
            raise GraphError(f"cannot set {tensor.name!r}: it is not part of this run")
        self._slots[slot] = feed.convert(tensor, value)
        self._known.add(slot)
        self._pinned.add(slot)
        self._run_again(slot)

    def unset(self, tensor: Tensor) -> None:
        """Compute a tensor again that was set, and what has run already and depends on it."""
        slot = self.plan.slots[tensor]
        self._pinned.discard(slot)
        self._known.discard(slot)
        for position, step in enumerate(self.plan.steps[:self.position]):
            if slot in step.outputs:
                self._take_back(step, position)
                self._run(step, position)
                self._known.update(step.outputs)
        self._run_again(slot)

    def _run_again(self, slot: int) -> None:
        """Repeat what has run already and depends on a slot that was set; nothing else."""
        changed, affected = {slot}, []
        for position, step in enumerate(self.plan.steps[:self.position]):
            if changed.intersection(i for i in step.inputs if not isinstance(i, str)):
                outputs = {s for s in step.outputs if s not in self._pinned}
                changed |= outputs
                affected.append(position)
        for position in reversed(affected):
            self._take_back(self.plan.steps[position], position)
        for position in affected:
            step = self.plan.steps[position]
            self._run(step, position)
            self._known.update(step.outputs)
