"""Which operations gradients flow through: those on a path from the xs to the ys."""
from __future__ import annotations

from collections import deque

from ..core.graph import Operation, Tensor


def carries_gradient(tensor: Tensor) -> bool:
    """Whether a gradient can flow through this tensor: numbers that vary continuously, a handle, or a list of them."""
    dtype = tensor.dtype.base_dtype
    return dtype.is_differentiable or dtype.name in ("resource", "variant")


def inputs_of(op: Operation) -> tuple[Tensor, ...]:
    """Where a gradient of `op` may flow: its inputs; inside of a function, the outer tensor that it captured."""
    return op.inputs if op.inputs or op.type != "Captured" else (op.attrs["external"],)


def ops_between(ys: list[Tensor], xs: list[Tensor]) -> dict[Operation, int]:
    """Operations on some path from xs to ys, from the ys backwards; each with 0."""
    reached = _reached_from(xs)
    between: dict[Operation, int] = {}
    queue = deque(dict.fromkeys(y.op for y in ys))
    while queue:
        op = queue.popleft()
        if op in between or op not in reached:
            continue
        between[op] = 0
        queue.extend([t.op for t in op.inputs or inputs_of(op) if t.op not in between])
    return between


def _reached_from(xs: list[Tensor]) -> set[Operation]:
    """Operations that depend on some x through tensors that carry gradients, the x's own included."""
    reached: set[Operation] = set()
    queue = deque(x.op for x in xs)
    while queue:
        op = queue.popleft()
        if op in reached:
            continue
        reached.add(op)
        for tensor in op.outputs:
            if carries_gradient(tensor):
                queue.extend(tensor._consumers)
    return reached


def ends_of(xs: list[Tensor], stops: list[Tensor], between: dict[Operation, int]) -> set[Operation]:
    """Operations where the flow ends: the stop_gradients, and the xs that no other x feeds."""
    return {s.op for s in stops} | {x.op for x in xs if x.op is not None
                                    and not any(t.op in between for t in x.op.inputs)}
