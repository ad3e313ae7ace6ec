"""Replay: any tensor of any remembered run, computed again exactly, without touching the session."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ...core.errors import AutodiffError
from ...core.graph import Graph, Operation, Tensor
from ...ops.common.threads import as_kernels_run
from ...runtime import fetch
from ...runtime.cursor import Execution
from ...runtime.feed import Fed
from ...runtime.plan.interpreter import run_step, starting_slots
from ...runtime.plan.plan import Plan, compile_plan
from ...runtime.plan.running import Running, running
from ...runtime.plan.state import Run, handed_out
from ...runtime.session import RepeatSession, Session
from ..facts.function_calls import Calls, FunctionPlan, InnerOps
from ..facts.known import Known, LateReads
from ..facts.roles import takes_elements
from .loop_values import Turns, turns_of

_MANY = 32  # tensors: such a look is taken once, and compiling it well would take longer than it runs
_RUNS = 2  # whose values are kept
_PLANS = 32
BUDGET = 64 << 20  # bytes that the values of one run may take


@dataclass(eq=False, slots=True)  # not frozen, as each run makes one; nobody changes it
class Moment:
    """What a run depended on, and its number: a run is a function of these alone. variables: their values before it.

    number: the run's number in its session. draws: how often each random op that drew in it had drawn before. wanted:
    what it fetched, or None. outcomes: what its Python functions gave, and the branches and loops that call some.
    """

    run: int
    number: int
    entropy: int
    variables: Mapping[str, Any]
    feeds: dict[Tensor, Any]
    wanted: Any = None
    outcomes: dict[Tensor, Any] = field(default_factory=dict)
    draws: Mapping[str, int] = field(default_factory=dict)

    @property
    def data(self) -> dict[Tensor, Any]:
        """What was fed, and the elements that were taken from datasets."""
        return {**{t: value for t, value in self.outcomes.items() if takes_elements(t.op)}, **self.feeds}

    @property
    def ran(self) -> Running:
        """What the run had to do, nothing without `wanted`; worked out once for all runs of the same fetches."""
        if self.wanted is None:
            return Running()
        self.wanted.ran = self.wanted.ran or running(self.wanted.tensors, self.wanted.targets)
        return self.wanted.ran

    def ended(self, run: int) -> None:
        """Keep the run's number, which it has from its end: others may end while it waits."""
        self.run = run

    def goes_on(self, variables: Mapping[str, Any]) -> None:
        """Keep the variables that it goes on with after it waited; it has read none before."""
        self.variables = variables

    def drew(self, draws: Mapping[str, int]) -> None:
        """Keep, at the end of the run, what is known of its random ops: of those that drew alone."""
        self.draws = draws


def moment_of(session: Session, feeds: dict[Tensor, Any], run: int, wanted: Any = None,
              variables: Mapping[str, Any] | None = None) -> Moment:
    """The Moment of the run that `session` is about to make. variables: where its values are known from elsewhere."""
    known = dict(session.variables) if variables is None else variables
    return Moment(run, session.runs + 1, session.entropy, known, feeds, wanted, draws=dict(session.draws))


def keep_given(session: Session, *, is_wanted: bool) -> None:
    """Have a session keep what Python functions give in its next run, or nothing."""
    session.given = {} if is_wanted else None


def continue_from(session: Session, variables: Mapping[str, Any], runs: int, entropy: int,
                  draws: Mapping[str, int]) -> None:
    """Have a session go on from these values, after so many runs, with these random streams and what they gave."""
    session.variables.update(variables)
    session.runs, session.entropy, session.draws = runs, entropy, dict(draws)


class Replayer:
    """Evaluates tensors as of a Moment, in a session of its own."""

    def __init__(self, graph: Graph, inner: InnerOps) -> None:
        self._session = RepeatSession(graph=graph)
        self._inner = inner
        self._known, self._late = LookedUp(), LateReads()
        self._function_plans: dict[Any, FunctionPlan] = {}

    def values(self, moment: Moment, tensors: Sequence[Any], feeds: dict[Tensor, Any] | None = None) -> list[Any]:
        """The values that `tensors` (IndexedSlices too) had in that run. feeds: in place of some of its own.

        Those of a tensor inside of loops are stacked: see Turns. Raises ArgumentError for one that was not computed.
        """
        inside = [t for t in tensors if isinstance(t, Tensor) and self._inner.has(t)]
        if inside:
            turns = self.turns(moment, inside, feeds)
            outside = [t for t in tensors if t not in turns]
            found = dict(zip(outside, self.values(moment, outside, feeds))) if outside else {}
            return [turns[t].stacked() if t in turns else found[t] for t in tensors]
        session = self._session
        self._rewind(moment)
        fed = {**moment.outcomes, **moment.feeds, **(feeds or {})}
        if len(tensors) > _MANY or any(isinstance(value, list) for value in moment.outcomes.values()):
            return session.start(list(tensors), fed).finish()
        return session.run(fetch.AsRead(tuple(tensors)), fed)  # what was read, though an update is among them

    def turns(self, moment: Moment, tensors: Sequence[Tensor],
              feeds: dict[Tensor, Any] | None = None) -> dict[Tensor, Turns]:
        """The values that tensors inside of branches and loops had in that run, one for each time."""
        return turns_of(tensors, self._inner, lambda outer: self.values(moment, outer, feeds),
                        lambda wanted: self.calls(moment, wanted))

    def calls(self, moment: Moment, wanted: Sequence[Tensor] | None = None) -> Calls:
        """The calls that branches and loops made in that run. wanted: inner tensors, if not all are."""
        return Calls(self._session.graph, moment.variables, moment.number, moment.entropy, moment.draws,
                     partial(self.values_if_possible, moment), wanted, moment.outcomes, self._function_plans)

    def start(self, moment: Moment, fetches: Sequence[Any], feeds: dict[Tensor, Any] | None = None) -> Execution:
        """That run again, to be gone through op by op, in a session of its own."""
        session = RepeatSession(graph=self._session.graph)
        self._rewind(moment, session)
        return session.start(list(fetches), {**moment.outcomes, **moment.feeds, **(feeds or {})})

    def after(self, moment: Moment, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The variables after that run is made again, given those before it."""
        session = self._session
        self._rewind(replace(moment, variables=variables))
        given = {**moment.outcomes, **moment.feeds}
        session.run(moment.wanted, Fed(given) if all(hasattr(v, "shape") for v in given.values()) else given)
        return dict(session.variables)

    def _rewind(self, moment: Moment, session: Session | None = None) -> None:
        session = session or self._session
        known = dict(moment.variables)  # which may take runs of this session
        session.variables.clear()
        continue_from(session, known, moment.number - 1, moment.entropy, moment.draws)

    def values_if_possible(self, moment: Moment, tensors: Sequence[Any]) -> dict[Any, Any]:
        """The same for tensors of which some may not be computable (unfed, uninitialized): those are left out.

        For analyses: the values are kept, and not to be written to.
        """
        parts = {each: fetch.parse(self._session.graph, each) for each in tensors if not isinstance(each, Tensor)}
        plain = dict.fromkeys(t for each in tensors for t in (parts[each].tensors if each in parts else (each,)))
        found = self._looked_up(moment, list(plain))
        whole = {each: part.rebuild([found[t] for t in part.tensors]) for each, part in parts.items()
                 if all(t in found for t in part.tensors)}
        return {each: whole[each] if each in parts else found[each] for each in tensors
                if (each in whole if each in parts else each in found)}

    def _looked_up(self, moment: Moment, tensors: list[Tensor]) -> dict[Tensor, Any]:
        """The values of the tensors that can be computed; each is computed once for a run."""
        known = self._known.of(moment)
        missing = [t for t in tensors if t not in known]
        inside = [t for t in missing if self._inner.has(t)]
        outside = [t for t in missing if t not in inside]
        found = self._halved(moment, inside) if inside else {}
        if outside:
            found.update(self._few(moment, outside) if not known and len(outside) <= _MANY else
                         self._compute(moment, outside))
        self._known.add(moment, found)
        return {t: known[t] if t in known else found[t] for t in tensors if t in known or t in found}

    def late(self, moment: Moment, ops: Sequence[Operation]) -> Known:
        """What those of `ops` read that saw a variable updated in that run."""
        asked = self._late.of(ops)
        if not asked:
            return Known()
        self._rewind(moment)
        return self._known.late(asked, {**moment.outcomes, **moment.feeds}, self._session.new_run())

    def _few(self, moment: Moment, tensors: list[Tensor]) -> dict[Tensor, Any]:
        """By a compiled plan: the same few are often asked for in many runs."""
        try:
            return dict(zip(tensors, self.values(moment, tensors)))
        except AutodiffError:
            return self._compute(moment, tensors)

    def _compute(self, moment: Moment, tensors: list[Tensor]) -> dict[Tensor, Any]:
        self._rewind(moment)
        return self._known.compute(moment, tensors, {**moment.outcomes, **moment.feeds}, self._session.new_run())

    def _halved(self, moment: Moment, tensors: list[Tensor]) -> dict[Tensor, Any]:
        try:
            return dict(zip(tensors, self.values(moment, tensors)))
        except AutodiffError:
            half = len(tensors) // 2
            return {} if not half else {**self._halved(moment, tensors[:half]), **self._halved(moment, tensors[half:])}


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
