"""What an update made of a gradient: through clipping, momentum and slots to the change of the variable."""
from __future__ import annotations

from typing import Any

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.indexed_slices import IndexedSlices
from ....core.traversal import dependencies, descendants, in_order
from ...analysis.update_blame import GRADIENTS, operands_of, stores_into, why_applied
from ...facts.stats import has_nonfinite
from ...history.replay import Moment
from ..state import State
from ..updates import before_and_after


class Applied:
    """Follows a gradient into its variable, in the last run that updated it."""

    def __init__(self, state: State) -> None:
        self.state = state

    def of(self, raw: Tensor | IndexedSlices, variable: Tensor, at: Moment) -> tuple[str, str]:
        """What the update did other than rate times gradient, and what helps; both "" if it did that, or none ran.

        raw: the gradient, from backpropagation. at: the run that is looked at; an update before it counts.
        """
        source = raw.values if isinstance(raw, IndexedSlices) else raw
        looked: set[int] = set()
        for moment in reversed([m for m in self.state.moments if m.run <= at.run]):
            if moment.wanted is None or id(moment.wanted) in looked:
                continue
            looked.add(id(moment.wanted))
            ran = moment.ran
            stores = stores_into(variable, ran)
            given = next(((op, t) for op in stores for name, t in operands_of(op) if name in GRADIENTS
                          and op.type != "Assign" and (t is source or source.op in dependencies([t]))), None)
            if given is not None:
                return self._of_run(source, variable, moment, given, [op for op in stores if op is not given[0]])
        return "", ""

    def _of_run(self, raw: Tensor, variable: Tensor, at: Moment, update: tuple[Operation, Tensor],
                others: list[Operation]) -> tuple[str, str]:
        op, given = update
        old, new = before_and_after(self.state, variable.op.name, at)
        if new is None or np.asarray(new).dtype.kind != "f":
            return "", ""
        between = [] if raw is given else in_order(descendants([raw]) & dependencies([given]))
        ops = dict.fromkeys(b for each in (op, *between) for b in (each, *(t.op for t in each.inputs)))
        ops.pop(op)  # it is not run again: what it makes is known
        values: dict[Tensor, Any] = self.state.values_known((raw.op, *ops), at)
        if raw not in values or given not in values or has_nonfinite(values[raw]):
            return "", ""
        told, remedy = why_applied(op, variable, values, (raw, given), between=between, old=old, new=new, others=others)
        return (f"the update of {self.state.log.at(at.run)}: {told}", remedy) if told else ("", "")
