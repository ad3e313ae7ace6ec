"""Variables fetched beside their update: Session.run returns the value after it, as TensorFlow does.

In TensorFlow a fetched reference is the variable's own buffer, and so is what only renames or reshapes it. What
computes with the variable has read it before. Records, watches and consumers see what was read.
"""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.function_graph import updates_of
from ..core.graph import Tensor
from .fetch import Values
from .plan.plan import Plan, variable_of

_SHARES_BUFFER = frozenset({"Identity", "StopGradient", "PreventGradient", "Reshape", "ExpandDims", "Squeeze"})


class Alias(NamedTuple):
    """A fetched tensor, by its place among the fetches, that shares the memory of a variable."""

    place: int
    variable: str


def aliases_of(tensors: Sequence[Tensor], fed: Collection[Tensor], plan: Plan) -> tuple[Alias, ...]:
    """The fetched tensors that share the memory of a variable which the plan changes."""
    found = [(place, variable_of(origin)) for place, tensor in enumerate(tensors)
             if (origin := _origin(tensor, fed)) is not None]
    if not found:
        return ()
    changed = {variable for step in plan.steps for variable in updates_of(step.op)}
    return tuple([Alias(place, variable.name) for place, variable in found if variable in changed])


def _origin(tensor: Tensor, fed: Collection[Tensor]) -> Tensor | None:
    """The reference whose memory a tensor shares; None if it has its own, or is fed."""
    while tensor not in fed:
        if tensor.dtype.is_ref:
            return tensor
        if tensor.op.type not in _SHARES_BUFFER:
            return None
        tensor = tensor.op.inputs[0]
    return None


def after_updates(values: list[Any], aliases: Sequence[Alias], variables: Mapping[str, np.ndarray]) -> Values:
    """Fetched values; aliases have the values that the run left in the variables."""
    shown = Values(values)
    shown.as_read = values
    for place, name in aliases:
        value, shape = variables[name], np.shape(values[place])
        if value.size == np.prod(shape):
            value = value.reshape(shape)
        shown[place] = value.copy() if value.ndim else value[()]
    return shown
