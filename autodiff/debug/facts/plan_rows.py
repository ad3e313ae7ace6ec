"""Planning: what a run's plan made of the script's ops, in words."""
from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from ...core.graph import Operation, Tensor
from ...ops.common.gc_pause import collector_paused
from ...runtime.fetch import Fetches
from ...runtime.plan.op_outcomes import KINDS, OpOutcome, op_outcomes
from ...runtime.plan.plan import compile_plan
from ...runtime.session import Session
from .graph_lists import operations_of
from .records import Place
from .roles import place_of, role_of
from .steps import When


@dataclass(frozen=True)
class PlanRow:
    """What became of one op in the plan of a run. kind: one of `op_outcomes.KINDS`; text: it in words, with names.

    steps: of the plan, that compute it. others: the ops it is merged with, is the value of, is folded into, or
    writes over. block: number of the memory it writes to, None for memory of its own.
    """

    name: str
    type: str
    kind: str
    text: str
    steps: tuple[int, ...]
    others: tuple[str, ...]
    block: int | None
    role: str
    place: Place | None


@dataclass(frozen=True)
class RunPlan:
    """The plan of a run, `at`. rows: its ops, in the order they were made; those asked for. ops: of the run, all.

    steps: that the plan takes. outside: ops of the graph that the run
    does not need. counts: ops of each kind. is_compiled: whether it is made for the run's shapes yet: only then are
    there calls, chains and shared memory. blocks: bytes of each block of it. table: the steps, head first.
    """

    at: When
    fetches: tuple[str, ...]
    rows: tuple[PlanRow, ...]
    ops: int
    outside: int
    steps: int
    counts: tuple[tuple[str, int], ...]
    is_compiled: bool
    blocks: tuple[int, ...]
    table: tuple[tuple[str, ...], ...]


@collector_paused()
def plan_of(session: Session, wanted: Fetches, feeds: tuple[Tensor, ...], ops: Collection[Operation] | None,
            at: When) -> RunPlan:
    """The plan by which a session runs `wanted` with these feeds. ops: the rows to give, None for all."""
    plan = session.plan(wanted, feeds)
    found = op_outcomes(compile_plan(wanted.tensors, wanted.targets, feeds), plan)
    counts = Counter(outcome.kind for outcome in found)
    rows = tuple(_row(outcome) for outcome in found if ops is None or outcome.op in ops)
    return RunPlan(at, (*(t.name for t in wanted.tensors), *(op.name for op in wanted.targets)), rows, len(found),
                   len(operations_of(session.graph)) - len(found), len(plan.steps),
                   tuple((kind, counts[kind]) for kind in KINDS if counts[kind]), bool(plan.forms), plan.blocks,
                   tuple(plan.table()))


def _row(outcome: OpOutcome) -> PlanRow:
    op = outcome.op
    others = tuple(other.name for other in outcome.others)
    return PlanRow(op.name, op.type, outcome.kind, _in_words(outcome, others), outcome.steps, others, outcome.block,
                   role_of(op), place_of(op))


def _in_words(outcome: OpOutcome, others: tuple[str, ...]) -> str:
    """`merged with x`; `computed by its kernel, in place into y`."""
    names = ", ".join(others)
    if outcome.kind in ("merged", "same", "folded"):
        start = {"merged": "merged with", "same": "not computed: it is the value of", "folded": "folded into"}
        return f"{start[outcome.kind]} {names}"
    calls = ", ".join(dict.fromkeys(outcome.calls))
    if outcome.kind == "tiles":
        text = f"fused into chain {' and '.join(map(str, outcome.steps))}" + (f" as {calls}" if calls else "")
    else:
        text = f"computed by {calls}" if calls else KINDS[outcome.kind]
    return text + (f", in place into {names}" if others else "")
