"""Traveling: to past steps and back, and through a run in both directions; all by replay, nothing is kept for it."""
from __future__ import annotations

from ....core.errors import ArgumentError, StateError
from ....core.graph import Graph
from ....runtime.session import Session
from ...facts.answers import Cursor, Position
from ...history.replay import Moment
from .stepping import Stepping


class Traveling(Stepping):
    """Looks at the past. The session and the script stay in the present."""

    # ---- steps --------------------------------------------------------------------------
    @property
    def position(self) -> Position:
        """Which step is looked at, and which are kept."""
        kept = [m.step for m in self.moments]
        view = self._view if self._view is not None else self.step
        spent, disk = self.moments.spent, self.moments.disk
        cost = spent / (len(kept) - self.moments.away) if kept else 0.0
        on_disk = (disk.count, disk.spent, disk.limit, disk.folder) if disk is not None else ()
        return Position(view, self.step, self._view is None, kept[0] if kept else 0, len(kept), spent,
                        self.budget, int(self.budget / cost) if cost else 0, *on_disk)

    def spill(self, limit: int) -> Position:
        """Put steps that memory has no room for on disk from now on, up to `limit` bytes in a temporary folder.

        0: put none there, and remove those that are. It is removed too when the process ends. Raises ArgumentError if
        there can be no such folder.
        """
        if limit < 0:
            raise ArgumentError(f"expected a count of bytes, found {limit}")
        if not limit and self._view is not None and self._view in [m.step for m in self.moments[:self.moments.away]]:
            self.present()
        try:
            self.moments.spill(limit)
        except OSError as error:
            raise ArgumentError(f"no steps can be put on disk: {error.strerror or error}\nset TMPDIR to a folder that "
                                "can be written to") from None
        return self.position

    @property
    def is_replaying(self) -> bool:
        """Whether the open run is a past one, gone through again."""
        return self._execution is not None and self._is_replay

    def goto_step(self, step: int) -> Position:
        """Look at a past step: values, gradients and answers are as of it until `present` or the next run."""
        self._leave_run()
        if step == self.step + 1 or not self.moments:
            return self.present()
        self._moment(step)
        self._view = step
        return self.position

    def present(self) -> Position:
        """Look at the present again."""
        self._leave_run()
        self._view = None
        return self.position

    def back(self, count: int = 1) -> Position:
        """Look `count` steps further back; from the present, the last step is the first one back."""
        self._leave_run()
        steps = [m.step for m in self.moments if self._view is None or m.step < self._view]
        if len(steps) < count:
            kept = f"the oldest kept is step {self.moments[0].step}" if self.moments else "no step is kept"
            raise ArgumentError(f"cannot go {count} steps back: {kept}")
        return self.goto_step(steps[-count])

    def forth(self, count: int = 1) -> Position:
        """Look `count` steps further on; past the last step it is the present again."""
        self._leave_run()
        steps = [m.step for m in self.moments if self._view is not None and m.step > self._view]
        return self.goto_step(steps[count - 1]) if len(steps) >= count else self.present()

    def back_to_stop(self) -> Position:
        """Look at the last step before this one at which a watch or breakpoint stopped."""
        view = self._view if self._view is not None else self.step + 1
        kept = {m.step for m in self.moments}
        steps = [r.step for r in self.records if r.stops and r.step < view and r.step in kept]
        if not steps:
            raise ArgumentError("no kept step before this one stopped anywhere")
        return self.goto_step(steps[-1])

    def _leave_run(self) -> None:
        if self._execution is not None:
            if not self._is_replay:
                raise StateError("a run is open: finish it first\ntype: next")
            self._end_replay()

    # ---- ops ----------------------------------------------------------------------------
    def replay(self, step: int | None = None) -> Cursor:
        """Open a past run (by default the one looked at, else the last) to go through it again."""
        self._leave_run()
        if not self.moments:
            raise StateError("no run is remembered: run one first")
        self._open_again(self._moment(step if step is not None else self._view or self.moments[-1].step))
        return self._cursor()

    def _open_again(self, moment: Moment) -> None:
        fetches = [*moment.wanted.tensors, *moment.wanted.targets]
        self._execution = self._replayer.start(moment, fetches)
        self._is_replay, self._last_op = True, None
        self._opened = self._opened_of(moment)

    def back_ops(self, count: int = 1) -> Cursor:
        """Take back `count` ops of the open run; without one, of the last run (or the one looked at), from its end."""
        if self._execution is None:
            self.replay()
            self._to_end()
        execution = self._execution
        assert execution is not None
        execution.back(count)
        self._last_op = execution.plan.steps[execution.position - 1].op if execution.position else None
        return self._cursor()

    def _to_end(self) -> None:
        while self._execution is not None and not self._execution.is_done:
            self._step()

    def goto_op(self, target: str) -> Cursor:
        """Go forward or back to the state right after an op has run, in the open run; else in the last one, again."""
        if self._execution is None:
            self.replay()
        execution = self._execution
        assert execution is not None
        op = self.targets.inner.outer_op(self.targets.operation(target))
        index = next((i for i, step in enumerate(execution.plan.steps) if step.op is op), None)
        if index is None:
            raise ArgumentError(f"{op.name!r} is not part of this run\ntype: info ops for those that are")
        if index < execution.position:
            return self.back_ops(execution.position - index - 1)
        while execution.position <= index:
            self._step()
        return self._cursor()

    def _begin(self, graph: Graph, session: Session | None) -> None:
        super()._begin(graph, session)
        self._view = None
