"""Stages of a gradient: what backpropagation gave, what the update was given, what clipping and slots made of it."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....core.errors import AutodiffError
from ....core.graph import Operation, Tensor
from ....core.indexed_slices import IndexedSlices
from ....core.traversal import dependencies, descendants, in_order
from ...analysis.update_blame import GRADIENTS, operands_of, stores_into, why_applied
from ...facts.derivative_answers import StageRow, Stages
from ...facts.graph_lists import trainable_tensors
from ...facts.records import Stats
from ...facts.roles import place_of
from ...facts.stats import has_nonfinite, statistics
from ...history.replay import Moment
from ..state import State
from ..updates import before_and_after
from .evaluate import plain

_UPDATES = ("Apply", "SparseApply", "ResourceApply", "ResourceSparseApply", "AssignSub", "AssignAdd", "ScatterSub",
            "ScatterAdd", "ResourceScatter")


class UpdateStages:
    """Follows gradients from backpropagation into the variables."""

    def __init__(self, state: State) -> None:
        self.state, self.model = state, state.model

    def of(self, y: str = "", *, step: int | None = None) -> Stages:
        """For each trainable variable: the gradient raw, as the update op was given it, and the change it made."""
        top = self.model.y_of(y)
        tensors = trainable_tensors(self.model.graph)
        self.model.derivatives.prepare(top, tensors)
        updates = {t: _update_of(t) for t in tensors}
        wanted = [top, *(u[1] for u in updates.values() if u is not None)]
        at = self.state.moment_for(wanted, self.state.log.run_of(step))
        raw = {t: self._raw(top, t) for t in tensors}
        asked = [g for g in (*raw.values(), *(u[1] for u in updates.values() if u is not None)) if g is not None]
        known = self.state.replayer.values_if_possible(at, list(dict.fromkeys(asked)))  # all of one pass
        figures = {g: statistics(plain(value)) for g, value in known.items()}
        rows = tuple(self._stage_row(t, raw[t], updates[t], figures, at) for t in tensors)
        return Stages(top.name, self.state.log.at(at.run), rows, tuple(_notes(rows)))

    def _raw(self, y: Tensor, tensor: Tensor) -> Any:
        """The gradient as it was derived, None for none."""
        try:
            return self.model.derivatives.gradient(y, tensor)[0]
        except AutodiffError:
            return None

    def _stage_row(self, tensor: Tensor, raw: Any, update: tuple[Operation, Tensor] | None,
                   figures: Mapping[Any, Stats], at: Moment) -> StageRow:
        source = raw.values if isinstance(raw, IndexedSlices) else raw
        given = None if update is None else update[1]
        between = () if source is None or given is None else _between(source, given)
        return StageRow(tensor.name, figures.get(raw), figures.get(given), self._change(tensor.op.name, at), between,
                        "" if update is None else update[0].name, place_of(tensor.op))

    def _change(self, name: str, at: Moment) -> Stats | None:
        """Figures of what a step added to a variable."""
        old, new = before_and_after(self.state, name, at)
        if new is None or np.asarray(new).dtype.kind not in "iufc":
            return None
        with np.errstate(all="ignore"):
            return statistics(np.asarray(new) - np.asarray(old))


def _update_of(tensor: Tensor) -> tuple[Operation, Tensor] | None:
    """The last op that updates a variable by a gradient, and its input that is the gradient."""
    for op in reversed(tensor._consumers):
        if not op.type.startswith(_UPDATES):
            continue
        for parameter, given in zip(op.definition.parameters, op.inputs):
            if parameter.name in GRADIENTS:
                return op, given
    return None


def _between(raw: Tensor, given: Tensor) -> tuple[str, ...]:
    """Names of the ops from a raw gradient to what the update was given, in order."""
    if raw is given:
        return ()
    return tuple(op.name for op in in_order(descendants([raw]) & dependencies([given])))


def _notes(rows: Sequence[StageRow]) -> list[str]:
    bad = [row for row in rows if row.raw is not None and row.raw.nonfinite]
    spoiled = [row for row in rows if row.raw is not None and not row.raw.nonfinite and row.given is not None
              and row.given.nonfinite]
    zeroed = [row for row in rows if row.raw is not None and row.raw.norm and not row.raw.nonfinite
              and row.given is not None and row.given.norm == 0 and not row.given.nonfinite]
    notes = []
    for hit, what in ((spoiled, "spoils"), (zeroed, "turns into zeros")):
        if bad and hit:
            via = f" (by {hit[0].between[0].rpartition('/')[0] or hit[0].between[0]})" if hit[0].between else ""
            kinds = "nan" if any(row.raw and row.raw.nans for row in bad) else "inf"
            causes, others = (", ".join(row.name for row in rows) for rows in (bad[:3], hit[:5]))
            notes.append(f"{kinds} in the gradient of {causes} {what} the others through the common norm{via}: "
                         f"{others}")
    if bad:
        notes.append("why nan says where it comes from")
    return notes


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
