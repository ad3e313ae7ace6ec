"""Trials: remedies for nan and inf, tried on the remembered steps before anybody is told of them."""
from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np

from ....core.errors import ArgumentError, AutodiffError
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, in_order
from ....runtime.plan.running import running
from ...analysis.advice import advice_of, spoken
from ...analysis.edits import formulas
from ...analysis.edits.along_chain import along
from ...analysis.edits.in_graph import CLIP, Edit, at_one_place
from ...analysis.edits.together import EXPONENTIALS, elsewhere, forms_of, further, widened
from ...analysis.findings import Link, Remedy, WhyNonfinite
from ...analysis.origins.no_bound import added, subtracted
from ...analysis.origins.own_updates import amplified, averaged
from ...analysis.update_blame import RATES, is_store, operands_of
from ...facts.graph_lists import trainable_tensors
from ...facts.roles import is_variable, place_of
from ...facts.stats import has_nonfinite
from ...facts.training_runs import trains
from ...history.replay import Moment
from ..overlay import Overlay
from ..state import State
from .came_from import size_of, unusual_feeds
from .fed_back import FedBack
from .other_feeds import UNSCALED, other_feeds, other_number, scaled_feeds
from .patches import expression_of
from .trials_told import DEAD, STEEP, apart, told

_BEFORE = 20  # steps before the one that failed
_ORIGINS = 4  # to whose ops edits are tried
_SECONDS = 2.0  # for all trials of one question
_RISEN = 2.0  # times the loss of the first step: no remedy for what diverges
_SHOWN = 3  # remedies of a question
_ROWS = ("GatherV2", "Gather", "ResourceGather")
_LEAP = 100.0  # times its size: a variable that no step should make so large
_GROWN = 1.5  # times the first rate


class Trials:
    """tried: the remedies that helped where it was last asked, the best first, each with what applies it, and the
    run to go back to: the one that failed, or, of what changes updates, the first of the steps.
    """

    def __init__(self, state: State) -> None:
        self.state, self.model, self.carried = state, state.model, FedBack(state)
        self.tried: list[tuple[Remedy, Overlay, Moment]] = []
        self._last: list[tuple[Remedy, Overlay, Moment]] = []  # that leave nothing to learn, told if nothing else helps
        self._steepest, self._dead = 0.0, 0  # gradient in the last step that was tried; gradients that are 0 there

    def of(self, why: WhyNonfinite, y: str = "") -> tuple[Remedy, ...]:
        """The remedies that take away what `why` explains, by how little they change at other steps; () if none does.

        Each is tried on the step that failed, and on those before it that are remembered, as far as there is time.
        """
        self.tried, self._last = [], []
        until = time.perf_counter() + _SECONDS
        try:
            top = self.model.y_of(y)
        except ArgumentError:
            return ()
        steps = self._steps(why, top)
        for edits in self._candidates(why, top, steps[-1]) if steps else ():
            if time.perf_counter() < until:
                self._try(edits, top, steps, until)
        self.tried = self.tried or sorted(self._last, key=lambda each: each[0].last)
        self.tried.sort(key=partial(_rank, why.diverges))
        self.tried = [(replace(remedy, here=expression_of(overlay.edits)), overlay, at)
                      for remedy, overlay, at in self.tried[:_SHOWN]]
        return spoken(tuple(remedy for remedy, *_ in self.tried), advice_of(self.model.graph).words)

    def forget(self) -> None:
        """Number anew what is tried from here on."""
        self.tried = []

    def numbered(self, number: int) -> tuple[Remedy, Overlay, Moment]:
        """The remedy of that number. Raises ArgumentError if there is none."""
        if not 1 <= number <= len(self.tried):
            said = f"{len(self.tried)} helped" if self.tried else "none was tried, or none helped"
            raise ArgumentError(f"there is no remedy {number}: {said}",
                                hint="why nan tries remedies, and numbers those that help")
        return self.tried[number - 1]

    def _candidates(self, why: WhyNonfinite, top: Tensor, failed: Moment) -> Iterable[list[Edit]]:
        """Edits to try together: each one alone, then, if none of these helps, one for every op to blame.

        Where an update is at fault, what it computes with; where nothing else helps, smaller weights.
        """
        if why.diverges:
            yield from self._against_divergence(top, failed)
            return
        yield from self._other_constants(why)
        named = self.model.targets.named
        yield from along([link for link in why.chain if link.kind == "made"], named)
        carried = self.carried.grown(failed)
        if carried is not None:
            yield from self._first_of(self._smaller_weights([carried[1]]))
            yield [formulas.bounded(carried[1])]
        yield from ([formulas.larger_epsilon(t)] for value, t in self._operands(failed, ("epsilon",)) if value == 0)
        if why.chain and why.chain[0].kind == "variable" and why.origins[0].phase == "forward":
            yield from self._begun_otherwise(why.chain[0], failed)
        yield from ([edit] for edit in formulas.without_exponential(top, why.origins))
        given = self.model.targets.named(why.chain[0].op) if why.chain and why.chain[0].kind == "fed" else None
        if given is not None:
            yield from other_number(given.outputs[0], failed, list(self.state.moments))
        by_op: dict[Operation, tuple[list[list[Edit]], list[list[Edit]]]] = {}
        for origin in why.origins[:_ORIGINS]:
            op = self.model.targets.named(origin.forward_op)
            if op is not None and op.inputs and not any(op in at_one_place(other) for other in by_op):
                by_op[op] = forms_of(op, origin)
        for op, (edits, bounds) in by_op.items():
            yield from self._first_of([edit] for edit in formulas.warmer(op))
            before = len(self.tried)
            for form in edits:
                yield from self._first_of(widened(form) if op.type in EXPONENTIALS else [form])
            if any(remedy.steepest <= STEEP for remedy, *_ in self.tried[before:]):
                bounds = bounds[:1]
            yield from self._first_of(bounds)
            yield from self._first_of(wide for form in bounds for wide in widened(form)
                                      if op.type in EXPONENTIALS and len(self.tried) == before)
        for op, (edits, bounds) in by_op.items() if not self.tried else ():
            yield from self._first_of([*form, *further(op, top, form)] for form in (*edits, *bounds))
        several = [[*edits, *bounds] for edits, bounds in by_op.values() if edits or bounds]
        if not self.tried and len(several) > 1:
            yield from self._first_of([edit for form in forms for edit in form] for forms in (
                [form or forms[-1] for form, forms in zip(together, several)] for together in zip_longest(*several)))
        for edits, bounds in by_op.values() if not self.tried else ():
            yield from self._first_of(wide for form in (*edits, *bounds) for wide in widened(form))
        for at_link in along([link for link in why.chain if link.kind == "op"], named):
            before = len(self.tried)
            if sum(remedy.steepest <= STEEP for remedy, *_ in self.tried) < _SHOWN:
                yield at_link
            if len(self.tried) > before and self.tried[-1][0].steepest > STEEP and (before or self._last):
                self.tried.pop()
        if why.origins and why.origins[0].phase == "update":
            yield [CLIP]
        if why.chain and why.chain[0].kind in ("variable", "depth"):
            is_deep = why.chain[0].kind == "depth"
            yield from scaled_feeds(failed) if is_deep else ()
            yield from self._first_of(self._smaller_weights([top]) if is_deep else ())
            yield from self._first_of(self._lower_rates(failed))
            yield from scaled_feeds(failed)
        elif given is not None:
            yield from other_feeds(given.outputs[0], why.chain[0].index, failed, list(self.state.moments))
        overflows = any(each.overflows for each in why.origins[:1])  # a gradient of 0 is then the bound's
        if why.origins and all(remedy.steepest > STEEP and (overflows or remedy.steepest < DEAD)
                               for remedy, *_ in self.tried):
            op = self.model.targets.named(why.origins[0].forward_op)
            outer = self.model.targets.inner.outer_op(op) if op is not None else None
            yield from self._first_of(self._smaller_weights(outer.inputs if outer is not None else ()))
            yield from self._first_of(self._smaller_weights([top]) if not self.tried else ())

    def _against_divergence(self, top: Tensor, failed: Moment) -> Iterable[list[Edit]]:
        """Where no op is to blame, but how the variables grow."""
        before = [m for m in self.state.moments if m.run <= failed.run]
        for i, moment in enumerate(before):
            yield from ([formulas.clipped_feed(t, -usual, usual)] for t, usual in unusual_feeds(moment, before[:i]))
        begun = (m.variables for m in self.state.moments)
        updates = amplified(self.model.graph, begun, failed.variables)
        fallen = subtracted(top, partial(self.state.values_known, moment=failed))
        if fallen is not None:
            yield [added(fallen)]
            return
        yield from filter(None, [[each for update in updates for each in averaged(update)]])
        heavy = [(t, value) for value, t in self._operands(failed, ("momentum",)) if value >= 1]
        if heavy:
            yield [formulas.lower_momentum(*each) for each in heavy]
            return
        yield from scaled_feeds(failed, UNSCALED)
        count = len(self.tried)
        rates = list(self._lower_rates(failed))
        yield from self._first_of(rates[:-3])
        yield from scaled_feeds(failed)
        yield from self._first_of(rates[-3:] if len(self.tried) == count else ())  # which hardly learn
        yield [CLIP]

    def _first_of(self, candidates: Iterable[list[Edit]]) -> Iterable[list[Edit]]:
        """Up to the first that helps without gradients that are too large; else the last that helps at all."""
        steep: list[tuple[Remedy, Overlay, Moment]] = []
        before = len(self.tried)
        for edits in candidates:
            yield edits
            if len(self.tried) > before:
                if self.tried[-1][0].steepest <= STEEP:
                    return
                steep.append(self.tried.pop())
        self.tried += steep[-1:]

    def _other_constants(self, why: WhyNonfinite) -> Iterable[list[Edit]]:
        """Of constants that are not finite: finite numbers in their places."""
        given = (self.model.targets.named(origin.op) for origin in why.origins if origin.op_type == "Const")
        edits = [formulas.finite_constant(op) for op in given if op is not None and op.graph is self.model.graph]
        yield from [edits] if edits else []

    def _begun_otherwise(self, first: Link, failed: Moment) -> Iterable[list[Edit]]:
        """A variable that is 0 throughout since the beginning, with other numbers; one that crossed 0, kept from it."""
        op, value = self.model.targets.named(first.op), failed.variables.get(first.op, 1)
        begun = next((m.variables[first.op] for m in self.state.moments if first.op in m.variables), value)
        if op is not None and np.size(begun) and np.min(begun) > 0 >= np.min(value):
            reads = [c for t in op.outputs for c in t._consumers if c.outputs and not is_store(c)
                     and c.outputs[0].dtype.base_dtype.is_floating]
            yield from self._first_of([formulas.kept_above(c.outputs[0], op.name, low) for c in reads]
                                      for low in (0.1 * float(np.min(begun)), 0.0))
        elif op is not None and np.ndim(value) > 1 and not np.any(value):
            users = [c for t in op.outputs for c in t._consumers if not is_store(c) and c.gradient_of is None]
            reads = [c for c in users if c.outputs and c.outputs[0].dtype.base_dtype.is_floating]
            after = [c for read in reads for c in read.outputs[0]._consumers]
            rows = [c for c in after if c.type in _ROWS and c.gradient_of is None]
            yield [formulas.begun_at_random(each, op.name) for each in rows or reads]

    def _operands(self, at: Moment, names: Sequence[str]) -> list[tuple[float, Tensor]]:
        """The numbers of these names that the updates of a run compute with."""
        ran = running(at.wanted.tensors, at.wanted.targets)
        given = dict.fromkeys(t for op in ran if is_store(op) for name, t in operands_of(op) if name in names)
        values = self.state.values_known(dict.fromkeys(t.op for t in given), at)
        return [(float(np.asarray(values[t])), t) for t in given if t in values and np.size(values[t]) == 1]

    def _lower_rates(self, failed: Moment) -> Iterable[list[Edit]]:
        rates = [(value, t) for value, t in self._operands(failed, RATES) if value > 0]
        began = next((m for m in self.state.moments if m.wanted is not None and self._trains(m)), failed)
        first = {t: value for value, t in self._operands(began, RATES)} if rates else {}
        if any(value > _GROWN * first.get(t, value) for value, t in rates):
            yield [formulas.held_rate(t, value, first.get(t, value)) for value, t in rates]
        for power in range(1, 7) if rates else ():
            yield [formulas.lower_rate(t, value, 10.0 ** -power) for value, t in rates]

    def _smaller_weights(self, given: Sequence[Tensor]) -> Iterable[list[Edit]]:
        reads = in_order(each for each in ancestors(given) if each.inputs and is_variable(each.inputs[0])
                         and each.outputs[0].dtype.base_dtype.is_floating)
        reads = [each for each in reads if len(each.outputs[0].dims or ()) > 1] or reads
        reads = [each for read in reads for each in ([c for c in read.outputs[0]._consumers if c.type in _ROWS and
                                                      c.gradient_of is None] or [read])]  # whose gradients are sparse
        for factor in (0.5, 0.2, 0.1, 0.05, 0.01) if reads else ():
            yield formulas.smaller_weights(reads, factor)

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
        if is_late and len(losses) > 1 and np.abs(losses[-1]).max() > _RISEN * np.abs(losses[0]).max():
            return  # it goes the same way, later
        old = [self._loss(top, m) for m in steps[-len(losses):]]
        leaves_nothing = self._steepest == DEAD and has_nonfinite(old[-1]) and all(edit.is_bound for edit in edits)
        change = max((apart(a, b) for a, b in zip(old[:-1], losses[:-1])), default=0.0)
        place = next((place_of(edit.op) for edit in edits if edit.op is not None), None)
        same = {edit.op for edit in edits}
        if any(tried.words == overlay.words and (other.place == place or same == {edit.op for edit in tried.edits})
               for other, tried, _ in (*self.tried, *self._last)):
            return  # two that are to blame have one remedy
        runs = [self.state.log.at(m.run) for m in steps[-len(losses):]]
        text = told(runs, old, losses, change=change, steepest=self._steepest)
        last = float(np.abs(losses[-1]).max(initial=0.0))
        remedy = Remedy(overlay.words, text, change, self._steepest, place, last, elsewhere(edits), dead=self._dead)
        (self._last if leaves_nothing else self.tried).append((remedy, overlay, steps[0 if is_late else -1]))

    def _losses(self, overlay: Overlay, steps: Sequence[Moment], until: float) -> list[Any] | None:
        """y in each step, one from the other with the edits; None if something is not finite. Empty: no time."""
        found: list[Any] = []
        given: dict[int, Moment] = {}  # the steps, with what is fed back to them
        variables: Mapping[str, Any] = dict(steps[0].variables)
        for i, moment in enumerate(steps):
            if found and time.perf_counter() > until:
                return []
            for between in self._between(steps[i - 1], moment) if i else ():
                variables = self._after(overlay, between, variables)
            at = replace(moment, variables=variables, feeds={**moment.feeds, **self._fed_back(overlay, given, moment)})
            given[moment.run] = at
            values = self.state.replayer.values(at, overlay.checked)
            if any(map(has_nonfinite, values)):
                return None
            if found or len(steps) > 1 or self._trains(moment):
                variables = self._after(overlay, at, variables)
                if any(map(has_nonfinite, variables.values())) or self._leaps(overlay, at, variables):
                    return None
            found.append(values[0])
            sizes = [float(np.abs(value).max(initial=0.0)) for value in values[1:1 + len(overlay.slopes)]]
            self._steepest, self._dead = max(sizes, default=0.0), sizes.count(0.0)
            if sizes and not self._steepest:
                self._steepest = DEAD
        return found

    def _leaps(self, overlay: Overlay, at: Moment, after: Mapping[str, Any]) -> bool:
        """Whether edits of what an update computes with, not of y, leave a step larger than any should be."""
        if overlay.is_late or overlay.y in overlay.now:
            return False
        names = {t.op.name for t in trainable_tensors(self.model.graph)}
        sizes = [(size_of(at.variables[name]), size_of(value)) for name, value in after.items()
                 if name in names and name in at.variables]
        return any(new > _LEAP * max(old, 1.0) for old, new in sizes)

    def _fed_back(self, overlay: Overlay, given: Mapping[int, Moment], moment: Moment) -> dict[Tensor, Any]:
        """What a run is fed that the one before gives with the edits."""
        return {fed: self.state.replayer.values(given[before.run], [overlay.now.get(t, t)])[0]
                for fed, (before, t) in (self.carried.sources(moment) if given else {}).items() if before.run in given}

    def _between(self, before: Moment, moment: Moment) -> list[Moment]:
        """The runs between two that changed variables too, as those that update a target network."""
        return [m for m in self.state.moments if before.run < m.run < moment.run and m.wanted is not None
                and any(is_store(op) for op in running(m.wanted.tensors, m.wanted.targets))]

    def _after(self, overlay: Overlay, moment: Moment, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """The variables after a run with the edits, that began with these."""
        at = replace(moment, variables=variables)
        fed = overlay.feeds(self.state.replayer, at, running(moment.wanted.tensors, moment.wanted.targets))
        return self.state.replayer.after(replace(at, feeds={**moment.feeds, **fed}), variables)

    def _loss(self, top: Tensor, moment: Moment) -> Any:
        return self.state.values_known([top.op], moment).get(top, np.nan)  # which may have failed


def _rank(diverges: bool, each: tuple[Remedy, Overlay, Moment]) -> tuple[float, ...]:
    """Low for what is told first: what leaves gradients to learn by, is no cure of updates unless these are at fault,
    and changes the other steps least; of a divergence in the order of trial.
    """
    remedy, overlay, _ = each
    first = remedy.steepest > STEEP and not overlay.is_exact, remedy.dead
    return first if diverges else (*first, overlay.is_late, round(remedy.change, 4), not overlay.is_exact,
                                   overlay.words.count("; "))
