"""Pairs: embeddings of several examples that are compared by distance, which are to share weights, and what is near."""
from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors
from ...facts.roles import at_line, place_of, traceback_of
from ..findings import Finding
from .case import Case, fed_behind, finding
from .heads import SAME
from .signs import HINGES, signs_into

_STEPS = 8  # in all of which two are fed the same by no chance
_SHARED = 0.1  # of the examples, which are fed to both towers: they are of one kind
_COLLAPSED = 0.8  # of the loss of embeddings that are all the same: better than that nothing has become
_TURNED, _SURE = 0.6, 200  # share of pairs that are the wrong way round, and how many show it


class Pair(NamedTuple):
    """A difference of two embeddings, and what was fed for each: that of other examples."""

    op: Operation
    fed: tuple[Tensor, Tensor]


def pair_mistakes(case: Case) -> list[Finding]:
    """Findings about distances between embeddings of examples that are fed beside each other."""
    pairs = [pair for op in case.behind if op.type in ("Sub", "SquaredDifference") and op in case.trained
             and (pair := _pair(op, case)) is not None] if case.steps else []
    return [*_apart(pairs, case), *_turned(pairs, case), *_with_itself(case)]


def _with_itself(case: Case) -> list[Finding]:
    """Two placeholders that all training steps feed the same numbers, and other runs different ones."""
    others = [run for run in case.runs if not run.trains]
    drawn = case.graph.extras.get("drawn", ())
    fed = [t for t, v in case.steps[0].feeds.items() if np.ndim(v) and t.op in case.behind] if len(
        case.steps) >= _STEPS and not any(op in drawn or op.type.startswith("Random") for op in case.behind) else []
    for first, last in ((a, b) for i, a in enumerate(fed) for b in fed[i + 1:] if a.dtype is b.dtype):
        known = [(run.feeds.get(first, 0), run.feeds.get(last, 1)) for run in (*case.steps, *others)]
        same = [np.array_equal(*pair) for pair in known]
        if all(same[:len(case.steps)]) and np.ptp(known[0][0]) and any(
                not each and np.shape(a) == np.shape(b) != () for each, (a, b) in zip(same, known)):
            at = next(iter(last._consumers), last.op)
            return [finding(65, "pairs with themselves", at, f"{first.name} and {last.name} are fed the same numbers "
                            f"in all {len(case.steps)} training steps, and different ones in other runs: each example "
                            "is paired with itself", f"feed {last.name} what belongs to {first.name}", target=last.name,
                            confidence="certain")]
    return []


def _pair(op: Operation, case: Case) -> Pair | None:
    if any(t.op not in case.trained or len(t.dims or ()) < 2 for t in op.inputs):
        return None
    given = [_given(t, case) for t in op.inputs]
    left, right = (next(iter(each), None) for each in given)
    if left is None or right is None or left is right or [len(each) for each in given] != [1, 1]:
        return None
    case.want(left, right)
    return Pair(op, (left, right)) if left.dims and right.dims and left.dims[1:] == right.dims[1:] else None


def _given(tensor: Tensor, case: Case) -> set[Tensor]:
    """The data that an embedding is computed of."""
    return {t for op in ancestors([tensor]) & case.trained for t in op.inputs
            if t.op not in case.trained and len(t.dims or ()) > 1 and fed_behind([t])}


def _apart(pairs: list[Pair], case: Case) -> list[Finding]:
    """Towers of the same layers and no common weights, for examples that are drawn from the same ones."""
    updated = {u.variable.op for u in case.updates}
    for op, fed in pairs:
        towers = [case.variables_behind(t) for t in op.inputs]
        layers = [sorted(str(v.attrs["shape"]) for v in tower) for tower in towers]
        if towers[0] & towers[1] or layers[0] != layers[1] or not layers[0] or (
                updated and not set.union(*towers) <= updated):
            continue
        rows = [{row.tobytes() for batch in case.series(t) for row in batch} for t in fed]
        if len(rows[0] & rows[1]) > _SHARED * len(rows[0]):
            ours, its = (max(tower, key=lambda v: (len(v.attrs["shape"]), -v.index)) for tower in towers)
            lines = zip(traceback_of(its)[::-1], traceback_of(ours)[::-1])  # the call that made the second one
            said = finding(47 if case.learns else 64, "towers do not share", its, f"{op.name}{at_line(place_of(op))} "
                           f"compares what two towers of the same layers make of {fed[0].name} and {fed[1].name}, but "
                           f"they have weights of their own ({ours.name}, {its.name}), though the same examples go "
                           "into both: an example is not even near to itself", "make both by one layer, or in "
                           "one variable scope that is reused", target=f"{its.name}:0")
            return [replace(said, place=next((line for line, other in lines if line != other), said.place))]
    return []


def _turned(pairs: list[Pair], case: Case) -> list[Finding]:
    """Examples that are pulled together though they are further apart than those that are pushed apart."""
    signs = {pair: _sign(pair.op, case) for pair in pairs} if len(pairs) > 1 else {}
    near, far = (next((pair for pair, sign in signs.items() if sign == way), None) for way in (1, -1))
    if near is None or far is None or not set(near.fed) & set(far.fed):
        return []
    gaps = [_distances(pair, case) for pair in (near, far)]
    share = float(np.mean(gaps[0] > gaps[1]))
    nothing = case.with_variables(case.steps[-1], case.y, {v.op.name: np.zeros_like(
        case.steps[-1].before[v.op.name]) for v in case.variables if v.op.name in case.steps[-1].before})
    if len(gaps[0]) < _SURE or share < _TURNED or nothing is None or not case.last_loss > _COLLAPSED * nothing:
        return []
    less = next((o for o in case.behind if o.type == "Sub" and o is not near.op and o is not far.op and all(
        pair.op in ancestors([t]) for pair, t in zip((near, far), o.inputs))), near.op)
    names = [" and ".join(t.name for t in pair.fed) for pair in (near, far)]
    return [finding(74, "distances turned", less, f"{case.y.name} grows with the distance of {names[0]} and falls with "
                    f"that of {names[1]}, but in {share:.0%} of {len(gaps[0])} examples {names[0]} are further apart "
                    f"than {names[1]}: what belongs together is pushed apart; the loss ends at "
                    f"{case.last_loss:.4g}, and embeddings that are all the same have {nothing:.4g}", "the distance "
                    "to the positive less that to the negative: tf.maximum(d_pos - d_neg + margin, 0.0)")]


def _sign(op: Operation, case: Case) -> int:
    """With which sign the size of a difference goes into y; 0 where that cannot be told."""
    tensor = op.outputs[0]
    while op.type != "Sum" and (takers := [c for c in tensor._consumers if c in case.behind]) and (
            len({*takers}) == 1 and takers[0].type in ("Square", "Mul", "Abs", "Add", "AddV2", "Pow", "Sum", *SAME)):
        op, tensor = takers[0], takers[0].outputs[0]
    found = {sign for sign, _ in signs_into(tensor, case.y, case.behind, growing=HINGES)} if op.type == "Sum" else set()
    return found.pop() if len(found) == 1 else 0


def _distances(pair: Pair, case: Case) -> np.ndarray:
    gaps = [np.subtract(left, right, dtype=np.float64) for left, right in zip(*map(case.series, pair.fed))]
    return np.concatenate([np.linalg.norm(gap.reshape(len(gap), -1), axis=1) for gap in gaps])
