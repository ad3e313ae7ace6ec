"""Vectorise a subgraph: the same ops with one more leading axis, in place of a loop."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import NoGradientError, ShapeError
from ..graph import Operation, Tensor
from ..op import build


def vectorise(outputs: Sequence[Tensor], replaced: dict[Tensor, Tensor], size: Any) -> list[Tensor]:
    """`outputs` as they would be for each slice of some tensors, stacked on a new axis 0.

    replaced: tensor -> the same with one more leading axis of `size` (an int or int32 scalar
    tensor). An output that depends on none of them is repeated. Raises NoGradientError
    (LookupError) for an op on the way that has no batching rule.
    """
    values: dict[Tensor, Tensor] = dict(replaced)
    for op in depending_on(outputs, replaced):
        if any(t in replaced for t in op.outputs):
            continue
        batched = [t in values for t in op.inputs]
        args = [values.get(t, t) for t in op.inputs]
        for tensor, value in zip(op.outputs, _apply(op, args, batched)):
            if value is not None:
                values[tensor] = value
    return [values[t] if t in values else repeat(t, size) for t in outputs]


def depending_on(outputs: Sequence[Tensor], sources: dict[Tensor, Tensor]) -> list[Operation]:
    """Operations between `sources` and `outputs`, producers first."""
    order: list[Operation] = []
    depends: dict[Operation, bool] = {}
    stack: list[tuple[Operation, bool]] = [(t.op, False) for t in outputs]
    while stack:
        op, inputs_done = stack.pop()
        if inputs_done:
            depends[op] = any(t in sources or depends[t.op] for t in op.inputs)
            if depends[op]:
                order.append(op)
        elif op not in depends:
            depends[op] = False
            stack.append((op, True))
            stack.extend((t.op, False) for t in op.inputs if t.op not in depends and t not in sources)
    return order


def _apply(op: Operation, args: list[Tensor], batched: list[bool]) -> Sequence[Tensor | None]:
    definition = op.definition
    if definition.batching_rule is not None:
        result = definition.batching_rule(op, args, batched)
    elif definition.elementwise:
        result = definition(*align(op.inputs, args, batched), **op.attrs)
    else:
        raise NoGradientError(f"op {op.type} has no batching rule\nin {op.name}: {op.describe()}\nwritten at {op.site}")
    return result if isinstance(result, (list, tuple)) else [result]


def align(inputs: Sequence[Tensor], args: Sequence[Tensor], batched: Sequence[bool]) -> list[Tensor]:
    """Make batched inputs of an elementwise op broadcast as the unbatched did: ones after the new axis."""
    ranks = [None if t.dims is None else len(t.dims) for t in inputs]
    if len(inputs) > 1 and any(r is None for r in ranks):
        raise ShapeError("expected inputs of known rank to vectorise an elementwise op, found "
                         f"{', '.join(t.describe() for t in inputs)}\nuse set_shape to give the rank")
    highest = max((r for r in ranks if r is not None), default=0)
    aligned = []
    for arg, rank, is_batched in zip(args, ranks, batched):
        if is_batched and rank is not None and rank < highest:
            arg = arg[(slice(None), *[None] * (highest - rank))]
        aligned.append(arg)
    return aligned


def repeat(tensor: Tensor, size: Any) -> Tensor:
    """`tensor` `size` times on a new axis 0."""
    if tensor.dtype.name == "variant":
        return build.ListRepeat(tensor, size)
    shape = build.ConcatV2(0, [size] if isinstance(size, int) else build.Pack(size, axis=0), build.Shape(tensor))
    return build.BroadcastTo(tensor, shape)
