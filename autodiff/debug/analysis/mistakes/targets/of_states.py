"""Targets of the state that a step is at, where what follows it is fed, and taken by nothing."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .....core.traversal import past
from ....facts.roles import PLACEHOLDERS, VARIABLES, at_line, place_of
from ...findings import Finding
from ..case import Case, finding, held
from ..heads import SAME

NEXT_UNUSED = "next state not used"


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
