"""Gradients at extreme values: products in TensorFlow's order, so that nothing overflows before its time.

The numbers are TensorFlow 1.15.5's, in float32.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff as tf


def quotient(x: Any, y: Any) -> Any:
    return x / y


# function, its inputs, the gradient it is given, the gradients that TensorFlow computes
ROWS: list[tuple[str, Callable[..., Any], list[float], float, list[float]]] = [
    ("pow by y", tf.pow, [1e37, 1.0], 1e-3, [1e-3, 8.519565e35]),
    ("pow by y, zero gradient", tf.pow, [1e37, 1.0], 0.0, [0.0, 0.0]),
    ("pow by x, zero at a pole", tf.pow, [0.0, 1e-30], 1e-30, [np.nan, 0.0]),
    ("rsqrt", tf.rsqrt, [1e-26], 1e-5, [-4.9999993e33]),
    ("rsqrt of a large number", tf.rsqrt, [1e30], 1e37, [-5.0e-9]),
    ("rsqrt at 0, zero gradient", tf.rsqrt, [0.0], 0.0, [0.0]),
    ("reciprocal at 0, zero gradient", tf.reciprocal, [0.0], 0.0, [0.0]),
    ("swish", lambda x: tf.nn.swish(x) ** 2, [1e20], 1.0, [2e20]),
    ("swish of a large negative number", lambda x: tf.nn.swish(x) ** 2, [-1e20], 1.0, [0.0]),
    ("x / y by y", quotient, [0.0, 1e-30], 1e30, [np.inf, 0.0]),
    ("x / y by y, all large", quotient, [1e37, -1e20], -1e-30, [0.0, 1e-33]),
    ("div_no_nan by y", tf.div_no_nan, [0.0, 1e-30], 1e30, [np.inf, 0.0]),
    ("igamma at 0 of no a", tf.igamma, [0.0, 0.0], 1.0, [0.0, np.nan]),
]


@pytest.mark.parametrize(("function", "inputs", "dy", "expected"), [row[1:] for row in ROWS],
                         ids=[row[0] for row in ROWS])
def test_gradients_at_extreme_values(function: Callable[..., Any], inputs: list[float], dy: float,
                                     expected: list[float]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        xs = [tf.constant([x]) for x in inputs]
        found = session.run(tf.gradients(function(*xs), xs, grad_ys=tf.constant([dy])))
    np.testing.assert_allclose(np.concatenate(found), np.float32(expected), rtol=1e-5, atol=1.2e-38)


def test_a_quotients_rule_does_not_go_through_the_quotient() -> None:
    with tf.Graph().as_default():
        for divide in (quotient, tf.div_no_nan):
            x, y = tf.constant(3.0), tf.constant(2.0)
            z = divide(x, y)
            assert tf.gradients(tf.gradients(z, y)[0], [z]) == [None]
