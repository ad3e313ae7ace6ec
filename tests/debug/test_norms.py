"""Norms of parts of an example that are drawn to 1, where the one of all of it is meant."""
import pytest

import autodiff as tf
from autodiff.debug import Debugger


def kinds(norm: str, shape: str) -> list[str]:
    """What is said, before any run, of a gradient penalty by `norm` of a gradient g by inputs of a shape."""
    with tf.Graph().as_default() as graph:
        names = {"tf": tf}
        exec(f"""
x = tf.placeholder(tf.float32, {shape})
w = tf.Variable(tf.random_normal([64, 1], seed=1))
g = tf.gradients(tf.tanh(tf.matmul(tf.reshape(x, [-1, 64]), w)), x)[0]
loss = tf.reduce_mean(tf.square({norm} - 1.0)) + tf.reduce_mean(tf.matmul(tf.reshape(x, [-1, 64]), w))
train = tf.train.AdamOptimizer(.01).minimize(loss)
""", names)
        return [f.kind for f in Debugger(graph).doctor(static=True).findings]


@pytest.mark.parametrize(("norm", "shape"), [
    ("tf.norm(g, axis=1)", "[32, 1, 8, 8]"),
    ("tf.sqrt(tf.reduce_sum(tf.square(g), axis=[1]) + 1e-12)", "[None, 8, 8, 1]"),
    ("tf.sqrt(tf.reduce_sum(g * g, axis=-1, keepdims=True))", "[None, 8, 8, 1]")])
def test_norms_of_parts_are_told(norm: str, shape: str) -> None:
    assert "norm of parts" in kinds(norm, shape)


@pytest.mark.parametrize(("norm", "shape"), [
    ("tf.norm(tf.reshape(g, [-1, 64]), axis=1)", "[32, 1, 8, 8]"),
    ("tf.sqrt(tf.reduce_sum(tf.square(g), axis=[1, 2, 3]))", "[None, 8, 8, 1]"),
    ("tf.norm(g, axis=-1)", "[None, 32, 2]"),  # of points in space, each with a slope of 1
    ("tf.norm(g, axis=1)", "[None, 64]")])
def test_the_norm_of_a_whole_example_is_right(norm: str, shape: str) -> None:
    assert "norm of parts" not in kinds(norm, shape)
