"""FunctionGraph: the body of a branch or loop, a graph of its own that takes what it needs from outside."""
from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from typing import Any, TypeVar

from .dtypes import DType
from .graph import Graph, Operation, Tensor
from .graph_parts import ControlGroup
from .op import OPS, OpDef, Ref, Spec
from .shapes import Dims
from .traversal import ancestors, dependencies, in_order

F = TypeVar("F", bound=Callable[..., Any])

_NONE: frozenset[Operation] = frozenset()
_ALWAYS_THE_SAME = frozenset(("Argument", "Captured", "Recall", "VariableV2", "VarHandleOp"))  # within one call


class FunctionGraph(Graph):
    """A graph inside another. Names, collections and seeds are the outer graph's.

    captures: outer tensor -> the inner one that stands for it. outside: the outer
    operations that control_dependencies inside asked for, by their block. copied: an operation that
    repeats one of a call -> the graphs that it was copied from, oldest first, with what stands for their tensors.
    in_loop: whether it is part of a loop. updated: the variables that an operation in here, or in a function that
    it calls, changes. shown: set once there is an operation that calls the function.
    """

    building_function = True

    def __init__(self, outer: Graph, *, in_loop: bool = False) -> None:
        super().__init__()
        self.outer, self.in_loop = outer, in_loop or outer.in_loop
        self.names, self.scope, self.seed = outer.names, outer.scope, outer.seed
        self.collected, self.extras, self.overrides = outer.collected, outer.extras, outer.overrides
        self.backprop_origin, self.placement, self.asked = outer.backprop_origin, outer.placement, outer.asked
        self.made_from, self.in_rule, self.keeps_subnormals = outer.made_from, outer.in_rule, outer.keeps_subnormals
        if self.in_rule is not None:
            self.in_rule.has_scopes = True  # the outer graph does not list what is made in here
        self.captures: dict[Tensor, Tensor] = {}
        self.arguments: list[Tensor] = []
        self.outside: list[tuple[ControlGroup, list[Operation]]] = []
        self.copied: dict[Operation, _Copies] = {}
        self.updated: set[Operation] = set()

    @property
    def outermost(self) -> Graph:
        return self.outer.outermost

    def add(self, definition: OpDef, inputs: tuple[Tensor, ...], attrs: dict[str, Any], specs: Sequence[Spec],
            name: str) -> Operation:
        op = super().add(definition, inputs, attrs, specs, name)
        self.updated.update(updates_of(op))
        return op

    def captured_result(self, tensor: Tensor) -> Tensor:
        """`capture`, of what the function gives."""
        self.adding = "NextIteration" if self.in_loop else "Merge"
        return self.capture(tensor)

    def capture(self, tensor: Tensor) -> Tensor:
        """The inner tensor for an outer one, which becomes an input of the calling operation.

        In TensorFlow what was read of a variable shares its memory: read outside and changed in here, it is read anew.
        """
        if tensor.graph is self:
            return tensor
        if tensor.graph.executing_eagerly:
            return super().capture(tensor)
        stand_in = _stand_in(self, tensor, self._copies()) if self.copied else None
        if stand_in is not None:
            return self.capture(stand_in)
        if self.updated and _was_read_of(tensor, self.updated):
            spec = Spec(tensor.dtype, tensor.dims)
            return self.add(OPS["Identity"], (self.capture(origin_of(tensor)),), {}, (spec,), "read").outputs[0]
        if tensor.graph.shown is not None and not self.is_within(tensor.graph):
            return tensor.graph.shown(tensor, self)
        outside = self.outer.capture(tensor)
        if outside not in self.captures:
            spec = Spec(outside.dtype, outside.dims)
            name = f"{outside.op.name.split('/')[-1]}_in"
            with super().control_dependencies(None):  # it runs nowhere: what is made of it waits
                op = self.add(OPS["Captured"], (), {"external": outside}, (spec,), name)
            self.captures[outside] = op.outputs[0]
            outside.add_consumer(op)
        return self.captures[outside]

    def waiting_for(self, outputs: Sequence[Tensor]) -> list[Operation]:
        """The outer operations that some operation which these outputs need is to wait for."""
        needed = dependencies(outputs)
        return [op for group, ops in self.outside if not needed.isdisjoint(group.members) for op in ops]

    def is_within(self, graph: Graph) -> bool:
        """Whether this is the graph, or a function that is built somewhere inside of it."""
        return graph is self or graph is self.outer or (
            isinstance(self.outer, FunctionGraph) and self.outer.is_within(graph))

    def read_anew(self, updated: set[Operation]) -> None:
        """Read variables that an iteration changes in each call, rather than once outside."""
        for outside, inside in list(self.captures.items()):
            if _was_read_of(outside, updated):
                reference = self.capture(origin_of(outside))
                self.operations.link()  # none of them takes it yet
                del self.captures[outside]
                inside.op.definition, inside.op.inputs, inside.op.attrs = OPS["Identity"], (reference,), {}
                reference.add_consumer(inside.op)

    def _copies(self) -> "_Copies":
        """The copies of function bodies that the gradient rule under way may compute in, for values from the call."""
        op = self.backprop_origin[0]
        while op is not None and op not in self.copied:
            op = op.origin
        return self.copied.get(op, ()) if op is not None else ()

    def add_argument(self, dtype: DType, dims: Dims | None, name: str) -> Tensor:
        """A parameter of the function, given a value by each call."""
        op = self.add(OPS["Argument"], (), {"dtype": dtype, "shape": dims}, (Spec(dtype, dims),), name)
        self.arguments.append(op.outputs[0])
        return op.outputs[0]

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Iterator[None]:
        inside: list[Any] | None = None if control_inputs is None else []
        outside: list[Operation] = []
        for element in control_inputs or ():
            op = element if isinstance(element, Operation) else getattr(element, "op", element)
            if isinstance(op, Operation) and op.graph is not self:
                outside.append(op)
            elif inside is not None:
                inside.append(element)
        with super().control_dependencies(inside):
            if outside:
                self.outside.append((self._control[-1], outside))
            yield


def updates_of(op: Operation) -> Set[Operation]:
    """The variables that an operation changes, itself or in a function that it calls."""
    if not op.definition.takes_run:
        return _NONE
    own = {origin_of(t).op for t, p in zip(op.inputs, op.definition.parameters) if p.kind is Ref}
    return own.union(*(function.graph.updated for function in functions_of(op)))


def _was_read_of(tensor: Tensor, variables: set[Operation]) -> bool:
    """Whether an outer tensor is a read of a reference to one of these variables."""
    origin = origin_of(tensor)
    return origin.op in variables and origin.dtype.is_ref and not tensor.dtype.is_ref


def origin_of(tensor: Tensor) -> Tensor:
    """The reference to a variable that an outer tensor is or was read from; else the tensor that was captured."""
    while True:
        if tensor.op.type == "Captured":
            tensor = tensor.op.attrs["external"]
        elif tensor.op.inputs and tensor.op.inputs[0].dtype.is_ref and (
                tensor.op.type == "Identity" or tensor.dtype.is_ref):
            tensor = tensor.op.inputs[0]
        else:
            return tensor


_Copies = tuple[tuple[FunctionGraph, dict[Tensor, Tensor]], ...]


def _stand_in(graph: FunctionGraph, tensor: Tensor, copies: _Copies) -> Tensor | None:
    """The tensor in the repeated call for a tensor of the call, computed there if need be."""
    moved = False
    for i, (source, known) in enumerate(copies):
        if tensor.graph is not source:
            continue
        if tensor not in known:
            if not is_repeatable(tensor.op):
                return None
            found = [_stand_in(graph, t, copies[i:]) for t in tensor.op.inputs]
            inputs = [t for t in found if t is not None]
            if len(inputs) != len(found):
                return None
            copy = _copied(tensor.op, tensor.op.definition, tensor.op.attrs, inputs, graph)
            known.update(zip(tensor.op.outputs, copy.outputs))
            return known[tensor]
        tensor, moved = known[tensor], True
    return tensor if moved else None


class Function:
    """A finished FunctionGraph: inner inputs (arguments, then captures) and outputs.

    captured: the outer tensors of the captures, in order. kept: what a call must leave to its gradient, because
    computing it again would give something else (random numbers, values of variables) or do something twice.
    is_repeatable: whether a call may be made again. cache: what the runtime compiled of it. recalled: inner tensors
    that the gradient of a loop takes rather than to compute them again. waits_for: what a call must wait for. live: the
    numbers of what is needed of all that it gives; computes: the operations it takes. None: all.
    """

    def __init__(self, graph: FunctionGraph, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...],
                 captured: tuple[Tensor, ...], kept: tuple[Tensor, ...] = (), is_repeatable: bool = True) -> None:
        self.graph, self.inputs, self.outputs = graph, inputs, outputs
        self.captured, self.kept, self.is_repeatable = captured, kept, is_repeatable
        self.cache: dict[Any, Any] = {}
        self.recalled: dict[Tensor, None] = {}
        self.waits_for = graph.waiting_for(outputs) if graph.outside else []
        self.live: frozenset[int] | None = None
        self.computes: Collection[Operation] | None = None

    def giving(self, live: frozenset[int], computes: Collection[Operation]) -> "Function":
        """The same function where only a part of what it gives is needed."""
        part = copy.copy(self)  # recalled stays the same object
        part.cache, part.live, part.computes = {}, live, computes
        return part

    @property
    def arguments(self) -> tuple[Tensor, ...]:
        return self.inputs[:len(self.inputs) - len(self.captured)]

    @functools.cached_property
    def calls_python(self) -> bool:
        """Whether a call may run code of the user's."""
        return any(map(calls_python, self.graph.operations.values()))

    @property
    def given(self) -> tuple[Tensor, ...]:
        """The results of a call: the outputs, then the values kept for its gradient."""
        return (*self.outputs, *self.kept)


def finish(graph: FunctionGraph, outputs: Sequence[Tensor], kept: Sequence[Tensor] | None = None) -> Function:
    """The function that `graph` has become, giving `outputs`. kept: the tensors to keep, if more than it must."""
    outputs = tuple(graph.captured_result(t) for t in outputs)
    once = [op for op in in_order(dependencies(outputs)) if not is_repeatable(op)]
    if kept is None and once:
        below = ancestors(outputs)
        kept = [t for op in once if op in below for t in op.outputs if not t.dtype.is_ref]
    return Function(graph, (*graph.arguments, *graph.captures.values()), outputs, tuple(graph.captures),
                    tuple(kept or ()), not once)


def is_repeatable(op: Operation) -> bool:
    """Whether an operation, run twice in one call for the same inputs, gives the same and does nothing else."""
    functions = functions_of(op)
    if functions:
        return all(function.is_repeatable for function in functions)
    if any(t.dtype.is_ref for t in op.inputs):  # it reads a variable, which may have another value by then
        return False
    return not (op.definition.stateful or op.definition.takes_run) or op.type in _ALWAYS_THE_SAME


def inline(function: Function, arguments: Sequence[Tensor], captured: Sequence[Tensor], graph: Graph) -> list[Tensor]:
    """Copy a function's operations into `graph`; gives its outputs, and what it keeps, for these inputs.

    A copy remembers the user's line of its original, and the original as the op it belongs to.
    """
    known: dict[Tensor, Tensor] = dict(zip(function.inputs, (*arguments, *captured)))
    copy_operations(in_order(dependencies(function.given)), known, graph)
    return [known[t] for t in function.given]


def copy_operations(operations: Iterable[Operation], known: dict[Tensor, Tensor], graph: Graph) -> None:
    """Copy operations into `graph`, but those of which all outputs are known; `known` then has all of them."""
    copies: dict[Operation, Operation] = {}
    for op in operations:
        if op.outputs and all(t in known for t in op.outputs):
            continue
        with graph.control_dependencies([copies[c] for c in op.control_inputs if c in copies]):
            copies[op] = copy = _copied(op, op.definition, op.attrs, [known.get(t, t) for t in op.inputs], graph)
        copy.override = op.override
        known.update(zip(op.outputs, copy.outputs))


def repeat(function: Function, arguments: Sequence[Tensor], captured: Sequence[Tensor], kept: Sequence[Tensor],
           graph: FunctionGraph) -> list[Tensor]:
    """As `inline`, for a call that was made: its outputs only, without effects. kept: what that call left."""
    known: dict[Tensor, Tensor] = dict(zip(function.inputs, (*arguments, *captured)))
    left = dict(zip(function.kept, kept))
    for op in in_order(ancestors(function.outputs)):
        if op.outputs and all(t in known for t in op.outputs):
            continue
        inputs = [known[t] for t in op.inputs]
        if is_repeatable(op):
            copy = _copied(op, op.definition, op.attrs, inputs, graph)
            copy.override = op.override
        elif op.outputs and op.outputs[0].dtype.is_ref:  # an assignment gives the variable that it is given
            known[op.outputs[0]] = inputs[0]
            continue
        else:
            attrs = {"type": op.type, "attrs": op.attrs, "override": op.override, "count": len(inputs)}
            copy = _copied(op, OPS["Recall"], attrs, [*inputs, *(left[t] for t in op.outputs)], graph)
        graph.copied[copy] = (*function.graph.copied.get(op, ()), (function.graph, known))
        known.update(zip(op.outputs, copy.outputs))
    return [known[t] for t in function.outputs]


def _copied(op: Operation, definition: OpDef, attrs: dict[str, Any], inputs: Sequence[Tensor],
            graph: Graph) -> Operation:
    specs = tuple(Spec(t.dtype if definition is op.definition else t.dtype.base_dtype, t.dims) for t in op.outputs)
    copy = graph.add(definition, tuple(inputs), attrs, specs, f"{graph.unique_name(op.name.split('/')[-1])}/")
    copy._frames = op._frames
    copy.origin = op
    return copy


def calls_python(op: Operation) -> bool:
    """Whether an operation, or one in a function that it calls, runs code of the user's."""
    return op.type == "PyFunc" or any(function.calls_python for function in functions_of(op))


def taking_anew(function: F) -> F:
    """Mark a Python function each of whose calls takes what no other gets."""
    function.__dict__["takes_anew"] = True
    return function


def takes_anew(op: Operation) -> bool:
    """Whether each run of a Python function takes what no other gets: an iterator's element, a queue's, a clock's.

    One that is given nothing can only give what it keeps itself; others are marked by `taking_anew`.
    """
    return op.type == "PyFunc" and (not op.inputs or hasattr(op.attrs["function"], "takes_anew"))


def kernel(function: F) -> F:
    """Mark a Python function that gives what its arguments alone make, in their precision."""
    function.__dict__["is_kernel"] = True
    return function


def is_kernel(op: Operation) -> bool:
    """Whether an operation calls a Python function that is marked by `kernel`."""
    return op.type == "PyFunc" and hasattr(op.attrs["function"], "is_kernel")


def functions_of(op: Operation) -> list[Function]:
    """The functions that an operation calls: branches, a loop's condition and body."""
    return [value for value in op.attrs.values() if isinstance(value, Function)]
