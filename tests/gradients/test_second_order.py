"""Hessians and Jacobians by the ways that save work: colors, blocks, one product; and at scale."""

from collections.abc import Callable

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.graph import Tensor
from autodiff.gradients import higher_order
from autodiff.gradients.coloring import colored, pattern
from autodiff.gradients.higher_order import jacobian

RNG = np.random.default_rng(0)
A = RNG.standard_normal((40, 36))
POINT = RNG.uniform(0.2, 1.2, 36)


pytestmark = pytest.mark.usefixtures("own_graph")


def rosenbrock(x: Tensor) -> Tensor:
    return tf.reduce_sum(100.0 * tf.square(x[1:] - tf.square(x[:-1])) + tf.square(1.0 - x[:-1]))


def reversed_products(x: Tensor) -> Tensor:
    return tf.reduce_sum(tf.pow(x, 3.0) * tf.reverse(x, [0])) + tf.reduce_sum(tf.concat([x[:2], x[4:6]], 0) ** 2.0)


def tiled_matrix(x: Tensor) -> Tensor:
    rows = tf.reshape(x, [6, 6])
    return tf.reduce_sum(tf.exp(tf.reduce_sum(rows, 1)) + tf.reduce_sum(tf.transpose(rows) ** 3.0, 0))


def logistic(x: Tensor) -> Tensor:
    z = tf.reshape(tf.matmul(tf.constant(A), tf.reshape(x, [36, 1])), [40])
    return tf.reduce_mean(tf.nn.softplus(z) - 0.3 * z)


def concave(x: Tensor) -> Tensor:
    return -tf.reduce_sum(tf.square(tf.matmul(tf.reshape(x, [1, 36]), tf.constant(A), transpose_b=True)))


def perceptron(x: Tensor) -> Tensor:
    w, v = tf.reshape(x[:30], [3, 10]), tf.reshape(x[30:], [6, 1])
    h = tf.tanh(tf.matmul(tf.constant(A[:, :3]), w))
    return tf.reduce_mean(tf.square(tf.matmul(h[:, :6], v)))


def central(loss: Callable[[Tensor], Tensor], at: np.ndarray) -> np.ndarray:
    """The Hessian by central differences of the gradient."""
    x = tf.placeholder(tf.float64, at.shape)
    gradient, = tf.gradients(loss(x), [x])
    session, h = tf.Session(), 1e-5
    rows = [(session.run(gradient, {x: at + h * e}) - session.run(gradient, {x: at - h * e})) / (2 * h)
            for e in np.eye(at.size)]
    return np.stack(rows)


ALL = [rosenbrock, reversed_products, tiled_matrix, logistic, concave, perceptron]


@pytest.mark.parametrize("loss", ALL)
def test_the_hessian_is_that_of_central_differences(loss: Callable[[Tensor], Tensor]) -> None:
    x = tf.placeholder(tf.float64, [36])
    found = tf.Session().run(tf.hessians(loss(x), x)[0], {x: POINT})
    np.testing.assert_allclose(found, central(loss, POINT), rtol=1e-5, atol=1e-5)  # differences of differences


@pytest.mark.parametrize("loss", ALL)
def test_blocks_give_what_one_pass_gives(loss: Callable[[Tensor], Tensor], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(higher_order, "FEWEST_ROWS", 1000)
    monkeypatch.setattr(higher_order, "weighted_gram", lambda *_: None)
    x = tf.placeholder(tf.float64, [36])
    whole = tf.hessians(loss(x), x)[0]
    for name, value in (("CACHE", 0), ("WHOLE", 0), ("SMALLEST_BLOCK", 7)):
        monkeypatch.setattr(higher_order, name, value)
    before = len(tf.get_default_graph().get_operations())
    in_blocks = tf.hessians(loss(x), x)[0]
    made = tf.get_default_graph().get_operations()[before:]
    assert sum(op.name.endswith("units") for op in made) == 1, "all blocks take their directions from one constant"
    unknown = tf.placeholder(tf.float64, [None])
    at_once = tf.hessians(loss(tf.ensure_shape(unknown, [36])), unknown)[0]
    found = tf.Session().run([whole, in_blocks, at_once], {x: POINT, unknown: POINT})
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("loss", "passes"), [(rosenbrock, 3), (reversed_products, 2), (tiled_matrix, 6)])
def test_rows_without_a_common_column_share_a_pass(loss: Callable[[Tensor], Tensor], passes: int) -> None:
    x = tf.placeholder(tf.float64, [36])
    gradient, = tf.gradients(loss(x), [x])
    bits = pattern(gradient, x)
    assert bits is not None and not (central(loss, POINT)[~bits] > 1e-4).any()
    colors = colored(bits, 36)
    assert colors is not None and max(colors) + 1 == passes
    assert colored(bits, passes - 1) is None


def test_a_third_derivative_goes_through_every_way() -> None:
    x = tf.placeholder(tf.float64, [36])
    for loss in (rosenbrock, logistic, perceptron):
        trace = tf.reduce_sum(tf.diag_part(tf.hessians(loss(x), x)[0]))
        slope, = tf.gradients(trace, [x])
        session, h, k = tf.Session(), 1e-5, 3
        step = h * np.eye(36)[k]
        expected = (session.run(trace, {x: POINT + step}) - session.run(trace, {x: POINT - step})) / (2 * h)
        np.testing.assert_allclose(session.run(slope, {x: POINT})[k], expected, rtol=1e-5)


def test_the_hessian_by_a_variable_finds_its_zeros() -> None:
    v = tf.Variable(POINT)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    before = len(tf.get_default_graph().get_operations())
    hessian = tf.hessians(rosenbrock(v), v)[0]
    assert len(tf.get_default_graph().get_operations()) - before < 250
    np.testing.assert_allclose(session.run(hessian), central(rosenbrock, POINT), rtol=1e-5, atol=1e-4)


def test_a_jacobian_need_not_be_square() -> None:
    x = tf.placeholder(tf.float64, [36])
    y = tf.reshape(tf.square(x[1:]) * x[:-1], [5, 7])
    found = tf.Session().run(jacobian(y, x), {x: POINT})
    assert found.shape == (5, 7, 36)
    expected = np.zeros((35, 36))
    expected[range(35), range(35)] = POINT[1:] ** 2
    expected[range(35), range(1, 36)] = 2 * POINT[1:] * POINT[:-1]
    np.testing.assert_allclose(found.reshape(35, 36), expected, rtol=1e-12)
