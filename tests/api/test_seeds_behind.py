"""Seeds of random ops behind what TensorFlow makes of more operations: a mistake in one count shifts the rest."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff as tf


@pytest.fixture(autouse=True)
def a_graph_of_its_own() -> None:
    tf.reset_default_graph()


def behind(*constructs: Callable[[], Any]) -> list[int]:
    """The second seed of a random op behind each of these, in one graph."""
    seeds = []
    for construct in constructs:
        construct()
        op = tf.random_uniform([2]).op
        while op.type != "RandomUniform":
            op = op.inputs[0].op
        seeds.append(op.get_attr("seed2"))
    return seeds


def given(*shapes: Any) -> list[tf.Tensor]:
    return [tf.placeholder(tf.float32, shape) for shape in shapes]


def test_behind_gradients() -> None:
    def of(f: Callable[..., Any], *xs: tf.Tensor) -> Callable[[], Any]:
        return lambda: tf.gradients(f(*xs), list(xs))

    tf.set_random_seed(1)
    x, row, same, known, image, kernel, rows = given((None, 8), (8,), (None, 8), (4, 8), (None, 8, 8, 3),
                                                     (3, 3, 3, 4), (None, 7, 3))
    assert behind(
        of(lambda a, b: a + b, x, row), of(lambda a, b: a - b * a, x, same), of(lambda a, b: a * b / a, known, row),
        of(lambda a: tf.pow(a, 2.0) + tf.maximum(a, 0.0), x), of(tf.reduce_sum, x),
        of(lambda a: tf.reduce_mean(a, 1), x), of(lambda a: tf.reduce_mean(tf.reduce_sum(a, 1)), known),
        of(lambda a: tf.reduce_sum(a, 1), known), of(lambda a: tf.reduce_max(a, 1), x),
        of(lambda a, b: tf.concat([a, b], 1), x, same), of(lambda a: tf.tile(a, [1, 2]), x),
        of(lambda a: tf.gather(a, [0, 1]), x), of(lambda a: tf.log(tf.nn.softplus(a)), x),
        of(lambda a, k: tf.nn.conv2d(a, k, [1, 1, 1, 1], "SAME"), image, kernel),
        of(lambda a: tf.where(a > 0, a, a * a), x),
        of(lambda a: tf.nn.l2_normalize(tf.clip_by_value(a, 0.0, 1.0), 1), x),
        of(lambda a: tf.matmul(a, a, transpose_b=True), rows)) == [
            21, 51, 85, 144, 160, 199, 240, 256, 287, 306, 330, 356, 372, 386, 413, 503, 532]


def test_behind_losses_and_optimizers() -> None:
    tf.set_random_seed(1)
    x, labels, same, known, row = given((None, 8), (None, 8), (None, 8), (4, 8), (8,))
    classes = tf.placeholder(tf.int32, [None])
    losses = tf.losses
    assert behind(
        lambda: losses.mean_squared_error(labels, x), lambda: losses.softmax_cross_entropy(labels, x),
        lambda: losses.sparse_softmax_cross_entropy(classes, x),
        lambda: losses.sigmoid_cross_entropy(labels, x, weights=row[0]),
        lambda: losses.mean_squared_error(labels, x, weights=same),
        lambda: losses.mean_squared_error(known, known, weights=known),
        lambda: losses.hinge_loss(labels, x, reduction="weighted_sum"),
        lambda: tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x),
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.zeros([4, 7], tf.int32),
                                                               logits=tf.zeros([4, 7, 3])),
        lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=x),
        lambda: tf.train.AdamOptimizer().minimize(losses.mean_squared_error(labels, tf.layers.dense(x, 8)))) == [
            41, 111, 150, 200, 353, 381, 407, 446, 473, 490, 642]


def test_behind_branches_loops_and_variables() -> None:
    tf.set_random_seed(1)
    x, row, known = given((None, 8), (8,), (4, 8))
    yes, v = tf.placeholder_with_default(True, []), tf.Variable(1.0)
    assert behind(
        lambda: tf.cond(yes, lambda: x * 2.0, lambda: x),
        lambda: tf.cond(yes, lambda: tf.group(tf.assign(v, 2.0)), lambda: tf.no_op()),
        lambda: tf.case([(yes, lambda: x), (yes, lambda: x * 2.0)], default=lambda: x * 3.0),
        lambda: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.cond(i > 1, lambda: a, lambda: a * x)),
                              [0, x]),
        lambda: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], maximum_iterations=5),
        lambda: tf.map_fn(lambda a: a * a, known), lambda: tf.scan(lambda c, a: c + a, x, initializer=row),
        lambda: tf.foldl(lambda c, a: c + a, known), v.initialized_value,
        lambda: tf.train.ExponentialMovingAverage(0.9).apply([v]), lambda: tf.train.Saver([v])) == [
            21, 40, 66, 103, 135, 197, 266, 321, 337, 375, 394]


def test_behind_recurrent_networks_and_in_them() -> None:
    """A cell's kernel is drawn by the count in the middle of the loop."""
    tf.set_random_seed(1)
    (series,), classes, cell = given((None, 7, 3)), tf.placeholder(tf.int32, [None]), tf.nn.rnn_cell

    def dropped() -> Any:
        return cell.DropoutWrapper(cell.BasicRNNCell(5), output_keep_prob=0.5)

    assert behind(
        lambda: tf.nn.dynamic_rnn(cell.BasicLSTMCell(5), series, dtype=tf.float32, scope="a"),
        lambda: tf.nn.dynamic_rnn(cell.GRUCell(5), series, classes, dtype=tf.float32, scope="b"),
        lambda: tf.nn.dynamic_rnn(cell.MultiRNNCell([dropped(), dropped()]), tf.zeros([4, 7, 3]), dtype=tf.float32,
                                  scope="c"),
        lambda: tf.nn.bidirectional_dynamic_rnn(cell.LSTMCell(5), cell.LSTMCell(5), series, dtype=tf.float32),
        lambda: tf.nn.static_rnn(cell.BasicLSTMCell(5), tf.unstack(series, axis=1), dtype=tf.float32),
        lambda: tf.nn.dynamic_rnn(cell.GRUCell(5), series, dtype=tf.float32, time_major=True, scope="d")) == [
            164, 352, 551, 880, 1053, 1191]
    assert [op.get_attr("seed2") for op in tf.get_default_graph().get_operations()
            if "kernel/Init" in op.name and op.type == "RandomUniform"] == [
                102, 272, 286, 448, 485, 655, 816, 913, 1122, 1136]


def test_behind_keras_functions_layers_and_compile() -> None:
    """The seeds of TensorFlow 1.15.5; what compile makes there is made here when there are targets, and counts once."""
    keras, K = tf.keras, tf.keras.backend  # noqa: N806
    K.learning_phase()
    tf.set_random_seed(1)
    (x, steps, image), layers = given((None, 7), (None, 6, 7), (None, 8, 8, 3)), keras.layers
    v, kept = K.variable(np.ones((7, 5))), {}

    def compiled(units: int, activation: Any, *told: Any) -> Callable[[], Any]:
        return lambda: kept.setdefault(activation, keras.Sequential([
            layers.Dense(units, activation, input_shape=(7,))])).compile("sgd", *told)

    assert behind(
        lambda: K.dot(steps, v), lambda: K.dot(K.reshape(steps, (2, 6, 7)), v), lambda: K.dot(steps, K.transpose(x)),
        lambda: K.batch_dot(x, x, axes=1), lambda: K.batch_dot(x, steps, axes=[1, 2]), lambda: K.batch_flatten(image),
        lambda: K.sqrt(x), lambda: K.repeat_elements(steps, 2, 1), lambda: layers.UpSampling2D()(image),
        lambda: layers.TimeDistributed(layers.Dense(4))(steps), lambda: layers.Masking()(steps),
        lambda: layers.Dense(4, kernel_regularizer="l2")(x), lambda: [layers.ELU()(x), layers.ReLU(6)(x)],
        compiled(1, "sigmoid", "binary_crossentropy", ["accuracy", "mae"]), compiled(3, "softmax", "mse", ["acc"]),
        compiled(1, None, keras.losses.BinaryCrossentropy(from_logits=True))) == [
            30, 54, 77, 89, 103, 120, 132, 144, 159, 190, 204, 231, 240, 358, 439, 501]


def test_both_directions_of_a_layer_make_their_variables_before_either_is_called() -> None:
    """The seeds of TensorFlow 1.15.5: kernels forward and backward, and that of the layer behind them."""
    layers = tf.keras.layers
    tf.set_random_seed(3)
    tf.keras.Sequential([layers.Bidirectional(layers.LSTM(4, return_sequences=True), input_shape=(5, 3)),
                         layers.Dense(2)])
    drawn = [op for op in tf.get_default_graph().get_operations() if op.type.startswith("Random")]
    assert [op.get_attr("seed2") for op in drawn] == [4, 15, 44, 55, 570]
