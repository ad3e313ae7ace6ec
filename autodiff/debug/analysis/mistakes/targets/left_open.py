"""Targets in the graph of a reward and a part of what a network says of the next state, also after the last one."""
from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

import numpy as np

from .....core.graph import Operation, Tensor
from .....core.traversal import ancestors, in_order, past, reached
from ....facts.roles import LAYERS, PLACEHOLDERS, VARIABLES, at_line, place_of
from ...advice import advice_of
from ...findings import Finding
from ..case import Case, finding, values_behind
from ..heads import SAME, is_learnt, number_in

_KEPT = (*SAME, "StopGradient")
_CHOICES = ("GatherV2", "GatherNd", "ArgMax")  # their first inputs alone are values
_SUMS = ("Add", "AddV2")
_PAST = 1.05  # times the largest sum of rewards, above which what is said of a state is too much
_GROWN = 2.0  # times the first loss
_OFTEN = 0.5  # share of rows that end, above which a flag is none of ends
NEVER_END = "targets never end"


class Bootstrap(NamedTuple):
    """reward + discount * following, which what a network says is compared with. made: the sum; product: the other."""

    made: Operation
    product: Operation
    reward: Tensor
    following: Tensor
    discount: float
    said: Tensor


def bootstraps_of(y: Tensor) -> list[Bootstrap]:
    """Those behind a loss."""
    behind, found = ancestors([y]), []
    for op in in_order(behind):
        if op.type not in _SUMS or op.gradient_of is not None:
            continue
        for reward, other in permutations(op.inputs):
            product = past(other, _KEPT).op
            numbers = [number_in(t) for t in product.inputs] if product.type == "Mul" else []
            if numbers.count(None) != 1 or not 0 < sum(filter(None, numbers)) < 1:
                continue
            following = product.inputs[numbers.index(None)]
            if _is_said(following) and not _is_said(reward) and _is_given(reward) and (
                    said := _compared_with(op, behind)) is not None:
                found.append(Bootstrap(op, product, reward, following, sum(filter(None, numbers)), said))
    return found


def _is_said(tensor: Tensor) -> bool:
    """Whether a network makes it, also one whose weights are fed."""
    return any(op.type in (*VARIABLES, *LAYERS) for op in ancestors([tensor]))


def _is_given(tensor: Tensor) -> bool:
    return bool(tensor.dims) and any(op.type in PLACEHOLDERS for op in values_behind([tensor]))


def _compared_with(made: Operation, behind: set[Operation]) -> Tensor | None:
    """What a network says that a target is subtracted from, or the other way round."""
    for op in behind:
        if op.type in ("Sub", "SquaredDifference") and op.gradient_of is None:
            for mine, other in permutations(op.inputs):
                if past(mine, _KEPT).op is made and made not in ancestors([other]) and is_learnt(other):
                    return other
    return None


def ends_left_out(case: Case) -> Iterator[Finding]:
    """A target that goes on past the end of an episode, though the script has told where that is."""
    flags = {text: flag for text, flag in advice_of(case.graph).flags.items() if 0 < flag.ones <= _OFTEN * flag.rows}
    for each in bootstraps_of(case.y) if flags and case.looked else ():
        rows = each.reward.dims or ()
        if any(_may_be_mask(case, t) for t in _let_in(each.following) if (t.dims or ())[:1] == rows[:1]):
            continue
        text, flag = max(flags.items(), key=lambda each: bool(each[1].kept))
        told, is_past = _beyond(each, case)
        if text.startswith("_") and not is_past:
            return  # what is not wanted on purpose, as where an episode ends by the clock alone
        grown = case.first_loss > 0 and case.last_loss > _GROWN * case.first_loss
        went = f"; the loss went from {case.first_loss:.4g} to {case.last_loss:.4g}" if grown else ""
        where, kept = at_line(place_of(each.product)), flag.kept or f"1 - {text}"
        yield finding(86 if is_past else 58, NEVER_END, each.product, f"the target is a reward and {each.discount:.4g} "
                      f"times what the network says of the next state{where}, also after the last: {text} is 1 "
                      f"in {flag.ones} of {flag.rows} rows, and nothing uses it, so that what never comes counts as "
                      f"well{told}{went}", f"nothing follows an end: multiply what follows by {kept}",
                      target=each.made.outputs[0].name, confidence="certain" if is_past else "probable", written=kept)
        return


def _let_in(tensor: Tensor) -> list[Tensor]:
    """What is fed and goes into a tensor other than through a layer, or as the number of what is chosen."""
    return [op.outputs[0] for op in reached([tensor.op], lambda op: [] if op.type in LAYERS else [t.op for t in (
        op.inputs[:1] if op.type in _CHOICES else op.inputs)]) if op.type in PLACEHOLDERS]


def _may_be_mask(case: Case, given: Tensor) -> bool:
    """Whether what is fed has no more than two values, as what is left out and what is kept."""
    return any(len(np.unique(value)) <= 2 for value in case.series(given))


def _beyond(each: Bootstrap, case: Case) -> tuple[str, bool]:
    """That what is said of states is more than all rewards to come can be, or less, in words; and whether it is."""
    rewards = [v for v in case.series(each.reward) if v.size]
    said = [v for v in case.series(each.said) if v.size]
    if not rewards or not said:
        return "", False
    most, least = (value / (1 - each.discount) for value in _ends_of(rewards))
    high, low = _ends_of(said)
    for value, bound, word in ((high, most, "above"), (-low, -least, "below")):
        if bound > 0 and value > _PAST * bound:
            sign = 1 if word == "above" else -1
            return (f"; it says up to {sign * value:.4g}, though no sum of rewards is {word} {sign * bound:.4g}, "
                    f"{sign * bound * (1 - each.discount):.3g} / (1 - {each.discount:.4g})"), True
    return "", False


def _ends_of(arrays: list[np.ndarray]) -> tuple[float, float]:
    """The largest and the smallest number."""
    return max(float(v.max()) for v in arrays), min(float(v.min()) for v in arrays)
