"""What updates do in a Case: their learning rate, the gradients they are given, and where they are written."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.indexed_slices import IndexedSlices
from ..update_blame import is_store
from .case import Case, Run


def update_op(case: Case) -> Operation:
    """Where the training is written: the op that updates."""
    mine = [u.op for u in case.updates if u.y is case.y] or [u.op for u in case.updates]
    stores: Sequence[Operation] = [op for op in case.looked[0].ran if op.inputs and op.inputs[0] in case.variables
                                   and is_store(op)] if case.looked else []
    return mine[0] if mine else min(stores, key=lambda op: op.index) if stores else case.y.op


def rate_of(case: Case, run: Run) -> float | None:
    """The learning rate in a run, None where it is not known."""
    tensor = next((u.rate for u in case.updates if u.y is case.y and u.rate is not None), None)
    if tensor is None:
        return None
    case.want(tensor)
    value = case.values(run).get(tensor)
    return None if value is None or np.size(value) != 1 else float(np.reshape(value, ()))


def gradients_of(case: Case) -> dict[Tensor, Tensor]:
    """The script's dense gradients of y by variable."""
    variables = set(case.variables)
    return {x: g for call in case.calls if call.ys[0] is case.y for x, g in call.found.items()
            if x in variables and isinstance(g, Tensor) and not isinstance(g, IndexedSlices)}
