"""A plan: the steps one run takes, decided once per (fetches, feeds). Data that can be read, printed and rewritten."""
from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import GraphError
from ...core.function_graph import Function, updates_of
from ...core.graph import Operation, Tensor
from ...core.shapes import show
from ...core.traversal import in_order
from ...ops.common.gc_pause import collector_paused
from .array_reads import check_reads
from .running import Running, running


@dataclass(slots=True)
class Step:
    """One kernel call: values at `inputs` (slots, or a str: a variable's name) to slots `outputs`.

    reads: this step has no kernel, it only reads that variable. call: what is called in place of the
    op's kernel, in a plan for given shapes: a ufunc or its like (`tracing`), or a group of them (`tiles`).
    part: attributes in place of the op's: functions of a branch or loop that give only what is needed.
    """

    op: Operation
    inputs: tuple[Any, ...]
    outputs: tuple[int, ...]
    reads: str | None = None
    call: Any = None
    part: dict[str, Any] | None = None

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes that the kernel is called with."""
        return self.op.attrs if self.part is None else self.part


_NOT_NEEDED = np.zeros((), bool)  # the value of an input that no needed part of a branch or loop reads
_NOT_NEEDED.flags.writeable = False


class Buffer(NamedTuple):
    """Where a kernel writes its result: in a block of memory that several results share in turn.

    offset: bytes from the start of the block, for a part of a larger value.
    """

    block: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype
    offset: int = 0


@dataclass(slots=True)
class Plan:
    """steps in order; feeds and fetches: slot of each; size: count of slots.

    targets: operations asked for by themselves. slots: where each tensor's value is.
    constants: slot -> value known before any run. Only in a plan that is made for given shapes: forms: slot -> shape
    and dtype; buffers: slot -> Buffer; blocks: bytes of each block; given: large fetched results;
    expected: slot -> how an element of a list lies in memory, to be checked in each run.
    """

    steps: list[Step]
    feeds: tuple[int, ...]
    fetches: tuple[int, ...]
    size: int
    targets: frozenset[Operation] = frozenset()
    slots: dict[Tensor, int] = field(default_factory=dict)
    constants: dict[int, Any] = field(default_factory=dict)
    buffers: dict[int, Buffer] = field(default_factory=dict)
    given: dict[int, Buffer] = field(default_factory=dict)
    forms: dict[int, Any] = field(default_factory=dict)
    expected: dict[int, Buffer] = field(default_factory=dict)
    blocks: tuple[int, ...] = ()

    @property
    def keeps_subnormals(self) -> bool:
        """As its graph has it."""
        return any(step.op.graph.keeps_subnormals for step in self.steps[:1])

    def __str__(self) -> str:
        return "\n".join("  ".join(cells).rstrip() for cells in _aligned(self.table()))

    def table(self) -> list[tuple[str, ...]]:
        """Rows of text, head first: step, operation, type, inputs, outputs, steps it is alive, buffer."""
        last = last_uses(self)
        rows: list[tuple[str, ...]] = [("step", "operation", "type", "inputs", "outputs", "alive", "buffer")]
        for i, step in enumerate(self.steps):
            alive = [f"{i}-{'end' if last[s] >= len(self.steps) else last[s]}" for s in step.outputs if last[s] > i]
            used = [f"#{b.block} {b.dtype}{show(b.shape)}" for b in map(self.buffers.get, step.outputs) if b]
            inner = inner_steps(step)
            name, kind = (f"{len(inner)} in tiles", "") if inner else (step.op.name, self._kind(step))
            rows.append((str(i), name, kind, " ".join(map(self._show, step.inputs)),
                         " ".join(f"s{s}" for s in step.outputs), " ".join(alive), " ".join(used)))
            rows += [(f"{i}.{j}", s.op.name, self._kind(s), " ".join(map(self._show, s.inputs)),
                      " ".join(f"s{o}" for o in s.outputs), "", "") for j, s in enumerate(inner)]
        return rows

    def _kind(self, step: Step) -> str:
        """The op's type, and what is called for it if it takes several calls."""
        if step.reads is not None:
            return "read"
        return step.op.type if step.call is None else f"{step.op.type}: {called(step)}"

    def _show(self, slot: Any) -> str:
        if isinstance(slot, str):
            return slot
        return f"c{slot}" if slot in self.constants else f"s{slot}"


def reads_item(step: Step) -> bool:
    """Whether the step reads an element of a list: its shape may differ from call to call."""
    return step.op.type in ("ListItem", "ListItemOrZeros") if step.call is None else step.call is operator.getitem


def inner_steps(step: Step) -> tuple[Step, ...]:
    """The steps of a group that runs in tiles; none of any other."""
    return getattr(step.call, "steps", ())


def called(step: Step) -> str:
    """The name of the ufunc or function that is called in place of the op's kernel."""
    ufunc = getattr(step.call, "ufunc", None)
    return f"{ufunc.__name__}.reduce" if ufunc is not None else getattr(step.call, "__name__", "")


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[list[str]]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [[cell.ljust(width) for cell, width in zip(row, widths)] for row in rows]


def last_uses(plan: Plan) -> list[int]:
    """For each slot the last step that reads it; len(steps) if it is fetched, -1 if nothing reads it."""
    last = [-1] * plan.size
    for i, step in enumerate(plan.steps):
        for slot in step.inputs:
            if not isinstance(slot, str):
                last[slot] = i
    for slot in plan.fetches:
        last[slot] = len(plan.steps)
    return last


def variable_of(tensor: Tensor) -> Operation:
    """The variable that a reference or handle refers to, also from inside of a function that captured it.

    A handle made by hand refers to the variable whose name it shares.
    """
    while tensor.op.inputs or tensor.op.type == "Captured":
        tensor = tensor.op.inputs[0] if tensor.op.inputs else tensor.op.attrs["external"]
    op = tensor.op
    shared = op.attrs.get("shared_name")
    owner = op.graph.outermost.operations.get(shared) if shared and shared != op.name else None
    return owner if owner is not None and owner.type == op.type else op


def is_reference(tensor: Tensor) -> bool:
    """Whether this tensor stands for a variable rather than a value."""
    dtype = tensor.dtype
    return dtype.base_dtype is not dtype or dtype.name == "resource"


@collector_paused()
def compile_plan(fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]) -> Plan:
    """The steps that compute `fetches` and run `targets` when `feeds` are given, one for each operation needed.

    What lies above a fed tensor is cut off. Operations run in the order they were made, which is a topological order,
    but for Python functions that may wait.
    """
    fed = set(feeds)
    runs = running(fetches, targets, known=fed)
    builder = _Builder(feeds, runs)
    wanted = {t for t in fetches if t not in fed}
    operations = in_order(runs)
    check_reads(operations)
    for op in _waiting_first(operations, fed):
        builder.add(op, wanted)
    return Plan(builder.steps, tuple(builder.slots[t] for t in feeds), tuple(builder.slots[t] for t in fetches),
                builder.size, frozenset(targets), builder.slots, builder.constants)


def _waiting_first(operations: list[Operation], fed: set[Tensor]) -> list[Operation]:
    """Python functions, and what they need, before all that has a state: a run that waits has read no variable yet.

    Those that need something with a state, as a variable's value, stay where they are.
    """
    if all(op.type != "PyFunc" for op in operations):
        return operations
    stateless: set[Operation] = set()
    for op in operations:
        if (op.type == "PyFunc" or not op.definition.stateful and not any(map(is_reference, op.outputs))) and all(
                before in stateless for before in (*(t.op for t in op.inputs if t not in fed), *op.waits_for)):
            stateless.add(op)
    needed: set[Operation] = set()
    for op in reversed(operations):
        if op in stateless and (op.type == "PyFunc" or op in needed):
            needed.update((op, *(t.op for t in op.inputs), *op.waits_for))
    first = stateless & needed
    return [*(op for op in operations if op in first), *(op for op in operations if op not in first)]


def plan_of(function: Function, also: Sequence[Tensor] = ()) -> Plan:
    """The plan of a function's calls, with something in place of what nobody needs. also: what they give besides."""
    live = range(len(function.given)) if function.live is None else sorted(function.live)
    plan = compile_plan((*[function.given[i] for i in live], *also), (), function.inputs)
    if function.live is None:
        return plan
    places, spare = dict(zip(live, plan.fetches)), next(iter(plan.constants), plan.size)
    given = tuple(places.get(i, spare) for i in range(len(function.given)))
    return replace(plan, fetches=given + plan.fetches[len(places):], size=max(plan.size, spare + 1),
                   constants={spare: _NOT_NEEDED})


def _waits_for(op: Operation, earlier: Operation) -> bool:
    """Whether `op` runs after `earlier` in every order that the graph allows."""
    seen: set[Operation] = set()
    stack = [op]
    while stack:
        current = stack.pop()
        if current is earlier:
            return True
        if current not in seen and current.index > earlier.index:
            seen.add(current)
            stack.extend([t.op for t in current.inputs])
            stack.extend(current.control_inputs)
    return False


def is_read(tensor: Tensor) -> bool:
    """Whether a tensor was read from a reference."""
    return tensor.op.type == "Identity" and tensor.op.inputs[0].dtype.is_ref


class _Builder:
    """Appends steps and numbers the slots."""

    def __init__(self, feeds: Sequence[Tensor], runs: Running) -> None:
        self.runs = runs
        self.constants: dict[int, Any] = {}
        self.steps: list[Step] = []
        self.slots: dict[Tensor, int] = {}
        self.size = 0
        self.updates: dict[Operation, list[Operation]] = {}  # variable -> what changes it, so far
        for tensor in feeds:
            self.slots[tensor] = self._slot()
        self.fed = set(feeds)

    def _slot(self) -> int:
        self.size += 1
        return self.size - 1

    def add(self, op: Operation, wanted: set[Tensor]) -> None:
        fed, outputs_of = self.fed, op.outputs
        if outputs_of and outputs_of[0] in fed and all(t in fed for t in outputs_of):
            return
        if op.type == "ReadVariableOp" and is_reference(op.inputs[0]):
            self.slots[op.outputs[0]] = self._read(op.inputs[0], op)
        elif op.type not in ("VariableV2", "VarHandleOp"):
            part = self.runs.part(op)
            inputs = tuple([self._input(op, i, t) if part is None or i in part.inputs else self._nothing()
                            for i, t in enumerate(op.inputs)])
            outputs = []
            for tensor in outputs_of:
                slot = self._slot()
                outputs.append(slot)
                if tensor not in fed and (not self.runs.outputs or self.runs.gives(tensor)):
                    self.slots[tensor] = slot
            self.steps.append(Step(op, inputs, tuple(outputs),
                                   part=None if part is None else {**op.attrs, **part.functions}))
            for variable in updates_of(op):
                self.updates.setdefault(variable, []).append(op)
        for tensor in outputs_of:
            if tensor in wanted and is_reference(tensor):
                self.slots[tensor] = self._read(tensor)

    def _nothing(self) -> int:
        """The slot of an input that is not needed."""
        if not self.constants:
            self.constants[self._slot()] = _NOT_NEEDED
        return next(iter(self.constants))

    def _is_outdated(self, op: Operation, tensor: Tensor) -> bool:
        """Whether `tensor` was read from a reference before an update that `op` waits for.

        In TensorFlow what was read shares the variable's memory, so `op` would see the update, and so
        would the gradient of an op that waits.
        """
        if not self.updates or tensor in self.fed:
            return False
        if not is_read(tensor):
            return False
        updates = self.updates.get(variable_of(tensor.op.inputs[0]), ())
        return any(u.index > tensor.op.index and (_waits_for(op, u) or _waits_for(op.forward_op, u)) for u in updates)

    def _input(self, op: Operation, index: int, tensor: Tensor) -> Any:
        if not is_reference(tensor):
            if tensor not in self.slots:  # _update_input gave the op what was made later
                raise GraphError(f"{op.name!r} takes {tensor.name!r}, which is made after it", line=str(op.site),
                                 hint="a loop by hand is complete when each Merge of its frame takes a NextIteration")
            return self._read(tensor.op.inputs[0]) if self._is_outdated(op, tensor) else self.slots[tensor]
        parameters = op.definition.parameters
        passes_on = op.definition.name in ("Identity", "IdentityN") and tensor.dtype.name == "resource"
        if passes_on or parameters[min(index, len(parameters) - 1)].kind.handle:
            return variable_of(tensor).name
        is_value = tensor in self.fed and tensor.op.type != "Captured"  # a function's capture is given the name
        return self.slots[tensor] if is_value else self._read(tensor)

    def _read(self, tensor: Tensor, reader: Operation | None = None) -> int:
        slot = self._slot()
        variable = variable_of(tensor)
        self.steps.append(Step(reader or variable, (), (slot,), reads=variable.name))
        return slot
