"""A run in parts: more feeds and fetches each time, and no operation twice."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.errors import InvalidArgumentError
from ..core.graph import Operation, Tensor
from ..core.traversal import reached
from ..ops.common.threads import as_kernels_run
from .fetch import Fetches
from .plan.interpreter import run_step, starting_slots
from .plan.plan import Plan, Step
from .plan.state import Run, handed_out


class PartialRun:
    """The state of a partial run between its parts, made by Session.partial_run_setup.

    plan: of all fetches, with all feeds that may come. Values that are computed stay until the last part.
    """

    def __init__(self, plan: Plan, wanted: Fetches, feeds: Sequence[Tensor], run: Run) -> None:
        self._plan, self._run = plan, run
        self._slots = starting_slots(plan, [None] * len(feeds))
        self._missing = dict(zip(plan.feeds, feeds))
        self._unfetched: set[Tensor | Operation] = {*wanted.tensors, *wanted.targets}
        self._fetches, self._feeds = frozenset(self._unfetched), frozenset(feeds)
        self._done: set[int] = set()
        self._makers = {slot: i for i, step in enumerate(plan.steps) for slot in step.outputs}
        self._by_op = {step.op: i for i, step in enumerate(plan.steps)}

    def go_on(self, wanted: Fetches, feeds: Mapping[Tensor, Any]) -> Any:
        """Values of further fetches. Raises InvalidArgumentError for one not set up, or fetched or fed before."""
        asked: tuple[Tensor | Operation, ...] = (*wanted.tensors, *wanted.targets)
        for item in asked:
            if item not in self._unfetched:
                raise InvalidArgumentError(None, None, f"{item.name} {_why(item in self._fetches, 'fetched')}")
        for tensor, value in feeds.items():
            slot = self._plan.slots.get(tensor)
            if slot not in self._missing:
                raise InvalidArgumentError(None, None, f"{tensor.name} {_why(tensor in self._feeds, 'fed')}")
            self._slots[slot] = value
            del self._missing[slot]
        with as_kernels_run(keeps_subnormals=self._plan.keeps_subnormals), np.errstate(all="ignore"):
            self._compute([self._plan.slots[t] for t in wanted.tensors], [self._by_op[op] for op in wanted.targets])
        self._unfetched.difference_update(wanted.tensors, wanted.targets)
        return wanted.rebuild(handed_out([self._slots[self._plan.slots[t]] for t in wanted.tensors]))

    def _compute(self, slots: Sequence[int], steps: Sequence[int]) -> None:
        """Run, in the order of the plan, what these need and has not run."""
        needed = self._steps_for(slots, steps)
        for i in sorted(needed):
            run_step(self._plan.steps[i], self._slots, self._run)
            self._done.add(i)

    def _steps_for(self, slots: Sequence[int], steps: Sequence[int]) -> set[int]:
        def before(i: int) -> list[int]:
            step: Step = self._plan.steps[i]
            return [] if i in self._done else [
                *self._makers_of(slot for slot in step.inputs if not isinstance(slot, str)),
                *(self._by_op[op] for op in step.op.waits_for if op in self._by_op)]
        return reached([*steps, *self._makers_of(slots)], before) - self._done

    def _makers_of(self, slots: Iterable[int]) -> list[int]:
        found = []
        for slot in slots:
            if slot in self._missing:
                raise InvalidArgumentError(None, self._missing[slot].op, f"{self._missing[slot].name!r} must be fed in "
                                           "this part of the run or an earlier one")
            if slot in self._makers:
                found.append(self._makers[slot])
        return found


def _why(is_known: bool, done: str) -> str:
    return f"has already been {done}." if is_known else "was not specified in partial_run_setup."
