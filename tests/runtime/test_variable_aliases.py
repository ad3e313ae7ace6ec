"""Variables fetched beside their update. What is expected is what TensorFlow 1.15.5 gave in 20 of 20 runs."""

from typing import Any

import pytest

import autodiff as tf
from autodiff.debug import Debugger


def everything_of(v: Any) -> dict[str, Any]:
    return {"variable": v, "identity": tf.identity(v), "value": v.value(), "read_value": v.read_value(),
            "reshape": tf.reshape(v, [1]), "stop_gradient": tf.stop_gradient(v), "expand_dims": tf.expand_dims(v, 0),
            "twice": tf.identity(tf.identity(v)), "product": v * 1.0, "of a product": tf.identity(v * 1.0),
            "negative": -v}


AFTER = {"variable", "identity", "value", "read_value", "reshape", "stop_gradient", "expand_dims", "twice"}


@pytest.mark.usefixtures("own_graph")
@pytest.mark.parametrize("update", ["assign", "assign_add", "minimize"])
def test_what_shares_the_buffer_shows_the_value_after(update: str) -> None:
    v = tf.Variable(1.0)
    fetches = everything_of(v)
    step = {"assign": lambda: tf.assign(v, 5.0), "assign_add": lambda: tf.assign_add(v, 4.0),
            "minimize": lambda: tf.train.GradientDescentOptimizer(-2.0).minimize(v * v)}[update]()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        _, found = session.run([step, fetches])
    after = {name: 5.0 if name in AFTER else -1.0 if name == "negative" else 1.0 for name in fetches}
    assert {name: float(value.item()) for name, value in found.items()} == after
    assert found["reshape"].shape == (1,)


@pytest.mark.usefixtures("own_graph")
def test_global_step_counts_from_one_beside_its_train_op() -> None:
    step = tf.train.get_or_create_global_step()
    v = tf.Variable(1.0)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(v * v, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run([train, step])[1] for _ in range(40)] == list(range(1, 41))  # loop, then generated function
        run = session.make_callable([train, step])
        assert run()[1] == 41


@pytest.mark.usefixtures("own_graph")
def test_a_fed_alias_and_an_unchanged_variable_stay() -> None:
    v, w = tf.Variable(1.0), tf.Variable(7.0)
    alias, step = tf.identity(v), tf.assign(v, 5.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([step, alias, w], {alias: 3.0}) == [5.0, 3.0, 7.0]


@pytest.mark.usefixtures("own_graph")
def test_the_debugger_sees_what_was_read_and_the_script_what_tensorflow_gives() -> None:
    v = tf.Variable(1.0, name="v")
    train = tf.train.GradientDescentOptimizer(0.25).minimize(v * v)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    debugger = Debugger(session.graph, session)
    debugger.watch("v")
    result, record = debugger.on_run(session, [train, v])
    assert result[1] == 0.5
    seen = [sample for sample in record.samples if sample.name == "v:0" and not sample.of]
    assert [sample.stats.maximum for sample in seen if sample.stats] == [1.0]
