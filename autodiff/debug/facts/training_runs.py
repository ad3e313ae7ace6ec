"""Training runs: those whose plan updates a trainable variable otherwise than by its initializer."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...core.function_graph import functions_of, origin_of
from ...core.graph import Graph, Operation, Tensor
from ...core.op import Ref
from ...core.traversal import dependencies
from .graph_lists import variables_of
from .roles import APPLIES

_LOOKS = ("IsVariableInitialized", "VarIsInitializedOp", "InitializedValue")  # take a reference, and change nothing
_Trainable = Mapping[Operation, Any]  # the op of each trainable variable -> its initializer


def trains(graph: Graph, ops: Iterable[Operation]) -> bool:
    """Whether a run of these ops is a step of training; from the graph alone, so before it is made."""
    trainable = _trainable(graph)
    return any(_updates(op, trainable) for op in ops)


def can_train(graph: Graph) -> bool:
    """Whether anything in a graph, run or not, is training."""
    trainable = _trainable(graph)
    return any(_updates(op, trainable) for variable in trainable for op in _takers(variable.outputs[0]))


def _trainable(graph: Graph) -> _Trainable:
    return {variable.handle_tensor.op: getattr(variable.initializer, "op", variable.initializer)
            for variable, is_trainable in variables_of(graph) if is_trainable}


def _takers(tensor: Tensor) -> Iterator[Operation]:
    """What consumes a tensor, in branches and loops too."""
    for op in tensor._consumers:
        if op.type == "Captured":
            yield from _takers(op.outputs[0])
        else:
            yield op


def _updates(op: Operation, trainable: _Trainable) -> bool:
    """Whether an op trains, itself or in what it calls. An optimizer's op does, whatever variable it was given."""
    if not op.definition.takes_run:
        return False
    if op.type.startswith(APPLIES):
        return True
    if op.inputs and op.definition.parameters[0].kind is Ref and op.type not in _LOOKS:
        variable = origin_of(op.inputs[0]).op
        return variable in trainable and op is not trainable[variable] and not _restores(op)
    return any(_updates(inner, trainable) for function in functions_of(op) for inner in function.graph.get_operations())


def _restores(op: Operation) -> bool:
    """Whether an op puts back what a file holds, which is how a program begins and no training."""
    return any(below.type == "RestoreV2" for below in dependencies(op.inputs[1:]))
