"""Ops that only this library has, written as ops of TensorFlow's: above all gradient ops."""
from __future__ import annotations

from collections.abc import Callable

from ...core.constant_value import static_value
from ...core.graph import Graph, Operation, Tensor
from ...core.op import OPS, build


def _sum_to(op: Operation, x: Tensor, shape: Tensor) -> Tensor:
    axes = build.BroadcastGradientArgs(shape, build.Shape(x, out_type=shape.dtype))[0]
    return build.Reshape(build.Sum(x, axes), shape)


def _keep_where(op: Operation, condition: Tensor, x: Tensor, negate: bool = False) -> Tensor:
    zeros = build.ZerosLike(x)
    return build.SelectV2(condition, zeros, x) if negate else build.SelectV2(condition, x, zeros)


def _kept_shape(op: Operation, shape: Tensor, axis: Tensor) -> Tensor:
    axes = build.Reshape(axis, [-1])
    rank = build.Size(shape)
    ones = build.Fill(build.Shape(axes), build.Cast(1, dtype=shape.dtype))
    places = build.FloorMod(build.Cast(axes, dtype="int32") + rank, rank)
    return build.DynamicStitch(build.Range(0, rank, 1), places, shape, ones, n=2)


def _gather_gradient(op: Operation, shape: Tensor, indices: Tensor, axis: Tensor, dy: Tensor,
                     batch_dims: int = 0) -> Tensor | None:
    """For slices of axis 0, as those of an embedding; others keep their name, and TensorFlow does not know it."""
    known = static_value(op.inputs[2])
    if batch_dims or known is None or int(known) != 0:
        return None
    flat = build.Reshape(indices, [-1])
    rest = build.StridedSlice(shape, [1], [0], [1], end_mask=1)
    rows = build.ConcatV2(0, build.Shape(flat, out_type=shape.dtype), rest)
    count = build.StridedSlice(shape, [0], [1], [1], shrink_axis_mask=1)
    return build.UnsortedSegmentSum(build.Reshape(dy, rows), flat, count)


def _gather_or_zero(op: Operation, params: Tensor, indices: Tensor) -> Tensor:
    zero = build.ZerosLike(indices)
    found = build.GatherV2(params, build.Maximum(indices, zero), 0)
    shape = build.ConcatV2(0, build.Shape(indices),
                           build.Fill(build.ExpandDims(build.Sub(build.Rank(found), build.Rank(indices)), 0), 1))
    is_row = build.Cast(build.Reshape(build.GreaterEqual(indices, zero), shape), dtype=params.dtype)
    return build.Mul(found, is_row)


def _recalled(op: Operation, *inputs: Tensor, type: str, count: int, **_: object) -> Tensor:
    """What the first call gave; a draw has no gradient."""
    if len(op.outputs) > 1:
        return build.IdentityN(*inputs[count:])[0]
    return (build.StopGradient if OPS[type].no_grad is not None else build.Identity)(inputs[count])


EXPANSIONS: dict[str, Callable[..., Tensor | None]] = {
    "SumTo": _sum_to, "KeepWhere": _keep_where, "KeptShape": _kept_shape, "GatherGrad": _gather_gradient,
    "GatherOrZero": _gather_or_zero, "InitializedValue": lambda op, ref, value: build.Identity(value),
    "LogOrZero": lambda op, x: build.Log(build.Select(build.Greater(x, build.ZerosLike(x)), x, build.OnesLike(x))),
    "LogicalXor": lambda op, x, y: build.NotEqual(x, y),
    "Recall": _recalled,
    "SwitchSide": lambda op, data, predicate, side: build.Identity(data),  # in a branch, and that one is taken
    "Swish": lambda op, x: build.Mul(x, build.Sigmoid(x)),
}


def expanded(op: Operation) -> tuple[list[Operation], dict[Tensor, Tensor], Tensor] | None:
    """The operations that stand for one, in a graph of their own: those, their placeholders -> its inputs, the result.

    None for an op that TensorFlow has, or that cannot be made of TensorFlow's.
    """
    if op.type not in EXPANSIONS:
        return None
    graph = Graph()
    with graph.as_default():
        given = [build.Placeholder(dtype=t.dtype.base_dtype, shape=t.dims, name="given") for t in op.inputs]
        result = EXPANSIONS[op.type](op, *given, **op.attrs)
    if result is None:
        return None
    sources: dict[Tensor, Tensor] = dict(zip(given, op.inputs))
    return [each for each in graph.get_operations() if each.outputs[0] not in sources], sources, result
