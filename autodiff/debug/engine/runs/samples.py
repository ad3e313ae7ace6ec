"""What is seen of a run: figures of what was looked at, also of tensors and gradients inside of branches and loops."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ....core.errors import AutodiffError
from ....core.graph import Operation, Tensor
from ...analysis.backward_through_calls import arriving_at, gradient_turns
from ...facts.records import Sample, Stats
from ...facts.roles import is_handle, is_variable
from ...facts.stats import are_finite, is_small, nonfinite_of, statistics, statistics_of
from ...history.loop_values import Turns
from ...history.replay import Moment
from ..state import State, as_number
from ..watches import Watches
from .finite_sentinels import computed
from .run_view import Due, OpenRun, RunView, RunViews


class RunSamples:
    """Measures; of what is watched all, of what only has to be finite what is not."""

    def __init__(self, state: State, watches: Watches, views: RunViews) -> None:
        self.state, self.model, self.log, self.watches, self.views = state, state.model, state.log, watches, views

    def before(self, view: RunView) -> dict[str, Any]:
        """Figures of the variables to look at, while the cache has them and before the run lets go of them.

        Of small ones the values, which nobody writes to: they are measured with what the run gives.
        """
        due = self.views.due(view, self.log.run + 1)
        if not due.variables:
            return {}
        known = self.model.session.variables
        values = [(look.name, known[look.variable]) for look in due.variables if look.variable in known]
        later = {name: value for name, value in values if is_small(value)}
        chosen = [(name, value) for name, value in values if name not in later]
        if due.is_alarmed:
            bad = nonfinite_of([None if name in due.watched else value for name, value in chosen])
            chosen = [pair for pair, is_bad in zip(chosen, bad) if is_bad or pair[0] in due.watched]
        later.update(zip([name for name, _ in chosen], statistics_of([value for _, value in chosen])))
        return later

    def of_run(self, run: OpenRun, due: Due, seen: Sequence[Any], *,
               failed: bool = False) -> tuple[tuple[Sample, ...], float | None]:
        """Samples of the watched tensors and the loss; of tensors that are only guarded, the non-finite ones."""
        view = run.view
        loss = as_number(seen[view.loss_at]) if view.loss_at is not None and not failed else None
        if not due.looks:
            return (), loss
        values = [run.before.get(look.name) if at is None else None if failed else seen[at] for look, at in due.looks]
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

    def with_hidden(self, run: OpenRun, seen: Sequence[Any], samples: tuple[Sample, ...]) -> tuple[Sample, ...]:
        """Every non-finite tensor of a run, in the order of computing, if one of its sentinels is not finite.

        samples: of what was looked at.
        """
        view, at, y = run.view, run.moment, self.model.default_y()
        is_bad = any(s.stats is not None and s.stats.nonfinite for s in samples)
        if not is_bad and all(seen[place].size for place in view.filled) or not any(
                watch.is_wide and watch.is_due(self.log.run) for watch in self.watches):
            return samples
        runs = computed(view.wanted.tensors, view.wanted.targets, set(at.feeds))
        kept = [s for s in samples if s.name not in view.guards or s.name in self.views.due(view, self.log.run).watched]
        known = {(s.name, s.of) for s in kept}
        asked: list[tuple[str, str, Any]] = []
        for tensor in map(self.model.targets.one, self.views.guarded_names()):
            if tensor in at.feeds or is_variable(tensor) or tensor.op in runs and not tensor.dtype.is_ref:
                asked.append((tensor.name, "", tensor))
            gradient = self.model.derivatives.known(y, tensor) if y not in (None, tensor) else None
            if gradient is not None and gradient.op in runs and tensor.op.gradient_of is None:
                asked.append((tensor.name, self.model.y, gradient))
        asked = [one for one in asked if one[:2] not in known]
        variables = {t: at.variables.get(t.op.name) for _, _, t in asked if isinstance(t, Tensor) and is_variable(t)}
        found = {**self.state.replayer.values_if_possible(at, [t for _, _, t in asked if t not in variables]),
                 **variables}
        values = [found.get(source) for _, _, source in asked]
        return (*kept, *(Sample(name, of, statistics(value)) for (name, of, _), value, is_bad in zip(
            asked, values, nonfinite_of(values)) if is_bad))


class InnerSamples:
    """Follows a remembered run through the calls of its branches and loops."""

    def __init__(self, state: State) -> None:
        self.state, self.model = state, state.model

    def gradient_turns(self, y: Tensor, x: Tensor, at: Moment) -> Turns:
        """The gradients of y at a tensor inside of branches and loops; built if need be."""
        return self._turns_at(x, arriving_at(self.outer(x), lambda t: self.model.derivatives.gradient(y, t)[0]), at)

    def _turns_at(self, x: Tensor, gradients: dict[Tensor, Any], at: Moment) -> Turns:
        """The gradients at x, given those at the outputs of the outermost branch or loop around it."""
        found = self.state.values([self.model.derivatives.dense(g) for g in gradients.values()], at)
        given = [t for t in self.outer(x).inputs if not is_handle(t)]
        known = dict(zip(given, self.state.values(given, at)))
        return gradient_turns(x, self.model.targets.inner, self.state.replayer.calls(at), known,
                              dict(zip(gradients, found)))

    def sample_of(self, x: Tensor, y: Tensor | None, at: Moment) -> Sample:
        """A sample of an inner tensor, or of the gradient of y at it, from a remembered run made again."""
        if self.model.targets.inner.has(x):
            turns = self.state.replayer.turns(at, [x])[x] if y is None else self.gradient_turns(y, x, at)
            return _sample(x.name, y.name if y is not None else "", turns)
        source = x if y is None else self.model.derivatives.gradient(y, x)[0]
        return Sample(x.name, y.name if y is not None else "", statistics(self.state.values([source], at)[0]))

    def outer(self, x: Tensor) -> Operation:
        """The outermost branch or loop around a tensor; its own operation if there is none."""
        return self.model.targets.inner.outer(x).op

    def samples(self, names: Iterable[str], runs: set[Operation], at: Moment, *, failed: bool) -> list[Sample]:
        """Samples of watched inner tensors, by name; and of their gradients, where the script built some.

        runs: the operations of the run, which was remembered.
        """
        y, found = self.model.default_y(), []
        for name in names:
            x = self.model.targets.one(name)
            if failed or self.outer(x) not in runs:
                found.append(Sample(name, "", None, "the run failed" if failed else "not part of this run"))
                continue
            try:
                found.append(_sample(name, "", self.state.replayer.turns(at, [x])[x]))
                if y is not None and x.op.gradient_of is None and x.dtype.base_dtype.is_differentiable:
                    found.append(self._inside_gradient(name, y, x, runs, at))
            except AutodiffError as error:
                found.append(Sample(name, "", None, error.message.partition("\n")[0]))
        return found

    def _inside_gradient(self, name: str, y: Tensor, x: Tensor, runs: set[Operation], at: Moment) -> Sample:
        known = arriving_at(self.outer(x), lambda t: self.model.derivatives.known(y, t))
        if not known:
            return Sample(name, y.name, None, f"no gradient of {y.name} is built for it")
        if not all(g.op in runs for g in known.values()):
            return Sample(name, y.name, None, "not part of this run")
        try:
            return _sample(name, y.name, self._turns_at(x, known, at))
        except AutodiffError as error:
            return Sample(name, y.name, None, error.message.partition("\n")[0])


def _sample(name: str, of: str, turns: Turns) -> Sample:
    return Sample(name, of, statistics(turns.flat()), "", tuple(map(statistics, turns.values)) if turns.loops else ())
