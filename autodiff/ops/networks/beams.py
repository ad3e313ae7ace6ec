"""Beam search: the likeliest label sequences without times, and the sequences that chains of parents stand for.

Source: Graves and Jaitly (2014), Towards end-to-end speech recognition, algorithm 1, in logarithms, without a language
model.
"""

import numpy as np

from ...core.declare import op
from ...core.dimensions import merge_sizes
from ...core.dtypes import int32, int64
from ...core.infer import rank_of
from ...core.op import Kind, Spec
from ...core.shapes import merge
from ..common.batch_axis import unvaried
from .ctc import FLOATS, Labels, batch_size, label_counts

Symbols = Kind("Symbols", allowed=(int32,), default=int32)


# ---- of label sequences without times ------------------------------------------------------

def _decoded(inputs, sequence_length, *, top_paths, **_):
    batch = batch_size(inputs, sequence_length)
    sparse = [Spec(int64, dims) for dims in ((None, 2), (None,), (2,)) for _ in range(top_paths)]
    return (*sparse, Spec(inputs.dtype.base_dtype, (batch, top_paths)))


@op("CTCBeamSearchDecoder", infer=_decoded, dtypes=FLOATS, no_grad="the likeliest sequences jump from one to another",
    batched=unvaried(0, 1))
def ctc_beam_search_decoder(inputs, sequence_length: Labels, *, beam_width=100, top_paths=1, merge_repeated=True):
    """The likeliest sequences of labels, each over all its paths; the last class is the blank.

    inputs: float[time, batch, classes], sequence_length: int32[batch]. -> top_paths sparse matrices, first all places
    int64[n, 2], then all classes int64[n], then all shapes int64[2]; and log probabilities, float[batch, top_paths].
    merge_repeated: labels of a sequence that repeat the one before are left out. Raises InvalidArgumentError for more
    paths than the beam is wide, or than there are.
    """
    label_counts(np.zeros((0, 2), np.int64), sequence_length, len(inputs))
    if top_paths > beam_width:
        raise ValueError("requested more paths than the beam width")
    chances = np.empty((inputs.shape[1], top_paths), inputs.dtype)
    found = [[] for _ in range(top_paths)]
    for b, time in enumerate(sequence_length):
        beams = _beams(inputs[:time, b].astype(np.float64), beam_width)
        if len(beams) < top_paths:
            raise ValueError("Less leaves in the beam search than requested")
        for i, (labels, total) in enumerate([*_totals(beams).items()][:top_paths]):
            chances[b, i] = total
            found[i].append([label for j, label in enumerate(labels)
                             if not (merge_repeated and j and label == labels[j - 1])])
    places = [np.array([(b, i) for b, row in enumerate(rows) for i in range(len(row))], np.int64).reshape(-1, 2)
              for rows in found]
    classes = [np.array([label for row in rows for label in row], np.int64) for rows in found]
    shapes = [np.array([len(rows), max(map(len, rows), default=0)], np.int64) for rows in found]
    return (*places, *classes, *shapes, chances)


def _totals(beams):
    """Labels -> log probability of all their paths, falling."""
    totals = np.logaddexp(*np.array(list(beams.values())).T).tolist()
    return dict(sorted(zip(beams, totals), key=lambda item: -item[1]))


def _beams(inputs, width):
    """Labels -> log probability of their paths that end in a blank, and of those that end in the last label.

    inputs: float[time, classes]. At most `width` sequences are kept after each time.
    """
    beams = {(): (0.0, -np.inf)}
    for row in inputs - np.logaddexp.reduce(inputs, axis=1, keepdims=True):
        totals, grown = _totals(beams), {}
        for labels in totals:
            ends = beams[labels][1]
            if labels:
                parent = labels[:-1]
                if parent in beams:
                    ends = np.logaddexp(ends, beams[parent][0] if parent[-1:] == labels[-1:] else totals[parent])
                ends += row[labels[-1]]
            grown[labels] = totals[labels] + row[-1], ends
        _grow(grown, beams, totals, row, width)
        beams = grown
    return beams


def _grow(grown, beams, totals, row, width):
    """Put sequences that are longer by a label among those of this time, where they are likelier than the last one.

    As in TensorFlow, one that fell out before its turn, and is not likelier than the last one as its parent's child
    either, is not made longer.
    """
    now, children = _totals(grown), {}
    bottom = min(now, key=now.__getitem__)
    for labels in totals:
        if labels:
            children.setdefault(labels[:-1], []).append(labels[-1])
    for labels in totals:
        floor = now[bottom] if len(grown) == width else -np.inf
        if totals[labels] <= floor:
            continue
        chances = row[:-1] + totals[labels]
        if labels:
            chances[labels[-1]] = row[labels[-1]] + beams[labels][0]
        for label in sorted({*np.flatnonzero(chances > floor).tolist(), *children.get(labels, ())}):
            child, is_full = (*labels, label), len(grown) == width
            if child in grown:
                continue
            if chances[label] > (now[bottom] if is_full else -np.inf):
                if is_full:
                    del grown[bottom], now[bottom]
                grown[child], now[child] = (-np.inf, chances[label]), chances[label]
                bottom = min(now, key=now.__getitem__)
            elif child in totals:
                totals[child] = -np.inf


# ---- of chains of parents ------------------------------------------------------------------

def _gathered(step_ids, parent_ids, max_sequence_lengths, end_token):
    rank_of(step_ids, exactly=3, what="step_ids")
    rank_of(max_sequence_lengths, exactly=1, what="max_sequence_lengths")
    rank_of(end_token, exactly=0, what="end_token")
    time, batch, beams = merge(step_ids.dims, parent_ids.dims) or (None,) * 3
    return Spec(int32, (time, merge_sizes(batch, (max_sequence_lengths.dims or (None,))[0]), beams))


@op("GatherTree", infer=_gathered, dtypes=(int32,), no_grad="symbols are integers", batched=unvaried(0, 1, 2, 3))
def gather_tree(step_ids: Symbols, parent_ids: Symbols, max_sequence_lengths: Symbols, end_token: Symbols):
    """The sequence of each beam at the end, from the symbols of each step and the beams that these go on from.

    step_ids, parent_ids: int32[time, batch, beams]; max_sequence_lengths: int32[batch]; end_token: int32[], which is
    all that follows its first place -> int32[time, batch, beams]. Raises InvalidArgumentError for a parent that is no
    beam.
    """
    found = np.full_like(step_ids, end_token)
    for b, length in enumerate(np.minimum(max_sequence_lengths, len(step_ids)).tolist()):
        beam = np.arange(step_ids.shape[2])
        for time in reversed(range(length)):
            found[time, b] = step_ids[time, b, beam]
            beam = parent_ids[time, b, beam]
            wrong = (beam < 0) | (beam >= step_ids.shape[2])
            if time and wrong.any():
                i = int(wrong.argmax())
                raise ValueError(f"Saw invalid parent id {beam[i]} at (batch, time, beam) == ({b}, {time - 1}, {i})")
        ended = np.logical_or.accumulate(found[:length, b] == end_token, axis=0)
        found[:length, b][ended] = end_token
    return found
