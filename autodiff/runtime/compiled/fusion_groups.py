"""Chains of elementwise calls on large arrays, gathered so that they run piece by piece in the cache.

A group holds calls of one large shape, and reductions of their results. Calls that do not wait for the group run
before it, the others after it; the bits are those of whole arrays.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...ops.math.comparison import choose
from ..plan.passes import is_pure
from ..plan.plan import Plan, Step, last_uses
from .lowering import Form
from .tracing import Reduction, Shape

SMALLEST = 1 << 18  # elements of an array that is worth it: smaller ones stay in the cache anyway
FEWEST = 3  # calls: fewer gain nothing


@dataclass(frozen=True, eq=False, slots=True)
class Tiles:
    """Steps that run together, tile by tile. flat: in the order of memory, else by rows of the first axis."""

    steps: tuple[Step, ...]
    shape: Shape
    flat: bool


def gathered(plan: Plan, forms: dict[int, Form], others: set[int]) -> Plan:
    """The plan with groups for chains, which give all they make. others: slots whose memory is not in C order."""
    large = {slot for slot, form in forms.items() if slot not in others and int(np.prod(form.shape)) >= SMALLEST}
    if not large:
        return plan
    done: list[Step] = []
    waiting: Sequence[Step] = plan.steps
    while waiting:
        waiting = _one_group(waiting, done, forms, large)
    return replace(plan, steps=done)


def _one_group(steps: Sequence[Step], done: list[Step], forms: dict[int, Form], large: set[int]) -> list[Step]:
    """Append the steps before the next group, and the group; gives the remaining steps."""
    group = _Group(forms)
    after: list[Step] = []
    late: set[int] = set()  # what the steps after the group give
    is_apart = False  # whether a chain of its own has begun: its group comes later, with all that it needs
    for i, step in enumerate(steps):
        waits = not late.isdisjoint(step.inputs)
        joins = not waits and group.takes(step, large)
        if joins and group.meets(step):
            group.add(step)
            continue
        is_apart = is_apart or joins
        if is_apart or waits or not group.made.isdisjoint(step.inputs) or (after and not is_pure(step)):
            after.append(step)
            late.update(step.outputs)
            if not is_pure(step) or step.op.definition.stateful:
                after += steps[i + 1:]
                break
        else:
            done.append(step)
    if len(group.steps) >= FEWEST:
        done.append(group.joined())
    else:
        done += group.steps
    return after


class _Group:
    """The group that is being gathered.

    made: what its steps give; read: and what they read. flat: None until a step decides it.
    """

    def __init__(self, forms: dict[int, Form]) -> None:
        self.steps: list[Step] = []
        self.made: set[int] = set()
        self.read: set[int] = set()
        self.shape: Shape = ()
        self.flat: bool | None = None
        self._forms = forms
        self._ended: set[int] = set()  # what full sums give: there only when all tiles have run

    def takes(self, step: Step, large: set[int]) -> bool:
        """Whether the step can join."""
        if not _is_elementwise(step, self._forms) or not self._ended.isdisjoint(step.inputs):
            return False
        forms = [self._forms[i] for i in step.inputs]
        if isinstance(step.call, Reduction):
            return bool(self.steps) and step.inputs[0] in self.made and self._ends(step.call, forms[0])
        shape = self._forms[step.outputs[0]].shape
        if step.outputs[0] not in large or (self.steps and shape != self.shape):
            return False
        flat = all(f.shape == shape or np.prod(f.shape) == 1 for f in forms)
        return flat or (self.flat is not True and shape[0] > 1)

    def meets(self, step: Step) -> bool:
        """Whether the step has to do with the group: it reads what a step of it reads or makes.

        Others would only live at the same time, as the blocks of rows of a Hessian.
        """
        return not self.steps or any(i in self.read and self._forms[i].shape == self.shape for i in step.inputs)

    def _ends(self, reduction: Reduction, form: Form) -> bool:
        if form.shape != self.shape or self.flat is False:
            return False
        return reduction.ufunc is np.add and len(reduction.axes) == len(form.shape) and form.dtype.kind in "f" \
            and not reduction.keepdims

    def add(self, step: Step) -> None:
        if isinstance(step.call, Reduction):
            self.flat = True
            self._ended.update(step.outputs)
        else:
            self.shape = self._forms[step.outputs[0]].shape
            if not all(self._forms[i].shape == self.shape or np.prod(self._forms[i].shape) == 1 for i in step.inputs):
                self.flat = False
        self.steps.append(step)
        self.made.update(step.outputs)
        self.read.update(step.inputs, step.outputs)

    def joined(self) -> Step:
        inputs = dict.fromkeys(i for step in self.steps for i in step.inputs if i not in self.made)
        outputs = tuple([o for step in self.steps for o in step.outputs])
        tiles = Tiles(tuple(self.steps), self.shape, self.flat is not False)
        return Step(self.steps[-1].op, tuple(inputs), outputs, call=tiles)


def _is_elementwise(step: Step, forms: dict[int, Form]) -> bool:
    """Whether a step may run on pieces: it is one call, or its op is declared to go element by element."""
    if step.call is not None:
        return isinstance(step.call, (np.ufunc, Reduction)) or step.call is choose
    return is_pure(step) and step.op.definition.elementwise and len(step.outputs) == 1 and step.outputs[0] in forms \
        and all(i in forms and forms[i].dtype != object for i in step.inputs)


def with_outputs(plan: Plan) -> Plan:
    """The plan with groups that compute and give only the values that other steps read."""
    last = last_uses(plan)
    return replace(plan, steps=[_with_outputs(step, last) if isinstance(step.call, Tiles) else step
                                for step in plan.steps])


def _with_outputs(step: Step, last: list[int]) -> Step:
    outputs = tuple([o for o in step.outputs if last[o] >= 0])
    used, kept = set(outputs), []
    for inner in reversed(step.call.steps):
        if not used.isdisjoint(inner.outputs):
            kept.append(inner)
            used.update(inner.inputs)
    inputs = tuple([i for i in step.inputs if i in used])
    return replace(step, inputs=inputs, outputs=outputs, call=replace(step.call, steps=tuple(kept[::-1])))
