"""The beam search decoder: of each row the likeliest sequences so far, each with a state of the cell."""
from __future__ import annotations

from typing import Any, NamedTuple

from ....core import nest
from ....core.constant_value import static_value
from ....core.convert import convert_to_tensor
from ....core.dtypes import float32, int32, int64
from ....core.errors import ArgumentError, KindError, ShapeError
from ....core.graph import Tensor, get_default_graph
from ....core.op import build
from ....core.shapes import TensorShape
from ...arrays.creation import one_hot
from ...arrays.gathering import gather
from ...arrays.rearrange import sequence_mask
from ...arrays.sorting import top_k
from ...control.control_flow import cond
from ...control.dependencies import name_scope
from ...control.tensor_array import TensorArray
from ...math import where
from ...math.reductions import reduce_all, reduce_max, reduce_mean, reduce_sum
from ...math.softmax import log_softmax
from ...nn.embedding import embedding_lookup
from ...nn.rnn_cell.base import batch_of, check_cell
from ...variables.layer_base import Layer
from .attention import AttentionWrapperState
from .decoder import Decoder

__all__ = ["BeamSearchDecoder", "BeamSearchDecoderOutput", "BeamSearchDecoderState", "FinalBeamSearchDecoderOutput",
           "gather_tree", "tile_batch"]


class BeamSearchDecoderState(NamedTuple):
    """Of each beam: the cell's state [n, k, ...], log probability float[n, k], whether it is finished, its length
    int64[n, k], and with a penalty of coverage the sum of its alignments float[n, k, t]."""

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class BeamSearchDecoderOutput(NamedTuple):
    """Of each step: scores float[n, k], symbols int32[n, k], and the beams int32[n, k] that these go on from."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


class FinalBeamSearchDecoderOutput(NamedTuple):
    """predicted_ids: int32[n, t, k], the sequences, best first. beam_search_decoder_output: of each step."""

    predicted_ids: Any
    beam_search_decoder_output: Any


def gather_tree(step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any,
                name: str | None = None) -> Tensor:
    """The sequence of each beam at the end, from symbols and parents int32[t, n, k] and lengths int32[n]."""
    return build.GatherTree(step_ids, parent_ids, max_sequence_lengths, end_token, name=name)


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Each row `multiplier` times, one after another. t: any[n, ...], or a structure of such."""
    def tiled(x: Any) -> Tensor:
        x = convert_to_tensor(x, name="t")
        if not x.dims:
            raise ShapeError("t must have statically known rank", found=x.describe())
        rows = build.Tile(build.ExpandDims(x, 1), [1, multiplier, *[1] * (len(x.dims) - 1)])
        shape = build.Shape(x)
        rows = build.Reshape(rows, build.ConcatV2(0, shape[:1] * multiplier, shape[1:]))
        rows.set_shape([None if x.dims[0] is None else x.dims[0] * multiplier, *x.dims[1:]])
        return rows

    with name_scope(name, "tile_batch", [*nest.flatten(t), multiplier]):
        return nest.map_structure(tiled, t)


class BeamSearchDecoder(Decoder):
    """Keeps the beam_width likeliest sequences of each row; initial_state is one of n * beam_width rows (tile_batch).

    embedding: a table, or a function int[n, k] -> float[n, k, d]. start_tokens: int[n]; end_token: int[]. A score is
    the log probability over the penalty of length ((5 + length) / 6) ** length_penalty_weight, plus
    coverage_penalty_weight times the sum of log(min(attention paid, 1)). reorder_tensor_arrays: TensorArrays of the
    final state become tensors, in the order of the final beams. Source: Wu et al. (2016), section 7.
    """

    tracks_own_finished = True

    def __init__(self, cell: Any, embedding: Any, start_tokens: Any, end_token: Any, initial_state: Any,
                 beam_width: int, output_layer: Any = None, length_penalty_weight: Any = 0.0,
                 coverage_penalty_weight: Any = 0.0, reorder_tensor_arrays: bool = True) -> None:
        check_cell("cell", cell)
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise KindError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._layer, self._width = cell, output_layer, beam_width
        self._length_weight, self._coverage_weight = length_penalty_weight, coverage_penalty_weight
        self._reorders = reorder_tensor_arrays
        self._embedding = embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)
        start = convert_to_tensor(start_tokens, dtype=int32, name="start_tokens")
        self._end = convert_to_tensor(end_token, dtype=int32, name="end_token")
        for what, given, rank, kind in (("start_tokens", start, 1, "vector"), ("end_token", self._end, 0, "scalar")):
            if given.dims is None or len(given.dims) != rank:
                raise ShapeError(f"{what} must be a {kind}", found=given.describe())
        self.batch_size = batch_of(start, 0)
        self._state = nest.map_structure(self._split, initial_state)
        self._first = self._embedding(build.Tile(build.ExpandDims(start, 1), [1, beam_width]))

    @property
    def output_size(self) -> Any:
        return BeamSearchDecoderOutput(*[TensorShape([self._width])] * 3)

    @property
    def output_dtype(self) -> Any:
        return BeamSearchDecoderOutput(nest.flatten(self._state)[0].dtype.base_dtype, int32, int32)

    def _reshaped(self, x: Any, ahead: int, *sizes: Any) -> Any:
        """A part of the state, or inputs, with `sizes` in place of the first `ahead` axes; as it is with less axes."""
        if isinstance(x, TensorArray):
            return x
        if x.dims is None:
            raise ShapeError(f"Expected tensor ({x}) to have known rank, but ndims == None.")
        if len(x.dims) < ahead:
            return x
        shape = build.Shape(x)
        found = build.Reshape(x, [*sizes, *(shape[i] if n is None else n for i, n in enumerate(x.dims) if i >= ahead)])
        found.set_shape([*(n if isinstance(n, int) else None for n in sizes), *x.dims[ahead:]])
        return found

    def _split(self, x: Any) -> Any:
        return self._reshaped(x, 1, self.batch_size, self._width)

    def _merged(self, x: Any) -> Any:
        return self._reshaped(x, 2, self.batch_size * self._width)

    def _beams(self, x: Tensor) -> Tensor:
        x.set_shape([self.batch_size if isinstance(self.batch_size, int) else None, self._width])
        return x

    def initialize(self, name: str | None = None) -> tuple[Any, Any, Any]:
        dtype = nest.flatten(self._state)[0].dtype.base_dtype
        shape = convert_to_tensor([self.batch_size, self._width])
        first = build.Equal(build.Range(0, self._width, 1), 0)  # all beams of a row begin alike: one of them is enough
        log_probs = build.Select(first, build.Cast([0.0] * self._width, dtype=dtype),
                                 build.Cast([-float("inf")] * self._width, dtype=dtype))
        finished = self._beams(build.BroadcastTo(build.LogicalNot(first), shape))
        attended = _attention_paid(self._state, self._coverage_weight)
        state = BeamSearchDecoderState(self._state, self._beams(build.BroadcastTo(log_probs, shape)), finished,
                                       self._beams(build.Fill(shape, build.Cast(0, dtype=int64))),
                                       () if attended is None else attended)
        return finished, self._first, state

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        with get_default_graph().name_scope(name or "BeamSearchDecoderStep"):
            outputs, cell_state = self._cell(nest.map_structure(self._merged, inputs),
                                             nest.map_structure(self._merged, state.cell_state))
            logits, cell_state = self._split(outputs), nest.map_structure(self._split, cell_state)
            found, state = self._best(logits if self._layer is None else self._layer(logits), cell_state, state)
            following = cond(reduce_all(state.finished), lambda: self._first,
                             lambda: self._embedding(found.predicted_ids), strict=True)
            return found, state, following, state.finished

    def _best(self, logits: Tensor, cell_state: Any, before: BeamSearchDecoderState) -> tuple[Any, Any]:
        """The likeliest of the beams with one more symbol each. logits: float[n, k, v]."""
        symbols, dtype, goes_on = batch_of(logits, 2), logits.dtype.base_dtype, build.LogicalNot(before.finished)
        ends = one_hot(self._end, symbols, build.Cast(0, dtype=dtype), build.Cast(dtype.min, dtype=dtype))
        chances = build.SelectV2(build.ExpandDims(before.finished, 2), ends, log_softmax(logits))
        totals = build.ExpandDims(before.log_probs, 2) + chances
        grows = build.Cast(build.NotEqual(build.Range(0, symbols, 1), self._end), dtype=int64) * build.ExpandDims(
            build.Cast(goes_on, dtype=int64), 2)
        paid = _attention_paid(cell_state, self._coverage_weight)
        if paid is not None:
            paid = before.accumulated_attention_probs + paid * build.ExpandDims(build.Cast(goes_on, dtype=float32), 2)
        scores = self._scores(totals, grows + build.ExpandDims(before.lengths, 2), paid, before.finished)
        best, places = top_k(build.Reshape(scores, [self.batch_size, -1]), self._width)
        parents, chosen = self._beams(build.FloorDiv(places, symbols)), self._beams(build.FloorMod(places, symbols))

        def of_parents(x: Any) -> Any:
            return x if isinstance(x, TensorArray) or len(x.dims) < 2 else gather(x, parents, axis=1, batch_dims=1)

        ended = of_parents(before.finished)
        log_probs = gather(build.Reshape(totals, [self.batch_size, -1]), places, axis=1, batch_dims=1)
        state = BeamSearchDecoderState(
            nest.map_structure(of_parents, cell_state), self._beams(log_probs),
            build.LogicalOr(ended, build.Equal(chosen, self._end)),
            of_parents(before.lengths) + build.Cast(build.LogicalNot(ended), dtype=int64),
            () if paid is None else of_parents(paid))
        return BeamSearchDecoderOutput(self._beams(best), chosen, parents), state

    def _scores(self, totals: Tensor, lengths: Tensor, paid: Tensor | None, finished: Tensor) -> Tensor:
        weight = convert_to_tensor(self._length_weight, name="penalty_factor")
        if not _is_zero(self._length_weight):
            penalty = build.Pow(build.Cast(lengths, dtype=float32) + 5.0, weight) / build.Pow(6.0, weight)
            totals = totals / build.Cast(penalty, dtype=totals.dtype.base_dtype)
        if paid is None:
            return totals
        covered = build.Log(build.Minimum(where(build.Equal(paid, 0.0), build.OnesLike(paid), paid), 1.0))
        covered = reduce_sum(covered, 2) * build.Cast(finished, dtype=float32) * self._coverage_weight
        return totals + build.ExpandDims(covered, 2)

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        longest = build.Cast(reduce_max(final_state.lengths, 1), dtype=int32)
        found = build.GatherTree(outputs.predicted_ids, outputs.parent_ids, longest, self._end)
        if self._reorders:
            final_state = final_state._replace(cell_state=nest.map_structure(
                lambda x: self._in_order(x, outputs.parent_ids, final_state.lengths, longest), final_state.cell_state))
        return FinalBeamSearchDecoderOutput(found, outputs), final_state

    def _in_order(self, x: Any, parents: Tensor, lengths: Tensor, longest: Tensor) -> Any:
        """What a TensorArray of [n * k, ...] has for the beams at the end: [t, n * k, ...].

        As in TensorFlow it is left as it is where its elements' first two sizes, and n, are known.
        """
        if not isinstance(x, TensorArray) or not x.element_shape.ndims:
            return x
        rows, *sizes = self.batch_size, *x.element_shape.as_list()[:2]
        if None not in sizes and isinstance(rows, int) and sizes not in ([rows * self._width], [rows, self._width]):
            return x
        steps, shape = x.stack(), build.Shape(parents)
        here = build.BroadcastTo(build.Range(0, self._width, 1), shape)
        beams = build.GatherTree(here, parents, longest, self._width + 1)
        inside = build.Transpose(sequence_mask(lengths, shape[0]), [2, 0, 1])
        beams = where(inside, beams, here)
        by_beam = build.Reshape(steps, build.ConcatV2(0, shape, [-1]))
        return build.Reshape(gather(by_beam, beams, axis=2, batch_dims=2), build.Shape(steps))


def _is_zero(weight: Any) -> bool:
    known = static_value(weight)
    return known is not None and not known.any()


def _attention_paid(state: Any, weight: Any) -> Tensor | None:
    """The alignments of a state, the mean over several mechanisms: float[n, k, t]; None if coverage has no weight.

    Raises ArgumentError (ValueError) for a cell that does not attend.
    """
    if _is_zero(weight):
        return None
    parts = [state] if isinstance(state, AttentionWrapperState) else state if isinstance(state, tuple) else ()
    found = [_mean(part.alignments) for part in parts if isinstance(part, AttentionWrapperState)]
    if not found:
        raise ArgumentError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    return _mean(tuple(found))


def _mean(alignments: Any) -> Tensor:
    if not isinstance(alignments, tuple):
        return alignments
    return alignments[0] if len(alignments) == 1 else reduce_mean(build.Pack(*alignments, axis=-1), -1)
