"""Known: values of a run, and what of them an op read otherwise, as it waited for an update of a variable."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...core.function_graph import updates_of
from ...core.graph import Operation, Tensor
from ...runtime.plan.plan import is_read, variable_of


class Known(dict[Tensor, Any]):
    """Values of tensors. late: for an op that saw an update in an input read before it, what the update gave, which has
    a value here too.
    """

    def __init__(self, values: Mapping[Tensor, Any] | None = None) -> None:
        super().__init__(values or {})
        self.late: dict[Operation, dict[Tensor, Tensor]] = {}


def inputs_read(op: Operation, values: Mapping[Tensor, Any]) -> list[Tensor]:
    """The inputs of an op; in place of a variable that it saw updated the update's output."""
    late = values.late.get(op) if isinstance(values, Known) else None
    return list(op.inputs) if late is None else [late.get(t, t) for t in op.inputs]


class LateReads:
    """Finds the ops that see an update in an input that was read before it: what the update gives for each such input.

    The same as a plan does, but an op is looked at once.
    """

    def __init__(self) -> None:
        self._updates: dict[Operation, frozenset[Operation]] = {}  # that an op waits for, or is

    def of(self, ops: Iterable[Operation]) -> dict[Operation, dict[Tensor, Tensor]]:
        """Those of `ops`, and for each of their inputs that is outdated what they read in its place."""
        found: dict[Operation, dict[Tensor, Tensor]] = {}
        for op in ops:
            for tensor in filter(is_read, op.inputs) if op.outputs else ():
                variable = variable_of(tensor.op.inputs[0])
                late = [u for u in self._before(op) | self._before(op.forward_op) if u.index > tensor.op.index
                        and u is not op and variable in updates_of(u) and u.outputs and u.outputs[0].dtype.is_ref]
                if late:
                    found.setdefault(op, {})[tensor] = max(late, key=lambda u: u.index).outputs[0]
        return found

    def _before(self, op: Operation) -> frozenset[Operation]:
        known, stack = self._updates, [op] if op not in self._updates else []
        while stack:
            current = stack[-1]
            before = [b for b in (*(t.op for t in current.inputs), *current.control_inputs) if b.index < current.index]
            missing = [b for b in before if b not in known]
            if not missing:
                own = (current,) if updates_of(current) else ()
                known[current] = frozenset(own).union(*(known[b] for b in before))
                stack.pop()
            stack.extend(missing)
        return known[op]
