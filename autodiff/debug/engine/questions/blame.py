"""Blame: which op made what is not finite, back through the updates of earlier steps; and which op refused to run."""
from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ....core.errors import ArgumentError, AutodiffError, OpError
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors
from ...analysis.advice import advice_of
from ...analysis.arithmetic_rules import number
from ...analysis.findings import WhyFailed, WhyNonfinite
from ...analysis.mistakes.misused import dead_end
from ...analysis.mistakes.signs import wrong_sign
from ...analysis.mistakes.stepping import growths, rates_of, updates_of
from ...analysis.nonfinite import why_nonfinite
from ...analysis.origins.adjacency import summing
from ...analysis.origins.enlarged import begun_large, enlarged
from ...analysis.origins.no_bound import with_bound, without_bound
from ...analysis.origins.of_formulas import told_first
from ...analysis.origins.own_updates import amplified
from ...analysis.origins.recurrent import unbounded
from ...analysis.origins.recurrent import without_bound as endlessly
from ...analysis.refusals import refusal
from ...analysis.update_blame import divergence, is_store, leap, learning_rate, operands_of, stores_into, why_update
from ...facts.graph_lists import calls_of, trainable_tensors
from ...facts.roles import PLACEHOLDERS, VARIABLES, at_line, place_of, role_of
from ...facts.stats import has_nonfinite
from ...facts.training_runs import trains
from ...history.replay import Moment
from ..fed_back import FedBack
from ..runs.effects import Effects
from ..state import State
from .came_from import CameFrom, fallen, in_words, origin_of, size_of, unusual_feeds
from .other_data import UNSCALED, unscaled

_LATE, _KNOWN = 50, 1000  # remembered runs; of which it is known what they began with
_LONG = 30  # characters of a name beside which its type is no help
_GAIN = 30.0  # times that first values are too large, all layers together
_GIANT = 100.0  # a loss that no training should begin with
_EARLY = 3  # remembered runs that say how large the variables were at first


class Blame:
    """Follows nan and inf back to where they came from."""

    def __init__(self, state: State, effects: Effects) -> None:
        self.state, self.model, self.log, self.overrides = state, state.model, state.log, state.overrides
        self.effects, self.came_from = effects, CameFrom(state)
        self._known: dict[int, frozenset[str]] = {}  # by run: the variables that were not finite before it

    def why_value(self, tensor: Tensor, at: Moment) -> WhyNonfinite:
        """Why a tensor's value is not finite in the run `at`."""
        return self.why_nonfinite([tensor], tensor, at)

    def why_nonfinite(self, roots: Sequence[Tensor], target: Tensor | None, at: Moment) -> WhyNonfinite:
        """Why something among `roots` is not finite: in the run `at`, or in one that spoiled a variable it reads."""
        found = self._found(roots, target, at)
        spoiled = self._spoilers(found)
        if not spoiled and target is None and not found.origins and at is self._latest():
            spoiled = self._spoilers_of(self._spoiled_last())
        while spoiled:  # one variable may have spoiled the other
            run, name = min(spoiled)
            earlier = self._of_update(roots, name, spoiled[run, name])
            if earlier is None:
                break
            found, at = earlier, spoiled[run, name]
            spoiled = {key: moment for key, moment in self._spoilers(found).items() if key[0] < run}
            spoiled = spoiled or self._spoiled_before_fed(found, at)
        if (given := self._given(found, at)) is not None:
            return given
        found = self._with_divergence(found, at)
        chain = self.came_from.chain(found, at, self._learning_rate(at))
        because = "" if found.diverges else origin_of(chain)
        lines = (found.text, because) if not chain or chain[0].kind != "depth" else (because, found.text)
        return replace(found, chain=chain, text="\n".join(filter(None, lines)))

    def _given(self, found: WhyNonfinite, at: Moment) -> WhyNonfinite | None:
        """Of what is fed: why a run before gave it, None where none did."""
        first = found.origins[0].op if found.origins and found.origins[0].phase == "input" else ""
        before = next(((*source, fed.op) for fed, source in (FedBack(self.state).sources(at) if first else {}).items()
                       if fed.op.name == first), None)
        if before is None or not (earlier := self.why_value(before[1], before[0])).origins:
            return None
        run, tensor, fed = before
        return replace(earlier, text=f"{fed.name!r} is fed what {self.log.at(run.run)} gave for {tensor.op.name}"
                                     f"{at_line(place_of(tensor.op))}: {earlier.text}")

    def _spoiled_before_fed(self, found: WhyNonfinite, at: Moment) -> dict[tuple[int, str], Moment]:
        """Where nan was fed: the runs before it that spoiled a variable of finite feeds, which it may have come of."""
        if not found.origins or found.origins[0].op_type not in PLACEHOLDERS:
            return {}
        return {key: m for key, m in self._spoilers_of(self._spoiled_last()).items()
                if key[0] < at.run and not any(map(has_nonfinite, m.feeds.values()))}

    def _spoilers(self, found: WhyNonfinite) -> dict[tuple[int, str], Moment]:
        """The runs that spoiled the variables among the origins, by their number and the variable's name."""
        return self._spoilers_of({o.op for o in (*found.origins, *found.masked) if o.op_type in VARIABLES})

    def _spoilers_of(self, names: set[str]) -> dict[tuple[int, str], Moment]:
        return {(moment.run, name): moment for name in names if (moment := self._spoiler(name)) is not None}

    def _found(self, roots: Sequence[Tensor], target: Tensor | None, at: Moment) -> WhyNonfinite:
        ops, values = self.effects.everything(list(roots), at)
        return why_nonfinite(ops, values, set(roots), target=target, step=self.log.at(at.run).step,
                             variable_note=self._since, inside=self.state.replayer.calls(at))

    def _of_update(self, roots: Sequence[Tensor], spoiled: str, at: Moment) -> WhyNonfinite | None:
        """Why the run `at` spoiled a variable: what its update was given, or the update itself."""
        op = self.model.targets.named(spoiled)
        if op is None:
            return None
        variable = op.outputs[0]
        ran = at.ran
        updates = stores_into(variable, ran)
        given = [t for op in updates for _, t in operands_of(op)]
        found = self._found(list(dict.fromkeys((*given, *roots, *self._trained(at)))), None, at)
        since = f"variable {spoiled!r} is not finite since {self.log.at(at.run)}"
        if found.origins:
            return found if self.model.is_foreign else replace(found, text=f"{since}: {found.text}")
        after = self._value_after(spoiled, at)
        if not updates or after is None:
            return None
        values = self.state.values_known([t.op for t in given], at)
        origin = why_update(updates[-1], variable, values, after)
        return replace(found, origins=(origin,), text=f"{since}: {origin.rule}{at_line(origin.place)}")

    def _trained(self, at: Moment) -> list[Tensor]:
        try:
            return self.effects.roots(at=at)
        except ArgumentError:
            return []

    def _with_divergence(self, found: WhyNonfinite, at: Moment) -> WhyNonfinite:
        """An overflow at the end of a divergence is not the fault of the op where it happened."""
        first = found.origins[0] if found.origins else None
        op = self.model.targets.named(first.forward_op) if first is not None else None
        if first is None or op is not None and op.graph is self.model.graph and op.inputs and not any(
                each.type in VARIABLES for each in ancestors(op.inputs)):
            return told_first(found, self.state.y_at(at), self.model.graph)
        if first.phase == "update" and self.came_from.carried(at):
            return found  # what is fed back grows, and variables by it
        top = self.state.y_at(at)
        if op is not None and op.inputs and top is not None and (wrong := wrong_sign(top, ancestors([top]))):
            return replace(found, origins=(replace(first, remedy=wrong[0].remedy), *found.origins[1:]), diverges=True,
                           text=f"the loss has the wrong sign{at_line(wrong[0].place)}: {wrong[0].text}\n{found.text}")
        until = [m for m in self._about(at) if m.run <= at.run]
        leapt, is_odd = self._leapt(until)
        if not first.overflows and not leapt:
            return found
        own = amplified(self.model.graph, (m.variables for m in self._about(at)), at.variables)
        sub = fallen(self.state, top, until) if top is not None and not own else None
        grown = own[0].text if own else without_bound(sub) if sub is not None else leapt if is_odd else self._grown(
            (*until[:_EARLY], at)) if first.overflows else ""
        grown = grown or leapt
        if not grown:
            return found
        for cause in advice_of(self.model.graph).uphill():
            return replace(found, origins=(replace(first, remedy=cause.remedy), *found.origins[1:]), diverges=True,
                           text=f"the training diverges: {cause.text}\n{found.text}")
        bounded = with_bound(sub) if sub is not None else None
        diverges = replace(first, remedy="let what an average keeps and what it adds make up 1" if own else
                           bounded.words if bounded is not None else
                           "lower the learning rate, take the mean over the "
                           "batch in place of the sum, or clip with tf.clip_by_global_norm")
        rate = "" if own or sub is not None else self._learning_rate(at)
        if rate.startswith("the momentum"):
            diverges = replace(diverges, remedy="give the optimizer a momentum below 1, as 0.9")
        large = enlarged(top, trainable_tensors(self.model.graph), partial(self.state.values_known, moment=at)
                         ) if top is not None and rate else iter(())
        fed = unscaled(self.state, top, at) if top is not None and rate else []
        given = next((in_words(each.tensor, each.size) + at_line(each.place) for each in fed), "")
        begun = self._begun(top, until) if top is not None and rate and not fed else ""
        vain = next(filter(None, (dead_end(u.gradient) for u in updates_of(at.ran, calls_of(self.model.graph))
                                  if u.y is not None and rate)), None)
        clipped = f"the gradients are clipped{at_line(place_of(vain))}, but applied as they are" if vain else ""
        sums = summing(top, partial(self.state.values_known, moment=at)) if top is not None and rate else []
        steps = unbounded(top) if top is not None and rate else []
        endless = endlessly(steps) if steps else ""
        sizes = (begun, *(each.text for each in sums), endless, given, *(each.text for each in large))
        told = "; ".join(filter(None, (clipped, *sizes, rate, grown)))
        return replace(found, origins=(diverges, *found.origins[1:]), diverges=True,
                       text=f"the training diverges: {told}\n{found.text}")

    def _begun(self, top: Tensor, until: Sequence[Moment]) -> str:
        """Of a training that began with a giant loss: which first values are how much too large for that."""
        at = next((m for m in until if trains(self.model.graph, m.ran)), until[0])
        if np.abs(self.state.values_known([top.op], at).get(top, 0.0)).max(initial=0.0) < _GIANT:
            return ""
        return begun_large({t: np.asarray(at.variables.get(t.op.name, 0.0)) for t in trainable_tensors(
            self.model.graph)}, _GAIN)

    def _grown(self, moments: Sequence[Moment]) -> str:
        """Which variable outgrew all sense: one that is trained, or else another, as a slot of an optimizer."""
        names = {t.op.name for t in trainable_tensors(self.model.graph)}
        runs = [(self.log.at(m.run), m.variables) for m in moments]
        return divergence([(run, {name: value for name, value in held.items() if name in names})
                           for run, held in runs]) or divergence(runs)

    def _leapt(self, until: Sequence[Moment]) -> tuple[str, bool]:
        """How a variable leapt in one step, and what was fed then; and whether that was unusual.

        "" if none did, or if the layers did it.
        """
        text, when = leap([(self.log.at(m.run), m.variables) for m in until[-_LATE:]],
                          [t.op.name for t in trainable_tensors(self.model.graph)])
        i = next((i for i, m in enumerate(until) if self.log.at(m.run) == when), -1)
        if i < 0 or self.came_from.through_layers(until[i]):
            return "", False
        odd = [(t, f", where most before had {number(size)} at most") for t, size in unusual_feeds(until[i], until[:i])]
        fed = odd or [(t, "") for t, value in until[i].data.items() if t.dtype.is_floating
                      and size_of(np.asarray(value, np.float64)) > UNSCALED]
        told = (in_words(t, np.abs(until[i].data[t]).max()) + more for t, more in fed[:1])
        return "; ".join([text, *told]), bool(odd)

    def _learning_rate(self, at: Moment) -> str:
        """What it was in a run and where it was set, "" if nothing tells."""
        if (rate := advice_of(self.model.graph).rate) is not None:
            return rate.text + at_line(rate.place)
        ran = at.ran
        began = next((m for m in self._about(at) if m.wanted == at.wanted), at)
        until = [m.variables for m in self._about(at) if began.run <= m.run <= at.run]
        grown = growths((op for op in ran if is_store(op) and op.inputs), until)
        updates = sorted(grown, key=grown.__getitem__, reverse=True)  # of several optimizers first what diverged
        rates = rates_of(updates, calls_of(self.model.graph))
        ops = [t.op for t in (*(t for op in updates for t in op.inputs if not t.dims), *rates)]
        now, begun = (learning_rate(updates, self.state.values_known(ops, m), rates) for m in (at, began))
        return now[0] if now[1] == begun[1] else f"{now[0]}, {number(begun[1])} in {self.log.at(began.run)}"

    def _about(self, at: Moment) -> list[Moment]:
        return self.state.stretch(self.log.at(at.run).step)

    def _latest(self) -> Moment | None:
        is_last = self.state.moments and not self.overrides.is_edited and self.state.view is None
        return self.state.moments[-1] if is_last else None

    def _spoiled_last(self) -> set[str]:
        """Variables that the last run left not finite."""
        return {name for name, value in dict(self.model.session.variables).items() if has_nonfinite(value)}

    def _value_after(self, variable: str, at: Moment) -> Any:
        """A variable's value after a remembered run, None if that is not known."""
        following = next((m.variables for m in self.state.moments if m.run > at.run),
                         dict(self.model.session.variables))
        value = following.get(variable)
        return value if value is not None and has_nonfinite(value) else None

    def _spoiler(self, variable: str) -> Moment | None:
        """The run whose update made a variable non-finite, if it is remembered.

        Further back it is found by halving: the variables of an old run may have to be made again.
        """
        moments = list(self.state.moments)
        first = self._first_spoiled(variable, moments)
        for early in (self.state.moments.turn, self.state.moments.beginning) if not first else ():
            at = self._first_spoiled(variable, early)  # what was spoiled before all that are left
            if 0 < at < len(early) and (self.model.is_foreign or self._spoils(early[at - 1], variable)):
                return early[at - 1]
        if not first and moments:
            return None
        if first and self.model.is_foreign:  # whose script updates it after the run
            return moments[first - 1] if first < len(moments) else None
        if first < len(moments):
            by_run = first and moments[first - 1].number > self._loaded(variable)[1]
            last = moments[-2] if len(moments) - 1 > first else None  # after which it may have been set
            return moments[first - 1] if by_run and self._spoils(moments[first - 1], variable) and (
                last is None or self._spoils(last, variable)) else None
        return self._latest() if variable in self._spoiled_last() else None

    def _first_spoiled(self, variable: str, moments: Sequence[Moment]) -> int:
        """From which on it is not finite. The last ones are looked at one by one, as it may have been set anew."""
        def is_bad(i: int) -> bool:
            return variable in self._spoiled_before(moments[i])

        count = len(moments)
        for moment in moments[-_LATE:] if count and is_bad(count - 1) else ():
            self._spoiled_before(moment)  # in their order each is made again from the one before
        last = next((i for i in range(count - 1, max(count - _LATE, 0) - 1, -1) if not is_bad(i)), None)
        return last + 1 if last is not None else bisect.bisect_left(range(max(count - _LATE, 0)), True, key=is_bad)

    def _spoiled_before(self, moment: Moment) -> frozenset[str]:
        """The variables that were not finite before a run."""
        if moment.run not in self._known:
            if len(self._known) > _KNOWN:
                self._known.clear()
            self._known[moment.run] = frozenset(n for n, value in moment.variables.items() if has_nonfinite(value))
        return self._known[moment.run]

    def _loaded(self, variable: str) -> tuple[str, int]:
        """The checkpoint that gave a variable a value, "" for none, and how many runs there were before that."""
        return self.model.session.loaded.get(variable, ("", 0))

    def _spoils(self, at: Moment, variable: str) -> bool:
        """Whether a run itself did, not what set the variable after it."""
        try:
            return at.wanted is None or has_nonfinite(self.state.replayer.after(at, at.variables).get(variable, 0.0))
        except AutodiffError:
            return True

    def _since(self, variable: str) -> str:
        """Since when a variable is not finite, as far as that is remembered."""
        spoiler, told = self._spoiler(variable), advice_of(self.model.graph).spoilers.get(variable)
        if spoiler is not None:
            return f", since the update of {self.log.at(spoiler.run)}" + (f": {told.text}" if told is not None else "")
        if path := self._loaded(variable)[0]:
            return f", as it was loaded from {path}"
        moments = list(self.state.moments)
        if 0 < self._first_spoiled(variable, moments) < len(moments):
            if told is not None:
                return f", since the update of {self.log.at(moments[-2].run)}: {told.text}"
            return f", since it was set after {self.log.at(moments[-2].run)}, by no run: loaded, or assigned"
        return ""

    def failed(self, at: Moment) -> WhyNonfinite | WhyFailed | None:
        """Why the run `at` raised an error, if it did and does so again: what is not finite, or what an op refused."""
        last = self.log.records[-1] if self.log.records else None
        if last is None or last.run != at.run or not last.error or at.wanted is None:
            return None
        ran = [op for op in at.ran if role_of(op) != "training"]
        try:
            self.state.values([t for op in sorted(ran, key=lambda op: op.index) for t in op.outputs
                               if not t.dtype.is_ref and t.dtype.name not in ("resource", "variant")], at)
        except OpError as error:
            return self.why_failed(error, at)
        return None

    def why_failed(self, error: OpError, at: Moment) -> WhyNonfinite | WhyFailed:
        """Why an op raised `error` in the run `at`. Raises it again if it names no op."""
        op = error.op
        if not isinstance(op, Operation):
            raise error
        known = self.state.values_known(dict.fromkeys(t.op for t in op.inputs), at)
        bad = [t for t in op.inputs if t in known and has_nonfinite(known[t])]
        said = str(error).splitlines()[0]
        if bad:
            found = self.why_value(bad[0], at)
            return replace(found, text=f"{op.name} ({op.type}) raised {said!r}, as {bad[0].name} is not finite:\n"
                                       f"{found.text}")
        place = place_of(op)
        of = f" (gradient of {op.forward_op.name})" if op.gradient_of is not None else ""
        name = f"{op.name} ({op.type})" if len(op.name) <= _LONG else op.type
        text = f"{self.log.at(at.run)} failed in {name}{of}{at_line(place)}: {said}"
        because, remedy = refusal(op, error, known, at.feeds)
        return WhyFailed(op.name, op.type, self.log.at(at.run).step, text + f"\n{because}" * bool(because), remedy,
                         place)
