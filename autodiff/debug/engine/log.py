"""RunLog: the records of all runs so far; it outlives a change of the graph."""
from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from ..facts.records import RunRecord

_MOST = 10_000  # records kept


class RunLog:
    """step: number of runs so far. records: of these, oldest first. result: what the last run gave, as it was fetched.
    """

    def __init__(self) -> None:
        self.step = 0
        self.records: deque[RunRecord] = deque(maxlen=_MOST)
        self.result: Any = None

    def count(self) -> int:
        """The number of the run that has just ended."""
        self.step += 1
        return self.step

    def add(self, record: RunRecord) -> None:
        """Keep the record of a run."""
        self.records.append(record)

    def keep_result(self, result: Any) -> None:
        """Keep what a run gave."""
        self.result = result

    def replace(self, records: Iterable[RunRecord], step: int) -> None:
        """Go on from the records of other runs."""
        self.records.clear()
        self.records.extend(records)
        self.step = step

    def before(self, record: RunRecord) -> RunRecord | None:
        """The record of the run before one."""
        return next((r for r in reversed(self.records) if r.step < record.step), None)
