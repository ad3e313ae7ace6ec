"""State: which runs are remembered, which one is looked at, and the value of any tensor in any of them."""
from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.errors import ArgumentError, AutodiffError, UnknownNameError
from ...core.function_graph import takes_anew
from ...core.graph import Operation, Tensor
from ...core.traversal import dependencies
from ...runtime.fetch import Fetches
from ...runtime.plan.plan import is_read
from ..facts.known import Known
from ..facts.records import Stats
from ..facts.roles import VARIABLES, is_variable
from ..facts.stats import statistics
from ..facts.training_runs import trains
from ..history.replay import Moment, Replayer, moment_of
from ..history.ring import Ring
from .log import RunLog
from .model import Model
from .overrides import Overrides

_NEEDS = 256  # groups of tensors whose needs are kept
BUDGET = 64 << 20  # bytes that variables and feeds of past runs may take


class State:
    """model, overrides, log: what runs are made of, what the user changed of it, what came out.

    budget: bytes that remembered runs may take. moments: those runs. replayer: makes them again. view: a past run that
    is looked at, None for the present. wholes: by what was fed slices made anew, how many rows the arrays have that
    they were cut from. last: what the last run fetched; last_whole: together with what was looked at.
    """

    def __init__(self, model: Model, overrides: Overrides, log: RunLog, budget: int = BUDGET) -> None:
        self.model, self.overrides, self.log, self.budget = model, overrides, log, budget
        self.replayer = Replayer(model.graph, model.targets.inner)
        self.moments = Ring(self.replayer, lambda: self.log.steps.trained)
        self.view: int | None = None
        self.wholes: dict[Tensor, int] = {}
        self._fed: dict[Tensor, weakref.ref[np.ndarray]] = {}
        self._taken: dict[Tensor, Any] = {}  # what iterators and queues gave last
        self.last: Fetches | None = None
        self.last_whole: Fetches | None = None
        self._needed: dict[tuple[Tensor, ...], tuple[set[Tensor], set[str], set[Tensor]]] = {}

    def look_at(self, run: int | None) -> None:
        """Look at a past run; None for the present."""
        self.view = run

    def saw(self, given: Mapping[Any, Any]) -> None:
        """Note what a run is given: arrays that are cut from larger ones, another cut each time."""
        for tensor, value in given.items():
            if type(value) is np.ndarray and value.base is not None and value.ndim and isinstance(tensor, Tensor):
                before = self._fed.get(tensor)
                if before is not None and before() is not value and value.size and isinstance(value.base, np.ndarray):
                    self.wholes[tensor] = value.base.nbytes // (abs(value.strides[0]) or value.base.nbytes)
                self._fed[tensor] = weakref.ref(value)

    def remember(self, moment: Moment, whole: Fetches | None, ms: float = 0.0,
                 left: Mapping[str, Any] | None = None) -> None:
        """Keep a run, so that it can be made again; arguments as of Ring.keep."""
        self.last, self.last_whole = moment.wanted, whole
        self._taken.update((t, value) for t, value in moment.outcomes.items() if takes_anew(t.op))
        self.moments.keep(moment, self.budget, ms, left)

    def stretch(self, step: int) -> list[Moment]:
        """The remembered runs about a step, one after the other: the last, those about the first nan, or the first."""
        ways = [list(self.moments), self.moments.turn, self.moments.beginning]
        known = [moments for moments in ways if moments]
        return next((moments for moments in known if self.log.at(moments[0].run).step <= step), (known or [[]])[-1])

    def moment(self, run: int | None = None) -> Moment:
        """The Moment to evaluate at: of a past run, else of the last; the present without a run, or after a set."""
        if run is not None:
            found = next((m for m in self.moments if m.run == run), None)
            if found is None:
                raise ArgumentError(f"{self.log.at(run)} is not remembered: there are {self.kept}")
            return found
        if self.view is not None:
            past, changed = self.moment(self.view), self.overrides.values
            return replace(past, feeds={**past.feeds, **changed}) if changed else past
        if self.moments and not self.overrides.is_edited:
            return self.moments[-1]
        return self._present({**self.fed_last(), **self.overrides.present()})

    def _present(self, feeds: dict[Tensor, Any]) -> Moment:
        """The variables as they are, with these feeds and the elements that were taken last."""
        return replace(moment_of(self.model.session, feeds, self.log.run), outcomes=dict(self._taken))

    def fed_last(self) -> dict[Tensor, Any]:
        """What the last run was fed, but for what was put in place of what it would have computed."""
        last = self.moments[-1].feeds if self.moments else {}
        return {t: value for t, value in last.items() if t not in self.overrides.lent}

    @property
    def has_trained(self) -> bool:
        """Whether a remembered run was a step of training."""
        trained = {record.run for record in self.log.records if record.trains}
        return any(moment.run in trained for moment in self.moments)

    @property
    def kept(self) -> str:
        """Which runs are remembered, in words."""
        first, last = (self.log.at(self.moments[at].run) for at in (0, -1)) if self.moments else (None, None)
        return "none" if first is None else f"{first} to {last}"

    def moment_for(self, tensors: Sequence[Tensor], run: int | None = None) -> Moment:
        """The moment to evaluate these at: as `_moment`, but of past runs the last that fed all they need.

        So a look at the loss after a run that only read a variable is a look at the last run of the loss, which is also
        the last that took an element of its dataset.
        """
        self.initialize_for(tensors)
        latest = self.moment(run)
        if run is not None or self.view is not None or not self.moments or latest is not self.moments[-1]:
            return latest
        found = next((m for m in reversed(self.moments) if self._had(m, tensors)), None)
        session, variables = self.model.session, self._needs(tuple(tensors))[1]
        if found is None and not variables <= latest.variables.keys() and variables <= session.variables.keys():
            return self._present(latest.feeds)  # of variables that no run has seen yet
        return found or latest

    def moment_of_training(self, y: Tensor) -> Moment:
        """The moment of a question about gradients of y: after a run that only evaluated, that of the last training."""
        at = self.moment_for([y])
        if self.view is not None or not self.moments or at not in self.moments:
            return at
        ran = (m for m in reversed(self.moments) if m.run <= at.run and m.wanted is not None and self._had(m, (y,)))
        return next((m for m in ran if trains(self.model.graph, m.ran)), at)

    def initialize_for(self, tensors: Sequence[Tensor]) -> None:
        """Before a question about tensors: give variables that they need values, if no script is left to do it."""
        if self.model.is_alone and not self._needs(tuple(tensors))[1] <= self.model.session.variables.keys():
            self.model.initialize_alone()

    def y_at(self, at: Moment) -> Tensor | None:
        """The default y; of a run that computed only other losses, the last one of those."""
        y, ran = self.model.default_y(), at.ran
        return next((each for each in (y, *reversed(self.model.losses)) if each is not None and each.op in ran), y)

    def can_compute(self, tensor: Tensor, moment: Moment) -> bool:
        """Whether a run fed, took from iterators, and had variables for, all that a tensor is computed from."""
        return self._had(moment, (tensor,))

    def _had(self, moment: Moment, tensors: Sequence[Tensor]) -> bool:
        placeholders, variables, taken = self._needs(tuple(tensors))
        return (placeholders <= moment.feeds.keys() and variables <= moment.variables.keys()
                and all(t in moment.outcomes or t in moment.feeds for t in taken))

    def _needs(self, tensors: tuple[Tensor, ...]) -> tuple[set[Tensor], set[str], set[Tensor]]:
        """The placeholders and variables that tensors are computed from, and what is another in each run."""
        if tensors not in self._needed:
            if len(self._needed) > _NEEDS:
                self._needed.clear()
            below = dependencies([self.model.targets.inner.outer(t) for t in tensors])
            self._needed[tensors] = ({op.outputs[0] for op in below if op.type == "Placeholder"},
                                     {op.name for op in below if op.type in VARIABLES},
                                     {op.outputs[0] for op in below if takes_anew(op)})
        return self._needed[tensors]

    def when(self, moment: Moment) -> str:
        """A moment in words: `step 3`, `run 7 (after step 3), changed`, `now`."""
        if self.view is not None and moment.run == self.view and moment not in self.moments:
            return f"{self.log.at(moment.run)}, changed"
        return str(self.log.at(moment.run)) if moment in self.moments else "now"

    def values(self, tensors: Sequence[Any], moment: Moment, feeds: dict[Tensor, Any] | None = None) -> list[Any]:
        """Values of tensors at a moment, by replay; a variable's is the one before that run."""
        plain = [t for t in dict.fromkeys(tensors) if not (isinstance(t, Tensor) and is_variable(t))]
        found = dict(zip(plain, self.replayer.values(moment, plain, feeds))) if plain else {}
        found.update((t, value) for t in plain for value in self._read_late(t, moment))
        return [found[t] if t in found else self.variable_value(t, moment.variables) for t in tensors]

    def _read_late(self, tensor: Any, moment: Moment) -> list[Any]:
        """The value that all that read a variable by this tensor in that run had of it, where it was updated before."""
        if not isinstance(tensor, Tensor) or not is_read(tensor) or moment.wanted is None:
            return []
        ran = moment.ran
        readers = [op for op in tensor._consumers if op in ran]
        known = self.replayer.late(moment, readers)
        seen = [known.late.get(op, {}).get(tensor) for op in readers]
        return [known[seen[0]]] if seen and seen[0] is not None and len(set(seen)) == 1 else []

    def variable_value(self, tensor: Tensor, variables: Mapping[str, Any]) -> Any:
        """A variable's value among these. Raises UnknownNameError if it has none yet."""
        if tensor.op.name not in variables:
            raise UnknownNameError(f"variable {tensor.op.name!r} has no value yet: it is not initialized",
                                   hint="init gives it one; or run the script up to its initializer")
        return variables[tensor.op.name]

    def values_known(self, ops: Iterable[Operation], moment: Moment) -> Known:
        """Values of all outputs of `ops` that can be computed at a moment, and what they read of updated variables.
        """
        ops = list(ops)
        wanted, found = [], self.replayer.late(moment, ops)
        for op in ops:
            for tensor in op.outputs:
                if is_variable(tensor):
                    if op.name in moment.variables:
                        found[tensor] = moment.variables[op.name]
                elif not tensor.dtype.is_ref and tensor.dtype.name not in ("resource", "variant", "string"):
                    wanted.append(tensor)
        found.update(self.replayer.values_if_possible(moment, wanted) if wanted else {})
        return found

    def look_up(self, tensor: Tensor, moment: Moment) -> Any:
        """The value of one tensor at a moment, for an analysis: kept for the next question, not to be written to."""
        found = self.values_known([tensor.op], moment)
        return found[tensor] if tensor in found else self.values([tensor], moment)[0]

    def stats_of(self, tensor: Any, moment: Moment) -> Stats | None:
        """Figures of one tensor at a moment; None if it cannot be computed."""
        try:
            return statistics(self.look_up(tensor, moment))
        except AutodiffError:
            return None


def as_number(value: Any) -> float | None:
    """A real scalar as a float, else None."""
    if type(value) is np.float32:
        return float(value)
    array = np.asarray(value)
    return float(array) if array.shape == () and array.dtype.kind in "fiu" else None
