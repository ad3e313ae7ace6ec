"""Mended: remedies of silent mistakes, tried on the first remembered steps before anybody is told of them."""
from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ....core.errors import AutodiffError
from ....core.graph import Tensor
from ...analysis.advice import advice_of
from ...analysis.edits.of_mistakes import attempts_of
from ...analysis.edits.of_script import lines_of
from ...analysis.edits.of_training import Attempt
from ...analysis.edits.own_updates import Law, law_behind
from ...analysis.findings import ERROR, WARNING, Finding, Remedy
from ...analysis.mistakes.all_mistakes import CALM, OF_DATA
from ...analysis.mistakes.case import Case, gradients_of, held
from ...analysis.mistakes.reach import HAZARDS, NEAR
from ...analysis.mistakes.rows.fitted import ONE_KIND, SPLIT, STATES
from ...analysis.mistakes.targets.left_open import NEVER_END
from ...analysis.update_blame import is_store
from ...facts.records import NewLines
from ...facts.roles import place_on
from ...history.replay import Moment
from ..overlay import Overlay
from ..state import State
from .patches import patch_of
from .trials import Trials
from .trials_told import ANEW

_STEPS, _MORE, _LEAST = 20, 60, 4  # training steps that are made again, or if these show nothing; and the fewest
_SECONDS, _EACH = 3.0, 1.5  # of this thread, for all findings, and for one: what else the machine does counts little
_FINDINGS = 4  # the worst ones, whose remedies are tried
_BETTER = 0.02  # of the loss at the beginning, by which it has to end lower
_CLEAR = 0.05  # the same of the last steps, of batches that differ
_NOT_SHOWN = "the remembered steps do not show that it helps"
_TRIED, _EARLY = f"tried: {_NOT_SHOWN}", "tried: the first steps do not show yet what it gives"
_YET = 0.1  # of what a rate gained, that one ten times as high has to gain beyond it
_LOST = 0.5  # of what a rate gained, that is not to be lost again by the end
_MUCH = 0.5  # of the loss at the end that is left by a remedy for what does harm
_LARGE, _SMALL = "initial values too large", "initial values too small"
_OF_TASTE = ("no activation", "relu on the logits", "two activations", _LARGE)
_OF_NO_OP = ("steps too large", "learning rate too low")  # findings about updates that no op makes
_OF_POWERS = (*_OF_NO_OP, "learning rate too high")  # whose attempts are powers of ten
_OF_SEVERAL = (*_OF_POWERS, "targets out of range")  # of whose attempts the one that helps most is told
OF_METRICS = ("argmax over one", "logits for probabilities")
DECAYED = "learning rate decayed to nothing"
_OF_OLD = ("advantage is trained",)
_NOT_TRIED = {  # kind of finding -> why its remedy is not tried, where it is not that no edit of the graph does it
    **dict.fromkeys(("nan", "inf"), "it follows from others"),  # what comes first has its trials
    **dict.fromkeys(HAZARDS, "why nan tries it where it does harm"),
    **dict.fromkeys((
        "same batch", "batches overlap", "sorted by class", "labels do not follow from inputs", "initialized again",
        "graph grows", "never trained", "never copied", "nan in the data", "unbalanced classes",
        "one label", "drawn apart", "copied the wrong way", "duplicated columns", "gradients never reset",
        "dropout in evaluation", "not updated", "failed", "all padding", NEVER_END, SPLIT,
        ONE_KIND, STATES),
        "it is the script that does it"),
    **dict.fromkeys(_OF_OLD, "steps made again have the actions of the policy as it was, which cannot show it"),
    **dict.fromkeys(("floats compared", "argmax over the batch", *OF_METRICS, "compared crosswise",
                     "mean of integers"), "the loss does not depend on it"),
    **dict.fromkeys(("two losses train the same", "adversaries agree", "var_list swapped", "target is trained",
                     "critic told the same of both", "copy is trained"), "two losses work against each other")}


class Course(NamedTuple):
    """Losses of steps made again, and the steps. measured: what the same loss is with the weights as trained."""

    losses: list[float]
    moments: list[Moment]
    measured: list[float]


class Helped(NamedTuple):
    """What an attempt gave. start, end: the loss of steps made again with it. before: as it is, at their end."""

    attempt: Attempt
    overlay: Overlay | None
    moments: list[Moment]
    start: float
    end: float
    before: float


class Mended:
    """Tries what findings say; those that help can be applied as those of `trials`, by their numbers."""

    def __init__(self, state: State, trials: Trials) -> None:
        self.state, self.model, self.trials = state, state.model, trials
        self._laws: dict[Tensor, Law | None] = {}
        self._lines: NewLines = {}  # of the remedy that is tried
        self._left, self._end = 1.0, 0.0  # of the loss at the end, by the remedy that was tried last; that itself

    def told(self, found: Sequence[Finding], case: Case, *, hazards: bool = False) -> list[Finding]:
        """The findings, worst first, with what their remedies gave where they were tried, and else why not.

        hazards: where nothing is worse, those of what did not happen are tried too.
        Ctrl-C ends it, and what was not reached is told as it was.
        """
        until = time.thread_time() + _SECONDS
        self._laws, steps, told = {}, self._steps(case), list(found)
        written = (advice := advice_of(self.model.graph)).written
        worst = [f for f in found if f.remedy and "tried: " not in f.remedy and (f.severity >= WARNING or written(f))]
        if hazards and not any(f.severity >= WARNING for f in found):
            worst += [f for f in found if f.kind in HAZARDS]
        kinds = list(dict.fromkeys((f.kind, f.op, f.remedy) for f in worst))  # of tensors at one op one is tried
        try:
            for kind in kinds[:_FINDINGS]:
                alike = [i for i, f in enumerate(found) if (f.kind, f.op, f.remedy) == kind]
                first, self._left = found[alike[0]], 1.0
                op, said = self.model.targets.named(first.op) or (case.y.op if first.kind in _OF_NO_OP else None), ""
                self._lines = {} if self.model.raised[0] else advice.written_for(first) or lines_of(first, op, case)
                if op is not None:
                    attempts = list(attempts_of(first, op, case)) if case.steps and (
                        first.kind not in HAZARDS or hazards) else []
                    if first.kind in (NEAR, *HAZARDS):  # each keeps nan away: what can be written comes first
                        attempts.sort(key=lambda each: bool(patch_of(each.edits, self.model.script_name).why))
                    self._lines = self._lines or next((each.lines for each in attempts if each.lines), {})
                    said = self._said(first, attempts, case, steps, until)
                if self._is_done(first, said, case):  # no longer rate helps: to write one may do harm
                    said = said.partition("; fix ")[0]
                elif self._lines and "; fix " not in said and self.state.moments and not (
                        first.kind in _OF_TASTE and _NOT_SHOWN in said):
                    number = self._numbered(Remedy(first.remedy, "", 0.0, 0.0, first.place), Overlay(
                        self.model, case.y, ()), self.state.moments[-1])
                    said = f"{said}; " * said.startswith("tried") + ANEW.format(number)
                is_one = first.kind in (_SMALL, _LARGE) and len(self._lines) == 1
                at = next(iter(self._lines)) if is_one else None
                for i in alike if said else ():
                    told[i] = replace(
                        found[i], remedy=f"{found[i].remedy}; {said}", place=place_on(*at) if at else found[i].place,
                        severity=self._severity(found[i], said, case))
        except KeyboardInterrupt:
            pass
        return sorted(told, key=lambda f: -f.severity)

    @staticmethod
    def _is_done(finding: Finding, said: str, case: Case) -> bool:
        """Whether a training had learnt when its rate came to nothing: its last steps at another are no better."""
        return finding.kind == DECAYED and case.learns and said.startswith("tried") and (
            _NOT_SHOWN in said or _EARLY in said)

    def _severity(self, finding: Finding, said: str, case: Case) -> int:
        """That of a finding of which so much is said: a rate is no error where no other one helps, and a remark where
        the loss falls all the same, as what is but possible is where its remedy does not help."""
        if self._is_harmless(finding, said, case) or finding.confidence == "possible" and _NOT_SHOWN in said:
            return CALM + 3
        is_shown = finding.kind not in _OF_POWERS or case.is_spoiled or _NOT_SHOWN not in said
        is_calm = case.learns or case.falls
        return finding.severity if is_shown else min(finding.severity, CALM + 3 if is_calm else ERROR - 1)

    def _is_harmless(self, finding: Finding, said: str, case: Case) -> bool:
        """Whether what is unusual, and may be meant, is seen to do no harm: the loss falls about as well with it."""
        if self._is_done(finding, said, case) or finding.kind not in _OF_TASTE or not said.startswith("tried"):
            return self._is_done(finding, said, case)
        is_mended = finding.kind == _LARGE and self._end < case.guess  # else far above a guess any layer helps
        is_telling = "as all of it is" in finding.text or (  # of a linear model the first steps go as well
            self._left < _MUCH and (case.last_loss < case.guess or is_mended))
        down = [after < before for _, before, after in case.again]
        is_shown = _NOT_SHOWN not in said and _EARLY not in said
        return (case.learns or case.falls) and not is_telling or not is_shown and sum(down) > len(down) / 2

    def _said(self, finding: Finding, attempts: Sequence[Attempt], case: Case, steps: Sequence[Moment],
              until: float) -> str:
        """What came of the attempts at what one finding says."""
        if not attempts:
            return f"not tried: {_NOT_TRIED.get(finding.kind, 'no edit of the graph does it')}"
        if finding.kind in (*OF_METRICS, *_OF_OLD):
            return self._offered(finding, attempts, case, f"not tried: {_NOT_TRIED[finding.kind]}")
        if not case.updates and self._law(case, steps) is None:
            why = "other steps come between its own" if any(b.run - a.run > 1 for a, b in zip(
                steps, steps[1:])) else "what the script does with the gradients is no rule that is known"
            return self._offered(finding, attempts, case, f"not tried: {why}")
        if sum(self._is_training(m, case) for m in steps) < _LEAST:
            return self._offered(finding, attempts, case, f"not tried: fewer than {_LEAST} steps can be made again")
        end = min(until, time.thread_time() + _EACH)
        if time.thread_time() + _LEAST * case.ms / 1000 > end + _EACH:
            return self._offered(finding, attempts, case, "not tried: a step takes too long")
        is_late = finding.kind == DECAYED and case.learns
        if is_late:
            steps = self._steps(case, self.state.moments)
        training = [i for i, m in enumerate(steps) if self._is_training(m, case)]
        for count in (_STEPS, _MORE)[is_late:1 + (is_late or len(training) > _STEPS)]:
            best: Helped | None = None
            for attempt in attempts:
                self._lines = {} if is_late and attempt is not attempts[0] else self._lines
                if time.thread_time() > end:
                    if best is not None:
                        break
                    return self._offered(finding, attempts, case, "not tried: no time was left" if count == _STEPS
                                         else _TRIED)
                try:
                    helped = self._tried(finding, attempt, case, steps[:training[:count][-1] + 1], end)
                except (AutodiffError, ValueError, TypeError, KeyError):
                    continue  # the graph does not allow it here: it is not said to help
                if best is not None and (helped is None or not _gains(finding, best, helped)):
                    break  # the one that helps most
                best = helped
                if best is not None and finding.kind not in _OF_SEVERAL:
                    break
            if best is not None:
                return self._worded(finding, best)
        return self._offered(finding, attempts, case, _TRIED)

    def _offered(self, finding: Finding, attempts: Sequence[Attempt], case: Case, said: str) -> str:
        """Of what no step shows to help: that; what is certainly wrong can be written all the same."""
        edits = attempts[0].edits
        if finding.confidence != "certain" or not edits or any(edit.line is None for edit in edits):
            return said
        try:
            overlay = Overlay(self.model, case.y, edits)
        except AutodiffError:  # the graph does not allow it here
            return said
        said = _EARLY if said == _TRIED else said
        if self._lines and patch_of(overlay.edits, self.model.script_name).why:  # these are written
            return said
        remedy = Remedy(overlay.words, said, 0.0, 0.0, finding.place, applied=self.trials.applied(overlay))
        return f"{said}; {remedy.applied.format(self.trials.numbered_as(remedy, overlay, self.state.moments[-1]))}"

    def _tried(self, finding: Finding, attempt: Attempt, case: Case, steps: Sequence[Moment],
               until: float) -> Helped | None:
        """What an attempt gave, if it helps."""
        overlay = Overlay(self.model, case.y, attempt.edits) if attempt.edits else None
        course = self._course(overlay, attempt, case, steps, until)
        losses, count = course.losses, max(1, min(3 if finding.kind != DECAYED else _STEPS, len(course.losses) // 3))
        if len(losses) < _LEAST or not np.isfinite(losses).all():
            return None
        start, end = float(np.mean(losses[:count])), float(np.mean(losses[-count:]))
        before = float(np.mean(course.measured[-count:]))
        margin = (_BETTER if finding.kind != DECAYED else _CLEAR) * max(abs(start), 1e-6)
        if finding.kind in _OF_POWERS and end > (low := min(float(np.mean(losses[i:i + count])) for i in range(
                len(losses)))) + _LOST * max(start - low, 0.0):
            return None  # it diverges again, only later
        is_near = finding.kind in (NEAR, *HAZARDS)  # what stayed finite is to stay as it was
        if is_near and end > before + margin or not is_near and (
                not end < start - margin and finding.kind != DECAYED
                or np.isfinite(before) and not end < before - margin):
            return None
        return Helped(attempt, overlay, course.moments, start, end, before)

    def _worded(self, finding: Finding, helped: Helped) -> str:
        """An attempt that helps in words, numbered if it can be applied."""
        attempt, overlay, moments, start, end, before = helped
        self._end = end
        self._left = end / before if np.isfinite(before) and before > 0 and attempt.is_same else 0.0
        first, last = (self.state.log.at(moments[i].run).step for i in (0, -1))
        then = "as it is, it ends at" if attempt.is_same else "the weights as trained give it"
        which = "the loss" if attempt.is_same else "the loss so mended" if attempt.part is None else "that part of it"
        words = "; ".join(dict.fromkeys(edit.words for edit in attempt.edits)) or (
            f"the rate times {attempt.pace:g}" if attempt.pace != 1.0 else "other first values")
        said = f"{words}: {which} goes from {start:.4g} to {end:.4g} in steps {first}-{last}; {then} {before:.4g}"
        if overlay is None:
            return f"tried: {said}"
        remedy = Remedy(words, said, 0.0, 0.0, finding.place, end, applied=self.trials.applied(overlay))
        if self._lines and (finding.kind in OF_DATA or "{}" not in remedy.applied or patch_of(
                overlay.edits, self.model.script_name).why):
            return f"tried: {said}; {ANEW.format(self._numbered(remedy, overlay, moments[0]))}"
        return f"tried: {said}; {remedy.applied.format(self.trials.numbered_as(remedy, overlay, moments[0]))}"

    def _numbered(self, remedy: Remedy, overlay: Overlay, since: Moment) -> int:
        """The number of a remedy that is known as lines of the script."""
        return self.trials.numbered_as(replace(remedy, applied=ANEW, lines=self._lines), overlay, since)

    def _course(self, overlay: Overlay | None, attempt: Attempt, case: Case, steps: Sequence[Moment],
                until: float) -> Course:
        """The steps made again, one from the other, as far as there is time."""
        part, now = attempt.part if attempt.part is not None else case.y, overlay.now if overlay is not None else {}
        top = now.get(part, part)
        variables: Mapping[str, Any] = {**steps[0].variables, **attempt.start}
        losses: list[float] = []
        moments: list[Moment] = []
        law, slopes, past = self._laws.get(case.y), self._slopes(case), list[dict[str, Any]]()
        for moment in steps:
            if len(losses) >= _LEAST and time.thread_time() > until:
                break
            at = replace(moment, variables=variables)
            if law is not None:
                loss, *found = self.state.replayer.values(at, [top, *(now.get(g, g) for g in slopes.values())])
                losses.append(_mean(loss))
                moments.append(moment)
                if not np.isfinite(losses[-1]):
                    break
                past.append(dict(zip(slopes, found)))
                variables = {**variables, **law.after(variables, past, attempt.pace)}
                continue
            pairs = {old: new for old, new in (overlay.pairs.items() if overlay is not None else ())
                     if old.op in moment.ran}
            is_training = self._is_training(moment, case)
            given = self.state.replayer.values(at, [*([top] if is_training else ()), *pairs.values()])
            if is_training:
                losses.append(_mean(given.pop(0)))
                moments.append(moment)
                if not np.isfinite(losses[-1]):
                    break
            fed = {**moment.feeds, **dict(zip(pairs, given))}
            variables = self.state.replayer.after(replace(at, feeds=fed), variables)
        late = moments[-max(1, min(3, len(moments) // 3)):]
        known = [self.state.replayer.values_if_possible(m, [case.y if attempt.is_same else top]) for m in late]
        return Course(losses, moments, [_mean(next(iter(each.values()), np.nan)) for each in known])

    def _steps(self, case: Case, late: Sequence[Moment] = ()) -> list[Moment]:
        """The first remembered training steps, or the last of `late`, with what else changed variables between them."""
        first_ones = self.state.moments.beginning
        is_known = sum(self._is_training(m, case) for m in first_ones) >= _LEAST
        moments = [m for m in late or (first_ones if is_known else [*(m for m, _ in self.state.moments.steps),
                                       *self.state.moments]) if m.wanted is not None]
        training = [m for m in moments if self._is_training(m, case)][-_MORE if late else 0:][:_MORE]
        if not training:
            return []
        if not case.updates:
            return training
        first, last = training[0].run, training[-1].run
        return [m for m in moments if first <= m.run <= last and any(is_store(op) for op in m.ran)]

    def _law(self, case: Case, steps: Sequence[Moment]) -> Law | None:
        """By what rule the script makes its updates, where no op does."""
        if case.y not in self._laws:
            slopes, found = self._slopes(case), list[dict[str, Any]]()
            for moment in steps:
                found.append(dict(zip(slopes, self.state.replayer.values(moment, list(slopes.values())))))
                if not all(np.isfinite(g).all() for g in found[-1].values()):
                    break
            self._laws[case.y] = law_behind([m.variables for m in steps[:len(found)]], found) if slopes and len(
                found) >= _LEAST else None
        return self._laws[case.y]

    @staticmethod
    def _slopes(case: Case) -> dict[str, Tensor]:
        """The gradients that the script asked for, by the names of variables; {} if not all are dense."""
        asked = {x for call in case.calls if call.ys[0] is case.y for x in call.xs if call.found.get(x) is not None}
        found = gradients_of(case)
        return {held(x).name: g for x, g in found.items()} if found.keys() >= asked & set(case.variables) else {}

    def _is_training(self, moment: Moment, case: Case) -> bool:
        return any(run.number == moment.run for run in case.steps) and self.state.can_compute(case.y, moment)


def _gains(finding: Finding, best: Helped, other: Helped) -> bool:
    """Whether another power of ten is much better; a higher rate has to be by more, as a few steps show little of it,
    and so has what has no bound, beside what has that of the targets."""
    is_raised = finding.kind == "learning rate too low"
    return other.end < best.end - (_YET * (best.before - best.end) if is_raised else (
        _BETTER if finding.kind in _OF_POWERS else _YET) * abs(best.end))


def _mean(value: Any) -> float:
    return float(np.mean(value)) if np.size(value) and np.asarray(value).dtype.kind == "f" else np.nan
