"""Where features meet inside of branches and loops: gradients of the user's own, optimizers, variables, names."""

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.graph import Graph

X = np.array([0.3, -0.8, 1.7])


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as g:
        yield g


def looped(x, step, count=3):
    return tf.while_loop(lambda i, a: i < count, lambda i, a: (i + 1, step(a)), [0, x])[1]


def values(fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


@tf.custom_gradient
def squared(a):
    return a * a, lambda dy: dy * 7.0 * a


@tf.custom_gradient
def squared_by_hand(a):
    half = tf.exp(a)  # read by the gradient alone
    return a * a, lambda dy: dy * 2 * a * half / tf.exp(a)


def test_a_custom_gradient_in_a_loop_reads_what_the_iteration_had():
    """Numbers of TensorFlow 1.15."""
    x = tf.constant(X)
    y = looped(x, lambda a: squared(a) * 0.5)
    value, gradient = values([y, tf.gradients(y, x)[0]])
    np.testing.assert_allclose(value, [5.12578125e-07, 1.31072e-03, 5.4498105e-01])
    np.testing.assert_allclose(gradient, [5.86047656e-04, -5.619712e-01, 1.09957941e+02])


@pytest.mark.parametrize("place", [
    lambda x, f: tf.cond(tf.reduce_sum(x) > 0, lambda: f(x), lambda: x),
    lambda x, f: looped(x, lambda a: looped(a, f, 2), 2),
    lambda x, f: looped(x, lambda a: tf.cond(a[0] < 10, lambda: f(a), lambda: a), 2),
    lambda x, f: tf.cond(x[0] < 10, lambda: looped(x, f, 2), lambda: x),
    lambda x, f: tf.map_fn(f, x)])
def test_a_custom_gradient_gives_the_true_one_of_any_order(place):
    x = tf.constant(X)
    found, expected = [], []
    for f, results in ((squared_by_hand, found), (tf.square, expected)):
        y = tf.reduce_sum(place(x, f))
        results += [y, tf.gradients(y, x)[0], tf.hessians(y, x)[0]]
    for one, other in zip(*values([found, expected])):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_custom_gradient_in_a_branch_with_variables():
    w = tf.get_variable("w", initializer=np.float64(2), use_resource=True)

    @tf.custom_gradient
    def scaled(a):
        return a * w, lambda dy, variables: (dy * 7.0 * a, [tf.reduce_sum(dy) * 11.0])

    x = tf.constant(X)
    y = tf.cond(tf.constant(True), lambda: scaled(x) * 2, lambda: x)
    value, dx, dw = values([y, *tf.gradients(y, [x, w])])
    np.testing.assert_allclose(value, 4 * X)
    np.testing.assert_allclose(dx, 14 * X)
    np.testing.assert_allclose(dw, 66.0)


def test_an_override_of_the_outermost_graph_holds_in_a_body(graph):
    tf.RegisterGradient("Thrice")(lambda op, dy: dy * 3.0)
    x = tf.constant(X)

    def step(a):
        with graph.gradient_override_map({"Square": "Thrice"}):
            return tf.square(a)

    y = looped(x, step, 2)
    assert graph.overrides == {}
    np.testing.assert_allclose(values(tf.gradients(y, x)[0]), np.full(3, 9.0))


def test_adam_may_be_applied_in_a_branch():
    """Numbers of TensorFlow 1.15."""
    v, chosen = tf.Variable([1.0, 2.0]), tf.placeholder(tf.bool, [])
    optimizer = tf.train.AdamOptimizer(0.1)

    def train():
        with tf.control_dependencies([optimizer.minimize(tf.reduce_sum(v * v * v))]):
            return tf.constant(1.0)

    step = tf.cond(chosen, train, lambda: tf.constant(0.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for choice, expected in ((True, [0.9, 1.9]), (False, [0.9, 1.9]), (True, [0.8010911, 1.8003982])):
            session.run(step, {chosen: choice})
            np.testing.assert_allclose(session.run(v), expected, rtol=1e-6)


def gradient_descent(v):
    with tf.control_dependencies([tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(v ** 2))]):
        return tf.constant(0.0)


def assignment(v):
    with tf.control_dependencies([v.assign_sub(0.2 * v)]):
        return tf.constant(0.0)


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("train", [gradient_descent, assignment])
def test_a_loop_that_trains_reads_what_the_last_iteration_wrote(train, use_resource):
    """TensorFlow 1.15: 0.8 cubed."""
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=use_resource)
    done = looped(tf.constant(0.0), lambda a: a + train(v))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(done)
        np.testing.assert_allclose(session.run(v), [0.512, 1.024], rtol=1e-6)


def test_a_condition_reads_what_the_body_assigns():
    v = tf.Variable(0.0)

    def step(i):
        with tf.control_dependencies([v.assign_add(1.0)]):
            return i + 1

    assert values(tf.while_loop(lambda i: v < 4.0, step, [0], maximum_iterations=50)) == 4


def test_a_branch_reads_what_it_assigned_and_so_does_its_gradient():
    """Values of TensorFlow 1.15."""
    v, x = tf.Variable(1.0, dtype=tf.float64), tf.constant(X)

    def branch():
        with tf.control_dependencies([v.assign_add(1.0)]):
            return tf.cond(x[0] > 0, lambda: v * x * x, lambda: x)

    y = tf.cond(tf.constant(True), branch, lambda: x)
    value, dx, dv = values([y, *tf.gradients(y, [x, v])])
    np.testing.assert_allclose(value, 2 * X ** 2)
    np.testing.assert_allclose(dx, 4 * X)
    np.testing.assert_allclose(dv, np.sum(X ** 2))


def test_what_waits_for_a_branch_reads_what_it_assigned():
    """Values of TensorFlow 1.15."""
    v, x = tf.Variable(1.0, dtype=tf.float64), tf.constant(X)
    y = tf.cond(tf.constant(True), lambda: tf.identity(v.assign_add(1.0)), lambda: tf.zeros([], tf.float64))
    with tf.control_dependencies([y]):
        z = v * x
    value, gradient = values([z, tf.gradients(z, x)[0]])
    np.testing.assert_allclose(value, 2 * X)
    np.testing.assert_allclose(gradient, np.full(3, 2.0))


@pytest.mark.parametrize("place", [
    lambda x, z: tf.while_loop(lambda i, a, b: i < 2, lambda i, a, b: (i + 1, a * 2, b * 3), [0, x, z])[1:],
    lambda x, z: tf.while_loop(lambda i, a, b: i < 2, lambda i, a, b: (i + 1, a * 2, b * z), [0, x, x])[1:],
    lambda x, z: tf.cond(x[0] > 0, lambda: [x * 4, z], lambda: [x * 2, z * 3])])
def test_an_output_that_does_not_depend_on_x_gives_no_gradient(place):
    """None as in TensorFlow 1.15, not zeros, which an optimizer would apply."""
    x, z = tf.constant(X), tf.constant(X)
    dx, dz = tf.gradients(place(x, z)[0], [x, z])
    assert dz is None
    np.testing.assert_allclose(values(dx), np.full(3, 4.0))


def test_control_dependencies_of_the_outermost_graph_hold_in_a_body(graph):
    """Values of TensorFlow 1.15."""
    v, x = tf.get_variable("v", initializer=np.float64(1), use_resource=True), tf.constant(X)

    def step(a):
        with graph.control_dependencies([v.assign_add(1.0).op]):
            return a * v.read_value()

    np.testing.assert_allclose(values(looped(x, step)), 24 * X)
