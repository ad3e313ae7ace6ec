"""A past run that is looked at again does nothing again: it prints nothing and calls nothing."""
from __future__ import annotations

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger


def test_what_a_run_printed_is_not_printed_by_its_replay(capfd: pytest.CaptureFixture[str]) -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [], name="x")
        w = tf.Variable(2.0, name="w")
        shown = tf.Print(w * x, [w], "w is ", first_n=3)
        loop = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, tf.Print(v * 2, [v], "in the loop ")),
                             [0, shown])
        with tf.control_dependencies([tf.print("also", x)]):
            loss = tf.log(loop[1] - 100, name="loss")
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session(graph=graph) as session:
        session.run(w.initializer)
        dbg = Debugger(graph, session)
        dbg.on_run(session, [loss, step], {x: 3.0})
        first = capfd.readouterr()
        assert first.err.count("w is ") == 1 and first.err.count("in the loop") == 2 and "also 3\n" in first.err
        dbg.value("loss", step=1)
        dbg.why("loss")
        dbg.stepper.replay(1)
        dbg.stepper.step(100)
        dbg.history.present()
        dbg.grads()
        assert capfd.readouterr() == ("", "")
        dbg.on_run(session, loss, {x: 3.0})
        dbg.on_run(session, loss, {x: 3.0})
        dbg.on_run(session, loss, {x: 3.0})
        assert capfd.readouterr().err.count("w is ") == 2  # of three in all


def test_summaries_of_a_past_step_are_those_that_were() -> None:
    graph = tf.Graph()
    with graph.as_default():
        w = tf.Variable(1.0, name="w")
        told = tf.summary.scalar("w", w + tf.random_normal([]))
        step = w.assign_add(1.0)
    with tf.Session(graph=graph) as session:
        session.run(w.initializer)
        dbg = Debugger(graph, session)
        given = [dbg.on_run(session, [told, step])[0][0] for _ in range(4)]
        for i, text in enumerate(given):
            assert dbg.state.values([told], dbg.state.moment(i + 1))[0] == text


def test_dropout_in_a_loop_is_the_same_whatever_else_runs() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [50], name="x")
        w = tf.Variable(tf.ones([50]), name="w")

        def dropped(v: tf.Tensor) -> tf.Tensor:
            return tf.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, tf.nn.dropout(h, 0.8)), [0, v])[1]

        first, second = tf.identity(dropped(x * w), "first"), tf.identity(dropped(x + w), "second")
        loss = tf.reduce_sum(first * second, name="loss")
        step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.Session(graph=graph) as session:
        session.run(w.initializer)
        dbg = Debugger(graph, session)
        fed = {x: np.linspace(0, 1, 50)}
        given = [dbg.on_run(session, [loss, first, second, step], fed)[0] for _ in range(20)]
        for i in (20, 3, 11):
            np.testing.assert_array_equal(dbg.value("second", step=i).array, given[i - 1][2])  # alone
            np.testing.assert_array_equal(dbg.value("first", step=i).array, given[i - 1][1])
