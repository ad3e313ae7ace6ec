"""States that each step of a recurrence takes through a function without an upper bound, as relu."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....core.function_graph import functions_of
from ....core.graph import Operation, Tensor
from ....core.op import build
from ....core.traversal import ancestors, in_order
from ...facts.roles import at_line, place_of
from ..edits.activations import Activation
from ..edits.in_graph import Edit, Now, at_one_place

_UNBOUNDED = ("Relu", "Elu", "Selu", "LeakyRelu", "Softplus")
_PRODUCTS = ("MatMul", "BatchMatMulV2", "Conv2D")
_READS = ("Identity", "ReadVariableOp")
_STEPS = 5  # of a recurrence that is written out


def unbounded(y: Tensor) -> list[Operation]:
    """The ops of the recurrences behind y that have no bound: of loops, or of the last that is written out; else []."""
    behind = in_order(ancestors([y]))
    found = [each for op in behind if op.type == "While" for each in _in_loop(op)]
    return found or next(filter(None, map(_unrolled, reversed([op for op in behind if op.type in _UNBOUNDED
                                                               and op.gradient_of is None]))), [])


def _in_loop(loop: Operation) -> Iterator[Operation]:
    """Of what a loop carries on: through which such functions of a product of itself it goes."""
    for body in functions_of(loop)[1:2]:
        carried = {t.op for t in body.arguments if t.dtype.is_floating and len(t.dims or (0, 0)) > 1}
        kept = ancestors([t for t in body.outputs if t.dtype.is_floating])
        yield from (op for op in in_order(kept) if op.type in _UNBOUNDED and carried & (behind := ancestors(op.inputs))
                    and any(each.type in _PRODUCTS and carried & ancestors(each.inputs) for each in behind))


def _unrolled(op: Operation) -> list[Operation]:
    """The same op of all steps, where one follows from the other by products with the same variable."""
    steps = at_one_place(op)
    if len(steps) < _STEPS:
        return []
    behind = ancestors(op.inputs)
    if len(behind & {*steps}) < _STEPS - 1:
        return []
    weights = [t for each in behind if each.type in _PRODUCTS and each.gradient_of is None for t in each.inputs
               if t.op.type in _READS]
    return steps if weights and max(map(weights.count, {*weights})) >= _STEPS - 1 else []


def without_bound(ops: Sequence[Operation]) -> str:
    """What is said of it."""
    kind = ops[-1].type.lower()
    return f"each step takes the state through {kind}{at_line(place_of(ops[-1]))}, which has no upper bound"


def squashed(ops: Sequence[Operation]) -> list[Edit]:
    """The same with tanh."""
    def edit(op: Operation) -> Edit:
        def made(now: Now) -> Tensor:
            return build.Tanh(now(op.inputs[0]))
        return Edit(op, f"tanh in place of {op.type.lower()} in the recurrence, which bounds the state", made,
                    Activation(op, "{tf}.tanh"), explains=True)

    return [edit(op) for op in ops]
