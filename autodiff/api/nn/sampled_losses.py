"""Losses over a few sampled classes in place of all: sampled softmax and noise contrastive estimation."""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import int64
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ...ops.common.op_counts import count_more
from ..math.casts import cast
from ..math.reductions import reduce_any, reduce_sum
from ..random import (
    all_candidate_sampler,
    compute_accidental_hits,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from .cross_entropy import sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits_v2
from .embedding import embedding_lookup

__all__ = ["all_candidate_sampler", "compute_accidental_hits", "fixed_unigram_candidate_sampler",
           "learned_unigram_candidate_sampler", "log_uniform_candidate_sampler", "nce_loss", "sampled_softmax_loss",
           "uniform_candidate_sampler"]


def nce_loss(weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
             num_true: int = 1, sampled_values: Any = None, remove_accidental_hits: bool = False,
             partition_strategy: str = "mod", name: str = "nce_loss") -> Tensor:
    """Noise contrastive estimation: whether a class is the true one or drawn, in nats for each row.

    weights: float[num_classes, d] or a list of parts, biases: float[num_classes], labels:
    int64[n, num_true], inputs: float[n, d] -> float[n]. sampled_values: what a candidate sampler gave;
    log_uniform_candidate_sampler by default. Source: Gutmann, Hyvärinen (2010).
    """
    logits, targets = _compute_sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true,
                                              sampled_values, True, remove_accidental_hits, partition_strategy, name)
    losses = sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name="sampled_losses")
    return reduce_sum(losses, 1)


def sampled_softmax_loss(weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
                         num_true: int = 1, sampled_values: Any = None, remove_accidental_hits: bool = True,
                         partition_strategy: str = "mod", name: str = "sampled_softmax_loss",
                         seed: int | None = None) -> Tensor:
    """Cross entropy of a softmax over the true and some drawn classes, in nats for each row; for training only.

    Arguments are those of nce_loss. Source: Jean et al. (2014), section 3.
    """
    logits, targets = _compute_sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true,
                                              sampled_values, True, remove_accidental_hits, partition_strategy, name,
                                              seed)
    return softmax_cross_entropy_with_logits_v2(labels=build.StopGradient(targets), logits=logits)


def _compute_sampled_logits(weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
                            num_true: int = 1, sampled_values: Any = None, subtract_log_q: bool = True,
                            remove_accidental_hits: bool = False, partition_strategy: str = "mod",
                            name: str | None = None, seed: int | None = None) -> tuple[Tensor, Tensor]:
    """Logits and labels: float[n, num_true + num_sampled] each, the true classes first.

    subtract_log_q: correct the logits by how likely each class was drawn. Code that is built on TensorFlow's own
    losses calls it by this name.
    """
    parts = list(weights) if isinstance(weights, (list, tuple)) else [weights]
    with scope(name, "compute_sampled_logits", [*parts, biases, inputs, labels]):
        labels, inputs = cast(convert_to_tensor(labels), int64), convert_to_tensor(inputs)
        count_more(2)  # a reshape of the labels
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed)
        sampled, true_expected, sampled_expected = [build.StopGradient(v) for v in sampled_values]
        sampled, dtype = build.Cast(sampled, dtype=int64), inputs.dtype.base_dtype
        true_w, sampled_w = (embedding_lookup(parts, ids, partition_strategy) for ids in (labels, sampled))
        true_b, sampled_b = (embedding_lookup(biases, ids, partition_strategy) for ids in (labels, sampled))
        true = reduce_sum(build.ExpandDims(inputs, 1) * true_w, 2) + true_b
        drawn = build.MatMul(inputs, sampled_w, transpose_b=True) + sampled_b
        if remove_accidental_hits:
            hits = reduce_any(build.Equal(build.ExpandDims(labels, 2), sampled), 1)
            drawn = drawn + build.Cast(hits, dtype=dtype) * float(np.finfo(np.float32).min)
        if subtract_log_q:
            true = true - build.Log(build.Cast(true_expected, dtype=dtype))
            drawn = drawn - build.Log(build.Cast(sampled_expected, dtype=dtype))
        targets = build.ConcatV2(1, build.OnesLike(true) / num_true, build.ZerosLike(drawn))
        return build.ConcatV2(1, true, drawn), targets
