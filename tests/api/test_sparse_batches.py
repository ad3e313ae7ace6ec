"""Sparse tensors in queues and batches: as texts, and whole again."""

import numpy as np
import pytest

import autodiff as tf
from autodiff.tensorflow_names.python import raw_ops as gen_sparse_ops


@pytest.fixture(autouse=True)
def _fresh() -> None:
    tf.reset_default_graph()


def test_texts_give_the_tensor_again_with_their_axes_first() -> None:
    small, large = tf.SparseTensor([[0, 1]], [5.0], [2, 3]), tf.SparseTensor([[1, 0], [3, 3]], [6.0, 7.0], [4, 4])
    both = tf.stack([tf.serialize_sparse(small), tf.serialize_sparse(large)])
    found = tf.deserialize_many_sparse(both, tf.float32, rank=2)
    rows = tf.deserialize_many_sparse(tf.serialize_many_sparse(large), tf.float32)
    assert found.indices.shape.as_list() == [None, 3]
    with tf.Session() as session:
        value, again = session.run([found, rows])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Requested SparseTensor of type int32"):
            session.run(tf.deserialize_many_sparse(both, tf.int32).values)
    assert value.indices.tolist() == [[0, 0, 1], [1, 1, 0], [1, 3, 3]]
    assert (value.values.tolist(), value.dense_shape.tolist()) == ([5.0, 6.0, 7.0], [2, 4, 4])
    assert (again.indices.tolist(), again.dense_shape.tolist()) == ([[1, 0], [3, 3]], [4, 4])


@pytest.mark.parametrize("many", [False, True])
def test_batches_hold_sparse_tensors(many: bool) -> None:
    number = tf.Variable(0, trainable=False)
    step = tf.cast(number.assign_add(1), tf.float32)
    one = tf.SparseTensor([[0, 1]], tf.stack([step]), [2, 3])
    number_of, sparse = tf.train.batch([tf.stack([step, step]) if many else step, one], 2, enqueue_many=many)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        dense, value = session.run([number_of, sparse])
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=5)
    assert dense.tolist() == ([1.0, 1.0] if many else [1.0, 2.0])
    assert value.indices.tolist() == ([[0, 1]] if many else [[0, 0, 1], [1, 0, 1]])
    assert value.dense_shape.tolist() == ([2, 3] if many else [2, 2, 3])
    np.testing.assert_array_equal(value.values, [1.0] if many else [1.0, 2.0])


@pytest.mark.parametrize(("tensor", "keep", "words"), [
    (lambda: tf.constant(1.0), [True, False], "`keep_input` cannot be a vector when"),
    (lambda: tf.constant(1.0), [[True]], "`keep_input` must be 0 or 1 dimensions"),
    (lambda: tf.placeholder(tf.float32), True, "Cannot infer Tensor's rank"),
])
def test_what_cannot_be_batched_says_so(tensor, keep, words) -> None:
    with pytest.raises(ValueError, match=words):
        tf.train.maybe_batch([tensor()], keep, 2)


def test_the_gradient_of_filled_rows_by_its_op() -> None:
    values, default = gen_sparse_ops.SparseFillEmptyRowsGrad(reverse_index_map=[2, 1], grad_values=[0, 1, 2, 3])
    with tf.Session() as session:
        assert [found.tolist() for found in session.run([values, default])] == [[2, 1], 3]
    with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 2"):
        gen_sparse_ops.sparse_fill_empty_rows_grad([0], [[1.0]])
