"""switch and merge by hand: what is made of the side that is not taken does not run; against TensorFlow 1.15.5."""

from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.control import frames
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


def powers(count: Any, x: Any, frame: str) -> tuple[Any, Any]:
    """x squared `count` times, in a loop by hand; and the loop's variable."""
    starts = [frames._Enter(value, frame) for value in (tf.constant(0), x)]
    i, power = (merge([start, start]).output for start in starts)
    goes_on = frames.loop_cond(i < frames._Enter(count, frame, is_constant=True))
    (_, i_on), (left, power_on) = switch(i, goes_on), switch(power, goes_on)
    i.op._update_input(1, frames.next_iteration(i_on + 1))
    power.op._update_input(1, frames.next_iteration(power_on * power_on))
    return frames.exit(left), power


def test_a_loop_by_hand_runs_and_is_differentiated_twice() -> None:
    x = tf.placeholder(tf.float64, [])
    result, inside = powers(tf.constant(3), x, "frame")
    slope = tf.gradients(result, x)[0]
    with tf.Session() as session:
        found = session.run([result, slope, tf.gradients(slope, x)[0]], {x: 1.1})
        with pytest.raises(tf.errors.InvalidArgumentError, match="inside of the loop 'frame'"):
            session.run(inside, {x: 1.1})
    np.testing.assert_allclose(found, [1.1 ** 8, 8 * 1.1 ** 7, 56 * 1.1 ** 6], rtol=1e-9)


def test_a_loop_by_hand_in_another() -> None:
    x = tf.placeholder(tf.float64, [])
    starts = [frames._Enter(value, "outer") for value in (tf.constant(0), x)]
    i, value = (merge([start, start]).output for start in starts)
    goes_on = frames.loop_cond(i < 2)
    (_, i_on), (left, value_on) = switch(i, goes_on), switch(value, goes_on)
    i.op._update_input(1, frames.next_iteration(i_on + 1))
    value.op._update_input(1, frames.next_iteration(powers(tf.constant(1), value_on, "inner")[0] + 1.0))
    result = frames.exit(left)
    with tf.Session() as session:
        assert session.run([result, *tf.gradients(result, x)], {x: 2.0}) == [26.0, 40.0]


def test_a_loop_by_hand_that_is_not_complete_says_so() -> None:
    start = frames._Enter(tf.constant(2.0), "open")
    x, steps = merge([start, start]).output, merge([frames._Enter(tf.constant(0), "open")] * 2).output
    left, on = switch(x, frames.loop_cond(steps < 2))
    x.op._update_input(1, frames.next_iteration(on * 2.0))
    with tf.Session() as session, pytest.raises(ValueError, match="'NextIteration:0', which is made after it"):
        session.run(frames.exit(left))


def test_values_go_into_frames_and_out() -> None:
    data, variable = tf.placeholder(tf.float32, [2]), tf.Variable(7)
    entered = frames._Enter(data, "one", use_input_shape=False)
    mixed = frames._Enter(data, "one") + frames._Enter(data, "two")
    assigned = tf.assign(frames._Enter(variable, "one"), 9)
    sparse = frames.exit(frames._Identity(frames._Enter(tf.SparseTensor([[3]], [1.0], [10]), "one")))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(frames.exit(entered * 5), {data: [1, 2]}).tolist() == [5, 10] and entered.shape.ndims is None
        assert session.run(frames.exit(assigned)) == 9 and session.run(sparse).indices.tolist() == [[3]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="has inputs from different frames"):
            session.run(mixed, {data: [1, 2]})
    shapes = [tf.placeholder(tf.float32, dims) for dims in ([1, 2], [None, 2], [2, 2])]
    assert merge(shapes).output.shape.as_list() == [None, 2] and merge(shapes[:1]).output.shape.as_list() == [1, 2]
