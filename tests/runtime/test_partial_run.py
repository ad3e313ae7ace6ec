"""Runs in parts: each operation once, feeds and fetches as they come. Values are TensorFlow 1.15.5's."""

import numpy as np
import pytest

import autodiff as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def test_a_later_part_goes_on_from_what_an_earlier_one_gave() -> None:
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    a = x + 1
    b = a * y
    with tf.Session() as session:
        run = session.partial_run_setup([a, b], [x, y])
        first = session.partial_run(run, a, {x: [1, 2]})
        assert first.tolist() == [2, 3]
        assert session.partial_run(run, b, {y: first}).tolist() == [4, 9]


def test_no_operation_runs_twice() -> None:
    calls: list[float] = []
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    noted = tf.py_func(lambda value: calls.append(value) or np.float32(value), [x], tf.float32)
    noted.set_shape([])
    with tf.Session() as session:
        product = noted * y
        run = session.partial_run_setup([noted, product], [x, y])
        assert session.partial_run(run, noted, {x: 2}) == 2
        assert session.partial_run(run, product, {y: 5}) == 10
    assert calls == [2]


def test_what_was_not_set_up_or_comes_twice_is_refused() -> None:
    x, y = tf.placeholder(tf.float32, [], name="x"), tf.placeholder(tf.float32, [], name="y")
    a, b = x + 1, x + y
    with tf.Session() as session:
        run = session.partial_run_setup([a, b], [x, y])
        with pytest.raises(tf.errors.InvalidArgumentError, match="'y:0' must be fed"):
            session.partial_run(run, b, {x: 1})
        session.partial_run(run, a)
        for fetch, feeds, words in ((a, {}, "has already been fetched"), (y, {}, "y:0 was not specified"),
                                    (b, {x: 1}, "x:0 has already been fed"), (b, {a: 1}, "was not specified")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.partial_run(run, fetch, feeds)
        assert session.partial_run(run, b, {y: 3}) == 4
