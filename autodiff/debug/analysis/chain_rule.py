"""The chain rule along one path: each op's factor, in numbers."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.graph import Tensor
from ..facts.records import Place
from .findings import Hop


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
