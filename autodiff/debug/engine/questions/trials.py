"""Trials: remedies for nan and inf, tried on the remembered steps before anybody is told of them."""
from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np

from ....core.errors import ArgumentError, AutodiffError
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, in_order
from ....runtime.plan.running import running
from ...analysis.advice import advice_of, spoken
from ...analysis.arithmetic_rules import number
from ...analysis.edits.formulas import better_forms, clean_feed, larger_epsilon, lower_rate, smaller_weights
from ...analysis.edits.in_graph import CLIP, Edit, bounds_of, edits_of
from ...analysis.findings import Origin, Remedy, WhyNonfinite
from ...analysis.update_blame import RATES, is_store, operands_of
from ...facts.roles import is_variable, place_of
from ...facts.stats import has_nonfinite
from ...facts.training_runs import trains
from ...history.replay import Moment
from ..overlay import Overlay
from ..state import State

_BEFORE = 20  # steps before the one that failed
_ORIGINS = 4  # to whose ops edits are tried
_SECONDS = 2.0  # for all trials of one question
_OTHER = 0.01  # relative: a loss that is told beside the old one
_RISEN = 2.0  # times the loss of the first step: no remedy for what diverges
_LARGE = 5.0  # for what is fed
_SHOWN = 3  # remedies of a question
_STEEP = 1e3  # times 1: gradients as large as that are told of, and count against a remedy


class Trials:
    """tried: the remedies that helped where it was last asked, the best first, each with what applies it, and the
    run to go back to: the one that failed, or, of what changes updates, the first of the steps.
    """

    def __init__(self, state: State) -> None:
        self.state, self.model = state, state.model
        self.tried: list[tuple[Remedy, Overlay, Moment]] = []
        self._steepest = 0.0  # gradient in the last step that was tried

    def of(self, why: WhyNonfinite, y: str = "") -> tuple[Remedy, ...]:
        """The remedies that take away what `why` explains, by how little they change at other steps; () if none does.

        Each is tried on the step that failed, and on those before it that are remembered, as far as there is time.
        """
        self.tried = []
        until = time.perf_counter() + _SECONDS
        try:
            top = self.model.y_of(y)
        except ArgumentError:
            return ()
        steps = self._steps(why, top)
        for edits in self._candidates(why, steps[-1]) if steps else ():
            if time.perf_counter() < until:
                self._try(edits, top, steps, until)
        self.tried.sort(key=lambda each: (each[0].steepest > _STEEP, round(each[0].change, 4)))
        del self.tried[_SHOWN:]
        return spoken(tuple(remedy for remedy, *_ in self.tried), advice_of(self.model.graph).words)

    def numbered(self, number: int) -> tuple[Remedy, Overlay, Moment]:
        """The remedy of that number. Raises ArgumentError if there is none."""
        if not 1 <= number <= len(self.tried):
            raise ArgumentError(f"there is no remedy {number}: {len(self.tried) or 'none'} helped where it was last "
                                "tried", hint="why nan tries remedies, and numbers those that help")
        return self.tried[number - 1]

    def _candidates(self, why: WhyNonfinite, failed: Moment) -> Iterable[list[Edit]]:
        """Edits to try together: each one alone, then, if none of these helps, one for every op to blame.

        Where an update is at fault, what it computes with; where nothing else helps, smaller weights.
        """
        if why.diverges:
            yield from self._first_of(self._lower_rates(failed))
            yield [CLIP]
            large = [clean_feed(t, scaled=True) for t, value in failed.feeds.items() if t.dtype.is_floating
                     and np.ndim(value) == 2 and len(value) > 1 and np.abs(value).max(initial=0.0) > _LARGE]
            yield from [large] if large else []
            return
        yield from ([larger_epsilon(t)] for value, t in self._operands(failed, ("epsilon",)) if value == 0)
        by_op: dict[Operation, list[Edit]] = {}
        for origin in why.origins[:_ORIGINS]:
            op = self.model.targets.named(origin.forward_op)
            if op is not None and op.inputs and op not in by_op:
                given = origin.operands[0].value if origin.operands and origin.phase == "forward" else None
                negative = isinstance(given, (int, float)) and given < 0
                by_op[op] = [*edits_of(op, origin.trap), *better_forms(op, negative=negative), *bounds_of(op)]
        for edits in by_op.values():
            yield from ([edit] for edit in edits)
        several = [edits for edits in by_op.values() if edits]
        if not self.tried and len(several) > 1:
            yield from self._first_of([edit or edits[-1] for edit, edits in zip(together, several)]
                                      for together in zip_longest(*several))
        if why.chain and why.chain[0].kind == "variable":
            yield from self._first_of(self._lower_rates(failed))
        first = why.chain[0] if why.chain else None
        fed = self.model.targets.named(first.op) if first is not None and first.kind == "fed" else None
        if first is not None and fed is not None and fed.outputs[0] in failed.feeds:
            value = abs(np.asarray(failed.feeds[fed.outputs[0]], np.float64)[first.index])
            if not value <= _LARGE:
                yield [clean_feed(fed.outputs[0], scaled=bool(np.isfinite(value)))]
        if why.origins and all(remedy.steepest > _STEEP for remedy, *_ in self.tried):
            yield from self._first_of(self._smaller_weights(why.origins[0]))

    def _first_of(self, candidates: Iterable[list[Edit]]) -> Iterable[list[Edit]]:
        """Up to the first that helps without gradients that are too large; else the last that helps at all."""
        steep: list[tuple[Remedy, Overlay, Moment]] = []
        before = len(self.tried)
        for edits in candidates:
            yield edits
            if len(self.tried) > before:
                if self.tried[-1][0].steepest <= _STEEP:
                    return
                steep.append(self.tried.pop())
        self.tried += steep[-1:]

    def _operands(self, at: Moment, names: Sequence[str]) -> list[tuple[float, Tensor]]:
        """The numbers of these names that the updates of a run compute with."""
        ran = running(at.wanted.tensors, at.wanted.targets)
        given = dict.fromkeys(t for op in ran if is_store(op) for name, t in operands_of(op) if name in names)
        values = self.state.values_known(dict.fromkeys(t.op for t in given), at)
        return [(float(np.asarray(values[t])), t) for t in given if t in values and np.size(values[t]) == 1]

    def _lower_rates(self, failed: Moment) -> Iterable[list[Edit]]:
        rates = [(value, t) for value, t in self._operands(failed, RATES) if value > 0]
        for power in range(1, 7) if rates else ():
            yield [lower_rate(t, value, 10.0 ** -power) for value, t in rates]

    def _smaller_weights(self, origin: Origin) -> Iterable[list[Edit]]:
        op = self.model.targets.named(origin.forward_op)
        outer = self.model.targets.inner.outer_op(op) if op is not None else None
        reads = in_order(each for each in ancestors(outer.inputs) if each.inputs and is_variable(each.inputs[0])
                         and each.outputs[0].dtype.base_dtype.is_floating) if outer is not None else []
        reads = [each for each in reads if len(each.outputs[0].dims or ()) > 1] or reads
        for factor in (0.5, 0.2, 0.1, 0.05, 0.01) if reads else ():
            yield smaller_weights(reads, factor)

    def _steps(self, why: WhyNonfinite, top: Tensor) -> list[Moment]:
        """The remembered run that failed, last, after those that trained before it."""
        moments = [m for m in self.state.moments if self.state.log.at(m.run).step <= why.step and m.wanted is not None
                   and self.state.can_compute(top, m)]
        failed = next(iter(reversed([m for m in moments if self._trains(m)] or moments)), None)
        if failed is None or self.state.log.at(failed.run).step != why.step:
            return []
        before = [m for m in moments if m.run < failed.run and self._trains(m)][-_BEFORE:]
        return [*before, failed]

    def _trains(self, moment: Moment) -> bool:
        return trains(self.model.graph, running(moment.wanted.tensors, moment.wanted.targets))

    def _try(self, edits: Sequence[Edit], top: Tensor, steps: Sequence[Moment], until: float) -> None:
        """Keep the edits if with them the failed step, and those before it, are finite."""
        try:
            overlay = Overlay(self.model, top, edits)
            is_late = overlay.is_late
            loss = None if is_late else self._losses(overlay, steps[-1:], until)
            losses = self._losses(overlay, steps, until) if len(steps) > 1 or loss is None else loss
        except (AutodiffError, ValueError, TypeError):
            return  # the graph does not allow it here: it is not said to help
        if not losses or loss is None and len(losses) < len(steps):  # no time to go through them all
            if loss is None:
                return
            losses = loss
        if is_late and len(losses) > 2 and np.abs(losses[-1]).max() > _RISEN * np.abs(losses[0]).max():
            return  # it goes the same way, later
        old = [self._loss(top, m) for m in steps[-len(losses):]]
        change = max((_apart(a, b) for a, b in zip(old[:-1], losses[:-1])), default=0.0)
        place = next((place_of(edit.op) for edit in edits if edit.op is not None), None)
        if any((overlay.words, place) == (other.words, other.place) for other, *_ in self.tried):
            return  # two that are to blame have one remedy
        text = self._told(steps[-len(losses):], old, losses, change)
        last = float(np.abs(losses[-1]).max(initial=0.0))
        remedy = Remedy(overlay.words, text, change, self._steepest, place, last)
        self.tried.append((remedy, overlay, steps[0 if is_late else -1]))

    def _losses(self, overlay: Overlay, steps: Sequence[Moment], until: float) -> list[Any] | None:
        """y in each step, one from the other with the edits; None if something is not finite. Empty: no time."""
        found: list[Any] = []
        variables: Mapping[str, Any] = dict(steps[0].variables)
        for moment in steps:
            if found and time.perf_counter() > until:
                return []
            at = replace(moment, variables=variables)
            values = self.state.replayer.values(at, overlay.checked)
            if any(map(has_nonfinite, values)):
                return None
            if found or len(steps) > 1 or self._trains(moment):
                ran = running(moment.wanted.tensors, moment.wanted.targets)
                fed = overlay.feeds(self.state.replayer, at, ran)
                variables = self.state.replayer.after(replace(at, feeds={**moment.feeds, **fed}), variables)
                if any(map(has_nonfinite, variables.values())):
                    return None
            found.append(values[0])
            self._steepest = max((float(np.abs(value).max(initial=0.0)) for value in values[1:]), default=0.0)
        return found

    def _loss(self, top: Tensor, moment: Moment) -> Any:
        return self.state.values_known([top.op], moment).get(top, np.nan)  # which may have failed

    def _told(self, steps: Sequence[Moment], old: Sequence[Any], new: Sequence[Any], change: float) -> str:
        first, last = (self.state.log.at(steps[i].run) for i in (0, -1))
        if np.size(new[-1]) != 1:
            text = f"{last} is finite with it"
        elif has_nonfinite(old[-1]) or _apart(old[-1], new[-1]) > _OTHER:
            text = f"{last} gives loss {_short(new[-1])} instead of {_short(old[-1])}"
        else:
            text = f"{last} gives loss {_short(new[-1])} and finite gradients"
        if len(steps) > 1:
            text += f"; steps {first.step}-{last.step} replayed with it stay finite"
            text += ", their losses as they were" if change < 1e-6 else f", their losses within {100 * change:.3g} %"
        return text + (f"; gradients reach {self._steepest:.1g} then" if self._steepest > _STEEP else "")


def _short(loss: Any) -> str:
    value = np.asarray(loss).reshape(-1)[0].item()
    return f"{value:.4g}" if np.isfinite(value) else number(value)


def _apart(old: Any, new: Any) -> float:
    """How far y is from what it was, relative to its size; inf where it was not finite."""
    if has_nonfinite(old):
        return 0.0
    a, b = np.asarray(old, np.float64), np.asarray(new, np.float64)
    return float(np.abs(a - b).max(initial=0.0) / max(np.abs(a).max(initial=0.0), 1e-12))
