"""Evidence: what a condition is asked about, and what of a run it holds of."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ....core.errors import AutodiffError
from ...facts.graph_lists import trainable_tensors
from ...facts.records import RunRecord, Sample
from ...facts.roles import is_variable
from ...facts.stats import statistics
from ...language.conditions import Condition, Other, Seen, reading
from ...language.watches import Watch
from ..state import State
from ..updates import update_ratio
from ..watches import Watches
from .effects import Effects
from .samples import InnerSamples


class Hit(NamedTuple):
    """What a condition holds of, in words: a tensor's name, `gradient of NAME`, the step. target: a name, or ""."""

    words: str
    target: str = ""


class Evidence:
    """Answers conditions from the record of a run, else by making the run again."""

    def __init__(self, state: State, watches: Watches, effects: Effects, inner: InnerSamples) -> None:
        self.state, self.model, self.log = state, state.model, state.log
        self.watches, self.effects, self.inner = watches, effects, inner

    def hit(self, condition: Condition, record: RunRecord, names: set[str], watch: Watch | None = None) -> Hit | None:
        """What a condition holds of; None if of nothing.

        names: the tensors that count; empty for the loss and all that was seen.
        """
        before = self.log.before(record)
        if not condition.asks_target:
            return self._hit_of_run(condition, record, before, names)
        for sample in self._samples_asked(record, names, in_order=watch is not None and watch.is_wide):
            if names and sample.name not in names or watch is not None and (
                    watch.is_excluded(sample.name) or watch.of_gradients and not sample.is_gradient):
                continue
            if sample.stats is None and sample.missing != f"no gradient of {record.loss_name} is built for it":
                continue
            words = f"gradient of {sample.name}" if sample.is_gradient else sample.name
            for turn, seen in enumerate(self.seen(sample, record, before, condition)):
                if condition.holds(replace(seen, is_result=not names and sample.is_gradient)):
                    words += f", iteration {turn} of {len(sample.turns)}" if sample.turns else ""
                    return Hit(words, sample.name)
        if not names and record.loss is not None:
            known = before and before.loss is not None and statistics(before.loss) or None
            if condition.holds(Seen(statistics(record.loss), self.log.at(record).step, record.loss, known,
                                    elsewhere=lambda other: self.elsewhere(other, record, before), is_result=True)):
                return Hit(record.loss_name, record.loss_name)
        return None

    def holds(self, condition: str) -> bool:
        """Whether a condition holds of the last run, or the one looked at: of its loss, or of anything seen in it."""
        parsed = self.watches.parse(condition)
        record = next((r for r in reversed(self.log.records) if self.state.view in (None, r.run)), None)
        return parsed is not None and record is not None and self.hit(parsed, record, set()) is not None

    def _samples_asked(self, record: RunRecord, names: set[str], *, in_order: bool) -> Sequence[Sample]:
        """The samples that a condition is asked of: the watched ones, not those taken for another condition.

        in_order: of computing, so that the first that is not finite is the one named.
        """
        if in_order:
            return sorted(record.samples, key=self._computed_at)
        if names:
            return record.samples
        extra = {other.name for other in self.watches.others()}.difference(*[watch.names for watch in self.watches])
        return [s for s in record.samples if s.name not in extra] or self._gradient_samples()

    def _computed_at(self, sample: Sample) -> tuple[bool, int]:
        """When a run computes a value, or after all of them a gradient, from the last op back."""
        index = self.model.targets.inner.outer_op(self.model.targets.one(sample.name).op).index
        return sample.is_gradient, -index if sample.is_gradient else index

    def _hit_of_run(self, condition: Condition, record: RunRecord, before: RunRecord | None,
                    names: set[str]) -> Hit | None:
        """Like `_hit`, for a condition on the step, the loss and named tensors; asked where `names` are computed.
        """
        found: dict[Other, tuple[Seen, ...]] = {}

        def elsewhere(other: Other) -> tuple[Seen, ...]:
            if other not in found:
                found[other] = self.elsewhere(other, record, before)
            return found[other]

        if condition.others and names and not any(s.stats for s in record.samples if s.name in names):
            return None
        if not condition.holds(Seen(None, self.log.at(record).step, record.loss, elsewhere=elsewhere)):
            return None
        if not condition.others:
            return Hit(str(self.log.at(record)))
        words = ", ".join(filter(None, (reading(other, seen) for other, seen in found.items())))
        return Hit(words or str(self.log.at(record)), condition.others[0].name)

    def seen(self, sample: Sample, record: RunRecord, before: RunRecord | None,
              condition: Condition | Other) -> tuple[Seen, ...]:
        """The subjects of a condition: a sample, or each iteration of it."""
        previous = before.sample(sample.name, gradient=sample.is_gradient) if before else None
        ratio = update_ratio(self.state, sample.name, record.run) if condition.asks("ratio") else None
        return tuple(Seen(stats, self.log.at(record).step, record.loss, previous.stats if previous else None, ratio,
                          lambda: self.effects.is_harmful(sample), lambda other: self.elsewhere(other, record, before))
                     for stats in sample.turns or (sample.stats,))

    def elsewhere(self, other: Other, record: RunRecord, before: RunRecord | None) -> tuple[Seen, ...]:
        """The sample of a tensor that a condition names; None where the run did not compute it."""
        sample = record.sample(other.name, gradient=other.is_gradient)
        if sample is None or sample.stats is None and sample.missing.startswith("no gradient of"):
            sample = self._seen_again(other, record)
        return self.seen(sample, record, before, other) if sample is not None and sample.stats is not None else ()

    def _seen_again(self, other: Other, record: RunRecord) -> Sample | None:
        """A tensor that a run did not look at, had by making the run again; None if the run could not compute it."""
        at = next((m for m in reversed(self.state.moments) if m.run == record.run), None)
        if at is None or at.wanted is None:
            return None
        x, y = self.model.targets.one(other.name), self.model.default_y()
        runs = at.ran
        has_x = is_variable(x) or self.inner.outer(x) in runs
        if not has_x or other.is_gradient and (y is None or y.op not in runs):
            return None
        try:
            return self.inner.sample_of(x, y if other.is_gradient else None, at)
        except AutodiffError:
            return None

    def _gradient_samples(self) -> tuple[Sample, ...]:
        """The script's losses and their gradients in the last run, computed again: for a condition with no watches."""
        losses = self.effects.run_last() or [y for y in (self.model.default_y(),) if y is not None]
        known = {(t.name, y.name): g for y in losses for t in trainable_tensors(self.model.graph)
                 if (g := self.model.derivatives.known(y, t)) is not None}
        known.update({(y.name, ""): y for y in losses if y.name != self.model.y})
        laid = self.state.overrides.overlay  # whose gradients take the place of the script's
        known = {names: laid.pairs.get(g, g) for names, g in known.items()} if laid is not None else known
        values = self.state.replayer.values_if_possible(self.state.moment(), list(known.values())) if known else {}
        return tuple(Sample(*names, statistics(values[g])) for names, g in known.items() if g in values)
