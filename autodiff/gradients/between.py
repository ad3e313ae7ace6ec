"""Which operations gradients flow through: those on a path from the xs to the ys."""
from __future__ import annotations

from collections.abc import Collection

from ..core.graph import Operation, Tensor


def carries_gradient(tensor: Tensor) -> bool:
    """Whether a gradient can flow through this tensor: numbers that vary continuously, a handle, or a list of them."""
    dtype = tensor.dtype.base_dtype
    return dtype.is_differentiable or dtype.name in ("resource", "variant")


def inputs_of(op: Operation) -> tuple[Tensor, ...]:
    """Where a gradient of `op` may flow: its inputs; inside of a function, the outer tensor that it captured."""
    return op.inputs if op.inputs or op.type != "Captured" else (op.attrs["external"],)


def ops_between(ys: list[Tensor], xs: list[Tensor]) -> dict[Operation, int]:
    """Operations on some path from xs to ys; how often others of them take what each gives."""
    return counted_back(ys, _reached_from(xs))


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


def _reached_from(xs: list[Tensor]) -> set[Operation]:
    """Operations that depend on some x through tensors that carry gradients, the x's own included."""
    reached = {x.op for x in xs}
    waiting = list(reached)
    while waiting:
        for tensor in waiting.pop().outputs:
            if tensor.dtype.base_dtype.is_differentiable or carries_gradient(tensor):  # most without a call
                for op in tensor._consumers:
                    if op not in reached:
                        reached.add(op)
                        waiting.append(op)
    return reached


def ends_of(xs: list[Tensor], stops: list[Tensor], between: dict[Operation, int]) -> set[Operation]:
    """Operations where the flow ends: the stop_gradients, and the xs that no other x feeds."""
    return {s.op for s in stops} | {x.op for x in xs if x.op is not None
                                    and not any(t.op in between for t in x.op.inputs)}
