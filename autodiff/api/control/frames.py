"""Loops by hand, of Enter, Merge, Switch, NextIteration and Exit: a While takes the place of a loop that is complete.

In a graph a loop is a function, so the operations of such a frame stay what they are, a value handed on; where
`merge.op._update_input(1, next_iteration)` has closed all of a frame's circles, its Exits take what the While gives.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...core.convert import convert_to_tensor
from ...core.errors import ArgumentError
from ...core.function_graph import Function, FunctionGraph, copy_operations, finish
from ...core.graph import Graph, Operation, Tensor
from ...core.op import OPS, build
from ...core.shapes import agreeing
from ...core.sparse_tensor import SparseTensor, parts_of
from ...core.traversal import dependencies, in_order
from ...gradients.control_flow import call_while


def _for_each_part(function: Callable[..., Any], data: Any) -> Any:
    """Of the tensor; of each part of a composite one. A reference to a variable is the same in all frames."""
    if isinstance(data, SparseTensor):
        return SparseTensor(*map(function, parts_of(data)))
    tensor = data._ref() if hasattr(data, "_ref") else convert_to_tensor(data)
    return tensor if tensor.dtype.is_ref else function(tensor)


def _Enter(data: Any, frame_name: str, is_constant: bool = False,  # noqa: N802
           parallel_iterations: int = 10, use_ref: bool = True, use_input_shape: bool = True,
           name: str | None = None) -> Any:
    """The data, inside of a frame; its shape is told there."""
    def entered(part: Tensor) -> Tensor:
        made = build.Enter(part, frame_name=frame_name, is_constant=is_constant, name=name)
        if use_input_shape:
            made.set_shape(part.shape)
        return made

    return _for_each_part(entered, data)


def exit(data: Any, name: str | None = None) -> Any:
    """The data, outside of its frame: of a loop by hand, the variable as the last iteration leaves it."""
    def left(part: Tensor) -> Tensor:
        made = build.Exit(part, name=name)
        close(made.op)
        return made

    return _for_each_part(left, data)


def _NextIteration(data: Any, name: str | None = None) -> Any:  # noqa: N802
    """The data, for the next iteration of its frame."""
    return _for_each_part(lambda part: build.NextIteration(part, name=name), data)


next_iteration = _NextIteration


def loop_cond(input: Any, name: str | None = None) -> Tensor:
    """Whether the loop of this frame goes on."""
    return build.LoopCond(input, name=name)


def _Identity(data: Any, name: str | None = None) -> Any:  # noqa: N802
    """The same data; a reference stays one."""
    return _for_each_part(lambda part: build.Identity(part, name=name), data)


def close(op: Operation) -> None:
    """Let the Exits of a frame take what a While gives, if the loop to which this Merge or Exit belongs is complete."""
    variable = op if op.type == "Merge" else _left_by(op)
    frame, graph = _frame_of(variable), op.graph
    if variable is None or frame is None:
        return
    beside = [other.inputs[0].op for switch in _switches(variable) for other in switch.inputs[1].consumers()]
    first = min([each.inputs[0].op.index for each in beside if _frame_of(each) == frame], default=len(graph.operations))
    merges = [each for each in graph.operations.listed[first:] if _frame_of(each) == frame]
    exits = [(each, merge) for merge in merges for switch in _switches(merge)
             for each in switch.outputs[0].consumers() if each.type == "Exit"]
    if not exits or any(merge.inputs[1].op.type != "NextIteration" for merge in merges):
        return
    with graph.as_default():
        results = _loop(graph, merges, exits[0][0].inputs[0].op.inputs[1], frame)
    for each, merge in exits:
        each.definition = OPS["Identity"]
        each._changed(inputs=(results[merges.index(merge)],))
    for merge in merges:  # no circle any longer; what reads them is computed in the While
        merge.attrs = {"closed": frame}
        merge._changed(inputs=merge.inputs[:1] * 2)


def _switches(merge: Operation) -> list[Operation]:
    return [each for each in merge.outputs[0].consumers() if each.type == "SwitchSide"]


def _left_by(exit_: Operation) -> Operation | None:
    """The Merge of the variable with which an Exit leaves its loop."""
    source = exit_.inputs[0].op
    return source.inputs[0].op if source.type == "SwitchSide" else None


def _frame_of(merge: Operation | None) -> str | None:
    """The frame of which a Merge is a variable."""
    if merge is None or merge.type != "Merge" or merge.inputs[0].op.type != "Enter":
        return None
    return merge.inputs[0].op.attrs["frame_name"]


def _loop(graph: Graph, merges: list[Operation], goes_on: Tensor, frame: str) -> list[Tensor]:
    """The While of a frame. A shape that an iteration changes is unknown where it differs."""
    entered = [merge.inputs[0].op.inputs[0] for merge in merges]
    dims = [t.dims for t in entered]
    while True:
        cond, more = _iteration(graph, merges, dims, [goes_on])
        body, results = _iteration(graph, merges, dims, [merge.inputs[1].op.inputs[0] for merge in merges])
        kept = [agreeing(a, b.dims) for a, b in zip(dims, results)]
        if kept == dims:
            break
        dims = kept
    functions: tuple[Function, Function] = finish(cond, more, ()), finish(body, results)
    return call_while(entered, *functions, dims, name=f"{frame}/While")


def _iteration(graph: Graph, merges: list[Operation], dims: Iterable[Any],
               wanted: list[Tensor]) -> tuple[FunctionGraph, list[Tensor]]:
    """The operations of an iteration in a graph of its own, whose arguments are the frame's variables."""
    inside = FunctionGraph(graph, in_loop=True)
    known: dict[Tensor, Tensor] = {}
    for i, (merge, shape) in enumerate(zip(merges, dims)):
        argument = inside.add_argument(merge.outputs[0].dtype.base_dtype, shape, f"loop_var_{i}")
        known[merge.outputs[0]] = argument
        known.update({switch.outputs[0]: argument for switch in _switches(merge)})
    within = dependencies(wanted, known=known)
    for op in within:
        if op.type == "Enter":  # what does not change from one iteration to the next
            known[op.outputs[0]] = op.inputs[0]
        elif op.type == "Merge" and _frame_of(op) is not None:
            raise ArgumentError(f"{op.name!r} is in a frame whose loop is not complete", line=str(op.site))
    with inside.as_default():
        operations = dependencies(wanted, known=known)
        changing = _after(known, operations)
        copy_operations([op for op in in_order(operations) if op in changing], known, inside)
        return inside, [inside.capture(known.get(t, t)) for t in wanted]


def _after(known: dict[Tensor, Tensor], operations: Iterable[Operation]) -> set[Operation]:
    """Those of some operations that come after an argument of the iteration: the others run once, outside."""
    found: set[Operation] = set()
    for op in in_order(operations):
        if any(t in known or t.op in found for t in op.inputs):
            found.add(op)
    return found
