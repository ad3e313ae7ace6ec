"""Slopes of a number by single elements of a tensor: differences on both sides, so that a kink shows as one."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

_NEARER = 8.0  # how much shorter the steps of the next look are
_LOOKS = 5
_SEEN = 0.4  # the power of the rounding over the step below which an element is next to nothing beside the others


class Slope(NamedTuple):
    """At one element. below, above: to its two sides, nan where the number is not finite there, inf where they grow
    the nearer one looks; noise: their rounding. is_kink: whether they differ however near one looks, as at relu(0).
    """

    below: float
    above: float
    noise: float
    is_kink: bool = False

    @property
    def middle(self) -> float:
        """The slope; of one side where there is no other, nan where there is none."""
        sides = [side for side in (self.below, self.above) if not np.isnan(side)]
        return float(np.mean(sides)) if sides else float("nan")

    @property
    def differ(self) -> bool:
        """Whether the sides differ by more than their rounding, or one is missing."""
        return not abs(self.above - self.below) <= 4 * self.noise + 1e-4 * abs(self.middle)

    def fits(self, found: float, rtol: float, atol: float) -> bool:
        """Whether a derivative may be this one: at a kink any between those of the sides."""
        room = atol + rtol * abs(self.middle) + self.noise
        if self.is_kink and min(self.below, self.above) - room <= found <= max(self.below, self.above) + room:
            return True
        return bool(np.isfinite(found)) and abs(found - self.middle) <= room


def slopes(total: Callable[[np.ndarray], float], value: np.ndarray, where: Sequence[int], delta: float,
           rounding: float) -> list[Slope]:
    """The slopes of `total`, a number that depends on an array, by the elements of `value` at these flat indices.

    delta: the step, relative to the element; it is not so short that the rounding, the relative error of `total`, is
    all that is seen.
    """
    size = float(np.sqrt(np.mean(np.square(value)))) if value.size else 0.0
    typical = size if np.isfinite(size) and size else 1.0
    here = total(value)
    least = (rounding / delta) ** _SEEN * typical
    sizes = [max(abs(v), least) if (v := float(value.reshape(-1)[at])) else typical for at in where]
    return [_near(total, value, at, here, rounding, delta * size) for at, size in zip(where, sizes)]


def _near(total: Callable[[np.ndarray], float], value: np.ndarray, at: int, here: float, rounding: float,
          step: float) -> Slope:
    """The slope, looked at from nearer as long as the sides come together, or one of them is missing."""
    seen = [_slope(total, value, at, here, step, rounding)]
    for look in range(1, _LOOKS):
        last = seen[-1]
        if not last.differ:
            return last
        nearer = _slope(total, value, at, here, step / _NEARER ** look, rounding)
        if nearer.noise > max(abs(nearer.middle), abs(last.middle)) / 10:
            break
        if abs(nearer.above - nearer.below) > abs(last.above - last.below) / 2 and not _grows([last, nearer]):
            return nearer._replace(is_kink=True)
        seen.append(nearer)
    if len(seen) == _LOOKS and _grows(seen):
        return seen[-1]._replace(**{side: np.sign(getattr(seen[-1], side)) * np.inf for side in ("below", "above")})
    return seen[-1]


def _grows(seen: Sequence[Slope]) -> bool:
    return all(abs(nearer.middle) > 2 * abs(last.middle) for last, nearer in zip(seen, seen[1:]))


def _slope(total: Callable[[np.ndarray], float], value: np.ndarray, at: int, here: float, step: float,
           rounding: float) -> Slope:
    ends = []
    for sign in (-1.0, 1.0):
        moved = value.copy()
        moved.reshape(-1)[at] += sign * step
        taken = float(moved.reshape(-1)[at]) - float(value.reshape(-1)[at])  # as far as the type could go
        ends.append((total(moved) - here) / taken if taken else float("nan"))
    return Slope(ends[0], ends[1], rounding * max(abs(here), 1e-30) / step)
