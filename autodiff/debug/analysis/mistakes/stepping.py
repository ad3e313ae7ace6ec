"""Updates of variables: by optimizers' ops, and by assignments of what gradients give, as Keras makes them."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....core.graph import Operation, Tensor
from ....core.indexed_slices import IndexedSlices
from ....core.traversal import ancestors, outside, past
from ....gradients.blocked_reasons import GradientCall
from ...facts.roles import ASSIGNS, STORES, VARIABLES
from ..update_blame import GRADIENTS, RATES, is_store, operands_of

_SPREAD = ("BroadcastTo",)
_WRITTEN = 300  # ops that an update written by hand may have
_DEEP = 12
APART = 10.0  # times: variables that grew so much more than others diverged, and these did not
_PASSED = ("Neg", "Identity", "Cast", "BroadcastTo")


class Update(NamedTuple):
    """An optimizer's op. rate: its learning rate. y: what its gradient is of, None for what is no gradient."""

    op: Operation
    variable: Tensor
    gradient: Tensor
    rate: Tensor | None
    y: Tensor | None


class Average(NamedTuple):
    """What an average moves toward, and a factor: of the way, or, if it keeps, of the old value."""

    value: Tensor
    factor: Tensor
    keeps: bool


def averages_among(ops: Iterable[Operation]) -> dict[Operation, Average]:
    """The variables that ops let follow a value, a + (value - a) * rate or a * decay + value * rate, and how."""
    return {kept_by(op.inputs[0]): found for op in ops if op.type in STORES and (found := _average(op)) is not None}


def kept_by(tensor: Tensor) -> Operation:
    """The variable that a tensor is a value of, also in a branch; else the op that it comes of there."""
    while (source := past(outside(tensor), ("Identity", "ReadVariableOp"))) is not tensor:
        tensor = source
    return tensor.op


def _average(store: Operation) -> Average | None:
    mine, op = kept_by(store.inputs[0]), store.inputs[1].op
    products = [t.op for t in op.inputs if t.op.type == "Mul"] if op.type in ("Add", "AddV2", "Sub") else []
    olds = [p for p in products if mine in map(kept_by, p.inputs)]
    if store.type in ASSIGNS and len(products) == 2 and len(olds) == 1:
        other = products[products[0] is olds[0]]
        return Average(max(other.inputs, key=lambda t: len(t.dims or ())),
                       olds[0].inputs[kept_by(olds[0].inputs[0]) is mine], True)
    op = products[0] if store.type in ASSIGNS and len(products) == 1 else op
    for way, rate in (op.inputs, op.inputs[::-1]) if op.type == "Mul" else ():
        ends = [kept_by(t) is mine for t in way.op.inputs] if way.op.type == "Sub" else []
        if sum(ends) == 1:
            return Average(way.op.inputs[ends[0]], rate, False)
    return None


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


def updates_of(ops: Iterable[Operation], calls: Sequence[GradientCall]) -> list[Update]:
    """Those of the ops that store gradients."""
    return [found for op in ops if is_store(op) and (found := update_of(op, calls)) is not None]


def rates_of(ops: Iterable[Operation], calls: Sequence[GradientCall]) -> list[Tensor]:
    """The learning rates of those of the ops that store gradients."""
    return list(dict.fromkeys(u.rate for u in updates_of(ops, calls) if u.rate is not None))


def growths(stores: Iterable[Operation], states: Sequence[Mapping[str, Any]]) -> dict[Operation, float]:
    """How many times as large as at first, or as 1, the variables are that ops store into; inf if not finite.

    states: the variables in order, of which the first in which some have outgrown the others counts, or the last.
    """
    names = {op: past(op.inputs[0], ("Identity", "ReadVariableOp")).op.name for op in stores}
    found = dict.fromkeys(names, 1.0)
    for state in states:
        for op, name in names.items():
            sizes = [float(np.abs(each[name]).max(initial=1.0)) if name in each else 1.0 for each in (states[0], state)]
            found[op] = float(np.nan_to_num(sizes[1] / sizes[0], nan=np.inf))
        if max(found.values(), default=0.0) >= APART:
            break
    return found


def outgrown(updates: Sequence[Update], states: Sequence[Mapping[str, Any]]) -> list[Update]:
    """The updates whose variables grew far more than those of others; all of them where none did."""
    grown = growths([u.op for u in updates], states)
    return [u for u in updates if grown[u.op] * APART >= max(grown.values())]


def copies_among(operations: Iterable[Operation], variables: Sequence[Tensor]
                 ) -> dict[Operation, tuple[Operation, Operation]]:
    """Variables that assignments copy from other ones: whose they are, and the assignment."""
    known = {variable.op for variable in variables}
    found = {}
    for op in operations:
        if op.type in ASSIGNS and op.inputs[0].op in known:
            source = past(op.inputs[1], ("Identity", "ReadVariableOp")).op
            if source in known and source is not op.inputs[0].op:
                found[op.inputs[0].op] = source, op
    return found


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
