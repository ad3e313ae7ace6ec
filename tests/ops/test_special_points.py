"""Values and slopes where definitions alone do not decide (ties, poles, zeros), and published values of functions."""

import math

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.graph import Tensor
from autodiff.core.op import OPS

INF, NAN = math.inf, math.nan


def run(*tensors: Tensor) -> list[np.ndarray]:
    with tf.Session(graph=tensors[0].graph) as session:
        return session.run(list(tensors))


def constants(*values: list[float]) -> list[Tensor]:
    tf.reset_default_graph()
    return [tf.constant(v, tf.float64) for v in values]


def slopes(function: str, *values: list[float], weights: list[float] | None = None) -> list[list[float]]:
    xs = constants(*values)
    y = getattr(tf, function)(*xs)
    grad_ys = None if weights is None else tf.constant(weights, tf.float64)
    return [g.tolist() for g in run(*tf.gradients(y, xs, grad_ys=grad_ys))]


@pytest.mark.parametrize(("function", "at", "slope"), [
    ("abs", [0.0, -2.0], [0.0, -1.0]), ("sign", [0.0, 3.0], [0.0, 0.0]), ("sqrt", [0.0, 4.0], [INF, 0.25]),
    ("reciprocal", [0.0, 2.0], [-INF, -0.25]), ("log", [0.0, 2.0], [INF, 0.5]),
])
def test_slopes_at_kinks_and_poles(function: str, at: list[float], slope: list[float]) -> None:
    assert slopes(function, at) == [slope]


@pytest.mark.parametrize(("function", "slope"), [("sqrt", 0.0), ("rsqrt", 0.0), ("reciprocal", 0.0), ("log", NAN)])
def test_a_zero_gradient_meets_an_infinite_slope(function: str, slope: float) -> None:
    np.testing.assert_array_equal(slopes(function, [0.0], weights=[0.0]), [[slope]])


def test_ties_go_to_the_first_of_two_and_are_shared_by_many() -> None:
    assert slopes("maximum", [1.0, 2.0], [1.0, 3.0]) == [[1.0, 0.0], [0.0, 1.0]]
    assert slopes("minimum", [1.0, 2.0], [1.0, 3.0]) == [[1.0, 1.0], [0.0, 0.0]]
    assert slopes("reduce_max", [3.0, 1.0, 3.0]) == slopes("reduce_min", [0.0, 1.0, 0.0]) == [[0.5, 0.0, 0.5]]


def test_clipping_passes_the_gradient_at_its_bounds() -> None:
    x, = constants([-2.0, -1.0, 0.0, 1.0, 2.0])
    assert run(tf.gradients(tf.clip_by_value(x, -1.0, 1.0), x)[0])[0].tolist() == [0, 1, 1, 1, 0]


def test_powers_of_zero_and_of_negative_numbers() -> None:
    by_x, by_p = slopes("pow", [0.0, 0.0, -2.0], [2.0, 0.0, 2.0])
    np.testing.assert_array_equal(by_x, [0.0, NAN, -4.0])
    assert by_p == [0.0, 0.0, 0.0]


def test_products_with_zeros_are_exact_in_both_orders() -> None:
    x, = constants([2.0, 0.0, 3.0])
    gradient, = tf.gradients(tf.reduce_prod(x), x)
    second, = tf.gradients(gradient[0], x)
    assert [v.tolist() for v in run(gradient, second)] == [[0.0, 6.0, 0.0], [0.0, 3.0, 0.0]]
    running, = tf.gradients(tf.cumprod(x), x)
    assert run(running)[0].tolist() == [1.0, 8.0, 0.0]


def test_a_large_choice_keeps_infinities_and_nans_on_their_side() -> None:
    tf.reset_default_graph()
    x, y = np.full(5000, NAN), np.full(5000, INF)
    chosen = np.arange(5000) % 3 == 0
    value, = run(tf.where(tf.constant(chosen), tf.constant(x), tf.constant(y)))
    np.testing.assert_array_equal(value, np.where(chosen, x, y))


def test_erf_is_right_to_the_last_bits() -> None:
    x = np.concatenate([np.linspace(-6.5, 6.5, 4001), [1e-300, 0.0, INF]])
    np.testing.assert_array_max_ulp(run(tf.erf(tf.constant(x)))[0], np.array([math.erf(v) for v in x]), 3)


@pytest.mark.parametrize(("function", "arguments", "value"), [  # Abramowitz and Stegun, tables 6.1, 6.2, 9.8, 23.3
    ("digamma", [1.0], -0.57721566490153286061), ("digamma", [0.5], -1.96351002602142347944),
    ("digamma", [-0.5], 0.03648997397857652056), ("polygamma", [1.0, 1.0], math.pi ** 2 / 6),
    ("polygamma", [2.0, 1.0], -2 * 1.20205690315959428540), ("zeta", [3.0, 1.0], 1.20205690315959428540),
    ("zeta", [2.0, 0.5], math.pi ** 2 / 2), ("lgamma", [0.5], math.log(math.pi) / 2),
    ("bessel_i0", [1.0], 1.26606587775200833560), ("bessel_i1", [1.0], 0.56515910399248502721),
    ("bessel_i0", [50.0], 2.93255378384933e20), ("erfc", [10.0], 2.088487583762545e-45),
])
def test_special_functions_at_published_values(function: str, arguments: list[float], value: float) -> None:
    xs = constants(*[[a] for a in arguments])
    np.testing.assert_allclose(run(getattr(tf, function)(*xs))[0], [value], rtol=1e-14)


@pytest.mark.parametrize("shape, added_to", [
    ((90, 70), (70,)), ((90, 70), (90, 1)), ((30, 16, 12), (30, 1, 12)), ((30, 16, 12), (16, 12)), ((9, 8, 70), (1,)),
    ((9, 8, 700), (9, 1, 700)), ((4, 5000), (4, 1)), ((6, 5, 16, 12), (6, 1, 1, 12)), ((6, 5, 16, 12), (5, 1, 12))])
def test_sums_of_large_gradients_are_those_of_more_digits(shape: tuple[int, ...], added_to: tuple[int, ...]) -> None:
    tf.reset_default_graph()
    given = np.random.default_rng(0).standard_normal(shape)
    x, y = tf.placeholder(tf.float32, added_to), tf.constant(given, tf.float32)
    slope, = run(tf.gradients(tf.ones(added_to) * y + x, x, grad_ys=y)[0])
    lead = len(shape) - len(added_to)
    axes = (*range(lead), *[lead + i for i, n in enumerate(added_to) if n == 1])
    np.testing.assert_allclose(slope, given.sum(axes).reshape(added_to), rtol=2e-5, atol=2e-5)


def test_a_large_sum_keeps_infinities_and_nans_in_their_columns() -> None:
    tf.reset_default_graph()
    given = np.ones((5, 30, 40), np.float32)
    given[1, 2, 3], given[2, 4, 5], given[3, 5, 6:8] = INF, -INF, NAN
    x = tf.placeholder(tf.float32, [5, 1, 40])
    slope, = run(tf.gradients(x + tf.constant(given), x, grad_ys=tf.constant(given))[0])
    np.testing.assert_array_equal(slope, given.sum(1, keepdims=True))


def test_argmax_and_argmin_pass_over_nan() -> None:
    (x,) = constants([[NAN, 1.0, 2.0], [3.0, NAN, NAN], [1.0, 2.0, 3.0], [NAN, NAN, NAN]])
    found = run(tf.argmax(x, 0), tf.argmax(x, 1), tf.argmin(x, 0), tf.argmin(x, 1))
    assert [f.tolist() for f in found] == [[1, 2, 2], [2, 0, 2, 0], [2, 0, 0], [1, 0, 0, 0]]


@pytest.mark.parametrize("op", ["ReciprocalGrad", "RsqrtGrad", "SqrtGrad", "SigmoidGrad", "TanhGrad"])
def test_second_slopes_of_complex_numbers(op: str) -> None:
    numbers = [np.array([0.7 + 0.4j, 1.5 - 0.8j]), np.array([0.3 - 1.1j, -0.6 + 0.2j])]
    with tf.Graph().as_default(), tf.Session():
        inputs = [tf.constant(n) for n in numbers]
        for found, wanted in tf.test.compute_gradient(inputs, [[2], [2]], OPS[op](*inputs), [2], numbers):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_the_incomplete_beta_function_of_many_is_that_of_each() -> None:
    a, b, x = (part.ravel() for part in np.meshgrid([1e-8, 0.5, 3.0, 1e5], [1e-3, 2.0, 40.0, 1e5], [1e-9, 0.2, 0.7]))
    many, *each = run(tf.betainc(*constants(a, b, x)), *[tf.betainc(*map(tf.constant, p)) for p in zip(a, b, x)])
    np.testing.assert_array_equal(many, each)
    assert many[(a == 0.5) & (b == 2.0) & (x == 0.2)] == pytest.approx(0.626099033699941, rel=1e-12)


def test_a_decomposition_of_what_is_not_finite_may_give_nan_as_jaxs_does():
    values, vectors = OPS["SelfAdjointEigV2"].kernel(np.float32([[np.inf, 0], [0, 1]]), raises=False)
    assert values.shape == (2,) and vectors.shape == (2, 2) and np.isnan(values).all() and np.isnan(vectors).all()
