"""What makes a loss, and with it all gradients, larger than it need be: a sum over a batch, a factor, a discount."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Operation, Tensor
from ....core.traversal import ancestors, descendants, in_order
from ...facts.roles import PLACEHOLDERS, at_line, place_of, takes_elements
from ..arithmetic_rules import number
from ..edits.along_chain import averaged
from ..edits.in_graph import Edit
from ..edits.of_givens import factor_of, other_constant, usual_size

_PASSES = ("Identity", "Neg", "Reshape", "Squeeze", "Mean", "Cast")
_ADDS = ("Add", "AddV2", "AddN", "Sub")
_MUCH = 10.0  # times what it would be
_DISCOUNTS = (1.0, 2.0)


class Enlarged(NamedTuple):
    """What enlarges a loss: said of it, and the edit that takes that away."""

    text: str
    edit: Edit


def enlarged(y: Tensor, variables: Collection[Tensor],
             values_of: Callable[[Iterable[Operation]], Mapping[Tensor, Any]]) -> Iterator[Enlarged]:
    """By more than ten times, by sums and factors on the way from y; then by what is a discount, and above 1.

    values_of: known values of ops. variables: those that are trained.
    """
    trained = descendants(variables)
    level, seen = [(y.op, 1.0)], {y.op}
    while level:
        op, scale = level.pop()
        if op.type == "Sum" and (size := _summed(op, values_of)) * scale >= _MUCH:
            yield Enlarged(f"the loss is a sum of {size:g} numbers{at_line(place_of(op))}", averaged(op))
        by = factor_of(op)
        factor = 1.0 if by is None else _number(by) if op.type == "Mul" else 1 / _number(by)
        if by is not None and factor * scale >= _MUCH:
            told = f"{'multiplied' if op.type == 'Mul' else 'divided'} by {number(_number(by))}{at_line(place_of(op))}"
            yield Enlarged(f"the loss is {told}", other_constant(op, by, 1.0, f"leave out the factor {number(factor)}"))
        if op.type in (*_PASSES, *_ADDS) or by is not None:
            behind = [t.op for t in op.inputs if t is not by and t.op in trained and t.op not in seen]
            seen.update(behind)
            level += [(each, scale * factor) for each in behind[::-1]]
    for op in in_order(ancestors([y])):
        by = factor_of(op) if op.type == "Mul" and op in trained and op.gradient_of is None else None
        if by is not None and _DISCOUNTS[0] < _number(by) <= _DISCOUNTS[1] and any(
                t.op not in trained for c in op.outputs[0]._consumers if c.type in _ADDS[:2] for t in c.inputs):
            yield Enlarged(f"{number(_number(by))} times what the weights gave is added to what they are to give"
                           f"{at_line(place_of(op))}", other_constant(op, by, 0.99, "give a discount below 1, as 0.99"))


def _number(by: Tensor) -> float:
    return float(np.asarray(static_value(by)))


def _summed(op: Operation, values_of: Callable[[Iterable[Operation]], Mapping[Tensor, Any]]) -> int:
    """How many numbers a sum of what is made of data makes one of."""
    if not any(each.type in PLACEHOLDERS or takes_elements(each) or _is_table(each) for each in ancestors(op.inputs)):
        return 1
    known = values_of([op, op.inputs[0].op])
    return np.size(known.get(op.inputs[0], 1.0)) if np.size(known.get(op.outputs[0], ())) == 1 else 1


def _is_table(op: Operation) -> bool:
    return op.type == "Const" and op.outputs[0].dtype.is_floating and bool(op.outputs[0].dims)


def begun_large(values: Mapping[Tensor, np.ndarray], least: float) -> str:
    """Which of the first values of variables are too large; "" if they do not enlarge by `least` in all."""
    sizes = {t: (float(value.std()), usual_size(value.shape)) for t, value in values.items()
             if value.ndim > 1 and not any(c.type in ("GatherV2", "ResourceGather") for c in _users(t))}
    gains = {t: (size / usual) ** _uses(t) for t, (size, usual) in sizes.items() if size > usual}
    if not gains or np.prod([*gains.values()]) < least:
        return ""
    most = max(gains, key=gains.__getitem__)
    return (f"the initial values of {most.op.name} are too large{at_line(place_of(most.op))}: their standard "
            "deviation is {:.2g}, where {:.2g} is usual".format(*sizes[most]))


def _users(variable: Tensor) -> list[Operation]:
    """The forward ops that take a variable's value."""
    reads = [variable.op, *(c for c in variable.op.outputs[0]._consumers if c.gradient_of is None and c.outputs)]
    return [c for read in reads for t in read.outputs for c in t._consumers if c.gradient_of is None]


def _uses(variable: Tensor) -> int:
    """How often one value may go through a variable: up to three times, as in the steps of a loop."""
    users = [c for c in _users(variable) if c.type in ("MatMul", "BatchMatMulV2", "Conv2D", "While")]
    return 3 if any(c.type == "While" for c in users) else min(max(len(users), 1), 3)
