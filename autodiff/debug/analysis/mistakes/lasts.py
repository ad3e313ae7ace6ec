"""The last position of sequences, where shorter ones have only padding."""
from __future__ import annotations

import numpy as np

from ....core.graph import Operation
from ..findings import Finding
from .case import Case, finding

_TAKES = ("StridedSlice", "GatherV2")
_LENGTHS, _SHARE = 3, 0.1  # different lengths that are no chance; share of examples that end before


def last_mistakes(case: Case) -> list[Finding]:
    """What a model takes of the last position, where most of what it computed is 0 as the sequences ended before."""
    taken = [op for op in case.behind if case.steps and op.type in _TAKES and op in case.trained
             and op.inputs[0].op in case.trained and op.inputs[0].dims is not None and len(op.inputs[0].dims) == 3
             and op.outputs[0].dims is not None and len(op.outputs[0].dims) == 2]
    case.want(*(t for op in taken for t in (op.inputs[0], op.outputs[0])))
    return [found for op in taken for found in _ended_before(op, case)][:1]


def _ended_before(op: Operation, case: Case) -> list[Finding]:
    """An op that takes the last position, if the examples are 0 there from the ends of their sequences on."""
    lengths = []
    for whole, last in zip(case.series(op.inputs[0]), case.series(op.outputs[0])):
        rows = whole if np.array_equal(whole[:, -1], last) else np.swapaxes(whole, 0, 1)  # of a batch first
        alive = np.any(rows, axis=-1)
        if rows.shape[1] < 2 or not np.array_equal(rows[:, -1], last) or (alive[:, 1:] > alive[:, :-1]).any():
            return []
        lengths.append(alive.sum(axis=1))
    known, longest = np.concatenate(lengths or [np.zeros(0)]), rows.shape[1] if lengths else 0
    short = float((known < longest).mean()) if known.size else 0.0
    if short < _SHARE or len(np.unique(known)) < _LENGTHS:
        return []
    return [finding(70, "last position of padding", op, f"{op.name} takes the last of {longest} positions of "
                    f"{op.inputs[0].name}, where {short:.0%} of the examples are all 0: these sequences ended before "
                    f"(their lengths go from {known.min()} to {known.max()}), so nothing of them is told", "take the "
                    "final state that dynamic_rnn gives too (state.h of an LSTM); or the position length - 1 of each: "
                    "tf.gather_nd(outputs, tf.stack([tf.range(n), lengths - 1], 1))", confidence="certain")]
