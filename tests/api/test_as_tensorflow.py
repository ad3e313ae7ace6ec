"""Small differences from TensorFlow 1.15.5 that scripts met: each once, with what it gives there."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.runtime.eager import EagerContext

pytestmark = pytest.mark.usefixtures("own_graph")


def run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return session.run(fetches, feeds)


def test_types_and_sizes_compare_as_there() -> None:
    assert [tf.int32 == int, tf.int32 == 3, tf.int32 == "int32", tf.float32 == np.float32] == [False, True, True, True]  # noqa: E721
    with pytest.raises(TypeError, match="Cannot convert value <class 'int'> to a TensorFlow DType."):
        tf.as_dtype(int)
    assert tf.Dimension(12) == "12"
    assert (tf.Dimension(None) == 3) is None
    assert tf.TensorShape([1, None]) != tf.TensorShape([1, None])
    assert tf.TensorShape([2.0, 3.0]).as_list() == [2, 3]


def test_tensor_arrays() -> None:
    written = tf.TensorArray(tf.float32, size=1, element_shape=[None, 10]).write(0, tf.ones([50, 10]))
    assert written.element_shape.as_list() == written.read(0).shape.as_list() == [50, 10]
    x = tf.constant([1.0, 2.0, 3.0])
    parts = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x, [2, 1])
    turned = tf.TensorArray(tf.float32, size=2, infer_shape=False).write(0, parts.read(1)).write(1, parts.read(0))
    joined = turned.concat()
    found, slope = run([joined, tf.gradients(joined * [1.0, 10.0, 100.0], x)[0]])
    assert (found.tolist(), slope.tolist()) == ([3, 1, 2], [10, 100, 1])


def test_values_that_were_refused() -> None:
    half = tf.constant([1.0, 2.0, 3.1], tf.float16)
    mean, variance = tf.nn.weighted_moments(half, [0], tf.constant([1.0, 2.0, 3.0], tf.float16))
    normed = tf.nn.fused_batch_norm(tf.ones([1, 2, 2, 3], tf.float16), tf.ones([3]), tf.ones([3]))
    assert [t.dtype for t in normed] == [tf.float16, tf.float32, tf.float32]
    assert run([mean, variance]) == [np.float16(2.383), np.float16(0.6245)]
    assert run(tf.gather(tf.constant([[1, 2], [3, 4]]), tf.constant([[0], [1]]), batch_dims=-1)).tolist() == [[1], [4]]
    assert run(tf.reshape(tf.ones([0, 6]), [0, -1, 3])).shape == (0, 2, 3)
    assert run(abs(tf.constant(3 + 4j))) == 5
    assert run(tf.constant(-float("inf"), shape=[0])).shape == (0,)


def test_einsum_of_a_repeated_letter_takes_the_diagonal() -> None:
    x = np.arange(18.0).reshape(3, 2, 3)
    assert run(tf.einsum("ii", x[:, 0])) == np.einsum("ii", x[:, 0])
    assert run(tf.einsum("iji->j", x)).tolist() == np.einsum("iji->j", x).tolist()


@pytest.mark.parametrize(("weights", "words"), [
    ([2], r"weights can not be broadcast to values. values.rank=2. weights.rank=1. values.shape=\(3, 2\)"),
    ([4, 2], r"weights can not be broadcast to values. Mismatch at dim 0.")])
def test_weights_that_do_not_fit(weights: list[int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tf.losses.mean_squared_error(tf.ones([3, 2]), tf.ones([3, 2]), weights=tf.ones(weights))
    if len(weights) == 2:
        with pytest.raises(ValueError, match=words):
            tf.metrics.mean(tf.ones([3, 2]), weights=tf.ones(weights))


def test_weights_of_a_metric_with_a_last_axis_of_one() -> None:
    _, update = tf.metrics.accuracy(tf.constant([1, 0, 1]), tf.constant([1, 1, 1]),
                                    weights=tf.constant([[1.0], [0.0], [1.0]]))
    assert run(update) == 1.0


@pytest.mark.parametrize(("build", "words"), [
    (lambda: tf.diag(1.0), "Shape must be at least rank 1 but is rank 0"),
    (lambda: tf.ensure_shape(tf.ones([2]), [2, 1]), "Shape must be rank 2 but is rank 1"),
    (lambda: tf.roll(tf.ones([3, 2]), [1], [0, 1]), "Dimension 0 in both shapes must be equal, but are 1 and 2.")])
def test_what_is_refused_while_the_graph_is_built(build: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        build()


def test_an_assertion_of_one_thing_with_itself_is_no_check() -> None:
    assert tf.assert_equal(1, 1).type == "NoOp"


def test_eager_variables_are_numbers() -> None:
    with EagerContext().as_default():
        step = tf.train.get_or_create_global_step()
        v = tf.Variable([1.0, 2.0])
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * v)
            optimizer.apply_gradients(zip(tape.gradient(loss, [v]), [v]), global_step=step)
        assert int(step) == 2
        assert float(step) == 2.0
        np.testing.assert_allclose(v.numpy(), [0.46, 0.92], rtol=1e-6)
