"""Edits: other values for variables and tensors, held fast, and all of it taken back."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ....core.errors import ArgumentError, StateError
from ....core.graph import Tensor
from ....runtime.cursor import Execution
from ...analysis.advice import advice_of
from ...analysis.edits.of_script import past_cut
from ...analysis.findings import Finding, Remedy, WhyNone
from ...facts.answers import Changed
from ...facts.graph_lists import variables_of
from ...facts.roles import is_variable
from ...facts.stats import has_nonfinite, statistics
from ..overlay import Overlay
from ..runs.stepper import Stepper
from ..state import State
from .evaluate import Values
from .patches import Patch, patch_of, patch_of_lines
from .trials import Trials
from .trials_told import ANEW


class Edits:
    """What-if: sets values; what lies downstream is computed again when it is asked for."""

    def __init__(self, state: State, stepper: Stepper, values: Values, trials: Trials) -> None:
        self.state, self.model, self.overrides = state, state.model, state.overrides
        self.stepper, self.values, self.trials = stepper, values, trials
        self._done: list[tuple[str, Callable[[], None]]] = []  # what was changed, and how it is taken back

    def set(self, target: str, value: Any) -> Changed:
        """Change a variable now, or override a tensor's value in the runs to come (in the open run from here on).

        value: array, number or expression; it is broadcast to the shape that is there. What is evaluated next is as of
        now, with the last run's feeds. `unset` takes an override back.
        """
        tensor, given = self.model.targets.outside(target), self.values.as_value(value)
        if is_variable(tensor) or tensor.op.inputs and is_variable(tensor.op.inputs[0]) and tensor.op.type in (
                "Identity", "ReadVariableOp"):
            return self._set_variable(tensor if is_variable(tensor) else tensor.op.inputs[0], given)
        before = self.state.stats_of(tensor, self.state.moment_for([tensor]))
        shape = before.shape if before is not None else tuple(d or 0 for d in tensor.dims or ())
        array = np.broadcast_to(np.asarray(given), shape) if np.ndim(given) == 0 and before is not None else given
        _, arrays = self.model.reader.read({tensor: array})
        if self.stepper.execution is not None and tensor in self.stepper.execution.plan.slots:
            self.stepper.execution.set(tensor, arrays[0])
            self._done.append((f"set {tensor.name}", partial(self._unset_open, self.stepper.execution, tensor)))
        else:
            self._override(tensor, arrays[0], f"set {tensor.name}")
        return Changed(tensor.name, "tensor", before, statistics(arrays[0]))

    def _set_variable(self, tensor: Tensor, given: Any) -> Changed:
        self._only_in_the_present()
        values, name = self.model.session.variables, tensor.op.name
        old = values.get(name)
        dtype = old.dtype if old is not None else tensor.dtype.base_dtype.as_numpy_dtype
        shape = old.shape if old is not None else tuple(tensor.dims or ())
        try:
            new = np.array(np.broadcast_to(np.asarray(given, dtype), shape))
        except (ValueError, TypeError) as error:
            raise ArgumentError(expected=f"a value of shape {list(shape)} for {name!r}",
                                found=f"{np.shape(given)}: {error}") from None
        self._give_back_later(name, f"set {name}")
        values[name] = new
        self.overrides.mark_edited()
        self._overtaken()
        return Changed(tensor.name, "variable", None if old is None else statistics(old), statistics(new))

    def initialize(self, *targets: str) -> tuple[Changed, ...]:
        """Give variables the values of their own initializers anew; all of them without targets."""
        self._only_in_the_present()
        listed = {variable.op: variable for variable, _ in variables_of(self.model.graph)}
        named = [self.model.targets.one(name) for target in targets for name in self.model.resolve(target)]
        ops = [t.op if t.op in listed else t.op.inputs[0].op if t.op.inputs else t.op for t in named] or list(listed)
        if unknown := next((op.name for op in ops if op not in listed), ""):
            raise ArgumentError(f"{unknown!r} is not a variable", hint="info vars lists them")
        values = self.model.session.variables
        before = {op: values.get(op.name) for op in ops}
        count = len(self._done)
        for op in ops:
            self._give_back_later(op.name, f"init {op.name}")
        steps = [take_back for _, take_back in self._done[count:]]
        self._done[count:] = [("init", partial(_all_of, steps))]
        self.model.session.run([listed[op].initializer for op in ops])
        self.overrides.mark_edited()
        self._overtaken()
        return tuple(Changed(op.outputs[0].name, "variable", None if old is None else statistics(old),
                             statistics(values[op.name])) for op, old in before.items())

    def _only_in_the_present(self) -> None:
        if self.stepper.is_replaying or self.state.view is not None:
            raise StateError("variables are set in the present: a past step is looked at",
                             hint="use set on the tensor that is read from it, or go back to the present: run -t 1")

    def unset(self, target: str) -> None:
        """Compute a tensor again whose value was overridden; let go of what is frozen."""
        tensor = self._frozen_or_tensor(target)
        name = tensor.op.name
        if name in self.overrides.frozen:
            value = self.overrides.thaw(name)
            self._done.append((f"set {name} = off", partial(self.overrides.freeze, name, value)))
        elif tensor in self.overrides.values:
            value = self.overrides.drop(tensor)
            self.overrides.mark_edited()
            self._done.append((f"set {tensor.name} = off", partial(self.overrides.put, tensor, value)))
        else:
            names = [*(t.name for t in self.overrides.values), *self.overrides.frozen]
            raise ArgumentError(f"{tensor.name!r} is not overridden: overridden are {', '.join(names) or 'none'}")

    def _frozen_or_tensor(self, target: str) -> Tensor:
        tensor = self.model.targets.outside(target)
        source = tensor.op.inputs[0] if tensor.op.inputs and is_variable(tensor.op.inputs[0]) else tensor
        return source if source.op.name in self.overrides.frozen else tensor

    def freeze(self, target: str) -> Changed:
        """Hold a variable, or a tensor, at the value it has now: runs compute with it and do not change it."""
        tensor = self.model.targets.outside(target)
        if tensor.op.inputs and is_variable(tensor.op.inputs[0]) and tensor.op.type in ("Identity", "ReadVariableOp"):
            tensor = tensor.op.inputs[0]
        if not is_variable(tensor):
            value = self.state.values([tensor], self.state.moment_for([tensor]))[0]
            self._override(tensor, value, f"freeze {tensor.name}")
            return Changed(tensor.name, "tensor", statistics(value), statistics(value))
        name = tensor.op.name
        value = self.state.variable_value(tensor, self.model.session.variables)
        self._done.append((f"freeze {name}", self._holding_as_now(name)))
        self.overrides.freeze(name, value)
        return Changed(tensor.name, "variable", statistics(value), statistics(value))

    def fix(self, number: int) -> tuple[Remedy, str]:
        """Have the runs to come compute with a remedy that `trials` tried, beside the graph and with those before it.

        Each such run says so in its record, and is remembered with what it computed. Where variables are not finite, or
        the run that failed is the last, all are what they were before that, and, where updates are changed or the
        training diverged, before the first of the steps tried; gives which, or "". Raises ArgumentError for none.
        """
        remedy, new, since = self.trials.numbered(number)
        old = self.overrides.overlay
        edits = (*(old.edits if old is not None else ()), *new.edits)
        self.overrides.lay(Overlay(self.model, new.y, edits))
        self._done.append((f"fix {remedy.words}", partial(self.overrides.lay, old)))
        values = self.model.session.variables
        is_last = [m.run for m in self.state.moments][-1:] == [since.run] and not any(
            record.error for record in self.state.log.records if record.run == since.run)  # which updated nothing
        if not (new.is_late or self.trials.diverged or is_last or any(map(has_nonfinite, dict(values).values()))):
            return remedy, ""
        values.update({name: np.array(value) for name, value in dict(since.variables).items()})
        self.overrides.mark_edited()
        return remedy, str(self.state.log.at(since.run))

    def patch(self, number: int) -> Patch:
        """What a remedy that was tried is in the user's file; nothing is written. Raises ArgumentError, as `fix`."""
        remedy, overlay, _ = self.trials.numbered(number)
        return (patch_of_lines(remedy.lines, self.model.script_name) if remedy.lines else
                patch_of(overlay.edits, self.model.script_name))

    def held(self) -> tuple[str, ...]:
        """Names of what is held: frozen variables, overridden tensors."""
        return (*self.overrides.frozen, *(t.name for t in self.overrides.values))

    def undo(self) -> str:
        """Take back the last set or freeze; gives what it was. Raises ArgumentError if there is none."""
        if not self._done:
            raise ArgumentError("there is nothing to undo: nothing was set, frozen or fixed",
                                hint="what fix --write has written is undone by copying FILE~ back")
        text, take_back = self._done.pop()
        take_back()
        return text

    def _override(self, tensor: Tensor, value: Any, what: str) -> None:
        old = self.overrides.values.get(tensor)

        def take_back() -> None:
            if old is None:
                self.overrides.drop(tensor)
            else:
                self.overrides.put(tensor, old)
            self.overrides.mark_edited(bool(self.overrides.values))

        self.overrides.put(tensor, value)
        self.overrides.mark_edited()
        self._done.append((what, take_back))

    def _give_back_later(self, name: str, what: str) -> None:
        values, was_edited = self.model.session.variables, self.overrides.is_edited
        old, hold = values.get(name), self._holding_as_now(name)

        def take_back() -> None:
            if old is None:
                values.pop(name, None)
            else:
                values[name] = old
            hold()
            self.overrides.mark_edited(was_edited)

        self._done.append((what, take_back))

    def _holding_as_now(self, name: str) -> Callable[[], Any]:
        """What holds a variable at the value that it is held at now, or lets go of it if it is not."""
        if name in self.overrides.frozen:
            return partial(self.overrides.freeze, name, self.overrides.frozen[name])
        return partial(self.overrides.thaw, name)

    def _overtaken(self) -> None:
        """A frozen variable that is set is frozen at the new value."""
        for name in self.overrides.frozen:
            self.overrides.freeze(name, self.model.session.variables[name])

    def _unset_open(self, execution: Execution, tensor: Tensor) -> None:
        if execution is self.stepper.execution:
            execution.unset(tensor)


def _all_of(steps: list[Callable[[], None]]) -> None:
    """Take several changes back, the last one first."""
    for take_back in reversed(steps):
        take_back()


def numbered(why: WhyNone, trials: Trials) -> WhyNone:
    """Why a gradient is None, its remedy as the first of the trials' where it is known as lines of the script."""
    model, moments = trials.model, trials.state.moments
    advice, first = advice_of(model.graph), next(iter(why.cuts), None)
    remark = advice.remarks.get(why.x.rpartition(":")[0])
    place = first.place if first is not None else why.place if remark is not None else None
    lines = why.lines or (remark.lines if remark is not None else {}) or advice.written(Finding(
        0, "no gradient", first.op if first is not None else "", "", why.x, why.text, why.remedy, "", place))
    y = model.targets.named(why.y.rpartition(":")[0])
    cut = model.targets.named(first.op) if first is not None and first.first else None
    straight = past_cut(y.outputs[0], cut, why.remedy) if not lines and y is not None and cut is not None else {}
    if straight:
        lines, why = straight, replace(why, remedy=why.remedy.rpartition("; or ")[2])
    if not lines or y is None or not moments:
        return why
    trials.keep(0)
    number = trials.numbered_as(Remedy(why.remedy, "", 0.0, 0.0, place, applied=ANEW, lines=lines), Overlay(
        model, y.outputs[0], ()), moments[-1])
    return replace(why, remedy=f"{why.remedy}; {ANEW.format(number)}")
