"""tensorflow.python.ops.distributions.util: values, and what is refused while the graph is built or when it runs."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.tensorflow_names.python import distribution_util as du


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default(), tf.Session():
        yield


def test_a_spiral_fills_a_triangle_and_comes_back() -> None:
    vector = tf.constant([1, 2, 3, 4, 5, 6])
    assert du.fill_triangular(vector).eval().tolist() == [[4, 0, 0], [6, 5, 0], [3, 2, 1]]
    for upper in (False, True):
        free = tf.placeholder_with_default(np.arange(6), None)
        back = du.fill_triangular_inverse(du.fill_triangular(vector, upper), upper)
        assert back.eval().tolist() == [1, 2, 3, 4, 5, 6]
        assert du.fill_triangular(free, upper).eval().shape == (3, 3)
    with pytest.raises(ValueError, match="does not correspond to a triangular matrix"):
        du.fill_triangular(tf.zeros([4]))


def test_numbers() -> None:
    x = np.float32([1e-9, 0.5, 3.0, 80.0])
    np.testing.assert_allclose(tf.nn.softplus(du.softplus_inverse(x)).eval(), x, 1e-6)
    np.testing.assert_allclose(du.log_combinations(4.0, [[2.0, 2.0], [4.0, 0.0]]).eval(), np.log([6.0, 1.0]), atol=1e-6)
    total, sign = du.reduce_weighted_logsumexp([[0.0, 0.0, 0.0]], [[-3.0, 1.0, 1.0]], axis=1, return_sign=True)
    np.testing.assert_allclose(total.eval(), [0.0], atol=1e-6)
    assert sign.eval().tolist() == [-1.0]
    assert du.tridiag([1.0], [2.0, 3.0], [4.0]).eval().tolist() == [[2.0, 4.0], [1.0, 3.0]]


def test_arrangement() -> None:
    free, by = tf.placeholder_with_default(np.zeros((2, 3, 4)), None), tf.placeholder_with_default(-1, [])
    assert du.rotate_transpose(tf.zeros([2, 3, 4]), 1).shape == (4, 2, 3)
    assert du.rotate_transpose(free, by).eval().shape == (3, 4, 2)
    for choice, wanted in ((True, [1, 2]), (False, [3, 4, 5])):
        picked = du.pick_vector(tf.placeholder_with_default(choice, []), [1, 2], [3, 4, 5])
        assert picked.eval().tolist() == wanted
    assert du.same_dynamic_shape(free, tf.zeros([2, 3, 4])).eval()
    assert not du.same_dynamic_shape(free, tf.zeros([2])).eval()


def test_checks() -> None:
    free = tf.placeholder_with_default(np.float32([0.5, 1.5]), None)
    for make, words in (
            (lambda: du.assert_integer_form(free), "has non-integer components"),
            (lambda: du.embed_check_nonnegative_integer_form(-free), "must be non-negative"),
            (lambda: du.embed_check_integer_casting_closed(free, tf.int16), "Elements must be int16-equivalent"),
            (lambda: du.embed_check_integer_casting_closed(tf.cast(free, tf.int32) - 1, tf.uint16, False),
             "Elements cannot be smaller than 0"),
            (lambda: du.get_logits_and_probs(probs=free, validate_args=True)[1], "probs has components greater than 1"),
            (lambda: du.embed_check_categorical_event_shape(free[:1]), "must have at least 2 events")):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=words):
            tf.get_default_session().run(make())
    with pytest.raises(ValueError, match="Must pass probs or logits, but not both"):
        du.get_logits_and_probs()
    logits, probs = du.get_logits_and_probs(probs=[0.5, 0.2])
    np.testing.assert_allclose(tf.sigmoid(logits).eval(), probs.eval(), 1e-6)
    assert du.maybe_get_static_value(tf.constant(2), np.float64) == 2.0
    assert du.maybe_get_static_value(free) is None


def test_the_arguments_of_a_call() -> None:
    def called(a, b=2, *rest, **options):
        c = 3  # noqa: F841
        return du.parent_frame_arguments()

    assert called(1, 4, 5, d=6) == {"a": 1, "b": 4, "d": 6}
