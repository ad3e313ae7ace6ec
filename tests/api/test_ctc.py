"""CTC: the loss is the sum over all paths, its gradient the central difference, the decoders the best path and sums."""

import itertools
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.nn import ctc

LOGITS = np.random.default_rng(5).normal(size=(5, 2, 3))
PLACES, CLASSES, SHAPE = [[0, 0], [0, 1], [1, 0]], [0, 0, 1], [2, 2]
TIMES = [5, 3]
SEQUENCES = ([0, 0], [1])


def by_paths(logits: np.ndarray, labels: list[int], time: int, merge: bool = True) -> float:
    """The loss of one sequence, counted over every path; the last class is the blank."""
    y = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    blank, total = logits.shape[1] - 1, 0.0
    for path in itertools.product(range(blank + 1), repeat=time):
        kept = [c for i, c in enumerate(path) if not (merge and i and c == path[i - 1])]
        if [c for c in kept if c != blank] == labels:
            total += float(np.prod([y[t, c] for t, c in enumerate(path)]))
    return -float(np.log(total))


def run(build: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


def sparse_labels() -> tf.SparseTensor:
    return tf.SparseTensor(PLACES, tf.constant(CLASSES), SHAPE)


@pytest.mark.parametrize("merge", [True, False])
def test_the_loss_is_the_sum_over_all_paths(merge: bool) -> None:
    found = run(lambda: tf.nn.ctc_loss(sparse_labels(), LOGITS, TIMES, ctc_merge_repeated=merge))
    expected = [by_paths(LOGITS[:, b], labels, TIMES[b], merge) for b, labels in enumerate(SEQUENCES)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_gradient_is_the_central_difference() -> None:
    def build() -> Any:
        x = tf.constant(LOGITS)
        return tf.gradients(tf.nn.ctc_loss(sparse_labels(), x, TIMES) * np.array([1.0, -2.0]), x)[0]

    gradient, h = run(build), 1e-6
    for t, b, c in ((0, 0, 0), (3, 0, 2), (2, 1, 1), (4, 1, 0)):
        bumped = [LOGITS.copy(), LOGITS.copy()]
        bumped[0][t, b, c] += h
        bumped[1][t, b, c] -= h
        above, below = (by_paths(x[:, b], SEQUENCES[b], TIMES[b]) for x in bumped)
        np.testing.assert_allclose(gradient[t, b, c], [1.0, -2.0][b] * (above - below) / (2 * h), rtol=1e-6, atol=1e-9)


def test_a_second_derivative_is_refused() -> None:
    with tf.Graph().as_default():
        x = tf.constant(LOGITS)
        slope, = tf.gradients(tf.nn.ctc_loss(sparse_labels(), x, TIMES), x)
        with pytest.raises(LookupError):
            tf.gradients(slope, x)


@pytest.mark.parametrize("blank", [0, 1, -1])
def test_dense_labels_and_another_blank(blank: int) -> None:
    order = [c for c in range(3) if c != blank % 3] + [blank % 3]
    labels = np.array([[order[0], order[0]], [order[1], 0]], np.int32)
    found = run(lambda: tf.nn.ctc_loss_v2(labels, LOGITS, [2, 1], TIMES, blank_index=blank))
    moved = LOGITS[:, :, order]
    np.testing.assert_allclose(found, [by_paths(moved[:, b], s, TIMES[b]) for b, s in enumerate(SEQUENCES)], rtol=1e-12)
    batch_first = np.swapaxes(LOGITS, 0, 1)
    again = run(lambda: tf.nn.ctc_loss_v2(labels, batch_first, [2, 1], TIMES, logits_time_major=False,
                                          blank_index=blank))
    np.testing.assert_array_equal(again, found)


def test_more_labels_than_time_is_an_error_unless_ignored() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"required: 2, available: 1"):
        run(lambda: tf.nn.ctc_loss(sparse_labels(), LOGITS, [1, 3]))
    loss = run(lambda: tf.nn.ctc_loss(sparse_labels(), LOGITS, [1, 3], ignore_longer_outputs_than_inputs=True))
    assert loss[0] == 0 < loss[1]
    assert np.isinf(run(lambda: tf.nn.ctc_loss(sparse_labels(), LOGITS, [2, 3]))[0])  # no room for the blank between


def test_labels_that_are_not_sparse_are_refused() -> None:
    with tf.Graph().as_default():
        with pytest.raises(TypeError, match="SparseTensor"):
            tf.nn.ctc_loss([[1, 2]], LOGITS, TIMES)
        with pytest.raises(ValueError, match="blank_index must be given"):
            tf.nn.ctc_loss_v2(sparse_labels(), LOGITS, None, TIMES)


def test_the_decoder_drops_blanks_and_repeats() -> None:
    scores = np.full((5, 1, 3), -1.0)
    for t, c in enumerate([0, 0, 2, 0, 1]):
        scores[t, 0, c] = float(t)
    for merge, expected in ((True, [0, 0, 1]), (False, [0, 0, 0, 1])):
        with tf.Graph().as_default(), tf.Session() as session:
            (decoded,), total = tf.nn.ctc_greedy_decoder(scores, [5], merge_repeated=merge)
            value, minus = session.run([decoded, total])
        assert value.values.tolist() == expected
        assert (value.dense_shape.tolist(), minus.tolist()) == ([1, len(expected)], [[-10.0]])


def beams_of(logits: np.ndarray, times: list[int], **options: Any) -> Any:
    return run(lambda: tf.nn.ctc_beam_search_decoder(logits, times, **options))


def test_a_wide_beam_search_finds_the_likeliest_of_all_sequences() -> None:
    found, chances = beams_of(LOGITS, TIMES, top_paths=3, merge_repeated=False)
    for b, time in enumerate(TIMES):
        every = {labels: -by_paths(LOGITS[:, b], list(labels), time) for n in range(time + 1)
                 for labels in itertools.product(range(2), repeat=n)
                 if n + sum(x == y for x, y in itertools.pairwise(labels)) <= time}
        best = sorted(every, key=every.__getitem__)[:-4:-1]
        assert [tuple(each.values[each.indices[:, 0] == b].tolist()) for each in found] == best
        np.testing.assert_allclose(chances[b], [every[labels] for labels in best], rtol=1e-12)


def test_a_narrow_beam_search_loses_what_tensorflow_loses() -> None:
    found, chances = beams_of(LOGITS.astype(np.float32), TIMES, beam_width=3, top_paths=2)
    assert [(each.values.tolist(), each.dense_shape.tolist()) for each in found] == [
        ([1, 0, 1, 0, 1], [2, 3]), ([0, 1, 0, 1], [2, 2])]
    np.testing.assert_allclose(chances, [[-1.93396, -2.42926], [-1.3126, -1.44615]], atol=1e-5)
    noise = np.random.RandomState(3).normal(size=(30, 4, 12)).astype(np.float32) * 3
    found, chances = beams_of(noise, [30, 20, 7, 25], beam_width=40, top_paths=20, merge_repeated=False)
    assert [int(each.values.sum()) for each in found] == [
        321, 309, 320, 307, 304, 307, 285, 301, 303, 301, 315, 305, 330, 285, 291, 294, 276, 306, 318, 304]
    np.testing.assert_allclose(chances[:, -1], [-13.995, -8.668, -4.701, -11.149], atol=1e-3)


def test_labels_of_a_beam_search_that_repeat_are_merged() -> None:
    scores = np.where(np.arange(3)[None, None] == np.array([0, 2, 0])[:, None, None], 9.0, 0.0)
    for merge, expected in ((True, [0]), (False, [0, 0])):
        found, _ = beams_of(scores, [3], merge_repeated=merge)
        assert found[0].values.tolist() == expected


def test_what_lies_beyond_a_sequence_counts_for_nothing() -> None:
    logits = np.random.default_rng(0).normal(size=(5, 2, 4)).astype(np.float32)
    logits[3:, 0] = np.nan
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(logits)
        labels = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [1, 0, 2], [2, 2])
        loss = tf.nn.ctc_loss(labels, x, [3, 5])
        values, gradient = session.run([loss, tf.gradients(loss, x)[0]])
    assert np.isfinite(values).all()
    assert np.isfinite(gradient).all()
    assert not gradient[3:, 0].any()


def test_dense_labels_are_those_within_their_lengths() -> None:
    from autodiff.api.nn.ctc import dense_labels_to_sparse
    with tf.Graph().as_default(), tf.Session() as session:
        lengths = tf.constant([2, 3], tf.int64)
        found = session.run(dense_labels_to_sparse(tf.constant([[1, 2, 0], [3, 0, 4]], tf.int64), lengths))
        assert (found.values.tolist(), found.dense_shape.tolist()) == ([1, 2, 3, 0, 4], [2, 3])
        empty = tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.int32), [0, 1])
        with pytest.raises(tf.errors.InvalidArgumentError, match="batch_size must not be 0"):
            session.run(tf.nn.ctc_loss(empty, np.zeros((1, 0, 2), np.float32), np.zeros(0, np.int32)))


def test_a_scan_gives_its_initial_state_and_its_last_one() -> None:
    def found(**options: Any) -> Any:
        return ctc._scan(lambda a, e: a + e, tf.constant([1.0, 2.0, 3.0]), 23.0, **options)

    with tf.Graph().as_default(), tf.Session() as session:
        assert [part.tolist() for part in session.run([
            found(), found(inclusive=True), found(reverse=True, inclusive=True), found(final_only=True)])] == [
                [24, 26, 29], [23, 24, 26, 29], [29, 28, 26, 23], 29]
