"""The door of PyTorch: while a script runs, each `loss.backward()` becomes a run of the debugger's.

The ops of the forward pass are recorded as they are done; torch's own backward runs first and is what counts for the
script. Then the record, as a graph with the values of its parameters and data, is run under the debugger.
"""
from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from ...core.errors import AutodiffError
from ...debug.analysis.advice import Advice, Remark
from ...debug.facts.roles import at_line
from ...ops.common.instead import instead
from ..course import Course, Turn, Use, too_far, uphill
from ..doors import View
from ..steps import ForeignStep, ForeignSteps
from .derivatives.piled import is_measured
from .functions import Calls
from .given import in_loop, reaches_back, without_batches
from .graph import array_of, name_of, sliced
from .habits import Habits
from .left_behind import lacks, left_before, remark_on, sampled, to_numbers
from .names import data_names, modules_in, parameters_in, user_names
from .raised.post_mortem import PostMortem
from .rates import underflowing
from .record import Call, Entry, Recorder, is_finite, is_leaf, is_source, place_of_frames, storage_of, user_frames
from .steps import ONE_IN, Builder, Built, signature
from .transforms import Asked, differentiating, leads_elsewhere, taken, uncompiled
from .unkept import fixed_tables
from .words import WORDS
from .written import slower, written

_NO_STEP = ("gradbg: nothing here was a step: loss.backward() is one, torch.autograd.grad of one loss, and a call "
            "of what torch.func.grad made, or torch.vmap of that, but not of what requires gradients\n")
_OF_16_BITS = 0.5  # how far gradients may differ with them, as relus switch by rounding


class TorchDoor:
    """Records one script. recorder: of its ops; steps: what they became."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.recorder = Recorder(is_bounded=True)
        self.steps = ForeignSteps("torch")
        self.steps.advice.words = WORDS
        self._calls, self._own_grad = Calls(self.recorder), torch.autograd.grad
        self._habits = Habits(self.recorder)
        self._builder = Builder(self.steps, self.recorder, self._habits)
        self._course = Course()
        self._is_inside = False
        self._losses: tuple[Any, Any] = None, None  # that were differentiated last
        self._earlier: list[Entry] = []  # what led to numbers that were taken two steps ago
        self._idle: list[list[Entry]] = [[], []]  # what the last two steps did without autograd
        self._asked: list[Any] = []  # what was differentiated by on the way to the loss
        self._passing: list[Any] = []  # leaves that torch.func was given for that
        self._refused: set[str] = set()

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """While the script runs."""
        backward, grad = torch.Tensor.backward, torch.autograd.grad

        def stop_at_backward(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            run = partial(backward, tensor, *args, **kwargs)
            return run() if self._is_apart() else self._backward(tensor, bool(args), run)

        def stop_at_grad(outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            """torch.autograd.grad that stops for the prompt, where a loss is differentiated once."""
            inputs = inputs if isinstance(inputs, (torch.Tensor, tuple)) else list(inputs)  # which may be read once
            run = partial(grad, outputs, inputs, *args, **kwargs)
            if self._is_apart() or args or kwargs.keys() & {"create_graph", "grad_outputs", "is_grads_batched"}:
                asked = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
                asked += [whole for t in asked if (whole := getattr(t, "_base", None)) is not None]
                self._asked += asked
                self._habits.asked.update(map(id, asked))
                return self._habits.second.seen(run, outputs, inputs, *args, **kwargs)
            return run() if is_measured(inputs, self._habits) else self._grad(outputs, inputs, run)

        torch.Tensor.backward, torch.autograd.grad = stop_at_backward, stop_at_grad
        try:
            with self._calls, self._habits, self.recorder, uncompiled(taken), differentiating(self._answer):
                yield
            if not self.steps.session.runs and not self._is_apart():
                sys.stderr.write(_NO_STEP)
        except Exception as error:
            with contextlib.suppress(Exception):  # what is said of an error is never another one
                parameters = parameters_in(user_names(self._view.namespace(), error))
                error.told = PostMortem(  # type: ignore[attr-defined]
                    error, self.recorder, self._habits, self._losses, parameters,
                    earlier=[*self._idle[0], *self._earlier]).remark()
            raise
        finally:
            torch.Tensor.backward, torch.autograd.grad = backward, grad
            if not self._is_apart():
                with self._inside():
                    names = user_names(self._view.namespace())
                    self._looked_at(names, parameters_in(names))

    def _is_apart(self) -> bool:
        """Whether a call is none of the script's own, or the script is let alone."""
        self.recorder.paused |= self._view.is_left()
        return self._is_inside or self.recorder.paused

    @contextlib.contextmanager
    def _inside(self) -> Iterator[None]:
        """What is done inside is not recorded."""
        self._is_inside = self.recorder.paused = True
        try:
            yield
        finally:
            self._is_inside = self.recorder.paused = False
            self._calls.turn()

    def _backward(self, loss: Any, is_seeded: bool, run: Any) -> None:
        """One step: torch's backward, then ours."""
        self._losses = self._losses[1], loss
        with self._inside():
            names = user_names(self._view.namespace())
            self._habits.before_backward(parameters := parameters_in(names), user_frames())
            before = {name: p.grad.clone() for name, p in parameters.items() if p.grad is not None}
            run()
            loss, factor = self._habits.rates.unscaled(loss)
            if loss.dim() == 0 and not is_seeded:
                own = {name: _change(p.grad, before.get(name), factor) for name, p in parameters.items()
                       if p.requires_grad}
                self._step(loss, names, parameters, own, "loss.backward()")

    def _answer(self, asked: Asked, plain: Callable[[], Any]) -> Any:
        """One step of a script that asks torch.func for gradients. plain: leaves it to torch.func."""
        try:
            return plain() if self._is_apart() else asked.answered(self._slopes, instead([
                (self.recorder, "paused", True)]))
        except NotImplementedError:
            return plain()

    def _slopes(self, loss: Any, leaves: dict[str, Any], call: str) -> Any:
        """The gradients at the leaves of torch.func; the step is the one around, if the loss leads to others too."""
        asked = [*leaves.values()]
        if torch.is_grad_enabled() and leads_elsewhere(loss, asked):
            self._passing += asked
            return torch.autograd.grad(loss, asked, create_graph=True, allow_unused=True)
        unknown = [None] * len(asked)
        return self._grad(loss, asked, lambda: self._own_grad(
            loss, asked, allow_unused=True) if loss.requires_grad else unknown, call, leaves)

    def _grad(self, outputs: Any, inputs: Any, run: Any, call: str = "torch.autograd.grad()",
              leaves: dict[str, Any] | None = None) -> Any:
        """One step of a script that asks for gradients itself. leaves: by which it does, where it has no names."""
        listed = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
        with self._inside():
            names = user_names(self._view.namespace())
            parameters = parameters_in(names)
            if leaves is not None:
                made = self._habits.made  # copies of parameters are made where these were
                made.update((id(p), made.get(id(parameters.get(name)), ())) for name, p in leaves.items())
                parameters = leaves
            found = run()
            if len(listed) == 1 and listed[0].dim() == 0:
                asked = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
                slopes = {id(x): g for x, g in zip(asked, found)}
                own = {name: array_of(slopes[id(p)]) for name, p in parameters.items() if slopes.get(id(p)) is not None}
                self._step(listed[0], names, parameters, own, call)
        return found

    def _looked_at(self, names: dict[str, Any], parameters: dict[str, Any], used: Sequence[Entry] = ()) -> None:
        """Run, too, the last loss that is not finite and that the script has looked at, but has not differentiated."""
        built = None
        with contextlib.suppress(Exception):  # of what is no step of the script's
            bad = next((e for e in reversed(self.recorder.entries) if any(t.dim() == 0 and t.requires_grad and not (
                is_leaf(t) or bool(torch.isfinite(t.detach()).all())) for t in e.made)), None)
            if bad is not None and all(bad is not e for e in used):
                loss = bad.made[0]
                parts = sliced([e for e in self.recorder.entries if not _updates(e, parameters)], [loss])
                known = {**parameters, **self._unnamed(parts, parameters)}
                built = self._builder.built(loss, parts, known, data_names(names), signature(parts, known, loss))
        with contextlib.suppress(AutodiffError):
            if built is not None:
                self.steps.run(ForeignStep(built.loss, built.values, built.feeds, {}, "a loss that is not finite"))

    def _step(self, loss: Any, names: dict[str, Any], parameters: dict[str, Any], own: dict[str, Any],
              call: str) -> None:
        """Run what was recorded, under the debugger. What cannot be read is said; the script goes on."""
        entries = without_batches([e for e in self._habits.lent.entries() if not _updates(e, parameters)],
                                  parameters.values())
        if not self.recorder.older:
            entries = in_loop(entries, user_frames(), self.recorder.before)
        used = sliced(entries, [loss])
        if reaches_back(used, entries, loss):  # as where two losses share a part, and each is differentiated
            entries = [e for e in self.recorder.older if not _updates(e, parameters) and not self._habits.has_moved(e)
                       ] + entries
            used = sliced(entries, [loss])
        self._looked_at(names, parameters, used)
        unnamed = self._unnamed(used, parameters)
        self._habits.unkept.note(unnamed.values(), used)
        parameters = self._lasting({**parameters, **unnamed}, entries, used)
        try:
            signed = signature(used, parameters, loss)
            if self._view.hurries() and self._builder.is_one_of_many(used, signed) and is_finite([
                    loss, *(p.grad for p in parameters.values())]):
                self._pass_over()
                return
            is_ill = not all(np.isfinite(g).all() for g in own.values() if g is not None)
            built = self._builder.built(loss, used, parameters, data_names(names), signed, is_exact=is_ill)
        except Exception as error:  # of a program that goes on, whatever we cannot read of it
            self._refuse(error)
            self._turn()
            return
        self._tell(built, names, parameters, entries, used)
        step = ForeignStep(built.loss, built.values, built.feeds, {
            name: slope for name, slope in own.items() if name in parameters}, call, ages=built.ages)
        self._habits.note(loss, built.loss, used, parameters.values())
        self._judge(Turn(step, float(loss.detach())), names, parameters, used)
        self._turn()
        try:
            self.steps.run(step)
        except AutodiffError as error:
            self._refuse(error)

    def _pass_over(self) -> None:
        """Go on without a look at a step, of a program whose steps are all others."""
        if "passed over" not in self._refused:
            sys.stderr.write("gradbg: each step does something else, as with batches of other lengths: from here on one"
                             f" in {ONE_IN} is looked at, and each that is not finite; with a watch all are\n")
        self._refused.add("passed over")
        self._turn()

    def _turn(self) -> None:
        """Begin the record of a new step."""
        self._habits.turn()
        self._earlier = to_numbers(self.recorder.older)
        self._idle = [self._idle[1], [e for e in self.recorder.entries if not e.has_grad]]
        self.recorder.turn()

    def _unnamed(self, used: Sequence[Entry], parameters: dict[str, Any]) -> dict[str, Any]:
        """Leaves that require gradients and that no module in sight has; not those whose numbers alone count."""
        known, trained = {id(p) for p in parameters.values()}, self._habits.given
        found: dict[str, Any] = {}
        for entry in used:
            is_through = entry.has_grad and any(t.requires_grad for t in entry.made)
            for tensor in entry.given:
                if is_source(tensor) and id(tensor) not in known and (is_through or id(tensor) not in trained and (
                        isinstance(tensor, torch.nn.Parameter) or id(tensor) in self._habits.optimized())):
                    known.add(id(tensor))
                    found[self._habits.label(tensor)] = tensor
        return found

    def _lasting(self, parameters: dict[str, Any], entries: Sequence[Entry], used: Sequence[Entry]) -> dict[str, Any]:
        """Without what a step made, and asked for gradients by on its way, as for a penalty of them."""
        asked, self._asked = {id(t) for t in self._asked}, []
        fleeting = asked and asked & {id(t) for t in (*self._passing, *(t for e in entries for t in e.made))}
        self._passing = []
        given = {id(t) for e in used for t in e.given}
        fleeting |= {id(p) for p in self._habits.not_given(parameters).values()
                     if id(p) in self._habits.asked and id(p) not in given and not isinstance(p, torch.nn.Parameter)}
        fleeting |= self._habits.copies.fleeting(entries, self._habits.given)
        fleeting |= self._habits.copies.idle(parameters.values(), given)
        return {name: p for name, p in parameters.items() if id(p) not in fleeting}

    def _tell(self, built: Built, names: dict[str, Any], parameters: dict[str, Any], entries: list[Entry],
              used: list[Entry]) -> None:
        """What the debugger's analyses are to know beside the graph."""
        advice = self.steps.advice
        advice.suspects = [Remark(f"{name_of(e.op)[0]} changes in place, unseen by autograd, what it differentiates",
                                  place_of_frames(e.frames)) for e in built.edits] + self._habits.suspects()
        advice.remarks, advice.flags = {}, self._habits.flags.beside(built.loss, built.feeds)
        advice.tolerance = max([Advice.tolerance, *(_OF_16_BITS for e in used for t in e.made
                                                    if t.dtype in (torch.bfloat16, torch.float16))])
        names_of = {id(p): self.steps.variables[name].op.name for name, p in parameters.items()}
        too_small = underflowing(self._habits.optimizers, self._habits.made)
        advice.spoilers = {names_of[id(p)]: told for p, told in too_small if id(p) in names_of}
        advice.untrained = {self.steps.variables[name].op.name for name in self._habits.not_given(parameters)}
        named = self.steps.names_behind(built.loss)
        self._view.handles.update({"loss": built.loss, **named})
        for name, parameter in parameters.items():
            variable = self.steps.variables[name]
            self._view.handles[name] = variable
            if not parameter.requires_grad:
                table = next((f for f in fixed_tables(names, self._habits.made) if name.endswith(
                    f"{f.op.rpartition('.')[2]}.weight")), None)
                advice.remarks[variable.op.name] = Remark(f"requires_grad of {name} is False", self._habits.frozen(
                    parameter)) if table is None else Remark(table.text, table.place, table.remedy,
                                                             written(table, self._habits.known(built.loss.graph)))
            elif lacks(parameter, used) and (remark := self._habits.copies.remark(parameter) or left_before(parameter, [
                    *self._idle[1], *self.recorder.older], used) or remark_on(
                    parameter, entries, used, self._habits.assigned, self._habits.made.get(id(parameter), ()))):
                advice.remarks[variable.op.name] = remark
        modules = modules_in(names)
        for only in modules if len(modules) == 1 else ():  # the module's own name may stand before
            self._view.handles.update({f"{only}.{inner}": self.steps.variables[inner]
                                       for inner, _ in modules[only].named_parameters() if inner in parameters})

    def _judge(self, turn: Turn, names: dict[str, Any], parameters: dict[str, Any], used: Sequence[Entry]) -> None:
        """What doctor is to say of the steps up to this one."""
        slopes = {name: slope for name, slope in turn.step.gradients.items() if slope is not None}
        self._habits.unstepped.note({id(p := parameters[n]): p for n, g in slopes.items() if g.any()}, user_frames())
        found, rate = self._habits.findings(names, parameters), self._habits.rates.rate()
        found += sampled(self.recorder.entries, used)
        turns = self._course.note((user_frames(), *slopes), turn)
        by_hand = next((e for e in self.recorder.entries if _updates(e, parameters)), None)
        if by_hand is not None:
            place = place_of_frames(by_hand.frames)
            use = Use(place, f"; the parameters are changed{at_line(place)}", "subtract the gradient: p -= lr * p.grad")
        else:
            use = Use(rate.place if rate else None, f"; {rate.text}{at_line(rate.place)}" if rate else "",
                      "let the optimizer minimize: a positive learning rate, without maximize=True")
        advice = self.steps.advice
        advice.written = lambda finding: written(finding, self._habits.known(self.steps.graph))
        advice.slower = lambda factor: slower(factor, self._habits.known(self.steps.graph))
        advice.rate, advice.uphill = rate, (rising := self._habits.rates.rising)
        advice.findings = lambda: [*found, *self._habits.between.findings(), *uphill(turns, use), *(
            (far := too_far(turns, use)) and rising() or far)]

    def _refuse(self, error: Exception) -> None:
        is_ours = isinstance(error, (AutodiffError, NotImplementedError))
        text = str(error) if is_ours else f"{type(error).__name__}: {error}"
        kind = re.sub(r"_\d+\b", "", text)  # one for all steps, whose ops are numbered
        if kind not in self._refused:
            self._refused.add(kind)
            sys.stderr.write(f"gradbg: this step cannot be looked at, the script goes on: {text}\n")


def _updates(entry: Entry, parameters: dict[str, Any]) -> bool:
    """Whether an op changes parameters without autograd: they are what they are when backward is called."""
    if isinstance(entry.op, Call):
        return False
    written = [t for t in entry.written if not (entry.has_grad and t.requires_grad)]
    return bool(written) and not {storage_of(p) for p in parameters.values()}.isdisjoint(map(storage_of, written))


def _change(now: Any, before: Any, factor: float) -> np.ndarray | None:
    """What a backward has added to a gradient, without the factor that the loss was multiplied by."""
    if now is None:
        return None
    change = array_of(now) if before is None else array_of(now) - array_of(before)
    return change if factor == 1.0 else change / np.asarray(factor, change.dtype)


def open_door(view: View) -> Any:
    """A context in which the script's backward passes are runs."""
    return TorchDoor(view).opened()


