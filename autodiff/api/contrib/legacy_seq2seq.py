"""tf.contrib.legacy_seq2seq: encoders and decoders written out step by step, and losses of lists of steps."""
from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.dtypes import float32
from ...core.errors import ArgumentError, KindError
from ...core.graph import Tensor
from ...core.op import build
from ..arrays.creation import zeros
from ..arrays.shaping import concat
from ..common.unsupported import refusing
from ..control.control_flow import cond
from ..control.dependencies import name_scope
from ..math import tanh
from ..math.reductions import add_n, argmax, reduce_sum
from ..math.softmax import softmax
from ..nn.activations import xw_plus_b
from ..nn.convolutions import conv2d
from ..nn.cross_entropy import sparse_softmax_cross_entropy_with_logits
from ..nn.embedding import embedding_lookup
from ..nn.rnn_cell.base import batch_of
from ..nn.rnn_static import static_rnn
from ..variables.variable_scope import get_variable, get_variable_scope, variable_scope
from .rnn.projections import EmbeddingWrapper, OutputProjectionWrapper, linear

__all__ = ["attention_decoder", "basic_rnn_seq2seq", "embedding_attention_decoder", "embedding_attention_seq2seq",
           "embedding_rnn_decoder", "embedding_rnn_seq2seq", "model_with_buckets", "rnn_decoder",
           "sequence_loss", "sequence_loss_by_example", "tied_rnn_seq2seq"]


# ---- decoders: (outputs, final state) of a list of inputs ------------------------------------------

def rnn_decoder(decoder_inputs: Any, initial_state: Any, cell: Any, loop_function: Any = None,
                scope: Any = None) -> tuple[list[Any], Any]:
    """(outputs, final state) of a cell for a list of inputs.

    loop_function: (output before, number of the step) -> the next input in place of the list's, but for the first.
    """
    with variable_scope(scope or "rnn_decoder") as opened:
        state = initial_state
        outputs: list[Any] = []
        for i, inputs in enumerate(decoder_inputs):
            inputs = _next_input(loop_function, outputs, i, inputs)
            if i > 0:
                opened.reuse_variables()
            output, state = cell(inputs, state)
            outputs.append(output)
        return outputs, state


def _next_input(loop_function: Any, outputs: list[Any], i: int, given: Any) -> Any:
    if loop_function is None or not outputs:
        return given
    with variable_scope("loop_function", reuse=True):
        return loop_function(outputs[-1], i)


def _likeliest(table: Any, projection: Any, trains_table: bool = True) -> Callable[[Any, int], Tensor]:
    """A loop_function: the embedding of the likeliest symbol of the output before, projected if it is to be."""
    def following(output: Any, _: int) -> Tensor:
        scores = output if projection is None else xw_plus_b(output, projection[0], projection[1])
        found = embedding_lookup(table, argmax(scores, 1))
        return found if trains_table else build.StopGradient(found)

    return following


def _check_projection(projection: Any, symbols: int, dtype: Any, names: str = "wb") -> None:
    """Raises ShapeError (ValueError) for weights or biases of another count of symbols."""
    if projection is not None:
        for name, part, dims in zip("wb", projection, ([None, symbols], [symbols])):
            if name in names:
                convert_to_tensor(part, dtype=dtype).shape.assert_is_compatible_with(dims)


def embedding_rnn_decoder(decoder_inputs: Any, initial_state: Any, cell: Any, num_symbols: int,
                          embedding_size: int, output_projection: Any = None, feed_previous: bool = False,
                          update_embedding_for_previous: bool = True, scope: Any = None) -> tuple[list[Any], Any]:
    """rnn_decoder of symbols int[n], looked up in a table `embedding`.

    feed_previous: each input but the first is the likeliest symbol of the output before it, of (W, b) =
    output_projection if given; without update_embedding_for_previous the table is not trained by these.
    """
    with variable_scope(scope or "embedding_rnn_decoder") as opened:
        _check_projection(output_projection, num_symbols, opened.dtype)
        table = get_variable("embedding", [num_symbols, embedding_size])
        following = _likeliest(table, output_projection, update_embedding_for_previous) if feed_previous else None
        return rnn_decoder((embedding_lookup(table, i) for i in decoder_inputs), initial_state, cell, following)


def attention_decoder(decoder_inputs: Any, initial_state: Any, attention_states: Any, cell: Any,
                      output_size: int | None = None, num_heads: int = 1, loop_function: Any = None, dtype: Any = None,
                      scope: Any = None, initial_state_attention: bool = False) -> tuple[list[Any], Any]:
    """rnn_decoder whose cell reads its input beside what it attended to, and then attends again with its state.

    attention_states: float[n, t, k]. An output is linear([cell's output, attention], output_size).
    initial_state_attention: attend with the initial state first, in place of zeros.
    Source: Vinyals et al. (2015), Grammar as a Foreign Language, section 2.1.
    """
    if not decoder_inputs:
        raise ArgumentError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ArgumentError("With less than 1 heads, use a non-attention decoder.")
    depth = attention_states.dims[2]
    if depth is None:
        raise ArgumentError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    with variable_scope(scope or "attention_decoder", dtype=dtype) as opened:
        attend = _attention(attention_states, num_heads, opened.dtype)
        first = zeros(build.Pack(build.Shape(decoder_inputs[0])[0], depth, axis=0), opened.dtype)
        first.set_shape([None, depth])
        state, attended = initial_state, [first] * num_heads
        if initial_state_attention:
            attended = attend(initial_state)
        outputs: list[Any] = []
        for i, given in enumerate(decoder_inputs):
            if i > 0:
                opened.reuse_variables()
            given = _next_input(loop_function, outputs, i, given)
            if given.dims[1] is None:
                raise ArgumentError(f"Could not infer input size from input: {given.name}")
            x = linear([build.Cast(given, dtype=opened.dtype), *attended], given.dims[1])
            output, state = cell(x, state)
            with variable_scope(get_variable_scope(), reuse=True if i or initial_state_attention else None):
                attended = attend(state)
            with variable_scope("AttnOutputProjection"):
                inputs = [build.Cast(output, dtype=opened.dtype), *attended]
                outputs.append(linear(inputs, cell.output_size if output_size is None else output_size))
        return outputs, state


def _attention(memory: Tensor, heads: int, dtype: Any) -> Callable[[Any], list[Tensor]]:
    """State -> for each head the mean of the memory by softmax(v · tanh(W memory + U state)), float[n, k]."""
    length, depth = batch_of(memory, 1), memory.dims[2]  # type: ignore[index]
    hidden = build.Reshape(memory, [-1, length, 1, depth])
    parts = []
    for head in range(heads):
        kernel = get_variable(f"AttnW_{head}", [1, 1, depth, depth], dtype)
        parts.append((conv2d(hidden, kernel, [1, 1, 1, 1], "SAME"), get_variable(f"AttnV_{head}", [depth], dtype)))

    def attend(state: Any) -> list[Tensor]:
        query = concat(nest.flatten(state), 1) if nest.is_sequence(state) else state
        found = []
        for head, (features, v) in enumerate(parts):
            with variable_scope(f"Attention_{head}"):
                y = build.Cast(build.Reshape(linear([query], depth), [-1, 1, 1, depth]), dtype=dtype)
                score = reduce_sum(v * tanh(features + y), [2, 3])
                weights = build.Cast(softmax(build.Cast(score, dtype=float32)), dtype=dtype)  # float32, as TensorFlow
                mean = reduce_sum(build.Reshape(weights, [-1, length, 1, 1]) * hidden, [1, 2])
                found.append(build.Reshape(mean, [-1, depth]))
        return found

    return attend


def embedding_attention_decoder(decoder_inputs: Any, initial_state: Any, attention_states: Any,
                                cell: Any, num_symbols: int, embedding_size: int, num_heads: int = 1,
                                output_size: int | None = None, output_projection: Any = None,
                                feed_previous: bool = False, update_embedding_for_previous: bool = True,
                                dtype: Any = None, scope: Any = None,
                                initial_state_attention: bool = False) -> tuple[list[Any], Any]:
    """attention_decoder of symbols int[n], fed as in embedding_rnn_decoder."""
    _check_projection(output_projection, num_symbols, dtype, "b")
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        table = get_variable("embedding", [num_symbols, embedding_size])
        following = _likeliest(table, output_projection, update_embedding_for_previous) if feed_previous else None
        looked_up = [embedding_lookup(table, i) for i in decoder_inputs]
        return attention_decoder(looked_up, initial_state, attention_states, cell, output_size, num_heads, following,
                                 initial_state_attention=initial_state_attention)


# ---- models: (outputs, final state) of a decoder that begins with an encoder's final state ---------

def _another(cell: Any) -> Any:
    """A copy of a cell. Raises KindError (TypeError) for one that has variables already."""
    if getattr(cell, "variables", None):
        raise KindError("can't pickle _thread.RLock objects", found="a cell that was called, to be copied",
                        hint="make the cell inside of the function that makes the model, anew for each bucket")
    return copy.deepcopy(cell)


def basic_rnn_seq2seq(encoder_inputs: Any, decoder_inputs: Any, cell: Any, dtype: Any = float32,
                      scope: Any = None) -> tuple[list[Any], Any]:
    """A cell along the encoder's inputs, then another one like it, with variables of its own, along the decoder's."""
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(_another(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(encoder_inputs: Any, decoder_inputs: Any, cell: Any, loop_function: Any = None,
                     dtype: Any = float32, scope: Any = None) -> tuple[list[Any], Any]:
    """basic_rnn_seq2seq with one cell for both. loop_function: as in rnn_decoder."""
    with variable_scope("combined_tied_rnn_seq2seq") as opened:
        scope = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        opened.reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function, scope)


def _fed(feed_previous: Any, decode: Callable[[bool, bool], tuple[Any, Any]], like: Any) -> tuple[list[Any], Any]:
    """What decode(feed previous, train the table by that) gives. A tensor chooses in the run, by variables of both."""
    if isinstance(feed_previous, bool):
        return decode(feed_previous, True)

    def one_way(feeds: bool) -> list[Any]:
        with variable_scope(get_variable_scope(), reuse=None if feeds else True):
            outputs, state = decode(feeds, False)
            return [*outputs, *nest.flatten(state)]

    found = cond(feed_previous, lambda: one_way(True), lambda: one_way(False))
    count = len(found) - len(nest.flatten(like))
    return found[:count], nest.pack_sequence_as(like, found[count:])


def embedding_rnn_seq2seq(encoder_inputs: Any, decoder_inputs: Any, cell: Any, num_encoder_symbols: int,
                          num_decoder_symbols: int, embedding_size: int, output_projection: Any = None,
                          feed_previous: Any = False, dtype: Any = None, scope: Any = None) -> tuple[list[Any], Any]:
    """basic_rnn_seq2seq of symbols int[n], each side with a table of embeddings; outputs are scores of the symbols.

    output_projection: (W, b) that a caller makes scores with, outputs are then the cell's. feed_previous: bool or
    bool[], as in embedding_rnn_decoder.
    """
    with variable_scope(scope or "embedding_rnn_seq2seq") as opened:
        if dtype is not None:
            opened.set_dtype(dtype)
        encoder = EmbeddingWrapper(_another(cell), num_encoder_symbols, embedding_size)
        _, state = static_rnn(encoder, encoder_inputs, dtype=opened.dtype)
        cell = OutputProjectionWrapper(cell, num_decoder_symbols) if output_projection is None else cell
        return _fed(feed_previous, lambda feeds, trains: embedding_rnn_decoder(
            decoder_inputs, state, cell, num_decoder_symbols, embedding_size, output_projection, feeds, trains), state)


def embedding_attention_seq2seq(encoder_inputs: Any, decoder_inputs: Any, cell: Any,
                                num_encoder_symbols: int, num_decoder_symbols: int, embedding_size: int,
                                num_heads: int = 1, output_projection: Any = None, feed_previous: Any = False,
                                dtype: Any = None, scope: Any = None,
                                initial_state_attention: bool = False) -> tuple[list[Any], Any]:
    """embedding_rnn_seq2seq whose decoder attends to all outputs of the encoder."""
    with variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as opened:
        encoder = EmbeddingWrapper(_another(cell), num_encoder_symbols, embedding_size)
        outputs, state = static_rnn(encoder, encoder_inputs, dtype=opened.dtype)
        memory = concat([build.Reshape(output, [-1, 1, cell.output_size]) for output in outputs], 1)
        size = None
        if output_projection is None:
            cell, size = OutputProjectionWrapper(cell, num_decoder_symbols), num_decoder_symbols
        return _fed(feed_previous, lambda feeds, trains: embedding_attention_decoder(
            decoder_inputs, state, memory, cell, num_decoder_symbols, embedding_size, num_heads, size,
            output_projection, feeds, trains, initial_state_attention=initial_state_attention), state)


def model_with_buckets(encoder_inputs: Any, decoder_inputs: Any, targets: Any, weights: Any,
                       buckets: Sequence[tuple[int, int]], seq2seq: Callable[[Any, Any], tuple[Any, Any]],
                       softmax_loss_function: Any = None, per_example_loss: bool = False,
                       name: str | None = None) -> tuple[list[Any], list[Tensor]]:
    """(outputs, loss) for each bucket of (steps of the encoder, of the decoder), with one set of variables.

    seq2seq: (encoder's inputs, decoder's inputs) -> (outputs, state). per_example_loss: float[n], else float[].
    """
    for what, given, side in (("encoder_inputs", encoder_inputs, 0), ("targets", targets, 1), ("weights", weights, 1)):
        if len(given) < buckets[-1][side]:
            raise ArgumentError(f"Length of {what} ({len(given)}) must be at least that of last bucket "
                                f"({buckets[-1][side]}).")
    loss_of = sequence_loss_by_example if per_example_loss else sequence_loss
    outputs, losses = [], []
    with name_scope(name, "model_with_buckets", [*encoder_inputs, *decoder_inputs, *targets, *weights]):
        for j, (reads, writes) in enumerate(buckets):
            with variable_scope(get_variable_scope(), reuse=True if j else None):
                outputs.append(seq2seq(encoder_inputs[:reads], decoder_inputs[:writes])[0])
                losses.append(loss_of(outputs[-1], targets[:writes], weights[:writes],
                                      softmax_loss_function=softmax_loss_function))
    return outputs, losses


# ---- losses ----------------------------------------------------------------------------------------

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
