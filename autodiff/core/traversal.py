"""Walks along the edges of a graph: what tensors are made from, and what is made from them."""
from __future__ import annotations

from collections.abc import Collection, Iterable

from .graph import Operation, Tensor


def ancestors(tensors: Iterable[Tensor], known: Collection[Tensor] = ()) -> set[Operation]:
    """Every operation that the values of `tensors` come from, their own included; `known` ones come from nowhere."""
    found: set[Operation] = set()
    stack = [t.op for t in tensors if t not in known]
    while stack:
        op = stack.pop()
        if op not in found:
            found.add(op)
            stack.extend([t.op for t in op.inputs if t not in known])
    return found


def dependencies(tensors: Iterable[Tensor], targets: Iterable[Operation] = (),
           known: Collection[Tensor] = ()) -> set[Operation]:
    """Every operation that runs for `tensors` and `targets`: those before them, and those they wait for."""
    found: set[Operation] = set()
    stack = [*(t.op for t in tensors if t not in known), *targets]
    while stack:
        op = stack.pop()
        if op not in found:
            found.add(op)
            stack.extend([t.op for t in op.inputs if t not in known])
            stack.extend(op.waits_for)
    return found


def descendants(tensors: Iterable[Tensor]) -> set[Operation]:
    """Every operation that depends on `tensors`, whether a gradient could flow or not; their own not included."""
    found: set[Operation] = set()
    stack = [c for t in tensors for c in t._consumers]
    while stack:
        op = stack.pop()
        if op not in found:
            found.add(op)
            stack.extend([c for t in op.outputs for c in t._consumers])
    return found


def in_order(operations: Iterable[Operation]) -> list[Operation]:
    """Operations in the order they were made: producers first."""
    return sorted(operations, key=lambda op: op.index)


def past(tensor: Tensor, types: Collection[str]) -> Tensor:
    """What a tensor is through ops of these types, by their first inputs; itself if it comes of none of them."""
    while tensor.op.type in types and tensor.op.inputs:
        tensor = tensor.op.inputs[0]
    return tensor


def users_of(op: Operation) -> list[Operation]:
    """The forward ops that take what an op gives."""
    return [c for t in op.outputs for c in t._consumers if c.gradient_of is None]
