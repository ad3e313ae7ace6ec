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


def test_alpha_dropout_draws_tensorflows_numbers() -> None:
    tf.set_random_seed(5)
    x = tf.constant(np.cos(np.arange(24.0)).reshape(2, 3, 4), tf.float32)
    dropped = tf.contrib.nn.alpha_dropout(x, 0.7), tf.contrib.nn.alpha_dropout(x, 0.5, [2, 1, 4], seed=3, name="ad")
    assert dropped[0].name == "alpha_dropout/add_2:0" and tf.contrib.nn.alpha_dropout(x, 1.0) is x
    first, second = run(dropped)
    np.testing.assert_allclose(first[0, 0], [-1.0595, 0.9193, 0.0958, -0.3982], atol=1e-4)
    np.testing.assert_allclose(second[0, :2], [[-0.7792, 1.2581, 0.4103, -0.7792], [-0.7792, 1.0306, 1.6303, -0.7792]],
                               atol=1e-4)
    with pytest.raises(ValueError, match=r"must be a scalar tensor or a float in the range \(0, 1\], got 1.5"):
        tf.contrib.nn.alpha_dropout(x, 1.5)


def test_where_channels_are_greatest() -> None:
    f = tf.constant(np.sin(np.arange(48.0)).reshape(2, 3, 4, 2), tf.float32)
    places = tf.contrib.layers.spatial_softmax(f, variables_collections=["mine"])
    turned = tf.contrib.layers.spatial_softmax(tf.transpose(f, [0, 3, 1, 2]), 0.2, "ss", trainable=False,
                                               data_format="NCHW")
    assert places.name == "spatial_softmax/spatial_softmax_op/Reshape_3:0" and places.shape == [2, 4]
    assert [v.name for v in tf.global_variables()] == ["spatial_softmax/temperature:0", "ss/temperature:0"]
    assert tf.get_collection("mine") == tf.trainable_variables() == tf.global_variables()[:1]
    found, slope = run([[places, turned], tf.gradients(places[:, 1], f)[0]])
    np.testing.assert_allclose(found[0][0], [-0.0002, 0.0003, -0.0976, 0.0372], atol=1e-4)
    np.testing.assert_allclose(found[1][0], [0.0035, 0.003, -0.1372, 0.0035], atol=1e-4)
    np.testing.assert_allclose(slope[0].sum(1), [[-0.0574, 0], [0.0002, 0], [0.0572, 0]], atol=1e-4)
    with pytest.raises(ValueError, match="data_format has to be either NCHW or NHWC."):
        tf.contrib.layers.spatial_softmax(f, data_format="NWC")
    with pytest.raises(ValueError, match="num_channels dimension of the inputs to `spatial_softmax` should be defined"):
        tf.contrib.layers.spatial_softmax(tf.placeholder(tf.float32, [1, 2, 3, None]))


def test_summaries_whose_tags_are_tensors() -> None:
    old = tf.contrib.deprecated
    made = [old.scalar_summary("t", 3.0), old.scalar_summary(["a", "b"], [1.0, 2.0], name="q"),
            old.histogram_summary("h", [1.0, 2.0]), old.image_summary("i", tf.zeros([2, 1, 1, 1]), max_images=1),
            old.audio_summary("s", tf.zeros([1, 4]), 44.0, max_outputs=1)]
    assert [one.op.name for one in made] == ["ScalarSummary", "q", "HistogramSummary", "ImageSummary", "AudioSummary"]
    assert made == tf.get_collection("summaries")
    found = tf.Summary.FromString(run(old.merge_all_summaries()))
    assert [value.tag for value in found.value] == ["t", "a", "b", "h", "i/image", "s/audio"]


def test_names_before_tensorflow_1_are_told_by_what_they_became() -> None:
    for room, name, module, now in ((tf, "scalar_summary", "tensorflow", "tf.summary.scalar"),
                                    (tf, "mul", "tensorflow", "tf.multiply"),
                                    (tf.train, "SummaryWriter", "tensorflow._api.v1.train", "tf.summary.FileWriter")):
        with pytest.raises(AttributeError, match=f"^module '{module}' has no attribute '{name}'\nit is {now} since"):
            getattr(room, name)


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
