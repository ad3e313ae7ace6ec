"""History: to past runs and back; all by replay, nothing is kept for it."""
from __future__ import annotations

from ....core.errors import ArgumentError
from ...facts.answers import Position
from ..state import State
from .stepper import Stepper


class History:
    """Looks at the past. The session and the script stay in the present."""

    def __init__(self, state: State, stepper: Stepper) -> None:
        self.state, self.log, self.stepper = state, state.log, stepper

    @property
    def position(self) -> Position:
        """Which run is looked at, and which are kept."""
        kept, at = self._kept(), self.log.at
        view = self.state.view if self.state.view is not None else self.log.run
        spent, disk = self.state.moments.spent, self.state.moments.disk
        cost = spent / (len(kept) - self.state.moments.away) if kept else 0.0
        on_disk = (disk.count, disk.spent, disk.limit, disk.folder) if disk is not None else ()
        return Position(at(view), self.log.now, self.state.view is None, at(kept[0] if kept else 0), len(kept), spent,
                        self.state.budget, int(self.state.budget / cost) if cost else 0, *on_disk)

    def _kept(self) -> list[int]:
        return [m.run for m in tuple(self.state.moments)]  # a status line asks while a run adds one

    def spill(self, limit: int) -> Position:
        """Put runs that memory has no room for on disk from now on, up to `limit` bytes in a temporary folder.

        0: put none there, and remove those that are. It is removed too when the process ends. Raises ArgumentError if
        there can be no such folder.
        """
        if limit < 0:
            raise ArgumentError(expected="a count of bytes", found=limit)
        moments = self.state.moments
        if not limit and self.state.view in self._kept()[:moments.away]:
            self.present()
        try:
            moments.spill(limit)
        except OSError as error:
            raise ArgumentError(f"no runs can be put on disk: {error.strerror or error}",
                                hint="set TMPDIR to a folder that can be written to") from None
        return self.position

    def goto(self, step: int | None = None, *, run: int | None = None) -> Position:
        """Look at a past step, or run: values, gradients and answers are as of it until `present` or the next run."""
        self.stepper.leave()
        if not self.state.moments or step == self.log.now.step + 1 or run == self.log.run + 1:
            return self.present()
        number = run if run is not None else self.log.run_of(step)
        self.state.moment(number)
        self.state.look_at(number)
        return self.position

    def present(self) -> Position:
        """Look at the present again."""
        self.stepper.leave()
        self.state.look_at(None)
        return self.position

    def back(self, count: int | None = None) -> Position:
        """Look `count` steps further back; from the present, the last step is the first one back.

        Without a count one step, and before the first one run.
        """
        self.stepper.leave()
        runs = [run for run in self._stations(count) if self.state.view is None or run < self.state.view]
        if len(runs) < (count or 1):
            raise ArgumentError(f"cannot go back by {count or 1}: kept are {self.state.kept}")
        return self.goto(run=runs[-(count or 1)])

    def forth(self, count: int | None = None) -> Position:
        """Look `count` steps further on, as `back`; past the last step it is the present again."""
        self.stepper.leave()
        runs = [run for run in self._stations(count) if self.state.view is not None and run > self.state.view]
        return self.goto(run=runs[(count or 1) - 1]) if len(runs) >= (count or 1) else self.present()

    def _stations(self, count: int | None) -> list[int]:
        """Where one goes to in the past: steps that are kept, and without a count the runs before the first."""
        return [run for run in self._kept() if (at := self.log.at(run)).is_step or count is None and not at.step]

    def back_to_stop(self) -> Position:
        """Look at the last run before this one at which a watch or breakpoint stopped."""
        view = self.state.view if self.state.view is not None else self.log.run + 1
        kept = set(self._kept())
        runs = [r.run for r in self.log.records if r.stops and r.run < view and r.run in kept]
        if not runs:
            raise ArgumentError("no kept run before this one stopped anywhere")
        return self.goto(run=runs[-1])
