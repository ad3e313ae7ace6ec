"""Random streams belong to an op in a session, as in TensorFlow 1.15: what else runs does not shift them."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger
from autodiff.runtime.eager import EagerContext
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
