"""RunLog: the records of all runs so far, and which are steps; it outlives a change of the graph."""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from ...core.errors import ArgumentError
from ...ops.common.turns import Turn
from ..facts.records import RunRecord
from ..facts.steps import Steps, When

_MOST = 20_000  # records and figures in them that are kept: some 10 MB
_NEWEST = 512  # records that are all kept, however many figures they have
_DIVERGED = 1e4  # times its first size: a loss that grew without end
_IN_A_ROW = 8  # runs: those of different kinds take turns


class RunLog:
    """run: number of runs so far. records: of these, oldest first; of a long training's older ones some.

    result: what the last run gave, as it was fetched.
    steps: which of them are steps. turn: whose it is to make a run, where several threads do.
    """

    def __init__(self) -> None:
        self.run = 0
        self.turn = Turn()
        self.steps = Steps()
        self.records: deque[RunRecord] = deque()
        self._size, self._apart = 0, 2
        self.result: Any = None

    @property
    def now(self) -> When:
        """The last run, as a step."""
        return self.steps.at(self.run)

    def growth(self) -> str:
        """How the loss of the training grew beyond all sense: `from 2 at step 1 to 1e+18 at step 9`; "" if not."""
        seen = [record for record in self.records if record.trains and record.loss is not None and not record.error]
        first = next((record for record in seen if record.loss_name == seen[-1].loss_name), None)
        if first is None or not _DIVERGED * max(abs(first.loss or 0.0), 1.0) < (seen[-1].loss or 0.0) < math.inf:
            return ""
        return f"from {first.loss:.3g} at {self.at(first)} to {seen[-1].loss:.3g} at {self.at(seen[-1])}"

    def ill_since(self, run: int, same: Callable[[str, str], bool] = str.__eq__) -> int:
        """The first of the runs up to one, in a row but for those without it, whose same loss was not finite.

        same: whether two names are of one loss.
        """
        since, name = run, ""
        for record in reversed(self.records):
            if record.run <= run and record.loss is not None and same(record.loss_name, name or record.loss_name):
                if math.isfinite(record.loss):
                    break
                since, name = record.run, record.loss_name
        return since

    @property
    def ill(self) -> list[RunRecord]:
        """The runs whose loss was not finite."""
        return [record for record in self.records if record.loss is not None and not math.isfinite(record.loss)]

    def at(self, run: RunRecord | int) -> When:
        """A run, given by its record or number, as a step."""
        return self.steps.at(run if isinstance(run, int) else run.run)

    def last_step(self, run: int) -> int:
        """The number of the last step up to a run; itself where there is none."""
        return self.steps.run_of(self.steps.at(run).step) or run

    def run_of(self, step: int | None) -> int | None:
        """The number of the run that is a step. Raises ArgumentError if none is."""
        found = None if step is None else self.steps.run_of(step)
        if found is None and step is not None:
            last = f"the last is {self.now.step}" if self.now.step else "no run has trained yet"
            raise ArgumentError(f"there is no step {step}: {last}", hint="info runs lists the runs")
        return found

    def count(self, *, trains: bool) -> int:
        """The number of the run that has just ended. trains: it is a training run."""
        self.run += 1
        if trains:
            self.steps.trained.append(self.run)
        return self.run

    def add(self, record: RunRecord) -> None:
        """Keep the record of a run."""
        self.records.append(record)
        self._size += _size(record)
        if self._size > _MOST and len(self.records) > 2 * _NEWEST:
            self._thin_out()

    def _thin_out(self) -> None:
        """Of the older half keep every second, fourth, eighth … few runs in a row, until there is room again."""
        older, newer = list(self.records)[:len(self.records) // 2], list(self.records)[len(self.records) // 2:]
        while self._size > _MOST * 3 // 4 and self._apart < self.run:
            older = [record for record in older if (record.run - 1) // _IN_A_ROW % self._apart == 0]
            self._size = sum(map(_size, [*older, *newer]))
            self._apart *= 2
        self._apart //= 2
        self.records = deque([*older, *newer])

    def keep_result(self, result: Any) -> None:
        """Keep what a run gave."""
        self.result = result

    def replace(self, records: Iterable[RunRecord], before: int) -> None:
        """Go on from the records of other runs. before: training runs before them."""
        self.records.clear()
        self.records.extend(records)
        self._size = sum(map(_size, self.records))
        self.run = self.records[-1].run if self.records else 0
        self.steps = Steps(before, [record.run for record in self.records if record.trains])

    def before(self, record: RunRecord) -> RunRecord | None:
        """The record of the run before one."""
        return next((r for r in reversed(self.records) if r.run < record.run), None)


def _size(record: RunRecord) -> int:
    """How many figures a record has, and itself."""
    return 1 + sum([1 + len(sample.turns) for sample in record.samples])
