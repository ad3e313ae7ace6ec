"""tf.contrib.crf: linear chains of conditional random fields. Source: Lafferty, McCallum, Pereira (2001).

inputs: float[b, time, tags], the score of each tag at each step; transition_params: float[tags, tags], of going from
the first to the second; sequence_lengths: int[b]. Scores of what lies beyond a length count nothing.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32, int32
from ...core.graph import Tensor
from ...core.op import build
from ..arrays.gathering import batch_gather
from ..arrays.rearrange import sequence_mask
from ..common.unsupported import refusing
from ..control.map_and_scan import foldl, scan
from ..math.reductions import reduce_logsumexp, reduce_max, reduce_sum
from ..variables.variable_scope import get_variable

__all__ = ["crf_decode", "crf_log_likelihood", "crf_log_norm", "crf_sequence_score", "viterbi_decode"]


def crf_sequence_score(inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Tensor:
    """The score of sequences of tags, not normalized. tag_indices: int[b, time] -> float[b]."""
    tags = convert_to_tensor(tag_indices)
    counts = sequence_mask(sequence_lengths, build.Shape(tags)[1], float32)
    moves = build.GatherNd(transition_params, build.Pack(tags[:, :-1], tags[:, 1:], axis=-1))
    scores = batch_gather(inputs, build.ExpandDims(tags, -1))[:, :, 0]
    return reduce_sum(scores * counts, 1) + reduce_sum(moves * counts[:, 1:], 1)


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Tensor:
    """The log of the summed exp of the scores of all sequences of tags. -> float[b]."""
    first, rest = _by_time(inputs, sequence_lengths)
    last = foldl(lambda state, step: build.SelectV2(
        step[1], step[0] + reduce_logsumexp(state[:, :, None] + transition_params, 1), state), rest, first)
    total = reduce_logsumexp(last, 1)
    return build.SelectV2(build.LessEqual(sequence_lengths, 0), build.ZerosLike(total), total)


def crf_log_likelihood(inputs: Any, tag_indices: Any, sequence_lengths: Any,
                       transition_params: Any = None) -> tuple[Tensor, Any]:
    """(the log of the probability of sequences of tags: float[b], the transitions: a variable where none are given)."""
    if transition_params is None:
        transition_params = get_variable("transitions", 2 * [inputs.shape[2].value])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> tuple[Tensor, Tensor]:
    """(the tags of the highest score: int32[b, time], zeros beyond a length; that score: float[b])."""
    def forward(state: Any, step: Any) -> Any:
        scores = state[0][:, :, None] + transition_params
        stays = build.SelectV2(step[1], step[0] + reduce_max(scores, 1), state[0])
        return stays, build.SelectV2(step[1], build.ArgMax(scores, 1, output_type=int32), places)
    first, rest = _by_time(potentials, sequence_length)
    places = build.ZerosLike(build.Cast(first, dtype=int32)) + build.Range(0, build.Shape(first)[1], 1)
    states, back = scan(forward, rest, (first, places))
    best = build.ConcatV2(0, first[None], states)[-1]
    last = build.ArgMax(best, 1, output_type=int32)
    tags = scan(lambda tag, pointers: batch_gather(pointers, tag[:, None])[:, 0], back, last, reverse=True)
    decoded = build.Transpose(build.ConcatV2(0, tags, last[None]), [1, 0])
    counts = sequence_mask(build.Maximum(sequence_length, 1), build.Shape(decoded)[1], int32)
    return decoded * counts, reduce_max(best, 1)


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[Any], Any]:
    """(the tags of the highest score, that score) of arrays. score: float[time, tags]."""
    best, back = score[0], []
    for step in score[1:]:
        scores = best[:, None] + transition_params
        best, pointers = step + scores.max(0), scores.argmax(0)
        back.append(pointers)
    tags = [np.argmax(best)]
    for pointers in back[::-1]:
        tags.append(pointers[tags[-1]])
    return tags[::-1], np.max(best)


def _by_time(inputs: Any, lengths: Any) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """The scores of the first step, and those of the others with whether they count: float[b, tags], bool[b, 1]."""
    steps = build.Transpose(inputs, [1, 0, 2])
    counts = build.Transpose(sequence_mask(lengths, build.Shape(steps)[0]), [1, 0])
    return steps[0], (steps[1:], counts[1:, :, None])


__getattr__ = refusing("tf.contrib.crf", __name__)
