"""How the parameters of a foreign program went from step to step: never, uphill, or too far, as doctor says it."""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..core.graph import Tensor
from ..debug.analysis.findings import Finding
from ..debug.facts.records import Place
from .steps import ForeignStep

TURNS = 3  # steps after the first from which a habit shows
_UPHILL = 0.5  # cosine of a change and the gradient before it
_ALONG = 0.05  # the same of all parameters together, as the loss rises
_KEPT = 12  # steps
_PUSHES = 0.03  # of a change: what a gradient makes of it, beside the momentum
_NOTHING = 1e-7  # of a parameter: a gradient so small moves nothing
_LOST = 1e-4  # of a parameter: a gradient so small may well be lost in rounding
_NOISE = 10.0  # times the largest of the first losses: what different batches do not explain
_SLIGHT = 0.01  # of a loss: a rise that is none, as where it has come to rest
_RESTS = 1e-3  # of the first loss, below which rises are those of a training that has come to its end
_FAR = 1e3  # times its first value: a loss that has grown so much has diverged


@dataclass
class Turn:
    """One step of one loss. keys: values that may be random keys, by the placeholder they are fed to.

    loss: None until the step has run. shared: names of parameters that another loss has moved, perhaps against it.
    moved: of those that any step before it has changed. begun: the first step that changed anything, and the next.
    """

    step: ForeignStep
    loss: float | None = None
    keys: Mapping[Tensor, np.ndarray] = field(default_factory=dict)
    shared: Collection[str] = ()
    moved: frozenset[str] = frozenset()
    begun: tuple[Turn, ...] = ()


class Use(NamedTuple):
    """The line that uses the gradients, and a clause that names it; in the framework's words what to do instead."""

    place: Place | None
    clause: str
    downhill: str
    update: str = ""


class Course:
    """The last steps of each loss."""

    def __init__(self) -> None:
        self._turns: dict[Any, list[Turn]] = {}

    def note(self, key: Any, turn: Turn, *, shape: Any = None) -> list[Turn]:
        """Keep a step; gives the last steps of the same key, it included, with finite parameters.

        shape: what tells those of one loss apart, as by the sizes of their batches.
        """
        turns = self._turns.setdefault((key, shape), [])
        others = [each[-1].step.gradients for (other, _), each in self._turns.items() if other != key]
        turn.shared = {name for gradients in others for name, g in gradients.items() if g is not None}
        if turns and turns[-1].step.ages != turn.step.ages:
            turns.clear()  # it goes on with another network
        if turns:
            old, new = turns[-1].step.values, turn.step.values
            turn.moved = turns[-1].moved | {name for name in new.keys() & old.keys() - turns[-1].moved
                                            if not np.array_equal(new[name], old[name])}
            turn.begun = turns[-1].begun if len(turns[-1].begun) > 1 else (turns[-1], turn)[:1 + bool(turn.moved)]
        if turns and turns[-1].loss is not None and not np.isfinite(turns[-1].loss):
            turns.pop()  # nothing is told by what comes after the first that is not finite
        turns.append(turn)
        del turns[:-_KEPT]
        return [each for each in turns if all(np.isfinite(v).all() for v in each.step.values.values())] or turns


def _pairs(turns: Sequence[Turn], name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """How a parameter changed after each step but the last, and its gradient in that step."""
    found = []
    for now, later in zip(turns, turns[1:]):
        g = now.step.gradients.get(name)
        if g is not None and np.isfinite(g).all() and np.any(g) and name in later.step.values:
            found.append((later.step.values[name] - now.step.values[name], g))
    return found


def listed(names: Sequence[str]) -> str:
    """The first few of names."""
    return ", ".join(names[:4]) + (" …" if len(names) > 4 else "")


def _same_data(a: Turn, b: Turn) -> bool:
    """Whether two steps were given the same, so that their losses can be compared."""
    return all(tensor in b.step.feeds and np.array_equal(value, b.step.feeds[tensor], equal_nan=value.dtype.kind == "f")
               for tensor, value in a.step.feeds.items())


def not_updated(turns: Sequence[Turn], use: Use, *, some_may: bool = False) -> list[Finding]:
    """Parameters that stay as they are, though they have gradients. some_may: all but some, that is."""
    changes = {name: _pairs(turns, name) for name in turns[-1].step.values}
    still = [name for name, pairs in changes.items() if len(pairs) >= TURNS and name not in turns[-1].moved
             and max(np.abs(g).max() for _, g in pairs) > _LOST * np.abs(turns[-1].step.values[name]).max()]
    if not still or some_may and turns[-1].moved & changes.keys():
        return []
    return [Finding(91, "never updated", still[0], "", still[0],
                    f"{listed(still)} {'get gradients, but are' if len(still) > 1 else 'gets a gradient, but is'} "
                    f"never updated: unchanged in {len(turns)} steps{use.clause}", use.update, f"why {still[0]}",
                    use.place)]


def _pushes(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Whether each gradient adds to the change that came before it, rather than that momentum goes on against it."""
    before, moved, g = (np.concatenate([np.ravel(each).astype(float) for each in column]) for column in zip(
        *((before, moved, g) for (before, _), (moved, g) in zip(pairs, pairs[1:]))))
    directions = np.stack([each / (np.linalg.norm(each) or 1.0) for each in (before, g)], axis=1)
    (_, share), *_ = np.linalg.lstsq(directions, moved, rcond=1e-10)
    return bool(share > _PUSHES * np.linalg.norm(moved))


def uphill(turns: Sequence[Turn], use: Use) -> list[Finding]:
    """Parameters that are moved along their gradients."""
    up = []
    for name in turns[-1].step.values:
        pairs = [(d, g) for d, g in _pairs(turns, name) if np.any(d)] if name not in turns[-1].shared else []
        with np.errstate(all="ignore"):
            cosines = [float(np.sum(d * g) / (np.linalg.norm(d) * np.linalg.norm(g))) for d, g in pairs]
        if len(cosines) >= TURNS and min(cosines) > _UPHILL and _pushes(pairs) and max(
                np.abs(g).max() for _, g in pairs) > _NOTHING * np.abs(turns[-1].step.values[name]).max():
            up.append(name)
    up = up or _all_up(turns)
    if not up:
        return []
    return [Finding(90, "uphill", up[0], "", up[0], f"{listed(up)} {'are' if len(up) > 1 else 'is'} moved along the "
                    f"gradient, not against it, in {len(turns)} steps: the sign of the update is wrong, so the loss "
                    f"rises{use.clause}", use.downhill, "grads", use.place)]


def _all_up(turns: Sequence[Turn]) -> list[str]:
    """All parameters, where the loss rises as each step moves them along their gradients, taken together: of one alone,
    as a table of which a batch moves some rows, momentum and sizes of its own may turn a step aside."""
    losses = [turn.loss for turn in turns if turn.loss is not None]
    third = len(losses) // 3
    names = [name for name in turns[-1].step.values if turns[-1].step.gradients.get(name) is not None]
    first, *each = [[(np.concatenate([np.ravel(d) for d, _ in step]), np.concatenate([np.ravel(g) for _, g in step]))
                     for step in zip(*(_pairs(of, name) for name in names))] for of in (turns[-1].begun, turns)]
    pairs = [(d, g) for d, g in each[0] if np.any(d)]
    speeds = [float(np.linalg.norm(d)) for d, _ in pairs]
    if len(pairs) < 2 * TURNS or not np.median(losses[-third:]) > max(losses[:third]) or speeds[-1] < speeds[0] or not (
            {*turns[-1].shared}.isdisjoint(names)):  # momentum that goes on uphill slows down, and began downhill
        return []
    return names if all(float(d @ g) > _ALONG * float(np.linalg.norm(d) * np.linalg.norm(g)) for d, g in (
        *first, *pairs)) and max(np.abs(g).max() / np.abs(d).max() for d, g in pairs) > _NOTHING else []


def too_far(turns: Sequence[Turn], use: Use) -> list[Finding]:
    """A loss that rises although the steps go downhill."""
    losses = [turn.loss for turn in turns if turn.loss is not None]
    if len(losses) <= 2 * TURNS:
        return []
    rises = [not b <= a for a, b in zip(losses, losses[1:])]
    pairs = [pair for name in turns[-1].step.values for pair in _pairs(turns, name)]
    with np.errstate(all="ignore"):
        downhill = sum(float(np.sum(d * g)) < 0 for d, g in pairs)
    first, last = losses[:len(losses) // 3], losses[-(len(losses) // 3):]
    same = all(map(_same_data, turns, turns[1:]))
    begun = [turn.loss for turn in turns[-1].begun if turn.loss is not None and turn.loss > 0]
    if begun and max(losses) < _RESTS * begun[0]:
        return []
    is_rising = not losses[-1] <= losses[0] + _SLIGHT * abs(losses[0]) and sum(rises) >= len(rises) / 3 and (
        same or not np.median(last) <= max(first) + (_NOISE - 1) * max(map(abs, first)))
    if not is_rising or downhill < len(pairs) / 2:
        return []
    has_diverged = sum(rises) >= len(rises) / 2 and not losses[-1] <= _FAR * abs(losses[0])
    return [Finding(96 if has_diverged else 60, "steps too large", "", "", "", f"the loss rises, from {losses[0]:.3g} "
                    f"to {losses[-1]:.3g} in {len(losses)} steps, though they go downhill: the learning rate is too "
                    f"large{use.clause}", "lower the learning rate, ten times at first", "grads", use.place)]
