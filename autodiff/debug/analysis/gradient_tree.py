"""The gradient's paths from y to x as a tree: the one that carries most, and what branches off it."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from ...core.graph import Operation, Tensor
from ..facts.records import Stats
from ..facts.roles import place_of
from .findings import Node
from .flow import gain, norm_at, size_at


def shared(passed: Mapping[Operation, Sequence[Tensor]]) -> list[tuple[Operation, Tensor]]:
    """The (op, input) of which the gradient at the input is a sum, as other ops add to it too; from y down."""
    takers = Counter(t for inputs in passed.values() for t in inputs)
    return [(op, t) for op in reversed(list(passed)) for t in passed[op] if takers[t] > 1]


def tree(y: Tensor, x: Tensor, passed: Mapping[Operation, Sequence[Tensor]], figures: Mapping[Any, Stats],
         straight: Mapping[str, str], inside: Callable[[Operation, int], Sequence[Node]]) -> tuple[Node, ...]:
    """Nodes from y down to x, every op once. passed: the ops, with the inputs through which a gradient goes on.

    figures: of gradients at tensors, and of parts of them at (op, input), as far as known. straight: the path drawn
    without a bend, as the op's name and the name of its input on it. inside: the nodes inside of an op, for branches
    and loops, given their depth.
    """
    branch_of = {op: 0 for op in passed if op.name in straight}
    ons = {op: t for op in branch_of for t in passed[op] if t.name == straight[op.name]}
    nodes: list[Node] = []
    branches = 0
    stack: list[tuple[Tensor, int, int]] = [(y, 0, 0)]
    while stack:
        tensor, depth, branch = stack.pop()
        begins = branch < 0
        if begins:
            branches += 1
            branch = branches
            for op, on in _line(tensor, x, passed, figures, branch_of):
                branch_of[op], ons[op] = branch, on
        op = tensor.op
        if tensor is x or branch_of[op] != branch:
            nodes.append(node(tensor, figures, None, depth, begins, joins=x.name if tensor is x else op.name))
            continue
        nodes.append(node(tensor, figures, ons[op], depth, begins))
        nodes += inside(op, depth + 1)
        stack.append((ons[op], depth, branch))
        stack += [(t, depth + 1, -1) for t in reversed(passed[op]) if t is not ons[op]]
    return tuple(nodes)


def _line(tensor: Tensor, x: Tensor, passed: Mapping[Operation, Sequence[Tensor]], figures: Mapping[Any, Stats],
          drawn: Collection[Operation]) -> Iterator[tuple[Operation, Tensor]]:
    """The ops from a tensor down to x or to one that is drawn, at each turn to the largest gradient."""
    while tensor is not x and tensor.op not in drawn:
        op = tensor.op
        tensor = max(passed[op], key=lambda t: size_at(figures, t))
        yield op, tensor


def node(tensor: Tensor, figures: Mapping[Any, Stats], on: Tensor | None, depth: int, begins: bool, *,
         joins: str = "") -> Node:
    """The node of the op that made a tensor. on: its input on the way, None for the last.

    joins: the name of what is not gone into here, "" for none.
    """
    op = tensor.op
    return Node(joins or op.name, op.type, norm_at(figures, tensor),
                None if on is None else gain(figures, op, tensor, on),
                figures[tensor].zero_share if tensor in figures else None, depth, begins, bool(joins), place_of(op))
