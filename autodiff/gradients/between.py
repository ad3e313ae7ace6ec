"""Which operations gradients flow through: those on a path from the xs to the ys."""
from __future__ import annotations

from collections.abc import Collection

from ..core.graph import Operation, Tensor
from ..core.traversal import ancestors, reached

_WIDE = 5000  # operations, of which it is worth while to look for those that ys depend on


def carries_gradient(tensor: Tensor) -> bool:
    """Whether a gradient can flow through this tensor: numbers that vary continuously, a handle, or a list of them."""
    dtype = tensor.dtype.base_dtype
    return dtype.is_differentiable or dtype.name in ("resource", "variant")


def inputs_of(op: Operation) -> tuple[Tensor, ...]:
    """Where a gradient of `op` may flow: its inputs; inside of a function, the outer tensor that it captured."""
    return op.inputs if op.inputs or op.type != "Captured" else (op.attrs["external"],)


def ops_between(ys: list[Tensor], xs: list[Tensor]) -> dict[Operation, int]:
    """Operations on some path from xs to ys; how often others of them take what each gives."""
    return counted_back(ys, (_reached_in_order(ys, xs) if ys else set()) or _reached_from(xs))


def counted_back(ys: list[Tensor], among: Collection[Operation]) -> dict[Operation, int]:
    """The operations `among` those given that ys depend on; how often others of them take what each gives."""
    between = {y.op: 0 for y in ys if y.op in among}
    waiting = list(between)
    while waiting:
        op = waiting.pop()
        for tensor in op.inputs or inputs_of(op):
            before = tensor.op
            if before in between:
                between[before] += 1
            elif before in among:
                between[before] = 1
                waiting.append(before)
    return between


def _reached_in_order(ys: list[Tensor], xs: list[Tensor]) -> set[Operation]:
    """As `_reached_from`, up to the last y, in one pass; none unless what an operation takes is listed before it."""
    found = {x.op for x in xs}
    places = {op: op.index for op in (*found, *[y.op for y in ys])}
    graph, listed = ys[0].graph, ys[0].graph.operations.listed
    if graph.building_function or graph.is_rewired or any(listed[at:at + 1] != [op] for op, at in places.items()):
        return set()
    first, last = min(places.values()), max(places.values()) + 1
    behind = sorted(ancestors(ys), key=lambda op: op.index) if last - first > _WIDE else None  # of one step of many
    for op in listed[first:last] if behind is None else behind:
        for tensor in op.inputs:
            if tensor.op in found and (tensor.dtype.base_dtype.is_differentiable or carries_gradient(tensor)):
                found.add(op)
                break
    return found


def _reached_from(xs: list[Tensor]) -> set[Operation]:
    """Operations that depend on some x through tensors that carry gradients, the x's own included."""
    return reached([x.op for x in xs], lambda op: [c for t in op.outputs if carries_gradient(t) for c in t._consumers])


def ends_of(xs: list[Tensor], stops: list[Tensor], between: dict[Operation, int]) -> set[Operation]:
    """Operations where the flow ends: the stop_gradients, and the xs that no other x feeds."""
    return {s.op for s in stops} | {x.op for x in xs if x.op is not None
                                    and not any(t.op in between for t in x.op.inputs)}
