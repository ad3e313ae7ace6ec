"""Connectionist temporal classification: the loss of label sequences without times, and the best path.

Source: Graves et al. (2006), Connectionist temporal classification; in logarithms, for all sequences at once.
"""

from typing import NamedTuple

import numpy as np

from ...core.declare import op
from ...core.dimensions import merge_sizes
from ...core.dtypes import float32, float64, int32, int64
from ...core.errors import ShapeError
from ...core.infer import rank_of
from ...core.op import Kind, Spec, blocked, build

FLOATS = (float32, float64)
Int64 = Kind("Int64", allowed=(int64,), default=int64)
Labels = Kind("Labels", allowed=(int32,), default=int32)


class _Path(NamedTuple):
    """The labels of each sequence with blanks between them: [batch, 2 * longest + 1], blanks at the end."""

    symbols: np.ndarray
    lengths: np.ndarray
    skips: np.ndarray  # whether a step may come from two places before
    stays: np.ndarray  # whether a step may come from the same place


# ---- labels -------------------------------------------------------------------------------

def _sequences(indices, values, lengths, classes, collapse):
    """The labels of each sequence, without those that stand for blanks at its end."""
    found = [[] for _ in lengths]
    for (b, _), label in zip(indices.tolist(), values.tolist()):
        found[b].append(label)
    kept = []
    for b, labels in enumerate(found):
        labels = [v for i, v in enumerate(labels) if not (collapse and i and v == labels[i - 1])]
        if labels and min(labels) < 0:
            raise ValueError(f"All labels must be nonnegative integers, batch: {b} labels: {labels}")
        proper = [v for v in labels if v < classes - 1]
        if labels[:len(proper)] != proper:
            raise ValueError(f"Saw a non-null label (index >= num_classes - 1) following a null label, batch: {b} "
                             f"num_classes: {classes} labels: {labels}")
        kept.append(proper)
    return kept


def _path(sequences, blank, merge):
    lengths = np.array([2 * len(labels) + 1 for labels in sequences])
    symbols = np.full((len(sequences), int(lengths.max(initial=1))), blank)
    for row, labels in zip(symbols, sequences):
        row[1:2 * len(labels):2] = labels
    proper = symbols != blank
    skips = proper.copy()
    skips[:, :2] = False
    if merge:
        skips[:, 2:] &= symbols[:, 2:] != symbols[:, :-2]
    return _Path(symbols, lengths, skips, ~proper | merge)


# ---- probabilities ------------------------------------------------------------------------

def _log_softmax(x):
    x = x - x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


def _sum(*terms):
    return np.logaddexp(np.logaddexp(terms[0], terms[1]), terms[2])


def _moved(a, by):
    """Columns moved to higher places (or lower, by < 0); log 0 enters."""
    y = np.full_like(a, -np.inf)
    if by > 0:
        y[:, by:] = a[:, :-by]
    else:
        y[:, :by] = a[:, -by:]
    return y


def _forward(emitted, path):
    """log of the probability of all ways to each place at each time: [time, batch, places]."""
    alpha = np.full(emitted.shape, -np.inf)
    alpha[0, :, :2] = emitted[0, :, :2]
    stays, skips = _log_of(path.stays), _log_of(path.skips)
    for t in range(1, len(alpha)):
        before = alpha[t - 1]
        alpha[t] = emitted[t] + _sum(before + stays, _moved(before, 1), _moved(before, 2) + skips)
    return alpha


def _backward(emitted, path, times):
    """log of the probability of all ways from each place to the end, its own time left out."""
    beta = np.full(emitted.shape, -np.inf)
    places = np.arange(emitted.shape[2])
    ends = np.where((places < path.lengths[:, None]) & (places >= path.lengths[:, None] - 2), 0.0, -np.inf)
    stays, skips = _log_of(path.stays), _log_of(path.skips)
    for t in range(len(beta) - 1, -1, -1):
        if t + 1 < len(beta):
            after = beta[t + 1] + emitted[t + 1]
            beta[t] = _sum(after + stays, _moved(after, -1), _moved(after + skips, -2))
        beta[t] = np.where((times == t + 1)[:, None], ends, beta[t])
    return beta


def _log_of(holds):
    return np.where(holds, 0.0, -np.inf)


def _loss(inputs, sequences, times, merge):
    """The loss of each sequence, and its gradient by the inputs. Sequences of no time have neither."""
    longest, batch, classes = inputs.shape
    if not inputs.size:
        return np.zeros(batch, inputs.dtype), np.zeros(inputs.shape, inputs.dtype)
    path = _path(sequences, classes - 1, merge)
    is_there = (np.arange(longest)[:, None] < times) & (times > 0)
    log_y = _log_softmax(np.where(is_there[:, :, None], inputs, 0).astype(np.float64))
    b = np.arange(batch)
    emitted = log_y[:, b[:, None], path.symbols]
    alpha, beta = _forward(emitted, path), _backward(emitted, path, times)
    last = alpha[np.maximum(times, 1) - 1, b]
    end = path.lengths - 1
    log_p = np.logaddexp(last[b, end], np.where(end > 0, last[b, end - 1], -np.inf))
    with np.errstate(invalid="ignore"):
        share = np.exp(alpha + beta - np.where(np.isfinite(log_p), log_p, np.inf)[:, None])
    gradient = np.exp(log_y)
    np.subtract.at(gradient, (np.arange(longest)[:, None, None], b[:, None], path.symbols), share)
    loss = np.where(times > 0, -log_p, 0.0)
    return loss.astype(inputs.dtype), (gradient * is_there[:, :, None]).astype(inputs.dtype)


def _fitting(sequences, counts, times, ignore):
    """Which sequences have time for their labels. Raises ValueError for one that has not, unless ignored."""
    fits = (counts <= times) & (times > 0)
    if not ignore and np.any(counts > times):
        b = int(np.argmax(counts > times))
        raise ValueError(f"Not enough time for target transition sequence (required: {counts[b]}, available: "
                         f"{times[b]}){b}You can turn this error into a warning by using the flag "
                         "ignore_longer_outputs_than_inputs")
    return [labels if fit else [] for labels, fit in zip(sequences, fits)], fits


# ---- ops ----------------------------------------------------------------------------------

def _losses(inputs, labels_indices, labels_values, sequence_length, **_):
    rank_of(inputs, exactly=3, what="inputs")
    rank_of(labels_indices, exactly=2, what="labels_indices")
    rank_of(labels_values, exactly=1, what="labels_values")
    rank_of(sequence_length, exactly=1, what="sequence_length")
    if labels_indices.dims is not None and labels_values.dims is not None:
        merge_sizes(labels_indices.dims[0], labels_values.dims[0])
    time, batch, classes = inputs.dims or (None,) * 3
    batch = merge_sizes(batch, sequence_length.dims[0] if sequence_length.dims else None)
    dtype = inputs.dtype.base_dtype
    return Spec(dtype, (batch,)), Spec(dtype, (time, batch, classes))


@op("CTCLoss", infer=_losses, dtypes=FLOATS)
def ctc_loss(inputs, labels_indices: Int64, labels_values: Labels, sequence_length: Labels, *,
             preprocess_collapse_repeated=False, ctc_merge_repeated=True, ignore_longer_outputs_than_inputs=False):
    """-log of the probability of the labels under softmax(inputs), whose last class is the blank; and its gradient.

    inputs: float[time, batch, classes]. labels: int64[n, 2] places (batch, position) and int32[n] of classes.
    sequence_length: int32[batch] <= time. -> float[batch], float[time, batch, classes]. inf, where no path gives the
    labels. Raises InvalidArgumentError for labels out of range and for more labels than time.
    """
    times = np.asarray(sequence_length)
    if not inputs.shape[1]:
        raise ValueError("batch_size must not be 0")
    counts = label_counts(labels_indices, times, len(inputs))
    if not counts.all():
        raise ValueError(f"Labels length is zero in batch {int(np.argmin(counts))}")
    sequences = _sequences(labels_indices, labels_values, times, inputs.shape[2], preprocess_collapse_repeated)
    sequences, fits = _fitting(sequences, counts, times, ignore_longer_outputs_than_inputs)
    loss, gradient = _loss(inputs, sequences, times, ctc_merge_repeated)
    return np.where(fits, loss, inputs.dtype.type(0)), np.where(fits[:, None], gradient, inputs.dtype.type(0))


def label_counts(indices, times, longest):
    """How many labels each sequence has. Raises ValueError for times or sequences that there are not."""
    if times.size and times.max() > longest:
        raise ValueError(f"sequence_length({int(times.argmax())}) <= {longest} does not hold: found {times.max()}")
    if indices.size and indices[:, 0].max() >= len(times):
        raise ValueError(f"expected labels of {len(times)} sequences, found one of sequence {indices[:, 0].max()}")
    return np.bincount(indices[:, 0], minlength=len(times))


@op("CTCLossV2", infer=_losses, dtypes=FLOATS)
def ctc_loss_v2(inputs, labels_indices: Int64, labels_values: Labels, sequence_length: Labels):
    """CTCLoss that also takes sequences without labels; the loss of those with more labels than time is inf."""
    times = np.asarray(sequence_length)
    label_counts(labels_indices, times, len(inputs))
    sequences = _sequences(labels_indices, labels_values, times, inputs.shape[2], collapse=False)
    return _loss(inputs, sequences, times, merge=True)


@ctc_loss.gradient
@ctc_loss_v2.gradient
def _(node, dloss, _dgradient):
    slope = build.PreventGradient(node.outputs[1], message="Currently there is no way to take the second derivative of "
                                  "ctc_loss due to the fused implementation's interaction with tf.gradients()")
    return (build.Reshape(dloss, [1, -1, 1]) * slope, *[blocked("labels and lengths are integers")] * 3)


def batch_size(inputs, sequence_length):
    """How many sequences there are, None if that is not known. Raises ShapeError for other ranks and sizes."""
    rank_of(inputs, exactly=3, what="inputs")
    rank_of(sequence_length, exactly=1, what="sequence_length")
    _, batch, _ = inputs.dims or (None,) * 3
    return merge_sizes(batch, sequence_length.dims[0] if sequence_length.dims else None)


def _decoded(inputs, sequence_length, **_):
    total = Spec(inputs.dtype.base_dtype, (batch_size(inputs, sequence_length), 1))
    return Spec(int64, (None, 2)), Spec(int64, (None,)), Spec(int64, (2,)), total


@op("CTCGreedyDecoder", infer=_decoded, dtypes=FLOATS, no_grad="the best path jumps from one to another")
def ctc_greedy_decoder(inputs, sequence_length: Labels, *, merge_repeated=False):
    """The most probable class at each time, without blanks (the last class), and with merge_repeated no repeats.

    inputs: float[time, batch, classes], sequence_length: int32[batch]. -> a sparse matrix: int64[n, 2] places,
    int64[n] classes, int64[2] shape; and -1 times the sum of the largest inputs, float[batch, 1].
    """
    times = np.asarray(sequence_length)
    label_counts(np.zeros((0, 2), np.int64), times, len(inputs))
    best = inputs.argmax(axis=2)
    is_there = np.arange(len(inputs))[:, None] < times
    kept = is_there & (best != inputs.shape[2] - 1)
    if merge_repeated:
        kept[1:] &= best[1:] != best[:-1]
    places = np.argwhere(kept.T)
    position = kept.cumsum(axis=0)[places[:, 1], places[:, 0]] - 1
    indices = np.stack([places[:, 0], position], axis=1).astype(np.int64)
    shape = np.array([len(times), kept.sum(axis=0).max(initial=0)], np.int64)
    total = -np.where(is_there, inputs.max(axis=2), 0).sum(axis=0, keepdims=True).T
    return indices, best[places[:, 1], places[:, 0]].astype(np.int64), shape, total.astype(inputs.dtype)


@ctc_loss.batched
@ctc_loss_v2.batched
@ctc_greedy_decoder.batched
def _(node, args, batched):
    raise ShapeError(f"cannot vectorize {node.type}: its labels differ in number from slice to slice",
                     hint="use one call over a larger batch")
