"""Vectorize a subgraph: the same ops with one more leading axis, in place of a loop."""
from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..core.constant_value import static_value
from ..core.convert import to_tensor
from ..core.errors import NoGradientError, ShapeError
from ..core.graph import Operation, Tensor
from ..core.op import build
from ..core.shapes import is_known
from ..ops.common.batch_axis import shared


def vectorize(outputs: Sequence[Tensor], replaced: dict[Tensor, Tensor], size: Any,
              zero: Collection[Tensor] = ()) -> list[Tensor]:
    """`outputs` as they would be for each slice of some tensors, stacked on a new axis 0.

    replaced: tensor -> the same with one more leading axis of `size` (an int or int32 scalar tensor). zero: tensors
    that are known to be zero in each slice: nothing is computed for them. An output that depends on none of `replaced`
    is repeated. Raises NoGradientError (LookupError) for an op on the way that has no batching rule.
    """
    values: dict[Tensor, Tensor] = dict(replaced)
    for op in depending_on(outputs, replaced):
        if any(t in replaced for t in op.outputs) or all(t in zero for t in op.outputs):
            continue
        terms = [t for t in op.inputs if t not in zero] if op.type == "AddN" else op.inputs
        batched = [t in values for t in terms]
        if not any(batched):  # zeros are what an unbatched op is given too
            continue
        args = [_zeros(t) if t in zero else values.get(t, t) for t in terms]
        whole = _joined_parts(terms, values, size) if op.type == "AddN" else None
        results = _apply(op, args, batched) if whole is None else [whole]
        for tensor, value in zip(op.outputs, results):
            if value is not None:
                values[tensor] = value
    return [values[t] if t in values else repeat(_zeros(t) if t in zero else t, size) for t in outputs]


def _zeros(tensor: Tensor) -> Tensor:
    """Zeros like `tensor`, which is not computed for it if its shape is known."""
    if not is_known(tensor.dims):
        return build.ZerosLike(tensor)
    return build.Fill(list(tensor.dims), to_tensor(tensor.graph, 0, tensor.dtype.base_dtype, "zero"))  # type: ignore


_MASKS = ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def _joined_parts(terms: Sequence[Tensor], values: dict[Tensor, Tensor], size: Any) -> Tensor | None:
    """The sum of `terms` if they are the gradients of slices of one vector that lie apart: put together, not added.

    values: tensor -> the same with a leading axis of `size`. A single term is its own sum. None for any others.
    """
    if len(terms) == 1:
        return values[terms[0]]
    if not isinstance(size, int):
        return None
    parts = [_part(term.op) for term in terms]
    found, reached, whole = [], 0, terms[0].dims
    for low, high, dy in sorted([p for p in parts if p is not None], key=lambda p: p[:2]):
        if low < reached or dy not in values:
            return None
        found += [*_gap(terms[0], size, low - reached), values[dy]]
        reached = high
    return None if None in parts or not whole else build.ConcatV2(1, *found, *_gap(terms[0], size, whole[0] - reached))


def _gap(like: Tensor, size: int, length: int) -> list[Tensor]:
    """Zeros for what no part covers."""
    zero = to_tensor(like.graph, 0, like.dtype.base_dtype, "zero")
    return [build.Fill([size, length], zero)] if length else []


def _part(op: Operation) -> tuple[int, int, Tensor] | None:
    """Where the slice begins and ends whose gradient this op gives, and the gradient; None for anything else."""
    if op.type != "StridedSliceGrad" or not is_known(op.outputs[0].dims) or len(op.outputs[0].dims or ()) != 1:
        return None
    begin, end, step = [static_value(t) for t in op.inputs[1:4]]
    if begin is None or end is None or step is None or step.tolist() != [1] or any(map(op.attrs.get, _MASKS)):
        return None
    bounds = slice(None if op.attrs["begin_mask"] else int(begin[0]), None if op.attrs["end_mask"] else int(end[0]))
    low, high, _ = bounds.indices(op.outputs[0].dims[0])  # type: ignore[index]
    return (low, high, op.inputs[4]) if low < high else None


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
        shared(op, batched, *definition.same)
        result = definition.batching_rule(op, args, batched)
    elif definition.elementwise:
        result = definition(*align(op.inputs, args, batched), **op.attrs)
    else:
        raise NoGradientError(f"op {op.type} has no batching rule", node=f"{op.name}: {op.describe()}",
                              line=f"{op.site}")
    return result if isinstance(result, (list, tuple)) else [result]


def align(inputs: Sequence[Tensor], args: Sequence[Tensor], batched: Sequence[bool]) -> list[Tensor]:
    """Make batched inputs of an elementwise op broadcast as the unbatched did: ones after the new axis."""
    ranks = [None if t.dims is None else len(t.dims) for t in inputs]
    if len(inputs) > 1 and any(r is None for r in ranks):
        raise ShapeError(expected="inputs of known rank to vectorize an elementwise op",
                         found=', '.join(t.describe() for t in inputs), hint="use set_shape to give the rank")
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
