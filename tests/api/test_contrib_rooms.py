"""tf.contrib's crf, slim.learning and metrics: what TensorFlow 1.15.5 gives."""

import itertools
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.tensorflow_names.alias import standing_in

pytestmark = pytest.mark.usefixtures("own_graph")
crf = tf.contrib.crf


def run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return session.run(fetches, feeds)


def by_hand(scores: np.ndarray, moves: np.ndarray) -> dict[tuple[int, ...], float]:
    """The score of each sequence of tags."""
    steps = range(len(scores))
    return {tags: sum(scores[t, tags[t]] for t in steps) + sum(moves[tags[t - 1], tags[t]] for t in steps[1:])
            for tags in itertools.product(range(scores.shape[1]), repeat=len(scores))}


@pytest.mark.parametrize("lengths", [[4, 2, 1], [3, 4, 0]])
def test_chains_of_tags_are_scored_as_all_of_them_by_hand(lengths: list[int]) -> None:
    random = np.random.default_rng(0)
    x, moves = random.normal(size=(3, 4, 3)).astype(np.float32), random.normal(size=(3, 3)).astype(np.float32)
    tags = random.integers(0, 3, (3, 4)).astype(np.int32)
    inputs = tf.placeholder(tf.float32, [None, None, 3])
    likelihood, transitions = crf.crf_log_likelihood(inputs, tags, lengths, tf.constant(moves))
    decoded = crf.crf_decode(inputs, transitions, lengths)
    found, (path, best), slopes = run([likelihood, decoded, tf.gradients(likelihood, inputs)[0]],
                                      {inputs: x})
    for row, n in enumerate(lengths):
        scores = by_hand(x[row, :n], moves)
        total = np.log(np.exp(list(scores.values())).sum())
        np.testing.assert_allclose(found[row], scores[tuple(tags[row, :n])] - total, 1e-4, 1e-5)
        assert np.all(slopes[row, n:] == 0)
        if n:
            assert tuple(path[row, :n]) == max(scores, key=scores.__getitem__) and not path[row, n:].any()
            np.testing.assert_allclose(best[row], max(scores.values()), 1e-4)
            assert crf.viterbi_decode(x[row, :n], moves)[0] == path[row, :n].tolist()


def test_transitions_are_a_variable_where_none_are_given() -> None:
    _, transitions = crf.crf_log_likelihood(tf.zeros([1, 2, 5]), tf.zeros([1, 2], tf.int32), [2])
    assert transitions.name == "transitions:0" and transitions.shape == [5, 5]


def test_slim_trains(tmp_path: Any) -> None:
    slim = tf.contrib.slim
    x, y = tf.constant([[1.0], [2.0], [4.0]]), tf.constant([[2.0], [3.0], [8.0]])
    p = slim.layers.fully_connected(x, 1, activation_fn=None, weights_initializer=tf.constant_initializer(0.3),
                                    normalizer_fn=slim.batch_norm, normalizer_params={"is_training": True})
    train_op = slim.learning.create_train_op(tf.losses.mean_squared_error(y, p), tf.train.GradientDescentOptimizer(0.1),
                                             clip_gradient_norm=0.5)
    slim.learning.train(train_op, str(tmp_path / "run"), number_of_steps=3, log_every_n_steps=0)
    kept = tf.train.load_checkpoint(tf.train.latest_checkpoint(str(tmp_path / "run")))
    np.testing.assert_allclose(kept.get_tensor("fully_connected/BatchNorm/beta"), [0.15], 1e-5)  # the norm is clipped
    assert kept.get_tensor("global_step") == 3 and kept.get_tensor("fully_connected/BatchNorm/moving_mean") != 0


def test_slim_multiplies_gradients_and_looks_at_the_last_size() -> None:
    slim = tf.contrib.slim
    v, w = (tf.Variable(1.0, name=name) for name in "vw")
    train_op = slim.learning.create_train_op(v + w, tf.train.GradientDescentOptimizer(1.0),
                                             gradient_multipliers={"v": 0.25, w: 2.0})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train_op)
        assert session.run([v, w]) == [0.75, -1.0]
    assert slim.utils.last_dimension(tf.zeros([2, 3]).shape, min_rank=2) == 3
    with pytest.raises(ValueError, match="must be known"):
        slim.utils.last_dimension(tf.TensorShape([2, None]))


def test_streaming_metrics_take_predictions_first() -> None:
    metrics = tf.contrib.metrics
    values, updates = metrics.aggregate_metric_map({
        "recall": metrics.streaming_recall([1, 1, 0], [1, 0, 0]),
        "less": metrics.streaming_percentage_less([1.0, 3.0], 2),
        "precision": metrics.streaming_precision([1, 1, 0], labels=[1, 0, 0])})
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(updates)
        assert session.run(values) == {"recall": 1.0, "less": 0.5, "precision": 0.5}
    assert run(metrics.accuracy([1, 2, 3, 4], [1, 2, 3, 5], [1.0, 1.0, 1.0, 2.0])) == np.float32(0.6)
    with pytest.raises(AttributeError, match="tf.contrib.metrics.streaming_nothing"):
        metrics.streaming_nothing  # noqa: B018


def test_the_largest_of_groups_of_channels() -> None:
    x = tf.constant(np.cos(np.arange(24.0)).reshape(2, 3, 4))
    y = tf.contrib.layers.maxout(x, 2)
    assert (y.name, y.shape, tf.contrib.layers.maxout(x, 1, axis=1).shape) == ("MaxOut/Max:0", [2, 3, 2], [2, 1, 4])
    found, slopes = run([y, tf.gradients(y, x)[0]])
    np.testing.assert_allclose(found[0].ravel(), [1.0, -0.41615, 0.28366, 0.96017, -0.1455, 0.00443], atol=1e-5)
    assert slopes[0].ravel().tolist() == [1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1]
    rows = tf.placeholder(tf.float32, [None, 6])
    assert run(tf.contrib.layers.maxout(rows, 3), {rows: [range(6)]}).tolist() == [[1, 3, 5]]
    with pytest.raises(ValueError, match=r"number of features\(4\) is not a multiple of num_units\(3\)"):
        tf.contrib.layers.maxout(x, 3)


def test_rooms_of_names_that_the_core_has() -> None:
    stateless = tf.contrib.stateless
    drawn = [stateless.stateless_random_uniform([2], [1, 2]), stateless.stateless_random_normal([2], [1, 2]),
             stateless.stateless_truncated_normal([2], [1, 2])]
    np.testing.assert_allclose(run(drawn), [[0.84406, 0.19205], [0.54411, 0.20738], [0.54411, 0.20738]], atol=1e-5)
    assert run(stateless.stateless_multinomial([[1.0, 2.0]], 4, [1, 2])).tolist() == [[1, 1, 0, 1]]
    assert run(tf.contrib.signal.hann_window(4)).tolist() == [0.0, 0.5, 1.0, 0.5]


def test_mixed_precision_changes_nothing_on_a_cpu() -> None:
    optimizer = tf.train.AdamOptimizer()
    assert tf.train.experimental.enable_mixed_precision_graph_rewrite(optimizer) is optimizer
    with pytest.raises(ValueError, match='"opt" must be an instance of a tf.train.Optimizer'):
        tf.train.experimental.enable_mixed_precision_graph_rewrite(3)


def test_modules_below_a_room_have_its_names() -> None:
    with standing_in(shadow=True):
        from tensorflow.contrib.legacy_seq2seq.python.ops import seq2seq  # type: ignore[import-not-found]
        from tensorflow.contrib.seq2seq.python.ops import beam_search_decoder  # type: ignore[import-not-found]
        assert seq2seq.rnn_decoder.__name__ == "rnn_decoder"
        assert beam_search_decoder.BeamSearchDecoder is tf.contrib.seq2seq.BeamSearchDecoder
