"""Runs whose loss was not finite: which of those that are remembered is told of."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....core.graph import Tensor
from ...analysis.findings import WhyNonfinite
from ...history.replay import Moment
from ..runs.effects import Effects
from ..state import State
from .blame import Blame

_OTHERS = 8  # losses beside a run's own that are looked at


class IllRuns:
    """Looks for them in what is remembered."""

    def __init__(self, state: State, effects: Effects, blame: Blame) -> None:
        self.state, self.log, self.effects, self.blame = state, state.log, effects, blame

    def first(self, roots: Sequence[Tensor], at: Moment) -> Moment | None:
        """Of the runs whose loss was not finite, one after the other up to `at`: the first before it, if remembered."""
        is_last = at in self.state.moments and self.state.view is None
        since = self.log.ill_since(at.run, self.state.model.is_same_loss) if is_last else at.run
        known = [*self.state.stretch(self.log.at(since).step), *self.state.moments]  # the beginning is kept apart
        others = {r.run for r in self.log.ill if self.state.model.is_foreign}  # whose batches had other sizes
        return next((m for m in known if since <= m.run < at.run and (m.run in others or m.wanted == at.wanted and all(
            self.state.can_compute(t, m) for t in roots))), None)

    def past(self) -> WhyNonfinite | None:
        """Of the runs whose loss was not finite, where it was so again after them: the first that is remembered."""
        is_as_then = self.state.view is None and self.state.overrides.overlay is None
        for record in (ill := self.log.ill if is_as_then else []):
            known = (*self.state.stretch(self.log.at(record).step), *self.state.moments)
            for at in [m for m in known if m.run == record.run][:1]:
                if (why := self.blame.why_nonfinite(self.effects.roots(at=at), None, at)).origins:
                    times = f"once, in {self.log.at(record)}" if len(ill) == 1 else (
                        f"{len(ill)} times, first in {self.log.at(ill[0])}")
                    return replace(why, text=f"the loss was not finite {times}: {why.text}")
        return None

    def of_other_losses(self, at: Moment) -> WhyNonfinite | None:
        """Of losses that the run `at` did not compute, each in the last run that did: the first that is not finite; of
        many, as where each step has another graph, the last ones."""
        seen, looked = set(self.effects.run_last(at)), 0
        for moment in reversed(self.state.moments if self.state.view is None else ()):
            if not seen.issuperset(here := self.effects.run_last(moment)):
                seen.update(here)
                looked += 1
                why = self.blame.why_nonfinite(self.effects.roots(at=moment), None, moment)
                if why.origins:
                    return why
            if looked == _OTHERS:
                break
        return None
