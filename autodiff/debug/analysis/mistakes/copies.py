"""Copies of variables: networks that take the weights of others from time to time, as the targets of a critic do."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....core.graph import Graph, Operation, Tensor
from ....core.traversal import ancestors
from ...facts.graph_lists import operations_of
from ...facts.roles import ASSIGNS, PLACEHOLDERS, VARIABLES
from ..findings import Finding
from ..update_blame import is_store
from .case import Case, finding, held
from .heads import through

_LAYERS = ("MatMul", "BatchMatMulV2", "Conv2D", "BiasAdd", "Add", "AddV2")
_AGAIN = 2  # times that a copy is made which is no start from other weights


def copies_among(operations: Iterable[Operation], variables: Sequence[Tensor]
                 ) -> dict[Operation, tuple[Operation, Operation]]:
    """Variables that assignments copy from other ones: whose they are, and the assignment."""
    known = {variable.op for variable in variables}
    found = {}
    for op in operations:
        if op.type in ASSIGNS and op.inputs[0].op in known:
            source = held(op.inputs[1])
            if source in known and source is not op.inputs[0].op:
                found[op.inputs[0].op] = source, op
    return found


def copy_mistakes(case: Case) -> list[Finding]:
    """A network that is trained, and given again and again the weights of another, which nothing changes."""
    copies = copies_among(case.operations, case.variables)
    trained = [u for u in case.updates if u.variable.op in copies and u.y is not None]
    stored = _changed(case.graph) if trained else set()
    lost = []
    for update in trained:
        source, copy = copies[update.variable.op]
        if update.y is not None and source not in stored | ancestors([update.y]) and _computes(source) and _times(
                copy, case) >= _AGAIN:
            lost.append((update, source, copy))
    if not lost:
        return []
    update, source, copy = lost[0]
    name, other, more = update.variable.name, f"{source.name}:0", f" and {len(lost) - 1} others" * (len(lost) > 1)
    return [finding(67, "copied the wrong way", copy, f"{name}{more} {'are' if more else 'is'} trained, and in "
                    f"{_times(copy, case)} runs {copy.name} put the value of {other} there, which nothing changes: "
                    "what was learnt is lost each time, and the other network, as a target, never learns it",
                    f"turn the copy: {other} is to be given {name}, tf.assign(target, trained)", target=name,
                    confidence="certain")]


def _changed(graph: Graph) -> set[Operation]:
    """The variables that something else changes than what gives them their first values."""
    return {op.inputs[0].op for op in operations_of(graph) if is_store(op) and op.inputs and (
        op.type not in ASSIGNS or any(o.type in (*VARIABLES, *PLACEHOLDERS) for o in ancestors(op.inputs[1:])))}


def _computes(variable: Operation) -> bool:
    """Whether a variable is a weight of a layer, not a value that is kept."""
    reads = [t for c in variable.outputs[0]._consumers if c.type == "ReadVariableOp" for t in c.outputs]
    return any(op.type in _LAYERS for t in (variable.outputs[0], *reads) for op in through(t))


def _times(copy: Operation, case: Case) -> int:
    return sum(copy in run.ran for run in case.runs)
