"""switch and merge by hand: what is made of the side that is not taken does not run; against TensorFlow 1.15.5."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.control.switching import merge, switch


@pytest.fixture(autouse=True)
def _fresh() -> None:
    tf.reset_default_graph()


@pytest.mark.parametrize(("side", "value", "slope"), [(False, 4.0, 1.0), (True, 9.0, 3.0)])
def test_the_side_that_is_taken_is_merged_and_differentiated(side: bool, value: float, slope: float) -> None:
    x, which = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
    seen: list[str] = []

    def noted(name: str, t: Any) -> Any:
        return tf.py_func(lambda v: seen.append(name) or v, [t], tf.float32)

    low, high = switch(x, which)
    low.set_shape([])
    either, index = merge([noted("low", low) + 1, high * 3])
    feeds = {x: 3.0, which: side}
    with tf.Session() as session:
        assert session.run([either, index], feeds) == [value, int(side)] and seen == ["low"] * (not side)
        assert session.run(tf.gradients(merge([low + 1, high * 3]).output, x), feeds) == [slope]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Retval\[0\] does not have value"):
            session.run(low if side else high, feeds)
        assert session.run(high if side else low, feeds) == 3.0


def test_one_of_many_functions_is_applied() -> None:
    images, chosen = tf.constant([1.0, 2.0]), tf.placeholder(tf.int32, [])
    result = merge([case * tf.tanh(switch(images, tf.equal(chosen, case))[1]) for case in range(4)])[0]
    with tf.Session() as session:
        for case in range(4):
            np.testing.assert_allclose(session.run(result, {chosen: case}), case * np.tanh([1.0, 2.0]), rtol=1e-6)
        with pytest.raises(tf.errors.InvalidArgumentError, match="not taken"):
            session.run(result, {chosen: 4})


def test_rows_and_sparse_tensors_go_through_a_switch() -> None:
    rows = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 3]))
    sparse = tf.SparseTensor([[0], [3]], [1.0, 2.0], [10])
    with tf.Session() as session:
        for values in (rows, sparse):
            found = session.run(merge(switch(values, tf.constant(True))).output)
            assert found.values.tolist() == [1.0, 2.0] and found.indices.ravel().tolist() == [0, 3]
        inner = switch(switch(tf.constant(5), True)[1], False)
        assert session.run(merge([merge(inner)[0], tf.constant(7)])) == (5, 0)
    with pytest.raises(ValueError, match="At least one of the merge inputs is None"):
        merge([None, None])
