"""The gradient of a gather: when it stays rows, when it becomes dense, and what it adds up to."""

import numpy as np
import pytest

import autodiff as tf

MATRIX = np.arange(12.0).reshape(4, 3)


pytestmark = pytest.mark.usefixtures("own_graph")


def run(tensor, feed=None):
    with tf.Session() as session:
        return session.run(tensor, feed)


def kind_of_gradient(y, x):
    return type(tf.gradients(y, x)[0])


def test_gather_along_axis_0_gives_the_rows_looked_up():
    x = tf.constant(MATRIX)
    gradient = tf.gradients(tf.gather(x, [2, 0, 2]), x)[0]
    assert isinstance(gradient, tf.IndexedSlices)
    value = run(gradient)
    assert isinstance(value, tf.IndexedSlicesValue)
    np.testing.assert_array_equal(value.indices, [2, 0, 2])
    np.testing.assert_array_equal(value.values, np.ones((3, 3)))
    np.testing.assert_array_equal(value.dense_shape, [4, 3])


def test_duplicates_are_summed_when_it_becomes_a_tensor():
    x = tf.constant(MATRIX)
    gradient = tf.gradients(tf.gather(x, [2, 0, 2]), x)[0]
    dense = tf.convert_to_tensor(gradient)
    assert dense.shape.as_list() == [4, 3]
    np.testing.assert_array_equal(run(dense), [[1, 1, 1], [0, 0, 0], [2, 2, 2], [0, 0, 0]])


def test_an_op_takes_it_as_a_tensor():
    x = tf.constant(MATRIX)
    gradient = tf.gradients(tf.gather(x, [1, 1]), x)[0]
    np.testing.assert_array_equal(run(tf.add(gradient, 1.0)), np.array([1, 3, 1, 1])[:, None] * np.ones(3))


def test_two_gathers_are_concatenated_and_a_dense_term_makes_it_dense():
    x = tf.constant(MATRIX)
    rows = tf.reduce_sum(tf.gather(x, [0, 0])) + tf.reduce_sum(tf.gather(x, [2]))
    gradient = tf.gradients(rows, x)[0]
    np.testing.assert_array_equal(sorted(run(gradient).indices), [0, 0, 2])
    mixed = tf.gradients(rows + tf.reduce_sum(x * x), x)[0]
    assert isinstance(mixed, tf.Tensor)
    np.testing.assert_array_equal(run(mixed), 2 * MATRIX + np.array([2, 0, 1, 0])[:, None])


def test_other_axes_and_intermediates_end_dense():
    x = tf.constant(MATRIX)
    assert kind_of_gradient(tf.gather(x, [1, 0], axis=1), x) is tf.Tensor
    assert kind_of_gradient(tf.gather(x * 2.0, [1, 1]), x) is tf.Tensor
    assert kind_of_gradient(tf.gather(tf.identity(x), [1, 1]), x) is tf.IndexedSlices


def test_without_dense_shape_it_has_no_tensor():
    slices = tf.IndexedSlices(tf.constant(MATRIX), tf.constant([0, 1, 2, 3]))
    assert slices.shape.as_list() == [None, 3]
    with pytest.raises(ValueError, match="dense_shape"):
        tf.convert_to_tensor(slices)


def test_it_has_no_arithmetic_but_negation():
    slices = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([2, 2]))
    with pytest.raises(TypeError):
        slices + slices
    np.testing.assert_array_equal(run(tf.convert_to_tensor(-slices)), [[0, 0], [-1, -2]])


def test_the_second_derivative_goes_through_the_rows():
    x = tf.constant(MATRIX)
    first = tf.gradients(tf.gather(x, [1, 1]) ** 3, x)[0]
    second = tf.gradients(tf.convert_to_tensor(first), x)[0]
    expected = np.zeros((4, 3))
    expected[1] = 2 * 6 * MATRIX[1]
    np.testing.assert_allclose(run(tf.convert_to_tensor(second)), expected)


def test_scalar_and_matrix_indices_give_flat_rows():
    x = tf.constant(MATRIX)
    one = run(tf.gradients(tf.gather(x, 3), x)[0])
    assert one.values.shape == (1, 3) and one.indices.tolist() == [3]
    many = run(tf.gradients(tf.gather(x, [[3, 0], [0, 1]]), x)[0])
    assert many.values.shape == (4, 3) and many.indices.tolist() == [3, 0, 0, 1]
