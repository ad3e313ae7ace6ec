"""The record of a graph's differentiations: the calls, and why an input got no gradient."""
from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ..core.graph import Graph, Operation, Tensor
from ..core.op import OPS, REGISTERED_GRADIENTS
from .aggregate import Gradient


class GradientCall:
    """One call of `gradients`, as its graph remembers it."""

    def __init__(self, ys: tuple[Tensor, ...], xs: tuple[Tensor, ...], stops: tuple[Tensor, ...],
                 found: Mapping[Tensor, Gradient | None]) -> None:
        self.ys, self.xs, self.stops = ys, xs, stops
        self._pairs = tuple(found), tuple(found.values())  # a dict of as many as operations takes three times as much

    @cached_property
    def found(self) -> dict[Tensor, Gradient | None]:
        """Tensor -> the total gradient that reached it."""
        return dict(zip(*self._pairs))


def no_gradient_reason(op: Operation) -> str | None:
    """Why no gradient at all flows through an operation, or None if one may."""
    if op.override is not None:
        name = op.override
        if name in OPS and name not in REGISTERED_GRADIENTS:
            return OPS[name].no_grad
        return f"{name!r} is registered as not differentiable" if REGISTERED_GRADIENTS.get(name, 0) is None else None
    return op.definition.no_grad


def note_blocked(graph: Graph, op: Operation, index: int, reason: str) -> None:
    """Keep why input `index` of `op` got no gradient, for `why`."""
    graph.extras.setdefault("blocked", {})[op, index] = reason


def blocked_reason(op: Operation, index: int) -> str | None:
    """Why input `index` of `op` got no gradient when one was last built, or None."""
    return op.graph.extras.get("blocked", {}).get((op, index))
