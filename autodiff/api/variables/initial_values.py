"""Initial values of variables: where they are made; those that read other variables fall back to those' own."""
from __future__ import annotations

import contextlib
from typing import Any

from ...core.collections import GraphKeys
from ...core.convert import to_tensor
from ...core.dtypes import DType
from ...core.errors import ShapeError
from ...core.graph import Operation, Tensor, get_default_graph
from ...core.op import Spec
from ...core.shapes import is_known
from ...core.traversal import ancestors, in_order
from ...ops.common.op_counts import count_more

_AS_THEY_ARE = ("IsVariableInitialized", "VarIsInitializedOp", "InitializedValue")


def initial_tensor(value: Any, dtype: DType | None, validate_shape: bool, *, beside: str,
                   is_resource: bool = False) -> Tensor:
    """An initial value as a tensor; a function is called for it, its operations placed with the variable `beside`.

    Raises ShapeError if a reference's shape must be known and is not.
    """
    graph, made = get_default_graph(), callable(value)
    saved = graph.colocated
    try:
        with graph.name_scope("Initializer") if made or is_resource else contextlib.nullcontext():
            graph.colocated = (beside,) if made else saved
            tensor = to_tensor(graph, value() if made else value, dtype, "initial_value")
    finally:
        graph.colocated = saved
    if validate_shape and not is_resource and not is_known(tensor.dims):
        raise ShapeError(f"the initial value of a variable must have a known shape, found {tensor.describe()}",
                         hint="pass validate_shape=False to allow any shape")
    return tensor


def only_on(device: Any) -> Any:
    """A block whose operations are on this device, whatever is around it; None asks for nothing."""
    stack = contextlib.ExitStack()
    if device:
        graph = get_default_graph()
        stack.enter_context(graph.colocate_with(None, ignore_existing=True))
        stack.enter_context(graph.device(device))
    return stack


def guarded(initial_value: Tensor, variable: str) -> Tensor:
    """`initial_value`, with every read of a variable replaced by its value or, before it has one, its initial value.

    variable: name of the variable that is being made; ops that had to be made anew end in it.
    """
    if initial_value.graph.executing_eagerly or not any(
            t.dtype.is_ref or t.dtype.name == "resource" for op in ancestors([initial_value]) for t in op.outputs):
        return initial_value
    count_more(12 if initial_value.op.type == "InitializedValue" else 0)  # its branches, anew
    return _Guard(initial_value.graph, variable).tensor(initial_value)


class _Guard:
    def __init__(self, graph: Any, variable: str) -> None:
        self.graph, self.suffix = graph, variable
        self.made: dict[Operation, Operation] = {}
        self.variables = {v.op: v for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
                          for v in graph.get_collection(key) if hasattr(v, "initialized_value")}

    def tensor(self, tensor: Tensor) -> Tensor:
        for op in in_order(ancestors([tensor])):
            self.made[op] = self._safe(op)
        return self._input(tensor)

    def _safe(self, op: Operation) -> Operation:
        if op.type == "ReadVariableOp" and op.inputs[0].op in self.variables:
            return self.variables[op.inputs[0].op].initialized_value().op
        if op.type in _AS_THEY_ARE:
            return op
        inputs = tuple(self._input(t) for t in op.inputs)
        if all(new is old for new, old in zip(inputs, op.inputs)):
            return op
        specs = tuple(Spec(t.dtype, t.dims) for t in op.outputs)
        return self.graph.add(op.definition, inputs, op.attrs, specs, f"{op.name.split('/')[-1]}_{self.suffix}")

    def _input(self, tensor: Tensor) -> Tensor:
        if tensor.op in self.variables:
            return self.variables[tensor.op].initialized_value()
        return self.made[tensor.op].outputs[tensor.value_index]
