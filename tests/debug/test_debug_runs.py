"""What the debugger asks of a run: feeds converted once, fetches read once, figures taken together."""
from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger
from autodiff.debug.facts.stats import are_finite, has_nonfinite, nonfinite_of, statistics, statistics_of
from autodiff.runtime import feed, fetch


@pytest.fixture
def trained() -> tuple[tf.Session, tf.Tensor, tf.Tensor, tf.Operation]:
    """A session with w * x, fed x, the mean square as its loss, and a train op."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None], name="x")
        w = tf.Variable([1.0, 2.0, 3.0], name="w")
        loss = tf.reduce_mean(tf.square(w * x), name="loss")
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session = tf.Session(graph=graph)
        session.run(tf.global_variables_initializer())
    return session, x, loss, step


def test_a_run_converts_its_feeds_once(trained: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session, x, loss, step = trained
    seen: Counter[str] = Counter()
    whole = feed.convert
    monkeypatch.setattr(feed, "convert", lambda tensor, value: seen.update([tensor.name]) or whole(tensor, value))
    Debugger(session.graph, session).on_run(session, [loss, step], {x: [1, 2, 3]})
    assert seen == {"x:0": 1}


def test_what_is_fetched_is_read_once_for_all_runs(trained: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session, x, loss, step = trained
    dbg = Debugger(session.graph, session)
    dbg.watch("w")
    values = [dbg.on_run(session, {"loss": loss, "all": [step, loss]}, {x: [1, 2, 3]})[0] for _ in range(2)]
    monkeypatch.setattr(fetch, "parse", None)
    result, record = dbg.on_run(session, {"loss": loss, "all": [step, loss]}, {x: [1, 2, 3]})
    assert result["all"] == [None, result["loss"]] and result["loss"] < values[1]["loss"] < values[0]["loss"]
    assert record.loss == pytest.approx(float(result["loss"])) and len(record.samples) == 2


def test_a_watch_set_between_two_runs_is_seen_by_the_second(trained: Any) -> None:
    session, x, loss, step = trained
    dbg = Debugger(session.graph, session)
    assert not dbg.on_run(session, [loss, step], {x: [1, 2, 3]})[1].samples
    dbg.watch("w")
    record = dbg.on_run(session, [loss, step], {x: [1, 2, 3]})[1]
    assert [(s.name, s.is_gradient) for s in record.samples] == [("w:0", False), ("w:0", True)]


def test_each_session_runs_with_its_own_variables(trained: Any) -> None:
    session, x, loss, step = trained
    dbg = Debugger(session.graph, session)
    first = [dbg.on_run(session, loss, {x: [1, 2, 3]})[0], dbg.on_run(session, step, {x: [1, 2, 3]})]
    with tf.Session(graph=session.graph) as other:
        other.run(session.graph.get_collection("variables")[0].initializer)
        again = dbg.on_run(other, loss, {x: [1, 2, 3]})[0]
    assert again == first[0] > dbg.on_run(session, loss, {x: [1, 2, 3]})[0]


def arrays() -> list[Any]:
    rng = np.random.default_rng(3)
    bad = np.array([1, np.nan, -np.inf], np.float32)
    return [rng.normal(size=n).astype(np.float32) for n in (1, 7, (3, 5), 4095, 4096, (70, 1000))] + [
        bad, np.zeros((2, 3), np.float32), np.zeros(0, np.float32), np.float32(3), np.arange(5),
        np.array([b"a"], object), np.array([3e38, -3e38], np.float32), np.array([1e-40, 0], np.float32),
        np.ones((4, 4), np.float32).T[::2], 2.5]


def test_figures_taken_together_are_those_of_each() -> None:
    for together, alone in zip(statistics_of(arrays()), map(statistics, arrays()), strict=True):
        for name in type(alone).__slots__:
            expected = getattr(alone, name)
            found = getattr(together, name)
            assert found == (pytest.approx(expected, rel=1e-5, abs=1e-7) if isinstance(expected, float) else expected)


def test_what_is_not_finite_is_found_in_many_as_in_each() -> None:
    finite = [array for array in arrays() if not has_nonfinite(array)]
    assert nonfinite_of(arrays()) == [has_nonfinite(array) for array in arrays()]
    assert len(finite) == len(arrays()) - 1 and not any(nonfinite_of(finite))


def test_finite_numbers_whose_squares_are_not_are_finite() -> None:
    large = [np.full(3, 3e38, np.float32), np.full((2, 2), -1e300), np.float32(3e38), None, np.arange(3)]
    assert not are_finite(large) and nonfinite_of(large) == [False] * 5
    assert are_finite([np.ones((3, 2), np.float32).T, np.float64(2), 3, np.zeros(0), np.ones(2, np.float16)])
    for bad in (np.float32("nan"), np.array([[1, -np.inf]]), np.float16("inf"), np.array([np.nan + 1j])):
        assert nonfinite_of([np.ones(3), bad, None]) == [False, True, False]


def test_a_watched_variable_is_shown_as_the_run_found_it_small_or_large() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        small, large = tf.Variable(tf.ones([3]), name="small"), tf.Variable(tf.ones([5000]), name="large")
        step = tf.group(small.assign_add(tf.ones([3])), large.assign_add(tf.ones([5000])))
        session.run(tf.global_variables_initializer())
        dbg = Debugger(graph, session)
        dbg.watch("small", "large")
        for value in (1, 2, 3):
            record = dbg.on_run(session, step)[1]
            assert {s.name: (s.stats.minimum, s.stats.maximum) for s in record.samples if s.stats} == {
                "small:0": (value, value), "large:0": (value, value)}


def test_an_alarm_records_only_what_is_not_finite(trained: Any) -> None:
    session, x, loss, step = trained
    dbg = Debugger(session.graph, session)
    dbg.break_at("w", condition="nan")
    dbg.watch("x")
    assert {s.name for s in dbg.on_run(session, [loss, step], {x: [1, 2, 3]})[1].samples} == {"x:0"}
    record = dbg.on_run(session, [loss, step], {x: [1, np.nan, 3]})[1]
    assert {(s.name, s.is_gradient) for s in record.samples} >= {("w:0", True), ("x:0", False)}
    assert ("w:0", False) not in {(s.name, s.is_gradient) for s in record.samples}
    assert record.stops[0].text == "gradient of w:0: nan"


@pytest.mark.parametrize("size", [4096, 5000, 300_001])
def test_the_mean_of_many_float32_is_good_to_six_digits(size: int) -> None:
    values = (np.random.default_rng(size).random(size) + 100).astype(np.float32)
    assert statistics(values).mean == pytest.approx(values.astype(np.float64).mean(), rel=1e-6)
