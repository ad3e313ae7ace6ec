"""Bodies of loops and branches become functions with buffers, and gradients take what their loop kept: same bits."""
import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger

pytestmark = pytest.mark.usefixtures("own_graph")


def data(*shape):
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def lstm(lengths=None):
    cell = tf.nn.rnn_cell.BasicLSTMCell(5, name="cell")
    x = tf.placeholder(tf.float32, [None, 7, 3])
    out, _ = tf.nn.dynamic_rnn(cell, x, sequence_length=lengths, dtype=tf.float32)
    return {x: data(4, 7, 3)}, tf.reduce_sum(tf.sin(out)), [x, *tf.trainable_variables()]


def nested():
    x = tf.placeholder(tf.float32, [4, 3])
    w = tf.constant(data(3, 3))

    def inner(i, h):
        return i + 1, tf.tanh(tf.matmul(h, w)) * tf.cast(i, tf.float32)

    def outer(j, h):
        return j + 1, tf.cond(j > 1, lambda: tf.while_loop(lambda i, _: i < 3, inner, [1, h])[1], lambda: h * x)

    return {x: data(4, 3)}, tf.reduce_sum(tf.while_loop(lambda j, _: j < 4, outer, [0, x])[1] ** 2), [x, w]


def transposed_state():
    x = tf.placeholder(tf.float32, [3, 3])
    h = tf.while_loop(lambda i, _: i < 9, lambda i, h: (i + 1, tf.transpose(tf.sin(h) + x)), [0, x])[1]
    return {x: data(3, 3)}, tf.reduce_sum(h * [[1.0], [2.0], [3.0]]), [x]


def pieces_of_many_sizes():
    x = tf.placeholder(tf.float32, [12])
    read = tf.TensorArray(tf.float32, 4, infer_shape=False).split(x, [1, 5, 2, 4])

    def body(i, total):
        return i + 1, total + tf.reduce_sum(tf.exp(read.read(i)) * tf.cast(i, tf.float32))

    return {x: data(12)}, tf.while_loop(lambda i, _: i < 4, body, [0, 0.0])[1], [x]


def growing_state():
    x = tf.placeholder(tf.float32, [2])
    h = tf.while_loop(lambda i, _: i < 6, lambda i, h: (i + 1, tf.concat([h, tf.sin(h[-2:]) * x], 0)), [0, x],
                      shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])[1]
    return {x: data(2)}, tf.reduce_sum(h * h), [x]


def random_numbers():
    x = tf.placeholder(tf.float32, [6])
    h = tf.while_loop(lambda i, _: i < 5, lambda i, h: (i + 1, tf.nn.dropout(tf.sin(h), 0.5, seed=1)), [0, x])[1]
    return {x: data(6)}, tf.reduce_sum(h), [x]


@pytest.mark.parametrize("model", [lstm, lambda: lstm([7, 2, 0, 5]), nested, transposed_state, pieces_of_many_sizes,
                                   growing_state, random_numbers],
                         ids="lstm lengths nested transposed pieces growing random".split())
def test_later_runs_have_the_bits_of_the_first(model):
    feeds, y, xs = model()
    first = tf.gradients(y, xs)
    second = tf.gradients([tf.reduce_sum(tf.square(g)) for g in first], xs)
    fetches = [y, *first, *[g for g in second if g is not None]]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def run():
            session.draws.clear()
            return [value.tobytes() for value in session.run(fetches, feeds)]

        expected = run()
        assert all(run() == expected for _ in range(70))  # interpreted, and compiled from some run on


def test_what_a_loop_kept_is_not_computed_again():
    feeds, y, xs = lstm()
    gradient = tf.gradients(y, xs)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    for _ in range(70):
        session.run(gradient, feeds)
    loop, backward = [op for op in tf.get_default_graph().get_operations() if op.type == "While"]
    kept = tuple(loop.attrs["body"].recalled)
    assert {t.op.type for t in kept} >= {"Sigmoid", "Tanh", "ConcatV2"}
    source = next(iter(backward.attrs["body"].cache[session.makes, ()]._recalling._variants.values()))
    types = [step.op.type for step, _ in source._steps if step.call is None]
    assert types.count("MatMul") == 2 and "BiasAdd" not in types and "Sigmoid" not in types


def test_what_a_call_gives_is_not_written_to_by_the_next():
    x = tf.placeholder(tf.float32, [2, 300])
    kept = tf.while_loop(lambda i, h, *_: i < 4, lambda i, h, a, b: (i + 1, tf.sin(h), h, tf.reshape(tf.cos(h), [-1])),
                         [0, x, x, tf.reshape(x, [-1])])
    with tf.Session() as session:
        value = data(2, 300)
        for _ in range(70):
            _, last, before, cosines = session.run(kept, {x: value})
            assert (last == np.sin(before)).all() and (before == np.sin(np.sin(np.sin(value)))).all()
            assert (cosines == np.cos(before).reshape(-1)).all()


def test_elements_are_read_and_refused_as_by_the_kernel():
    x, size, last = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])

    def body(i, total, array):
        part, rest = tf.split(array.read(tf.minimum(i, last)), [-1, 2])
        return i + 1, total + tf.reduce_sum(part) * rest[1] + rest[0], array

    array = tf.TensorArray(tf.float32, size, clear_after_read=False, element_shape=[3]).write(0, x).write(1, x * 2)
    total = tf.while_loop(lambda i, *_: i < 4, body, [0, 0.0, array])[1]
    fetches = [total, tf.gradients(total, x)[0]]
    fed = np.array([1, 2, 3], np.float32)
    with tf.Session() as session:
        runs = [session.run(fetches, {x: fed, size: 3, last: 1}) for _ in range(40)]
        assert all(run[0] == 5 + 3 * 16 and run[1].tolist() == [3 + 3 * 12, 1 + 3 * 2, 1 + 3 * 4] for run in runs)
        assert session.run(total, {x: fed, size: 3, last: 2}) == 5 + 16  # zeros, where none is written
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of range") as refused:
            session.run(fetches, {x: fed, size: 3, last: 3})
        assert refused.value.__context__ is None
        assert session.run(fetches, {x: fed, size: 3, last: 1})[0] == runs[0][0]


def test_a_check_in_float64_compiles_no_body_for_runs(monkeypatch):
    """A branch that it had compiled gave runs float64 numbers."""
    x = tf.constant(np.linspace(0, 1, 459, dtype=np.float32).reshape(9, 51))
    y = tf.cond(tf.reduce_sum(x) > 1e6, lambda: x, lambda: tf.sin(x))
    loss = tf.reduce_sum(y * y)
    slope = tf.gradients(loss, x)[0]
    dbg, session = Debugger(tf.get_default_graph()), tf.Session()
    dbg.run(1, fetches=[loss])
    before = session.run(slope)
    monkeypatch.setattr("autodiff.runtime.program.HOT", 1)
    for _ in range(3):
        dbg.check(loss.name, x.name)
    np.testing.assert_array_equal(session.run(slope), before)


def test_a_body_that_fails_when_it_is_hot_names_its_op():
    x = tf.placeholder(tf.float32, [3])
    index = tf.placeholder(tf.int32, [])
    y = tf.while_loop(lambda i, _: i < 3, lambda i, h: (i + 1, h + tf.gather(x, i + index, name="take")), [0, 0.0])[1]
    with tf.Session() as session:
        for _ in range(20):
            assert session.run(y, {x: [1, 2, 4], index: 0}) == 7
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError) as failure:
                session.run(y, {x: [1, 2, 4], index: 1})
            assert failure.value.op.name.endswith("take")
        assert session.run(y, {x: [1, 2, 4], index: 0}) == 7
