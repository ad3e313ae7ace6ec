"""Running a plan: step by step as written, or in one tight loop of pre-bound calls."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ...core.dtypes import as_dtype
from ...core.errors import AutodiffError, InvalidArgumentError, OpError, ResourceExhaustedError
from ...core.graph import Operation
from ...core.shapes import show
from .kernel_traits import direct_ufunc
from .plan import Plan, Step, last_uses
from .run_sentences import in_tensorflows_words
from .state import Run
from .unknown_shapes import kernel_of

_REFUSALS = (ValueError, IndexError, TypeError, ArithmeticError, AutodiffError)


def starting_slots(plan: Plan, fed: Sequence[Any]) -> list[Any]:
    """Values of all slots before the first step."""
    slots: list[Any] = [None] * plan.size
    for slot, value in plan.constants.items():
        slots[slot] = value
    for slot, value in zip(plan.feeds, fed):
        slots[slot] = value
    return slots


def run_step(step: Step, slots: list[Any], run: Run) -> None:
    """Run one step; its results are in `slots`. Raises an OpError that knows the operation."""
    run.op = op = step.op
    args = [i if isinstance(i, str) else slots[i] for i in step.inputs]
    try:
        if step.reads is not None:
            slots[step.outputs[0]] = run.read(step.reads)
            return
        attrs = {**step.attrs, "run": run} if op.definition.takes_run else op.attrs
        result = kernel_of(op)(*args, **attrs) if step.call is None else step.call(*args)
    except Exception as error:
        fail(error, op, args)
    if len(step.outputs) == 1:
        slots[step.outputs[0]] = result
    else:
        for slot, value in zip(step.outputs, result):
            slots[slot] = value


def interpret(plan: Plan, run: Run, fed: Sequence[Any]) -> list[Any]:
    """The values of the plan's fetches, by the plainest way; the others must equal it bit for bit."""
    slots = starting_slots(plan, fed)
    for step in plan.steps:
        run_step(step, slots, run)
    return [slots[i] for i in plan.fetches]


def fail(error: Exception, op: Operation, args: Sequence[Any]) -> NoReturn:
    """Raise `error` again as a failure of `op`: with the op, its inputs, and the user's line.

    What NumPy refuses becomes InvalidArgumentError. Anything that is no refusal is a bug: it keeps
    its class and gets a note.
    """
    if isinstance(error, OpError):
        if error.op is None:
            error.op = op
        raise error if error.node else error.explain(**where(op, args))
    if isinstance(error, (MemoryError, *_REFUSALS)):
        kind = ResourceExhaustedError if isinstance(error, MemoryError) else InvalidArgumentError
        if isinstance(error, AutodiffError):
            refused = kind(None, op, error.sentence, **error.where)
        else:
            refused = kind(None, op, in_tensorflows_words(error, op, args))
        raise (refused if refused.node else refused.explain(**where(op, args))) from error
    known = where(op, args)
    error.add_note(f"in {known['node']}\nwritten at {known['line']}")
    raise error


def where(op: Operation, args: Sequence[Any]) -> dict[str, str]:
    """node: which op it is, and what it was given; line: where the user wrote it."""
    lines = [f"{op.name}: {op.describe()}"]
    if args:
        lines.append(f"found {', '.join(map(describe, args))}")
    if op.origin is not None:
        forward = op.forward_op
        lines.append(f"for the gradient of {forward.name}, written at {forward.site}")
    return {"node": "\n".join(lines), "line": str(op.site)}


def describe(value: Any) -> str:
    """`float32[2,784]`."""
    if isinstance(value, str):
        return f"variable {value!r}"
    if not isinstance(value, (np.ndarray, np.generic)):
        return type(value).__name__
    return f"{as_dtype(value.dtype).name}{show(value.shape)}"


class _Call(NamedTuple):
    """A step with everything looked up: slots[out] = function(*arguments(slots)), then `dead` slots are let go."""

    simple: bool
    function: Callable[..., Any]
    arguments: Callable[[list[Any]], Sequence[Any]]
    out: int
    dead: tuple[int, ...]
    step: Step


class Loop:
    """A plan bound for many runs: values are let go as soon as nothing reads them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._start = starting_slots(plan, ())
        self._last = last_uses(plan)
        self._names: dict[str, int] = {}
        self._calls = [self._call(i, step) for i, step in enumerate(plan.steps)]
        self._start += list(self._names)

    def __call__(self, run: Run, fed: Sequence[Any]) -> list[Any]:
        """The values of the plan's fetches."""
        slots = self._start.copy()
        for slot, value in zip(self.plan.feeds, fed):
            slots[slot] = value
        try:
            for simple, function, arguments, out, dead, step in self._calls:
                if simple:
                    slots[out] = function(*arguments(slots))
                else:
                    run.op = step.op
                    if len(step.outputs) == 1:  # no local may hold a variable's value until its update
                        slots[out] = function(run, *arguments(slots))
                    else:
                        for slot, value in zip(step.outputs, function(run, *arguments(slots))):
                            slots[slot] = value
                for slot in dead:
                    slots[slot] = None
        except Exception as error:
            run.op = step.op
            fail(error, step.op, arguments(slots))
        return [slots[i] for i in self.plan.fetches]

    def _call(self, index: int, step: Step) -> _Call:
        last, constants = self._last, self.plan.constants
        dead = tuple([s for s in {*step.inputs, *step.outputs}
                      if not isinstance(s, str) and last[s] <= index and s not in constants])
        simple = step.reads is None and len(step.outputs) == 1 and not step.op.definition.takes_run
        function, operands = _bound(step, simple)
        slots = [operand if type(operand) is int else self._name(operand) for operand in operands]
        return _Call(simple, function, getter(slots), step.outputs[0] if step.outputs else 0, dead, step)

    def _name(self, value: Any) -> int:
        """The slot of a variable's name or another constant that a call takes; behind the plan's own."""
        return self._names.setdefault(value, self.plan.size + len(self._names))


def _bound(step: Step, simple: bool) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function of a step and its operands: slots, and names of variables."""
    op = step.op
    if step.reads is not None:
        return Run.read, (step.reads,)
    kernel = kernel_of(op)
    if step.call is not None:
        return step.call, step.inputs
    if simple:
        direct = direct_ufunc(op) if kernel is op.definition.kernel else None
        if direct is not None and None not in direct.inputs:
            return direct.ufunc, tuple([step.inputs[i] for i in direct.inputs])  # type: ignore[index]
        return (partial(kernel, **op.attrs) if op.attrs else kernel), step.inputs
    if op.definition.takes_run:
        attrs = step.attrs
        return (lambda run, *args: kernel(*args, run=run, **attrs)), step.inputs
    return (lambda run, *args: kernel(*args, **op.attrs)), step.inputs


def getter(slots: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """A function from all slots to the values at some of them."""
    if not slots:
        return _no_arguments
    if len(slots) == 1:
        return itemgetter(slice(slots[0], slots[0] + 1))
    return itemgetter(*slots)


def _no_arguments(slots: Sequence[Any]) -> tuple[()]:
    return ()


def steps_with_values(plan: Plan, run: Run, slots: list[Any]) -> Iterator[tuple[Step, list[Any]]]:
    """Run the plan, giving each step with its inputs as it has run; values are let go as in `Loop`."""
    last = last_uses(plan)
    for i, step in enumerate(plan.steps):
        run_step(step, slots, run)
        yield step, [x if isinstance(x, str) else slots[x] for x in step.inputs]
        for slot in (*step.inputs, *step.outputs):
            if not isinstance(slot, str) and last[slot] <= i and slot not in plan.constants:
                slots[slot] = None
