"""Small ops of neural networks: bias, half the sum of squares, membership in the best k."""

import math

import numpy as np

from ...core.declare import op
from ...core.dimensions import merge_sizes
from ...core.dtypes import FLOATS, NUMBERS, bool_
from ...core.errors import ArgumentError, ShapeError
from ...core.infer import rank_of
from ...core.op import Float32, Index, Spec, build
from ...core.shapes import show
from ..common.batch_axis import all_batched, rank_in


def channel_axis(data_format, rank):
    """Where a layout such as "NHWC", "NCHW" or "NDHWC" keeps its channels."""
    if not isinstance(data_format, str) or not data_format.startswith("N") or "C" not in data_format:
        raise ArgumentError(expected="a data_format of the form 'N...C' or 'NC...'", found=repr(data_format))
    return 1 if data_format.startswith("NC") else rank - 1


def _biased(value, bias, *, data_format="NHWC"):
    rank = rank_of(value, at_least=2, what="value")
    rank_of(bias, exactly=1, what="bias")
    channel_axis(data_format, 4)
    if rank is None:
        return Spec(value.dtype.base_dtype, None)
    axis = channel_axis(data_format, rank)
    if bias.dims is None:
        return Spec(value.dtype.base_dtype, value.dims)
    try:
        size = merge_sizes(value.dims[axis], bias.dims[0])
    except ShapeError:
        raise ShapeError("one bias for each channel", expected=f"{value.dims[axis]} of {show(value.dims)}",
                         found=bias.dims[0]) from None
    return Spec(value.dtype.base_dtype, (*value.dims[:axis], size, *value.dims[axis + 1:]))


@op("BiasAdd", infer=_biased, dtypes=NUMBERS)
def bias_add(value, bias, *, data_format="NHWC", out=None):
    """One number added to each channel. value: number[..., c] or [n, c, ...], bias: number[c] -> value's shape."""
    if data_format.startswith("NC"):
        bias = bias.reshape(-1, *[1] * (value.ndim - 2))
    return np.add(value, bias, out=out)


def _summed(out_backprop, *, data_format="NHWC"):
    rank = rank_of(out_backprop, at_least=2, what="out_backprop")
    dims = (None,) if rank is None else (out_backprop.dims[channel_axis(data_format, rank)],)
    return Spec(out_backprop.dtype.base_dtype, dims)


@op("BiasAddGrad", infer=_summed, dtypes=NUMBERS)
def bias_add_grad(out_backprop, *, data_format="NHWC"):
    """Sums over all but the channels. out_backprop: number[..., c] or [n, c, ...] -> number[c]."""
    if data_format.startswith("NC"):
        return np.add.reduce(out_backprop, axis=(0, *range(2, out_backprop.ndim)))
    if out_backprop.ndim == 2:
        return np.add.reduce(out_backprop, 0)
    return np.add.reduce(out_backprop.reshape(math.prod(out_backprop.shape[:-1]), out_backprop.shape[-1]), axis=0)


bias_add.gradient(lambda node, dy: (dy, build.BiasAddGrad(dy, data_format=node.attrs["data_format"])))


@bias_add_grad.gradient
def _(node, dy):
    return (build.BiasAdd(build.ZerosLike(node.inputs[0]), dy, data_format=node.attrs["data_format"]),)


@bias_add.batched
def _(node, args, batched):
    value, bias = args
    rank = rank_in(node)
    axis = channel_axis(node.attrs["data_format"], rank)
    if not batched[1] and axis == rank - 1:
        return build.BiasAdd(value, bias)
    key = [None] * rank
    key[axis] = slice(None)
    return build.Add(value, bias[(slice(None), *key) if batched[1] else tuple(key)])


@bias_add_grad.batched
def _(node, args, batched):
    rank = rank_in(node)
    axis = channel_axis(node.attrs["data_format"], rank)
    return build.Sum(args[0], [i + 1 for i in range(rank) if i != axis])


@op("L2Loss", infer=lambda t: Spec(t.dtype.base_dtype, ()), dtypes=FLOATS)
def l2_loss(t):
    """Half the sum of squares. t: float[...] -> float[]."""
    flat = t.ravel()
    return t.dtype.type(0.5) * np.dot(flat, flat)


l2_loss.gradient(lambda node, dy: (node.inputs[0] * dy,))


@l2_loss.batched
def _(node, args, batched):
    half = build.Sum(args[0] * args[0], list(range(1, rank_in(node) + 1)))
    return half * 0.5


def _best(predictions, targets, k):
    rank_of(predictions, exactly=2, what="predictions")
    rank_of(targets, exactly=1, what="targets")
    n = merge_sizes(predictions.dims[0] if predictions.dims else None, targets.dims[0] if targets.dims else None)
    return Spec(bool_, (n,))


@op("InTopKV2", infer=_best, no_grad="a comparison is a boolean")
def in_top_k(predictions: Float32, targets: Index, k: Index):
    """Whether the score of each target is among its row's k best; ties count as in.

    predictions: float32[n, classes], targets: int[n], k: int[] -> bool[n]. A target out of range is never in,
    nor is any where a score of the row is not finite.
    """
    known = (targets >= 0) & (targets < predictions.shape[1])
    if not known.any():
        return known
    score = predictions[np.arange(len(targets)), np.where(known, targets, 0)]
    better = np.count_nonzero(predictions > score[:, None], axis=1)
    return known & np.isfinite(predictions).all(axis=1) & (better < k)


@in_top_k.batched
def _(node, args, batched):
    predictions, targets = all_batched(args[:2], batched[:2]) if any(batched[:2]) else args[:2]
    rows = build.Reshape(predictions, build.Pack(-1, build.Shape(predictions)[2], axis=0))
    return build.Reshape(build.InTopKV2(rows, build.Reshape(targets, [-1]), args[2]), build.Shape(targets))
