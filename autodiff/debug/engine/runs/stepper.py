"""Stepper: one run gone through op by op, forward and back: a new one, or a past one made again."""
from __future__ import annotations

import time
from typing import Any

import numpy as np

from ....core.errors import ArgumentError, AutodiffError, StateError
from ....core.graph import Operation, Tensor
from ....core.indexed_slices import IndexedSlices
from ....runtime.cursor import Execution
from ....runtime.feed import Fed
from ...facts.answers import Cursor, Runs, TensorRow
from ...facts.roles import place_of, role_of
from ...facts.stats import statistics
from ...facts.steps import When
from ...history.replay import Moment
from ..feeds import RunFeeds
from ..model import tensor_row
from ..state import State
from ..training import Training
from .hooks import Hooks
from .run_view import OpenRun, RunView


class Stepper:
    """execution: of the open run, or None. opened: what of it is known. last_op: the op it has just done, or None."""

    def __init__(self, state: State, feeds: RunFeeds, training: Training, hooks: Hooks) -> None:
        self.state, self.model, self.log, self.overrides = state, state.model, state.log, state.overrides
        self.feeds, self.training, self.hooks = feeds, training, hooks
        self.execution: Execution | None = None
        self.opened: OpenRun | None = None
        self.last_op: Operation | None = None
        self._is_replay = False  # whether the open run is a past one

    def begin(self, fetches: Any = None, feed_dict: dict | None = None) -> Cursor:
        """Open a run to go through it op by op; by default the one that `run` would make."""
        if self.execution is not None:
            raise StateError("a run is open already: finish it first")
        if fetches is None:
            fetches = self.training.default_fetches()
            self.model.initialize()
        if feed_dict is None:
            feed_dict = self.feeds.next_feeds()
            if feed_dict is None:
                raise StateError("the feeds are exhausted")
        self._is_replay = False
        self.opened = self.hooks.before_run(fetches, feed_dict, is_changeable=True)
        self.execution = self.model.session.start(self.opened.whole, self.opened.feeds)
        return self._cursor()

    def step(self, count: int = 1) -> Cursor:
        """Execute the next `count` ops of the open run (opens one first if there is none)."""
        if self.execution is None:
            self.begin()
        for _ in range(count):
            if self.execution is None or self.execution.is_done:
                break
            self._step_once()
        return self._cursor()

    def _step_once(self) -> None:
        assert self.execution is not None
        try:
            with self.log.turn.lent():
                self.last_op = self.execution.step()
        except BaseException as error:
            if not isinstance(error, AutodiffError):
                self._abandon(error)
            raise

    def finish(self) -> Runs:
        """Execute the rest of the open run. A failure closes it, and is recorded and raised."""
        if self.execution is None:
            raise StateError("no run is open: step opens one")
        if self._is_replay:
            return self.end_replay()
        execution, opened = self.execution, self.opened
        assert opened is not None
        try:
            with self.log.turn.lent():
                result, seen = execution.finish()
        except BaseException as error:
            self._abandon(error)
            raise
        self.log.keep_result(result)
        self.execution = self.last_op = None
        record = self.hooks.after_run(opened, seen)
        return Runs((record,), record.stops[0] if record.stops else None, 1)

    def _abandon(self, error: BaseException) -> None:
        if self._is_replay:
            self.end_replay()
            return
        self.execution = self.last_op = None
        assert self.opened is not None
        self.hooks.at_error(self.opened, error)

    @property
    def is_replaying(self) -> bool:
        """Whether the open run is a past one, gone through again."""
        return self.execution is not None and self._is_replay

    def leave(self) -> None:
        """Let go of a past run. Raises StateError if the open run is a new one: it has to be finished."""
        if self.execution is not None:
            if not self._is_replay:
                raise StateError("a run is open: finish it first", hint="type: next")
            self.end_replay()

    def end_replay(self) -> Runs:
        """Let go of a run that was only looked at again."""
        self.execution = self.last_op = None
        return Runs((), None, 0)

    @property
    def cursor(self) -> Cursor | None:
        """Where the open run stands, or None."""
        return None if self.execution is None else self._cursor()

    def _cursor(self) -> Cursor:
        execution, opened = self.execution, self.opened
        assert execution is not None and opened is not None
        op, coming = (self.last_op if execution.position else None), execution.next_op
        shown = op or coming
        role = role_of(shown) if shown is not None else ""
        phase = {"gradient": "backward", "training": "update"}.get(role, "forward")
        outputs = tuple(self._output_row(t) for t in op.outputs) if op is not None else ()
        return Cursor(self.at, execution.position, len(execution.plan.steps), op.name if op else "",
                      op.type if op else "", phase, place_of(shown) if shown else None, outputs,
                      coming.name if coming else "", execution.is_done)

    def _output_row(self, tensor: Tensor) -> TensorRow:
        assert self.execution is not None
        known = self.execution.has_value(tensor)
        value = self.execution.value(tensor) if known else None
        has_figures = isinstance(value, (np.ndarray, np.generic, IndexedSlices))
        stats = statistics(value) if has_figures else None
        return tensor_row(self.model, tensor, stats)

    def current_op(self) -> Operation | None:
        """The op that the open run has just done, or is about to begin with; None if no run is open."""
        return None if self.execution is None else self.last_op or self.execution.next_op

    @property
    def at(self) -> When:
        """The open run."""
        assert self.opened is not None
        return self.log.steps.at(self.opened.moment.run, trains=self.opened.view.trains)

    def replay(self, step: int | None = None) -> Cursor:
        """Open a past step (by default the run looked at, else the last) to go through it again."""
        self.leave()
        if not self.state.moments:
            raise StateError("no run is remembered: run one first")
        self._open_again(self.state.moment(self.log.run_of(step) or self.state.view or self.state.moments[-1].run))
        return self._cursor()

    def _open_again(self, moment: Moment) -> None:
        fetches = [*moment.wanted.tensors, *moment.wanted.targets]
        self.execution = self.state.replayer.start(moment, fetches)
        self._is_replay, self.last_op = True, None
        view = RunView(None, moment.wanted, [], (), moment.wanted, False, (), "")
        self.opened = OpenRun(moment, view, time.perf_counter(), {}, Fed())

    def back(self, count: int = 1) -> Cursor:
        """Take back `count` ops of the open run; without one, of the last run (or the one looked at), from its end."""
        if self.execution is None:
            self.replay()
            while self.execution is not None and not self.execution.is_done:
                self._step_once()
        execution = self.execution
        assert execution is not None
        execution.back(count)
        self.last_op = execution.plan.steps[execution.position - 1].op if execution.position else None
        return self._cursor()

    def goto(self, target: str) -> Cursor:
        """Go forward or back to the state right after an op has run, in the open run; else in the last one, again."""
        if self.execution is None:
            self.replay()
        execution = self.execution
        assert execution is not None
        op = self.model.targets.inner.outer_op(self.model.targets.operation(target))
        index = next((i for i, step in enumerate(execution.plan.steps) if step.op is op), None)
        if index is None:
            raise ArgumentError(f"{op.name!r} is not part of this run", hint="type: info ops for those that are")
        if index < execution.position:
            return self.back(execution.position - index - 1)
        while execution.position <= index:
            self._step_once()
        return self._cursor()
