"""Scores of examples that are summed before the loss of each: all of them get one weight, of what they are together."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .....core.graph import Operation, Tensor
from .....core.traversal import ancestors, descendants, in_order, past
from ....facts.roles import at_line, place_of
from ...findings import Finding
from ..case import Case, fed_behind, finding
from ..heads import SAME, is_learnt, number_in
from .mixed import FEWEST, alone, axis_of, with_loss

_ADDED = ("Add", "AddV2", "Sub", "AddN")
_LINEAR = ("Neg", "Mul", "RealDiv", *_ADDED, *SAME)
_REDUCED = ("Sum", "Mean")
_PAIRED = ("Mul", "Sub", "SquaredDifference", "MatMul", "BatchMatMulV2")
_FAR = (-12.0, -6.0, 6.0, 12.0)  # scores where a loss of right and wrong is level on one side, and steep on the other
_LEVEL = 0.01  # of the steep side
_AGAIN = 3  # times as many rows that come again beside others than beside the same: each is an example


class Early(NamedTuple):
    """One number that a loss takes for the score of an example. sums: the ops that add up those of all to it; end: the
    last op of the call that makes the loss of it, behind which only sums and factors follow."""

    given: Tensor
    end: Operation
    sums: list[Operation]


def early_in(y: Tensor, sums: Iterable[Operation] = ()) -> list[Early]:
    """What y computes, not as a sum or multiple, of a sum over all; of these sums, if some are given."""
    behind = {op for op in ancestors([y]) if op.gradient_of is None}
    found: dict[Tensor, list[Operation]] = {}
    for op in in_order(behind):
        if op.type in _REDUCED and op.inputs[0].dims and op.outputs[0].dims == () and (not sums or op in sums):
            given = _taken(op.outputs[0], behind)
            if given.op is not y.op:
                found.setdefault(given, []).append(op)
    return [Early(given, end, ops) for given, ops in found.items() if (end := _end(y, given, behind)) is not None]


def _taken(tensor: Tensor, behind: set[Operation]) -> Tensor:
    """What a number is a part, or multiple, of, up to where something else is computed of it."""
    while len(takers := {c for c in tensor._consumers if c in behind}) == 1 and (taker := takers.pop()).type in _LINEAR:
        others = [t for t in taker.inputs if t is not tensor]
        if taker.type not in _ADDED and any(number_in(t) is None for t in others) or taker.inputs.count(tensor) > 1:
            break
        tensor = taker.outputs[0]
    return tensor


def _end(y: Tensor, given: Tensor, behind: set[Operation]) -> Operation | None:
    """The last op of what is computed of a number, not as a sum or multiple; None where others than numbers are."""
    after, op = descendants([given]) & behind, y.op
    while op in after and op.type in (*_LINEAR, *_REDUCED) and len(
            onward := [t.op for t in op.inputs if t is given or t.op in after]) == 1:
        op = onward[0]
    while len(takers := {c for c in op.outputs[0]._consumers if c in after}) == 1 and op.span is not None and next(
            iter(takers)).span == op.span:  # of one call
        op = takers.pop()
    return op if op in after and all(o.outputs[0].dims == () for o in after) else None


def reduced_early(case: Case) -> Iterator[Finding]:
    """Sums, or means, over the examples of which a loss of right and wrong is taken, not of each."""
    wrong = [each for each in early_in(case.y) if with_loss(case) and case.trained.issuperset(each.sums)
             and _is_one_sided(each.given, case)]
    is_all = ancestors([case.y], [each.given for each in wrong]).isdisjoint(case.stepped)
    found = [(each, count) for each in wrong if (count := _examples(each, is_all, case))]
    for early, count in found[:1]:
        sums = [op for each, _ in found for op in each.sums]
        op, how = early.sums[0], {"Sum": "sum", "Mean": "mean"}[early.sums[0].type]
        is_of_numbers = any(axis_of_numbers(each) is not None for each in sums)
        then = (f"{how} over the numbers of each example alone, axis=-1" if is_of_numbers else
                f"leave that {how} out") + ", and take the mean of the losses, tf.reduce_mean"
        yield finding(74, "summed before the loss", op, f"{op.name} is the {how} of all {count} examples, of which one "
                      f"number the loss is taken{at_line(place_of(early.end))}: {_told(early, count, case)}", then,
                      target=", ".join(o.outputs[0].name for o in sums), step=with_loss(case)[-1].step,
                      confidence="certain")


def _told(early: Early, count: int, case: Case) -> str:
    """What one weight for all is, and what the examples would have, each by its own score."""
    run = with_loss(case)[-1]
    case.want(early.given, *(op.inputs[0] for op in early.sums))
    known, scores = case.values(run), scores_of(early, case)
    if early.given not in known or scores is None or not np.isfinite(scores).all():
        return "whatever the score of one example is, it gets the weight of all"
    total = float(known[early.given])
    least, most, both = (abs(_slope(early.given, at, case)) for at in (float(scores.min()), float(scores.max()), total))
    return (f"each example gets the same weight in the gradient, {both:.2g} at step {run.step}, of the score "
            f"{total:.3g}, where by their own scores, {scores.min():.3g} to {scores.max():.3g}, they would get "
            f"{least:.2g} to {most:.2g}")


def scores_of(early: Early, case: Case) -> np.ndarray | None:
    """What each example adds to the number in the last step, without what it is added to; None where they differ."""
    known, parts = case.values(with_loss(case)[-1]), list[Any]()
    for op in early.sums:
        value, axis = known.get(op.inputs[0]), axis_of_numbers(op)
        if value is None:
            return None
        reduce = np.sum if op.type == "Sum" else np.mean
        scores = np.asarray(value) if axis is None else reduce(value, axis=axis)
        parts.append(_sign(op.outputs[0], early.given) * scores)
    return sum(parts[1:], parts[0]) if len({part.shape for part in parts}) == 1 else None


def _sign(tensor: Tensor, given: Tensor) -> float:
    """What a number is multiplied by on its way into another, of which it is a part."""
    factor = 1.0
    while tensor is not given:
        taker = next(c for c in tensor._consumers if c.type in _LINEAR and given.op in {c, *descendants(c.outputs)})
        others = [number_in(t) or 1.0 for t in taker.inputs if t is not tensor]
        factor *= (-1.0 if taker.type == "Neg" or taker.type == "Sub" and taker.inputs[1] is tensor else
                   others[0] if taker.type == "Mul" else 1 / others[0] if taker.type == "RealDiv" else 1.0)
        tensor = taker.outputs[0]
    return factor


def axis_of_numbers(op: Operation) -> int | None:
    """The axis along which products, or distances, of one example's numbers lie, -1; None where each is a score."""
    source = past(op.inputs[0], ("Identity",)).op
    is_distance = source.type in ("Square", "Abs", "Pow") and source.inputs[0].op.type == "Sub"
    both = source.inputs[0].op.inputs if is_distance else source.inputs
    is_product = source.type in ("Mul", "SquaredDifference") and all(is_learnt(t) for t in both)
    return -1 if (is_product or is_distance) and len(op.inputs[0].dims or ()) > 1 else None


def _at(given: Tensor, score: float, case: Case) -> float:
    run, dtype = with_loss(case)[-1], given.dtype.base_dtype.as_numpy_dtype
    found = case.with_variables(run, case.y, run.before, {given: np.asarray(score, dtype)})
    return float("nan") if found is None else found


def _slope(given: Tensor, score: float, case: Case) -> float:
    return (_at(given, score + 0.1, case) - _at(given, score - 0.1, case)) / 0.2


def _is_one_sided(given: Tensor, case: Case) -> bool:
    """Whether y is level for scores that are right, and falls evenly towards them: as a log-sigmoid, or a hinge."""
    with np.errstate(all="ignore"):
        a, b, c, d = (_at(given, score, case) for score in _FAR)
    flat, steep = sorted((abs(b - a), abs(d - c)))
    return bool(np.isfinite([a, b, c, d]).all()) and flat <= _LEVEL * steep > 0


def _examples(early: Early, is_all: bool, case: Case) -> int:
    """How many examples a number is the sum of, each with a score that no other changes, and of its own: paired, with
    its label, or among others each time. 0 for none.

    is_all: nothing else trains, as beside a penalty of what is so on average."""
    run, wanted = with_loss(case)[-1], [op.inputs[0] for op in early.sums]
    known = case.look(run, wanted, run.before, {})
    if any(t not in known for t in wanted):
        return 0
    for count in dict.fromkeys(n for n in np.shape(known[wanted[0]]) if n >= FEWEST):
        probes = [*alone(wanted, [case.y], count, run, case)]
        if len(probes) < 2 or any(axis_of(t, probes, count) is None for t in wanted) or _is_labelled_once(
                early, count, case):
            continue
        if any(_pairs(op) or _is_labelled(op, case) for op in early.sums) or is_all and _is_dealt_anew(count, case):
            return count
    return 0


def _is_labelled_once(early: Early, count: int, case: Case) -> bool:
    """Whether what is fed beside the sum is not of each example, as the label of a bag of them."""
    after = (descendants([early.given]) | {early.given.op}) & {early.end, *ancestors(early.end.inputs)}
    beside = [t for op in after for t in op.inputs if t.op not in case.trained]
    return any(count not in np.shape(with_loss(case)[-1].feeds.get(op.outputs[0], ())) for op in fed_behind(beside))


def _pairs(total: Operation) -> bool:
    """Whether what is summed is of pairs: of two that are learnt, of what is fed for each."""
    pairs = [op.inputs[:2] for op in ancestors(total.inputs[:1])
             if op.type in _PAIRED and all(map(is_learnt, op.inputs))]
    return any(all(fed := [fed_behind([t]) for t in both]) and fed[0] != fed[-1] for both in pairs)


def _is_labelled(total: Operation, case: Case) -> bool:
    """Whether what is summed has a sign for each example, which is no other's."""
    labels = [t for op in ancestors(total.inputs[:1]) if op.type == "Mul" and op in case.trained for t in op.inputs
              if t.op not in case.trained and fed_behind([t])]
    return any({*np.ravel(value).tolist()} == {-1.0, 1.0} for t in labels for value in case.series(t)[:1])


def _is_dealt_anew(count: int, case: Case) -> bool:
    """Whether rows of what is fed come again in other steps, beside others than before."""
    beside, others, same = dict[bytes, bytes](), 0, 0
    for run in case.looked:
        now = dict[bytes, bytes]()
        for value in (np.asarray(v) for t, v in run.feeds.items() if t.op in fed_behind([case.y])):
            if value.ndim > 1 and len(value) == count and value.dtype.kind == "f" and (value % 1).any():
                rows = [row.tobytes() for row in value]
                now.update(zip(rows, rows[1:]))
        again = [beside[row] == other for row, other in now.items() if row in beside]
        same, others = same + sum(again), others + len(again) - sum(again)
        beside.update(now)
    return others >= _AGAIN * max(same, 1)
