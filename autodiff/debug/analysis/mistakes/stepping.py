"""Updates of variables: by optimizers' ops, and by assignments of what gradients give, as Keras makes them."""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ....core.graph import Operation, Tensor
from ....core.indexed_slices import IndexedSlices
from ....core.traversal import ancestors, past
from ....gradients.blocked_reasons import GradientCall
from ...facts.roles import VARIABLES
from ..update_blame import GRADIENTS, RATES, operands_of

_SPREAD = ("BroadcastTo",)
_WRITTEN = 300  # ops that an update written by hand may have
_DEEP = 12
_PASSED = ("Neg", "Identity", "Cast", "BroadcastTo", "Snapshot")


class Update(NamedTuple):
    """An optimizer's op. rate: its learning rate. y: what its gradient is of, None for what is no gradient."""

    op: Operation
    variable: Tensor
    gradient: Tensor
    rate: Tensor | None
    y: Tensor | None


def update_of(op: Operation, calls: Sequence[GradientCall]) -> Update | None:
    """The Update that an op which stores into its first input is; None for what stores no gradient of it."""
    if "Apply" not in op.type:
        return _written(op, calls)
    given = dict(operands_of(op))
    gradient = next((given[name] for name in GRADIENTS if name in given), None)
    if gradient is None:
        return None
    rate = next((given[name] for name in RATES if name in given), None)
    made = sorted(ancestors([gradient]), key=lambda each: -each.index)
    y = next((each.gradient_of for each in made if each.gradient_of is not None), None)
    return Update(op, op.inputs[0], gradient, rate, y)


def _written(op: Operation, calls: Sequence[GradientCall]) -> Update | None:
    """An assignment of what is computed of the gradient of the same variable."""
    variable, value = op.inputs[0], op.inputs[-1]
    reached = _gradients_in(value)
    for call in calls if reached else ():
        found = call.found.get(variable)
        gradient = found.values if isinstance(found, IndexedSlices) else found
        if gradient in reached:
            return Update(op, variable, gradient, _rate(value), call.ys[0])
    return None


def _gradients_in(value: Tensor) -> set[Tensor]:
    """The gradients that a value is computed of, as far as that was written by hand."""
    found, seen, stack = set(), {value}, [value]
    while stack and len(seen) < _WRITTEN:
        tensor = stack.pop()
        if tensor.op.gradient_of is not None:
            found.add(tensor)
        elif tensor.op.type not in VARIABLES:
            stack += [t for t in tensor.op.inputs if t not in seen]
            seen.update(tensor.op.inputs)
    return found


def _rate(tensor: Tensor) -> Tensor | None:
    """The scalar that a change is a multiple of, without what corrects averages that began at zero."""
    for _ in range(_DEEP):
        op = tensor.op
        scalar = next((s for t in op.inputs if (s := past(t, _SPREAD)).dims == ()), None) if op.type == "Mul" else None
        if scalar is not None:
            return _uncorrected(scalar)
        if op.type not in ("Mul", "Sub", "Add", "AddV2", "RealDiv", *_PASSED):
            return None
        tensor = next((t for t in op.inputs if _gradients_in(t)), op.inputs[0])
    return None


def _uncorrected(scalar: Tensor) -> Tensor:
    while scalar.op.type in ("Mul", "RealDiv"):
        kept = [t for each in scalar.op.inputs if not _corrects(t := past(each, _SPREAD))]
        if len(kept) != 1 or scalar.op.type == "RealDiv" and _corrects(past(scalar.op.inputs[0], _SPREAD)):
            break
        scalar = kept[0]
    return scalar


def _corrects(tensor: Tensor) -> bool:
    op = tensor.op.inputs[0].op if tensor.op.type == "Sqrt" else tensor.op
    return op.type == "Sub" and past(op.inputs[1], _SPREAD).op.type == "Pow"
