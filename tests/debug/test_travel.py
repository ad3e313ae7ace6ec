"""Back to past steps, back through a run, what-if and undo: everything exact, nothing watched."""
from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from autodiff.errors import ArgumentError, StateError

import autodiff as tf
from autodiff.debug import Debugger

STEPS = 6


def trained(optimizer: str = "adam") -> tuple[Debugger, list[dict[str, Any]]]:
    """A noisy model after six steps, and what each of them computed."""
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(3)
        x = tf.placeholder(tf.float32, [4, 3], name="x")
        w = tf.Variable(np.linspace(-1, 1, 6).reshape(3, 2).astype(np.float32), name="w")
        noise = tf.random_normal([4, 2], name="noise")
        h = tf.tanh(tf.matmul(x, w) + 0.1 * noise, name="h")
        kept = tf.identity(tf.nn.dropout(h, 0.5), name="kept")
        loss = tf.reduce_mean(tf.square(kept - 0.3), name="loss")
    dbg = Debugger(graph)
    rng = np.random.default_rng(0)
    dbg.feed_from(lambda: {x: rng.standard_normal((4, 3))})
    dbg.train("loss", optimizer=optimizer, lr=0.05)
    with graph.as_default():
        gradient = dbg.model.derivatives.script_call(loss).found[w.handle_tensor]  # type: ignore[union-attr]
    seen = []
    for _ in range(STEPS):
        dbg.run(1, fetches=[dbg.training.train_op, x, noise, h, loss, gradient, w])
        seen.append(dict(zip(("x", "noise", "h", "loss", "gradient"), dbg.result[1:])))
    return dbg, seen


def test_any_tensor_of_any_step_is_had_exactly_without_having_been_watched() -> None:
    dbg, seen = trained()
    for step in (6, 1, 4):
        dbg.history.goto(step)
        for name in ("x", "noise", "h", "loss"):
            found = dbg.value(name)
            np.testing.assert_array_equal(found.array, seen[step - 1][name])
            assert found.when == f"step {step}"
        np.testing.assert_array_equal(dbg.grad("w").array, seen[step - 1]["gradient"])
        assert dbg.grads().at.step == step


def test_back_and_forth() -> None:
    dbg, seen = trained()
    now = dbg.value("w").array
    assert (dbg.history.back().at.step, dbg.history.back(2).at.step, dbg.history.forth().at.step) == (6, 4, 5)
    assert not np.array_equal(dbg.value("w").array, now)
    assert dbg.history.forth().at.step == 6 and dbg.history.forth().is_present
    np.testing.assert_array_equal(dbg.value("w").array, now)
    with pytest.raises(ArgumentError, match="kept are step 1 to step 6"):
        dbg.history.back(9)
    dbg.history.back(3)
    assert dbg.run(1).records[0].run == 7 and dbg.history.position.is_present


def test_back_to_the_last_stop() -> None:
    dbg, _ = trained()
    dbg.break_at(step=8)
    dbg.run(10)
    dbg.delete(1)
    dbg.run(2)
    assert dbg.history.back_to_stop().at.step == 8
    with pytest.raises(ArgumentError, match="no kept run"):
        dbg.history.back_to_stop()


def test_a_run_is_gone_through_in_both_directions() -> None:
    dbg, seen = trained()
    before = dbg.value("w").array
    at = dbg.stepper.goto("loss")
    assert (at.op, at.at.step) == ("loss", 6)
    np.testing.assert_array_equal(dbg.value("loss").array, seen[5]["loss"])
    assert dbg.stepper.goto("h").op == "h"
    with pytest.raises(ArgumentError, match="comes later"):
        dbg.value("loss")
    np.testing.assert_array_equal(dbg.value("h").array, seen[5]["h"])
    total = dbg.stepper.step(10_000).total
    assert dbg.stepper.back(3).position == total - 3
    dbg.stepper.finish()
    np.testing.assert_array_equal(dbg.value("w").array, before)
    assert dbg.step == STEPS


def test_an_open_run_taken_back_and_done_again_changes_nothing() -> None:
    ended = []
    for there_and_back in (False, True):
        dbg, _ = trained("sgd")
        dbg.feed("x", np.ones((4, 3)))
        dbg.stepper.begin()
        if there_and_back:
            dbg.stepper.step(10_000)
            dbg.stepper.back(10_000)
            dbg.stepper.step(10)
            dbg.stepper.back(4)
        dbg.stepper.finish()
        ended.append((dbg.value("loss").array, dbg.value("w").array))
    for left, right in zip(*ended):
        np.testing.assert_array_equal(left, right)


def test_set_in_an_open_run_recomputes_what_lies_downstream_alone() -> None:
    graph, calls = tf.Graph(), []
    with graph.as_default():
        a = tf.constant(2.0, name="a")
        aside = tf.py_func(lambda v: calls.append(v) or np.float32(1.0), [a * 5.0], tf.float32, name="aside")
        b = tf.multiply(a, 3.0, name="b")
        c = tf.square(b, name="c")
        y = tf.add(c, aside, name="y")
    dbg = Debugger(graph)
    dbg.stepper.begin(fetches=y)
    dbg.stepper.goto("c")
    assert dbg.value("c").array == 36.0
    count = len(calls)
    dbg.set("b", 10.0)
    assert dbg.value("c").array == 100.0
    assert dbg.undo() == "set b:0" and dbg.value("c").array == 36.0
    dbg.set("b", 1.0)
    dbg.stepper.finish()
    assert dbg.result == 2.0 and len(calls) == max(count, 1)


def test_what_if_in_the_past() -> None:
    dbg, seen = trained()
    dbg.history.goto(3)
    dbg.set("kept", np.full((4, 2), 0.3, np.float32))
    assert dbg.value("loss").array == 0.0 and dbg.value("loss").when == "step 3, changed"
    dbg.undo()
    np.testing.assert_array_equal(dbg.value("loss").array, seen[2]["loss"])
    with pytest.raises(StateError, match="set in the present"):
        dbg.set("w", 0.0)


def test_undo_takes_back_in_reverse_order() -> None:
    dbg, _ = trained()
    old = dbg.value("w").array
    dbg.set("w", 1.0)
    dbg.set("w", 2.0)
    dbg.set("h", 0.5)
    assert [dbg.undo(), dbg.undo()] == ["set h:0", "set w"]
    assert (dbg.value("w").array == 1.0).all()
    dbg.undo()
    np.testing.assert_array_equal(dbg.value("w").array, old)
    with pytest.raises(ArgumentError, match="nothing to undo"):
        dbg.undo()


def test_what_is_frozen_stays() -> None:
    dbg, _ = trained()
    old = dbg.value("w").array
    dbg.freeze("w")
    dbg.run(3)
    np.testing.assert_array_equal(dbg.value("w").array, old)
    assert dbg.edits.held() == ("w",)
    dbg.edits.unset("w")
    dbg.run(1)
    assert not np.array_equal(dbg.value("w").array, old)


def test_undo_holds_what_was_held_before() -> None:
    dbg, _ = trained()
    first = dbg.value("w").array
    dbg.freeze("w")
    dbg.set("w", 1.0)
    dbg.freeze("w")
    for expected in (np.ones_like(first), np.ones_like(first), first):
        dbg.run(1)
        np.testing.assert_array_equal(dbg.value("w").array, expected)
        dbg.undo()
    dbg.run(1)
    assert not np.array_equal(dbg.value("w").array, first) and dbg.edits.held() == ()


def test_python_functions_are_not_called_again() -> None:
    graph, calls = tf.Graph(), []

    def function(x: np.ndarray) -> np.ndarray:
        calls.append(x)
        return np.float32(x * len(calls))

    with graph.as_default():
        a = tf.Variable(2.0, name="a")
        y = tf.py_func(function, [a], tf.float32, name="y")
        tf.multiply(y, 10.0, name="z")
    dbg = Debugger(graph)
    for _ in range(3):
        dbg.run(1, fetches="z:0")
    assert [dbg.value("z", step=s).array for s in (1, 2, 3)] == [20.0, 40.0, 60.0]
    dbg.history.goto(2)
    dbg.stepper.goto("z")
    assert dbg.value("z").array == 40.0
    assert len(calls) == 3


def test_looking_takes_nothing_of_a_dataset_or_queue() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.data.Dataset.from_tensor_slices(np.float32([3.0, 5.0, 0.0])).make_one_shot_iterator().get_next()
        queue = tf.FIFOQueue(9, [tf.float32], [[]])
        fill = queue.enqueue_many([np.float32([1.0, 2.0, 4.0])])
        w = tf.Variable(1.0, name="w")
        tf.Variable(0.0, name="count")
        loss = tf.add(tf.log(x) * w, queue.dequeue_many(1)[0], name="loss")
        tf.gradients(loss, w)
    dbg = Debugger(graph, handles={"loss": loss})
    dbg.model.initialize()
    dbg.run(1, fetches=fill)
    for fetches in ("count:0", "loss:0", "count:0"):  # hooks of a monitored session make such runs around a step
        dbg.run(1, fetches=fetches)
        assert not dbg.holds("nonfinite")
    assert dbg.value("loss").array == np.float32(np.log(np.float32(3.0)) + 1.0)
    with pytest.raises(tf.errors.FailedPreconditionError, match="not called in the run"):
        dbg.value("loss", step=2)
    dbg.set("w", 2.0)  # what if: with the elements that the step had
    assert dbg.value("loss").array == np.float32(2.0 * np.log(np.float32(3.0)) + 1.0)
    dbg.undo()
    assert dbg.run(1, fetches="loss:0") is not None and dbg.result == np.float32(np.log(np.float32(5.0)) + 2.0)
    dbg.run(1, fetches="loss:0")
    assert dbg.why(kind="inf").text.startswith("log(0) = -inf")


def test_a_run_that_failed_is_looked_at_with_the_element_that_it_took() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.data.Dataset.from_tensor_slices(np.float32([3.0, 0.0, 5.0])).make_one_shot_iterator().get_next("x")
        loss = tf.check_numerics(tf.log(x) * tf.Variable(1.0), "bad", name="loss")
    dbg = Debugger(graph, handles={"loss": loss})
    dbg.run(1)
    with pytest.raises(tf.errors.InvalidArgumentError):
        dbg.run(1)
    assert dbg.value("x").array == 0.0
    assert "log(0) = -inf" in dbg.why(kind="nan").text


def test_the_memory_budget_is_kept_and_told() -> None:
    dbg, _ = trained()
    dbg.state.budget = 1000
    dbg.run(20)
    at = dbg.history.position
    assert at.bytes <= 1000 and 2 <= at.kept < 26 and at.first.run == 27 - at.kept
    assert abs(at.fit - at.kept) <= 2
    with pytest.raises(ArgumentError, match="is not remembered"):
        dbg.history.goto(1)


def test_any_op_of_a_long_run_is_reached_backwards_at_once() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.constant(0.5, name="x")
        for i in range(3000):
            x = tf.sin(x, name=f"s{i}")
    dbg = Debugger(graph)
    dbg.stepper.begin(fetches=x)
    dbg.stepper.step(100_000)
    start = time.process_time()
    assert dbg.stepper.goto("s17").op == "s17"
    assert time.process_time() - start < 5  # far from a measurement: a run again and again would take minutes
    assert dbg.stepper.finish().records[0].run == 1
