"""tf.test.compute_gradient of complex and of no numbers: TensorFlow's layout of the Jacobians."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf


@pytest.mark.parametrize(("function", "y_type", "size"), [
    (lambda z: z * z, tf.complex64, (4, 4)), (tf.real, tf.float32, (4, 2)), (tf.abs, tf.float32, (4, 2)),
    (lambda z: z * tf.conj(z), tf.complex64, (4, 4))])
def test_a_complex_number_is_two_rows(function: Any, y_type: Any, size: tuple[int, int]) -> None:
    with tf.Graph().as_default(), tf.Session():
        z = tf.constant([1 + 2j, 3 - 1j], tf.complex64)
        y = function(z)
        analytic, numeric = tf.test.compute_gradient(z, [2], y, [2])
        assert y.dtype is y_type
        assert analytic.shape == numeric.shape == size
        assert analytic.dtype == numeric.dtype == np.float32
        np.testing.assert_allclose(analytic, numeric, atol=2e-3)  # of differences of float32
        assert np.abs(analytic).max() > 0.1


def test_no_elements_give_an_empty_jacobian() -> None:
    with tf.Graph().as_default(), tf.Session():
        x = tf.zeros([0, 3])
        assert [a.shape for a in tf.test.compute_gradient(x, [0, 3], x * x, [0, 3])] == [(0, 0), (0, 0)]


@pytest.mark.parametrize("where", ["loop", "branch"])
def test_a_tape_inside_of_a_function_reaches_outer_tensors(where: str) -> None:
    def slope() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x
        return tape.gradient(y, x)

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(3.0)
        if where == "loop":
            found = tf.while_loop(lambda i, _: i < 1, lambda i, total: (i + 1, total + slope()), [0, 0.0])[1]
        else:
            found = tf.cond(tf.constant(True), slope, lambda: 0.0)
        assert session.run(found) == 27.0
