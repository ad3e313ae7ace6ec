"""Trials: remedies for nan and inf, tried on the remembered steps before anybody is told of them."""
from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ....core.errors import ArgumentError, AutodiffError
from ....core.graph import Tensor
from ...analysis.advice import advice_of
from ...analysis.arithmetic_rules import number
from ...analysis.edits.in_graph import Edit
from ...analysis.edits.in_numpy import InNumpy
from ...analysis.edits.in_source import Rewrite
from ...analysis.edits.of_givens import MATRICES, repairs_of
from ...analysis.edits.of_heads import squashed_ends
from ...analysis.edits.of_keras.arrays import keeping, thrown_away_at
from ...analysis.edits.together import elsewhere, logits_of
from ...analysis.findings import Remedy, WhyFailed, WhyNonfinite
from ...analysis.mistakes.stepping import outgrown, updates_of
from ...analysis.origins.of_formulas import is_of_data_alone
from ...analysis.remedies import of_products
from ...analysis.update_blame import is_store
from ...facts.graph_lists import calls_of, trainable_tensors
from ...facts.records import NewLines, Place
from ...facts.roles import at_line, place_of
from ...facts.stats import has_nonfinite
from ...facts.training_runs import trains
from ...history.replay import Moment
from ..fed_back import FedBack
from ..overlay import Overlay
from ..state import State
from .came_from import leaps, since_leap
from .candidates import SHOWN, Candidates, Tried
from .case_of import case_of
from .other_data import in_words_of, kept_of, lines_of, written
from .patches import called_at, expression_of, patch_of, site_of
from .trials_told import ANEW, DEAD, FAR_OFF, NUMBERED, RISEN, SLIGHT, STEEP, apart, by_ends, hides, noisier, rank, told

_BEFORE = 20  # steps before the one that failed
_MORE = 20  # steps after it, made of those before, for what has to last
_SECONDS = 3.0  # of this thread, for all trials of one question: what else the machine does counts little
_USUAL = 100.0  # a loss up to which gradients may be as much larger


class Trials:
    """tried: the remedies that helped where it was last asked, the best first, each with what applies it, and the run
    to go back to: the one that failed, or the first of the steps if updates change or what had grown by then."""

    def __init__(self, state: State) -> None:
        self.state, self.model, self.carried = state, state.model, FedBack(state)
        self.tried: Tried = []
        self.diverged = self._grew = False
        self._places: dict[int, int] = {}  # of remedies, by the numbers they are told with, of findings
        self._last: Tried = []  # that leave nothing to learn, told if nothing else helps
        self._reach, self._dead = 0.0, 0  # largest gradient in the last step that was tried; gradients that are 0 there
        self._steepest = 0.0  # the largest one, of a loss above 1 relative to that

    def of(self, why: WhyNonfinite | WhyFailed, y: str = "") -> tuple[Remedy, ...]:
        """The remedies that take away what `why` explains, by how little they change at other steps; () if none does.

        Each is tried on the step that failed and on those before it, as far as there is time; Ctrl-C ends the trials.
        """
        self.tried, self._last, self._places, self.carried = [], [], {}, FedBack(self.state)
        if isinstance(why, WhyNonfinite) and not why.origins:
            return ()
        self.diverged = isinstance(why, WhyNonfinite) and why.diverges
        self._grew = isinstance(why, WhyNonfinite) and any(each.kind in ("variable", "depth") for each in why.chain)
        until = time.thread_time() + _SECONDS
        try:
            known = self.state.stretch(why.step) if not y else []
            ran = [m for m in known if self.state.log.at(m.run).step == why.step]
            top = self.state.y_at(ran[-1]) if ran else None
            top = self.model.y_of(y) if top is None else top
            top = self._diverging(top, ran[-1]) if ran and self.diverged else top
            target = getattr(why, "target", "") if ran and not self._trains(ran[-1]) else ""
            asked = self.model.targets.one(target) if target else top
            top = asked if (is_asked := bool(target) and asked.op.gradient_of is None) else top
        except ArgumentError:
            if isinstance(why, WhyNonfinite) or self.state.last is None or not self.state.last.tensors:
                return ()
            top, is_asked = min(self.state.last.tensors, key=lambda t: len(t.dims or ())), False  # nothing is trained
        steps = ran[-1:] if is_asked and self.state.can_compute(top, ran[-1]) else self._steps(why, top)
        if isinstance(why, WhyNonfinite) and (origin := why.origins[0]).trap == "step":  # all else hides it
            self.tried = self._as_lines(origin.remedy, why.chain[0].place, origin.lines, top)
            return self.model.told(tuple(remedy for remedy, *_ in self.tried))
        with contextlib.suppress(KeyboardInterrupt):  # what helped by then is told
            for edits in self._candidates(why, top, steps[-1]) if steps else ():
                if time.thread_time() < until:
                    self._try(edits, top, steps, until)
        if isinstance(why, WhyNonfinite) and why.origins[0].op_type not in MATRICES:
            op = self.model.targets.named(why.origins[0].op) if why.origins else None
            if op is not None and all(r.steepest == DEAD for r, *_ in self.tried) and of_products(op, why.chain):
                self.tried = []
                return ()  # its words help, bounds only hide it
            self.tried = self.tried or sorted(self._last, key=lambda each: each[0].last)
            grown = any(o.overflows for o in why.origins[:1]) and any(each.kind == "variable" for each in why.chain[:1])
            self.tried.sort(key=partial(rank, why.diverges, grown))
            self.tried = by_ends(self.tried) if why.diverges else sorted(self.tried[:SHOWN], key=lambda each: (
                rank(False, grown, each)[:3], self._is_vague(each[1])))
        else:
            self.tried = noisier(self.tried)
        self.tried = [(self._placed(remedy, overlay, steps[-1]), overlay, at) for remedy, overlay, at in
                      self.tried[:SHOWN]]
        if self.model.is_foreign:  # whose fix is one of its text: first what is surely written, last bounds
            self.tried.sort(key=lambda each: (all(e.is_bound for e in each[1].edits), "{}" not in each[0].applied))
            if self.diverged and steps:
                none, is_open = Overlay(self.model, top, ()), all("{}" not in each.applied for each, *_ in self.tried)
                self.tried[:0] = [(remedy, none, steps[-1]) for remedy in written(self.state, top, steps[-1], is_open)]
            told = advice_of(self.model.graph).spoilers.get(why.origins[0].op if isinstance(why, WhyNonfinite) else "")
            if not self.tried and told is not None:
                self.tried = self._as_lines(told.remedy, told.place, told.lines, top)
        return self.model.told(tuple(remedy for remedy, *_ in self.tried))

    def _as_lines(self, words: str, place: Place | None, lines: NewLines, top: Tensor) -> Tried:
        """A remedy that is not tried, if it is known as lines of the script."""
        return [(Remedy(words, "", 0.0, 0.0, place, applied=ANEW, lines=lines), Overlay(self.model, top, ()),
                 self.state.moments[-1])] if lines else []

    def _diverging(self, top: Tensor, at: Moment) -> Tensor:
        """Of several losses that are trained in a run the one whose variables have outgrown the others'."""
        states = [m.variables for m in self.state.moments if m.run <= at.run and trains(self.model.graph, m.ran)]
        ys = [u.y for u in outgrown(updates_of(at.ran, calls_of(self.model.graph)), states) if u.y is not None]
        return top if top in ys or not ys else ys[0]

    def _candidates(self, why: WhyNonfinite | WhyFailed, top: Tensor, at: Moment) -> Iterable[list[Edit]]:
        op = self.model.targets.named(why.op if isinstance(why, WhyFailed) else "".join(
            each.forward_op for each in why.origins[:1]))
        yield from repairs_of(op, self.state.values_known([t.op for t in op.inputs], at)) if op is not None else ()
        if not isinstance(why, WhyFailed):
            yield from squashed_ends(op, case_of(self.state, top)) if op is not None and op.type == "Log" else ()
            if self.tried or is_of_data_alone(top, self.model.graph):
                return  # what keeps it above 0 otherwise makes no probability of it
            yield from Candidates(self.state, self.carried, why, top, at, tried=self.tried, last=self._last).all()

    def _placed(self, remedy: Remedy, overlay: Overlay, failed: Moment) -> Remedy:
        """The same with the script's expression as it would be; of what is fed, where it feeds it."""
        sites = [site for edit in overlay.edits if (site := site_of(edit, failed)) is not None]
        sites = sites or [each for each in [called_at(overlay.edits, self.model.script_name)] if each is not None]
        here = "; ".join(text for _, text in sites if text) or expression_of(
            overlay.edits, by_hand=self.model.is_foreign or self._is_vague(overlay))
        logits = "" if here else logits_of(overlay.edits)
        refused = any(record.run == failed.run and record.error for record in self.state.log.records)
        said = remedy.text.replace("of nan", "of an error") if refused else remedy.text
        lines = [edit.line for edit in overlay.edits if isinstance(edit.line, InNumpy)]
        others = [at_line(place) for line in lines for place in line.others]
        applied = self.applied(overlay)
        known = lines_of(self.state, overlay.edits, failed) if "{}" not in applied else {}
        words = in_words_of(overlay.edits) if known else ""
        lost = kept_of(self.state, overlay.edits, overlay.y) if not known and "{}" in applied else None
        if lost is not None:
            return replace(remedy, text=said, words=f"{thrown_away_at(lost)}: {keeping(lost)}", applied=ANEW,
                           lines=lost.lines, place=None)
        return replace(remedy, here="" if words else here, applied=ANEW if known else applied, lines=known, text=said,
                       words=words or remedy.words,
                       place=sites[0][0] if sites else remedy.place,
                       also=(", as well as" + " and".join(others) if others else remedy.also)
                       + f": {logits}" * bool(logits))

    def applied(self, overlay: Overlay) -> str:
        """How a remedy is: a script that computes its steps itself would have to be written anew, and cannot always."""
        by_hand = "it is to be written by hand" if not self._is_written(overlay) else ""
        how = by_hand if self.model.is_foreign else f"fix {{}} tries it in this session; in the script {by_hand}"
        return how if by_hand and (self.model.is_foreign or self.model.script_name) else Remedy.applied

    def _is_written(self, overlay: Overlay) -> bool:
        """Whether a remedy can be written in the script."""
        return not patch_of(overlay.edits, self.model.script_name).why

    def _is_vague(self, overlay: Overlay) -> bool:
        """Whether a remedy is words about several things that nothing in one place of the script names."""
        return not self.model.is_foreign and not self._is_written(overlay) and any(
            sum(number is not None for _, number in edit.line.parts) > 1 for edit in overlay.edits
            if isinstance(edit.line, Rewrite))

    def keep(self, count: int) -> None:
        """Only the first are told: what is tried from here on is numbered behind them."""
        self.tried, self._places = self.tried[:count], {}

    def in_order_of(self, texts: Sequence[str]) -> list[str]:
        """The texts of findings, which name remedies by number: each gets that of the first finding that names it; but
        what mends an error of the script, which is no trial."""
        named: dict[int, int] = {}
        for place, text in enumerate(texts, 1):
            for said in map(int, NUMBERED.findall(text)):
                named.setdefault(said, place if place not in named.values() else len(texts) + len(named))
        if max(named, default=0) <= len(self.tried) or self._places:
            self._places = {place: self._places.get(said, said) for said, place in named.items()}
            texts = [NUMBERED.sub(lambda found: str(named[int(found[0])]), text) for text in texts]
        return list(texts)

    def numbered_as(self, remedy: Remedy, overlay: Overlay, since: Moment) -> int:
        """The number of a remedy behind those that are told: of one in the same words, of the same ops, its own."""
        self._places = {}
        told = [(each.words, other.lines, [edit.op for edit in each.edits]) for other, each, _ in
                (*self.tried, (remedy, overlay, since))]
        if told.index(told[-1]) == len(self.tried):
            self.tried.append((remedy, overlay, since))
        return told.index(told[-1]) + 1

    def numbered(self, number: int) -> tuple[Remedy, Overlay, Moment]:
        """The remedy of that number. Raises ArgumentError if there is none."""
        places = self._places or {i: i for i in range(1, len(self.tried) + 1)}
        if number not in places:
            said = f"there is fix {', '.join(map(str, sorted(places)))}" if places else "none was tried, or none helped"
            raise ArgumentError(f"there is no remedy {number}: {said}",
                                hint="doctor and why number what can be applied or written; what is told without a "
                                     "number is for you to write")
        remedy, overlay, since = self.tried[places[number] - 1]
        return self.model.told(remedy), overlay, since

    def _steps(self, why: WhyNonfinite | WhyFailed, top: Tensor) -> list[Moment]:
        """The remembered run that failed, last, after those that trained before it."""
        moments = [m for m in self.state.stretch(why.step) if self.state.log.at(m.run).step <= why.step
                   and m.wanted is not None and self.state.can_compute(top, m)]
        failed = next(iter(reversed([m for m in moments if self._trains(m)] or moments)), None)
        if failed is None or self.state.log.at(failed.run).step != why.step:
            return []
        before = [m for m in moments if m.run < failed.run and self._trains(m)]
        return [*(since_leap(before, self._names, _BEFORE) if self.diverged else before[-_BEFORE:]), failed]

    @property
    def _names(self) -> set[str]:
        return {t.op.name for t in trainable_tensors(self.model.graph)}

    def _trains(self, moment: Moment) -> bool:
        return trains(self.model.graph, moment.ran)

    def _try(self, edits: Sequence[Edit], top: Tensor, steps: Sequence[Moment], until: float) -> None:
        """Keep the edits if with them the failed step, and those before it, are finite."""
        try:
            overlay = Overlay(self.model, top, edits)
            is_late = overlay.is_late
            loss = None if is_late else self._losses(overlay, steps[-1:], until)
            losses = self._losses(overlay, steps, until) if len(steps) > 1 or loss is None else loss
            later, holds, falls, began = self._lasting(overlay, steps, losses, until)
        except (AutodiffError, ValueError, TypeError):
            return  # the graph does not allow it here: it is not said to help
        if not losses or loss is None and len(losses) < len(steps):  # no time to go through them all
            if loss is None:
                return
            losses = loss
        if (is_late or self.diverged) and len(losses) > 1 and np.abs(losses[-1]).max() > max(
                RISEN * np.abs(losses[0]).max(), 0.0 if is_late else 1.0):
            return  # it goes the same way, later
        old = [self.state.values_known([top.op], m).get(top, np.nan) for m in steps[-len(losses):]]  # or it failed
        if self._steepest == DEAD and np.max(np.abs(old[-1] - losses[-1])) < SLIGHT:
            self._steepest, self._dead = 0.0, 0  # y is at its least there, as where the error is 0
        leaves_nothing = self._steepest == DEAD and all(edit.is_bound for edit in edits) or not holds
        change = max((apart(a, b) for a, b in zip(old[:-1], losses[:-1])), default=0.0)
        place = next((place_of(edit.op) for edit in edits if edit.op is not None), None)
        if hides(edits, self.tried) or any(
                tried.words == overlay.words and (other.place == place or {edit.op for edit in edits} == {
                    edit.op for edit in tried.edits}) for other, tried, _ in (*self.tried, *self._last)):
            return  # two that are to blame have one remedy
        runs = [self.state.log.at(m.run) for m in steps[-len(losses):]]
        text = told(runs, old, losses, change=change, steepest=self._reach if self._steepest > STEEP else 0.0) + later
        last = float(np.abs(losses[-1]).max(initial=0.0))
        remedy = Remedy(overlay.words, text, change, self._steepest, place, last, elsewhere(edits), dead=self._dead,
                        falls=falls, began=began)
        anew = is_late or self.diverged or self._grew and change > FAR_OFF and len(losses) == len(steps)
        (self._last if leaves_nothing else self.tried).append((remedy, overlay, steps[0 if anew else -1]))

    def _lasting(self, overlay: Overlay, steps: Sequence[Moment], losses: Sequence[Any] | None,
                 until: float) -> tuple[str, bool, float, float]:
        """Of what changes updates, or mends a divergence: what it gives as the steps are made again and again, whether
        it holds, by what part of it y falls, and from what; 1 and 0 where that is not known."""
        if not losses or not (overlay.is_late or self.diverged):
            return "", True, 1.0, 0.0
        kept, found = (self._reach, self._dead, self._steepest), list[Any]()
        again = [*steps, *itertools.islice(itertools.cycle(steps), _MORE)]
        is_finite = self._losses(overlay, again, until, found) is not None
        self._reach, self._dead, self._steepest = kept
        count, ys = len(found) - len(steps), [float(np.mean(each)) for each in found]
        if not is_finite:
            return f"; but {count + 1} more steps on the same data end as before", False, 1.0, 0.0
        if count < _MORE:
            return "", True, 1.0, 0.0  # no time
        return (f"; {count} more steps on the same data end at {number(ys[-1])}", max(ys[-len(steps):]) - ys[0] <= (
            RISEN - 1.0) * max(abs(ys[0]), 1.0), (ys[0] - ys[-1]) / max(abs(ys[0]), 1e-12), ys[0])

    def _losses(self, overlay: Overlay, steps: Sequence[Moment], until: float, found: list[Any] | None = None
                ) -> list[Any] | None:
        """y in each step, one from the other with the edits; None if something is not finite. Empty: no time. found:
        takes them in, one by one."""
        found = [] if found is None else found
        given: dict[int, Moment] = {}  # the steps, with what is fed back to them
        variables: Mapping[str, Any] = dict(steps[0].variables)
        for i, moment in enumerate(steps):
            if found and time.thread_time() > until:
                return []
            for between in self._between(steps[i - 1], moment) if i else ():
                before = replace(between, variables=variables)
                variables = self._after(between, variables, overlay.feeds(self.state.replayer, before, between.ran))
            at = replace(moment, variables=variables, feeds={**moment.feeds, **self._fed_back(overlay, given, moment)})
            given[moment.run] = at
            pairs = overlay.pairs_of(moment.ran)
            top, *others = overlay.checked  # of these, what other runs alone compute is theirs
            checked = [top, *(t for t in others if self.state.can_compute(t, moment))]
            wanted = list(dict.fromkeys((*checked, *pairs.values())))
            known = dict(zip(wanted, self.state.replayer.values(at, wanted)))
            values = [known[t] for t in checked]
            instead = {old: known[new] for old, new in pairs.items()}
            if any(map(has_nonfinite, values)) or self._root_of_inf(at, instead):
                return None
            if found or len(steps) > 1 or self._trains(moment):
                variables = self._after(at, variables, instead)
                if any(map(has_nonfinite, variables.values())) or self._leaps(overlay, at, variables):
                    return None
            found.append(values[0])
            sizes = [float(np.abs(known[t]).max(initial=0.0)) for t in overlay.slopes if t in known]
            self._reach, self._dead = max(sizes, default=0.0), sizes.count(0.0)
            if sizes and not self._reach:
                self._reach = DEAD
            self._steepest = self._reach / np.clip(float(np.abs(values[0]).max(initial=0.0)), 1.0, _USUAL)
        return found

    def _root_of_inf(self, at: Moment, fed: Mapping[Tensor, Any]) -> bool:
        """Whether updates of the script's own, fed as of `_after`, take the root of inf: nan in vectors."""
        roots = [op.outputs[0] for op in at.ran if op.type == "Sqrt" and op.gradient_of is None] if fed else []
        values = self.state.replayer.values(replace(at, feeds={**at.feeds, **fed}), roots) if roots else []
        return any(np.isposinf(value).any() for value in values)

    def _leaps(self, overlay: Overlay, at: Moment, after: Mapping[str, Any]) -> bool:
        """Whether edits of what an update computes with, not of y, leave a step larger than any should be."""
        if overlay.is_late or overlay.y in overlay.now:
            return False
        return leaps(at.variables, after, self._names)

    def _fed_back(self, overlay: Overlay, given: Mapping[int, Moment], moment: Moment) -> dict[Tensor, Any]:
        """What a run is fed that the one before gives with the edits."""
        return {fed: self.state.replayer.values(given[before.run], [overlay.now.get(t, t)])[0]
                for fed, (before, t) in (self.carried.sources(moment) if given else {}).items() if before.run in given}

    def _between(self, before: Moment, moment: Moment) -> list[Moment]:
        """The runs between two that changed variables too, as those that update a target network."""
        known = self.state.stretch(self.state.log.at(moment.run).step)
        return [m for m in known if before.run < m.run < moment.run and m.wanted is not None
                and any(is_store(op) for op in m.ran)]

    def _after(self, moment: Moment, variables: Mapping[str, Any], fed: Mapping[Tensor, Any]) -> Mapping[str, Any]:
        """The variables after a run that began with these. fed: what takes the place of what it would compute."""
        at = replace(moment, variables=variables, feeds={**moment.feeds, **fed})
        return self.state.replayer.after(at, variables)
