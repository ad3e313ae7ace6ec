"""Training runs: those whose plan updates a trainable variable otherwise than by its initializer."""
from __future__ import annotations

from collections.abc import Iterable

from ...core.graph import Graph, Operation
from .graph_lists import variables_of
from .roles import role_of


def trains(graph: Graph, ops: Iterable[Operation]) -> bool:
    """Whether a run of these ops is a step of training; from the graph alone, so before it is made."""
    trainable = {variable.handle_tensor: variable for variable, is_trainable in variables_of(graph) if is_trainable}
    return any(op.inputs and op.inputs[0] in trainable and role_of(op) == "training"
               and op is not _initializer(trainable[op.inputs[0]]) for op in ops)


def _initializer(variable: object) -> Operation | None:
    found = getattr(variable, "initializer", None)
    return getattr(found, "op", found)
