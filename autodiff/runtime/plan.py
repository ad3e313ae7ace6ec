"""A plan: the steps one run takes, decided once per (fetches, feeds)."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..graph import Operation, Tensor


@dataclass(slots=True)
class Step:
    """One kernel call: values at `inputs` (slots, or a str: a variable's name) to slots `outputs`."""

    op: Operation
    inputs: tuple[Any, ...]
    outputs: tuple[int, ...]
    reads: str | None = None  # this step only reads that variable


@dataclass(slots=True)
class Plan:
    """steps in order; feeds and fetches: slot of each; size: count of slots."""

    steps: list[Step]
    feeds: tuple[int, ...]
    fetches: tuple[int, ...]
    size: int
    slots: dict[Tensor, int] = field(default_factory=dict)


def variable_of(tensor: Tensor) -> Operation:
    """The variable that a reference or handle refers to."""
    while tensor.op.inputs:
        tensor = tensor.op.inputs[0]
    return tensor.op


def is_reference(tensor: Tensor) -> bool:
    """Whether this tensor stands for a variable rather than a value."""
    return tensor.dtype.is_ref or tensor.dtype.name == "resource"


def compile_plan(fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]) -> Plan:
    """The steps that compute `fetches` and run `targets` when `feeds` are given.

    Operations run in the order they were made, which is a topological order.
    """
    fed = set(feeds)
    builder = _Builder(fed)
    wanted = {t for t in fetches if t not in fed}
    for op in _needed(fetches, targets, fed):
        builder.add(op, wanted)
    return Plan(builder.steps, tuple(builder.slots[t] for t in feeds), tuple(builder.slots[t] for t in fetches),
                builder.size, builder.slots)


def _needed(fetches: Sequence[Tensor], targets: Sequence[Operation], fed: set[Tensor]) -> list[Operation]:
    seen: set[Operation] = set()
    stack = [t.op for t in fetches if t not in fed] + list(targets)
    while stack:
        op = stack.pop()
        if op not in seen:
            seen.add(op)
            stack.extend(t.op for t in op.inputs if t not in fed)
            stack.extend(op.control_inputs)
    return sorted(seen, key=lambda op: op.index)


class _Builder:
    def __init__(self, fed: set[Tensor]) -> None:
        self.steps: list[Step] = []
        self.slots: dict[Tensor, int] = {}
        self.size = 0
        for tensor in fed:
            self.slots[tensor] = self._slot()
        self.fed = fed

    def _slot(self) -> int:
        self.size += 1
        return self.size - 1

    def add(self, op: Operation, wanted: set[Tensor]) -> None:
        if op.outputs and all(t in self.fed for t in op.outputs):
            return
        if op.type not in ("VariableV2", "VarHandleOp"):
            inputs = tuple([self._input(op, i, t) for i, t in enumerate(op.inputs)])
            outputs = []
            for tensor in op.outputs:
                slot = self._slot()
                outputs.append(slot)
                if tensor not in self.fed:
                    self.slots[tensor] = slot
            self.steps.append(Step(op, inputs, tuple(outputs)))
        for tensor in op.outputs:
            if tensor in wanted and is_reference(tensor):
                self.slots[tensor] = self._read(tensor)

    def _input(self, op: Operation, index: int, tensor: Tensor) -> Any:
        if not is_reference(tensor):
            return self.slots[tensor]
        parameters = op.definition.parameters
        if parameters[min(index, len(parameters) - 1)].kind.handle:
            return variable_of(tensor).name
        return self.slots[tensor] if tensor in self.fed else self._read(tensor)

    def _read(self, tensor: Tensor) -> int:
        slot = self._slot()
        variable = variable_of(tensor)
        self.steps.append(Step(variable, (), (slot,), reads=variable.name))
        return slot
