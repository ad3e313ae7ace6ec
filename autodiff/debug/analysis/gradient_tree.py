"""The gradient's paths from y to x: as a tree, and each op's factor along one of them by the chain rule."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.graph import Operation, Tensor
from ..facts.records import Place, Stats
from ..facts.roles import place_of
from .findings import Hop, Node
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


@dataclass(frozen=True)
class Factor:
    """d output / d input of one op. shapes: of output and input, in the run or else in the graph. value: the derivative
    itself where the gradients at both are one number, else the gain of the norm. gradient: of y at the input, over all
    paths; its number where it is one, else its norm. Numbers are None where they are not known."""

    output: str
    input: str
    op: str
    op_type: str
    shapes: tuple[tuple[int | None, ...] | None, tuple[int | None, ...] | None]
    is_number: bool
    value: float | None
    gradient: float | None
    place: Place | None


@dataclass(frozen=True)
class Chain:
    """The factors from y to x along the path that carries most, of `paths`. gradient: as a Factor's, at x."""

    y: str
    x: str
    when: str
    factors: tuple[Factor, ...]
    paths: int
    gradient: float | None


def factors(y: Tensor, hops: Sequence[Hop], gradients: Mapping[Tensor, Any],
            parts: Mapping[Any, Any]) -> tuple[Factor, ...]:
    """One for each hop of a path. gradients: of y, by tensor; parts: by (op, input), where several ops add to it."""
    found, out = [], y
    for hop in hops:
        op = y.graph.operations[hop.op]
        given = next(t for t in op.inputs if t.name == hop.tensor)
        arrived, total = gradients.get(out), gradients.get(given)
        passed = parts.get((op, given), total)
        is_number = all(value is not None and np.size(value) == 1 for value in (arrived, passed))
        before, after = size_of(arrived), size_of(passed)
        value = after / before if before and after is not None and is_number else None if is_number else hop.gain
        shapes = (_shape(arrived, out), _shape(total, given))
        found.append(Factor(out.name, given.name, op.name, op.type, shapes, is_number, value, size_of(total),
                            hop.place))
        out = given
    return tuple(found)


def size_of(gradient: Any) -> float | None:
    """The number of one element, the norm of several."""
    if gradient is None:
        return None
    array = np.asarray(gradient, np.float64)
    with np.errstate(all="ignore"):
        return float(array.ravel()[0]) if array.size == 1 else float(np.linalg.norm(array.ravel()))


def _shape(gradient: Any, at: Tensor) -> tuple[int | None, ...] | None:
    return at.dims if gradient is None else np.shape(gradient)
