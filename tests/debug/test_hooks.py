"""The cut between engine and debugger: a step that no Session.run makes fits it, and what a hook is told shows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger


class NumPyEngine:
    """Another engine: least squares by hand, with a parameter of its own; its graph only says what it computes."""

    def __init__(self) -> None:
        graph = tf.Graph()
        with graph.as_default():
            self.x = tf.placeholder(tf.float64, [None, 2], name="x")
            variable = tf.Variable(tf.zeros([2], tf.float64), name="w", use_resource=True)
            y = tf.reduce_sum(self.x * variable, axis=1, name="y")
            self.loss = tf.reduce_mean(tf.square(y), name="loss")
            self.gradient = tf.gradients(self.loss, [variable])[0]
        self.w, self.made = np.array([1.0, 2.0]), 0
        self.dbg = Debugger(graph)

    def step(self, x: np.ndarray, check: Callable[[np.ndarray], None] = lambda y: None) -> Any:
        """One step as a front end makes it; the record."""
        dbg = self.dbg
        dbg.session.variables["w"] = self.w.copy()
        run = dbg.hooks.before_run([self.loss], {self.x: x})
        y = x @ self.w
        try:
            check(y)
        except ValueError as error:
            return dbg.hooks.at_error(run, error)
        gradient = 2 * x.T @ y / len(x)
        known = {"y:0": y, "loss:0": np.mean(y ** 2), self.gradient.name: gradient}
        self.w, self.made = self.w - 0.1 * gradient, self.made + 1
        return dbg.hooks.after_run(run, [known[t.name] for t in run.looked_at])


def test_steps_of_another_engine_are_recorded_and_made_again() -> None:
    engine, x = NumPyEngine(), np.array([[1.0, 0.5], [0.25, -1.0]])
    dbg = engine.dbg
    dbg.watch("y")
    before = []
    for _ in range(3):
        before.append(engine.w)
        record = engine.step(x)
        assert record.loss == pytest.approx(np.mean((x @ before[-1]) ** 2))
        assert record.sample("y:0").stats.maximum == pytest.approx(np.max(x @ before[-1]))
    assert [r.run for r in dbg.records] == [1, 2, 3] and dbg.session.runs == 0
    for i, w in enumerate(before):
        np.testing.assert_allclose(dbg.value("y", step=i + 1).array, x @ w)
        np.testing.assert_array_equal(dbg.state.moment(i + 1).variables["w"], w)
    np.testing.assert_allclose(dbg.grad("w", step=2).array, 2 * x.T @ (x @ before[1]) / 2)
    assert dbg.history.goto(1).at.step == 1
    np.testing.assert_allclose(dbg.evaluate("loss").array, np.mean((x @ before[0]) ** 2))


def test_a_stop_condition_holds_of_what_another_engine_computed() -> None:
    engine = NumPyEngine()
    engine.dbg.break_at("loss", condition="nan", temporary=True)
    assert engine.step(np.ones((2, 2))).stops == ()
    record = engine.step(np.array([[np.nan, 1.0]]))
    assert [(stop.kind, stop.target) for stop in record.stops] == [("break", "loss:0")]
    assert engine.dbg.stops() == ()  # at_stop has let the temporary one go


def test_an_error_of_another_engine_is_a_stop() -> None:
    engine = NumPyEngine()

    def refuse(y: np.ndarray) -> None:
        raise ValueError("y is too large")

    record = engine.step(np.ones((2, 2)), refuse)
    assert record.error == "ValueError: y is too large" and record.stops[0].kind == "error"
    np.testing.assert_allclose(engine.dbg.value("y", step=1).array, [3.0, 3.0])


def test_at_stop_counts_and_ignores() -> None:
    engine = NumPyEngine()
    number = engine.dbg.break_at("loss").number
    engine.dbg.watches.ignore(number, 1)
    assert engine.step(np.ones((2, 2))).stops == ()
    assert len(engine.step(np.ones((2, 2))).stops) == 1
    assert engine.dbg.stops()[0].hits == 2


def test_a_run_looks_at_what_is_watched_and_nothing_else() -> None:
    engine = NumPyEngine()
    feeds = {engine.x: np.ones((2, 2))}
    assert [t.name for t in engine.dbg.hooks.before_run([engine.loss], feeds).looked_at] == ["loss:0"]
    engine.dbg.watch("y")
    assert {t.name for t in engine.dbg.hooks.before_run([engine.loss], feeds).looked_at} == {"loss:0", "y:0"}
