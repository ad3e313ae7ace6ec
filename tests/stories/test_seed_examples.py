"""The examples of the documents that gradbg was built from, their mistakes mended."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import GradientsDebugger, clear_gradient_debuggers
from autodiff.gradients.higher_order import _hessian_vector_product


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    tf.reset_default_graph()
    clear_gradient_debuggers()
    yield
    clear_gradient_debuggers()


def run(fetches: object) -> object:
    with tf.Session() as session:
        if tf.global_variables():
            session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_identify_gradient_under_a_train_op() -> None:
    """The document gives the loss to the optimizer as its learning rate; minimize is what was meant."""
    x = tf.Variable(1.0)
    y = tf.add(x, x)
    grad_debugger = GradientsDebugger()
    debug_y = grad_debugger.identify_gradient(y)
    z = tf.square(debug_y)
    with grad_debugger:
        tf.train.GradientDescentOptimizer(0.1).minimize(z)
    assert run(grad_debugger.gradient_tensor(y)) == 4.0


def test_the_example_as_written_has_no_gradient() -> None:
    x = tf.Variable(1.0)
    y = tf.add(x, x)
    grad_debugger = GradientsDebugger()
    z = tf.square(grad_debugger.identify_gradient(y))
    with grad_debugger:
        tf.train.GradientDescentOptimizer(z)
    with pytest.raises(LookupError):
        grad_debugger.gradient_tensor(y)


def test_watch_by_tensor_names() -> None:
    """The document leaves out the graph, and squares a debug_y that is not there."""
    x = tf.Variable(1.0, name="x")
    y = tf.add(x, x, name="y")
    z = tf.square(y)
    grad_debugger = GradientsDebugger()
    with grad_debugger.watch_gradients_by_tensor_names(tf.get_default_graph(), r"(x|y):0$"):
        tf.train.GradientDescentOptimizer(0.1).minimize(z)
    assert run([grad_debugger.gradient_tensor("x:0"), grad_debugger.gradient_tensor("y:0")]) == [8.0, 4.0]


def test_watch_by_tensors() -> None:
    x = tf.Variable(1.0)
    y = tf.add(x, x, name="y")
    z = tf.square(y)
    grad_debugger = GradientsDebugger()
    with grad_debugger.watch_gradients_by_tensors(tf.get_default_graph(), y):
        tf.train.GradientDescentOptimizer(0.1).minimize(z)
    assert run([grad_debugger.gradient_tensor(y), grad_debugger.gradient_tensor("y:0")]) == [4.0, 4.0]


def test_the_graph_argument_is_required() -> None:
    with pytest.raises(TypeError):
        GradientsDebugger().watch_gradients_by_tensor_names(r"(x|y):0$")  # type: ignore[call-arg]


def test_tape_first_order() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as g:
        g.watch(x)
        y = x * x
    assert run(g.gradient(y, x)) == 6.0


def test_tape_nested_needs_both_to_watch() -> None:
    """In the document the outer tape never watches x, so its second derivative would be None."""
    x = tf.constant(3.0)
    with tf.GradientTape() as g:
        g.watch(x)
        with tf.GradientTape() as gg:
            gg.watch(x)
            y = x * x
        dy_dx = gg.gradient(y, x)
    assert run([dy_dx, g.gradient(dy_dx, x)]) == [6.0, 2.0]


def test_tape_persistent() -> None:
    """The document has the two results swapped."""
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as g:
        g.watch(x)
        y = x * x
        z = y * y
    assert run([g.gradient(z, x), g.gradient(y, x)]) == [108.0, 6.0]


def test_gradients_held_constant() -> None:
    a = tf.constant(0.0)
    b = 2 * a
    assert run(tf.gradients(a + b, [a, b], stop_gradients=[a, b])) == [1.0, 1.0]


def test_gradients_not_held_constant() -> None:
    a = tf.constant(0.0)
    b = 2 * a
    assert run(tf.gradients(a + b, [a, b])) == [3.0, 1.0]


def test_unconnected_gradients() -> None:
    """The document runs [None], which cannot be fetched."""
    a, b = tf.ones([1, 2]), tf.ones([3, 1])
    assert tf.gradients([b], [a], unconnected_gradients="none") == [None]
    np.testing.assert_array_equal(run(tf.gradients([b], [a], unconnected_gradients="zero")), [[[0.0, 0.0]]])


def test_hessian_vector_product_of_a_quadratic_form() -> None:
    """The document forgets the half: the Hessian of x'Ax/2 is (A + A')/2, and the product comes in a list."""
    matrix = np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 4.0], [2.0, -2.0, 1.0]])
    x, v = tf.constant([[1.0], [-2.0], [0.5]], tf.float64), np.array([[0.3], [1.0], [-1.0]])
    y = 0.5 * tf.matmul(x, tf.matmul(tf.constant(matrix), x), transpose_a=True)
    (product,) = _hessian_vector_product(y, [x], [tf.constant(v)])
    np.testing.assert_allclose(run(product), 0.5 * (matrix + matrix.T) @ v, rtol=1e-12)


def test_hessian_of_a_vector() -> None:
    x = tf.constant([1.0, 2.0, 3.0], tf.float64)
    (hessian,) = tf.hessians(tf.reduce_sum(x * x * x), x)
    np.testing.assert_allclose(run(hessian), np.diag([6.0, 12.0, 18.0]), rtol=1e-12)
