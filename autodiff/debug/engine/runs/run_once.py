"""Running: one run, what the watches see in it, and whether it stops there."""
from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ....core.errors import AutodiffError
from ....core.function_graph import calls_python
from ....core.graph import Operation, Tensor
from ....core.traversal import dependencies
from ....runtime import fetch
from ....runtime.feed import Fed
from ....runtime.fetch import Fetches
from ....runtime.session import Session
from ...facts.records import RunRecord, Sample, Stats, Stop
from ...facts.roles import PLACEHOLDERS, is_variable
from ...facts.stats import are_finite, is_small, nonfinite_of, statistics, statistics_of
from ...history.replay import Moment, moment_of
from ..state import as_number
from .finite_sentinels import Guards, computed, guards_of
from .stop_conditions import Asking


class _Look(NamedTuple):
    """One thing to look at in a run. source: what to fetch; None: a variable's value before the run, or nothing."""

    name: str
    of: str
    source: Any
    variable: str
    missing: str


class _Due(NamedTuple):
    """What the watches look at that are due in a run. numbers: theirs. watched: names of what is measured.

    looks: theirs, each with its place among what the session gives, or None. variables: of these, those that are
    looked at before the run. is_alarmed: whether some only have to be finite; is_quiet: whether all do. inner: names
    inside of branches and loops.
    """

    numbers: list[int]
    watched: set[str]
    looks: list[tuple[_Look, int | None]]
    variables: list[_Look]
    is_alarmed: bool
    is_quiet: bool
    inner: list[str]


@dataclass(slots=True)
class _RunView:
    """What runs of the same fetches have in common. whole: the fetches together with all that is looked at.

    names: of the fetches. y: name of the tensor that gradients are of. is_repeatable: whether all that such a run does
    can be done again, and no stop compares variables before and after. loss_at: where y's value is among what is
    looked at. guards: names of what is looked at in place of all tensors, for stops at any that is not finite; filled:
    places of those that may not be empty for that. fed: of the last run, kinds of values and their samples. due: of
    the last run.
    """

    session: Session | None
    wanted: Fetches
    looks: list[_Look]
    outcomes: tuple[Tensor, ...]
    whole: Fetches
    is_repeatable: bool
    names: tuple[str, ...]
    y: str
    loss_at: int | None = None
    guards: frozenset[str] = frozenset()
    filled: tuple[int, ...] = ()
    fed: tuple[list[Any], tuple[Sample, ...]] = ([], ())
    due: _Due | None = None


@dataclass(slots=True)
class _Opened:
    """A run under way. sight: what to see in it. began: seconds. before: figures of variables, as far as due.

    feeds: what the session is to run with. is_repeatable: whether making the run again does the same.
    """

    moment: Moment
    sight: _RunView
    began: float
    before: dict[str, Any]
    feeds: Fed
    is_repeatable: bool = False

    @property
    def whole(self) -> Fetches:
        """What the session is to run."""
        return self.sight.whole


def _is_repeatable(ops: Iterable[Operation]) -> bool:
    """Whether ops can run again: what Python functions give is kept, unless a branch or loop calls them."""
    for op in ops:
        if calls_python(op) and not (op.type == "PyFunc" and op.outputs):
            return False
    return True


class Running(Asking):
    """Executes runs and records them."""

    # ---- what a run looks at ------------------------------------------------------------
    def _sight(self, fetches: Any, fed: frozenset[Tensor]) -> _RunView:
        """What to fetch and look at; remembered for fetches that are the same, as long as nothing else changes.

        fed: what is fed in place of values that would be computed.
        """
        session = self.session
        try:
            key = (fetch.key(fetches), self.watches.version, self.graph.version, self._default_y(), fed)
            known = self._sights.get(key)
        except TypeError:
            return self._new_sight(fetches, fed)
        if known is None or known.session is not session:
            if len(self._sights) > 64:
                self._sights.clear()
            known = self._sights[key] = self._new_sight(fetches, fed)
        return known

    def _new_sight(self, fetches: Any, fed: frozenset[Tensor]) -> _RunView:
        wanted = fetch.parse(self.graph, fetches)
        guards = self._new_guards(wanted, fed)
        looks, outcomes = self._new_looks(wanted, guards.tensors)
        seen = [look for look in looks if look.source is not None]
        sources = [*(look.source for look in seen), *outcomes]
        whole = self.session.prepared(fetch.parse(self.graph, [fetches, fetch.AsRead(sources)]))
        compares = any(watch.condition is not None and watch.condition.asks("ratio") for watch in self.watches) \
            or any(condition.asks("ratio") for condition in self._heeded)
        return _RunView(self.session, wanted, looks, outcomes, whole,
                      not compares and _is_repeatable(dependencies(wanted.tensors, wanted.targets)),
                      (*(t.name for t in wanted.tensors), *(op.name for op in wanted.targets)), self.y,
                      next((at for at, look in enumerate(seen) if look.name == self.y and not look.of), None),
                      frozenset(t.name for t in guards.tensors),
                      tuple(at for at, look in enumerate(seen) if look.source in guards.filled))

    def _new_guards(self, wanted: Fetches, fed: frozenset[Tensor]) -> Guards:
        """What to look at for the stops at any tensor that is not finite; nothing if there are none."""
        names = self._anything()
        if not names:
            return Guards((), ())
        runs = computed(wanted.tensors, wanted.targets, fed)
        listed = (self.targets.one(name) for name in names)
        return guards_of([t for t in listed if t in fed or is_variable(t) or t.op in runs and not t.dtype.is_ref],
                         runs, fed)

    def _anything(self) -> tuple[str, ...]:
        """Names of all that stops at any tensor that is not finite are about."""
        return tuple(dict.fromkeys(name for watch in self.watches if watch.is_wide for name in watch.names
                                   if not watch.is_excluded(name)))

    def _new_looks(self, wanted: Fetches, guards: tuple[Tensor, ...]) -> tuple[list[_Look], tuple[Tensor, ...]]:
        """What the watches want of a run, only what it computes anyway; and what its Python functions give.

        guards: what else has to be finite.
        """
        runs = dependencies(wanted.tensors, wanted.targets)
        y = self._default_y()
        looks: dict[tuple[str, str], _Look] = {}
        if y is not None:
            looks[y.name, ""] = self._look(y, runs)
        named = {name for watch in self.watches if not watch.seeks_harm and not watch.is_wide for name in watch.names}
        measured = {name for watch in self.watches if not watch.is_alarm for name in watch.names}
        guarded = dict.fromkeys(name for watch in self.watches if not watch.is_wide for name in watch.names)
        for name in guarded:
            tensor = self.targets.one(name)
            if self.targets.inner.has(tensor):
                continue
            looks[name, ""] = self._look(tensor, runs)
            if y is not None and (tensor is not y or name in measured) and (
                    tensor.op.gradient_of is None and tensor.dtype.base_dtype.is_differentiable):
                looks[name, y.name] = self._gradient_look(y, tensor, runs)
        gradients = [look for look in looks.values() if look.of and look.name not in named]
        if all(look.source is not None for look in gradients):  # a value that harms shows in one of them
            for look in gradients:
                if looks[look.name, ""].variable:
                    del looks[look.name, ""]
        for tensor in guards:
            looks.setdefault((tensor.name, ""), self._look(tensor, runs))
        for other in sorted(self._others()):
            tensor = self.targets.one(other.name)
            if self.targets.inner.has(tensor):
                continue
            if not other.is_gradient:
                looks.setdefault((tensor.name, ""), self._look(tensor, runs))
            elif y is not None and self.derivatives.known(y, tensor) is not None:
                looks.setdefault((tensor.name, y.name), self._gradient_look(y, tensor, runs))
        python = [op for op in runs if calls_python(op)]
        for op in python:
            if "record" in op.attrs:
                op.attrs["record"]["on"] = True  # a loop leaves what Python gave in each iteration
        outcomes = tuple(t for op in python for t in op.outputs)
        return list(looks.values()), outcomes

    def _look(self, tensor: Tensor, runs: set[Operation]) -> _Look:
        if is_variable(tensor):
            return _Look(tensor.name, "", None, tensor.op.name, "not initialized")
        part = tensor.op in runs and not tensor.dtype.is_ref and tensor.dtype.name not in ("variant", "resource")
        return _Look(tensor.name, "", tensor if part else None, "", "not part of this run")

    def _gradient_look(self, y: Tensor, tensor: Tensor, runs: set[Operation]) -> _Look:
        gradient = self.derivatives.known(y, tensor)
        source = gradient if gradient is not None and gradient.op in runs else None
        why = "not part of this run" if gradient is not None else f"no gradient of {y.name} is built for it"
        return _Look(tensor.name, y.name, source, "", why)

    # ---- runs that a script asks for ----------------------------------------------------
    def on_run(self, session: Session, fetches: Any, feed_dict: dict | None = None, *,
               call: Any = None) -> tuple[Any, RunRecord]:
        """A run that the script asks for: gives its result and the record. call: the real Session.run, if patched.

        The script's exception passes through unchanged; `records[-1]` then has its text in `error`.
        """
        self.attach(session=session)
        call = call or type(session).run
        try:
            opened = self._open(fetches, feed_dict)
        except AutodiffError:
            call(session, fetches, feed_dict)  # refuses in the words the script would have had
            raise
        try:
            result, seen = call(session, opened.whole, opened.feeds)
        except BaseException as error:
            self._close(opened, [], error)
            raise
        self.result = result
        return result, self._close(opened, seen)

    def _open(self, fetches: Any, feed_dict: dict | None) -> _Opened:
        began = time.perf_counter()
        given = {**(feed_dict or {}), **self._overrides} if self._overrides else feed_dict or {}
        feeds = self._keeper.kept(*self._reader.read(given))
        sight = self._sight(fetches, frozenset([t for t in feeds if t.op.type not in PLACEHOLDERS]))
        session = self.session
        before = self._before(sight)
        moment = moment_of(session, feeds, self.step + 1, sight.wanted, self.moments.variables(session))
        self._view = None
        return _Opened(moment, sight, began, before, feeds, sight.is_repeatable and self._recorder is None)

    def _before(self, sight: _RunView) -> dict[str, Any]:
        """Figures of the variables to look at, while the cache has them and before the run lets go of them.

        Of small ones the values, which nobody writes to: they are measured with what the run gives.
        """
        due = self._due(sight, self.step + 1)
        if not due.variables:
            return {}
        known = self.session.variables
        values = [(look.name, known[look.variable]) for look in due.variables if look.variable in known]
        later = {name: value for name, value in values if is_small(value)}
        chosen = [(name, value) for name, value in values if name not in later]
        if due.is_alarmed:
            bad = nonfinite_of([None if name in due.watched else value for name, value in chosen])
            chosen = [pair for pair, is_bad in zip(chosen, bad) if is_bad or pair[0] in due.watched]
        later.update(zip([name for name, _ in chosen], statistics_of([value for _, value in chosen])))
        return later

    def _opened_of(self, moment: Moment) -> _Opened:
        """A remembered run, opened again."""
        sight = _RunView(None, moment.wanted, [], (), moment.wanted, False, (), "")
        return _Opened(moment, sight, time.perf_counter(), {}, Fed())

    def _close(self, opened: _Opened, seen: Sequence[Any], error: BaseException | None = None) -> RunRecord:
        """Record a run. seen: values of what is looked at, then of the outcomes."""
        self.step += 1
        self._is_edited = False
        sight, moment = opened.sight, opened.moment
        self._last, self._last_whole = sight.wanted, sight.whole
        ms = 1e3 * (time.perf_counter() - opened.began)
        session = self.session
        is_whole = opened.is_repeatable and error is None and session.runs == moment.number
        self.moments.keep(moment, self.budget, ms, session.variables if is_whole else None)
        if sight.outcomes and error is None:
            moment.outcomes.update(zip(sight.outcomes, seen[len(seen) - len(sight.outcomes):]))
        if self._frozen:
            self._refreeze()
        due = self._due(sight, self.step)
        samples, loss = self._samples(opened, due, seen, failed=error is not None)
        if sight.guards and error is None:
            samples = self._with_what_is_behind(opened, seen, samples)
        if due.inner:
            runs = dependencies(sight.wanted.tensors, sight.wanted.targets)
            samples += tuple(self._inside_samples(due.inner, runs, moment, failed=error is not None))
        text = f"{type(error).__name__}: {error}" if error is not None else ""
        record = RunRecord(self.step, sight.names, self._fed(opened), loss, sight.y, samples, ms, (), text)
        if self.moments.trouble:
            record, self.moments.trouble = replace(record, notes=(self.moments.trouble,)), ""
        stops = (Stop("error", text),) if error is not None else self._stops(record)
        record = replace(record, stops=stops) if stops else record
        self.records.append(record)
        if self._recorder is not None:
            self._recorder.write(moment, record)
        return record

    def _fed(self, opened: _Opened) -> tuple[Sample, ...]:
        """What was fed; the same as in the run before if kinds and shapes are."""
        kinds: list[Any] = [(t, v.dtype, v.shape) for t, v in opened.feeds.items()]
        if kinds != opened.sight.fed[0]:
            opened.sight.fed = kinds, tuple(Sample(t.name, "", Stats(v.dtype.name, v.shape, v.size))
                                            for t, v in opened.feeds.items())
        return opened.sight.fed[1]

    def _samples(self, opened: _Opened, due: _Due, seen: Sequence[Any], *,
                 failed: bool) -> tuple[tuple[Sample, ...], float | None]:
        """Of what is watched, and the loss; of what is only guarded, what is not finite."""
        sight = opened.sight
        loss = as_number(seen[sight.loss_at]) if sight.loss_at is not None and not failed else None
        if not due.looks:
            return (), loss
        values = [opened.before.get(look.name) if at is None else None if failed else seen[at]
                  for look, at in due.looks]
        if due.is_quiet and Stats not in map(type, values) and are_finite(values):
            return (), loss
        shown = [(look, value) for (look, _), value in zip(due.looks, values)]
        if due.is_alarmed:
            bad = nonfinite_of([None if look.name in due.watched or type(value) is Stats else value
                                for look, value in shown])
            shown = [pair for pair, is_bad in zip(shown, bad)
                     if is_bad or pair[0].name in due.watched or type(pair[1]) is Stats]
        figures = iter(statistics_of([value for _, value in shown if value is not None and type(value) is not Stats]))
        return tuple([
            Sample(look.name, look.of, None, "the run failed" if failed and not look.variable else look.missing)
            if value is None else Sample(look.name, look.of, value if type(value) is Stats else next(figures))
            for look, value in shown]), loss

    def _with_what_is_behind(self, opened: _Opened, seen: Sequence[Any],
                             samples: tuple[Sample, ...]) -> tuple[Sample, ...]:
        """All of a run that is not finite, in the order of computing, if what is looked at in its place has any of it.

        samples: of what was looked at.
        """
        sight, at, y = opened.sight, opened.moment, self._default_y()
        is_bad = any(s.stats is not None and s.stats.nonfinite for s in samples)
        if not is_bad and all(seen[place].size for place in sight.filled) or not any(
                watch.is_wide and watch.is_due(self.step) for watch in self.watches):
            return samples
        runs = computed(sight.wanted.tensors, sight.wanted.targets, set(at.feeds))
        kept = [s for s in samples if s.name not in sight.guards or s.name in self._due(sight, self.step).watched]
        known = {(s.name, s.of) for s in kept}
        asked: list[tuple[str, str, Any]] = []
        for tensor in map(self.targets.one, self._anything()):
            if tensor in at.feeds or is_variable(tensor) or tensor.op in runs and not tensor.dtype.is_ref:
                asked.append((tensor.name, "", tensor))
            gradient = self.derivatives.known(y, tensor) if y not in (None, tensor) else None
            if gradient is not None and gradient.op in runs and tensor.op.gradient_of is None:
                asked.append((tensor.name, self.y, gradient))
        asked = [one for one in asked if one[:2] not in known]
        variables = {t: at.variables.get(t.op.name) for _, _, t in asked if isinstance(t, Tensor) and is_variable(t)}
        found = {**self._replayer.values_if_possible(at, [t for _, _, t in asked if t not in variables]), **variables}
        values = [found.get(source) for _, _, source in asked]
        return (*kept, *(Sample(name, of, statistics(value)) for (name, of, _), value, is_bad in zip(
            asked, values, nonfinite_of(values)) if is_bad))

    def _due(self, sight: _RunView, step: int) -> _Due:
        """What the watches that are due in a run look at."""
        numbers = self.watches.due(step)
        if sight.due is None or sight.due.numbers != numbers:
            sight.due = self._new_due(sight, numbers, {other.name for other in self._others(step)})
        return sight.due

    def _new_due(self, sight: _RunView, numbers: list[int], named: set[str]) -> _Due:
        """named: by conditions that are due."""
        due = [watch for watch in self.watches if watch.number in numbers]
        watched = named.union(*[watch.names for watch in due if not watch.is_alarm])
        alarmed = {name for watch in due if watch.is_alarm for name in (sight.guards if watch.is_wide else watch.names)}
        places = iter(range(len(sight.looks)))
        looks = [(look, next(places) if look.source is not None else None) for look in sight.looks]
        looks = [(look, at) for look, at in looks if look.name in watched
                 or look.name in alarmed and (at is not None or look.variable)]
        inner = sorted(name for name in watched | alarmed if self.targets.inner.has_name(name))
        return _Due(numbers, watched, looks, [look for look, _ in looks if look.variable],
                    any(look.name not in watched for look, _ in looks),
                    all(look.name not in watched for look, _ in looks), inner)

    def _refreeze(self) -> None:
        """Give frozen variables the values back that they are to keep."""
        for name, value in self._frozen.items():
            self.session.variables[name] = value
