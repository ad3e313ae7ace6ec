"""Running: one run, what the watches see in it, and whether it stops there."""
from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..errors import AutodiffError
from ..function_graph import calls_python
from ..graph import Operation, Tensor
from ..runtime import fetch
from ..runtime.feed import Fed
from ..runtime.fetch import Fetches
from ..runtime.session import Session
from ..walks import needed
from .conditions import Condition, Seen, parse_condition
from .insides import Insides
from .lists import trainable_tensors
from .machine import as_number
from .places import is_variable
from .records import RunRecord, Sample, Stats, Stop
from .replay import Moment, moment_of
from .stats import nonfinite_of, statistics, statistics_of
from .watches import Watch


class _Look(NamedTuple):
    """One thing to look at in a run. source: what to fetch; None: a variable's value before the run, or nothing."""

    name: str
    of: str
    source: Any
    variable: str
    missing: str


@dataclass(slots=True)
class _Sight:
    """What runs of the same fetches have in common. whole: the fetches together with all that is looked at.

    names: of the fetches. y: name of the tensor that gradients are of. is_repeatable: whether all that such a run does
    can be done again, and no stop compares variables before and after. fed: of the last run, kinds of values and
    their samples. due: of the last run, numbers of the watches that were due, and what they look at.
    """

    session: Session | None
    wanted: Fetches
    looks: list[_Look]
    outcomes: tuple[Tensor, ...]
    whole: Fetches
    is_repeatable: bool
    names: tuple[str, ...]
    y: str
    fed: tuple[list[Any], tuple[Sample, ...]] = ([], ())
    due: tuple[list[int], set[str], set[str]] | None = None


@dataclass(slots=True)
class _Opened:
    """A run under way. sight: what to see in it. began: seconds. before: figures of variables, as far as due.

    feeds: what the session is to run with. is_repeatable: whether making the run again does the same.
    """

    moment: Moment
    sight: _Sight
    began: float
    before: dict[str, Stats]
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


class Running(Insides):
    """Executes runs and records them."""

    # ---- what a run looks at ------------------------------------------------------------
    def _sight(self, fetches: Any) -> _Sight:
        """What to fetch and look at; remembered for fetches that are the same, as long as nothing else changes."""
        session = self.session
        try:
            key = (fetch.key(fetches), self.watches.version, self.graph.version, self._default_y())
            known = self._sights.get(key)
        except TypeError:
            return self._new_sight(fetches)
        if known is None or known.session is not session:
            if len(self._sights) > 64:
                self._sights.clear()
            known = self._sights[key] = self._new_sight(fetches)
        return known

    def _new_sight(self, fetches: Any) -> _Sight:
        wanted = fetch.parse(self.graph, fetches)
        looks, outcomes = self._new_looks(wanted)
        sources = [*(look.source for look in looks if look.source is not None), *outcomes]
        whole = self.session.prepared(fetch.parse(self.graph, [fetches, sources]))
        compares = any(watch.condition is not None and "ratio" in watch.condition.words for watch in self.watches)
        return _Sight(self.session, wanted, looks, outcomes, whole,
                      not compares and _is_repeatable(needed(wanted.tensors, wanted.targets)),
                      (*(t.name for t in wanted.tensors), *(op.name for op in wanted.targets)), self.y)

    def _new_looks(self, wanted: Fetches) -> tuple[list[_Look], tuple[Tensor, ...]]:
        """What the watches want of a run, only what it computes anyway; and what its Python functions give."""
        runs = needed(wanted.tensors, wanted.targets)
        y = self._default_y()
        looks: dict[tuple[str, str], _Look] = {}
        if y is not None:
            looks[y.name, ""] = self._look(y, runs)
        named = {name for watch in self.watches if not watch.seeks_harm for name in watch.names}
        measured = {name for watch in self.watches if not watch.is_alarm for name in watch.names}
        guarded = dict.fromkeys(name for watch in self.watches for name in watch.names)
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
        python = [op for op in runs if calls_python(op)]
        for op in python:
            if "record" in op.attrs:
                op.attrs["record"]["on"] = True  # a loop leaves what Python gave in each iteration
        outcomes = tuple(t for op in python for t in op.outputs)
        return list(looks.values()), outcomes

    def _look(self, tensor: Tensor, runs: set[Operation]) -> _Look:
        if is_variable(tensor):
            return _Look(tensor.name, "", None, tensor.op.name, "not initialised")
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
        feeds = self._keeper.kept(Fed(zip(*self._reader.read({**(feed_dict or {}), **self._overrides}))))
        sight = self._sight(fetches)
        session = self.session
        before = self._before(sight)
        moment = moment_of(session, feeds, self.step + 1, sight.wanted, self.moments.variables(session))
        self._view = None
        return _Opened(moment, sight, began, before, feeds, sight.is_repeatable and self._recorder is None)

    def _before(self, sight: _Sight) -> dict[str, Stats]:
        """Figures of the variables to look at, while the cache has them and before the run lets go of them."""
        watched, alarmed = self._due(sight, self.step + 1)
        known = self.session.variables
        names = [look.name for look in sight.looks if look.variable in known and look.name in watched | alarmed]
        if not names:
            return {}
        values = [known[name.partition(":")[0]] for name in names]
        bad = nonfinite_of([None if name in watched else value for name, value in zip(names, values)])
        chosen = [(name, value) for name, value, is_bad in zip(names, values, bad) if is_bad or name in watched]
        return dict(zip([name for name, _ in chosen], statistics_of([value for _, value in chosen])))

    def _opened_of(self, moment: Moment) -> _Opened:
        """A remembered run, opened again."""
        sight = _Sight(None, moment.wanted, [], (), moment.wanted, False, (), "")
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
        samples, loss = self._samples(opened, seen, failed=error is not None)
        inner = [name for name in set().union(*self._due(sight, self.step)) if self.targets.inner.has_name(name)]
        if inner:
            runs = needed(sight.wanted.tensors, sight.wanted.targets)
            samples += tuple(self._inside_samples(sorted(inner), runs, moment, failed=error is not None))
        text = f"{type(error).__name__}: {error}" if error is not None else ""
        record = RunRecord(self.step, sight.names, self._fed(opened), loss, sight.y, samples, ms, (), text)
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

    def _samples(self, opened: _Opened, seen: Sequence[Any], *, failed: bool) -> tuple[tuple[Sample, ...],
                                                                                       float | None]:
        """Of what is watched, and the loss; of what is only guarded, what is not finite."""
        sight, loss, given = opened.sight, None, iter(seen)
        watched, alarmed = self._due(sight, self.step)
        shown: list[tuple[_Look, Any]] = []
        for look in sight.looks:
            value = None
            if look.source is not None and not failed:
                value = next(given)
                if look.name == sight.y and not look.of:
                    loss = as_number(value)
            elif look.variable:
                value = opened.before.get(look.name)
            if look.name in watched or look.name in alarmed and value is not None:
                shown.append((look, value))
        if not shown:
            return (), loss
        if alarmed:
            bad = nonfinite_of([None if look.name in watched else value for look, value in shown])
            shown = [pair for pair, is_bad in zip(shown, bad)
                     if is_bad or pair[0].name in watched or type(pair[1]) is Stats]
        figures = iter(statistics_of([value for _, value in shown if value is not None and type(value) is not Stats]))
        return tuple([
            Sample(look.name, look.of, None, "the run failed" if failed and not look.variable else look.missing)
            if value is None else Sample(look.name, look.of, value if type(value) is Stats else next(figures))
            for look, value in shown]), loss

    def _due(self, sight: _Sight, step: int) -> tuple[set[str], set[str]]:
        """Names of what is watched in a run, and of what only has to be finite."""
        due = [watch for watch in self.watches if watch.is_due(step)]
        numbers = [watch.number for watch in due]
        if sight.due is None or sight.due[0] != numbers:
            sight.due = (numbers, {name for watch in due if not watch.is_alarm for name in watch.names},
                         {name for watch in due if watch.is_alarm for name in watch.names})
        return sight.due[1:]

    def _refreeze(self) -> None:
        """Give frozen variables the values back that they are to keep."""
        for name, value in self._frozen.items():
            self.session.variables[name] = value

    # ---- stops --------------------------------------------------------------------------
    def _stops(self, record: RunRecord) -> tuple[Stop, ...]:
        found = []
        for watch in self.watches:
            if watch.number in self._passed:
                continue
            only_looks = watch.kind == "watch" and watch.condition is None
            stop = None if only_looks or not watch.is_due(record.step) else self._stop_of(watch, record)
            if stop is not None and watch.hit():
                found.append(stop)
                if watch.is_temporary:
                    self.watches.remove(watch.number)
        self._passed.clear()
        return tuple(found)

    def _stop_of(self, watch: Watch, record: RunRecord) -> Stop | None:
        if watch.step is not None:
            here = record.step == watch.step
            return Stop("break", f"step {record.step}", watch.number, "", watch.commands) if here else None
        if watch.condition is None:
            computed = next((s for s in record.samples if s.name in watch.names and s.stats), None)
            if computed is None:
                return None
            return Stop(watch.kind, f"{computed.name} was computed", watch.number, computed.name, watch.commands)
        hit = self._hit(watch.condition, record, set(watch.names), watch)
        if hit is None:
            return None
        target = hit.removeprefix("gradient of ").partition(",")[0]
        return Stop(watch.kind, f"{hit}: {watch.condition.text}", watch.number, target, watch.commands)

    def _hit(self, condition: Condition, record: RunRecord, names: set[str], watch: Watch | None = None) -> str | None:
        """What a condition holds of, in words: a tensor's name, `gradient of NAME`, or the step; None if of nothing.

        names: the tensors that count; empty for the loss and all that was seen.
        """
        if condition.is_global:
            seen = Seen(None, record.step, record.loss)
            return f"step {record.step}" if condition.holds(seen) else None
        before = next((r for r in reversed(self.records) if r.step < record.step), None)
        for sample in record.samples if record.samples or names else self._gradient_samples():
            if names and sample.name not in names or watch is not None and watch.is_excluded(sample.name):
                continue
            if sample.stats is None and sample.missing != f"no gradient of {record.loss_name} is built for it":
                continue
            previous = before.sample(sample.name, gradient=sample.is_gradient) if before else None
            words = f"gradient of {sample.name}" if sample.is_gradient else sample.name
            for turn, stats in enumerate(sample.turns):
                one = replace(sample, stats=stats, turns=())
                if condition.holds(self._seen(one, record, previous, condition)):
                    return f"{words}, turn {turn} of {len(sample.turns)}"
            if not sample.turns and condition.holds(self._seen(sample, record, previous, condition)):
                return words
        if not names and record.loss is not None and condition.holds(
                Seen(statistics(record.loss), record.step, record.loss, before and before.loss is not None and
                     statistics(before.loss) or None)):
            return record.loss_name
        return None

    def _seen(self, sample: Sample, record: RunRecord, previous: Sample | None, condition: Condition) -> Seen:
        ratio = self._update_ratio(sample.name, record.step) if "ratio" in condition.words else None
        return Seen(sample.stats, record.step, record.loss, previous.stats if previous else None, ratio,
                    lambda: self._is_harmful(sample))

    def _gradient_samples(self) -> tuple[Sample, ...]:
        """The gradients of the trainable variables in the last run, computed again: for a condition with no watches."""
        y = self._default_y()
        known = {} if y is None else {t: g for t in trainable_tensors(self.graph)
                                      if (g := self.derivatives.known(y, t)) is not None}
        values = self._replayer.values_if_possible(self._moment(), list(known.values())) if known else {}
        return tuple(Sample(t.name, self.y, statistics(values[g])) for t, g in known.items() if g in values)

    def _update_ratio(self, name: str, step: int) -> float | None:
        """Norm of a variable's change in a step over its norm before it; None if it is no variable."""
        op = name.partition(":")[0]
        index = next((i for i, m in enumerate(self.moments) if m.step == step), None)
        if index is None or op not in self.moments[index].variables:
            return None
        old = self.moments[index].variables[op]
        following = self.moments[index + 1].variables if index + 1 < len(self.moments) else self.session.variables
        new = following.get(op)
        if new is None or np.shape(new) != np.shape(old) or np.asarray(old).dtype.kind not in "fc":
            return None
        if new is old:
            return 0.0
        with np.errstate(all="ignore"):
            size = float(np.linalg.norm(np.asarray(old).ravel()))
            return float(np.linalg.norm(np.asarray(new - old).ravel())) / size if size else None

    def holds(self, condition: str) -> bool:
        """Whether a condition holds of the last run: of its loss, or of anything seen in it."""
        return bool(self.records) and self._hit(parse_condition(condition), self.records[-1], set()) is not None
