"""vectorized_map, pfor, Jacobians; gradients made otherwise; values known while the graph is built."""

import contextlib
import functools
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.op import build
from autodiff.runtime.eager import eager_mode
from autodiff.tensorflow_names.python import gradient_checker_v2, parallel_for, tensor_util


@pytest.fixture(autouse=True)
def _fresh() -> None:
    tf.reset_default_graph()


X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)


def test_a_map_is_made_at_once() -> None:
    rows = tf.vectorized_map(lambda x: {"sum": tf.reduce_sum(x * x), "two": x * 2}, tf.constant(X))
    with tf.Session() as session:
        found = session.run(rows)
    np.testing.assert_allclose(found["sum"], (X * X).sum(1))
    np.testing.assert_allclose(found["two"], X * 2)
    with pytest.raises(ValueError, match="rank 1 or more"):
        tf.vectorized_map(lambda x: x, 1.0)


def test_passes_of_ops_without_a_rule_are_made_one_by_one() -> None:
    rows = tf.vectorized_map(lambda x: tf.py_func(lambda a: a + 1, [x], tf.float32), tf.constant(X))
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(rows), X + 1)


@pytest.mark.parametrize("use_pfor", [True, False])
def test_jacobians(use_pfor: bool) -> None:
    x = tf.constant(X)
    y = tf.square(x)
    whole = parallel_for.jacobian(y, [x, tf.constant(1.0)], use_pfor=use_pfor)
    rows = parallel_for.batch_jacobian(y, x, use_pfor=use_pfor)
    assert whole[1] is None
    with tf.Session() as session:
        found, by_row = session.run([whole[0], rows])
    np.testing.assert_allclose(found.reshape(6, 6), np.diag(2 * X.ravel()))
    np.testing.assert_allclose(by_row, np.stack([np.diag(2 * row) for row in X]))


def test_a_gradient_passes_through_and_is_computed_again() -> None:
    x = tf.constant(0.7)
    passed = tf.grad_pass_through(tf.floor)(x)
    again = tf.recompute_grad(lambda v: tf.sin(v) * v)(x)
    with tf.Session() as session:
        values = session.run([passed, tf.gradients(passed, x)[0], again, tf.gradients(again, x)[0]])
    np.testing.assert_allclose(values, [0, 1, np.sin(0.7) * 0.7, np.sin(0.7) + 0.7 * np.cos(0.7)], rtol=1e-6)
    with eager_mode(), tf.GradientTape() as tape:
        value = tf.constant(0.7)
        tape.watch(value)
        again = tf.recompute_grad(lambda v: tf.sin(v) * v)(value)
    with eager_mode():
        np.testing.assert_allclose(tape.gradient(again, value).numpy(), values[3], rtol=1e-6)


def test_jacobians_by_differences() -> None:
    found, expected = gradient_checker_v2.compute_gradient(lambda a, b: a * tf.gather(b, [0]), [X[:1], X], delta=0.1)
    assert found[1].shape == (6, 2)
    assert gradient_checker_v2.max_error(found, expected) < 1e-4
    assert gradient_checker_v2.max_error([X], [X + 1]) == 1
    with pytest.raises(ValueError, match="must be a list or tuple"):
        gradient_checker_v2.compute_gradient(tf.square, X)


def test_static_values_and_messages() -> None:
    free = tf.placeholder(tf.float32, [None, 3])
    known = tf.concat([[1.5], tf.fill([2], 2.5)], 0)
    assert tf.get_static_value(known).tolist() == [1.5, 2.5, 2.5]
    assert tf.get_static_value(free) is None
    assert tf.get_static_value(tf.stack([tf.constant(1.0), free[0, 0]]), partial=True).tolist() == [1.0, None]
    with tf.Session() as session, pytest.raises(ValueError, match="may not be fed"):
        session.run(known, {known: [1.0, 2.0, 3.0]})
    assert tensor_util.constant_value_as_shape(tf.constant([2, -1])).as_list() == [2, None]
    proto = tf.make_tensor_proto([[1, 2]], shape=[2, 2])
    assert tf.make_ndarray(proto).tolist() == [[1, 2], [2, 2]]
    with pytest.raises(ValueError, match="None values not supported"):
        tf.make_tensor_proto(None)
    with pytest.raises(ValueError, match="Too many elements"):
        tf.make_tensor_proto([1, 2, 3], shape=[2])


def test_derivatives_by_what_the_slices_are_made_of_are_each_slices_own() -> None:
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    losses = tf.reduce_sum(tf.squared_difference(v, tf.constant([[3.0, 4.0], [5.0, 6.0], [-1.0, 0.0]])), 1) / 2
    found = tf.vectorized_map(lambda loss: tf.gradients(loss, v)[0], losses)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(found).tolist() == [[-2, -2], [-4, -4], [2, 2]]


@pytest.mark.parametrize("kind", ["sum", "prod", "max"])
def test_segments_have_numbers_of_their_own_in_each_slice(kind: str) -> None:
    def reduce(ids, data=X):
        return getattr(tf, f"unsorted_segment_{kind}")(data, ids, 3)

    ids = np.int32([[0, 2, 2], [1, -1, 0]])
    both = tf.vectorized_map(lambda row: reduce(row[0], row[1]), (tf.constant(ids), tf.constant(np.stack([X, -X]))))
    with tf.Session() as session:
        found, expected = session.run([tf.vectorized_map(reduce, tf.constant(ids)), [reduce(row) for row in ids]])
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(session.run(both), session.run([reduce(ids[0]), reduce(ids[1], -X)]))


@pytest.mark.parametrize("eager", [False, True])
def test_a_pass_may_know_of_all_passes(eager: bool) -> None:
    def centered(i: tf.Tensor, pfor_config: object) -> tuple[tf.Tensor, ...]:
        row = tf.gather(X, i)
        total, mean = pfor_config.reduce_sum(row), pfor_config.reduce_mean(row)
        return row - mean, total, tf.reduce_max(pfor_config.reduce_concat(row), 0)

    with eager_mode() if eager else contextlib.nullcontext():
        rows, totals, most = parallel_for.pfor(functools.partial(centered), 3)
        found = [np.asarray(v) for v in (rows, totals, most)] if eager else tf.Session().run([rows, totals, most])
    np.testing.assert_allclose(found[0], X - X.mean(0))
    assert found[1].tolist() == [[9, 12]] * 3 and found[2].tolist() == [[5, 6]] * 3
    with pytest.raises(ValueError, match="parallel_iterations currently unsupported"):
        parallel_for.pfor(centered, 3, parallel_iterations=2)


@pytest.mark.parametrize("at_once", [True, False])
def test_sparse_results_get_one_more_axis(at_once: bool) -> None:
    def diagonal(i: tf.Tensor) -> tf.SparseTensor:
        i = tf.cast(i, tf.int64)[None] if at_once else tf.py_func(lambda a: a[None].astype("int64"), [i], tf.int64)
        return tf.SparseTensor(tf.reshape(i, [1, 1]), tf.reshape(i, [1]) + 7, tf.reshape(i, [1]) + 1)

    with tf.Session() as session:
        found = session.run(parallel_for.pfor(diagonal, 3))
    assert found.indices.tolist() == [[i, i] for i in range(3)]
    assert found.values.tolist() == [7, 8, 9] and found.dense_shape.tolist() == [3, 3]


def test_so_many_at_once_is_refused_in_tensorflows_words() -> None:
    for iterations, words in ((0, "None or a positive integer"), (1, "Use for_loop instead")):
        with pytest.raises(ValueError, match=words):
            parallel_for.pfor(lambda i: i, 3, parallel_iterations=iterations)
    with pytest.raises(TypeError, match="positive integer"):
        parallel_for.for_loop(lambda i: i, tf.int32, 3, parallel_iterations=0)


def test_jacobians_of_rows_and_of_what_is_not_connected() -> None:
    x = tf.constant(X)
    for use_pfor in (False, True):
        rows = parallel_for.jacobian(tf.nn.embedding_lookup(x, [2, 0]), x, use_pfor=use_pfor)
        assert parallel_for.jacobian(tf.constant([[2.0]]), x, use_pfor=use_pfor) is None
        found = tf.Session().run(rows)
        assert found.shape == (2, 2, 3, 2) and np.argwhere(found).tolist() == [[0, 0, 2, 0], [0, 1, 2, 1], [1, 0, 0, 0],
                                                                              [1, 1, 0, 1]]


def test_segments_counted_in_int64_are_vectorized() -> None:
    ids = tf.constant([[0, 1, 0], [1, 1, 0]], tf.int64)
    summed = tf.vectorized_map(lambda ids: tf.unsorted_segment_sum(tf.constant([1.0, 2.0, 4.0]), ids, 2), ids)
    assert tf.Session().run(summed).tolist() == [[5.0, 2.0], [4.0, 3.0]]


def test_passes_that_wait_for_effects_of_their_own_are_made_one_by_one() -> None:
    def pushed_and_taken(i: Any) -> Any:
        stack = build.StackV2(4, elem_type=tf.int32)
        with tf.control_dependencies([build.StackPushV2(stack, i)]):
            return build.StackPopV2(stack, elem_type=tf.int32)

    with tf.Session() as session:
        assert session.run(parallel_for.pfor(pushed_and_taken, 3)).tolist() == [0, 1, 2]
