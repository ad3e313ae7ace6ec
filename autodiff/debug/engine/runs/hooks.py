"""The cut between an engine that makes runs and the debugger: four calls, none of them inside of a plan's loop.

Whatever makes a step calls `before_run`, computes what the OpenRun asks for besides, and hands the values to
`after_run`, or its exception to `at_error`; `at_stop` is called where a stop condition holds. Runner does so with
Session.run. Another engine puts its parameters into `model.session.variables` first: with them and the feeds any step
can be made again from the graph.
"""
from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....core.errors import ArgumentError
from ....core.function_graph import takes_anew
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, in_order
from ....runtime import fetch
from ....runtime.feed import Fed
from ....runtime.plan.running import running
from ....runtime.plan.state import ALONE, Run, references_of_base
from ...facts.records import RunRecord, Sample, Stop
from ...facts.roles import PLACEHOLDERS
from ...history.recording import Recorder
from ...history.replay import keep_given, moment_of
from ..overlay import Overlay
from ..state import State
from ..watches import Watches
from .run_view import OpenRun, RunViews
from .samples import InnerSamples, RunSamples
from .stop_conditions import Holds, StopConditions, stop_at

MAIN = threading.main_thread().name  # the script's own thread has the same under gradbg
_LARGE = 1 << 14  # bytes from which it pays to see whether the same is fed again
_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class Hooks:
    """What an engine tells the debugger. recorder: writes every run into a folder, or None."""

    def __init__(self, state: State, watches: Watches, inner: InnerSamples, *, views: RunViews,
                 samples: RunSamples, stops: StopConditions) -> None:
        self.state, self.model, self.overrides, self.log = state, state.model, state.overrides, state.log
        self.watches, self.inner, self.views, self.samples, self.stops = watches, inner, views, samples, stops
        self.recorder: Recorder | None = None
        self._keeper = Keeper()

    def before_run(self, fetches: Any, feed_dict: dict | None = None, *, is_changeable: bool = False) -> OpenRun:
        """A run is about to be made: what to fetch, and with which feeds.

        is_changeable: values may be set while it is under way. Raises ArgumentError for what cannot be fetched or fed.
        """
        began = time.perf_counter()
        given = {**(feed_dict or {}), **self.overrides.values} if self.overrides.values else feed_dict or {}
        if self.overrides.overlay is not None:
            given = {**given, **self._laid(self.overrides.overlay, fetches, given)}
        feeds = self._keeper.kept(*self.model.reader.read(given))
        self.state.saw(given)
        view = self.views.view_of(fetches, frozenset([t for t in feeds if t.op.type not in PLACEHOLDERS]))
        self.log.steps.expect(training=view.can_train and not self.model.is_alone)
        state, session = self.state, self.model.session
        keep_given(session, is_wanted=bool(view.outcomes))  # for a run that fails, and so gives no values
        before = self.samples.before(view)
        moment = moment_of(session, feeds, self.log.run + 1, view.wanted, state.moments.variables(session))
        state.look_at(None)
        is_repeatable = view.is_repeatable and self.recorder is None and not is_changeable
        holder = self.log.turn.holder
        made_by = holder if is_changeable or holder is threading.current_thread() else None
        return OpenRun(moment, view, began, before, feeds, is_repeatable,
                       thread=made_by.name if made_by is not None and made_by.name != MAIN else "")

    def _laid(self, overlay: Overlay, fetches: Any, given: dict) -> dict[Tensor, Any]:
        """What the remedies in force put in place of what a run would compute: as feeds it is remembered with it."""
        feeds = self._keeper.kept(*self.model.reader.read(given))
        wanted = fetch.parse(self.model.graph, fetches)
        ran = running(wanted.tensors, wanted.targets, feeds)
        taken = self._taken(overlay, ran, feeds)
        moment = moment_of(self.model.session, {**feeds, **taken}, self.log.run + 1, wanted)
        return {**taken, **overlay.feeds(self.state.replayer, moment, ran)}

    def _taken(self, overlay: Overlay, ran: Collection[Operation], feeds: Mapping[Tensor, Any]) -> dict[Tensor, Any]:
        """What a run takes that no other gets, as the next element of a dataset, where remedies compute with it."""
        session, found = self.model.session, dict[Tensor, Any]()
        for op in in_order(ancestors(overlay.pairs_of(ran).values(), feeds)):
            if op in ran and takes_anew(op) and not op.inputs:
                values = op.definition.kernel(run=Run(session, session.runs + 1, op), **op.attrs)
                found.update(zip(op.outputs, values if len(op.outputs) > 1 else [values]))
        return found

    @contextlib.contextmanager
    def away(self, run: OpenRun) -> Iterator[None]:
        """While a run waits others are made; from then on it is a run of the variables as those left them.

        Its Python functions run before it reads a variable, but for those that are given one's value.
        """
        session, turn = self.model.session, self.log.turn
        run.waits(session.last_draws)
        taken = turn.taken
        yield
        if turn.taken > taken + 1:
            run.goes_on(self.state.moments.variables(session), self.samples.before(run.view))

    def after_run(self, run: OpenRun, seen: Sequence[Any]) -> RunRecord:
        """A run was made. seen: values of `run.looked_at`, the second part of `run.whole`."""
        outcomes = run.view.outcomes
        if outcomes:
            run.moment.outcomes.update(zip(outcomes, seen[len(seen) - len(outcomes):]))
        number, ms = self._remembered(run, is_repeatable=run.is_repeatable)
        view, due = run.view, self.views.due(run.view, number)
        samples, loss = self.samples.of_run(run, due, seen)
        if view.guards:
            samples = self.samples.with_hidden(run, seen, samples)
        if due.inner:
            ran = run.moment.ran
            samples += tuple(self.inner.samples(due.inner, ran, run.moment, failed=False))
        record = self._record(run, number, ms, samples, loss=loss)
        found = [self.at_stop(held) for held in self.stops.holding(record, asked=run.asked)]
        stops = tuple(stop for stop in found if stop is not None)
        return self._kept(run, replace(record, stops=stops) if stops else record)

    def at_error(self, run: OpenRun, error: BaseException) -> RunRecord:
        """A run failed; its record says so and is a stop."""
        given = self.model.session.given or {}
        run.moment.outcomes.update((t, given[t.op][t.value_index]) for t in run.view.outcomes if t.op in given)
        number, ms = self._remembered(run, is_repeatable=False)
        due = self.views.due(run.view, number)
        samples, _ = self.samples.of_run(run, due, [], failed=True)
        samples += tuple(self.inner.samples(due.inner, set(), run.moment, failed=True))
        text = f"{type(error).__name__}: {error}"
        record = self._record(run, number, ms, samples)
        return self._kept(run, replace(record, error=text, stops=(Stop("error", text),)))

    def at_stop(self, held: Holds) -> Stop | None:
        """A stop condition holds of a tensor that was asked for; the stop, None if it is to be ignored."""
        stop = stop_at(held)
        if stop is not None and held.watch.is_temporary:
            self.watches.remove(held.watch)
        return stop

    def record_into(self, recorder: Recorder | None) -> None:
        """Write every run from now on; with None no further ones."""
        if self.recorder is not None:
            self.recorder.close()
        self.recorder = recorder

    def _remembered(self, run: OpenRun, *, is_repeatable: bool) -> tuple[int, float]:
        """Count a run and keep it, so that it can be made again; its number and the ms that it took."""
        number, session = self.log.count(trains=run.view.trains), self.model.session
        self.overrides.mark_edited(False)
        ms = 1e3 * (time.perf_counter() - run.began)
        is_its_run = session.runs == run.moment.number  # and not one that another engine or thread made
        if is_its_run or run.draws is not None:
            run.moment.drew(session.last_draws if run.draws is None else run.draws)
        run.moment.ended(number)
        self.state.remember(run.moment, run.whole, ms, session.variables if is_repeatable and is_its_run else None)
        for name, value in self.overrides.frozen.items():
            session.variables[name] = value
        return number, ms

    def _record(self, run: OpenRun, number: int, ms: float, samples: tuple[Sample, ...],
                loss: float | None = None) -> RunRecord:
        view, notes = run.view, tuple(filter(None, [self.state.moments.take_trouble(), self._remedy_in(run)]))
        return RunRecord(number, view.names, view.fed_samples(run.feeds), loss, view.y, samples, ms, notes=notes,
                         trains=view.trains, thread=run.thread)

    def _remedy_in(self, run: OpenRun) -> str:
        """The remedies that a run was made with, "" for none."""
        overlay = self.overrides.overlay
        is_in = overlay is not None and any(t in run.feeds for t in overlay.pairs)
        return f"with the fix {overlay.words}" if overlay is not None and is_in else ""

    def _kept(self, run: OpenRun, record: RunRecord) -> RunRecord:
        if self.recorder is not None:
            record = self._recorded(self.recorder, run, record)
        self.log.add(record)
        return record

    def _recorded(self, recorder: Recorder, run: OpenRun, record: RunRecord) -> RunRecord:
        """Write a run; where that fails recording ends, and the record says so: it is not the script's failure."""
        try:
            recorder.write(run.moment, record, self.log.steps.trained_before(record.run))
        except (OSError, ArgumentError) as error:
            self.record_into(None)
            why = error.strerror if isinstance(error, OSError) else error.sentence
            note = f"recording stops: {why}; the {recorder.runs} runs in {recorder.path} can be read"
            return replace(record, notes=(*record.notes, note))
        return record


class Keeper:
    """Copies what is fed, unless nobody else can write to it or the run before was fed the same."""

    def __init__(self) -> None:
        self._last: dict[Tensor, np.ndarray] = {}

    def kept(self, tensors: Iterable[Tensor], values: Iterable[Any]) -> Fed:
        """What to feed and to keep instead: read-only arrays that nobody else has."""
        return Fed([(tensor, value if _is_ours(value) else self._copy(tensor, value))
                    for tensor, value in zip(tensors, values)])

    def _copy(self, tensor: Tensor, value: np.ndarray) -> np.ndarray:
        is_large = value.nbytes >= _LARGE
        if is_large and (last := self._last.get(tensor)) is not None and _is_same(last, value):
            return last
        copy = value.copy()
        copy.setflags(write=False)
        if is_large:
            self._last[tensor] = copy
        return copy


def _is_ours(value: np.ndarray) -> bool:
    """Whether only this array refers to its memory, or none can write there."""
    owner: Any = value.base if value.base is not None else value
    if type(owner) is not np.ndarray or not owner.flags.owndata:
        return False
    if not owner.flags.writeable:
        return True
    del owner  # one reference less
    return value.base is not None and references_of_base(value) == ALONE


def _is_same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether arrays are the same to the bit; a few elements tell most that are not."""
    if a.shape != b.shape or a.dtype != b.dtype or a.itemsize not in _WORDS or a.dtype.hasobject:
        return False
    words = _WORDS[a.itemsize]
    left, right = a.reshape(-1).view(words), b.reshape(-1).view(words)
    middle = (left.size + left.size // len(a)) // 2  # of the middle row: images begin with many zeros
    some = slice(middle, middle + 64)  # next to each other: far apart, each waits for the memory
    return left[some].tobytes() == right[some].tobytes() and bool((left == right).all())
