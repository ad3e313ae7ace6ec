"""Runs that are made again and again take short ways; they give what the first run gave."""
from __future__ import annotations

import contextvars
import resource
import threading
import warnings

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.op import build
from autodiff.runtime.compiled.memory import keep_freed_memory
from autodiff.runtime.session import Session

HOT = 40


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_fed_arrays_stay_the_callers(session):
    x = tf.placeholder(tf.float32, [3])
    fed = np.ones(3, np.float32)
    for i in range(HOT):
        same, double = session.run([x, x * 2], {x: fed})
        same += 1
        double += 1
        assert fed.tolist() == [1, 1, 1] and same.flags.writeable, i


def test_values_of_one_run_are_not_written_to_by_the_next(session):
    x = tf.placeholder(tf.float32, [3])
    both = [x + 1, tf.identity(x + 1), tf.zeros([3])]
    kept = [session.run(both, {x: np.full(3, i, np.float32)}) for i in range(HOT)]
    for i, values in enumerate(kept):
        assert [value.tolist() for value in values] == [[i + 1] * 3, [i + 1] * 3, [0] * 3]
        values[0][:] = values[1][:] = -1
        assert values[2].tolist() == [0] * 3


def test_a_changed_list_of_fetches_asks_for_what_it_holds(session):
    x, y = tf.constant(1.0), tf.constant(2.0)
    fetches, inner = [x, y], [x]
    assert session.run(fetches) == [1, 2] and session.run([inner, y]) == [[1], 2]
    fetches[0] = y
    inner.append(y)
    assert session.run(fetches) == [2, 2] and session.run([inner, y]) == [[1, 2], 2]
    assert session.run([x, x]) == [1, 1] and session.run([x, x.op]) == [1, None]


@pytest.mark.parametrize("value, problem", [
    (np.ones(2, np.float32), "shape"), ("a", "expected numbers"), (None, "None"), ([[1.0]], "shape")])
def test_the_same_keys_with_a_bad_value_are_refused_as_ever(session, value, problem):
    x = tf.placeholder(tf.float32, [3])
    call = session.make_callable(x + 1, [x])
    for _ in range(HOT):
        session.run(x + 1, {x: [1, 2, 3]})
        call([1, 2, 3])
    for run in (lambda: session.run(x + 1, {x: value}), lambda: call(value)):
        with pytest.raises((TypeError, ValueError), match=problem):
            run()
    assert call(np.arange(3)).tolist() == call(np.arange(6.0)[::2] / 2).tolist() == [1, 2, 3]


def test_a_key_and_the_pair_that_holds_it_are_told_apart(session):
    x = tf.placeholder(tf.float32, [])
    for _ in range(3):
        assert session.run(x, {x: 2.0}) == 2 and session.run(x, {(x,): (3.0,)}) == 3
        assert session.run(x, {x.name: 4.0}) == 4


def test_a_shape_set_later_is_asked_for(session):
    x = tf.placeholder(tf.float32, [None])
    y = x + 1
    for _ in range(HOT):
        session.run(y, {x: np.ones(2, np.float32)})
    x.set_shape([3])
    with pytest.raises(ValueError, match="shape"):
        session.run(y, {x: np.ones(2, np.float32)})


def test_numpy_never_warns_and_its_settings_stay(session):
    x = tf.placeholder(tf.float32, [2])
    y = tf.log(x) / tf.zeros([2])
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for _ in range(HOT):
            assert np.isnan(session.run(y, {x: [1.0, -1.0]})).all()
            assert set(np.geterr().values()) == {"raise"}


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "bool"])
def test_single_numbers_wrap_and_compare_as_arrays_do(session, dtype):
    a, b = tf.placeholder(dtype, []), tf.placeholder(dtype, [])
    alone = [a < b, a <= b, a > b, a >= b, tf.equal(a, b), tf.not_equal(a, b), a + b, a - b, a * b] \
        if dtype != "bool" else [tf.logical_and(a, b), tf.logical_or(a, b), tf.logical_not(a), tf.logical_xor(a, b)]
    kind = np.dtype(dtype).type
    most = {"bool": True, "float32": np.nan}.get(dtype) or np.iinfo(dtype).max
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for pair in [(kind(1), kind(most)), (kind(most), kind(most)), (kind(0), kind(1))]:
            runs = [session.run(alone, dict(zip((a, b), pair))) for _ in range(HOT)]
            assert {tuple((type(x), x.tobytes()) for x in run) for run in runs} == {
                tuple((type(x), x.tobytes()) for x in runs[0])}


def test_python_functions_see_the_callers_context(session):
    said = contextvars.ContextVar("said", default=0)
    x = tf.placeholder(tf.float32, [])
    y = tf.py_func(lambda x: np.float32(x + said.get()), [x * 2], tf.float32)
    for i in range(HOT):
        said.set(i)
        assert session.run(y, {x: 1.0}) == 2 + i


def test_threads_share_a_hot_session(session):
    x = tf.placeholder(tf.float64, [50])
    y = tf.sin(x) * x + tf.exp(-x)
    expected = [session.run(y, {x: np.full(50, float(i))}) for i in range(HOT)]
    wrong = []

    def work(first):
        call = session.make_callable(y, [x])
        for i in range(first, HOT):
            if not np.array_equal(call(np.full(50, float(i))), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []


def test_a_callable_is_seen_by_what_replaces_run_and_refuses_when_closed(session, monkeypatch):
    x = tf.placeholder(tf.float32, [])
    call = session.make_callable([x], [x])
    assert call(1.0) == [1]
    monkeypatch.setattr(Session, "run", lambda self, fetches, feed_dict: (fetches, feed_dict))
    assert call(2.0) == ([x], {x: 2.0})
    monkeypatch.undo()
    session.close()
    with pytest.raises(RuntimeError, match="closed"):
        call(1.0)


def test_a_float_fed_again_is_the_one_that_was_meant(session):
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float64, [])
    values = [0.0, -0.0, 1.0, float("nan"), 0.5]
    for i in range(HOT):
        first, second = values[i % 5], values[i // 5 % 5]
        found = session.run([x, y, x * 1], {x: first, y: second})
        assert [value.tobytes() for value in found] == [
            np.float32(first).tobytes(), np.float64(second).tobytes(), np.float32(first).tobytes()]


def test_a_fed_float_that_becomes_a_variable_is_kept(session):
    x, v = tf.placeholder(tf.float32, []), tf.Variable(0.0)
    assign, half = tf.assign(v, x), 0.5
    for i in range(HOT):
        assert session.run(assign, {x: half}) == 0.5
        session.run(tf.assign_add(v, 1.0) if i == 0 else v.assign_add(1.0))
        assert session.run([x, v], {x: half}) == [0.5, 1.5]


def test_memory_that_a_run_lets_go_of_serves_the_next(session):
    if not keep_freed_memory():
        return  # another C library, or told otherwise by the environment
    x = tf.placeholder(tf.float32, [1 << 12, 1 << 8])
    loss, backprop = build.SparseSoftmaxCrossEntropyWithLogits(x, np.zeros(1 << 12, np.int32))  # 4 MB, without a buffer
    fetches, feeds = [loss, tf.reduce_sum(backprop)], {x: np.ones(x.shape, np.float32)}
    for _ in range(HOT):
        session.run(fetches, feeds)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(HOT):
        session.run(fetches, feeds)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 1024  # pages: those of one array


def test_what_a_loss_is_made_of_has_a_buffer(session):
    x, w = tf.placeholder(tf.float32, [256, 64]), tf.placeholder(tf.float32, [64, 1000])
    logits = tf.nn.relu(tf.matmul(x, w)) + np.ones(1000, np.float32)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=np.zeros(256, np.int32), logits=logits))
    row = tf.reshape(logits[:1, :1], [])  # a view of the logits, which the caller keeps
    feeds = {x: np.ones(x.shape, np.float32), w: np.ones(w.shape, np.float32)}
    for fetches, expected in ([loss], True), ([loss, row], False):
        for _ in range(HOT + 1):
            values = session.run(fetches, feeds)
        plan = session._program(session._wanted(fetches), (x, w)).specialized
        assert (plan.slots[logits] in plan.buffers) is expected
        kept = [value.copy() for value in values]
        session.run(fetches, {x: feeds[x] * 2, w: feeds[w]})
        assert [value.tobytes() for value in values] == [value.tobytes() for value in kept]
