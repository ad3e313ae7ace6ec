"""Gradients inside of branches and loops: at the ops there, call by call, and at a tensor each time it was computed."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.errors import ArgumentError, AutodiffError
from ...core.graph import Graph, Operation, Tensor
from ...core.indexed_slices import dense
from ...core.op import Spec, build
from ...gradients.backprop import gradients
from ...gradients.between import carries_gradient
from ...gradients.blocked_reasons import no_gradient_reason
from ...runtime.plan.state import OUTSIDE, CallNumber
from ...runtime.session import RepeatSession
from ..facts.function_calls import Call, Calls, InnerOps, name_of
from ..facts.records import Stats
from ..facts.roles import place_of
from ..facts.stats import statistics
from ..history.loop_values import Turns
from .findings import Hop, Node, WhySmall
from .float64_kernels import own_attrs
from .flow import size_at
from .gradient_tree import node
from .why import HUGE, TINY

_ITERATIONS = 200  # of a loop, the last ones, that a gradient is followed through

Values = Mapping[Tensor, Any]


def nodes_inside(op: Operation, values: Values, calls: Calls, arriving: Values, depth: int) -> list[Node]:
    """The ops that a gradient passes inside of a branch or loop, from its outputs down; none if they are not known.

    values: of the op's inputs. arriving: gradients at its outputs. Figures of a loop are those of the last iteration.
    """
    known = _figures(op, values, calls, arriving)
    return [] if known is None else _nodes(known[0].ops, known[1], depth, known[2].where, each=op.type == "While")


def lost_inside(op: Operation, values: Values, calls: Calls, arriving: Values, given: str = "") -> Hop | None:
    """The op of a branch or loop nearest to its end that gets a gradient and lets none through, in any call, to what
    something was computed for; None if there is none. given: the name of the input that gets no gradient: what blocks
    the way to that counts too.
    """
    known = _figures(op, values, calls, arriving)
    if known is None:
        return None
    backward, found, call = known
    behind = _behind(call, next((at for at, t in enumerate(op.inputs[-len(call.inputs):]) if t.name == given), None))
    for inner in reversed(backward.ops):
        norms = [max((at[t].norm or 0.0 for at in found if t in at), default=0.0) for t in inner.outputs]
        lost = [t for t in inner.inputs if any(t in at for at in found) and t.op.inputs
                and not any(at[t].norm for at in found if t in at)]
        lost = lost or [t for t in inner.inputs if t in behind and no_gradient_reason(inner)]
        if any(norms) and lost:
            return Hop(inner.name, inner.type, lost[0].name, max(norms), 0.0, 0.0, 1.0, place_of(inner))
    return None


def _behind(call: Call, at: int | None) -> set[Tensor]:
    """What a call makes of its input of that number, the input too."""
    found = set() if at is None else {call.inputs[at]}
    for op in call.ops:
        if not found.isdisjoint(op.inputs):
            found.update(op.outputs)
    return found


def _figures(op: Operation, values: Values, calls: Calls,
             arriving: Values) -> tuple["Backward", list[dict[Tensor, Stats]], Call] | None:
    """Of the gradients in each call, the last call first; and the last call. None if they are not known."""
    try:
        made = list(deque(calls.of(op, values), _ITERATIONS))
        if not made or not any(t in arriving for t in op.outputs):
            return None
        backward = Backward(made[-1])
        seeds = [np.asarray(arriving[t]) if t in arriving else None for t in op.outputs]
        found = []
        for call in reversed(made):
            at = backward.run(call, seeds)
            found.append({t: statistics(g) for t, g in at.items() if not isinstance(g, list)})
            seeds = [at.get(t) for t in call.inputs[:len(seeds)]]
    except (AutodiffError, ValueError, TypeError):  # a gradient that cannot be taken apart is still one of the whole op
        return None
    return backward, found, made[-1]


def _nodes(ops: Sequence[Operation], found: list[dict[Tensor, Stats]], depth: int, where: str, *,
           each: bool) -> list[Node]:
    """found: figures of the gradients in each call, the last call first. each: give the norms of each call."""
    nodes: list[Node] = []
    for op in reversed(ops):
        tensor = next((t for t in op.outputs if t in found[0]), None)
        if tensor is None:
            continue
        on = max((t for t in op.inputs if t in found[0]), key=lambda t: size_at(found[0], t), default=None)
        norms = [norms[tensor].norm if tensor in norms else None for norms in reversed(found)] if each else []
        nodes.append(replace(node(tensor, found[0], on, depth, not nodes), inside="" if nodes else where,
                             norms=tuple(norms)))
    return nodes


class Backward:
    """A function's ops once more, in a graph of its own, with the gradients at all tensors that a gradient gets to.

    ops: those that it passes. What they take from other ops is what it was in the call.
    """

    def __init__(self, call: Call) -> None:
        self.ops: list[Operation] = []
        copies: dict[Tensor, Tensor] = {}
        reached = {t for t in call.inputs if carries_gradient(t)}
        self._given: dict[Tensor, Tensor] = {}
        graph = Graph()
        with graph.as_default():
            for op in call.ops:
                if any(t in reached for t in op.inputs) and any(carries_gradient(t) for t in op.outputs):
                    self._copy(graph, op, copies)
                    reached.update(t for t in op.outputs if carries_gradient(t))
            self._given.update((t, _place(t)) for t in call.outputs if t in reached and t not in copies)
            copies.update(self._given)
            self._seeds = {at: _place(t) for at, t in enumerate(call.outputs) if t in reached}
            xs = [t for t in reached if t in copies]
            found = gradients([copies[call.outputs[at]] for at in self._seeds], [copies[t] for t in xs],
                              grad_ys=list(self._seeds.values()))
            self._found = {t: dense(g) for t, g in zip(xs, found) if g is not None}
        self._session = RepeatSession(graph=graph)

    def _copy(self, graph: Graph, op: Operation, copies: dict[Tensor, Tensor]) -> None:
        for tensor in op.inputs:
            if tensor not in copies:
                copies[tensor] = self._given[tensor] = _place(tensor)
        specs = tuple(Spec(t.dtype, t.dims) for t in op.outputs)
        copy = graph.add(op.definition, tuple(copies[t] for t in op.inputs), own_attrs(op.attrs), specs,
                         op.name.split("/")[-1])
        copy.override = op.override
        copies.update(zip(op.outputs, copy.outputs))
        self.ops.append(op)

    def run(self, call: Call, seeds: Sequence[Any]) -> dict[Tensor, Any]:
        """The gradients in one call. seeds: those at its outputs, None for none."""
        feeds = {place: call.values[t] for t, place in self._given.items()}
        feeds.update((place, _zeros(call.values[call.outputs[at]]) if seeds[at] is None else seeds[at])
                     for at, place in self._seeds.items())
        fetches = list(self._found.values())
        if any(isinstance(value, list) for value in feeds.values()):  # lists of tensors, which a loop's gradient takes
            return dict(zip(self._found, self._session.start(fetches, feeds).finish()))
        return dict(zip(self._found, self._session.run(fetches, feeds)))


def _zeros(value: Any) -> Any:
    """Of a list of tensors a list, as a loop's outputs are collected in."""
    return list(map(_zeros, value)) if isinstance(value, list) else None if value is None else np.zeros_like(value)


def _place(tensor: Tensor) -> Tensor:
    return build.Placeholder(dtype=tensor.dtype.base_dtype, shape=None if tensor.dims is None else list(tensor.dims))


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
