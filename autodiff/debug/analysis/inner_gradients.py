"""Gradients at tensors inside of branches and loops: one for each time that they were computed."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ...core.graph import Operation, Tensor
from ...runtime.plan.state import OUTSIDE, CallNumber
from ..facts.function_calls import Calls, InnerOps, name_of
from ..history.loop_values import Turns
from .backward_through_calls import Backward
from .findings import WhySmall
from .why import HUGE, TINY

Values = Mapping[Tensor, Any]


def gradient_turns(x: Tensor, inner: InnerOps, calls: Calls, known: Values, arriving: Values) -> Turns:
    """The gradients at an inner tensor. known: inputs of the outermost branch or loop around it. arriving: gradients
    at its outputs. Raises ArgumentError if none reaches it.
    """
    chain = inner.callers(x.op)
    walk = _Walk(x, set(chain), calls)
    walk.go(chain[0], known, OUTSIDE, (), arriving)
    if not walk.found:
        raise ArgumentError(f"no gradient gets to {x.name!r} inside of {name_of(chain[-1])}",
                            hint=f"ask: why {chain[0].name}")
    walk.found.sort(key=lambda pair: pair[0])
    at, values = zip(*walk.found)
    return Turns(x, tuple(name_of(op) for op in chain if op.type == "While"), at, values)


class _Walk:
    """Goes through calls backwards. found: (iterations, gradient) pairs."""

    def __init__(self, x: Tensor, within: set[Operation], calls: Calls) -> None:
        self.found: list[tuple[tuple[int, ...], Any]] = []
        self._x, self._within, self._calls = x, within, calls

    def go(self, caller: Operation, known: Values, number: CallNumber, at: tuple[int, ...], arriving: Values) -> None:
        made = list(self._calls.of(caller, known, number))
        backward: dict[Any, Backward] = {}
        seeds: Sequence[Any] = [arriving.get(t) for t in caller.outputs]
        for call in reversed(made):
            if call.graph not in backward:
                backward[call.graph] = Backward(call)
            count = len(call.outputs)
            gradients = backward[call.graph].run(call, [None if s is None else np.asarray(s) for s in seeds[:count]])
            here = at if call.turn is None else (*at, call.turn)
            if self._x in gradients:
                self.found.append((here, gradients[self._x]))
            for op in self._within:
                if op.graph is call.graph and any(t in gradients for t in op.outputs):
                    self.go(op, call.values, call.number, here, gradients)
            seeds = [gradients.get(t) for t in call.inputs[:count]]


def arriving_at(caller: Operation, gradient: Callable[[Tensor], Any]) -> dict[Tensor, Tensor]:
    """The gradient tensors at the outputs of a branch or loop. gradient: that of a tensor, or None."""
    found = {t: gradient(t) for t in caller.outputs if t.dtype.base_dtype.is_differentiable}
    return {t: g for t, g in found.items() if g is not None}


def why_turns(y: Tensor, turns: Turns) -> WhySmall:
    """Whether the gradient at an inner tensor vanishes or explodes from one turn to another."""
    norms = [float(np.linalg.norm(value)) for value in turns.values]
    first, last = norms[0], norms[-1]
    kind = "zero" if not first else "tiny" if first < TINY * last else "exploding" if first > HUGE * max(
        last, 1.0) else "fine"
    text = f"the gradient of {y.name} at {turns.tensor.name}, {turns.where() or 'in the branch taken'}: norm {last:.3g}"
    if len(norms) > 1:
        gain = (first / last) ** (1 / (len(norms) - 1)) if first and last else 0.0
        text += f" in the last, {first:.3g} in the first: scaled by {gain:.3g} in each on the way back"
    remedies = {"tiny": "use a gated cell (LSTM, GRU) or a skip connection over the iterations, or fewer of them",
                "exploding": "clip: tf.clip_by_global_norm on the gradients before apply_gradients, and scale down "
                             "what multiplies in each iteration",
                "zero": "look for what cuts it inside: a dead relu, a mask of zeros, stop_gradient"}
    return WhySmall(y.name, turns.tensor.name, kind, norms[0], text, remedies.get(kind, ""), ())
