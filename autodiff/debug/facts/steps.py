"""Steps: how runs are counted. Where a program trains, a step is a training run; where it trains nothing, any run."""
from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple


class When(NamedTuple):
    """One run. run: its number, from 1. step: steps made when it was over, it included. is_step: whether it is one."""

    run: int
    step: int
    is_step: bool

    def __str__(self) -> str:
        if self.is_step:
            return f"step {self.step}"
        if not self.run:
            return "step 0"
        return f"run {self.run} ({f'after step {self.step}' if self.step else 'before step 1'})"


class Steps:
    """Which runs are steps: the one place that knows. trained: numbers of the training runs.

    awaited: whether the program, which goes on, has what trains, so that runs before the first training one are none.
    before: training runs before those that are known, in a recording that begins in the middle.
    """

    def __init__(self, before: int = 0, trained: Iterable[int] = ()) -> None:
        self.trained = list(trained)
        self.awaited, self.before = False, before

    def expect(self, *, training: bool) -> None:
        """Say whether there is training to come, as far as the program shows."""
        self.awaited = training

    @property
    def are_all_runs(self) -> bool:
        """Whether every run is a step, as nothing trains."""
        return not (self.trained or self.before or self.awaited)

    def at(self, run: int, *, trains: bool = False) -> When:
        """A run as a step. trains: a run that is not over yet, and trains."""
        if self.are_all_runs and not trains:
            return When(run, run, True)
        count = bisect_right(self.trained, run)
        is_known = count > 0 and self.trained[count - 1] == run
        return When(run, self.before + count + (trains and not is_known), trains or is_known)

    def trained_before(self, run: int) -> int:
        """How many training runs there were before a run."""
        return self.before + bisect_left(self.trained, run)

    def run_of(self, step: int) -> int | None:
        """The number of the run that is a step; None if none is, or not yet."""
        if self.are_all_runs:
            return step
        at = step - self.before - 1
        return self.trained[at] if 0 <= at < len(self.trained) else None
