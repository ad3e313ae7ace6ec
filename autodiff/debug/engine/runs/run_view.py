"""What is looked at in a run: decided before it begins, as tensors that it fetches besides what the script asks for."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ....core.function_graph import calls_python
from ....core.graph import Operation, Tensor
from ....core.indexed_slices import IndexedSlices
from ....runtime import fetch
from ....runtime.feed import Fed
from ....runtime.fetch import Fetches
from ....runtime.plan.running import Running, running
from ....runtime.session import Session
from ...facts.graph_lists import version_of
from ...facts.records import Sample, Stats
from ...facts.roles import is_variable
from ...facts.training_runs import can_train, trains
from ...history.replay import Moment
from ..state import State
from ..watches import Watches
from .finite_sentinels import Guards, computed, guards_of

_MOST = 64  # views that are kept


class Look(NamedTuple):
    """One thing to look at in a run. source: what to fetch; None: a variable's value before the run, or nothing."""

    name: str
    of: str
    source: Any
    variable: str
    missing: str


class Due(NamedTuple):
    """What the watches look at that are due in a run. numbers: theirs. watched: names of what is measured.

    looks: theirs, each with its place among what the session gives, or None. variables: of these, those that are
    looked at before the run. is_alarmed: whether some only have to be finite; is_quiet: whether all do. inner: names
    inside of branches and loops.
    """

    numbers: list[int]
    watched: set[str]
    looks: list[tuple[Look, int | None]]
    variables: list[Look]
    is_alarmed: bool
    is_quiet: bool
    inner: list[str]


@dataclass(slots=True)
class RunView:
    """What runs of the same fetches have in common. whole: the fetches together with all that is looked at.

    names: of the fetches. y: name of the tensor that gradients are of. is_repeatable: whether all that such a run does
    can be done again, and no stop compares variables before and after. loss_at: where y's value is among what is
    looked at. guards: names of what is looked at in place of all tensors, for stops at any that is not finite; filled:
    places of those that may not be empty for that. trains: whether it is a training run; can_train: whether some
    run of the graph is. fed: of the last run, kinds of values and their samples. due: of the last run.
    """

    session: Session | None
    wanted: Fetches
    looks: list[Look]
    outcomes: tuple[Tensor, ...]
    whole: Fetches
    is_repeatable: bool
    names: tuple[str, ...]
    y: str
    loss_at: int | None = None
    guards: frozenset[str] = frozenset()
    filled: tuple[int, ...] = ()
    trains: bool = False
    can_train: bool = False
    fed: tuple[list[Any], tuple[Sample, ...]] = ([], ())
    due: Due | None = None

    def fed_samples(self, feeds: Mapping[Tensor, Any]) -> tuple[Sample, ...]:
        """What was fed; the same as in the run before if kinds and shapes are."""
        kinds: list[Any] = [(t, v.dtype, v.shape) for t, v in feeds.items()]
        if kinds != self.fed[0]:
            self.fed = kinds, tuple(Sample(t.name, "", Stats(v.dtype.name, v.shape, v.size)) for t, v in feeds.items())
        return self.fed[1]


def _is_repeatable(ops: Iterable[Operation]) -> bool:
    """Whether ops can run again: what Python functions give is kept, unless a branch or loop calls them."""
    for op in ops:
        if calls_python(op) and not (op.type == "PyFunc" and op.outputs):
            return False
    return True


@dataclass(slots=True)
class OpenRun:
    """A run under way. moment: what it depends on. view: what to see in it. began: seconds. feeds: what to run with.

    before: figures of variables before it, as far as they are due. is_repeatable: whether making it again does the
    same. asked: numbers of breakpoints that were asked inside of it. draws: the session's `last_draws` for it, where
    other runs were begun in the midst of it. thread: name of the one that makes it, "" for the main one.
    """

    moment: Moment
    view: RunView
    began: float
    before: dict[str, Any]
    feeds: Fed
    is_repeatable: bool = False
    asked: set[int] = field(default_factory=set)
    draws: dict[str, int] | None = None
    thread: str = ""

    def waits(self, draws: dict[str, int]) -> None:
        """Other runs may be begun. draws: the session's `last_draws`, still those of this one."""
        self.draws = draws if self.draws is None else self.draws

    def goes_on(self, variables: Mapping[str, Any], before: dict[str, Any]) -> None:
        """Other runs were made: it is one of these variables."""
        self.moment.goes_on(variables)
        self.before = before

    @property
    def looked_at(self) -> tuple[Any, ...]:
        """The tensors, and gradients that are IndexedSlices, whose values the debugger wants besides, in order."""
        return (*(look.source for look in self.view.looks if look.source is not None), *self.view.outcomes)

    @property
    def whole(self) -> Fetches:
        """What to fetch: a list of what the script asks for and what the debugger looks at."""
        return self.view.whole


class RunViews:
    """The views of runs, by what they fetch; each is made once, as long as nothing else is to be looked at."""

    def __init__(self, state: State, watches: Watches) -> None:
        self.model, self.watches = state.model, watches
        self._views: dict[Any, RunView] = {}

    def view_of(self, fetches: Any, fed: frozenset[Tensor]) -> RunView:
        """What to fetch and look at; remembered for fetches that are the same, as long as nothing else changes.

        fed: what is fed in place of values that would be computed.
        """
        session = self.model.session
        try:
            key = (fetch.key(fetches), self.watches.version, version_of(self.model.graph), self.model.default_y(), fed)
            known = self._views.get(key)
        except TypeError:
            return self._new_view(fetches, fed)
        if known is None or known.session is not session:
            if len(self._views) > _MOST:
                self._views.clear()
            known = self._views[key] = self._new_view(fetches, fed)
        return known

    def _new_view(self, fetches: Any, fed: frozenset[Tensor]) -> RunView:
        wanted = fetch.parse(self.model.graph, fetches)
        guards = self._new_guards(wanted, fed)
        looks, outcomes = self._new_looks(wanted, guards.tensors)
        seen = [look for look in looks if look.source is not None]
        sources = [*(look.source for look in seen), *outcomes]
        ran = running(wanted.tensors, wanted.targets)
        is_training = trains(self.model.graph, ran)
        whole = self.model.session.prepared(fetch.parse(self.model.graph, [fetches, fetch.AsRead(sources)]))
        return RunView(self.model.session, wanted, looks, outcomes, whole,
                      not self.watches.ask("ratio") and _is_repeatable(ran),
                      (*(t.name for t in wanted.tensors), *(op.name for op in wanted.targets)), self.model.y,
                      next((at for at, look in enumerate(seen) if look.name == self.model.y and not look.of), None),
                      frozenset(t.name for t in guards.tensors),
                      tuple(at for at, look in enumerate(seen) if look.source in guards.filled),
                      is_training, is_training or can_train(self.model.graph))

    def _new_guards(self, wanted: Fetches, fed: frozenset[Tensor]) -> Guards:
        """What to look at for the stops at any tensor that is not finite; nothing if there are none."""
        names = self.guarded_names()
        if not names:
            return Guards((), ())
        runs = computed(wanted.tensors, wanted.targets, fed)
        given = running(wanted.tensors, wanted.targets, fed)
        listed = (self.model.targets.one(name) for name in names)
        return guards_of([t for t in listed if t in fed or is_variable(t)
                          or t.op in runs and given.gives(t) and not t.dtype.is_ref], runs, fed)

    def guarded_names(self) -> tuple[str, ...]:
        """Names of all that stops at any tensor that is not finite are about."""
        return tuple(dict.fromkeys(name for watch in self.watches if watch.is_wide for name in watch.names
                                   if not watch.is_excluded(name)))

    def _new_looks(self, wanted: Fetches, guards: tuple[Tensor, ...]) -> tuple[list[Look], tuple[Tensor, ...]]:
        """What the watches want of a run, only what it computes anyway; and what its Python functions give.

        guards: what else has to be finite.
        """
        runs = running(wanted.tensors, wanted.targets)
        y = self.model.default_y()
        looks: dict[tuple[str, str], Look] = {}
        if y is not None:
            looks[y.name, ""] = self._look(y, runs)
        losses = {y, *self.model.losses}
        named = {name for watch in self.watches if not watch.seeks_harm and not watch.is_wide for name in watch.names}
        measured = {name for watch in self.watches if not watch.is_alarm for name in watch.names}
        guarded = dict.fromkeys(name for watch in self.watches if not watch.is_wide for name in watch.names)
        for name in guarded:
            tensor = self.model.targets.one(name)
            if self.model.targets.inner.has(tensor):
                continue
            looks[name, ""] = self._look(tensor, runs)
            if y is not None and (tensor not in losses or name in measured) and (
                    tensor.op.gradient_of is None and tensor.dtype.base_dtype.is_differentiable):
                looks[name, y.name] = self._gradient_look(y, tensor, runs)
        gradients = [look for look in looks.values() if look.of and look.name not in named]
        if all(look.source is not None for look in gradients):  # a value that harms shows in one of them
            for look in gradients:
                if looks[look.name, ""].variable:
                    del looks[look.name, ""]
        for tensor in guards:
            looks.setdefault((tensor.name, ""), self._look(tensor, runs))
        for other in sorted(self.watches.others()):
            tensor = self.model.targets.one(other.name)
            if self.model.targets.inner.has(tensor):
                continue
            if not other.is_gradient:
                looks.setdefault((tensor.name, ""), self._look(tensor, runs))
            elif y is not None and self.model.derivatives.known(y, tensor) is not None:
                looks.setdefault((tensor.name, y.name), self._gradient_look(y, tensor, runs))
        python = [op for op in runs if calls_python(op)]
        for op in python:
            if "record" in op.attrs:
                op.attrs["record"]["on"] = True  # a loop leaves what Python gave in each iteration
        outcomes = tuple(t for op in python for t in op.outputs if runs.gives(t))
        return list(looks.values()), outcomes

    def _look(self, tensor: Tensor, runs: Running) -> Look:
        if is_variable(tensor):
            return Look(tensor.name, "", None, tensor.op.name, "not initialized")
        part = runs.gives(tensor) and not tensor.dtype.is_ref and tensor.dtype.name not in ("variant", "resource")
        return Look(tensor.name, "", tensor if part else None, "", "not part of this run")

    def _gradient_look(self, y: Tensor, tensor: Tensor, runs: Running) -> Look:
        gradient = self.model.derivatives.known(y, tensor)
        source = gradient if gradient is not None and runs.gives(
            gradient.values if isinstance(gradient, IndexedSlices) else gradient) else None
        why = "not part of this run" if gradient is not None else f"no gradient of {y.name} is built for it"
        return Look(tensor.name, y.name, source, "", why)

    def due(self, view: RunView, run: int) -> Due:
        """What the watches that are due in a run look at."""
        numbers = self.watches.due(run)
        if view.due is None or view.due.numbers != numbers:
            view.due = self._new_due(view, numbers, {other.name for other in self.watches.others(run)})
        return view.due

    def _new_due(self, view: RunView, numbers: list[int], named: set[str]) -> Due:
        """named: by conditions that are due."""
        due = [watch for watch in self.watches if watch.number in numbers]
        watched = named.union(*[watch.names for watch in due if not watch.is_alarm])
        alarmed = {name for watch in due if watch.is_alarm for name in (view.guards if watch.is_wide else watch.names)}
        places = iter(range(len(view.looks)))
        looks = [(look, next(places) if look.source is not None else None) for look in view.looks]
        looks = [(look, at) for look, at in looks if look.name in watched
                 or look.name in alarmed and (at is not None or look.variable)]
        inner = sorted(name for name in watched | alarmed if self.model.targets.inner.has_name(name))
        return Due(numbers, watched, looks, [look for look, _ in looks if look.variable],
                    any(look.name not in watched for look, _ in looks),
                    all(look.name not in watched for look, _ in looks), inner)
