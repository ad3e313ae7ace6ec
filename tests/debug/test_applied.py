"""What an update makes of a gradient, as `why VARIABLE` tells it."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger

Steps = Callable[[Any, list[Any]], Any]


def told(step: Steps) -> Any:
    """The answer to `why a` after two runs of the train op that `step` makes for the loss and its variables."""
    graph = tf.Graph()
    with graph.as_default():
        a = tf.Variable(np.array([3.0, 4.0]), name="a")
        b = tf.Variable(np.array([0.0]), name="b")
        loss = tf.add(0.5 * tf.reduce_sum(a * a), tf.reduce_sum(tf.sqrt(b)), name="loss")
        train = step(loss, [a, b])
        start = tf.global_variables_initializer()
    with tf.Session(graph=graph) as session:
        session.run(start)
        dbg = Debugger(graph, session=session)
        dbg.on_run(session, train)
        dbg.on_run(session, train)
    return dbg.why("a", "loss")


def sgd(lr: float, change: Callable[[Any], Any] = lambda g: g) -> Steps:
    def step(loss: Any, xs: list[Any]) -> Any:
        optimizer = tf.train.GradientDescentOptimizer(lr)
        return optimizer.apply_gradients([(change(g), x) for g, x in optimizer.compute_gradients(loss, xs[:1])])
    return step


def test_a_bound_that_leaves_nothing_comes_first() -> None:
    found = told(sgd(0.1, lambda g: tf.clip_by_value(g, -1e-4, 1e-4)))
    assert found.text.startswith("the update of step") and found.remedy.startswith("raise the bound")


def test_rate_times_gradient_is_not_told() -> None:
    assert "update" not in told(sgd(0.1)).text


@pytest.mark.parametrize(("step", "words"), [
    (sgd(0.1, lambda g: tf.clip_by_norm(g, 1.0)),
     ["changes it by norm 0.1", "clip_by_norm", "test_applied.py", "takes it from norm 4.9 to 1"]),
    (sgd(0.1, lambda g: g * 0.0), ["leaves it as it was", "makes zeros of it", "test_applied.py"]),
    (sgd(0.0), ["leaves it as it was", "the learning rate is 0"]),
    (sgd(1e-17), ["leaves it as it was", "float64 has steps of", "lost in rounding"]),
    (lambda loss, xs: tf.train.AdamOptimizer(0.1).minimize(loss, var_list=xs[:1]),
     ["ApplyAdam", "where rate times gradient has norm 0.4", "m had norm 0.5", "v had norm"]),
    (lambda loss, xs: tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, var_list=xs[:1]),
     ["ApplyMomentum", "momentum = 0.9", "accum had norm 5"])],
    ids=["clipped", "masked", "no rate", "rounded", "adam", "momentum"])
def test_it_is_told_what_the_update_did_instead(step: Steps, words: list[str]) -> None:
    found = told(step)
    (line,) = (line for line in found.text.splitlines() if line.startswith("the update of step 2: "))
    assert [word for word in words if word not in line] == [], line
    assert bool(found.remedy) == ("leaves it as it was" in line) == (found.text.startswith(line))


def test_momentum_goes_on_where_the_gradient_is_zero() -> None:
    graph = tf.Graph()
    with graph.as_default():
        a, on = tf.Variable(3.0, name="a"), tf.placeholder(tf.float32, name="on")
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.multiply(on, a, name="loss"))
        start = tf.global_variables_initializer()
    with tf.Session(graph=graph) as session:
        session.run(start)
        dbg = Debugger(graph, session=session)
        for value in (1.0, 0.0):
            dbg.on_run(session, train, {on: value})
        assert "of a gradient of 0 it goes on with what earlier steps left" in dbg.why("a", "loss").text


def test_another_gradients_infinity_spoils_this_update_through_the_common_norm() -> None:
    graph = tf.Graph()
    with graph.as_default():
        a, b = tf.Variable(3.0, name="a"), tf.Variable(0.0, name="b")
        tf.add(a * a, tf.sqrt(b), name="loss")
    dbg = Debugger(graph)
    dbg.train("loss", lr=0.1, clip_norm=1.0)
    dbg.run(1)
    found = dbg.why("a", "loss")
    assert "makes it nan" in found.text and "which spoils this gradient" in found.text
    assert found.remedy.startswith("why nan says")
