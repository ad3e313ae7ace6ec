"""Stepping: runs of the debugger's own, whole ones and such that are gone through op by op."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....core.errors import ArgumentError, AutodiffError, StateError
from ....core.graph import Graph, Operation, Tensor
from ....core.indexed_slices import IndexedSlices
from ....runtime.session import Session
from ...facts.answers import Cursor, Runs, TensorRow
from ...facts.records import RunRecord, Stop
from ...facts.roles import is_variable, place_of, role_of
from ...facts.stats import statistics
from ...language.conditions import Condition, Other, Seen
from ...language.watches import Watch
from ..state import as_number
from .run_once import Running


class Stepping(Running):
    """Makes runs, and stands between two ops of one."""

    def _begin(self, graph: Graph, session: Session | None) -> None:
        super()._begin(graph, session)
        self._is_replay = False  # whether the open run is a past one, gone through again

    # ---- runs of the debugger's own -----------------------------------------------------
    def run(self, steps: int = 1, *, until: str = "", fetches: Any = None) -> Runs:
        """Run whole steps until done, a stop, or the condition `until` holds.

        fetches: by default the train op and y. Variables without a value are initialized first.
        """
        with self.heeding(until) as condition:
            return self._run_until(steps, condition, fetches)

    def _run_until(self, steps: int, condition: Condition | None, fetches: Any) -> Runs:
        taken: list[RunRecord] = []
        if self._execution is not None:
            opened = self.finish()
            taken, stop = list(opened.records), opened.stop
            if stop is not None:
                return Runs(tuple(taken), stop, steps)
        wanted = self._default_fetches() if fetches is None else fetches
        self._initialize()
        while len(taken) < steps:
            feeds = self._next_feeds()
            if feeds is None:
                return Runs(tuple(taken), Stop("end", "the feeds are exhausted"), steps)
            _, record = self.on_run(self.session, wanted, feeds)
            taken.append(record)
            if record.stops:
                return Runs(tuple(taken), record.stops[0], steps)
            hit = self._hit(condition, record, set()) if condition is not None else None
            if condition is not None and hit is not None:
                return Runs(tuple(taken), Stop("condition", f"{hit.words}: {condition.text}", 0, hit.target), steps)
        return Runs(tuple(taken), None, steps)

    @property
    def goes_on(self) -> bool:
        """Whether another run would do something else than the last: there is a train op, or a source of feeds."""
        return bool(self._train_op or self.graph.collections.get("train_op") or self._source)

    def _default_fetches(self) -> list[Any]:
        """The train op and y; else what the script ran last; else y alone."""
        y = self._default_y()
        train = self._train_op or next(iter(reversed(self.graph.collections.get("train_op", []))), None)
        if train is not None:
            return [train] if y is None else [train, y]
        if self._last is not None:
            return [*self._last.tensors, *self._last.targets]
        if y is None:
            raise ArgumentError("nothing to run: there is no train op, no loss, and the script ran nothing\ntry: train "
                                "LOSS")
        return [y]

    # ---- op by op -----------------------------------------------------------------------
    def begin(self, fetches: Any = None, feed_dict: dict | None = None) -> Cursor:
        """Open a run to go through it op by op; by default the one that `run` would make."""
        if self._execution is not None:
            raise StateError("a run is open already: finish it first")
        if fetches is None:
            fetches = self._default_fetches()
            self._initialize()
        if feed_dict is None:
            feed_dict = self._next_feeds()
            if feed_dict is None:
                raise StateError("the feeds are exhausted")
        self._is_replay = False
        self._opened = self._open(fetches, feed_dict)
        self._opened.is_repeatable = False  # values may be set in the run
        self._execution = self.session.start(self._opened.whole, self._opened.feeds)
        return self._cursor()

    def step_ops(self, count: int = 1) -> Cursor:
        """Execute the next `count` ops of the open run (opens one first if there is none)."""
        if self._execution is None:
            self.begin()
        for _ in range(count):
            if self._execution is None or self._execution.is_done:
                break
            self._step()
        return self._cursor()

    def run_to(self, target: str) -> Cursor:
        """Execute up to and including the op of `target`. Raises ArgumentError if it is not to come in this run."""
        if self._execution is None:
            self.begin()
        execution = self._execution
        assert execution is not None
        op = self.targets.inner.outer_op(self.targets.operation(target))
        if all(step.op is not op for step in execution.plan.steps[execution.position:]):
            raise ArgumentError(f"{op.name!r} does not run any more in this run: it has run already, or is not part of "
                                "it")
        while execution.next_op is not op:
            self._step()
        self._step()
        return self._cursor()

    @property
    def stops_inside(self) -> bool:
        """Whether some breakpoint stops inside of runs."""
        return any(watch.is_inside for watch in self.watches)

    def run_to_break(self) -> Stop | None:
        """Go on in the open run to the next op, forward or backward, with a breakpoint; None at the end of the run."""
        places: dict[Operation, list[tuple[Watch, str, Tensor]]] = {}
        y = self._default_y()
        for watch in self.watches:
            if watch.is_inside:
                self._passed.add(watch.number)
                for name in watch.names:
                    tensor = self.targets.one(name)
                    places.setdefault(self.targets.inner.outer_op(tensor.op), []).append((watch, name, tensor))
                    gradient = self.derivatives.known(y, tensor) if watch.at_op and y is not None else None
                    gradient = gradient.values if isinstance(gradient, IndexedSlices) else gradient
                    if gradient is not None:
                        places.setdefault(gradient.op, []).append((watch, f"gradient of {name}", gradient))
        while self._execution is not None and not self._execution.is_done:
            self._step()
            assert self._last_op is not None
            for watch, name, tensor in places.get(self._last_op, ()):
                if watch.is_excluded(name) or not self._holds_here(watch, tensor) or not watch.hit():
                    continue
                if watch.is_temporary:
                    self.watches.remove(watch.number)
                text = f"at {self._last_op.name}" if watch.condition is None else f"{name}: {watch.condition.text}"
                return Stop("break", text, watch.number, self._last_op.name, watch.commands)
        return None

    def _holds_here(self, watch: Watch, tensor: Tensor) -> bool:
        """Whether a breakpoint's condition holds of a tensor that was just computed in the open run."""
        if watch.condition is None:
            return True
        execution, step = self._execution, self._opened.moment.step
        if execution is None or step % watch.every or not execution.has_value(tensor):
            return False
        y = self._default_y()
        loss = as_number(execution.value(y)) if y is not None and execution.has_value(y) else None
        return watch.condition.holds(Seen(statistics(execution.value(tensor)), step, loss,
                                          elsewhere=lambda other: self._so_far(other, step, loss)))

    def _so_far(self, other: Other, step: int, loss: float | None) -> tuple[Seen, ...]:
        """What a condition asks a tensor that it names about, as far as the open run has computed it."""
        tensor, y, execution = self.targets.one(other.name), self._default_y(), self._execution
        found = tensor if not other.is_gradient else self.derivatives.known(y, tensor) if y is not None else None
        found = found.values if isinstance(found, IndexedSlices) else found
        if found is not None and is_variable(found):
            before = self._opened.moment.variables
            return (Seen(statistics(before[found.op.name]), step, loss),) if found.op.name in before else ()
        if execution is None or found is None or not execution.has_value(found):
            return ()
        return (Seen(statistics(execution.value(found)), step, loss),)

    def _step(self) -> None:
        assert self._execution is not None
        try:
            self._last_op = self._execution.step()
        except BaseException as error:
            if not isinstance(error, AutodiffError):
                self._abandon(error)
            raise

    def finish(self) -> Runs:
        """Execute the rest of the open run. A failure closes it, and is recorded and raised."""
        if self._execution is None:
            raise StateError("no run is open: step opens one")
        if self._is_replay:
            return self._end_replay()
        execution, opened = self._execution, self._opened
        try:
            self.result, seen = execution.finish()
        except BaseException as error:
            self._abandon(error)
            raise
        self._execution = self._last_op = None
        record = self._close(opened, seen)
        return Runs((record,), record.stops[0] if record.stops else None, 1)

    def _end_replay(self) -> Runs:
        """Let go of a run that was only looked at again."""
        self._execution = self._last_op = None
        return Runs((), None, 0)

    def _abandon(self, error: BaseException) -> None:
        if self._is_replay:
            self._end_replay()
            return
        self._execution = self._last_op = None
        self._close(self._opened, [], error)

    @property
    def cursor(self) -> Cursor | None:
        """Where the open run stands, or None."""
        return None if self._execution is None else self._cursor()

    def _cursor(self) -> Cursor:
        execution = self._execution
        assert execution is not None
        op, coming = (self._last_op if execution.position else None), execution.next_op
        shown = op or coming
        role = role_of(shown) if shown is not None else ""
        phase = {"gradient": "backward", "training": "update"}.get(role, "forward")
        outputs = tuple(self._output_row(t) for t in op.outputs) if op is not None else ()
        return Cursor(self._opened.moment.step, execution.position, len(execution.plan.steps), op.name if op else "",
                      op.type if op else "", phase, place_of(shown) if shown else None, outputs,
                      coming.name if coming else "", execution.is_done)

    def _output_row(self, tensor: Tensor) -> TensorRow:
        assert self._execution is not None
        known = self._execution.has_value(tensor)
        value = self._execution.value(tensor) if known else None
        stats = None if value is None or not isinstance(value, (np.ndarray, np.generic,
                                                                IndexedSlices)) else statistics(value)
        return TensorRow(tensor.name, self.targets.short(tensor), tensor.op.type, tensor.dtype.base_dtype.name,
                         tensor.dims,
                         role_of(tensor.op), self.targets.handle_of(tensor), place_of(tensor.op), stats)
