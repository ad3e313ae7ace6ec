"""tf.keras.layers that are tf.layers; nn.conv_transpose, parallel_stack and labels without repeats."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.function_graph import functions_of


@pytest.fixture(autouse=True)
def _fresh() -> None:
    tf.reset_default_graph()


def test_layers_take_the_names_of_functions() -> None:
    layers = tf.keras.layers
    x = tf.constant(np.random.RandomState(1).randn(2, 6, 6, 3), tf.float32)
    y = layers.Conv2D(4, 3, activation="relu", kernel_initializer="he_normal", input_shape=(6, 6, 3))(x)
    y = layers.Dense(5, activation="linear")(layers.Flatten()(layers.MaxPool2D(2, 2, padding="same")(y)))
    y = layers.Activation("tanh")(layers.Lambda(lambda v: v * 2)(y))
    assert y.shape.as_list() == [2, 5]
    assert len(tf.trainable_variables()) == 4
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert np.abs(session.run(y)).max() <= 1
    with pytest.raises(ValueError, match="Unknown activation function:nothing"):
        layers.Dense(1, activation="nothing")
    with pytest.raises(AttributeError, match="keras.layers.NoSuch"):
        layers.NoSuch  # noqa: B018


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_a_transposed_convolution_is_that_of_its_rank(axes: int) -> None:
    x, filters = tf.ones([1, *[2] * axes, 1]), tf.ones([*[2] * axes, 1, 1])
    y = tf.nn.conv_transpose(x, filters, [1, *[4] * axes, 1], strides=2)
    with tf.Session() as session:
        assert session.run(tf.reduce_sum(y)) == 4 ** axes
    with pytest.raises(ValueError, match="must be of length 3, 4 or 5 but was 2"):
        tf.nn.conv_transpose(x, filters, [4, 4], strides=2)


def test_stacks_and_labels() -> None:
    stacked = tf.parallel_stack([[1, 2], [3, 4]])
    collapsed = tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 3, 0, 0]], [5, 3])
    unique = tf.nn.ctc_unique_labels([[3, 4, 4, 3], [1, 1, 1, 2]])
    with tf.Session() as session:
        found = session.run([stacked, *collapsed, *unique])
    assert [part.tolist() for part in found] == [
        [[1, 2], [3, 4]], [[1, 2, 1], [3, 0, 0]], [3, 1], [[3, 4, 0, 0], [1, 2, 0, 0]], [[0, 1, 1, 0], [0, 0, 0, 1]]]
    with pytest.raises(ValueError, match="fully known shapes"):
        tf.parallel_stack([tf.placeholder(tf.float32, [None])])


@pytest.mark.parametrize(("name", "low", "high"), [
    ("uniform", .04, .05), ("random_uniform", .04, .05), ("normal", .1, .3), ("RandomNormal", .1, .3),
    ("truncated_normal", .08, .1), ("zero", 0, 0), ("one", 1, 1), ("Zeros", 0, 0), ("identity", 1, 1)])
def test_initializers_by_name_are_as_small_as_keras_has_them(name: str, low: float, high: float) -> None:
    made = tf.Session().run(tf.keras.initializers.get(name)([50, 50]))
    assert low <= abs(made).max() <= high


def test_each_call_has_a_scope_of_its_own_and_variables_the_names_of_tensorflow() -> None:
    keras, x = tf.keras, tf.placeholder(tf.float32, [None, 4])
    keras.layers.Dense(4)(tf.layers.dense(keras.layers.Dense(4)(x), 4))
    twice = keras.Sequential([keras.layers.Dense(4, name="end", input_shape=(4,))], name="twice")
    for _ in range(2):
        with tf.variable_scope("v", reuse=tf.AUTO_REUSE), tf.name_scope("n"):
            tf.layers.dense(keras.layers.Dense(4)(twice(x)), 4)
    assert [v.op.name for v in tf.global_variables() if "kernel" in v.name] == [
        "dense_1/kernel", "dense/kernel", "dense_2/kernel", "end/kernel", "v/n/dense_3/kernel", "v/dense/kernel",
        "v_1/n/dense_5/kernel"]
    assert [op.name for op in tf.get_default_graph().get_operations() if op.type == "MatMul"] == [
        "dense_1/MatMul", "dense/MatMul", "dense_2/MatMul", "end/MatMul", "v/n/twice/end/MatMul",
        "v/n/dense_3/MatMul", "v/n/dense/MatMul", "v_1/n/twice/end/MatMul", "v_1/n/dense_5/MatMul",
        "v_1/n/dense/MatMul"]


def drawn(graph: Any) -> list[int]:
    """The second seeds of a graph's random ops, also of those in branches."""
    bodies = [body.graph for op in graph.operations.values() for body in functions_of(op)]
    return [op.attrs["seed2"] for op in graph.operations.values() if op.attrs.get("seed2")] + sum(
        map(drawn, bodies), [])


def test_random_ops_behind_layers_have_tensorflows_seeds() -> None:
    """Those that 1.15.5 gives them, which come of how many operations it has made: a mistake in one shifts the rest."""
    keras, row, image = tf.keras.layers, tf.placeholder(tf.float32, [None, 5, 4]), tf.placeholder(
        tf.float32, [None, 8, 8, 3])
    tf.set_random_seed(1)
    phase = tf.placeholder_with_default(False, [])
    h = keras.BatchNormalization()(keras.Conv2D(4, 3, activation="relu")(image))
    h = keras.Dropout(0.25)(keras.MaxPooling2D()(keras.Conv2D(3, 3)(h)))
    h = keras.Dense(6)(keras.Flatten()(h))
    h = keras.LSTM(4)(keras.Dense(3)(keras.Reshape((3, 2))(h)))
    h = keras.GRU(3)(keras.SimpleRNN(2, return_sequences=True)(row)) + tf.layers.dense(h, 3)
    h = tf.layers.dropout(tf.layers.batch_normalization(h, scale=False, training=phase), training=phase)
    h = tf.layers.conv2d_transpose(tf.layers.batch_normalization(image, center=False, training=True), 2, 3)
    tf.layers.separable_conv2d(h, 2, 3)
    tf.layers.dense(h, 1)

    assert sorted(drawn(tf.get_default_graph())) == [
        7, 97, 125, 151, 180, 224, 235, 504, 515, 632, 643, 906, 996, 1041, 1084, 1094, 1113]


def test_dropouts_in_two_branches_have_seeds_of_their_own() -> None:
    tf.set_random_seed(1)
    x, phase = tf.placeholder(tf.float32, [None, 4]), tf.placeholder_with_default(True, [])
    tf.cond(phase, lambda: tf.layers.dropout(x, training=phase), lambda: tf.layers.dropout(x, training=phase))

    assert len({*drawn(tf.get_default_graph())}) == 2
