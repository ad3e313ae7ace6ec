"""Counts, numbered branches, counters and incomplete functions: values of TensorFlow 1.15.5 or of closed forms."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff as tf


def value(build: Callable[[], Any]) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        fetched = build()
        session.run(tf.global_variables_initializer())
        return session.run(fetched)


def test_confusion_matrix_counts_pairs_or_adds_their_weights() -> None:
    assert value(lambda: tf.confusion_matrix([1, 2, 4], [2, 2, 4])).tolist() == [
        [0, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 1]]
    assert value(lambda: tf.math.confusion_matrix([[1], [0]], [1, 1], 2, tf.float32, weights=[0.5, 0.75])).tolist() == [
        [0, 0.75], [0, 0.5]]


@pytest.mark.parametrize(("labels", "classes", "text"), [
    ([-1, 2], None, "`labels` contains negative values"), ([1, 2], 2, "`labels` out of bound")])
def test_confusion_matrix_refuses_other_numbers(labels: list[int], classes: int | None, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        value(lambda: tf.confusion_matrix(labels, [0, 1], num_classes=classes))


def test_the_gradient_of_a_confusion_matrix_goes_to_the_weights() -> None:
    def build() -> Any:
        weights = tf.constant([0.5, 0.75])
        matrix = tf.confusion_matrix([1, 0], [1, 1], 2, tf.float32, weights=weights)
        return tf.gradients(matrix * [[1.0, 2.0], [3.0, 4.0]], weights)[0]

    assert value(build).tolist() == [4.0, 2.0]


def test_histograms_put_what_is_outside_into_the_end_bins() -> None:
    values = [-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]
    assert value(lambda: tf.histogram_fixed_width(values, [0.0, 5.0], nbins=5)).tolist() == [2, 1, 1, 0, 2]
    assert value(lambda: tf.histogram_fixed_width_bins(values, [0.0, 5.0], nbins=5)).tolist() == [0, 0, 1, 2, 4, 4]


@pytest.mark.parametrize(("index", "expected"), [(0, 0.0), (1, 1.0), (2, 2.0), (7, 2.0), (-1, 2.0)])
def test_a_switch_takes_the_last_branch_for_other_numbers(index: int, expected: float) -> None:
    branches = [lambda i=i: tf.constant(float(i)) for i in range(3)]
    assert value(lambda: tf.switch_case(tf.constant(index), branches)) == expected
    pairs = {i: branches[i] for i in (1, 0)}
    assert value(lambda: tf.switch_case(tf.constant(index), pairs, default=branches[2])) == expected


@pytest.mark.parametrize(("branches", "error"), [
    ({0: int, 2: int}, ValueError), ([], ValueError), ("abc", TypeError), ([(0, int), (1, 3)], TypeError)])
def test_a_switch_refuses_other_branches(branches: Any, error: type[Exception]) -> None:
    with tf.Graph().as_default(), pytest.raises(error):
        tf.switch_case(tf.constant(1), branches)


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_counter_gives_what_it_was_and_stops_at_its_limit(use_resource: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        counter = tf.Variable(3, use_resource=use_resource)
        step = tf.count_up_to(counter, 5)
        session.run(counter.initializer)
        assert [session.run(step), session.run(step)] == [3, 4]
        with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 5"):
            session.run(counter.count_up_to(5))


@pytest.mark.parametrize("a", [1, 2, 5, 30])
def test_incomplete_gamma_of_a_whole_order_is_the_tail_of_a_poisson_distribution(a: int) -> None:
    x = np.array([0.1, 0.9, 2.0, 7.5, 20.0, 60.0])
    tail = [math.exp(-v) * math.fsum(v**k / math.factorial(k) for k in range(a)) for v in x.tolist()]
    np.testing.assert_allclose(value(lambda: tf.igammac(np.float64(a), x)), tail, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(value(lambda: tf.igamma(np.float64(a), x)), 1 - np.array(tail), rtol=0, atol=1e-15)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 3), (40, 7), (300, 200)])
def test_incomplete_beta_of_whole_parameters_is_the_tail_of_a_binomial_distribution(a: int, b: int) -> None:
    x, n = np.array([0.01, 0.2, 0.5, 0.77, 0.99]), a + b - 1
    tail = [math.fsum(math.comb(n, k) * v**k * (1 - v) ** (n - k) for k in range(a, n + 1)) for v in x.tolist()]
    np.testing.assert_allclose(value(lambda: tf.betainc(np.float64(a), np.float64(b), x)), tail, rtol=1e-12, atol=1e-15)


def test_incomplete_functions_outside_of_their_domain() -> None:
    assert np.isnan(value(lambda: tf.igamma([0.0, -1.0, 3.0], [1.0, 1.0, -1.0]))).all()
    assert value(lambda: tf.igamma([1.0, 2.0], [0.0, np.inf])).tolist() == [0.0, 1.0]
    assert np.isnan(value(lambda: tf.betainc([1.0, -1.0], [1.0, 1.0], [1.5, 0.5]))).all()


def test_the_slope_by_the_order_is_the_central_difference() -> None:
    a, x, h = np.array([0.3, 2.0, 9.0, 40.0]), np.array([0.7, 2.5, 6.0, 47.0]), 1e-5

    def build() -> Any:
        order = tf.constant(a)
        return [*tf.gradients(tf.igamma(order, x), order), tf.igamma(a + h, x), tf.igamma(a - h, x)]

    slope, above, below = value(build)
    np.testing.assert_allclose(slope, (above - below) / (2 * h), rtol=1e-7)


@pytest.mark.parametrize(("through_all", "expected"), [(False, [1, 0]), (True, [1, 4])])
def test_places_of_maxima_count_per_image_unless_asked(through_all: bool, expected: list[int]) -> None:
    x = np.array([[1.0, 5.0, 5.0, 2.0], [7.0, 0.0, 3.0, 7.0]]).reshape(2, 2, 2, 1)
    y, places = value(lambda: tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID",
                                                         include_batch_in_index=through_all))
    assert (y.ravel().tolist(), places.ravel().tolist(), places.dtype) == ([5.0, 7.0], expected, np.int64)


def test_lu_factors_multiply_to_the_rows_in_their_order() -> None:
    a = np.random.default_rng(3).normal(size=(2, 5, 5))
    both, order = value(lambda: tf.linalg.lu(a))
    lower, upper = np.tril(both, -1) + np.eye(5), np.triu(both)
    np.testing.assert_allclose(lower @ upper, np.take_along_axis(a, order[..., None], axis=1), atol=1e-14)


@pytest.mark.parametrize("a", [[[4.0, 1.0], [0.0, 4.0]], [[0.0, 1.0], [-1.0, 0.0]], [[5.0, 2.0], [2.0, 3.0]]])
def test_the_square_root_of_a_matrix_squares_to_it(a: list[list[float]]) -> None:
    y = value(lambda: tf.linalg.sqrtm(np.array(a)))
    np.testing.assert_allclose(y @ y, a, atol=1e-12)


def test_a_real_matrix_with_a_negative_eigenvalue_has_no_root() -> None:
    assert np.isnan(value(lambda: tf.linalg.sqrtm(np.diag([-4.0, 4.0])))).all()


@pytest.mark.parametrize("padding", [[[1, 0], [0, 0], [0, 0], [0, 0]], [[0, 0], [-1, 0], [0, 0], [0, 0]], "EXPLICIT"])
def test_padding_of_batch_or_below_0_is_refused(padding: Any) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError):
        tf.nn.conv2d(np.zeros((1, 4, 4, 1)), np.zeros((2, 2, 1, 1)), [1, 1, 1, 1], padding)


def test_initializing_tables_runs_though_there_are_none() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        operation = tf.tables_initializer()
        assert (operation.name, session.run(operation)) == ("init_all_tables", None)
