"""Label sequences without times: TensorFlow's ctc functions of tf.nn."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.errors import ArgumentError, KindError
from ...core.graph import Tensor
from ...core.name_scope import scope
from ...core.op import build
from ...core.sparse_tensor import SparseTensor
from ..arrays.gathering import boolean_mask
from ..arrays.rearrange import sequence_mask
from ..arrays.shaping import concat
from ..common.arguments import one_of
from ..control.map_and_scan import map_fn, scan

__all__ = ["collapse_repeated", "ctc_beam_search_decoder", "ctc_greedy_decoder", "ctc_loss",
           "ctc_loss_v2", "ctc_unique_labels"]


def ctc_loss(labels: Any, inputs: Any = None, sequence_length: Any = None, preprocess_collapse_repeated: bool = False,
             ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool = False, time_major: bool = True,
             logits: Any = None) -> Tensor:
    """-log of the probability of each sequence of labels, in nats; the last class is the blank.

    labels: SparseTensor int32[batch, n]. inputs (or logits): float[time, batch, classes], or with batch first unless
    time_major. sequence_length: int32[batch]. -> float[batch]. preprocess_collapse_repeated: repeated labels count
    once. ctc_merge_repeated: repeats on a path without a blank between them are one label.
    ignore_longer_outputs_than_inputs: 0 instead of an error for more labels than time. Its gradient cannot be
    differentiated again.
    """
    if not isinstance(labels, SparseTensor):
        raise KindError(f"Expected labels (first argument) to be a SparseTensor, found {labels!r}")
    inputs = one_of("inputs", inputs, "logits", logits)
    inputs = convert_to_tensor(inputs, name="logits")
    if not time_major:
        inputs = build.Transpose(inputs, [1, 0, 2])
    return build.CTCLoss(inputs, labels.indices, labels.values, sequence_length,
                         preprocess_collapse_repeated=preprocess_collapse_repeated,
                         ctc_merge_repeated=ctc_merge_repeated,
                         ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs)[0]


def ctc_loss_v2(labels: Any, logits: Any, label_length: Any, logit_length: Any, logits_time_major: bool = True,
                unique: Any = None, blank_index: int | None = None, name: str | None = None) -> Tensor:
    """-log of the probability of each sequence of labels, in nats; the class `blank_index` is the blank.

    labels: int32[batch, n] with label_length: int32[batch], and blank_index 0 if None; or a SparseTensor, and a
    blank_index that must be given. logits: float[time, batch, classes], or with batch first unless logits_time_major.
    logit_length: int32[batch]. unique is accepted without effect. -> float[batch]; of dense labels that do not fit into
    the time, inf.
    """
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ArgumentError("blank_index must be given when using SparseTensor labels.")
        logits, values = _blank_last(convert_to_tensor(logits, name="logits"), labels.values, blank_index)
        labels = SparseTensor(labels.indices, values, labels.dense_shape)
        return ctc_loss(labels, logits, logit_length, time_major=logits_time_major)
    return ctc_loss_dense(labels, logits, label_length, logit_length, logits_time_major, unique, blank_index or 0, name)


def ctc_loss_dense(labels: Any, logits: Any, label_length: Any, logit_length: Any,  # noqa: PLR0913
                   logits_time_major: bool = True, unique: Any = None, blank_index: int = 0,
                   name: str | None = None) -> Tensor:
    """ctc_loss_v2 of dense labels."""
    with scope(name, "ctc_loss_dense", [logits, label_length, logit_length]):
        logits = convert_to_tensor(logits, name="logits")
        indices, values = _entries(labels, label_length)
        logits, values = _blank_last(logits, values, blank_index)
        if not logits_time_major:
            logits = build.Transpose(logits, [1, 0, 2])
        return build.CTCLossV2(logits, indices, values, logit_length)[0]


def _entries(labels: Any, lengths: Any) -> tuple[Tensor, Tensor]:
    """Where the labels are, int64[n, 2], and what, int32[n], of those within the lengths."""
    labels = convert_to_tensor(labels, name="labels")
    lengths = convert_to_tensor(lengths, name="label_length")
    numbers = build.Range(0, build.Shape(labels)[1], 1)
    is_there = build.Less(build.ExpandDims(numbers, 0), build.ExpandDims(build.Cast(lengths, dtype="int32"), 1))
    places = build.Where(is_there)
    return places, build.Cast(build.GatherNd(labels, places), dtype="int32")


def dense_labels_to_sparse(dense: Any, length: Any) -> SparseTensor:
    """The labels within the lengths. dense: int[batch, n], length: int[batch] -> SparseTensor int32[batch, n]."""
    dense = convert_to_tensor(dense)
    places, values = _entries(dense, length)
    longest = build.Cast(build.Max(length, [0]), dtype="int64")
    return SparseTensor(places, values, build.Pack(build.Shape(dense, out_type="int64")[0], longest, axis=0))


def _blank_last(logits: Tensor, values: Tensor, blank: int) -> tuple[Tensor, Tensor]:
    """Logits with the blank's as the last class, and labels to match."""
    classes = logits.dims[2] if logits.dims is not None else None
    if classes is None:
        raise ArgumentError(expected="logits with a known count of classes", found=logits.describe())
    blank = blank + classes if blank < 0 else blank
    if blank == classes - 1:
        return logits, values
    moved = build.ConcatV2(2, logits[:, :, :blank], logits[:, :, blank + 1:], logits[:, :, blank:blank + 1])
    return moved, build.Select(build.Less(values, blank), values, values - 1)


def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Labels of which those that follow one like them are left out, and the new lengths.

    labels: int[batch, time], seq_length: int[batch] -> int[batch, longest], filled up with 0, and int[batch].
    """
    with scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels, seq_length = convert_to_tensor(labels, name="labels"), convert_to_tensor(seq_length, name="seq_length")
        is_new = build.NotEqual(labels[:, 1:], labels[:, :-1])
        first = build.OnesLike(build.Cast(labels[:, :1], dtype="bool"))
        kept = build.LogicalAnd(build.ConcatV2(1, first, is_new), sequence_mask(seq_length, build.Shape(labels)[1]))
        lengths = build.Sum(build.Cast(kept, dtype="int32"), [1])
        longest = build.Max(lengths, [0])
        places = build.Where(sequence_mask(lengths, longest))
        shape = build.Cast(build.Pack(build.Shape(labels)[0], longest, axis=0), dtype="int64")
        flat = build.ScatterNd(places, boolean_mask(labels, kept), shape)
        flat.set_shape([labels.dims[0] if labels.dims else None, None])
        return flat, build.Cast(lengths, dtype=seq_length.dtype.base_dtype)


def ctc_unique_labels(labels: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Each row's different labels, filled up with 0, and the place of each label among them.

    labels: int[batch, length] -> int[batch, length] and int64[batch, length].
    """
    with scope(name, "ctc_unique_labels", [labels]):
        labels = convert_to_tensor(labels, name="labels")

        def of_row(row: Tensor) -> list[Tensor]:
            found, place = build.Unique(row)
            padded = build.Pad(found, build.Reshape(build.Pack(0, build.Shape(row)[0] - build.Shape(found)[0], axis=0),
                                                    [1, 2]))
            padded.set_shape(row.shape)
            return [padded, build.Cast(place, dtype="int64")]

        unique, places = map_fn(of_row, labels, dtype=[labels.dtype.base_dtype, "int64"])
        return unique, places


def ctc_greedy_decoder(inputs: Any, sequence_length: Any, merge_repeated: bool = True) -> tuple[list[Any], Tensor]:
    """The most probable class at each time without blanks (the last class) and, unless told otherwise, repeats.

    inputs: float[time, batch, classes], sequence_length: int32[batch]. -> a list of one SparseTensor
    int64[batch, longest], and -1 times the sum of the largest inputs, float[batch, 1].
    """
    places, classes, shape, total = build.CTCGreedyDecoder(inputs, sequence_length, merge_repeated=merge_repeated)
    return [SparseTensor(places, classes, shape)], total


def ctc_beam_search_decoder(inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1,
                            merge_repeated: bool = True) -> tuple[list[Any], Tensor]:
    """The likeliest sequences of labels over all their paths, of at most beam_width kept from time to time.

    inputs: float[time, batch, classes], whose last class is the blank, sequence_length: int32[batch]. -> a list of
    top_paths SparseTensors int64[batch, longest], and their log probabilities, float[batch, top_paths].
    merge_repeated: labels of a sequence that repeat the one before are left out.
    """
    parts = build.CTCBeamSearchDecoder(inputs, sequence_length, beam_width=beam_width, top_paths=top_paths,
                                       merge_repeated=merge_repeated)
    return [SparseTensor(*parts[i:-1:top_paths]) for i in range(top_paths)], parts[-1]


def _scan(fn: Callable[..., Any], elems: Any, initial: Any, reverse: bool = False, inclusive: bool = False,
          final_only: bool = False) -> Any:
    """scan; inclusive: the initial state is among the results. final_only: the last result alone."""
    def kept(first: Any, found: Tensor) -> Tensor:
        parts = [convert_to_tensor(first)[None], found][not inclusive:]
        return found[0 if reverse else -1] if final_only else concat(parts[::-1] if reverse else parts, 0)

    return nest.map_structure(kept, initial, scan(fn, elems, initial, reverse=reverse))
