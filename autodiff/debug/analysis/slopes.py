"""A rule's slope along a direction beside the one by differences, and what a difference between them looks like."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

_STEPS = (1e-5, 1e-6, 1e-4, 1e-7, 1e-3)  # of the central differences, relative to the numbers moved
RTOL = 1e-5  # truncation and rounding at these steps are below 1e-7 for what counts as smooth
_ROUNDING = 1e-14  # of a sum of many terms in float64
_WIDE_STEPS = (1e-2, 1e-3, 1e-1)
STRAIGHT = "passed straight through: the derivative is zero wherever it exists"


class Slope(NamedTuple):
    """What one direction shows. analytic: by the rule; numeric: by differences; size: what an error is measured by."""

    analytic: float
    numeric: float
    size: float

    @property
    def error(self) -> float:
        return abs(self.analytic - self.numeric) / self.size if self.size else 0.0


def factor_of(dx: np.ndarray, dy: np.ndarray) -> float:
    """What dy is multiplied by in dx; nan if that is not the same number everywhere."""
    factor = float(np.vdot(dy, dx).real / (np.vdot(dy, dy).real or 1.0))
    return factor if np.allclose(dx, factor * dy, rtol=1e-4, atol=1e-6 * float(np.abs(dy).max(initial=0.0))) else np.nan


def meant_by(factors: Sequence[float], count: int) -> str:
    """What a gradient is made of by a function that gives its input on as it is, at all of `count` points: nobody has
    to write the gradient of that, so another one is meant. "" where it is no such function."""
    if not factors or len(factors) < count:
        return ""
    factor = factors[0]
    if not np.allclose(factors, factor, rtol=1e-3):  # nan too: of what is clipped or normalized
        return "it gives its input on, and changes the gradient: that is meant"
    kind = "reversal" if factor < 0 else "scaling" if factor else "reversal or stop"
    return f"a gradient {kind}: it gives its input on, and the gradient times {factor:.4g}"


def guess(slope: Slope) -> str:
    """What kind of mistake it looks like."""
    if slope.numeric == 0 or slope.analytic == 0:
        return "a term or input is missing" if slope.analytic == 0 else "it should be zero"
    ratio = slope.analytic / slope.numeric
    return "the sign is wrong" if abs(ratio + 1) < 1e-4 else f"off by a factor of {ratio:.4g} along this direction"


def slope_along(function: Callable[[Sequence[Any]], list[Any]], point: list[Any], index: int, dx: np.ndarray,
           weights: list[Any], along: np.ndarray, rtol: float) -> Slope | None:
    """Both derivatives along one direction; None where the function is not smooth enough to tell."""
    x = np.asarray(point[index])
    analytic = float(np.sum(np.conj(dx) * along).real)
    size = float(np.sqrt(np.sum(np.abs(dx * along) ** 2)))

    def total(step: float) -> tuple[float, float]:
        moved = [x + step * along if i == index else v for i, v in enumerate(point)]
        terms = [np.conj(w) * y for w, y in zip(weights, function(moved))]
        return float(sum(t.sum().real for t in terms)), float(sum(np.abs(t).sum() for t in terms))

    here, magnitude = total(0.0)
    for step in _STEPS if rtol == RTOL else _WIDE_STEPS:
        (above, _), (below, _) = total(step), total(-step)
        (near_above, _), (near_below, _) = total(step / 2), total(-step / 2)
        coarse, fine = (above - below) / (2 * step), (near_above - near_below) / step
        measure = max(size, abs(fine), abs(analytic))
        noise = _ROUNDING * (1.0 if rtol == RTOL else 5e8) * magnitude / step
        bend = abs(above - 2 * here + below) / step
        bend_near = abs(near_above - 2 * here + near_below) / (step / 2)
        if not np.isfinite(coarse) or not np.isfinite(fine):
            continue
        is_smooth = abs(coarse - fine) <= 1e-6 * measure + noise and (
            bend_near <= 0.7 * bend + noise or bend_near <= 1e-4 * measure)
        if is_smooth and noise <= rtol * measure / 3:
            return Slope(analytic, fine + (fine - coarse) / 3, measure)
        if is_smooth and measure <= noise * 10:
            return Slope(0.0, 0.0, 0.0)  # both are zero as far as can be told
    return None


