"""What is said of a remedy that was tried: the losses with it, and beside them those without."""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...analysis.arithmetic_rules import number
from ...facts.stats import has_nonfinite
from ...facts.steps import When

ANEW = "fix {} runs it so from its beginning"  # how a remedy of a script that computes its steps itself is applied
NUMBERED = re.compile(r"(?<=\bfix )\d+(?= (?:applies|runs) it)")  # the number that a remedy was told with
_OTHER = 0.01  # relative: a loss that is told beside the old one
FAR_OFF = 0.5  # relative: losses of steps that are told beside the old ones
SLIGHT = 1e-2  # a change of a loss
STEEP = 1e3  # times 1: gradients as large as that are told of, and count against a remedy
DEAD = float("inf")  # in place of gradients that are all 0, which help as little as those that are too large


def told(runs: Sequence[When], old: Sequence[Any], new: Sequence[Any], *, change: float, steepest: float) -> str:
    """What the steps give with a remedy. old, new: losses; change: how far they are apart, but the last.

    steepest: the largest element of the last gradients, DEAD if all are 0.
    """
    first, last = runs[0], runs[-1]
    if np.size(new[-1]) != 1:
        text = f"{last} is finite with it"
    elif has_nonfinite(old[-1]) or apart(old[-1], new[-1]) > _OTHER:
        text = f"{last} gives loss {_short(new[-1])} instead of {_short(old[-1])}"
    else:
        text = f"{last} gives loss {_short(new[-1])} and finite gradients"
    if len(runs) > 1:
        text += f"; steps {first.step}-{last.step} replayed with it stay finite"
        text += ", their losses as they were" if change < 1e-6 else _compared(old[:-1], new[:-1], change)
    if steepest == DEAD:
        return f"{text}; all gradients are 0 then"
    return text + (f"; gradients reach {steepest:.1g} then" if steepest > STEEP else "")


def _short(loss: Any) -> str:
    value = np.asarray(loss).reshape(-1)[0].item()
    return f"{value:.4g}" if np.isfinite(value) else number(value)


def _compared(old: Sequence[Any], new: Sequence[Any], change: float) -> str:
    """Losses that are near to what they were, or else both."""
    if change < FAR_OFF or np.size(new[0]) != 1:
        return f", their losses within {100 * change:.3g} %"
    was, now = (f"{min(sizes):.3g} to {max(sizes):.3g}" for sizes in (
        [float(np.reshape(each, ())) for each in losses] for losses in (old, new)))
    return f", their losses {now} instead of {was}"


def apart(old: Any, new: Any) -> float:
    """How far y is from what it was, relative to its size; inf where it was not finite."""
    if has_nonfinite(old):
        return 0.0
    a, b = np.asarray(old, np.float64), np.asarray(new, np.float64)
    return float(np.abs(a - b).max(initial=0.0) / max(np.abs(a).max(initial=0.0), 1e-12))
