"""Ops that only this library has, written as ops of TensorFlow's: above all gradient ops."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...core.constant_value import static_value
from ...core.graph import Graph, Operation, Tensor
from ...core.op import OPS, build
from ...files.op_table import op_schema
from .differences import their_op
from .tensor_lists import LISTS


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
    "LogicalXor": lambda op, x, y: build.NotEqual(x, y), "Recall": _recalled, **LISTS,
    "SwitchSide": lambda op, data, predicate, side: build.Identity(data),  # in a branch, and that one is taken
    "Swish": lambda op, x: build.Mul(x, build.Sigmoid(x))}


# Operations of a graph of their own, written in another; how that names what their placeholders are for; the result.
Scratch = tuple[list[Operation], dict[Tensor, str], Tensor]


def scratch(given: Iterable[tuple[Any, str]], make: Callable[..., Any]) -> Scratch | None:
    """What `make` builds of placeholders; None where it gives None. given: what has a dtype and dims, and its name."""
    with Graph().as_default() as graph:
        sources = {build.Placeholder(dtype=t.dtype.base_dtype, shape=t.dims, name="given"): name for t, name in given}
        made = make(*sources)
        if made is not None and op_schema(their_op(made.op)).outputs[0].name != "output":  # type: ignore[union-attr]
            made = build.Identity(made)  # functions name an output as its op does, and to them the op is not known
    own = [each for each in graph.get_operations() if each.outputs[0] not in sources]
    return None if made is None else (own, sources, made)


def expanded(op: Operation, inputs: Iterable[str]) -> Scratch | None:
    """The operations that stand for one; None if TensorFlow has it, or none like it. inputs: their names."""
    if op.type not in EXPANSIONS:
        return None
    return scratch(zip(op.inputs, inputs), lambda *given: EXPANSIONS[op.type](op, *given, **op.attrs))
