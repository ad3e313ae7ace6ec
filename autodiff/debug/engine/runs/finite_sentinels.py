"""Guarding: the few tensors of a run in which any nan or inf of the run shows.

Most ops hand on what is not finite: inf plus anything, and anything times nan, is not finite. So a tensor that such an
op takes need not be looked at if the op's result is, or shows in turn in another. What is left are those that go into
ops which may hide it (relu, where, exp of -inf, 1 / inf, a slice) and the ends of the graph.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors
from ....runtime.plan.running import running

# Inputs of each op type whose non-finite elements all show in the first output, if it has any elements.
_HANDS_ON: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("Abs", "BiasAddGrad", "ExpandDims", "Identity", "L2Loss", "Log", "Mean", "Neg",
                     "PreventGradient", "Reshape", "Sqrt", "Square", "Squeeze", "StopGradient", "Sum", "SumTo",
                     "Transpose"), (0,)),
    **dict.fromkeys(("Add", "AddV2", "BatchMatMulV2", "BiasAdd", "MatMul", "Mul", "SigmoidGrad",
                     "SquaredDifference", "Sub", "TanhGrad"), (0, 1)),
    "BroadcastTo": (0,), "Conv2DBackpropFilter": (2,), "Conv2DBackpropInput": (2,), "RealDiv": (0,)}
_EVERY = frozenset({"AddN", "ConcatV2", "Pack"})  # those that hand on all that is float
_WHOLE = frozenset({"Abs", "BiasAddGrad", "ExpandDims", "Identity", "L2Loss", "Log", "Mean", "Neg", "Pack",
                    "PreventGradient", "Reshape", "Sqrt", "Square", "Squeeze", "StopGradient", "Sum",
                    "SumTo", "Transpose", "AddN", "ConcatV2"})  # whose output has elements wherever these inputs have
_ELEMENTWISE = frozenset({"Abs", "Add", "AddN", "AddV2", "BiasAdd", "ExpandDims", "Identity", "Log", "Mul",
                          "Neg", "PreventGradient", "RealDiv", "Reshape", "SigmoidGrad", "Sqrt",
                          "Square", "SquaredDifference", "Squeeze", "StopGradient", "Sub", "TanhGrad", "Transpose"})


class Guards(NamedTuple):
    """tensors: those in which all that is not finite shows. filled: of these, those that may not be empty for that."""

    tensors: tuple[Tensor, ...]
    filled: tuple[Tensor, ...]


def computed(tensors: Iterable[Tensor], targets: Iterable[Operation], known: Collection[Tensor]) -> set[Operation]:
    """The operations that a run does not leave out: those with an effect, and all whose values something takes.

    What only has to run before something else, as one half of a product's gradient before the other, is left out.
    """
    wanted = list(tensors)
    runs = running(wanted, targets, known)
    acting = {op for op in runs if _has_effect(op)}
    return runs & (acting | ancestors([*wanted, *(t for op in acting for t in op.inputs)], known))


def _has_effect(op: Operation) -> bool:
    definition = op.definition
    return not op.outputs or definition.stateful or definition.takes_run


def guards_of(tensors: Iterable[Tensor], runs: Collection[Operation], known: Collection[Tensor] = ()) -> Guards:
    """Sentinels: tensors that are not finite whenever one of `tensors` is. runs: ops of the run. known: what is fed."""
    wanted = set(tensors)
    updated: dict[Operation, int] = {}  # variable -> the first op that may write to it
    for op in runs:
        for t in op.inputs:
            if op.definition.stateful and op.type != "ReadVariableOp":
                updated[t.op] = min(op.index, updated.get(t.op, op.index))
    guards, filled = [], set()
    fills: dict[Tensor, Tensor | None] = {}  # tensor that has elements -> because this one has, None: by its shape
    for tensor in sorted(wanted, key=lambda t: (t.op.index, t.value_index), reverse=True):
        dims = tensor.dims
        if dims is not None and 0 in dims or tensor.op.type == "Const" and tensor not in known and (
                np.isfinite(tensor.op.attrs["value"]).all()):
            continue
        has_shape = dims is not None and None not in dims
        if has_shape:
            fills[tensor] = None
        by = next((op for op in tensor._consumers if op in runs and op.index < updated.get(tensor.op, op.index + 1)
                   and op.outputs[:1] and op.outputs[0] in wanted and op.outputs[0] not in known
                   and _shows(op, tensor, fills)), None)
        if by is None:
            guards.append(tensor)
            fills.setdefault(tensor, tensor)
            continue
        result = by.outputs[0]
        if not _is_whole(by, tensor) and (witness := fills[result]) is not None:
            filled.add(witness)
        if not has_shape and by.type in _ELEMENTWISE and result in fills:
            fills[tensor] = fills[result]
    return Guards(tuple(guards[::-1]), tuple(t for t in guards[::-1] if t in filled))


def _shows(op: Operation, tensor: Tensor, fills: Collection[Tensor]) -> bool:
    """Whether what is not finite in a tensor shows in the first output of an op that takes it."""
    if not op.outputs[0].dtype.base_dtype.is_differentiable or (
            op.type not in _EVERY and not any(op.inputs[i] is tensor for i in _HANDS_ON.get(op.type, ()))):
        return False
    return _is_whole(op, tensor) or op.outputs[0] in fills


def _is_whole(op: Operation, tensor: Tensor) -> bool:
    """Whether an op's result has elements whenever a tensor that it takes has."""
    dims = op.outputs[0].dims
    return op.type in _WHOLE or op.type not in ("MatMul", "BatchMatMulV2") and (
        dims is not None and dims == tensor.dims)
