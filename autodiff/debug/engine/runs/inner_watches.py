"""InnerSamples: what is seen of tensors inside of branches and loops, and of the gradients at them."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....core.errors import AutodiffError
from ....core.graph import Operation, Tensor
from ...analysis.inner_gradients import arriving_at, gradient_turns
from ...facts.records import Sample
from ...facts.roles import is_handle
from ...facts.stats import statistics
from ...history.loop_values import Turns
from ...history.replay import Moment
from ..state import State


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
