"""FunctionGraph: the body of a branch or loop, a graph of its own that takes what it needs from outside."""
from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .dtypes import DType
from .graph import Graph, Operation, Tensor
from .op import OPS, Spec
from .shapes import Dims
from .walks import in_order, needed


class FunctionGraph(Graph):
    """A graph inside another. Names, collections and seeds are the outer graph's.

    captures: outer tensor -> the inner one that stands for it. waits_for: outer operations that
    control_dependencies inside asked for; the calling operation must wait for them.
    """

    building_function = True

    def __init__(self, outer: Graph) -> None:
        super().__init__()
        self.outer = outer
        self.names, self.scope, self.seed = outer.names, outer.scope, outer.seed
        self.collections, self.extras, self.overrides = outer.collections, outer.extras, outer.overrides
        self.backprop_origin, self.current_device = outer.backprop_origin, outer.current_device
        self.captures: dict[Tensor, Tensor] = {}
        self.arguments: list[Tensor] = []
        self.waits_for: list[Operation] = []

    @property
    def outermost(self) -> Graph:
        return self.outer.outermost

    def capture(self, tensor: Tensor) -> Tensor:
        """The inner tensor for an outer one, which becomes an input of the calling operation."""
        if tensor.graph is self:
            return tensor
        if tensor.graph.executing_eagerly:
            return super().capture(tensor)
        outside = self.outer.capture(tensor)
        if outside not in self.captures:
            spec = Spec(outside.dtype, outside.dims)
            op = self.add(OPS["Captured"], (), {"external": outside}, (spec,), f"{outside.op.name.split('/')[-1]}_in")
            self.captures[outside] = op.outputs[0]
            outside._consumers.append(op)
        return self.captures[outside]

    def add_argument(self, dtype: DType, dims: Dims | None, name: str) -> Tensor:
        """A parameter of the function, given a value by each call."""
        op = self.add(OPS["Argument"], (), {"dtype": dtype, "shape": dims}, (Spec(dtype, dims),), name)
        self.arguments.append(op.outputs[0])
        return op.outputs[0]

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Iterator[None]:
        inside: list[Any] | None = None if control_inputs is None else []
        for element in control_inputs or ():
            op = element if isinstance(element, Operation) else getattr(element, "op", element)
            if isinstance(op, Operation) and op.graph is not self:
                self.waits_for.append(op)
            elif inside is not None:
                inside.append(element)
        with super().control_dependencies(inside):
            yield


@dataclass(frozen=True, eq=False)
class Function:
    """A finished FunctionGraph: inner inputs (arguments, then captures) and outputs.

    captured: the outer tensors of the captures, in order. cache: what the runtime compiled of it.
    """

    graph: FunctionGraph
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    captured: tuple[Tensor, ...]
    cache: dict[Any, Any] = field(default_factory=dict)

    @property
    def arguments(self) -> tuple[Tensor, ...]:
        return self.inputs[:len(self.inputs) - len(self.captured)]


def finish(graph: FunctionGraph, outputs: Sequence[Tensor]) -> Function:
    """The function that `graph` has become, giving `outputs`."""
    outputs = tuple(graph.capture(t) for t in outputs)
    return Function(graph, (*graph.arguments, *graph.captures.values()), outputs, tuple(graph.captures))


def inline(function: Function, arguments: Sequence[Tensor], captured: Sequence[Tensor], graph: Graph) -> list[Tensor]:
    """Copy a function's operations into `graph`; gives its outputs for these inputs.

    A copy remembers the user's line of its original, and the original as the op it belongs to.
    """
    known: dict[Tensor, Tensor] = dict(zip(function.inputs, (*arguments, *captured)))
    copies: dict[Operation, Operation] = {}
    for op in in_order(needed(function.outputs)):
        if op.outputs and all(t in known for t in op.outputs):
            continue
        inputs = tuple(known[t] for t in op.inputs)
        specs = tuple(Spec(t.dtype, t.dims) for t in op.outputs)
        with graph.control_dependencies([copies[c] for c in op.control_inputs if c in copies]):
            copy = graph.add(op.definition, inputs, op.attrs, specs, op.name.split("/")[-1])
        copy._frames, copy.override = op._frames, op.override
        copy.origin = op
        copies[op] = copy
        known.update(zip(op.outputs, copy.outputs))
    return [known[t] for t in function.outputs]


def functions_of(op: Operation) -> list[Function]:
    """The functions that an operation calls: branches, a loop's condition and body."""
    return [value for value in op.attrs.values() if isinstance(value, Function)]
