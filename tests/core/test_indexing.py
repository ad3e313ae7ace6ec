"""`tensor[...]`: what NumPy gives, with known, unknown and run-time bounds."""

import numpy as np
import pytest

import autodiff as tf

VALUE = np.arange(60.0).reshape(3, 4, 5)
KEYS = [0, -1, (1, 2), (1, 2, 3), Ellipsis, (Ellipsis, 0), (0, Ellipsis, 1), slice(1, None), slice(None, -1),
        (slice(None), slice(None, None, 2), slice(1, None, 2)), slice(None, None, -1), (slice(None), slice(9, None)),
        (slice(None), slice(2, 1)), None, (slice(None), None, 0), (Ellipsis, None), (slice(None, None, -2), 0, None),
        (np.int64(1), slice(None))]


pytestmark = pytest.mark.usefixtures("own_graph")


def run(tensor, feed=None):
    with tf.Session() as session:
        return session.run(tensor, feed)


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("known", [(3, 4, 5), (None, 4, None), None], ids=["known", "partial", "unknown"])
def test_indexing_is_numpys(key, known):
    x = tf.placeholder(tf.float64, known)
    y = x[key]
    value = run(y, {x: VALUE})
    np.testing.assert_array_equal(value, VALUE[key])
    assert y.shape.is_compatible_with(value.shape)
    if known == (3, 4, 5):
        assert y.shape.as_list() == list(value.shape)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_the_gradient_puts_ones_where_the_slice_was(key):
    x = tf.constant(VALUE)
    expected = np.zeros_like(VALUE)
    expected[key] = 1
    np.testing.assert_array_equal(run(tf.gradients(x[key], x)[0]), expected)


def test_bounds_may_be_tensors():
    x, i = tf.constant(VALUE), tf.placeholder(tf.int32, [])
    for n in (0, 1, 2):
        np.testing.assert_array_equal(run(x[i], {i: n}), VALUE[n])
        np.testing.assert_array_equal(run(x[:, i:i + 2], {i: n}), VALUE[:, n:n + 2])
    assert x[:, i:].shape.as_list() == [3, None, 5]
    assert x[0:2, i].shape.as_list() == [2, 5]


def test_integers_get_an_axis_in_run_after_run():
    x = tf.placeholder(tf.int32, [None])
    same = tf.reduce_sum(tf.cast(tf.equal(x[:, None], x[None, :]), tf.float32))
    with tf.Session() as session:
        assert [session.run(same, {x: [1, 2, 1]}) for _ in range(40)] == [5.0] * 40


def test_a_boolean_alone_is_a_mask():
    x = tf.constant(VALUE)
    np.testing.assert_array_equal(run(x[x > 7]), VALUE[VALUE > 7])
    np.testing.assert_array_equal(run(x[np.array([True, False, True])]), VALUE[[0, 2]])
    with pytest.raises(ValueError, match="mask"):
        x[True]


def test_wrong_items_are_type_errors():
    x = tf.constant(VALUE)
    for key in (1.5, "a", (0, 1.5), tf.constant(1.5)):
        with pytest.raises(TypeError, match="valid indices"):
            x[key]


def test_wrong_bounds_are_found_on_the_users_line():
    x = tf.constant(VALUE)
    for key in (3, -4, (0, 0, 0, 0), (Ellipsis, Ellipsis), slice(None, None, 0)):
        with pytest.raises(ValueError, match="written at test_indexing.py"):
            x[key]


def test_a_wrong_index_at_run_time_is_an_invalid_argument():
    x, i = tf.constant(VALUE), tf.placeholder(tf.int32, [])
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(x[i], {i: 3})


def test_names_are_tensorflows():
    x, i = tf.constant(VALUE), tf.constant(1)
    before = len(tf.get_default_graph().get_operations())
    x[0], x[i:]
    names = [op.name for op in tf.get_default_graph().get_operations()[before:]]
    assert names == ["strided_slice/stack", "strided_slice/stack_1", "strided_slice/stack_2", "strided_slice",
                     "strided_slice_1/stack", "strided_slice_1/stack_1", "strided_slice_1/stack_2", "strided_slice_1"]


def test_a_slice_of_a_packed_matrix_is_not_taken_for_a_shape():
    x, n = tf.constant(VALUE), tf.placeholder(tf.int32, [])
    y = tf.pad(x, [[0, 0], [n, 2], [0, 1]])
    assert y.shape.as_list() == [3, None, 6]
    assert tf.pad(x, tf.stack([[0, n, 0], [0, 2, 1]], axis=1)).shape.as_list() == [None] * 3  # columns of it, not rows
    np.testing.assert_array_equal(run(tf.gradients(y, x)[0], {n: 1}), np.ones((3, 4, 5)))


def test_partial_shapes_flow_through_shape_arithmetic():
    x = tf.placeholder(tf.float32, [None, 4, 5])
    rows = tf.shape(x)[0]
    assert tf.reshape(x, tf.stack([rows, 20])).shape.as_list() == [None, 20]
    assert tf.reshape(x, [rows, 2, 10]).shape.as_list() == [None, 2, 10]
    assert tf.reshape(x, tf.concat([tf.shape(x)[:1], [20]], 0)).shape.as_list() == [None, 20]
    assert tf.reshape(x, [-1, 20]).shape.as_list() == [None, 20]
    assert tf.zeros(tf.shape(x)[1:]).shape.as_list() == [4, 5]
    assert tf.zeros([rows, 7]).shape.as_list() == [None, 7]
    assert tf.tile(x, [rows, 2, 1]).shape.as_list() == [None, 8, 5]
    assert tf.range(tf.shape(x)[1]).shape.as_list() == [4]
    assert tf.reshape(tf.zeros([6, 4]), [tf.size(tf.zeros([3])), -1]).shape.as_list() == [3, 8]
