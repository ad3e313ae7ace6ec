"""Walks along the edges of a graph: what tensors are made from, and what is made from them."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

from .graph import Operation, Tensor

Node = TypeVar("Node")


def reached(starts: Iterable[Node], onward: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """The starts, what `onward` gives of them, what it gives of that, and so on."""
    found: set[Node] = set()
    stack = list(starts)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(onward(node))
    return found


def ancestors(tensors: Iterable[Tensor], known: Collection[Tensor] = ()) -> set[Operation]:
    """Every operation that the values of `tensors` come from, their own included; `known` ones come from nowhere."""
    return reached([t.op for t in tensors if t not in known], lambda op: [t.op for t in op.inputs if t not in known])


def dependencies(tensors: Iterable[Tensor], targets: Iterable[Operation] = (),
                 known: Collection[Tensor] = ()) -> set[Operation]:
    """Every operation that runs for `tensors` and `targets`: those before them, and those they wait for."""
    return reached([*(t.op for t in tensors if t not in known), *targets],
                   lambda op: [*[t.op for t in op.inputs if t not in known], *op.waits_for])


def descendants(tensors: Iterable[Tensor]) -> set[Operation]:
    """Every operation that depends on `tensors`, whether a gradient could flow or not; their own not included."""
    return reached([c for t in tensors for c in t._consumers], lambda op: [c for t in op.outputs for c in t._consumers])


def in_order(operations: Iterable[Operation]) -> list[Operation]:
    """Operations in the order they were made: producers first."""
    return sorted(operations, key=lambda op: op.index)


def past(tensor: Tensor, types: Collection[str]) -> Tensor:
    """What a tensor is through ops of these types, by their first inputs; itself if it comes of none of them."""
    while tensor.op.type in types and tensor.op.inputs:
        tensor = tensor.op.inputs[0]
    return tensor


def outside(tensor: Tensor) -> Tensor:
    """What a tensor that a function captured stands for, from however deep inside; itself if it was not captured."""
    while tensor.op.type == "Captured":
        tensor = tensor.op.attrs["external"]
    return tensor


def users_of(op: Operation) -> list[Operation]:
    """The forward ops that take what an op gives."""
    return [c for t in op.outputs for c in t._consumers if c.gradient_of is None]
