"""A lower rate, or other data, where a script makes its updates itself: tried by their rule on the steps until they
diverged."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.graph import Tensor
from ..analysis.edits.own_updates import Law, law_behind
from ..analysis.mistakes.case import held
from ..facts.graph_lists import calls_of
from ..history.replay import Moment
from .state import State

Feeds = Callable[[Moment], Mapping[Tensor, Any]]  # those of a run that are to be others
_PACES = (0.1, 0.01, 1e-3, 1e-4, 1e-5)
_STEPS = 20  # the first ones
_MORE = 20  # steps on the same data
_FALLS = 0.98  # of the first loss: where it has to be at the end


def slower(state: State, top: Tensor, failed: Moment) -> tuple[float, list[float]] | None:
    """By what the rate is to be multiplied for the steps to take the loss down the furthest, and the losses then.

    None where no rule of the updates is known, or no lower rate helps.
    """
    steps, slopes, law = _known(state, top, failed)
    courses = [(pace, _made_again(state, [top, *slopes.values()], steps, law, pace))
               for pace in _PACES if law is not None]
    return min((each for each in courses if falls(each[1])), key=lambda each: each[1][-1], default=None)


def paced(state: State, top: Tensor, failed: Moment, fed: Feeds) -> list[float] | None:
    """The losses of the first steps, and of more on the same data, with other feeds; None where no rule is known."""
    steps, slopes, law = _known(state, top, failed)
    return _made_again(state, [top, *slopes.values()], steps, law, 1.0, fed) if law is not None else None


def falls(losses: Sequence[float]) -> bool:
    """Whether they end lower than they began."""
    return losses[-1] <= losses[0] - (1 - _FALLS) * abs(losses[0])


def _known(state: State, top: Tensor, failed: Moment) -> tuple[list[Moment], dict[str, Tensor], Law | None]:
    """The first steps, the gradients of variables, and by what rule the script updates these."""
    slopes = {held(x).name: g for call in calls_of(state.model.graph) if call.ys[0] is top
              for x, g in call.found.items() if isinstance(g, Tensor) and held(x).name in failed.variables}
    steps = [m for m in state.moments.beginning or state.moments if m.run <= failed.run and m.wanted is not None
             and state.can_compute(top, m)][:_STEPS]
    found = list[dict[str, Any]]()
    for moment in steps:
        found.append(dict(zip(slopes, state.replayer.values(moment, list(slopes.values())))))
        if not all(np.isfinite(g).all() for g in found[-1].values()):
            found[-1] = {name: np.zeros_like(g) for name, g in found[-1].items()}  # it made none of the updates
            break
    law = law_behind([m.variables for m in steps[:len(found)]], found) if slopes and len(found) > 1 else None
    return steps, slopes, law


def _made_again(state: State, wanted: Sequence[Tensor], steps: Sequence[Moment], law: Law, pace: float,
                fed: Feeds = lambda _: {}) -> list[float]:
    """The losses of the steps, one from the other. wanted: the loss, and the gradients in the law's order."""
    variables, past, losses = dict(steps[0].variables), list[dict[str, Any]](), list[float]()
    for moment in [*steps, *itertools.islice(itertools.cycle(steps), _MORE)]:
        at = replace(moment, variables=variables, feeds={**moment.feeds, **fed(moment)})
        loss, *ways = state.replayer.values(at, wanted)
        losses.append(float(np.mean(loss)))
        past.append(dict(zip(law.rates, ways)))
        if not np.isfinite(losses[-1]):
            break
        variables = {**variables, **law.after(variables, past, pace)}
    return losses
