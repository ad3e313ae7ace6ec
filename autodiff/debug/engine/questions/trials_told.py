"""What is said of a remedy that was tried: the losses with it, and beside them those without."""
from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.traversal import users_of
from ...analysis.arithmetic_rules import number
from ...analysis.edits.formulas import KEPT_POSITIVE
from ...analysis.edits.in_graph import Edit
from ...facts.roles import PLACEHOLDERS, takes_elements
from ...facts.stats import has_nonfinite
from ...facts.steps import When

ANEW = "fix {} runs it so from its beginning"  # how a remedy of a script that computes its steps itself is applied
NUMBERED = re.compile(r"(?<=\bfix )\d+(?= (?:applies|runs|tries) it)")  # the number that a remedy was told with
_OTHER = 0.01  # relative: a loss that is told beside the old one
FAR_OFF = 0.5  # relative: losses of steps that are told beside the old ones
SLIGHT = 1e-2  # a change of a loss
STEEP = 1e3  # times 1: gradients as large as that are told of, and count against a remedy
DEAD = float("inf")  # in place of gradients that are all 0, which help as little as those that are too large
RISEN = 2.0  # times the loss of the first step: no remedy for what diverges
_QUICK = 0.4  # of a loss: by which a cure takes it down in the steps of a trial
_LITTLE = 0.05  # of a loss: less than that left is no worse than nothing left


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


def hides(edits: Sequence[Edit], tried: Sequence[Any]) -> bool:
    """Whether what is kept in bounds at an op is still below 0 for others, and a remedy that helps keeps it above."""
    made = {edit.op for _, overlay, _ in tried for edit in overlay.edits if edit.words == KEPT_POSITIVE}
    here = {edit.op for edit in edits}
    users = [{*users_of(op)} for op in made if op is not None]
    return all(edit.is_bound for edit in edits) and any(each & here and each - here for each in users)


def noisier(tried: list[Any]) -> list[Any]:
    """Of a matrix that was refused, first the larger ridge as long as it takes the loss down much, as noise does."""
    losses = [remedy.last for remedy, *_ in tried]
    best = next((i for i in range(len(losses)) if all(b > min(a / RISEN, a * RISEN) for a, b in itertools.pairwise(
        losses[i:]))), 0)
    return [*tried[best:best + 1], *tried[:best], *tried[best + 1:]]


def rank(diverges: bool, grown: bool, each: Any) -> tuple[float, ...]:
    """Low for what is told first: what leaves gradients to learn by, is no cure of updates unless these are at fault,
    mends more than where it failed, and changes the other steps least; of a divergence in the order of trial.

    grown: weights that have grown made an overflow, which a bound only hides.
    """
    remedy, overlay, _ = each
    is_steep = remedy.steepest > STEEP and not overlay.is_exact
    hides = all(edit.is_bound for edit in overlay.edits) if grown else overlay.is_late
    mends = overlay.is_exact or any(edit.explains for edit in overlay.edits)
    if diverges:
        return is_steep, remedy.falls <= SLIGHT and not any(edit.explains for edit in overlay.edits)
    both = mends and any(edit.is_exact for edit in overlay.edits) and not overlay.is_exact  # and the data
    return (is_steep, remedy.dead, hides, not mends, not both, round(remedy.change, 4), not overlay.is_exact,
            overlay.words.count("; "))


def by_ends(tried: list[Any]) -> list[Any]:
    """What mends a divergence, by where it led: of cures of the updates, which share a loss, first that which ended
    lowest; last what changes the loss, and takes it down much less than such a cure does, unless it is of the data."""
    found, late = list(tried), [i for i, (remedy, overlay, _) in enumerate(tried) if overlay.is_late and (
        SLIGHT < remedy.falls and remedy.steepest <= STEEP)]
    for i, each in zip(late, sorted((tried[i] for i in late), key=lambda each: -each[0].falls)):
        found[i] = each
    cures = [found[i][0] for i in late if found[i][0].falls > _QUICK]
    slow = [each for each in found if cures and not each[1].is_late and _is_behind(each, cures) and not any(
        edit.op is not None and (edit.op.type in (*PLACEHOLDERS, "Const") or takes_elements(edit.op))
        for edit in each[1].edits)]
    return [*(each for each in found if each not in slow), *slow]


def _is_behind(each: Any, cures: Sequence[Any]) -> bool:
    """Whether a remedy hardly takes the loss down, or leaves much more of it than a cure of the same loss."""
    remedy, overlay, _ = each
    if remedy.falls < _QUICK and not any(edit.explains for edit in overlay.edits):
        return True
    return remedy.falls < 1 - _LITTLE and any(
        1 / RISEN < remedy.began / cure.began < RISEN
        and remedy.began * (1 - remedy.falls) > RISEN * cure.began * (1 - cure.falls)
        for cure in cures if cure.began > 0)
