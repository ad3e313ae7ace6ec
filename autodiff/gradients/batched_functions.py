"""Batching rules of branches, loops and lists: the functions they call are vectorized in turn."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import NoGradientError
from ..core.function_graph import Function, FunctionGraph, finish, inline
from ..core.graph import Tensor, get_default_graph
from ..core.op import OPS, build
from ..core.traversal import dependencies, in_order
from ..ops.control import batched_lists, tensor_lists
from ..ops.control.if_and_while import if_, recall, while_
from .batching import repeat, vectorize
from .control_flow import call_if, call_while


def _first_slice(batched: Tensor) -> Tensor:
    return build.ListFirstSlices(batched) if batched.dtype.name == "variant" else batched[0]


def _size_of(args: Sequence[Tensor], batched: Sequence[bool]) -> Tensor:
    for arg, is_batched in zip(args, batched):
        if is_batched and arg.dtype.name != "variant":
            return build.Shape(arg)[0]
    return build.ListBatchSize(next(arg for arg, b in zip(args, batched) if b))


def _vectorized(function: Function, arguments: Sequence[Tensor], captured: Sequence[Tensor], batched: Sequence[bool],
                size: Tensor, graph: FunctionGraph, wanted: Sequence[bool]) -> list[Tensor]:
    """Inside of `graph`: what a call gives, with a leading axis where `wanted`, for inputs that are `batched`."""
    inside = [graph.capture(t) for t in (*arguments, *captured)]
    single = [_first_slice(t) if b else t for t, b in zip(inside, batched)]
    count = len(arguments)
    outputs = inline(function, single[:count], single[count:], graph)
    replaced = {s: t for s, t, b in zip(single, inside, batched) if b}
    rows = vectorize([y for y, w in zip(outputs, wanted) if w], replaced, size)
    by_row = iter(rows)
    return [next(by_row) if w else y for y, w in zip(outputs, wanted)]


@if_.batched
def _if_batched(node: Any, args: list[Tensor], batched: list[bool]) -> list[Tensor]:
    predicate, *captures = args
    then_branch, else_branch = node.attrs["then_branch"], node.attrs["else_branch"]
    split = len(then_branch.inputs)
    size = _size_of(args, batched)
    sides = ((then_branch, captures[:split], batched[1:1 + split]),
             (else_branch, captures[split:], batched[1 + split:]))
    count = len(then_branch.outputs)
    if batched[0]:
        then_rows, else_rows = (_inlined(branch, own, flags, size) for branch, own, flags in sides)
        kept = [build.ListOf(build.ListReserve(1), 0, t) for t in (*then_rows[count:], *else_rows[count:])]
        return [build.Select(predicate, a, b) for a, b in zip(then_rows[:count], else_rows)] + kept
    branches = []
    for branch, own, flags in sides:
        side = FunctionGraph(get_default_graph())
        with side.as_default():
            outputs = _vectorized(branch, (), own, flags, side.capture(size), side, [True] * len(branch.given))
        branches.append(finish(side, outputs[:count], outputs[count:]))
    return list(call_if(predicate, branches[0], branches[1])[0].op.outputs)


def _inlined(branch: Function, captured: Sequence[Tensor], batched: Sequence[bool], size: Tensor) -> list[Tensor]:
    """Both branches of a choice that differs from slice to slice are computed, outside of any function."""
    single = [_first_slice(t) if b else t for t, b in zip(captured, batched)]
    outputs = inline(branch, (), single, get_default_graph())
    return vectorize(outputs, {s: t for s, t, b in zip(single, captured, batched) if b}, size)


@while_.batched
def _while_batched(node: Any, args: list[Tensor], batched: list[bool]) -> list[Tensor | None]:
    cond, body, shapes = node.attrs["cond"], node.attrs["body"], node.attrs["shapes"]
    count, skipped = len(shapes), len(cond.captured)
    cond_captured, body_captured = args[count:count + skipped], args[count + skipped:]
    moving = _spread(body, batched[:count], batched[count + skipped:])
    cond_flags = [*moving, *batched[count:count + skipped]]
    if _depends(cond.outputs, [t for t, b in zip(cond.inputs, cond_flags) if b])[0]:
        raise NoGradientError("a loop whose length differs from slice to slice cannot be vectorized",
                              node=f"{node.name}: {node.type}", line=f"{node.site}")
    size = _size_of(args, batched)
    initial = [repeat(t, size) if m and not b else t for t, m, b in zip(args, moving, batched)]
    dims = [(None, *d) if m and d is not None and t.dtype.name != "variant" else d
            for d, m, t in zip(shapes, moving, initial)]
    graph = get_default_graph()
    flags_of_body = [*moving, *batched[count + skipped:]]
    kept = _depends(body.kept, [t for t, b in zip(body.inputs, flags_of_body) if b])
    functions = []
    for function, captured, flags, wanted in (
            (cond, cond_captured, cond_flags, [False]),
            (body, body_captured, flags_of_body, [*moving, *kept])):
        side = FunctionGraph(graph)
        for i, (tensor, d) in enumerate(zip(initial, dims)):
            side.add_argument(tensor.dtype.base_dtype, d, f"batched_{i}")
        with side.as_default():
            outputs = _vectorized(function, side.arguments, captured, flags, side.capture(size), side, wanted)
        outputs_of = len(function.outputs)
        functions.append(finish(side, outputs[:outputs_of], outputs[outputs_of:]))
    results = call_while(initial, functions[0], functions[1], dims, back_prop=node.attrs["back_prop"],
                         record=node.attrs["record"])
    return [r if m else None for r, m in zip(results[0].op.outputs, (*moving, *moving, *kept))]


@recall.batched
def _recall_batched(node: Any, args: list[Tensor], batched: list[bool]) -> list[Tensor | None]:
    """The kept value as it is: the inputs are there for the gradient alone."""
    count = node.attrs["count"]
    return [t if b else None for t, b in zip(args[count:], batched[count:])]


def _spread(body: Function, arguments: Sequence[bool], captured: Sequence[bool]) -> list[bool]:
    """Which loop variables differ from slice to slice, once the body has run often enough."""
    moving = list(arguments)
    while True:
        sources = [t for t, b in zip(body.inputs, (*moving, *captured)) if b]
        spread = [m or d for m, d in zip(moving, _depends(body.outputs, sources))]
        if spread == moving:
            return moving
        moving = spread


def _depends(outputs: Sequence[Tensor], sources: Sequence[Tensor]) -> list[bool]:
    """Whether each output depends on any of `sources`."""
    tainted = set(sources)
    for op in in_order(dependencies(outputs)):
        if any(t in tainted for t in op.inputs):
            tainted.update(op.outputs)
    return [t in tainted for t in outputs]


def _both(args: Sequence[Tensor], batched: Sequence[bool], which: Sequence[int]) -> list[Tensor]:
    """`args` with those at `which` given a leading axis if they have none."""
    if not any(batched[i] for i in which):
        return list(args)
    size = _size_of([args[i] for i in which], [batched[i] for i in which])
    return [repeat(t, size) if i in which and not batched[i] else t for i, t in enumerate(args)]


def _refuse_index(node: Any, batched: Sequence[bool], position: int) -> None:
    if batched[position]:
        raise NoGradientError(f"a list index that differs from slice to slice cannot be vectorized: {node.type}")


def _attrs(node: Any) -> dict[str, Any]:
    """The attributes, with one more leading axis in the shape of an element."""
    attrs = dict(node.attrs)
    if attrs.get("shape") is not None:
        attrs["shape"] = (None, *attrs["shape"])
    return attrs


def _swap(x: Tensor) -> Tensor:
    """The first two axes exchanged."""
    return build.Transpose(x, build.ConcatV2(0, [1, 0], build.Range(2, build.Rank(x), 1)))


def _same_op(*aligned: int) -> Any:
    """A rule: the same op; the inputs at `aligned` (or the first) have the leading axis."""
    def rule(node: Any, args: list[Tensor], batched: list[bool]) -> list[Tensor | None]:
        names = [p.name for p in node.definition.parameters]
        if "index" in names:
            _refuse_index(node, batched, names.index("index"))
        if not aligned and not batched[0]:
            return [None]  # of the others only the length is used
        return [node.definition(*_both(args, batched, aligned), **_attrs(node))]
    return rule


def _unbatched_answer(node: Any, args: list[Tensor], batched: list[bool]) -> list[None]:
    return [None]


@tensor_lists.list_stack.batched
@tensor_lists.list_gather.batched
def _stack_batched(node: Any, args: list[Tensor], batched: list[bool]) -> list[Tensor | None]:
    if node.type == "ListGather":
        _refuse_index(node, batched, 1)
    return [None] if not batched[0] else [_swap(node.definition(*args, **_attrs(node)))]


tensor_lists.list_unstack.batched(lambda node, args, batched: [build.ListUnstack(_swap(args[0]))])


@tensor_lists.list_restack.batched
@tensor_lists.list_gather_or_zeros.batched
def _like_batched(node: Any, args: list[Tensor], batched: list[bool]) -> list[Tensor]:
    last = len(args) - 1
    if last == 2:
        _refuse_index(node, batched, 1)
    args = _both(args, batched, (0, last))
    return [_swap(node.definition(*args[:-1], _swap(args[-1])))]


@tensor_lists.list_concat.batched
def _concat_batched(node: Any, args: list[Tensor], batched: list[bool]) -> list[Tensor]:
    items, like = (build.ListSwapAxes(arg) for arg in _both(args, batched, (0, 1)))
    dtype = node.attrs["dtype"]
    return [_swap(build.ListConcat(items, like, dtype=dtype))]


@tensor_lists.list_split.batched
def _split_batched(node: Any, args: list[Tensor], batched: list[bool]) -> list[Tensor]:
    _refuse_index(node, batched, 1)
    return [build.ListSwapAxes(build.ListSplit(_swap(args[0]), args[1]))]


@tensor_lists.list_scatter.batched
def _scatter_batched(node: Any, args: list[Tensor], batched: list[bool]) -> list[Tensor]:
    _refuse_index(node, batched, 1)
    items, indices, x = _both(args, batched, (0, 2))
    return [build.ListScatter(items, indices, _swap(x))]


def _next_axis(node: Any, args: list[Tensor], batched: list[bool]) -> list[Tensor]:
    return [node.definition(*args, axis=node.attrs["axis"] + 1)]


batched_lists.list_repeat.batched(lambda node, args, batched: [build.ListSwapAxes(build.ListRepeat(*args))])


batched_lists.list_sum_slices.batched(lambda node, args, batched: [build.ListSumSlices(build.ListSwapAxes(args[0]))])


_RULES = {
    "ListItem": _same_op(), "ListItemOrZeros": _same_op(0, 2), "ListOf": _same_op(0, 2), "ListSet": _same_op(0, 2),
    "ListTrim": _same_op(), "ListExtend": _same_op(), "ListClear": _same_op(), "ListAdd": _same_op(0, 1),
    "ListFirstSlices": _next_axis, "ListSwapAxes": _next_axis, "ListReserve": _unbatched_answer,
    "ListLength": _unbatched_answer, "ListSizes": _unbatched_answer,
    "ListZeros": _unbatched_answer, "ListBatchSize": _unbatched_answer,
    "Argument": _unbatched_answer, "Captured": _unbatched_answer}
for _name, _rule in _RULES.items():
    OPS[_name].batched(_rule)
