"""The smallest numbers are 0 while kernels run, as in TensorFlow 1.15.5, and nowhere else."""
import numpy as np
import pytest

import autodiff as tf
from autodiff.ops.common import subnormals, threads
from autodiff.runtime.eager import eager_mode

TINY = np.float32(1e-30)


@pytest.fixture(autouse=True)
def _where_there_is_a_switch():
    if subnormals.switches()[0] is subnormals._nothing:
        pytest.skip("this processor's switch is not known")
    tf.reset_default_graph()


def test_runs_flush_them_compiled_too_and_leave_the_thread_as_it_was():
    x = tf.placeholder(tf.float32, [None])
    fetches = [tf.exp(x), tf.log(tf.exp(x)), x * 1e-10 * 1e-10, tf.gradients(tf.sigmoid(x), x)[0]]
    with tf.Session() as session:
        for _ in range(40):
            small, log, product, slope = session.run(fetches, {x: [-95.0, 1e-25]})
            assert small[0] == 0 and log[0] == -np.inf and product[1] == 0 and slope[0] == 0
            assert np.exp(np.float32(-95)) > 0 and TINY * np.float32(1e-10) > 0


def test_a_step_of_a_run_and_a_thread_that_helps_flush_them_too(monkeypatch):
    product = tf.placeholder_with_default(np.full(4, TINY), [4]) * 1e-10
    with tf.Session() as session:
        cursor = session.start(product)
        assert not cursor.finish().any()
    monkeypatch.setattr(threads, "processors", lambda: 3)
    monkeypatch.setattr(threads, "_shared", threads._Shared())
    found = np.ones(64, np.float32)

    def work(index):
        found[index] = TINY * np.float32(1e-10)

    with threads.as_kernels_run(3):
        threads.share(work, 64)
    assert not found.any() and TINY * np.float32(1e-10) > 0


def test_a_graph_of_another_framework_may_keep_them_within_a_run_that_does_not():
    kept = tf.Graph()
    kept.keeps_subnormals = True
    with kept.as_default():
        small = tf.exp(tf.placeholder_with_default([-95.0], [1]))
        branch = tf.cond(tf.placeholder_with_default(True, []), lambda: small * 1.5, lambda: small)

    def other(_):
        return np.float32(tf.Session(graph=kept).run(branch)[0])

    x = tf.placeholder_with_default([-95.0], [1])
    within = tf.py_func(other, [x], tf.float32)
    with tf.Session() as session:
        first, inner, last = session.run([tf.exp(x), within, tf.exp(x + 0 * within)])
    assert first[0] == 0 and last[0] == 0 and inner > 0


def test_at_once_they_are_kept():
    """As in TensorFlow, which flushes in the threads of its executor only."""
    with eager_mode():
        assert tf.exp(tf.constant([-95.0])).numpy()[0] > 0
