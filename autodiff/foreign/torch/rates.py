"""What stands between a PyTorch program's gradients and its steps: scaled losses, clipping, schedules of the rate."""
from __future__ import annotations

import ast
import contextlib
import inspect
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from ...debug.analysis.advice import Remark
from ...debug.analysis.findings import Finding
from ...debug.facts.records import Place
from ...debug.facts.roles import at_line, place_on
from ..new_calls import with_word
from ..new_lines import returned_on, tight
from ..script_lines import holding
from .record import RawFrames, is_finite, is_library, numbers_of, place_of_frames, user_frames

_DROPS = 3  # of the rate, from which on it is said to fade
_FADED, _GONE = 1e-3, 1e-6  # of the first rate, if each drop halves it at least; whatever the drops are
_DECAY = 0.1  # from which on a weight decay is looked at
_HEAVY, _BALANCED = 0.3, 0.7  # one that may balance the loss, and the share of its gradient from which on it does
_SHARE = 0.1  # of the first rate, below which it is the schedule that makes it low
_RAISED = 4.0  # times the rate that an optimizer was given, from which on it is said to rise
_KEPT = 200  # steps
_LASTING, _FEW = 0.99, 20  # momentum that is hardly ever meant; steps
_PACED, _SLOW = 8, 1e-6  # first steps whose change of a kernel is taken; what of its size is next to nothing


class Rates:
    """optimizers: that there are. made: where things were made, by identity."""

    def __init__(self, optimizers: Mapping[Any, None], made: Mapping[int, RawFrames]) -> None:
        self._optimizers, self._made = optimizers, made
        self._scaled: dict[int, tuple[Any, Any, float]] = {}  # by identity: a scaled loss, the loss, the factor
        self._factor = 1.0  # that the gradients there are have been multiplied by
        self._clipped: tuple[RawFrames, float] = ((), 1.0)
        self._left: list[float] = []  # by which share each clipping of the first steps has left of the gradients
        self._clips: dict[bool, list[RawFrames]] = {True: [], False: []}  # by whether a step was still to use them
        self.is_due = False  # whether gradients have come that no step has used
        self._rates: list[float] = []
        self._scheduled: RawFrames = ()
        self._planned: RawFrames = ()  # where the last schedule was made
        self._plan_of: Any = None  # that schedule
        self._last = 0, 0.0, True  # its turn and the rate in the last step with finite gradients; whether all had
        self._first = 0.0  # the rate that schedules begin with
        self._kernel: tuple[Any, Any] = (None, None)  # one that the first step was to change, and what it was then
        self._decay: tuple[float, float] = (0.0, 0.0)  # weight decay, and the least it has been, in gradients
        self._pull = 0.0  # in the last step, of one that is added to gradients
        self._paces: list[float] = []  # by which share of its size each step has changed it
        self._damped: list[float] = []  # the size of the elements of gradients in each step, beside an epsilon
        self._momentum = 0.0

    def watch(self, noting: Callable[[Any, str, Callable[..., None]], None]) -> None:
        """Look at scalers, clipping and schedulers from now on.

        noting(owner, name, note): has note(result, *arguments) called after each call of a method.
        """
        noting(torch.amp.GradScaler, "scale", self._scale)
        noting(torch.amp.GradScaler, "unscale_", self._unscale)
        for place in (torch.nn.utils, torch.nn.utils.clip_grad):
            for name in ("clip_grad_norm_", "clip_grad_value_"):
                noting(place, name, self._clip)
        noting(torch.optim.lr_scheduler.LRScheduler, "step", self._schedule)
        noting(torch.optim.lr_scheduler.LRScheduler, "__init__", self._plan)

    def rate(self) -> Remark | None:
        """The learning rate of an optimizer, and where that was; None if there is none."""
        for optimizer in self._optimizers:
            rates = {float(group["lr"]) for group in optimizer.param_groups if group.get("lr") is not None}
            if rates:
                rates = {self._last[1]} if not self._last[2] and self._plan_of.optimizer is optimizer else rates
                planned = self.raised_by(max(rates))
                times = f"{max(rates) / self._first:.3g} times what it began with" if planned else ""
                how = f", {times}, by its schedule" if planned else " in one of its groups" if len(rates) > 1 else ""
                return Remark(f"the learning rate is {max(rates):.3g}{how}",
                              place_of_frames(planned or self._made.get(id(optimizer), ())))
        return None

    def _scale(self, found: Any, scaler: Any, loss: Any) -> None:
        if isinstance(loss, torch.Tensor):
            self._scaled[id(found)] = found, loss, float(scaler.get_scale())

    def _unscale(self, *_: Any) -> None:
        self._factor = 1.0

    def _clip(self, norm: Any, _: Any, most: Any = 1.0, *__: Any) -> None:
        if len(self._left) < _PACED:  # clip_grad_value_ gives no norm
            self._left.append(float(most) / (1.0 if norm is None else max(float(norm), 1e-30)))
        if self._factor != 1.0:
            self._clipped = user_frames(), self._factor
        self._clips[self.is_due] = [*self._clips[self.is_due][-_DROPS:], user_frames()]

    def _schedule(self, *_: Any) -> None:
        self._scheduled = user_frames()

    def _plan(self, _: Any, schedule: Any, *__: Any) -> None:
        self._planned, self._plan_of, self._last = user_frames(), schedule, (0, 0.0, True)

    def before_step(self, optimizer: Any) -> None:
        """Note the rate of a step."""
        self._first = float(optimizer.param_groups[0].get("initial_lr", 0.0))
        self._rates.append(float(optimizer.param_groups[0].get("lr", 0.0)))
        del self._rates[:-_KEPT]
        if self._last[2] and id(getattr(self._plan_of, "optimizer", None)) == id(optimizer):
            turn, is_finite_yet = getattr(self._plan_of, "last_epoch", 0), is_finite(
                p.grad for group in optimizer.param_groups for p in group["params"])
            self._last = (turn, self._rates[-1], True) if is_finite_yet else (*self._last[:2], False)
        self._scaled, self.is_due = {}, False
        group, is_early = optimizer.param_groups[0], len(self._paces) < _PACED
        self._momentum = float(group.get("momentum") or 0.0)
        if is_early:
            self._pace(optimizer)
            slopes = [p.grad.detach() for p in group["params"] if p.grad is not None]
            size = sum(float(g.norm()) ** 2 for g in slopes) / max(sum(g.numel() for g in slopes), 1)
            self._damped.append(size ** 0.5 / float(group.get("eps") or 1e-30))
        if is_early or self._decay[0] >= _HEAVY:
            self._weigh(optimizer, is_early=is_early)

    def _pace(self, optimizer: Any) -> None:
        """Take by how much the last step has changed a kernel."""
        kernel, before = self._kernel
        if kernel is None:
            kernel = next((p for group in optimizer.param_groups for p in group["params"] if p.grad is not None
                           and p.dim() > 1 and bool(numbers_of(p.grad).any())), None)
        else:
            pace = float((kernel.detach() - before).norm() / (before.norm() + 1e-30))
            self._paces.append(pace if math.isfinite(pace) else math.inf)  # what is nan is not slow
        self._kernel = kernel, None if kernel is None else kernel.detach().clone()

    def _weigh(self, optimizer: Any, *, is_early: bool) -> None:
        """Take how large the pull of a weight decay is, where gradients are 1."""
        group = optimizer.param_groups[0]
        decay, used = float(group.get("weight_decay") or 0.0), [p for p in group["params"] if p.grad is not None]
        if not decay or not used:
            return
        size, slope = (float(sum(float(t.detach().norm()) ** 2 for t in tensors)) ** 0.5
                       for tensors in (used, [p.grad for p in used]))
        is_apart = group.get("decoupled_weight_decay") or isinstance(optimizer, torch.optim.AdamW)
        if is_apart:
            slope = float(sum(p.numel() for p in used)) ** 0.5  # a step moves each element by some rate
        pull = decay * size / (slope + 1e-30)
        self._pull = 0.0 if is_apart else pull
        if is_early:
            self._decay = decay, min(pull, self._decay[1]) if self._decay[0] else pull

    def raised_by(self, rate: float) -> RawFrames:
        """Where the schedule was made that has raised the rate to this; () if none has."""
        return self._planned if self._planned and rate > self._first > 0 else ()

    def rising(self) -> list[Finding]:
        """What in a schedule of the script's own makes the rate far larger than it was given."""
        turn, rate, factors = self._last[0], self._last[1], getattr(self._plan_of, "lr_lambdas", ())
        if not self.raised_by(rate) or rate < _RAISED * self._first or not factors:
            return []
        place, new = bounded(factors[0], turn)
        return [Finding(97, "rate rises", "", "", "", f"the learning rate rises, from {self._first:.3g} that the "
                        f"optimizer was given to {rate:.3g}, by the factor {rate / self._first:.3g} of its schedule"
                        f"{at_line(place_of_frames(self._planned))}", f"let the factor end at 1: {new}" if new else
                        "let the factor end at 1", "grads", place or place_of_frames(self._planned))]

    def unscaled(self, loss: Any) -> tuple[Any, float]:
        """The loss behind a scaled one that backward begins with, and the factor."""
        _, loss, self._factor = self._scaled.get(id(loss), (loss, loss, 1.0))
        return loss, self._factor

    def findings(self, rate: Remark | None) -> list[Finding]:
        """What is wrong about them. rate: the learning rate, and where its optimizer was made."""
        return [*self._clipped_scaled(), *self._clipped_in_vain(), *self._faded(), *self._low(rate),
                *self._decayed(rate), *self._goes_on(rate)]

    def _goes_on(self, rate: Remark | None) -> list[Finding]:
        """A momentum that adds up more steps than there were."""
        share, count = self._momentum, len(self._rates)
        if not _LASTING < share < 1 or (1 - share) * count > 1 or rate is None or count < _FEW:
            return []
        return [Finding(62, "momentum too high", "", "", "", f"momentum is {share:g}: each step goes on in all later "
                        f"ones, {1 / (1 - share):.4g} times as far in the end, so that after {count} steps none of them"
                        f" has come to its end, and they add up to far more than a rate; {rate.text}", "lower momentum:"
                        " 0.9 is usual", "grads", rate.place)]

    def _low(self, rate: Remark | None) -> list[Finding]:
        is_clipped = bool(self._left) and max(self._left) < _SHARE
        if rate is not None and is_clipped and len(self._damped) >= _PACED and max(self._damped) < 1 and any(
                damped > 10 * left for damped, left in zip(self._damped, self._left)):
            place = place_of_frames(self._clips[True][-1]) if self._clips[True] else rate.place
            return [Finding(71, "clipped to nothing", "", "", "", f"the gradients are clipped{at_line(place)} to at "
                            f"most {max(self._left):.1g} of their norm: their elements are then at most "
                            f"{max(self._damped):.1g} times the epsilon of the optimizer, which they are divided by, so"
                            " steps are as much shorter", "clip at a norm that only few gradients exceed, such as 1 to "
                            "10", "grads", place)]
        if rate is None or len(self._paces) < _PACED or max(self._paces) >= _SLOW:
            return []
        if is_clipped:
            place = place_of_frames(self._clips[True][-1]) if self._clips[True] else rate.place
            return [Finding(71, "clipped to nothing", "", "", "", f"the gradients are clipped{at_line(place)} to at "
                            f"most {max(self._left):.1g} of their norm: each of the first {_PACED} steps changes the "
                            f"kernels by at most {max(self._paces):.1g} of their size, where 0.001 is usual",
                            "clip at a norm that only few gradients exceed, such as 1 to 10", "grads", place)]
        is_planned = bool(self._planned) and self._rates[-1] < _SHARE * self._first
        place = place_of_frames(self._planned) if is_planned else rate.place
        by = f" by its schedule, in place of {self._first:.3g}" if is_planned else ""
        return [Finding(70, "learning rate too low", "", "", "", f"{rate.text}{by}, which is too low: each of the "
                        f"first {_PACED} steps changes the kernels by at most {max(self._paces):.1g} of their size, "
                        "where 0.001 is usual, so the loss barely moves", "raise the learning rate", "grads", place)]

    def _decayed(self, rate: Remark | None) -> list[Finding]:
        decay, pull = self._decay
        if decay >= _HEAVY and self._pull > _BALANCED and pull < 1 and len(self._paces) >= _PACED:
            return [Finding(84, "weight decay", "", "", "", f"weight_decay is {decay:g}: it pulls the parameters to 0 "
                            f"{self._pull:.2g} times as much as the gradient of the loss moves them: there they stay, "
                            "far from what the loss asks for", "lower weight_decay: 1e-4 to 0.01 is usual", "grads",
                            rate.place if rate else None)]
        if decay < _DECAY or pull < 1 or len(self._paces) < _DROPS:
            return []
        return [Finding(84, "weight decay", "", "", "", f"weight_decay is {decay:g}: it pulls the parameters to "
                        f"0 {pull:.2g} times as much as the gradient of the loss moves them, or more, in each of the "
                        "first steps: nothing can be learnt against it", "lower weight_decay: 1e-4 to 0.01 is usual",
                        "grads", rate.place if rate else None)]

    def _clipped_scaled(self) -> list[Finding]:
        frames, factor = self._clipped
        place = place_of_frames(frames)
        return [Finding(88, "clipped while scaled", "", "", "", f"the gradients are clipped{at_line(place)} while "
                        f"GradScaler has them multiplied by {factor:g}: nearly nothing is left of them after unscaling",
                        "call scaler.unscale_(optimizer) before clipping", "doctor", place)] if place else []

    def _clipped_in_vain(self) -> list[Finding]:
        in_vain = self._clips[False]
        if len(in_vain) < _DROPS or self._clips[True]:
            return []
        place = place_of_frames(in_vain[-1])
        return [Finding(84, "clipped in vain", "", "", "", f"the gradients are clipped{at_line(place)} when "
                        "optimizer.step() has used them already, or before loss.backward() has made them: no step is "
                        "ever clipped", "clip between loss.backward() and optimizer.step()", "doctor", place)]

    def _faded(self) -> list[Finding]:
        rates, place = self._rates, place_of_frames(self._scheduled)
        drops = [b / a for a, b in zip(rates, rates[1:]) if b < a]
        if place is None or len(drops) < _DROPS or not rates[-1] <= _FADED * rates[0] or (
                max(drops) > 0.5 and rates[-1] > _GONE * rates[0]):
            return []
        return [Finding(86, "rate fades", "", "", "", f"the learning rate fell from {rates[0]:.3g} to {rates[-1]:.3g} "
                        f"in {len(rates)} steps, by scheduler.step(){at_line(place)}: the parameters "
                        "hardly move any more", "call scheduler.step() once an epoch, or let the rate fall more slowly",
                        "doctor", place)]


def bounded(factor: Any, turn: int) -> tuple[Place | None, str]:
    """The line that gave the factor of a rate in a turn, and what is at most 1 in place of it; "" where not known."""
    code, lines, outer = getattr(factor, "__code__", None), list[int](), sys.gettrace()

    def trace(frame: Any, event: str, _: Any) -> Any:
        lines.extend([frame.f_lineno] * (event == "return" and frame.f_code is code))
        return trace

    if code is None or is_library(code.co_filename):
        return None, ""
    sys.settrace(trace)
    try:
        factor(turn)
    finally:
        sys.settrace(outer)
    given, at = returned_on(code.co_filename, lines[-1]), place_on(code.co_filename, lines[-1])
    if given is None:
        return at, ""
    known = {**inspect.getclosurevars(factor).nonlocals, "self": getattr(factor, "__self__", None)}
    for around in holding(code.co_filename, lines[-1])[::-1]:
        test = around.test if isinstance(around, ast.If) else None
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Lt, ast.LtE)):
            with contextlib.suppress(Exception):  # what the script's names are there may be anything
                most = eval(end := ast.unparse(test.comparators[0]), factor.__globals__, known)
                if most > 1 and 0.5 < factor(most - 1) / most <= 1:  # as (step + 1) / warmup
                    return at, f"{tight(given, ast.unparse(given))} / {tight(test.comparators[0], end)}"
    return at, f"min(1.0, {ast.unparse(given)})"


def underflowing(optimizers: Iterable[Any], made: Mapping[int, RawFrames]) -> list[tuple[Any, Remark]]:
    """The parameters in whose dtype the epsilon of their optimizer is 0. made: where optimizers were."""
    found = []
    for optimizer in optimizers:
        place, kind = place_of_frames(made.get(id(optimizer), ())), type(optimizer).__name__
        found += [(p, Remark(f"{kind}'s eps={group['eps']:g}{at_line(place)} is 0 in {p.dtype}, and the square of a "
                             "small gradient is too: it divides by 0", place, f"{kind}(…, eps=1e-4){at_line(place)}; "
                             "or keep the parameters in float32, and compute under torch.autocast",
                              with_word(*place[:2], kind, "eps", "1e-4") if place is not None else {}))
                  for group in optimizer.param_groups if group.get("eps") for p in group["params"]
                  if not bool(torch.tensor(group["eps"], dtype=p.dtype))]
    return found
