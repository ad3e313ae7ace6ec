"""Densities of a mixture that are all too small for their type: what is far from every component."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....core.constant_value import static_value
from ....core.graph import Operation, Tensor
from ....core.traversal import past
from ...facts.roles import PLACEHOLDERS, at_line, place_of, takes_elements
from ..arithmetic_rules import number
from ..edits.carried_logarithms import carried
from ..findings import Link

_LEAST = -20.0  # of an exponent: below it nothing is near
_SCALES = ("Neg", "Mul", "RealDiv", "Square", "Pow", "Identity")
_GAPS = ("Sub", "SquaredDifference")
_ARRANGED = ("Identity", "Reshape", "ExpandDims", "Squeeze", "Tile", "Cast", "StridedSlice")
_DEEP = 8  # ops from an exponential to a difference


def far_from_all(log: Operation, values: Mapping[Tensor, Any]) -> Link | None:
    """Which number is far from all that the sum behind a logarithm compares it with; None if none is.

    values: what is known of what the ops behind it gave.
    """
    found = carried(log)
    way = found.way if found is not None else ()
    total, exp = (next((op for op in way if op.type == kind), None) for kind in ("Sum", "Exp"))
    gap = _gap(exp.inputs[0]) if exp is not None else None
    if total is None or exp is None or gap is None or exp.inputs[0] not in values or total.inputs[0] not in values or (
            axes := static_value(total.inputs[1])) is None:
        return None
    shape = np.shape(values[total.inputs[0]])
    exponents = _spread(values[exp.inputs[0]], shape)
    data = next((t for t in gap.inputs if (made := past(t, _ARRANGED).op).type in PLACEHOLDERS or takes_elements(made)),
                None)
    sides = [_spread(values.get(t, ()), shape) for t in gap.inputs]
    if data is None or exponents is None or any(side is None for side in sides):
        return None
    largest = np.max(exponents, axis=tuple(np.ravel(axes).tolist()), keepdims=True)
    if not np.isfinite(largest).all() or largest.min() > _LEAST:
        return None
    worst = np.arange(largest.size).reshape(largest.shape) == int(largest.argmin())
    at = np.unravel_index(int(np.where(worst & (exponents == largest), 1, 0).argmax()), shape)
    here, there = (float(side[at]) for side in (sides if gap.inputs[0] is data else sides[::-1]) if side is not None)
    text = (f"{past(data, _ARRANGED).op.name!r} is {number(here)} in row {at[0]}, far from every component, the "
            f"nearest at {number(there)}{at_line(place_of(gap))}: the largest exponential is "
            f"exp({number(float(largest.min()))})")
    return Link(text, place_of(exp), "far", exp.name, tuple(map(int, at)))


def _gap(t: Tensor) -> Operation | None:
    """The difference that an exponent is made of."""
    level = [t.op]
    for _ in range(_DEEP):
        if gap := next((op for op in level if op.type in _GAPS), None):
            return gap
        level = [each.op for op in level if op.type in _SCALES for each in op.inputs]
    return None


def _spread(value: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """An array as broadcasting has it in another's shape; None where it does not fit."""
    try:
        return np.broadcast_to(np.asarray(value), shape) if np.size(value) else None
    except ValueError:
        return None
