"""The decision to stop: whether each watch and breakpoint holds for a run."""
from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

from ...facts.records import RunRecord, Stop
from ...language.watches import Watch
from ..watches import Watches
from .evidence import Evidence


class Holds(NamedTuple):
    """A stop condition that holds: whose, of what in words, and the name of the tensor; "" if it is none."""

    watch: Watch
    text: str
    target: str


class StopConditions:
    """Asks every watch and breakpoint once, after a run."""

    def __init__(self, watches: Watches, evidence: Evidence) -> None:
        self.watches, self.evidence = watches, evidence

    def holding(self, record: RunRecord, *, asked: Container[int] = ()) -> Iterator[Holds]:
        """The watches that hold for a run. asked: numbers of watches that were asked inside of the run already."""
        for watch in self.watches:
            if watch.number not in asked and watch.is_due(record.run) and not _only_looks(watch, record):
                found = self._of(watch, record)
                if found is not None:
                    yield found

    def _of(self, watch: Watch, record: RunRecord) -> Holds | None:
        if watch.step is not None:
            at = self.evidence.log.at(record)
            return Holds(watch, str(at), "") if at.is_step and at.step == watch.step else None
        if watch.condition is None:
            computed = next((s.name for s in record.samples if s.name in watch.names and s.stats), None)
            return None if computed is None else Holds(watch, f"{computed} was computed", computed)
        hit = self.evidence.hit(watch.condition, record, set(watch.names), watch)
        return None if hit is None else Holds(watch, f"{hit.words}: {watch.condition.text}", hit.target)


def _only_looks(watch: Watch, record: RunRecord) -> bool:
    """Whether a watch cannot stop: it has no condition, or all that it guards was finite."""
    has_no_condition = watch.kind == "watch" and watch.condition is None
    return has_no_condition or bool(not record.samples and watch.is_alarm and watch.names)


def stop_at(held: Holds) -> Stop | None:
    """Count a hit of a watch or breakpoint; the stop, None if it is to be ignored."""
    watch = held.watch
    return Stop(watch.kind, held.text, watch.number, held.target, watch.commands) if watch.hit() else None
