"""Random streams belong to an op in a session, as in TensorFlow 1.15: what else runs does not shift them."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger
from autodiff.ops.random import philox
from autodiff.runtime.eager import EagerContext, eager_mode
from autodiff.runtime.plan.state import Run


def equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b))


@pytest.mark.usefixtures("own_graph")
def test_ops_of_one_seed_draw_the_same_whenever_each_runs() -> None:
    a, b = tf.random_uniform([3], seed=1), tf.random_uniform([3], seed=1)
    with tf.Session() as session:
        first, second = session.run([a, b])
        assert equal(first, second)
        third = session.run(a)
        assert not equal(first, third)
        session.run(tf.constant(0))
        assert equal(session.run(b), third)


@pytest.mark.usefixtures("own_graph")
def test_variables_initialized_one_by_one_or_together_are_the_same() -> None:
    tf.set_random_seed(7)
    v, w = (tf.Variable(tf.random_normal([3]), name=name) for name in "vw")
    with tf.Session() as session:
        session.run(w.initializer)
        session.run(v.initializer)
        apart = session.run([v, w])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert equal(session.run([v, w]), apart)


@pytest.mark.usefixtures("own_graph")
def test_equal_seeds_in_two_loops_or_branches_draw_the_same() -> None:
    def noise(_: Any) -> Any:
        return tf.random_uniform([2], seed=4)

    loops = [tf.map_fn(noise, tf.zeros([3])) for _ in range(2)]
    branches = [tf.cond(tf.constant(True), lambda: noise(0), lambda: tf.zeros([2])) for _ in range(2)]
    with tf.Session() as session:
        a, b, c, d = session.run([*loops, *branches])
    assert equal(a, b)
    assert equal(c, d)
    assert not equal(a[0], a[1])


def test_two_branches_or_loops_draw_different_numbers_where_the_graph_has_a_seed() -> None:
    tf.set_random_seed(1)
    drawn = [tf.cond(tf.placeholder_with_default(True, []), lambda: tf.random_normal([2]), lambda: tf.zeros([2]))
             for _ in range(2)]
    drawn += [tf.map_fn(lambda x: x + tf.random_normal([2]), tf.zeros([1, 2]))[0] for _ in range(2)]
    with tf.Session() as session:
        assert len({tuple(values) for values in session.run(drawn)}) == 4


def test_setting_the_seed_again_restarts_eager_streams() -> None:
    with tf.Graph().as_default():
        draws = []
        context = EagerContext()
        with context.as_default():
            for _ in range(2):
                tf.set_random_seed(1)
                draws.append([tf.random_uniform([2]).numpy() for _ in range(2)])
    assert equal(draws[0][0], draws[1][0])
    assert not equal(draws[0][0], draws[0][1])


@pytest.mark.usefixtures("own_graph")
def test_past_runs_are_made_again_with_what_they_drew() -> None:
    x = tf.random_uniform([4], seed=3, name="x")
    hidden = tf.identity(tf.random_normal([4]) * x, name="hidden")
    session = tf.Session()
    debugger = Debugger(session.graph, session)
    seen = []
    for i in range(4):
        debugger.on_run(session, [x] if i == 1 else [x, hidden])  # the second run draws from one op only
        seen.append(debugger.result)
    for step in (4, 3, 1):
        assert equal(debugger.value("hidden", step=step).array, seen[step - 1][1])
        assert equal(debugger.value("x", step=step).array, seen[step - 1][0])


def test_a_stream_begins_as_one_of_its_own() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        op = tf.random_uniform([3]).op
        for counter, seeds in enumerate([(1, 2), (-1, 2**62), (3, 0)]):
            run = Run(session, 1)
            run.op, run.session.draws[op.name] = op, counter
            own = np.random.Generator(np.random.Philox(key=seeds, counter=[0, 0, 0, counter]))
            stream = run.stream(*seeds)
            for _ in range(2):  # an odd count of 32 bits leaves half a word to be drawn next
                drawn, expected = [(g.integers(9, size=3, dtype=np.int32).tolist(), g.random()) for g in (stream, own)]
                assert drawn == expected


@pytest.mark.parametrize("expression, expected", [  # printed by TensorFlow 1.15, in two runs of one session
    ("tf.random_uniform([3], seed=4)", [[0.9237367, 0.37043047, 0.94819844], [0.9067508, 0.2926538, 0.2204107]]),
    ("tf.random_uniform([2], -1, 1, tf.float64, seed=4)", [[-0.2202118807642517, 0.1711761795574036],
                                                           [-0.5479628398088536, 0.4908461225114835]]),
    ("tf.random_uniform([3], 0, 100, tf.int32, seed=6)", [[7, 8, 10], [87, 4, 8]]),
    ("tf.random_uniform([2], -5, 10**12, tf.int64, seed=4)", [[722507325641, 417123746540],
                                                              [868791408863, 155822622189]]),
    ("tf.random_uniform([3], dtype=tf.float16, seed=3)", [[0.3427734375, 0.578125, 0.0439453125],
                                                          [0.208984375, 0.0517578125, 0.265625]]),
    ("tf.random_normal([3], seed=5)", [[-1.1347394, 0.7460806, -1.9681302], [1.0567462, 1.0920664, -1.3633281]]),
    ("tf.random_normal([2], dtype=tf.float64, seed=5)", [[0.4161505980989263, 1.8003977524344605],
                                                         [0.26499219205044966, 0.9928156527881479]]),
    ("tf.truncated_normal([5], seed=5)", [[-1.1347394, 0.7460806, -1.9681302, -0.6411984, 0.16184077],
                                          [-1.9216423, -0.5371985, -0.22421904, 0.6906995, 0.97908324]]),
    ("tf.random_shuffle(tf.range(8), seed=7)", [[0, 5, 1, 3, 6, 2, 7, 4], [1, 6, 3, 0, 5, 4, 2, 7]]),
    ("tf.random_shuffle([[1, 2], [3, 4], [5, 6]], seed=8)", [[[5, 6], [3, 4], [1, 2]], [[1, 2], [3, 4], [5, 6]]]),
    ("tf.multinomial([[0.1, 0.2, 0.7]], 6, seed=8)", [[[2, 1, 2, 2, 0, 0]], [[2, 2, 2, 2, 2, 2]]]),
    ("tf.cond(tf.constant(True), lambda: tf.random_uniform([2], seed=12), lambda: tf.zeros([2]))",
     [[0.608518, 0.79563344], [0.9541975, 0.10723436]]),
    ("tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + tf.random_uniform([2], seed=11)), "
     "[0, tf.zeros([2])])[1]", [[1.3988596, 1.1498588]])])
def test_with_seeds_the_numbers_are_those_of_tensorflow(expression: str, expected: list[Any]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        tensor = eval(expression)
        assert np.allclose([session.run(tensor) for _ in expected], expected, rtol=1e-6, atol=0)


def test_the_numbers_of_many_draws_are_those_of_each() -> None:
    stream, step = philox.stream_of(1, 2**40), 2560
    each = [philox.uniform((5,), np.float32, stream, n * step) for n in range(6)]
    assert equal(each, [philox.uniform((5,), np.float32, stream, n * step, step) for n in range(6)])


def test_variables_with_the_seed_of_their_graph_alone_begin_as_in_tensorflow() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        tf.Variable(tf.random_normal([8, 4]))
        made = tf.get_variable("v", [4, 3]), tf.layers.dense(tf.ones([1, 2]), 2)
        session.run(tf.global_variables_initializer())
        found = [*session.run(made[0])[0], *session.run(tf.trainable_variables()[-2])[0]]
    assert np.allclose(found, [0.20093632, 0.5474068, -0.2823807, 0.9427844, 0.76422894], rtol=1e-6)


def test_eager_draws_are_those_of_tensorflow() -> None:
    with eager_mode():
        for _ in range(2):  # a seed begins all streams anew
            tf.set_random_seed(5)
            found = [tf.random_uniform([2]), tf.random_uniform([2]), *[tf.random_normal([2], seed=1) for _ in range(2)]]
            order = [int(each) for each in tf.data.Dataset.range(6).shuffle(6)]
            assert np.allclose([each.numpy() for each in found], [
                [0.6263931, 0.5298432], [0.7017075, 0.04336786], [-1.3768897, -0.01258316], [0.26627684, -0.0311913]],
                rtol=1e-6) and order == [3, 5, 0, 1, 4, 2]
