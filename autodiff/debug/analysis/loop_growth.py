"""Loops that multiply by the same matrix again and again: how much they enlarge or shrink what goes through them."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...core.constant_value import static_value
from ...core.graph import Operation, Tensor
from ..facts.roles import place_of
from .findings import Finding

_GROWTH = 1e4  # over all iterations, from which on a training does not survive its first step
_PASS = ("Identity", "ReadVariableOp", "Captured")
_SQUASHES = ("Tanh", "Sigmoid", "Softsign", "Relu6")  # what keeps a state bounded


def loop_growth(loops: Iterable[Operation], start: Mapping[str, Any]) -> list[Finding]:
    """Linear recurrences that explode. start: the values of variables before the first step."""
    return [finding for loop in loops for finding in _of_loop(loop, start)]


def _of_loop(loop: Operation, start: Mapping[str, Any]) -> list[Finding]:
    turns, body = _turns(loop), loop.attrs["body"].graph
    inner = list(body.operations.values())
    if turns is None or any(op.type in _SQUASHES for op in inner):
        return []
    for op in inner:
        if op.type != "MatMul":
            continue
        variable = next((v for v in map(_variable, op.inputs) if v is not None), None)
        if variable is None:
            continue
        matrix = np.asarray(start.get(variable.name))
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
            continue
        largest = float(np.abs(np.linalg.eigvals(matrix.astype(np.float64))).max())
        growth = largest**turns if turns * np.log10(max(largest, 1e-9)) < 300 else np.inf
        if growth > _GROWTH:
            return [Finding(107, "growing loop", op.name, op.type, f"{variable.name}:0", f"{loop.name} multiplies by "
                            f"{variable.name} {turns} times, whose largest eigenvalue was {largest:.3g} at the start: "
                            f"states and gradients grow by {largest:.3g}^{turns} = {growth:.2g}",
                            f"begin with a matrix of eigenvalues up to 1: divide its initial value by {largest:.3g}; "
                            "clip with tf.clip_by_global_norm; or take a gated cell", f"grad {loop.name}",
                            place_of(op))]
    return []


def _variable(tensor: Tensor) -> Operation | None:
    """The variable that an input of a body's op was read from, outside."""
    op = tensor.op
    while op.type in _PASS:
        op = op.attrs["external"].op if op.type == "Captured" else op.inputs[0].op
    return op if op.type in ("VariableV2", "VarHandleOp") else None


def _turns(loop: Operation) -> int | None:
    """How often a loop runs that counts up to a constant; None where that cannot be told."""
    for op in loop.attrs["cond"].graph.operations.values():
        if op.type in ("Less", "LessEqual"):
            bound = op.inputs[1]
            while bound.op.type == "Captured":
                bound = bound.op.attrs["external"]
            value = static_value(bound)
            if value is not None and value.size == 1:
                return int(value) + (op.type == "LessEqual")
    return None
