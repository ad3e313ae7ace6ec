"""History: to past steps and back; all by replay, nothing is kept for it."""
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
        """Which step is looked at, and which are kept."""
        kept = [m.step for m in self.state.moments]
        view = self.state.view if self.state.view is not None else self.log.step
        spent, disk = self.state.moments.spent, self.state.moments.disk
        cost = spent / (len(kept) - self.state.moments.away) if kept else 0.0
        on_disk = (disk.count, disk.spent, disk.limit, disk.folder) if disk is not None else ()
        return Position(view, self.log.step, self.state.view is None, kept[0] if kept else 0, len(kept), spent,
                        self.state.budget, int(self.state.budget / cost) if cost else 0, *on_disk)

    def spill(self, limit: int) -> Position:
        """Put steps that memory has no room for on disk from now on, up to `limit` bytes in a temporary folder.

        0: put none there, and remove those that are. It is removed too when the process ends. Raises ArgumentError if
        there can be no such folder.
        """
        if limit < 0:
            raise ArgumentError(expected="a count of bytes", found=limit)
        moments = self.state.moments
        if not limit and self.state.view in [m.step for m in moments[:moments.away]]:
            self.present()
        try:
            moments.spill(limit)
        except OSError as error:
            raise ArgumentError(f"no steps can be put on disk: {error.strerror or error}",
                                hint="set TMPDIR to a folder that can be written to") from None
        return self.position

    def goto(self, step: int) -> Position:
        """Look at a past step: values, gradients and answers are as of it until `present` or the next run."""
        self.stepper.leave()
        if step == self.log.step + 1 or not self.state.moments:
            return self.present()
        self.state.moment(step)
        self.state.look_at(step)
        return self.position

    def present(self) -> Position:
        """Look at the present again."""
        self.stepper.leave()
        self.state.look_at(None)
        return self.position

    def back(self, count: int = 1) -> Position:
        """Look `count` steps further back; from the present, the last step is the first one back."""
        self.stepper.leave()
        steps = [m.step for m in self.state.moments if self.state.view is None or m.step < self.state.view]
        if len(steps) < count:
            kept = f"the oldest kept is step {self.state.moments[0].step}" if self.state.moments else "no step is kept"
            raise ArgumentError(f"cannot go back by {count}: {kept}")
        return self.goto(steps[-count])

    def forth(self, count: int = 1) -> Position:
        """Look `count` steps further on; past the last step it is the present again."""
        self.stepper.leave()
        steps = [m.step for m in self.state.moments if self.state.view is not None and m.step > self.state.view]
        return self.goto(steps[count - 1]) if len(steps) >= count else self.present()

    def back_to_stop(self) -> Position:
        """Look at the last step before this one at which a watch or breakpoint stopped."""
        view = self.state.view if self.state.view is not None else self.log.step + 1
        kept = {m.step for m in self.state.moments}
        steps = [r.step for r in self.log.records if r.stops and r.step < view and r.step in kept]
        if not steps:
            raise ArgumentError("no kept step before this one stopped anywhere")
        return self.goto(steps[-1])
