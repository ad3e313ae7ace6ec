"""Two losses that train in turn: adversaries that help each other, a critic that the actor's loss moves."""
from __future__ import annotations

from collections import defaultdict

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, descendants
from ...facts.roles import at_line, place_of
from ..findings import Finding
from .case import Case, Run, finding
from .heads import DATA, Head, constant, heads
from .stepping import Update

_PAIRS = 6  # steps of the one loss after which the other is looked at
_LEAST = 4
_FELL = 1e-6  # of its size: by which a loss is lower


def by_loss(case: Case) -> dict[Tensor, list[Update]]:
    """The updates of each loss that is minimized."""
    found: dict[Tensor, list[Update]] = defaultdict(list)
    for update in case.updates:
        if update.y is not None:
            found[update.y].append(update)
    return found


def adversary_mistakes(case: Case) -> list[Finding]:
    """Findings about losses that are trained beside each other."""
    losses = by_loss(case)
    told_the_same = [found for y in losses for found in _same_labels(case, y, losses[y])]
    return told_the_same[:1] or [found for y in losses for other in losses if y is not other
            for found in (*_helps(case, y, other, losses), *_leaks(case, y, other, losses))][:1]


def _same_labels(case: Case, y: Tensor, updates: list[Update]) -> list[Finding]:
    """A critic that is to say the same of what is real and of what is made."""
    mine = {u.variable.op for u in updates}
    judged = [(head, value) for head in heads(case.about(y)) if head.form in ("sigmoid", "log")
              and (value := _told(head, case)) is not None]
    labels = {value for _, value in judged}
    said = sorted((head.prediction for head, _ in judged), key=lambda t: len(ancestors([t])))  # what is made, last
    data = [_data_of(t) for t in said]
    if len(said) < 2 or len(labels) != 1 or not set.intersection(*(mine & ancestors([t]) for t in said)) or not any(
            a - b for a in data for b in data):
        return []
    return [finding(82, "critic told the same of both", y.op, f"{y.name} trains {next(iter(mine)).name} to say "
                    f"{labels.pop():g} of {said[0].name} and of {said[-1].name} alike, though "
                    "they come from different data: there is nothing to tell apart, and the loss goes to 0 by saying "
                    "that to everything", "labels of zeros for what is generated: "
                    f"tf.zeros_like({said[-1].op.name})", confidence="certain")]


def _told(head: Head, case: Case) -> float | None:
    """The one number that all labels of all steps looked at are; None for others."""
    if head.labels is None or head.labels.op in case.trained:
        return None
    value = constant(head.labels)
    known = np.concatenate([np.ravel(v) for v in ([value] if value is not None else case.series(head.labels))]
                           or [np.zeros(0)]).astype(float)
    return float(known[0]) if known.size and not np.ptp(known) else None


def _helps(case: Case, y: Tensor, other: Tensor, losses: dict[Tensor, list[Update]]) -> list[Finding]:
    """A generator whose steps lower the loss of its critic too: both are after the same."""
    mine, theirs = ({u.variable for u in losses[each]} for each in (y, other))
    data = _data_of(other) - _data_of(y)
    tower = descendants([t for op in data for t in op.outputs]) & ancestors([other])
    if mine & theirs or not data or not {v.op for v in mine} <= ancestors([other]) or not any(
            v in op.inputs or any(t.op.inputs[:1] == (v,) for t in op.inputs) for v in theirs for op in tower):
        return []
    if any(head.labels is not None and constant(head.labels) is None for head in heads(case.about(other))):
        return []  # a critic of returns, which is to be right: it is nobody's adversary
    steps = [run for run in case.runs if run.trains and any(u.op in run.ran for u in losses[y])][:_PAIRS]
    judged = [run for run in case.runs if any(u.op in run.ran for u in losses[other])]
    fell = [change for run in steps if judged and (change := _change(case, run, judged, other, mine)) is not None]
    if len(fell) < _LEAST or not all(change < -_FELL for change in fell):
        return []
    return [finding(77, "adversaries agree", y.op, f"each step of {y.name}{at_line(place_of(y.op))} lowers {other.name}"
                    f"{at_line(place_of(other.op))} too ({len(fell)} of {len(fell)} looked at), the loss of the critic "
                    f"that {next(iter(mine)).name} and {len(mine) - 1} others should deceive: the generator is trained "
                    "to be found out", f"turn {y.name}: labels of ones for what is generated (tf.ones_like), or the "
                    "other sign")]


def _data_of(y: Tensor) -> set[Operation]:
    return {op for op in ancestors([y]) if op.type in DATA}


def _change(case: Case, run: Run, judged: list[Run], other: Tensor, moved: set[Tensor]) -> float | None:
    """By how much of its size another loss changes with the step of a run."""
    at = min(judged, key=lambda each: abs(each.number - run.number))
    names = [v.op.name for v in moved if v.op.name in run.before and v.op.name in at.before]
    with_step = {**at.before, **{n: (at.before[n] + np.subtract(run.after[n], run.before[n])).astype(
        np.asarray(at.before[n]).dtype) for n in names}}
    first, then = (case.with_variables(at, other, values) for values in (at.before, with_step))
    return None if first is None or then is None or not np.isfinite(first - then) else (then - first) / (
        abs(first) + 1e-12)


def _leaks(case: Case, y: Tensor, other: Tensor, losses: dict[Tensor, list[Update]]) -> list[Finding]:
    """A loss that trains all that another, a critic's, does, as the critic's error goes into it."""
    mine, theirs = ({u.variable for u in losses[each]} for each in (y, other))
    if not theirs < mine or other.op in ancestors([y]):
        return []
    behind = ancestors([y])
    critic = next((head for head in heads(case.about(other)) if head.form in ("squared", "absolute")
                   and head.prediction.op in behind), None)
    if critic is None or {v for v in case.variables if v.op in ancestors([other])} - theirs:
        return []
    return [finding(66, "two losses train the same", y.op, f"{y.name} trains {next(iter(theirs)).name} and all "
                    f"{len(theirs)} variables of {other.name}{at_line(place_of(other.op))} too: the prediction "
                    f"{critic.prediction.name} goes into it, and the gradient through it, so that the critic is moved "
                    "to make this loss small, not to be right", "put tf.stop_gradient around what comes from the "
                    "critic, or give minimize var_list=the actor's variables", target=next(iter(theirs)).name)]
