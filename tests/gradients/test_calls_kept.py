"""Branches and loops that draw random numbers or change variables: gradients are those of the call that was made."""

import numpy as np
import pytest

import autodiff as tf

X = np.array([0.3, -0.8, 1.7])


pytestmark = pytest.mark.usefixtures("own_graph")


def looped(x, step):
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, step(a)), [0, x])[1]


def drawn(x):
    return x * tf.random_uniform([3], 0.5, 2.0, dtype=tf.float64)


BUILDERS = {
    "loop": lambda x: looped(x, drawn),
    "branch": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: drawn(x), lambda: x),
    "branch in a loop": lambda x: looped(x, lambda a: tf.cond(tf.reduce_sum(a) > 0, lambda: drawn(a), lambda: a)),
    "loop in a branch": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: looped(x, drawn), lambda: x),
    "loop in a loop": lambda x: looped(x, lambda a: looped(a, drawn)),
    "map_fn": lambda x: tf.map_fn(lambda row: row * tf.random_uniform([], 0.5, 2.0, dtype=tf.float64), x),
}


@pytest.mark.parametrize("name", BUILDERS)
def test_a_gradient_is_that_of_the_numbers_drawn(name):
    x = tf.constant(X)
    y = BUILDERS[name](x)
    with tf.Session() as session:
        value, gradient = session.run([y, tf.gradients(y, x)[0]])
    np.testing.assert_allclose(value, gradient * X, rtol=1e-12)  # y is a product of x and what was drawn


def test_each_iteration_draws_its_own():
    y = tf.map_fn(lambda row: tf.random_uniform([], dtype=tf.float64, seed=3), tf.constant(X))
    with tf.Session() as session:
        assert len(set(session.run(y))) == 3


@pytest.mark.parametrize("name", BUILDERS)
def test_second_derivatives_too(name):
    """Of y = (a·x)², with a drawn inside: y″ = 2a² = y′² / (2y)."""
    x = tf.constant(X)
    y = tf.square(BUILDERS[name](x))
    first = tf.gradients(y, x)[0]
    second = tf.gradients(first, x)[0]
    with tf.Session() as session:
        value, slope, curvature = session.run([y, first, second])
    np.testing.assert_allclose(curvature, slope ** 2 / (2 * value), rtol=1e-10)


def test_a_recurrent_net_with_dropout():
    x = tf.placeholder(tf.float64, [2, 5, 3])
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), 0.5, 0.5, 0.5)
    outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float64)
    loss = tf.reduce_sum(tf.square(outputs))
    gradient = tf.gradients(loss, x)[0]
    start = np.random.default_rng(1).normal(size=(2, 5, 3))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.entropy = 11

        def at(fetch, value):
            session.draws = {}  # so that the same numbers are drawn
            return session.run(fetch, {x: value})

        found = at(gradient, start)
        direction = np.random.default_rng(2).normal(size=start.shape)
        step = 1e-6 * direction
        slope = (at(loss, start + step) - at(loss, start - step)) / 2e-6
    np.testing.assert_allclose(np.sum(found * direction), slope, rtol=1e-6)


def counted(x, v):
    with tf.control_dependencies([v.assign_add(1.0)]):
        return x * v.read_value() * x


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_branch_that_assigns_does_it_once(use_resource):
    """Values of TensorFlow 1.15: the variable is 2 afterwards, y is 2x², its gradient 4x."""
    v = tf.get_variable("v", initializer=np.float64(1), use_resource=use_resource)
    x = tf.constant(X)
    y = tf.cond(tf.constant(True), lambda: counted(x, v), lambda: x)
    with tf.Session() as session:
        session.run(v.initializer)
        value, gradient = session.run([y, tf.gradients(y, x)[0]])
        np.testing.assert_allclose(value, 2 * X ** 2)
        np.testing.assert_allclose(gradient, 4 * X)
        np.testing.assert_array_equal(session.run(v), 2.0)


def test_a_loop_that_assigns_and_calls_python_does_it_once_an_iteration():
    """(2·3·4)x, its gradient 24; TensorFlow 1.15 gives 64, as its stack holds the variable, not the value."""
    v, calls = tf.Variable(1.0, dtype=tf.float64), []

    def number(i):
        calls.append(int(i))
        return i

    def body(i, a):
        with tf.control_dependencies([v.assign_add(1.0)]):
            i = tf.py_func(number, [i], tf.int32)
            i.set_shape([])
            return i + 1, a * v.read_value()

    x = tf.constant(X)
    y = tf.while_loop(lambda i, a: i < 3, body, [0, x])[1]
    with tf.Session() as session:
        session.run(v.initializer)
        value, gradient = session.run([y, tf.gradients(y, x)[0]])
        np.testing.assert_allclose(value, 24 * X)
        np.testing.assert_allclose(gradient, np.full(3, 24.0))
        np.testing.assert_array_equal(session.run(v), 4.0)
    assert calls == [0, 1, 2]


def test_what_is_drawn_in_a_loop_does_not_depend_on_what_else_runs():
    y = looped(tf.constant(X), drawn)
    other = looped(tf.constant(2 * X), drawn)
    with tf.Session() as session:
        session.entropy = 5
        alone = session.run(y)
        session.draws = {}
        np.testing.assert_array_equal(session.run([other, y])[1], alone)


def test_a_hessian_through_a_loop_with_random_numbers():
    x = tf.constant(X)
    y = tf.reduce_sum(tf.square(looped(x, drawn)))
    with tf.Session() as session:
        hessian, slope = session.run([tf.hessians(y, x)[0], tf.gradients(y, x)[0]])
    np.testing.assert_allclose(hessian, np.diag(slope / X), rtol=1e-10)
