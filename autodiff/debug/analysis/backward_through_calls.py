"""A gradient on its way through branches and loops: what it is at the ops inside, call by call."""
from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.errors import AutodiffError
from ...core.graph import Graph, Operation, Tensor
from ...core.indexed_slices import dense
from ...core.op import Spec, build
from ...gradients.backprop import gradients
from ...gradients.between import carries_gradient
from ...runtime.session import RepeatSession
from ..facts.function_calls import Call, Calls
from ..facts.records import Stats
from ..facts.stats import statistics
from .findings import Node
from .float64_kernels import own_attrs
from .flow import size_at
from .gradient_tree import node

_ITERATIONS = 200  # of a loop, the last ones, that a gradient is followed through

Values = Mapping[Tensor, Any]


def nodes_inside(op: Operation, values: Values, calls: Calls, arriving: Values, depth: int) -> list[Node]:
    """The ops that a gradient passes inside of a branch or loop, from its outputs down; none if they are not known.

    values: of the op's inputs. arriving: gradients at its outputs. Figures of a loop are those of the last iteration.
    """
    try:
        made = list(deque(calls.of(op, values), _ITERATIONS))
        if not made or not any(t in arriving for t in op.outputs):
            return []
        backward = Backward(made[-1])
        seeds = [np.asarray(arriving[t]) if t in arriving else None for t in op.outputs]
        found = []
        for call in reversed(made):
            at = backward.run(call, seeds)
            found.append({t: statistics(g) for t, g in at.items()})
            seeds = [at.get(t) for t in call.inputs[:len(seeds)]]
    except (AutodiffError, ValueError, TypeError):  # a gradient that cannot be taken apart is still one of the whole op
        return []
    return _nodes(backward.ops, found, depth, made[-1].where, each=op.type == "While")


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
        feeds.update((place, np.zeros_like(call.values[call.outputs[at]]) if seeds[at] is None else seeds[at])
                     for at, place in self._seeds.items())
        fetches = list(self._found.values())
        if any(isinstance(value, list) for value in feeds.values()):  # lists of tensors, which a loop's gradient takes
            return dict(zip(self._found, self._session.start(fetches, feeds).finish()))
        return dict(zip(self._found, self._session.run(fetches, feeds)))


def _place(tensor: Tensor) -> Tensor:
    return build.Placeholder(dtype=tensor.dtype.base_dtype, shape=None if tensor.dims is None else list(tensor.dims))
