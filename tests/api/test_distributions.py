"""tf.distributions and tf.metrics: numbers that TensorFlow 1.15.5 computed, and what draws must look like."""

import importlib
from typing import Any

import numpy as np
import pytest
from autodiff.errors import UnsupportedError

import autodiff as tf

D = tf.distributions


pytestmark = pytest.mark.usefixtures("own_graph")


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        return session.run(fetches, feeds)


def normal():
    return D.Normal(tf.constant([0.5, -1.0]), tf.constant([1.5, 0.3]))


def categorical():
    return D.Categorical(logits=tf.constant([[0.2, -1.0, 2.0], [0.0, 0.5, -0.3]]))


def bernoulli():
    return D.Bernoulli(logits=tf.constant([0.3, -2.0]))


def test_densities_and_moments():
    n, c, b, u = normal(), categorical(), bernoulli(), D.Uniform(0.0, tf.constant([2.0, 3.0]))
    expected = [
        (n.log_prob([1.0, 2.0]), [-1.37996, -49.71497]), (n.entropy(), [1.8244, 0.21497]),
        (n.cdf([1.0, -1.2]), [0.63056, 0.25249]), (n.stddev(), [1.5, 0.3]), (n.mode(), [0.5, -1.0]),
        (c.log_prob([2, 0]), [-0.19481, -1.22069]), (c.prob([1, 1]), [0.04097, 0.48641]),
        (c.entropy(), [0.56261, 1.04305]), (c.mode(), [2, 1]),
        (b.log_prob([1, 0]), [-0.55436, -0.12693]), (b.entropy(), [0.68202, 0.36533]),
        (b.mean(), [0.57444, 0.1192]), (b.mode(), [1, 0]), (b.variance(), [0.24446, 0.10499]),
        (u.log_prob([1.0, 2.5]), [-0.69315, -1.09861]), (u.cdf([1.0, 5.0]), [0.5, 1.0]),
        (u.variance(), [0.33333, 0.75])]
    for value, numbers in zip(run([t for t, _ in expected]), (v for _, v in expected), strict=True):
        np.testing.assert_allclose(value, numbers, atol=2e-5)


def test_divergences():
    pairs = [(normal(), D.Normal([0.0, 0.0], [1.0, 2.0]), [0.34453, 1.53337]),
             (categorical(), D.Categorical(probs=[[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]), [0.27612, 0.80505]),
             (bernoulli(), D.Bernoulli(probs=[0.2, 0.7]), [0.33747, 0.73764])]
    for a, b, numbers in pairs:
        np.testing.assert_allclose(run(D.kl_divergence(a, b)), numbers, atol=2e-5)
    with pytest.raises(UnsupportedError, match="Normal and Bernoulli"):
        D.kl_divergence(normal(), bernoulli())


def test_gradients_of_densities():
    n, c = normal(), categorical()
    np.testing.assert_allclose(run(tf.gradients(n.log_prob([1.0, 2.0]), n.loc)[0]), [0.22222, 33.33333], atol=2e-5)
    np.testing.assert_allclose(run(tf.gradients(n.log_prob([1.0, 2.0]), n.scale)[0]), [-0.59259, 329.99997], rtol=1e-5)
    np.testing.assert_allclose(run(tf.gradients(c.log_prob([2, 0]), c.logits)[0]),
                               [[-0.13604, -0.04097, 0.17701], [0.70497, -0.48641, -0.21856]], atol=2e-5)


def test_logarithms_of_small_probabilities():
    n, z = D.Normal(0.0, 1.0), tf.constant([0.5, -3.0, -9.0, -12.0, -40.0])
    expected = [-0.36894642, -6.6077266, -43.628147, -75.41067, -804.6084]
    np.testing.assert_allclose(run(n.log_cdf(z)), expected, rtol=1e-5)
    np.testing.assert_allclose(run(tf.gradients(n.log_cdf(z), z)[0]), [0.5091604, 3.2830989, 9.108468, 12.082197,
                                                                       40.02497], rtol=1e-4)
    crossed = normal().cross_entropy(D.Normal([0.0, 0.0], [1.0, 2.0]))
    np.testing.assert_allclose(run(crossed), [2.16894, 1.74834], atol=2e-5)


def test_draws_have_shapes_moments_and_gradients():
    n, c, b = normal(), categorical(), bernoulli()
    draws = run([n.sample([4, 3]), c.sample([5]), b.sample(), n.sample(20000, seed=3), c.sample(20000, seed=4)])
    assert [d.shape for d in draws[:3]] == [(4, 3, 2), (5, 2), (2,)]
    assert [d.dtype.name for d in draws[:3]] == ["float32", "int32", "int32"]
    np.testing.assert_allclose(draws[3].mean(axis=0), [0.5, -1.0], atol=0.05)
    np.testing.assert_allclose(draws[3].std(axis=0), [1.5, 0.3], atol=0.05)
    np.testing.assert_allclose((draws[4] == 2).mean(axis=0), run(c.prob([2, 2])), atol=0.02)
    np.testing.assert_allclose(run(tf.gradients(n.sample([4, 3]), n.loc)[0]), [12.0, 12.0])


def test_parameters_are_one_kind():
    with pytest.raises(ValueError, match="neither"):
        D.Bernoulli()
    with pytest.raises(ValueError, match="both"):
        D.Categorical(logits=[1.0], probs=[1.0])
    with pytest.raises(ValueError, match="float32 and float64"):
        D.Normal(tf.constant(0.0), tf.constant(1.0, tf.float64))
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(D.Normal(0.0, -1.0, validate_args=True).mean())
    np.testing.assert_allclose(run(bernoulli().log_prob([1.0, 0.0])), [-0.55436, -0.12693], atol=2e-5)


def test_metrics_add_up_over_runs():
    labels, scores = tf.placeholder(tf.int32, [4]), tf.placeholder(tf.float32, [4])
    said, wanted = scores > 0.5, tf.cast(labels, tf.float32)
    m = tf.metrics
    pairs = {"acc": m.accuracy(labels, tf.cast(said, tf.int32)), "mean": m.mean(scores),
             "weighted": m.mean(scores, weights=wanted), "mse": m.mean_squared_error(wanted, scores),
             "mae": m.mean_absolute_error(wanted, scores), "rmse": m.root_mean_squared_error(wanted, scores),
             "precision": m.precision(labels, said), "recall": m.recall(labels, said), "auc": m.auc(labels, scores),
             "misses": m.false_negatives(labels, said)}
    updates = {name: update for name, (_, update) in pairs.items()}
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(updates, {labels: [1, 0, 1, 1], scores: [0.9, 0.4, 0.3, 0.8]})
        last = session.run(updates, {labels: [0, 0, 1, 0], scores: [0.2, 0.6, 0.7, 0.1]})
        values = session.run({name: value for name, (value, _) in pairs.items()})
    expected = {"acc": 0.75, "mean": 0.5, "weighted": 0.675, "mse": 0.15, "mae": 0.325, "rmse": 0.387298,
                "precision": 0.75, "recall": 0.75, "auc": 0.875, "misses": 1.0}
    for name, number in expected.items():
        assert last[name] == pytest.approx(number, abs=1e-5), name
        assert values[name] == pytest.approx(number, abs=1e-5), name


def test_area_between_given_thresholds():
    value, update = tf.metrics.auc([1, 0, 1, 0], tf.constant([0.9, 0.4, 0.35, 0.1]), thresholds=[0.2, 0.37, 0.6])
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        np.testing.assert_allclose([session.run(update), session.run(value)], 0.75, atol=1e-5)
    with pytest.raises(ValueError, match="Invalid summation_method"):
        tf.metrics.auc([1], [0.5], summation_method="other")


def test_metrics_are_named_as_in_tensorflow():
    value, update = tf.metrics.accuracy([1, 2], [1, 3])
    assert (value.name, update.name) == ("accuracy/value:0", "accuracy/update_op:0")
    assert [v.name for v in tf.local_variables()] == ["accuracy/total:0", "accuracy/count:0"]
    assert tf.trainable_variables() == []


FAMILY = [  # distribution, draws that have a density, their log densities by hand
    (lambda d: d.Gamma(3.0, 2.0), [0.5, 2.0], lambda x: 3 * LOG2 + 2 * np.log(x) - 2 * x - np.log(2.0)),
    (lambda d: d.Exponential(2.0), [0.5, 2.0], lambda x: LOG2 - 2 * x),
    (lambda d: d.Beta(2.0, 3.0), [0.25, 0.5], lambda x: np.log(12 * x * (1 - x) ** 2)),
    (lambda d: d.Laplace(1.0, 2.0), [0.5, 2.0], lambda x: -np.abs(x - 1) / 2 - 2 * LOG2),
    (lambda d: d.StudentT(3.0, 1.0, 2.0), [0.5, 2.0],
     lambda x: -2 * np.log1p(((x - 1) / 2) ** 2 / 3) + np.log(2 / (np.pi * np.sqrt(3.0))) - LOG2),
    (lambda d: d.Dirichlet([1.0, 2.0]), [[0.25, 0.75], [0.5, 0.5]], lambda x: np.log(2 * x[:, 1])),
    (lambda d: d.Multinomial(3.0, probs=[0.25, 0.75]), [[1.0, 2.0], [3.0, 0.0]],
     lambda x: np.log(np.array([3 * 0.25 * 0.75 ** 2, 0.25 ** 3]))),
    (lambda d: d.DirichletMultinomial(3.0, [1.0, 1.0]), [[1.0, 2.0], [3.0, 0.0]], lambda x: np.log([0.25, 0.25])),
]
LOG2 = np.log(2.0)


@pytest.mark.parametrize(("make", "values", "by_hand"), FAMILY, ids=lambda _: "")
def test_densities_are_those_by_hand_and_moments_those_of_draws(make, values, by_hand):
    one = make(tf.distributions)
    draws = one.sample(20_000, seed=7)
    with tf.Session() as session:
        found, drawn, mean, variance = session.run([one.log_prob(values), draws, one.mean(), one.variance()])
    np.testing.assert_allclose(found, by_hand(np.array(values)), rtol=1e-5)
    np.testing.assert_allclose(drawn.mean(0), mean, atol=0.1)
    np.testing.assert_allclose(drawn.var(0), variance, rtol=0.35)


def test_divergences_entropies_and_undefined_statistics():
    d = tf.distributions
    pairs = [(d.Gamma(3.0, 2.0), d.Gamma(2.0, 1.0)), (d.Beta(2.0, 3.0), d.Beta(3.0, 1.0)),
             (d.Dirichlet([2.0, 3.0]), d.Dirichlet([3.0, 1.0]))]
    with tf.Session() as session:
        for a, b in pairs:
            draws = a.sample(50_000, seed=3)
            exact, sampled = session.run([
                [d.kl_divergence(a, b), a.entropy()],
                [tf.reduce_mean(a.log_prob(draws) - b.log_prob(draws)), -tf.reduce_mean(a.log_prob(draws))]])
            np.testing.assert_allclose(exact, sampled, atol=0.02)
        assert np.isnan(session.run(d.StudentT([0.5, 2.0], 0.0, 1.0).mean())).tolist() == [True, False]
        assert session.run(d.StudentT(1.5, 0.0, 1.0).variance()) == np.inf
        assert session.run(d.StudentT(3.0, 0.0, 1.0).cdf(0.0)) == 0.5
        with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x < y did not hold"):
            session.run(d.Gamma(0.5, 1.0, allow_nan_stats=False).mode())
        with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x > 0"):
            session.run(d.Gamma(-0.5, 1.0, validate_args=True).mean())


def test_tails_quantiles_and_survival_of_the_normal_distribution():
    special, double = importlib.import_module("autodiff.api.distributions.special_math"), tf.float64
    n = D.Normal(tf.constant(1.0, double), tf.constant(2.0, double))
    expected = [
        (special.log_ndtr(tf.constant([-40.0, -3.0, 0.5, 9.0], double)),
         [-8.04608442e+02, -6.60772622, -3.68946415e-01, -1.12858841e-19]),
        (special.ndtri(tf.constant([1e-20, 0.01, 0.3, 0.97], double)),
         [-9.26234009, -2.32634787, -0.52440051, 1.88079361]),
        (special.log_cdf_laplace(tf.constant([-3.0, 4.0], double)), [-3.69314718, -0.00920001]),
        (special.erfinv(tf.constant(0.5, double)), 0.47693628),
        (n.quantile([0.0, 0.3]), [-np.inf, 1.0 - 2 * 0.52440051]), (n.survival_function(4.0), 0.0668072),
        (n.log_survival_function(4.0), np.log(0.0668072))]
    for found, value in zip(run([tensor for tensor, _ in expected]), expected):
        np.testing.assert_allclose(found, value[1], rtol=1e-6)
    assert n.param_static_shapes([3, 1]) == {"loc": [3, 1], "scale": [3, 1]}
    ends = tf.constant([0.0, 1.0])
    assert run(tf.gradients(special.ndtri(ends), ends)[0]).tolist() == [0, 0]
    with pytest.raises(TypeError, match="is not supported"):
        special.ndtr(tf.constant(1))


def test_the_cdf_of_classes_leaves_out_the_class_itself():
    c = D.Categorical(probs=[[0.2, 0.1, 0.7], [0.3, 0.45, 0.25]])
    np.testing.assert_allclose(run(c.cdf([[0, 0], [1, 1], [2, 2]])), [[0, 0], [0.2, 0.3], [0.3, 0.75]], rtol=1e-6)


def test_parameters_before_a_softplus():
    from autodiff.api.distributions import transformed as kinds
    df = kinds.StudentTWithAbsDfSoftplusScale(-2.5, 0.0, scale=1.0)
    np.testing.assert_allclose(run([df.df, df.scale, kinds.GammaWithSoftplusConcentrationRate(1.0, 2.0).rate]),
                               [2.0, np.log1p(np.e), np.log1p(np.exp(2.0))], rtol=1e-6)


def test_divergences_are_registered_for_pairs_of_classes():
    class Own(D.Normal):
        pass

    class Other(D.Normal):
        pass

    @D.RegisterKL(Own, D.Normal)
    def _(a, b, name=None):
        return tf.constant(np.nan) if isinstance(b, Other) else "registered"

    own = Own(0.0, 1.0, allow_nan_stats=False)
    assert D.kl_divergence(own, own) == "registered"
    assert run(D.kl_divergence(D.Normal(0.0, 1.0), own)) == 0  # that of the class
    with pytest.raises(tf.errors.InvalidArgumentError, match="returned NaN"):
        run(own.kl_divergence(Other(0.0, 1.0)))
    with pytest.raises(ValueError, match="has already been registered"):
        D.RegisterKL(Own, D.Normal)(lambda a, b: 0)


@pytest.mark.parametrize(("made", "value", "says"), [
    (lambda: tf.distributions.Bernoulli(probs=[1.5], validate_args=True), 1, "probs has components greater than 1"),
    (lambda: tf.distributions.Bernoulli(probs=[0.5], validate_args=True), 2, "Elements cannot exceed 1."),
    (lambda: tf.distributions.Multinomial(3.0, probs=[0.5, 0.5], validate_args=True), [1.0, 1.0], "counts must sum to"),
    (lambda: tf.distributions.DirichletMultinomial(3.0, [1.0, 2.0], validate_args=True), [1.5, 1.5], "fractional"),
    (lambda: tf.distributions.Dirichlet([1.0, 2.0], validate_args=True), [0.4, 0.5], "last-dimension must sum to `1`"),
    (lambda: tf.distributions.Uniform(1.0, 1.0, validate_args=True), 1.0, "x < y")])
def test_arguments_are_validated_where_that_is_asked_for(made: Any, value: Any, says: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=says):
        session.run(made().prob(value))


class Leaky(D.bijectors.Bijector):
    def __init__(self):
        super().__init__(forward_min_event_ndims=1)

    def _forward(self, x):
        return tf.where(x >= 0, x, 0.5 * x)

    def _inverse(self, y):
        return tf.where(y >= 0, y, 2.0 * y)

    def _inverse_log_det_jacobian(self, y):
        return tf.reduce_sum(tf.log(tf.where(y >= 0, tf.ones_like(y), 2.0 * tf.ones_like(y))), -1)


def test_bijectors_are_those_of_tensorflow():
    b = D.bijectors
    x = tf.constant([[0.3, 0.7, 0.2]])
    rows = [(b.Exp(), "exp", 1.2), (b.Sigmoid(), "sigmoid", -4.3113604), (b.Softplus(), "softplus", -1.5556803),
            (b.AffineScalar(1.0, -2.0), "affine_scalar", 2.0794415), (b.Permute([2, 0, 1]), "permute", 0.0),
            (b.Identity(), "identity", 0.0), (Leaky(), "leaky", 0.0), (b.Invert(b.Exp()), "invert_exp", 3.1700857),
            (b.Chain([Leaky(), b.AffineScalar(0.5, -2.0)]), "chain_of_leaky_of_affine_scalar", 0.6931472)]
    for bijector, name, log_det in rows:
        assert bijector.name == name and bijector.inverse(bijector.forward(x)) is x, name
        y = tf.constant(run(bijector.forward(x)))
        there, back, again = run([bijector.forward_log_det_jacobian(x, 1), bijector.inverse_log_det_jacobian(y, 1),
                                  bijector.inverse(y)])
        np.testing.assert_allclose(there, log_det, 1e-5, err_msg=name)
        np.testing.assert_allclose(back, -there, 1e-5, err_msg=name)
        np.testing.assert_allclose(again, [[0.3, 0.7, 0.2]], 1e-5, err_msg=name)


def test_a_bijector_says_what_it_lacks():
    bijector = D.bijectors.Inline(forward_fn=tf.exp, forward_min_event_ndims=1)
    for call, kind, words in [
            (lambda: bijector.inverse(1.0), NotImplementedError, "inverse not implemented"),
            (lambda: bijector.forward_log_det_jacobian([1.0], 0), ValueError, "must be larger than min_event_ndims"),
            (lambda: bijector.forward_log_det_jacobian([1.0], 1.5), ValueError, "Expected integer"),
            (lambda: bijector.forward_log_det_jacobian([1.0], [1, 2]), ValueError, "Expected scalar"),
            (D.bijectors.Bijector, TypeError, "abstract class Bijector"),
            (lambda: D.bijectors.Permute([0, 2]), ValueError, "exactly one of each")]:
        with pytest.raises(kind, match=words):
            call()


def test_a_transformed_distribution_is_that_of_tensorflow():
    b = D.bijectors
    log_normal = D.TransformedDistribution(D.Normal([0.0, 1.0], [1.0, 2.0]), b.Exp())
    many = D.TransformedDistribution(D.MultivariateNormalDiag([0.0, 1.0], [1.0, 2.0]), Leaky())
    sample = many.sample(4, seed=1)
    found = run([log_normal.log_prob([0.5, 2.0]), log_normal.cdf([0.5, 2.0]), log_normal.quantile([0.2, 0.6]),
                 many.log_prob([[-1.0, 2.0]]),
                 D.TransformedDistribution(D.Normal(0.0, 1.0), b.AffineScalar(1.0, -2.0)).entropy(),
                 many.log_prob(sample)])
    expected = [[-0.46601784, -2.3170028], [0.24410862, 0.439031], [0.4310112, 4.5117917], [-3.9628773], 2.1120858]
    for value, wanted in zip(found, expected, strict=False):
        np.testing.assert_allclose(value, wanted, 1e-5)
    assert found[5].shape == (4,) and many.event_shape == [2] and log_normal.batch_shape == [2]


def test_what_is_not_a_number_stays_so():
    nan = tf.constant(float("nan"))
    found = run([D.Uniform(10.0, [11.0, 100.0]).prob([1.0, nan]), D.Bernoulli(probs=1.0).log_prob(0),
                 tf.gradients(D.Bernoulli(logits=(zero := tf.constant(0.0))).log_prob(1), zero)[0]])
    np.testing.assert_equal(found, [np.array([0.0, np.nan], np.float32), np.float32("nan"), np.float32(0.5)])


@pytest.mark.parametrize("of", [lambda s: D.Normal(0.0, s), lambda s: tf.contrib.distributions.MultivariateNormalDiag(
    tf.zeros([2]), s)])
def test_a_normal_distributions_scale_is_its_deviation_also_where_it_is_0(of: Any) -> None:
    scale = tf.constant([2.0, 0.0])
    deviation = of(scale).stddev()
    found, slope = run([deviation, tf.gradients(deviation, scale)[0]])
    assert (found.tolist(), slope[0]) == ([2.0, 0.0], 1.0) and np.isfinite(slope).all()
