"""The outcome of each operation in the plan that runs it: computed, folded, merged, fused, left out."""
from __future__ import annotations

from typing import NamedTuple

from ...core.graph import Operation
from ...core.op import Ref
from .kernel_traits import passes_on
from .plan import Plan, Step, called, inner_steps, is_reference, variable_of


class OpOutcome(NamedTuple):
    """kind: see KINDS. steps: of the plan, that compute it or a part of it. calls: ufuncs made in place of its kernel.

    others: the operations that it is merged with, has the value of, is folded into, or overwrites. block: of the
    memory that it writes to, None for memory of its own.
    """

    op: Operation
    kind: str
    steps: tuple[int, ...] = ()
    calls: tuple[str, ...] = ()
    others: tuple[Operation, ...] = ()
    block: int | None = None


KINDS = {
    "computed": "computed by its kernel", "calls": "computed by calls of ufuncs",
    "tiles": "fused into a chain that runs tile by tile", "fed": "given by the run's feeds",
    "variable": "a variable, read and written where it stands", "constant": "folded into a constant",
    "merged": "merged with an equal op", "same": "its value is another op's, so it is not computed",
    "folded": "folded into its readers", "order": "it only waits: the order of the steps does that",
    "dead": "left out: nothing reads it"}


def op_outcomes(before: Plan, after: Plan) -> list[OpOutcome]:
    """The outcome of each operation of a plan, variables and feeds included, in a plan made from it; in their order."""
    ops = {step.op for step in before.steps} | {tensor.op for tensor in before.slots}
    for step in before.steps:
        ops.update(variable_of(t) for t in step.op.inputs if is_reference(t))
    builder = _OutcomeBuilder(before, after)
    return [builder.outcome(op) for op in sorted(ops, key=lambda op: op.index)]


class _OutcomeBuilder:
    """Knows who makes what in the plan `after`, and who reads what in the plan `before`."""

    def __init__(self, before: Plan, after: Plan) -> None:
        self._after = after
        self._steps: dict[Operation, list[tuple[int, Step, bool]]] = {}
        self._makers: dict[int, Operation] = {slot: t.op for t, slot in before.slots.items() if slot in before.feeds}
        self._readers: dict[int, list[Operation]] = {}
        self._slots_before = before.slots
        for i, step in enumerate(after.steps):
            inside = inner_steps(step)
            for inner in inside or (step,):
                self._steps.setdefault(inner.op, []).append((i, inner, bool(inside)))
                self._makers.update(dict.fromkeys(inner.outputs, inner.op))
        for step in before.steps:
            for slot in step.inputs:
                self._readers.setdefault(slot, []).append(step.op)

    def outcome(self, op: Operation) -> OpOutcome:
        """The outcome of one operation."""
        slots = [self._after.slots[t] for t in op.outputs if t in self._after.slots]
        if op.outputs and all(self._slots_before.get(t, -1) in self._after.feeds for t in op.outputs):
            return OpOutcome(op, "fed")
        if op in self._steps:
            return self._computed(op)
        if op.type in ("VariableV2", "VarHandleOp"):
            return OpOutcome(op, "variable")
        if slots and all(slot in self._after.constants for slot in slots):
            return OpOutcome(op, "constant")
        makers = dict.fromkeys(self._makers[slot] for slot in slots if slot in self._makers)
        if makers:
            is_equal = not passes_on(op) and all(other.type == op.type for other in makers)
            return OpOutcome(op, "merged" if is_equal else "same", others=tuple(makers))
        readers = [r for t in op.outputs for r in self._readers.get(self._slots_before.get(t, -1), ())]
        live = tuple(dict.fromkeys(r for r in readers if r in self._steps))
        return OpOutcome(op, "folded", others=live) if live else OpOutcome(op, "dead" if op.outputs else "order")

    def _computed(self, op: Operation) -> OpOutcome:
        found = self._steps[op]
        steps = tuple(dict.fromkeys(i for i, _, _ in found))
        calls = tuple(called(step) for _, step, _ in found if step.call is not None)
        kind = "tiles" if all(fused for _, _, fused in found) else "calls" if calls else "computed"
        if all(step.reads is not None for _, step, _ in found):
            kind = "variable"
        buffers = self._after.buffers
        block = next((buffers[s].block for _, step, _ in found[::-1] for s in step.outputs if s in buffers), None)
        return OpOutcome(op, kind, steps, calls, self._written_over(op, found), block)

    def _written_over(self, op: Operation, found: list[tuple[int, Step, bool]]) -> tuple[Operation, ...]:
        """The ops in whose memory this one's result is written as they are read: variables, or what ends here."""
        buffers = self._after.buffers
        over: dict[Operation, None] = {}
        for _, step, _ in found:
            blocks = {buffers[s].block for s in step.outputs if s in buffers}
            over.update((self._makers[s], None) for s in step.inputs if s in buffers and buffers[s].block in blocks)
        parameters = op.definition.parameters
        over.update((variable_of(t), None) for t, p in zip(op.inputs, parameters) if p.kind is Ref)
        over.pop(op, None)
        return tuple(over)
