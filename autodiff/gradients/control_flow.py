"""Gradients of branches and loops: functions differentiated into functions.

A branch is differentiated by a branch, a loop by a loop that runs backwards over the history of the loop variables and
repeats each iteration's forward ops. Both are built of differentiable ops, so derivatives of any order follow.
"""
from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from typing import Any

from ..core.errors import GraphError
from ..core.function_graph import Function, FunctionGraph, finish, repeat
from ..core.graph import Graph, Operation, Tensor, get_default_graph
from ..core.indexed_slices import IndexedSlices, dense
from ..core.op import OPS, Blocked, blocked, build
from ..core.traversal import ancestors, outside
from ..ops.control.if_and_while import if_, recall, while_
from .apply_rule import rule_of
from .backprop import gradients
from .between import carries_gradient
from .blocked_reasons import no_gradient_reason


def zeros_of(tensor: Tensor) -> Tensor:
    """Zeros as a gradient of `tensor`, which may be a list or a variable's handle."""
    if tensor.dtype.name == "variant":
        return build.ListZeros(tensor)
    if tensor.dtype.name == "resource":
        tensor = build.ReadVariableOp(tensor, dtype=variable_dtype(tensor))
    return build.ZerosLike(tensor)


def variable_dtype(handle: Tensor) -> Any:
    """The dtype of the value behind a resource handle, also inside of functions."""
    return outside(handle).op.attrs["dtype"]


def plus(a: Tensor, b: Tensor) -> Tensor:
    """The sum of two gradients of one tensor."""
    return build.ListAdd(a, b) if a.dtype.name == "variant" else a + b


def _pull(function: Function, arguments: Sequence[Tensor], captured: Sequence[Tensor], histories: Sequence[Tensor],
          index: Tensor | int, dys: Sequence[Tensor | None], graph: FunctionGraph, rows: bool = False) -> list[Any]:
    """Inside of `graph`: gradients of a function for its arguments and captures, with the forward ops repeated.

    histories: of what its calls kept; index: which call. rows: IndexedSlices may be among the gradients.
    """
    kept = [build.ListItem(history, index, dtype=t.dtype.base_dtype, shape=t.dims)
            for t, history in zip(function.kept, histories)]
    outputs = [graph.capture(y) for y in repeat(function, arguments, captured, kept, graph)]  # maybe a capture
    pairs = [(y, dy) for y, dy in zip(outputs, dys) if dy is not None and carries_gradient(y)]
    xs = [*arguments, *captured]
    if not pairs:
        return [None] * len(xs)
    inside = [graph.capture(x) for x in xs]
    found = gradients([y for y, _ in pairs], inside, grad_ys=[graph.capture(dy) for _, dy in pairs])
    return [g if g is None or rows else dense(g) for g in found]


@if_.gradient
def _if_gradient(node: Any, *dys: Tensor | None) -> list[Any]:
    predicate, *captures = node.inputs
    then_branch, else_branch = node.attrs["then_branch"], node.attrs["else_branch"]
    split = len(then_branch.inputs)
    graph = get_default_graph()
    kept = node.outputs[len(then_branch.outputs):]
    own = len(then_branch.kept)
    found: list[list[Any]] = []
    sides = []
    for branch, captured, histories in ((then_branch, captures[:split], kept[:own]),
                                        (else_branch, captures[split:], kept[own:])):
        side = FunctionGraph(graph)
        with side.as_default():
            found.append(_pull(branch, (), captured, histories, 0, dys, side, rows=True))
        sides.append(side)
    wanted = [(s, i) for s in (0, 1) for i, g in enumerate(found[s]) if g is not None]
    reason = blocked("no path leads from this input to the outputs of its branch")
    dxs: list[Any] = [blocked("a predicate is boolean")] + [reason] * len(captures)
    if not wanted:
        return dxs
    branches = []
    for s, side in enumerate(sides):
        with side.as_default():
            outputs = [part for owner, i in wanted for part in _parts(
                found[owner][i], None if s == owner else zeros_of(side.capture(captures[i + owner * split])))]
        branches.append(finish(side, outputs))
    results = iter(call_if(predicate, branches[0], branches[1]))
    for owner, i in wanted:
        taken = [next(results) for _ in _parts(found[owner][i])]
        dxs[1 + i + owner * split] = IndexedSlices(*taken) if isinstance(found[owner][i], IndexedSlices) else taken[0]
    return dxs


def _parts(gradient: Any, zeros: Tensor | None = None) -> list[Tensor]:
    """The tensors of a gradient, which may be of rows, or of zeros in its place: those have all rows."""
    if not isinstance(gradient, IndexedSlices):
        return [gradient if zeros is None else zeros]
    if zeros is None:
        return [part for part in (gradient.values, gradient.indices, gradient.dense_shape) if part is not None]
    shape = build.Shape(zeros)
    every = build.Cast(build.Range(0, shape[0], 1), dtype=gradient.indices.dtype)
    if gradient.dense_shape is None:
        return [zeros, every]
    return [zeros, every, build.Cast(shape, dtype=gradient.dense_shape.dtype)]


def call_if(predicate: Tensor, then_branch: Function, else_branch: Function, name: str = "If") -> list[Tensor]:
    """Add an If op for two finished functions."""
    graph = get_default_graph()
    with graph.control_dependencies([*then_branch.waits_for, *else_branch.waits_for]):
        result = if_(predicate, *then_branch.captured, *else_branch.captured, then_branch=then_branch,
                     else_branch=else_branch, name=name)
    for branch, taken_if in ((then_branch, True), (else_branch, False)):
        branch.graph.shown = functools.partial(_shown_of_branch, branch.graph, predicate, taken_if)
    return result[:len(then_branch.outputs)] if isinstance(result, list) else [result]


def _shown_of_branch(branch: FunctionGraph, predicate: Tensor, taken_if: bool, tensor: Tensor, other: Graph) -> Tensor:
    """The value that the taken branch gives an inner tensor, in another graph; a run fails if it takes the other.

    Raises GraphError (ValueError) if computing it once more would give something else.
    """
    outer, not_taken = branch.outer, FunctionGraph(branch.outer)
    with branch.as_default():
        taken = finish(branch, [build.ListOf(build.ListReserve(1), 0, tensor)])
    if not taken.is_repeatable:
        raise GraphError(f"Cannot use {tensor.op.name!r} outside of its branch: it draws random numbers, or reads or "
                         "changes a variable", hint="let the branch return it", line=str(tensor.op.site))
    with not_taken.as_default():
        empty = finish(not_taken, [build.ListReserve(1)])
    with outer.as_default(), outer.control_dependencies(None):
        held = call_if(predicate, *((taken, empty) if taken_if else (empty, taken)))[0]
    with other.as_default():
        return build.ListItem(held, 0, dtype=tensor.dtype.base_dtype, shape=tensor.dims, name=tensor.op.name)


def call_while(initial: Sequence[Tensor], cond: Function, body: Function, shapes: Sequence[Any], *,
               back_prop: bool = True, record: dict[str, bool] | None = None, name: str = "While") -> list[Tensor]:
    """Add a While op for finished functions; gives the final loop variables.

    record: whether histories are kept, shared with the loop that this one is a version of.
    """
    graph = get_default_graph()
    with graph.control_dependencies([*cond.waits_for, *body.waits_for]):
        results = while_(*initial, *cond.captured, *body.captured, cond=cond, body=body, shapes=tuple(shapes),
                         record={"on": False} if record is None else record, back_prop=back_prop, name=name)
    for function in (cond, body):
        function.graph.shown = _refused_of_loop
    return results[:len(initial)]


def _refused_of_loop(tensor: Tensor, other: Graph) -> Tensor:
    """Raises GraphError (ValueError): a loop computes its inner tensors anew in each iteration."""
    name, scope = tensor.op.name, other.get_name_scope()
    reader = f"{scope}/{other.adding}" if scope and other.adding[-1:] != "/" else other.adding.removesuffix("/")
    because = "they are in different while loops" if other.in_loop else f"{name!r} is in a while loop"
    raise GraphError(f"Cannot use {name!r} as input to {reader!r} because {because}. See info log for more details.",
                     expected="what tf.while_loop gives", line=str(tensor.op.site))


@while_.gradient
def _while_gradient(node: Any, *dys: Tensor | None) -> list[Any]:
    loop = _BackwardLoop(node, dys)
    if not node.attrs["back_prop"]:
        return [blocked("the loop was built with back_prop=False")] * len(node.inputs)
    node.attrs["record"]["on"] = True
    return loop.build()


class _BackwardLoop:
    """The loop that runs a While backwards: from the last iteration's gradients to the first's."""

    def __init__(self, node: Any, dys: Sequence[Tensor | None]) -> None:
        self.node = node
        self.body: Function = node.attrs["body"]
        self.count = len(node.attrs["shapes"])
        self.skipped = len(node.attrs["cond"].captured)
        self.captured = node.inputs[self.count + self.skipped:]
        self.finals, self.histories = node.outputs[:self.count], node.outputs[self.count:2 * self.count]
        self.kept = node.outputs[2 * self.count:]
        self.d_finals, self.d_histories = dys[:self.count], dys[self.count:2 * self.count]
        received = {k for k in range(self.count) if self.d_finals[k] is not None or self.d_histories[k] is not None}
        moving = _reached_back(self.body, received)
        self.moving = [k for k in range(self.count) if k in moving and carries_gradient(self.finals[k])]
        used = ancestors([self.body.outputs[k] for k in self.moving])
        self.summed = [j for j, c in enumerate(self.captured)
                       if carries_gradient(c) and self.body.inputs[self.count + j].op in used]
        self.blocked_captures: set[int] = set()

    def build(self) -> list[Any]:
        graph = get_default_graph()
        start = build.ListLength(self.histories[0])
        d_start = [dy if dy is not None else zeros_of(t)
                   for t, dy in ((self.finals[k], self.d_finals[k]) for k in self.moving)]
        sums = [zeros_of(self.captured[j]) for j in self.summed]
        initial = [start, *d_start, *sums]
        cond, body = FunctionGraph(graph), FunctionGraph(graph)
        dims: list[Any] = [(), *[self.node.attrs["shapes"][k] for k in self.moving], *[t.dims for t in sums]]
        for side in (cond, body):
            for i, (tensor, d) in enumerate(zip(initial, dims)):
                side.add_argument(tensor.dtype.base_dtype, d, f"backward_{i}")
        with cond.as_default():
            more = cond.arguments[0] > 0
        with body.as_default():
            outputs = self._iteration(body)
        results = call_while(initial, finish(cond, [more], ()), finish(body, outputs), dims)
        return self._gradients(results[1:])

    def _iteration(self, graph: FunctionGraph) -> list[Tensor]:
        left, *rest = graph.arguments
        d_moving, sums = rest[:len(self.moving)], rest[len(self.moving):]
        index = left - 1
        state = []
        for argument, history in zip(self.body.arguments, self.histories):
            value = build.ListItem(history, index, dtype=argument.dtype.base_dtype, shape=argument.dims)
            state.append(value)
        dys: list[Tensor | None] = [None] * self.count
        for k, d in zip(self.moving, d_moving):
            dys[k] = d
        inner_captured = [graph.capture(c) for c in self.captured]
        found = _pull(self.body, state, inner_captured, self.kept, index, dys, graph)
        d_next = [self._with_history(k, found[k], state[k], index) for k in self.moving]
        d_sums = []
        for j, total in zip(self.summed, sums):
            term = found[self.count + j]
            if term is None:
                self.blocked_captures.add(j)
            d_sums.append(total if term is None else plus(total, term))
        return [index, *d_next, *d_sums]

    def _with_history(self, k: int, found: Tensor | None, value: Tensor, index: Tensor) -> Tensor:
        """The gradient of the loop variable at this iteration, its entry in the history included."""
        d_history = self.d_histories[k]
        found = zeros_of(value) if found is None else found
        return found if d_history is None else plus(found, build.ListItemOrZeros(d_history, index, value))

    def _gradients(self, results: list[Tensor]) -> list[Any]:
        dxs: list[Any] = [Blocked("an integer or boolean loop variable")] * self.count
        for k, d in zip(self.moving, results):
            dxs[k] = d
        dxs += [blocked("the condition of a loop is boolean")] * self.skipped
        d_captured: list[Any] = [blocked("no path leads from this input to the loop variables")] * len(self.captured)
        for j, d in zip(self.summed, results[len(self.moving):]):
            if j not in self.blocked_captures:
                d_captured[j] = d
        return dxs + d_captured


def _reached_back(body: Function, received: set[int]) -> set[int]:
    """The loop variables that those which received a gradient come from, in any number of iterations."""
    while True:
        used = ancestors([body.outputs[k] for k in received])
        found = received | {k for k, argument in enumerate(body.arguments) if argument.op in used}
        if found == received:
            return found
        received = found


@recall.gradient
def _recall_gradient(node: Any, *dys: Tensor | None) -> list[Any]:
    """That of the op it stands for, with what that op gave; nothing flows to what was kept."""
    count = node.attrs["count"]
    original: Operation = copy.copy(node)
    original.definition, original.attrs = OPS[node.attrs["type"]], node.attrs["attrs"]
    original.inputs, original.override = node.inputs[:count], node.attrs["override"]
    rule = rule_of(original)
    rest = [blocked("it was kept: the gradient goes to what it was computed from")] * (len(node.inputs) - count)
    if rule is None:
        return [blocked(no_gradient_reason(original) or "")] * count + rest
    found = rule(original, *dys)
    return [*(found if isinstance(found, (list, tuple)) and not isinstance(found, Blocked) else [found]), *rest]
