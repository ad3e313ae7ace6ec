"""Habits of JAX programs that no graph shows: updates that are missing, uphill or too large, random keys that stay the
same, indices outside of their array, which JAX moves inside without a word."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax._src.source_info_util import is_user_filename
from jax.experimental import checkify

from ...core.graph import Tensor
from ...core.site import PACKAGE, Site
from ...core.traversal import ancestors, descendants
from ...debug.analysis.findings import Finding
from ...debug.facts.records import Place
from ...debug.facts.roles import as_place, at_line, place_of
from ..script_lines import lines_of_use
from ..steps import ForeignStep

_TURNS = 3  # steps after the first from which a habit shows
_UPHILL = 0.5  # cosine of a change and the gradient before it
_KEPT = 12  # steps
_LINES = 5  # that a finding names


@dataclass
class Turn:
    """One step of one gradient function. keys: values that may be random keys, by the placeholder they are fed to.

    loss: nan until the step has run.
    """

    step: ForeignStep
    keys: Mapping[Tensor, np.ndarray]
    loss: float = float("nan")


class Habits:
    """What the steps of a script have in common."""

    def __init__(self) -> None:
        self._turns: dict[Any, list[Turn]] = {}

    def note(self, step: ForeignStep, sites: Sequence[Site], checked: Callable[[], Any],
             ) -> tuple[Turn, Iterable[Finding]]:
        """Keep a step; gives what is wrong, looked for when it is asked for. sites: the lines that asked for the step.

        checked: runs the function with every index checked, as jax.experimental.checkify does.
        """
        keys = {t: v for t, v in step.feeds.items() if v.dtype in (np.uint32, np.uint64)}
        turns = self._turns.setdefault((step.loss, sites[:1]), [])
        turns.append(Turn(step, keys))
        del turns[:-_KEPT]
        return turns[-1], _Later(lambda: [*_not_updated(turns, sites), *_uphill(turns, sites), *_too_far(turns, sites),
                                          *_same_key(turns, sites), *_outside(checked)])


class _Later:
    """Findings that are looked for when somebody goes over them."""

    def __init__(self, find: Callable[[], list[Finding]]) -> None:
        self._find = find

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._find())


def _pairs(turns: Sequence[Turn], name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """How a parameter changed after each step but the last, and its gradient in that step."""
    found = []
    for now, later in zip(turns, turns[1:]):
        g = now.step.gradients.get(name)
        if g is not None and np.isfinite(g).all() and np.any(g):
            found.append((later.step.values[name] - now.step.values[name], g))
    return found


def _not_updated(turns: Sequence[Turn], sites: Sequence[Site]) -> list[Finding]:
    changes = {name: _pairs(turns, name) for name in turns[-1].step.values}
    still = [name for name, pairs in changes.items() if len(pairs) >= _TURNS and not any(np.any(d) for d, _ in pairs)]
    if not still:
        return []
    listed = ", ".join(still[:4]) + (" …" if len(still) > 4 else "")
    place, where = _used_at(sites)
    return [Finding(91, "never updated", still[0], "", still[0],
                    f"{listed} {'get gradients, but are' if len(still) > 1 else 'gets a gradient, but is'} never "
                    f"updated: unchanged in {len(turns)} steps{where}",
                    "update every parameter with its gradient: jax.tree.map(lambda p, g: p - rate * g, params, grads), "
                    "and give the result to the next step", f"why {still[0]}", place)]


def _uphill(turns: Sequence[Turn], sites: Sequence[Site]) -> list[Finding]:
    up = []
    for name in turns[-1].step.values:
        pairs = [(d, g) for d, g in _pairs(turns, name) if np.any(d)]
        cosines = [float(np.sum(d * g) / (np.linalg.norm(d) * np.linalg.norm(g))) for d, g in pairs]
        if len(cosines) >= _TURNS and min(cosines) > _UPHILL:
            up.append(name)
    if not up:
        return []
    listed = ", ".join(up[:4]) + (" …" if len(up) > 4 else "")
    place, where = _used_at(sites)
    return [Finding(90, "uphill", up[0], "", up[0], f"{listed} is moved along the gradient, not against it, in "
                    f"{len(turns)} steps: the sign of the update is wrong, so the loss rises{where}",
                    "subtract the gradient: p - rate * g", "grads", place)]


def _too_far(turns: Sequence[Turn], sites: Sequence[Site]) -> list[Finding]:
    """A loss that rises although the steps go downhill."""
    losses = [turn.loss for turn in turns]
    rises = [b > a for a, b in zip(losses, losses[1:])]
    pairs = [pair for name in turns[-1].step.values for pair in _pairs(turns, name)]
    downhill = sum(float(np.sum(d * g)) < 0 for d, g in pairs)
    is_rising = len(rises) >= 2 * _TURNS and losses[-1] > losses[0] and sum(rises) >= len(rises) / 3
    if not is_rising or downhill < len(pairs) / 2:
        return []
    place, where = _used_at(sites)
    return [Finding(60, "steps too large", "", "", "", f"the loss rises, from {losses[0]:.3g} to {losses[-1]:.3g} in "
                    f"{len(turns)} steps, though they go downhill: the learning rate is too large{where}",
                    "lower the learning rate, ten times at first", "grads", place)]


def _used_at(sites: Sequence[Site]) -> tuple[Place | None, str]:
    """The line that first uses the gradients, and a clause that names it with those that follow."""
    used = lines_of_use(sites)
    if not used:
        return (as_place(sites[0]) if sites else None), ""
    return as_place(used[0]), "; the gradients are used at " + ", ".join(map(str, used[:_LINES]))


def _same_key(turns: Sequence[Turn], sites: Sequence[Site]) -> list[Finding]:
    if len(turns) <= _TURNS:
        return []
    loss = turns[-1].step.loss
    above = ancestors([loss])
    drawn = [op for op in above if op.type == "Threefry2x32"]
    feeds = turns[-1].step.feeds
    moving = {t for t in feeds if any(not np.array_equal(turn.step.feeds[t], feeds[t]) for turn in turns)}
    fresh = descendants(list(moving)) if moving else set()
    same = sorted((op for op in drawn if op not in fresh), key=lambda op: -op.index)
    if not same:
        return []
    places = list(dict.fromkeys(p for op in same if (p := place_of(op)) is not None))
    names = sorted({t.op.name for t in turns[-1].keys if set(same) & descendants([t])})
    key = " and ".join(names) or "made in it"
    return [Finding(58, "same random key", same[0].name, same[0].type, "",
                    f"each of {len(turns)} steps draws the same random numbers{''.join(map(at_line, places[:3]))}: the "
                    f"key {key} never changes, where the step is asked for{''.join(f' at {s}' for s in sites[:1])}",
                    "split the key in each step, key, sub = jax.random.split(key), and draw with sub", "doctor",
                    places[0] if places else None)]


def _outside(checked: Callable[[], Any]) -> list[Finding]:
    error = checked()
    if error is None:
        return []
    lines = re.findall(r"^(.*):(\d+) \((.*)\)$", str(error.traceback_info), re.MULTILINE)
    users = [Site(file, int(line), name) for file, line, name in lines
             if is_user_filename(file) and not file.startswith(PACKAGE)]
    said = str(error).partition("\n")[0].strip().rstrip(".")
    return [Finding(75, "index outside", "", "", "", f"{said}: JAX moves such an index inside, or fills with nan, "
                    "without an error", "count from 0 to size - 1; jax.experimental.checkify with index_checks finds "
                    "them", "doctor", as_place(users[0]) if users else None)]


def check_indices(function: Callable[..., Any], values: Sequence[Any]) -> Any:
    """The exception of the first index outside of its array when function(*values) runs; None if all are inside."""
    try:
        with jax.disable_jit(False):
            error, _ = checkify.checkify(function, errors=checkify.index_checks)(*values)
    except (NotImplementedError, jax.errors.JAXTypeError):  # what checkify cannot follow it does not judge
        return None
    return error.get_exception()
