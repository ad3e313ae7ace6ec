"""tf.contrib.legacy_seq2seq: a decoder written out step by step, and losses of lists of steps."""
from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentError
from ...core.graph import Tensor
from ...core.op import build
from ..common.unsupported import refusing
from ..control.dependencies import name_scope
from ..math.reductions import add_n, reduce_sum
from ..nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from ..variables.variable_scope import variable_scope

__all__ = ["rnn_decoder", "sequence_loss", "sequence_loss_by_example"]


def rnn_decoder(decoder_inputs: Any, initial_state: Any, cell: Any, loop_function: Any = None,
                scope: Any = None) -> tuple[list[Any], Any]:
    """(outputs, final state) of a cell for a list of inputs.

    loop_function: (output before, number of the step) -> the next input in place of the list's, but for the first.
    """
    with variable_scope(scope or "rnn_decoder") as opened:
        state = initial_state
        outputs: list[Any] = []
        for i, inputs in enumerate(decoder_inputs):
            if loop_function is not None and outputs:
                with variable_scope("loop_function", reuse=True):
                    inputs = loop_function(outputs[-1], i)
            if i > 0:
                opened.reuse_variables()
            output, state = cell(inputs, state)
            outputs.append(output)
        return outputs, state


def sequence_loss_by_example(logits: Any, targets: Any, weights: Any, average_across_timesteps: bool = True,
                             softmax_loss_function: Any = None, name: str | None = None) -> Tensor:
    """Weighted cross entropy of each row, in nats, summed over steps and by default divided by the sum of weights.

    Lists of equal length of logits float[n, k], targets int[n] and weights float[n] -> float[n].
    softmax_loss_function: of (labels=, logits=), in place of the sparse softmax cross entropy.
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ArgumentError(expected="as many logits as targets and weights",
                            found=f"{len(logits)}, {len(targets)} and {len(weights)}")
    with name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        terms = []
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                loss = sparse_softmax_cross_entropy_with_logits(labels=build.Reshape(target, [-1]), logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            terms.append(loss * weight)
        total = add_n(terms)
        # the small number keeps a row without weight from 0 / 0
        return total / (add_n(weights) + 1e-12) if average_across_timesteps else total


def sequence_loss(logits: Any, targets: Any, weights: Any, average_across_timesteps: bool = True,
                  average_across_batch: bool = True, softmax_loss_function: Any = None,
                  name: str | None = None) -> Tensor:
    """The sum of sequence_loss_by_example, by default divided by the number of rows. -> float[]."""
    with name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost = reduce_sum(sequence_loss_by_example(logits, targets, weights, average_across_timesteps,
                                                   softmax_loss_function))
        if not average_across_batch:
            return cost
        return cost / build.Cast(build.Shape(targets[0])[0], dtype=cost.dtype.base_dtype)


__getattr__ = refusing("tf.contrib.legacy_seq2seq", __name__)
