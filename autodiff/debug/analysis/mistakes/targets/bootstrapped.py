"""Bootstrapped targets, of rewards and the best that follows: trained through, never ended, or of the wrong state."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .....core.graph import Operation, Tensor
from .....core.traversal import ancestors, past
from ....facts.roles import PLACEHOLDERS, VARIABLES, at_line, place_of, place_on
from ...findings import Finding
from ...scripts.open_ends import open_end
from ..case import Case, Run, fed_behind, finding, held
from ..heads import SAME, heads, unbroadcast
from .left_open import NEVER_END

_NEAR = 4  # runs before a step, that may have given what its targets are made of
_ROWS, _LATEST = 60, 60  # examples that show how targets are made; training runs that are looked at
_KINDS = 6  # rewards that differ, at most
_SHARE = 0.3  # of pairs of examples, of one reward, whose slope is the discount
_EXACT = 1e-4  # of the size of targets: by which they may miss
_ENDED = 0.005  # of examples, whose target is not made so, as where an episode ended
_BEYOND = 1.2  # times the most that rewards can sum to
NEXT_UNUSED = "next state not used"


class Bootstraps(NamedTuple):
    """How targets were made in all examples looked at: reward + discount * best. best: of what follows, the largest."""

    discount: float
    rewards: tuple[float, ...]
    rows: int
    most: float


def trained_targets(case: Case) -> list[Finding]:
    """A bootstrapped target, of rewards and the best of what the same layers say, that gradients go through."""
    for op in case.behind:
        if op.type not in ("Sub", "SquaredDifference") or not all(t.op in case.trained for t in op.inputs):
            continue
        for target, other in (op.inputs, op.inputs[::-1]):
            best = _bootstrap(unbroadcast(target).op, case)
            if best is None:
                continue
            own = {v.op for v in case.variables} & ancestors([best.inputs[0]])
            both = own & ancestors([other])
            if own:
                name = sorted(v.name for v in both or own)[0]
                makers, fix = (("the same variables make", "put tf.stop_gradient around the target, or compute it by a "
                                "copy of the network") if both else (
                    "variables of its own make", "put tf.stop_gradient around the target, and copy the variables of "
                    "the other network into these from time to time"))
                return [finding(66, "target is trained", target.op, f"{op.name}{at_line(place_of(op))} takes the error "
                                f"of a prediction from the target {unbroadcast(target).name}, which {makers} ({name} "
                                f"…, by way of {best.name}), and the gradient goes through both: the target is pulled "
                                "to the prediction", fix)]
    return []


def _bootstrap(op: Operation, case: Case) -> Operation | None:
    """The maximum in fed + factor * maximum, if gradients go through it."""
    level = [t.op for t in op.inputs if t.op in case.trained] if op.type in ("Add", "AddV2") else []
    for _ in range(5):
        if (best := next(filter(_is_best, level), None)) is not None:
            return best if any(t.op not in case.trained and fed_behind([t]) for t in op.inputs) else None
        level = [t.op for o in level if o.type in ("Mul", "Transpose", *SAME) for t in o.inputs if t.op in case.trained]
    return None


def _is_best(op: Operation) -> bool:
    """Whether it is the largest of its input: by a maximum, or what stands where that is."""
    return op.type == "Max" or op.type in ("GatherV2", "GatherNd") and any(
        o.type == "ArgMax" for o in ancestors([op.inputs[1]]))


def endless_targets(case: Case) -> list[Finding]:
    """Targets that are fed, all of rewards and the best that follows: also where an episode ended nothing ends them."""
    for head in heads(case):
        fed = past(head.labels, SAME).op if head.labels is not None else head.op
        if head.form not in ("squared", "absolute") or fed.type not in PLACEHOLDERS or (
                found := _bootstraps(fed.outputs[0], case)) is None:
            continue
        file = fed.site.file if fed.site is not None else ""
        end, top = open_end(file), max(found.rewards)
        limit = top / (1 - found.discount) if found.discount < 1 and top > 0 else np.inf
        is_beyond = found.most > _BEYOND * limit
        if not is_beyond and end is None:
            continue
        beyond = (f"; targets reach {found.most:.4g}, where rewards of at most {top:.3g} sum to {limit:.3g}"
                  if is_beyond else "")
        unread = (f"; {end.name}{at_line(place_on(file, end.unread))} is taken of what is remembered, as the others "
                  "are, and nothing reads it") if end is not None else ""
        told = finding(78 if is_beyond else 45, NEVER_END, head.op, f"in all {found.rows} examples looked at "
                       f"the target {fed.name} is the reward + {found.discount:.3g} * the best of what follows, of "
                       f"rewards {', '.join(f'{r:.3g}' for r in found.rewards)}: in none it is the reward alone, as "
                       f"after the last action of an episode{beyond}{unread}", "nothing follows the end of an episode: "
                       f"reward + discount * best * (1 - {end.name if end is not None else 'done'})",
                       target=fed.outputs[0].name, confidence="certain" if is_beyond and unread else "probable")
        return [replace(told, place=place_on(file, end.line)) if end is not None else told]
    return []


def _bootstraps(fed: Tensor, case: Case) -> Bootstraps | None:
    """How what is fed was made of what runs before gave; None if it was not, or not in all examples alike."""
    pairs = [pair for run in case.steps[-_LATEST:] if fed in run.feeds for pair in _followed(fed, run, case)]
    best, targets = (np.concatenate(each) for each in zip(*pairs)) if pairs else (np.zeros(0), np.zeros(0))
    if best.size < _ROWS or not (np.isfinite(best).all() and np.isfinite(targets).all()):
        return None
    apart = np.diff(best)
    wide = np.abs(apart) > 0.01 * np.ptp(best)
    slopes = np.round(np.diff(targets)[wide] / apart[wide], 3)
    kinds, counts = np.unique(slopes, return_counts=True)
    near = np.abs(slopes - kinds[np.argmax(counts)]) < 0.0015 if slopes.size else np.zeros(0, bool)
    if not near.any() or near.mean() < _SHARE:
        return None
    discount = float(np.round(np.median((np.diff(targets)[wide] / apart[wide])[near]), 4))
    rewards, exact = targets - discount * best, _EXACT * (1 + float(np.abs(targets).max()))
    found = list[float]()
    for value in np.sort(rewards):
        if not found or value > found[-1] + 4 * exact:
            found.append(float(value))
    common = [r for r in found if np.mean(np.abs(rewards - r) < 4 * exact) > 2 * _ENDED]
    others = sum(np.abs(rewards - r) < 4 * exact for r in common) == 0
    if not 0 < discount <= 1 or not 0 < len(common) <= _KINDS or np.mean(others) > _ENDED:
        return None
    digits = int(-np.log10(exact))
    return Bootstraps(discount, tuple(round(r, digits) + 0.0 for r in common), best.size, float(targets.max()))


def _followed(fed: Tensor, run: Run, case: Case) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The best of each row that a run shortly before gave, and what is fed for the one that was chosen."""
    value, made = np.atleast_1d(np.asarray(run.feeds[fed], float)), list[np.ndarray]()
    near = {each.number: each for each in case.runs if run.number - _NEAR <= each.number < run.number}
    last = max((number for number, each in near.items() if each.trains), default=0)
    for before in [each for number, each in near.items() if number > last]:
        tables = [t for t in before.fetched if t.dtype.is_floating and len(t.dims or ()) == 2]
        known: Any = case.look(before, tables, None, {}) if tables else {}  # type: ignore[arg-type]
        made += [np.asarray(each, float) for each in known.values() if np.ndim(each) == 2 and len(each) == len(value)]
    said = next((each for each in made if each.shape == value.shape and value.shape[-1] > 1 and (
        (each != value).sum(1) <= 1).all()), None) if value.ndim == 2 else None
    if said is not None:
        rows = (said != value).any(1)
        chosen = value[rows, np.argmax((said != value)[rows], 1)]
    elif value.size == len(value):
        rows, chosen = np.ones(len(value), bool), value.ravel()
    else:
        return
    after = [each for each in made if each is not said]
    if len(after) == 1:
        yield after[0].max(1)[rows], chosen


def of_the_same_state(case: Case) -> Iterator[Finding]:
    """A net that the loss does not train, given what one that it trains is, where an array like that is fed in vain."""
    feeds = case.steps[0].feeds if case.steps else {}
    for left, first in feeds.items():
        if left.op.type not in PLACEHOLDERS or left._consumers or np.ndim(first) < 2 or all(
                np.array_equal(first, run.feeds.get(left, first)) for run in case.steps):
            continue
        for state in [t for t, value in feeds.items() if t is not left and np.shape(value) == np.shape(first)
                      and t.dtype is left.dtype]:
            layers = [op for op in case.behind if op.type in ("MatMul", "Conv2D") and past(op.inputs[0], SAME) is state
                      and held(op.inputs[1]).type in VARIABLES]
            learning, others = ([op for op in layers if (held(op.inputs[1]) in case.stepped) == is_so]
                                for is_so in (True, False))
            if learning and others:
                yield finding(62, NEXT_UNUSED, others[0], f"{left.name} is fed other numbers in each of "
                              f"{len(case.steps)} training steps, as many as {state.name}, but no op takes it; "
                              f"{others[0].name}, which {case.y.name} does not train, is given {state.name}, and so is "
                              f"{learning[0].name}{at_line(place_of(learning[0]))}, which it trains: the target is of "
                              "the state that the value is of, not of the next", f"give it {left.op.name} in place of "
                              f"{state.op.name}", target=left.name)
                return
