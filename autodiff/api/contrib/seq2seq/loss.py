"""Weighted cross entropy of sequences of logits."""
from __future__ import annotations

from typing import Any

from ....core.convert import convert_to_tensor
from ....core.errors import ArgumentError, ShapeError
from ....core.graph import Tensor
from ....core.op import build
from ...control.dependencies import name_scope
from ...math.reductions import reduce_sum
from ...nn.cross_entropy import sparse_softmax_cross_entropy_with_logits


def sequence_loss(logits: Any, targets: Any, weights: Any, average_across_timesteps: bool = True,
                  average_across_batch: bool = True, sum_over_timesteps: bool = False, sum_over_batch: bool = False,
                  softmax_loss_function: Any = None, name: str | None = None) -> Tensor:
    """Cross entropy of each step times its weight, in nats, reduced over steps, batch or both.

    logits: float[n, t, k]; targets: int[n, t]; weights: float[n, t] -> float[], float[t], float[n] or float[n, t].
    average_…: the sum divided by the sum of weights; sum_…: by the count of weights that are not 0.
    softmax_loss_function: of (labels=, logits=), flat, in place of the sparse softmax cross entropy.
    Raises ShapeError (ValueError) for other ranks, ArgumentError (ValueError) for both ways at once.
    """
    logits, targets, weights = (convert_to_tensor(x) for x in (logits, targets, weights))
    for what, x, rank in (("logits", logits, 3), ("targets", targets, 2), ("weights", weights, 2)):
        if x.dims is None or len(x.dims) != rank:
            raise ShapeError(expected=f"{what} of rank {rank}", found=x.describe())
    if average_across_timesteps and sum_over_timesteps or average_across_batch and sum_over_batch:
        raise ArgumentError(expected="average_across_… or sum_over_… of timesteps and of batch", found="both of one")
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        rows = build.Reshape(logits, [-1, build.Shape(logits)[2]])
        function = softmax_loss_function or sparse_softmax_cross_entropy_with_logits
        losses = function(labels=build.Reshape(targets, [-1]), logits=rows) * build.Reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return build.DivNoNan(reduce_sum(losses), reduce_sum(weights))
        if sum_over_timesteps and sum_over_batch:
            return build.DivNoNan(reduce_sum(losses), _count(weights, None, losses))
        losses = build.Reshape(losses, build.Shape(logits)[:2])
        if average_across_timesteps or average_across_batch:
            axis = [0] if average_across_batch else [1]
            return build.DivNoNan(reduce_sum(losses, axis), reduce_sum(weights, axis))
        if sum_over_timesteps or sum_over_batch:
            axis = [0] if sum_over_batch else [1]
            return build.DivNoNan(reduce_sum(losses, axis), _count(weights, axis, losses))
        return losses


def _count(weights: Tensor, axis: Any, like: Tensor) -> Tensor:
    """How many weights are not 0."""
    return reduce_sum(build.Cast(build.NotEqual(weights, build.ZerosLike(weights)), dtype=like.dtype.base_dtype), axis)
