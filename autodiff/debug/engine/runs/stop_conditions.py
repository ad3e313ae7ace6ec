"""Asking: whether conditions hold of a run: of what was seen in it, and of tensors that they name."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ....core.errors import AutodiffError
from ....core.graph import Graph
from ....core.traversal import dependencies
from ....runtime.session import Session
from ...facts.graph_lists import trainable_tensors
from ...facts.records import RunRecord, Sample, Stop
from ...facts.roles import is_variable
from ...facts.stats import statistics
from ...language.conditions import Condition, Other, Seen, reading
from ...language.watches import Watch
from .inner_watches import Insides


class _Hit(NamedTuple):
    """What a condition holds of, in words: a tensor's name, `gradient of NAME`, the step. target: a name, or ""."""

    words: str
    target: str = ""


class Asking(Insides):
    """Decides where runs stop."""

    def _begin(self, graph: Graph, session: Session | None) -> None:
        super()._begin(graph, session)
        self._heeded: list[Condition] = []  # conditions asked of runs without a watch or breakpoint

    @contextmanager
    def heeding(self, text: str) -> Iterator[Condition | None]:
        """Have runs look at what a condition asks about, for `holds`; the condition, None for an empty text.

        Raises ArgumentError for what is no condition, UnknownNameError for what it names and is not there.
        """
        condition = self._condition(text)
        watches, extra_conditions = self.watches, self._heeded
        if condition is None or self._others().issuperset(condition.others):
            yield condition
            return
        extra_conditions.append(condition)
        watches.version += 1
        try:
            yield condition
        finally:
            extra_conditions.remove(condition)
            watches.version += 1

    def _others(self, step: int | None = None) -> set[Other]:
        """What conditions ask of tensors that they name. step: only as far as it is due then."""
        asked = [watch.condition for watch in self.watches if watch.condition is not None
                 and (step is None or watch.is_due(step))]
        return {other for condition in [*asked, *self._heeded] for other in condition.others}

    # ---- stops --------------------------------------------------------------------------
    def _stops(self, record: RunRecord) -> tuple[Stop, ...]:
        found = []
        for watch in self.watches:
            if watch.number in self._passed:
                continue
            only_looks = watch.kind == "watch" and watch.condition is None
            is_quiet = not record.samples and watch.is_alarm and watch.names  # all that it guards was finite
            stop = None if only_looks or is_quiet or not watch.is_due(record.step) else self._stop_of(watch, record)
            if stop is not None and watch.hit():
                found.append(stop)
                if watch.is_temporary:
                    self.watches.remove(watch.number)
        self._passed.clear()
        return tuple(found)

    def _stop_of(self, watch: Watch, record: RunRecord) -> Stop | None:
        if watch.step is not None:
            here = record.step == watch.step
            return Stop("break", f"step {record.step}", watch.number, "", watch.commands) if here else None
        if watch.condition is None:
            computed = next((s for s in record.samples if s.name in watch.names and s.stats), None)
            if computed is None:
                return None
            return Stop(watch.kind, f"{computed.name} was computed", watch.number, computed.name, watch.commands)
        hit = self._hit(watch.condition, record, set(watch.names), watch)
        if hit is None:
            return None
        return Stop(watch.kind, f"{hit.words}: {watch.condition.text}", watch.number, hit.target, watch.commands)

    def _hit(self, condition: Condition, record: RunRecord, names: set[str], watch: Watch | None = None) -> _Hit | None:
        """What a condition holds of; None if of nothing.

        names: the tensors that count; empty for the loss and all that was seen.
        """
        before = next((r for r in reversed(self.records) if r.step < record.step), None)
        if not condition.asks_target:
            return self._hit_of_run(condition, record, before, names)
        for sample in self._samples_asked(record, names):
            if names and sample.name not in names or watch is not None and watch.is_excluded(sample.name):
                continue
            if sample.stats is None and sample.missing != f"no gradient of {record.loss_name} is built for it":
                continue
            words = f"gradient of {sample.name}" if sample.is_gradient else sample.name
            for turn, seen in enumerate(self._seen(sample, record, before, condition)):
                if condition.holds(seen):
                    words += f", turn {turn} of {len(sample.turns)}" if sample.turns else ""
                    return _Hit(words, sample.name)
        if not names and record.loss is not None:
            known = before and before.loss is not None and statistics(before.loss) or None
            if condition.holds(Seen(statistics(record.loss), record.step, record.loss, known,
                                    elsewhere=lambda other: self._elsewhere(other, record, before))):
                return _Hit(record.loss_name, record.loss_name)
        return None

    def _samples_asked(self, record: RunRecord, names: set[str]) -> Sequence[Sample]:
        """What a condition is asked of: what was seen, but not only because some condition names it."""
        if names:
            return record.samples
        extra = {other.name for other in self._others()}.difference(*[watch.names for watch in self.watches])
        return [s for s in record.samples if s.name not in extra] or self._gradient_samples()

    def _hit_of_run(self, condition: Condition, record: RunRecord, before: RunRecord | None,
                    names: set[str]) -> _Hit | None:
        """As `_hit`, of a condition on the step, the loss and tensors that it names; asked where `names` are computed.
        """
        found: dict[Other, tuple[Seen, ...]] = {}

        def elsewhere(other: Other) -> tuple[Seen, ...]:
            if other not in found:
                found[other] = self._elsewhere(other, record, before)
            return found[other]

        if condition.others and names and not any(s.stats for s in record.samples if s.name in names):
            return None
        if not condition.holds(Seen(None, record.step, record.loss, elsewhere=elsewhere)):
            return None
        if not condition.others:
            return _Hit(f"step {record.step}")
        words = ", ".join(filter(None, (reading(other, seen) for other, seen in found.items())))
        return _Hit(words or f"step {record.step}", condition.others[0].name)

    def _seen(self, sample: Sample, record: RunRecord, before: RunRecord | None,
              condition: Condition | Other) -> tuple[Seen, ...]:
        """What a condition is asked about: a sample, or each of its turns."""
        previous = before.sample(sample.name, gradient=sample.is_gradient) if before else None
        ratio = self._update_ratio(sample.name, record.step) if condition.asks("ratio") else None
        return tuple(Seen(stats, record.step, record.loss, previous.stats if previous else None, ratio,
                          lambda: self._is_harmful(sample), lambda other: self._elsewhere(other, record, before))
                     for stats in sample.turns or (sample.stats,))

    def _elsewhere(self, other: Other, record: RunRecord, before: RunRecord | None) -> tuple[Seen, ...]:
        """What a condition asks a tensor that it names about; none where the run did not compute it."""
        sample = record.sample(other.name, gradient=other.is_gradient)
        if sample is None or sample.stats is None and sample.missing.startswith("no gradient of"):
            sample = self._seen_again(other, record)
        return self._seen(sample, record, before, other) if sample is not None and sample.stats is not None else ()

    def _seen_again(self, other: Other, record: RunRecord) -> Sample | None:
        """What a run did not look at, by making it again; None if it did not compute that or what it follows from."""
        at = next((m for m in reversed(self.moments) if m.step == record.step), None)
        if at is None or at.wanted is None:
            return None
        x, y = self.targets.one(other.name), self._default_y()
        runs = dependencies(at.wanted.tensors, at.wanted.targets)
        if not is_variable(x) and self._outer(x) not in runs or other.is_gradient and (y is None or y.op not in runs):
            return None
        try:
            return self._sample_of(x, y if other.is_gradient else None, at)
        except AutodiffError:
            return None

    def _gradient_samples(self) -> tuple[Sample, ...]:
        """The gradients of the trainable variables in the last run, computed again: for a condition with no watches."""
        y = self._default_y()
        known = {} if y is None else {t: g for t in trainable_tensors(self.graph)
                                      if (g := self.derivatives.known(y, t)) is not None}
        values = self._replayer.values_if_possible(self._moment(), list(known.values())) if known else {}
        return tuple(Sample(t.name, self.y, statistics(values[g])) for t, g in known.items() if g in values)

    def _update_ratio(self, name: str, step: int) -> float | None:
        """Norm of a variable's change in a step over its norm before it; None if it is no variable."""
        op = name.partition(":")[0]
        index = next((i for i, m in enumerate(self.moments) if m.step == step), None)
        if index is None or op not in self.moments[index].variables:
            return None
        old = self.moments[index].variables[op]
        following = self.moments[index + 1].variables if index + 1 < len(self.moments) else self.session.variables
        new = following.get(op)
        if new is None or np.shape(new) != np.shape(old) or np.asarray(old).dtype.kind not in "fc":
            return None
        if new is old:
            return 0.0
        with np.errstate(all="ignore"):
            size = float(np.linalg.norm(np.asarray(old).ravel()))
            return float(np.linalg.norm(np.asarray(new - old).ravel())) / size if size else None

    def holds(self, condition: str) -> bool:
        """Whether a condition holds of the last run, or the one looked at: of its loss, or of anything seen in it."""
        parsed = self._condition(condition)
        record = next((r for r in reversed(self.records) if self._view in (None, r.step)), None)
        return parsed is not None and record is not None and self._hit(parsed, record, set()) is not None
