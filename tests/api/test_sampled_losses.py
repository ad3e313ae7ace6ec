"""Sampled softmax and noise contrastive estimation: TensorFlow 1.15's values, and the samplers' chances."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.nn import sampled_losses

WEIGHTS = np.array([[1.6, -0.6], [-0.5, -1.1], [0.9, -2.3], [1.7, -0.8], [0.3, -0.2]], np.float32)
BIASES = np.array([1.5, -2.1, -0.3, -0.4, 1.1], np.float32)
INPUTS = np.array([[-1.1, -0.2], [-0.9, 0.0]], np.float32)
SAMPLED = (np.array([1, 4, 0]), np.array([[0.5], [0.25]], np.float32), np.array([0.5, 0.125, 0.75], np.float32))


pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.mark.parametrize(("loss", "expected"), [
    (tf.nn.nce_loss, [5.771812915802002, 5.003253936767578]),
    (tf.nn.sampled_softmax_loss, [4.408267974853516, 3.285618543624878]),
])
def test_losses_are_tensorflows(loss: Any, expected: list[float]) -> None:
    found = loss(tf.constant(WEIGHTS), tf.constant(BIASES), tf.constant([[3], [1]]), tf.constant(INPUTS), 3, 5,
                 sampled_values=SAMPLED)
    np.testing.assert_allclose(tf.Session().run(found), expected, rtol=1e-6)


def test_an_accidental_hit_does_not_count() -> None:
    """The second row's class is drawn too: without it the softmax is over the true class and two others."""
    found = tf.nn.sampled_softmax_loss(tf.constant(WEIGHTS), tf.constant(BIASES), tf.constant([[3], [1]]),
                                       tf.constant(INPUTS), 3, 5, sampled_values=SAMPLED)
    logits = WEIGHTS @ INPUTS[1] + BIASES - np.log([0.75, 0.25, 1, 1, 0.125])
    wanted = np.log(np.exp(logits[[1, 4, 0]]).sum()) - logits[1]
    np.testing.assert_allclose(tf.Session().run(found)[1], wanted, rtol=1e-5)  # float32 throughout


def test_gradients_of_a_table_stay_sparse() -> None:
    table = tf.Variable(WEIGHTS)
    loss = tf.nn.nce_loss(table, tf.zeros([5]), [[3], [1]], tf.constant(INPUTS), 3, 5)
    assert isinstance(tf.gradients(loss, table)[0], tf.IndexedSlices)


def test_drawn_classes_differ_and_the_first_are_likelier() -> None:
    sampled, _, _ = tf.nn.log_uniform_candidate_sampler([[0]], 1, 5, True, 20, seed=1)
    session = tf.Session()
    draws = np.array([session.run(sampled) for _ in range(200)])
    assert all(len(set(row)) == 5 for row in draws.tolist())
    counts = np.bincount(draws.ravel(), minlength=20)
    assert counts[0] > counts[3] > counts[19] > 0
    assert draws.max() < 20


def test_the_logits_are_corrected_by_the_samplers_chances_or_not() -> None:
    """Code built on the losses takes the logits themselves, in TensorFlow's order of arguments."""
    given = dict(weights=tf.constant(WEIGHTS), biases=tf.constant(BIASES), labels=tf.constant([[3], [1]]),
                 inputs=tf.constant(INPUTS), num_sampled=3, num_classes=5, sampled_values=SAMPLED)
    (plain, targets), (corrected, _) = (
        sampled_losses._compute_sampled_logits(**given, subtract_log_q=subtract) for subtract in (False, True))
    classes = [[3, 1, 4, 0], [1, 1, 4, 0]]
    expected = [[row @ WEIGHTS[c] + BIASES[c] for c in each] for row, each in zip(INPUTS, classes)]
    chances = np.column_stack([SAMPLED[1], np.tile(SAMPLED[2], (2, 1))])
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(plain), expected, rtol=1e-6)
        np.testing.assert_allclose(session.run(corrected), expected - np.log(chances), rtol=1e-5)
        assert session.run(targets).tolist() == [[1.0, 0.0, 0.0, 0.0]] * 2


def test_accidental_hits_among_all_candidates() -> None:
    true = [[1, 2], [0, 4], [3, 3]]
    with tf.Session() as session:
        classes, counts, sampled_counts = session.run(tf.nn.all_candidate_sampler(true, 2, 5, True))
        rows, places, weights = session.run(tf.nn.compute_accidental_hits(true, [4, 3, 2, 1, 0], 2))
    assert classes.tolist() == [0, 1, 2, 3, 4] and (counts == np.ones((3, 2))).all() and (sampled_counts == 1).all()
    assert list(zip(rows, places)) == [(0, 3), (0, 2), (1, 4), (1, 0), (2, 1), (2, 1)] and (weights < -1e37).all()


def made(sampler: str, *args: Any, **options: Any) -> Any:
    return getattr(tf.random, f"{sampler}_candidate_sampler")([[3, 1], [0, 2], [5, 6]], 2, *args, **options)


DRAWN = {  # sampler: what it is asked for, what TensorFlow 1.15.5 draws in two runs after set_random_seed(3)
    "log_uniform": ((7, False, 20), {"seed": 4}, [2, 4, 1, 12, 0, 0, 2], [4, 11, 1, 0, 17, 10, 13]),
    "uniform": ((5, True, 9), {"seed": 5}, [1, 4, 7, 6, 0], [4, 7, 2, 0, 5]),
    "fixed_unigram": ((4, True, 8), {"distortion": 0.75, "unigrams": [1, 2, 3, 4, 5, 1, 1, 10], "seed": 1},
                      [3, 1, 2, 7], [1, 7, 3, 4]),
    "learned_unigram": ((6, False, 8), {"seed": 2}, [7, 5, 1, 7, 5, 4], [1, 3, 6, 6, 4, 0])}


@pytest.mark.parametrize("sampler", DRAWN)
def test_classes_are_drawn_as_in_tensorflow(sampler: str) -> None:
    tf.set_random_seed(3)
    asked, options, *expected = DRAWN[sampler]
    found = made(sampler, *asked, **options)
    assert found.sampled_candidates.op.type == "".join(map(str.title, f"{sampler}_candidate_sampler".split("_")))
    with tf.Session() as session:
        assert [session.run(found.sampled_candidates).tolist() for _ in range(2)] == expected


def test_expected_counts_are_tensorflows(tmp_path: Any) -> None:
    tf.set_random_seed(3)
    file = tmp_path / "words"
    file.write_text("a,2\nb,3\nc,4\nd,5\ne,1\nf,1\ng,10\n")
    for options in ({"vocab_file": str(file)}, {"unigrams": [2, 3, 4, 5, 1, 1, 10]}):
        fixed = made("fixed_unigram", 6, False, 8, num_reserved_ids=1, seed=2, **options)
        with tf.Session() as session:
            classes, true, counts = session.run(fixed)
        assert classes.tolist() == [7, 7, 4, 4, 6, 2]
        np.testing.assert_allclose(true, [[0.9231, 0.4615], [0, 0.6923], [0.2308, 0.2308]], atol=1e-4)
        np.testing.assert_allclose(counts, [2.3077, 2.3077, 1.1538, 1.1538, 0.2308, 0.6923], atol=1e-4)
    part = made("fixed_unigram", 3, False, 4, num_shards=2, shard=1, unigrams=[1, 2, 3, 4, 5, 1, 1, 10], seed=2)
    learned = made("learned_unigram", 4, True, 8, seed=1)
    with tf.Session() as session:
        assert session.run(part.sampled_candidates).tolist() == [1, 3, 0]
        np.testing.assert_allclose(session.run(part.true_expected_count)[0], [1.7647, 0.7059], atol=1e-4)
        assert [round(float(session.run(learned.true_expected_count)[0, 0]), 4) for _ in range(2)] == [0.4871, 0.5373]
        with pytest.raises(tf.errors.NotFoundError, match="/nowhere; No such file"):
            session.run(made("fixed_unigram", 3, False, 4, vocab_file="/nowhere"))


def test_word_vectors_learn_as_in_tensorflow() -> None:
    """Behind the graph's seed, with labels of int32, as in the tutorial."""
    tf.set_random_seed(11)
    ids, labels = tf.placeholder(tf.int32, [8]), tf.placeholder(tf.int32, [8, 1])
    embedded = tf.nn.embedding_lookup(tf.Variable(tf.random_uniform([50, 16], -1.0, 1.0)), ids)
    weights, biases = tf.Variable(tf.truncated_normal([50, 16], stddev=0.25)), tf.Variable(tf.zeros([50]))
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, labels, embedded, 6, 50))
    step = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    random = np.random.RandomState(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run([loss, step], {ids: random.randint(50, size=8), labels: random.randint(50, size=(8, 1))})
                 for _ in range(4)]
    np.testing.assert_allclose([each for each, _ in found], [12.2647, 12.8936, 11.0034, 6.5648], 1e-4)
