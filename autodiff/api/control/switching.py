"""switch and merge by hand: a value that is there on one side only, and the one of several that is there."""
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core.convert import convert_to_tensor
from ...core.dtypes import bool_
from ...core.errors import ArgumentError
from ...core.function_graph import copy_operations
from ...core.graph import Operation, Tensor, get_default_graph
from ...core.indexed_slices import IndexedSlices
from ...core.op import build
from ...core.sparse_tensor import SparseTensor, parts_of
from ...core.traversal import dependencies, in_order
from .functional import if_of


class Merge(NamedTuple):
    """output: the value that is there. value_index: which of the inputs it is, int32[]."""

    output: Any
    value_index: Any


def switch(data: Any, pred: Any, dtype: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """Twice the data: there if `pred` is false, and there if it is true.

    What is made of the other one cannot be run, but be given to `merge`.
    """
    predicate = convert_to_tensor(pred, dtype=bool_)

    def on(side: bool, part: Tensor) -> Tensor:
        return build.SwitchSide(part, predicate, side=side, name=name or "Switch")

    if isinstance(data, (SparseTensor, IndexedSlices)):
        false, true = (type(data)(*(on(side, part) for part in _parts(data))) for side in (False, True))
        return false, true
    value = convert_to_tensor(data, dtype=dtype)
    return on(False, value), on(True, value)


def _parts(data: Any) -> list[Any]:
    parts = parts_of(data) if isinstance(data, SparseTensor) else (data.values, data.indices, data.dense_shape)
    return [part for part in parts if part is not None]


def merge(inputs: Sequence[Any], name: str | None = None) -> Merge:
    """The first of the inputs that is there: what leads to it from a switch runs in a branch, that of others does not.

    With an Enter among them it is a variable of a loop by hand, which begins as that one (see frames).
    Raises ArgumentError (ValueError) for None among them. A run in which none is there fails.
    """
    if any(each is None for each in inputs):
        raise ArgumentError(f"At least one of the merge inputs is None: {inputs}")
    if isinstance(inputs[0], (SparseTensor, IndexedSlices)):
        merged = [merge(column, name) for column in zip(*map(_parts, inputs))]
        return Merge(type(inputs[0])(*(each.output for each in merged)), merged[0].value_index)
    tensors = [convert_to_tensor(each) for each in inputs]
    cones = [_from_switches(t) for t in tensors]
    if not any(cones) or any(t.op.type == "Enter" for t in tensors):
        return Merge(*build.Merge(*tensors, name=name))
    return Merge(*_merged(tensors, cones, 0, name or "Merge"))


def _from_switches(tensor: Tensor) -> list[Operation]:
    """The operations between switches and a tensor, the switches included, in order."""
    found: dict[Operation, None] = {}
    for op in in_order(dependencies([tensor])):
        if op.type == "SwitchSide" or any(t.op in found for t in op.inputs) or any(c in found for c in op.waits_for):
            found[op] = None
    return list(found)


def _merged(tensors: Sequence[Tensor], cones: Sequence[list[Operation]], at: int, name: str) -> list[Tensor]:
    def copied() -> list[Tensor]:
        known: dict[Tensor, Tensor] = {}
        copy_operations(cones[at], known, get_default_graph())
        return [build.Identity(known.get(tensors[at], tensors[at])), convert_to_tensor(at)]

    sides = [op for op in cones[at] if op.type == "SwitchSide" and op.inputs[1].op not in cones[at]]
    if at == len(tensors) - 1 or not sides:  # a switch among the copies refuses where the last one is not there
        return copied()
    holds = [op.inputs[1] if op.attrs["side"] else build.LogicalNot(op.inputs[1]) for op in sides]
    is_there = functools.reduce(build.LogicalAnd, dict.fromkeys(holds))
    return if_of(is_there, (), copied, lambda: _merged(tensors, cones, at + 1, name), name)
