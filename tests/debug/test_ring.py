"""The ring of past steps: variables of most of them are made again, what was fed stays as it was."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger
from autodiff.debug.engine.questions.case_of import case_of
from autodiff.debug.history import ring
from autodiff.debug.history.ring import Later

from ..expect import expect_run


def noisy() -> tuple[Debugger, Any, dict[str, Any]]:
    """A model with random numbers, in a branch and a loop too, trained by Adam; its debugger and session."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.Variable(np.linspace(-1, 1, 9).reshape(3, 3).astype(np.float32), name="w")
        looped = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.nn.dropout(tf.tanh(tf.matmul(h, w)), 0.7)),
                               [0, x])[1]
        h = tf.identity(tf.cond(tf.reduce_sum(x) > 0, lambda: tf.nn.dropout(looped, 0.5), lambda: 2.0 * looped), "h")
        loss = tf.reduce_mean(tf.square(h - 0.3) + tf.random_normal([3]), name="loss")
        step = tf.train.AdamOptimizer(0.01).minimize(loss)
        init = tf.global_variables_initializer()
    session = tf.Session(graph=graph)
    session.run(init)
    return Debugger(graph, session), session, {"x": x, "w": w, "h": h, "loss": loss, "step": step}


def trained(steps: int) -> tuple[Debugger, list[dict[str, Any]], list[list[Any]]]:
    """What steps began with, and what they gave; runs that only read among them."""
    dbg, session, named = noisy()
    rng = np.random.default_rng(2)
    before, given = [], []
    for i in range(steps):
        before.append(dict(session.variables))
        fetches = [named["loss"], named["h"]] if i % 5 == 4 else [named["loss"], named["h"], named["step"]]
        given.append(dbg.on_run(session, fetches, {named["x"]: rng.standard_normal((4, 3)).astype(np.float32)})[0][:2])
    return dbg, before, given


def test_variables_that_are_made_again_are_those_that_were() -> None:
    dbg, before, given = trained(40)
    made_again = [moment.run for moment in dbg.state.moments if isinstance(moment.variables, Later)]
    assert len(made_again) > 20
    for step in [*range(40, 0, -7), *range(1, 41)]:
        expect_run(dbg, step, before[step - 1], given[step - 1])


def test_runs_are_made_again_once_where_variables_are_asked_for_backwards() -> None:
    dbg, before, _ = trained(30)
    made: list[int] = []
    ring = dbg.state.moments
    after = ring._replayer.after
    ring._replayer.after = lambda moment, values: made.append(moment.run) or after(moment, values)  # type: ignore
    for moment in reversed(list(ring)):
        np.testing.assert_array_equal(moment.variables["w"], before[moment.run - 1]["w"])
    assert len(made) == len(set(made)) > 20


def test_what_else_changes_variables_is_noticed() -> None:
    dbg, session, named = noisy()
    x = {named["x"]: np.ones((4, 3), np.float32)}
    before = []
    for i in range(12):
        if i == 3:
            session.run(named["w"].assign(np.zeros((3, 3))))  # not seen by the debugger
        if i == 6:
            dbg.freeze("w")
        before.append(dict(session.variables))
        dbg.on_run(session, named["step"], x)
    for step, values in enumerate(before, 1):
        for name, value in values.items():
            np.testing.assert_array_equal(dbg.state.moment(step).variables[name], value)


def test_a_run_that_calls_python_in_a_loop_is_not_made_again() -> None:
    graph, calls = tf.Graph(), []

    def counted(v: Any) -> Any:
        calls.append(v)
        return np.float32(v + 1)

    with graph.as_default():
        w = tf.Variable(1.0, name="w")
        called = tf.while_loop(lambda x: tf.reduce_all(x < 4.0), lambda x: tf.py_func(counted, [x], tf.float32), [w],
                               shape_invariants=[tf.TensorShape(None)])
        step = w.assign_sub(0.1 * called)
    with tf.Session(graph=graph) as session:
        session.run(w.initializer)
        dbg = Debugger(graph, session)
        for _ in range(4):
            dbg.on_run(session, step)
        count = len(calls)
        assert dbg.value("w", step=2).array == np.float32(1.0) - np.float32(0.1) * np.float32(4)
    assert len(calls) == count


def test_more_steps_are_kept_than_values_of_variables_would_fit() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [50], name="x")
        w = tf.Variable(tf.zeros([100, 50]), name="w")
        step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(tf.linalg.matvec(w, x) - 1)))
    with tf.Session(graph=graph) as session:
        session.run(w.initializer)
        dbg = Debugger(graph, session)
        dbg.state.budget = 20 * 4 * 5000
        rng = np.random.default_rng(0)
        for _ in range(400):
            dbg.on_run(session, step, {x: rng.random(50) / 50})
        at = dbg.history.position
        assert at.kept > 150 and at.bytes <= dbg.state.budget and abs(at.fit - at.kept) <= 30
        assert np.isfinite(dbg.value("w", step=at.first.run).array).all() and at.first.run == 401 - at.kept


def trained_beyond_its_budget(steps: int) -> tuple[Debugger, list[dict[str, Any]], dict[str, Any]]:
    """As `trained`, where nine of the steps fit what may be kept of the last ones."""
    dbg, session, named = noisy()
    dbg.state.budget = 9 * sum(np.asarray(v).nbytes for v in session.variables.values())
    before = []
    for i in range(steps):
        before.append(dict(session.variables))
        dbg.on_run(session, [named["loss"], named["step"]], {named["x"]: np.full((4, 3), i % 7, np.float32)})
    return dbg, before, named


def test_the_first_runs_are_kept_beside_the_last() -> None:
    dbg, before, _ = trained_beyond_its_budget(120)
    first_ones = dbg.state.moments.beginning
    assert [m.run for m in first_ones] == [*range(1, len(first_ones) + 1)] and len(first_ones) > 3
    assert dbg.state.moments[0].run > len(first_ones) and dbg.history.position.bytes <= dbg.state.budget
    for moment in reversed(first_ones):
        for name, value in before[moment.run - 1].items():
            np.testing.assert_array_equal(moment.variables[name], value)


def test_the_beginning_ends_where_there_is_no_room_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring, "_FIRST", 5)
    first_ones = trained_beyond_its_budget(60)[0].state.moments.beginning
    assert [m.run for m in first_ones] == [1, 2, 3, 4, 5]


def test_what_changed_variables_unseen_is_no_run_that_is_made_again() -> None:
    dbg, session, named = noisy()
    dbg.state.budget = 9 * sum(np.asarray(v).nbytes for v in session.variables.values())
    before = []
    for i in range(60):
        if i == 3:
            session.run(named["w"].assign(np.zeros((3, 3))))
        before.append(session.variables["w"])
        dbg.on_run(session, named["step"], {named["x"]: np.ones((4, 3), np.float32)})
    for moment in dbg.state.moments.beginning:
        np.testing.assert_array_equal(moment.variables["w"], before[moment.run - 1])


def test_a_buffer_that_is_filled_again_does_not_change_the_past() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.identity(2 * x, name="y")
    buffer = np.empty(8192, np.float32)
    with tf.Session(graph=graph) as session:
        dbg = Debugger(graph, session)
        for i in range(4):
            buffer[:] = i
            dbg.on_run(session, y, {x: buffer[4:] if i % 2 else buffer})
        buffer[:] = -1
        for i in range(4):
            assert (dbg.value("y", step=i + 1).array == 2 * i).all()
            assert (dbg.value("x", step=i + 1).array == i).all()


def test_what_is_fed_again_is_kept_once() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.reduce_sum(x, name="y")
    data = np.arange(10_000, dtype=np.float32)
    with tf.Session(graph=graph) as session:
        dbg = Debugger(graph, session)
        for _ in range(10):
            dbg.on_run(session, y, {x: data})
        assert dbg.history.position.bytes == data.nbytes
        data[123] = np.nan
        dbg.on_run(session, y, {x: data})
        assert dbg.history.position.bytes == 2 * data.nbytes and dbg.value("x", step=10).array[123] == 123


def test_what_somebody_has_of_a_forgotten_run_stays() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [8192], name="x")
        y = tf.reduce_mean(x, name="y")
        w = tf.Variable(tf.zeros([8192]), name="w")
        step = w.assign_add(x)
    with tf.Session(graph=graph) as session:
        session.run(w.initializer)
        dbg = Debugger(graph, session)
        dbg.state.budget = 40 * 4 * 8192
        held, moments, buffer = [], [], np.empty(8192, np.float32)
        for i in range(200):
            buffer[:] = i
            dbg.on_run(session, [y, step], {x: buffer})
            if i % 7 == 0:
                held.append((i, dbg.state.moments[-1].feeds[x][10:20]))
            if i % 11 == 0:
                moments.append((i, dbg.state.moments[-1]))
            if i % 13 == 0:
                dbg.value("w", step=dbg.state.moments[len(dbg.state.moments) // 2].run)
        assert dbg.history.position.kept < 60
        assert all((view == i).all() for i, view in held)
        assert all((moment.feeds[x] == i).all() for i, moment in moments)
        for moment in dbg.state.moments:
            assert dbg.value("y", step=moment.run).array == moment.run - 1
            assert (dbg.value("w", step=moment.run).array == sum(range(moment.run - 1))).all()


def batches(way: str) -> Iterator[np.ndarray]:
    """Sixty batches as scripts make them, of 8192 elements; data that are fed again, or changed after they were fed."""
    rng = np.random.default_rng(0)
    data = rng.integers(0, 3, (8, 8192)).astype(np.float32)
    for i in range(60):
        if way == "edited between" and i == 30:
            data *= 2
        if way == "shuffled each epoch" and i % 8 == 0:
            rng.shuffle(data)
        batch = data[i % 8]
        if way == "one buffer" or way == "a buffer from the middle on" and i >= 30:
            batch = data[0]
            rng.shuffle(batch)  # the same numbers in another order: sums do not tell
        yield batch.copy() if way == "fresh" else batch


@pytest.mark.parametrize("way", ["fresh", "slices", "edited between", "shuffled each epoch", "one buffer",
                                 "a buffer from the middle on"])
def test_what_was_fed_stays_as_it_was(way: str) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        w = tf.Variable(tf.zeros([8192]), name="w")
        y = tf.identity(w + 2 * x, "y")
        step = w.assign_add(0.5 * x)
        session.run(w.initializer)
        dbg, fed = Debugger(graph, session), []
        for batch in batches(way):
            fed.append(batch.copy())
            dbg.on_run(session, [y, step.op], {x: batch})
        assert len(dbg.state.moments) == 60
        for number in (1, 7, 8, 9, 29, 30, 31, 33, 59, 60):
            assert np.array_equal(dbg.value("x", step=number).array, fed[number - 1])
            assert np.array_equal(dbg.value("w", step=number).array, np.array(fed)[:number - 1].sum(0) / 2)


def test_what_a_run_read_is_seen_beside_its_update() -> None:
    dbg, session, named = noisy()
    dbg.on_run(session, named["step"], {named["x"]: np.ones((50, 3), np.float32)})
    moment = dbg.state.moments[-1]
    update = next(op for op in dbg.graph.get_operations() if op.type == "ApplyAdam").outputs[0]
    read = dbg.graph.get_tensor_by_name("w/read:0")
    values = dbg.state.replayer.values_if_possible(moment, [read, update])
    np.testing.assert_array_equal(values[read], moment.variables["w"])
    assert not np.array_equal(values[update], values[read])


def test_training_runs_among_many_others_are_kept_with_what_they_led_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring, "_MOST", 40)
    monkeypatch.setattr(ring, "_STEPS", 5)
    dbg, session, named = noisy()
    x, led_to = named["x"], dict[int, Any]()
    for i in range(400):
        trains = i % 30 == 7
        dbg.on_run(session, [named["loss"], *[named["step"]] * trains], {x: np.full((4, 3), 0.01 * i, np.float32)})
        if trains:
            led_to[i + 1] = session.variables["w"]
    moments = dbg.state.moments
    kept = [*led_to][-5 - sum(run >= moments[0].run for run in led_to):]  # runs go in groups, by the time they took
    assert [m.run for m, _ in moments.steps] == kept[:5] and moments[0].run > 350
    case = case_of(dbg.state, named["loss"])
    assert [run.number for run in case.steps] == [8, 38, *kept]
    for run in case.steps[2:]:
        assert np.array_equal(run.after["w"], led_to[run.number])
    for _ in range(100):
        dbg.on_run(session, [named["loss"], named["step"]], {x: np.ones((4, 3), np.float32)})
    assert not moments.steps
