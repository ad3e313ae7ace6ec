"""Updates that no op makes, as a script's own: the rule behind them, told by what they did to the variables."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

_MISSED = 0.02  # of its size, by which a change may be another than a rule's
_NOISE = 1e-6  # of the largest gradient: what is left where sums cancel, which no rule tells anything of
_DECAYS = (0.9, 0.5, 0.99)  # of momenta

Steps = Sequence[Any]  # the gradients of a variable, from the first step on


class Law(NamedTuple):
    """direction: gives where a step goes, of the gradients up to it. rates: how far, by the name of a variable."""

    direction: Callable[[Steps], np.ndarray]
    rates: Mapping[str, float]

    def after(self, variables: Mapping[str, Any], gradients: Sequence[Mapping[str, Any]],
              pace: float) -> dict[str, Any]:
        """Variables after a step. gradients: of the steps up to it. pace: the rates are times this."""
        return {name: (variables[name] - pace * rate * self.direction([each[name] for each in gradients])).astype(
            np.asarray(variables[name]).dtype) for name, rate in self.rates.items()}


def law_behind(variables: Sequence[Mapping[str, Any]], gradients: Sequence[Mapping[str, Any]]) -> Law | None:
    """The rule by which the gradients of each step lead to the variables of the next; None if none that is known does.

    Both are of the first steps of a training, in order, by the names of variables.
    """
    with np.errstate(all="ignore"):
        largest = max((float(np.abs(g).max(initial=0.0)) for each in gradients for g in each.values()), default=0.0)
        for direction in (_mean(0.0), _adam, *map(_mean, _DECAYS), *map(_ahead, _DECAYS), _rms):
            rates = {}
            for name in gradients[0]:
                slopes = [np.asarray(each[name], float) for each in gradients]
                ways = [direction(slopes[:i]) for i in range(1, len(slopes))]
                values = [np.asarray(each[name], float) for each in variables]
                lost = np.finfo(np.asarray(variables[0][name]).dtype).eps * np.linalg.norm(values)
                rate = _rate(np.diff(values, axis=0).ravel(), np.ravel(ways), lost)
                if rate is None and np.abs(slopes).max() > _NOISE * largest:
                    break
                rates[name] = rate or 0.0
            else:
                return Law(direction, rates) if any(rates.values()) else None
    return None


def _rate(changes: np.ndarray, ways: np.ndarray, lost: float) -> float | None:
    """By which the ways are multiplied to give the changes; None if they are others. lost: what rounding may make."""
    if not changes.any():
        return 0.0
    if not ways.any():
        return None
    rate = -float(changes @ ways) / float(ways @ ways)
    return rate if np.linalg.norm(changes + rate * ways) <= _MISSED * np.linalg.norm(changes) + lost else None


def _sum(steps: Steps, decay: float) -> Any:
    return sum(decay ** i * g for i, g in enumerate(reversed(steps)))


def _mean(decay: float) -> Callable[[Steps], Any]:
    return lambda steps: _sum(steps, decay) if decay else steps[-1]


def _ahead(decay: float) -> Callable[[Steps], Any]:
    return lambda steps: steps[-1] + decay * _sum(steps, decay)  # Nesterov


def _root(steps: Steps, decay: float) -> Any:
    return np.sqrt((1 - decay) * _sum([g * g for g in steps], decay))


def _adam(steps: Steps) -> Any:
    count = len(steps)
    return 0.1 * _sum(steps, 0.9) / (1 - 0.9 ** count) / (_root(steps, 0.999) / np.sqrt(1 - 0.999 ** count) + 1e-8)


def _rms(steps: Steps) -> Any:
    return steps[-1] / (_root(steps, 0.99) + 1e-8)
