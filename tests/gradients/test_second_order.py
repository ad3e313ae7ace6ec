"""Hessians and Jacobians by the ways that save work: colors, blocks, one product; and at scale."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from autodiff.errors import StateError

import autodiff as tf
from autodiff.core.graph import Tensor
from autodiff.debug.history.row_blocks import hessian_rows, jacobian_rows, rows_of
from autodiff.gradients import higher_order
from autodiff.gradients.batching import vectorize
from autodiff.gradients.coloring import colored, pattern, vanishing
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


# ---- blocks of rows on executors ------------------------------------------------------------

def rows_case() -> tuple[Any, Tensor, Any, np.ndarray]:
    """A loss of a variable and a fed tensor, and its Hessian by the variable."""
    v, scale = tf.Variable(POINT), tf.placeholder(tf.float64, [])
    loss = perceptron(v) * scale
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session, loss, (v, {scale: 2.0}), session.run(tf.hessians(loss, v)[0], {scale: 2.0})


@pytest.mark.parametrize("block", [None, 1, 5, 36, 100])
def test_rows_in_blocks_are_the_hessian(block: int | None) -> None:
    session, loss, (v, feeds), expected = rows_case()
    np.testing.assert_allclose(hessian_rows(session, loss, v, feeds, block=block), expected, rtol=1e-12, atol=1e-14)
    before = len(session.graph.get_operations())
    tight = hessian_rows(session, loss, v, feeds, budget=1)
    np.testing.assert_allclose(tight, expected, rtol=1e-12, atol=1e-14)
    assert len(session.graph.get_operations()) == before, "a second call adds nothing to the graph"


def test_threads_give_the_same_rows() -> None:
    session, loss, (v, feeds), expected = rows_case()
    with ThreadPoolExecutor(2) as executor:
        found = hessian_rows(session, loss, v, feeds, block=10, executor=executor)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_rows_of_a_jacobian_and_what_is_refused() -> None:
    x = tf.placeholder(tf.float64, [36])
    y = tf.reshape(tf.square(x[1:]) * x[:-1], [5, 7])
    session = tf.Session()
    found = jacobian_rows(session, y, x, {x: POINT}, block=4)
    np.testing.assert_allclose(found, session.run(jacobian(y, x), {x: POINT}), rtol=1e-12)
    assert rows_of.__module__ == "autodiff.debug.history.row_blocks"
    with pytest.raises(ValueError, match="does not depend"):
        hessian_rows(session, tf.constant(1.0), x, {x: POINT})
    with pytest.raises(ValueError, match="block is 0"):
        jacobian_rows(session, y, x, {x: POINT}, block=0)
    drawn = jacobian_rows(session, y * tf.random_uniform([5, 7], dtype=tf.float64), x, {x: POINT}, block=4)
    assert np.all(drawn[found == 0] == 0), "each block draws what a run of the session would draw"
    scaled = y * tf.ensure_shape(tf.numpy_function(lambda v: 2 * v, [x[0]], tf.float64), [])
    with pytest.raises(StateError, match=r"PyFunc.*holds Python code"):
        jacobian_rows(session, scaled, x, {x: POINT})


def two_layers(x: Tensor) -> Tensor:
    parts = ((0, 15, [3, 5]), (15, 20, [5]), (20, 30, [5, 2]), (30, 32, [2]))
    w, b, v, c = (tf.reshape(x[low:high], shape) for low, high, shape in parts)
    z = tf.matmul(tf.sigmoid(tf.matmul(tf.constant(A[:, :3]), w) + b), v) + c
    return tf.reduce_mean(tf.reduce_logsumexp(z, 1) - z[:, 0])


def test_a_block_leaves_out_what_its_directions_do_not_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.placeholder(tf.float64, [36])
    whole = tf.hessians(two_layers(x), x)[0]
    for name, value in (("CACHE", 0), ("WHOLE", 0), ("SMALLEST_BLOCK", 6)):
        monkeypatch.setattr(higher_order, name, value)
    graph, sizes = tf.get_default_graph(), []
    for without in (higher_order.vanishing, lambda *_: {}):
        monkeypatch.setattr(higher_order, "vanishing", without)
        before = len(graph.get_operations())
        in_blocks = tf.hessians(two_layers(x), x)[0]
        sizes.append(len(graph.get_operations()) - before)
        found, expected = tf.Session().run([in_blocks, whole], {x: POINT})
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(expected, central(two_layers, POINT), rtol=1e-5, atol=1e-6)
    assert sizes[0] < 0.9 * sizes[1]


def test_what_is_not_linear_in_a_direction_is_never_left_out() -> None:
    direction = tf.placeholder(tf.float64, [6])
    ones, head = tf.ones_like(direction), direction[:3]
    found = tf.reduce_sum(head) * ones + tf.concat([direction[2:], ones[:2]], 0)
    needs = vanishing(found, direction)
    assert needs[head].tolist() == [True] * 3 + [False] * 3
    assert ones not in needs and found not in needs


def test_blocks_begin_where_what_is_reached_changes() -> None:
    needs = np.arange(100) < 60, np.arange(100) < 95
    assert higher_order._bounds(100, 25, needs) == [0, 25, 50, 75, 100]
    assert higher_order._bounds(100, 40, needs) == [0, 40, 60, 100]
    assert higher_order._bounds(100, 34, needs) == [0, 34, 60, 94, 100]
    assert higher_order._bounds(1, 1, ()) == [0, 1]


@pytest.mark.parametrize("reshaped", [
    lambda h: tf.ensure_shape(tf.squeeze(tf.expand_dims(h, 1)), [None, 3]), lambda h: tf.reshape(h, [-1, 1, 3]),
    lambda h: tf.reshape(h, tf.concat([tf.shape(h)[:1], [-1]], 0)),
    lambda h: tf.diag_part(tf.matmul(h, h, False, True)),
    lambda h: tf.reduce_logsumexp(h, 1)], ids=["squeeze", "rest", "rest behind", "diagonal", "logsumexp"])
def test_directions_are_not_asked_for_one_by_one_where_a_batch_is_not_known(
        reshaped: Callable[[Tensor], Tensor]) -> None:
    x, w = tf.placeholder(tf.float64, [None, 2]), tf.constant([[0.5, -1.0, 0.2], [2.0, 0.3, 0.1]], tf.float64)
    directions = tf.placeholder(tf.float64, [None, 2, 3])
    loss = tf.reduce_sum(tf.square(reshaped(tf.matmul(x, w))))
    direction = tf.placeholder(tf.float64, [2, 3])
    gradient = tf.gradients(loss, w)[0]
    product = tf.gradients(gradient, w, grad_ys=[direction])[0]
    rows = vectorize([product], {direction: directions}, tf.shape(directions)[0])[0]
    fed, each = RNG.standard_normal((4, 2)), np.eye(6).reshape(6, 2, 3)
    with tf.Session() as session:
        found = session.run(rows, {x: fed, directions: each})
        expected = [session.run(product, {x: fed, direction: one}) for one in each]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
