"""Plans that may differ in the last bits, because the session was told that they may: how far they do."""

import numpy as np

import autodiff as tf
from autodiff.runtime.program import HOT

ON = tf.ConfigProto(graph_options=tf.GraphOptions(
    optimizer_options=tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.ON_1)))


def hot(fetches: list[tf.Tensor], feeds: dict[tf.Tensor, object], config: tf.ConfigProto | None) -> list[np.ndarray]:
    """The fetches' values when the plan has been compiled."""
    with tf.Session(config=config) as session:
        if tf.global_variables():
            session.run(tf.global_variables_initializer())
        for _ in range(HOT + 1):
            values = session.run(fetches, feeds)
    return values


def chain(dtype: tf.DType) -> tuple[list[tf.Tensor], dict[tf.Tensor, object]]:
    x = tf.placeholder(dtype, [])
    y = x
    for i in range(60):
        y = [y + 0.1, y * 1.01, tf.sin(y), tf.exp(y) / 3.0][i % 4]
    return [y, tf.gradients(y, [x])[0]], {x: 0.3}


def test_a_chain_of_float32_numbers_is_rounded_once() -> None:
    exact = hot(*chain(tf.float64), None)
    relaxed = hot(*chain(tf.float32), ON)
    assert [v.dtype for v in relaxed] == [np.float32, np.float32]
    # constants and feeds are float32: 0.1 and 1.01 are not what they are in float64
    np.testing.assert_allclose(relaxed, exact, rtol=1e-6)


def test_a_number_that_python_refuses_is_numpys() -> None:
    x = tf.placeholder(tf.float32, [])
    for value, expected in ((0.0, -np.inf), (-1.0, np.nan)):
        np.testing.assert_equal(hot([tf.log(x) * 2.0], {x: value}, ON), [expected])


def test_nothing_changes_for_those_who_do_not_ask() -> None:
    fetches, feeds = chain(tf.float32)
    with tf.Session() as session:
        cold = session.run(fetches, feeds)
    assert hot(fetches, feeds, tf.ConfigProto()) == cold
