"""tf.sets against TensorFlow 1.15.5."""

import numpy as np
import pytest

import autodiff as tf

A = np.array([[[1, 2, 2], [3, 4, 5]], [[5, 5, 5], [0, 1, 9]]])
B = np.array([[[2, 7], [3, 3]], [[5, 6], [8, 9]]])


@pytest.mark.parametrize(("made", "groups", "values", "shape"), [
    (lambda: tf.sets.set_union(A, B), [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 3], [1, 2, 7, 3, 4, 5, 5, 6, 0, 1, 8, 9],
     [2, 2, 4]),
    (lambda: tf.sets.intersection(A, B), [0, 1, 2, 3], [2, 3, 5, 9], [2, 2, 1]),
    (lambda: tf.sets.difference(A, B), [0, 1, 1, 3, 3], [1, 4, 5, 0, 1], [2, 2, 2]),
    (lambda: tf.sets.set_difference(A, B, aminusb=False), [0, 2, 3], [7, 6, 8], [2, 2, 1]),
])
def test_members_are_sorted_at_each_place(made, groups: list[int], values: list[int], shape: list[int]) -> None:
    found = tf.Session().run(made())
    assert (found.indices[:, :2] @ [2, 1]).tolist() == groups
    assert found.values.tolist() == values
    assert found.dense_shape.tolist() == shape


def test_sparse_sets_words_and_sizes() -> None:
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 1]], [3, 3, 4], [2, 3])
    session = tf.Session()
    assert session.run(tf.sets.size(sparse)).tolist() == [1, 1]
    assert session.run(tf.sets.union(sparse, tf.constant([[1], [4]]))).values.tolist() == [1, 3, 4]
    assert session.run(tf.sets.intersection(tf.constant([["a", "b"]]), tf.constant([["b"]]))).values.tolist() == [b"b"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="group shapes"):
        session.run(tf.sets.union(sparse, tf.constant([[1]])))
