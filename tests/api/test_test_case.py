"""tf.test's case: sessions that last a test, modes, assertions, threads; and sessions that learn new classes."""

import sys
import unittest
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.api.test import modes
from autodiff.runtime import fetch
from autodiff.runtime.eager import eager_mode


def outcome(body: Any) -> unittest.TestResult:
    """What a test with this body gives."""
    case = type("Case", (tf.test.TestCase,), {"test_it": body})("test_it")
    result = unittest.TestResult()
    case.run(result)
    return result


def test_a_session_while_executing_eagerly_gives_values() -> None:
    with eager_mode(), tf.test.TestCase().cached_session() as session:
        assert session.run([tf.constant(1), {"a": tf.constant([2])}])[0] == 1


def test_the_cached_session_keeps_variables_through_a_test() -> None:
    def body(self: Any) -> None:
        with self.cached_session():
            v = tf.Variable(3.0)
            self.evaluate(tf.global_variables_initializer())
        with self.test_session() as session:
            assert session.run(v) == 3.0

    assert outcome(body).wasSuccessful()


def test_a_test_in_both_modes_runs_twice() -> None:
    seen: list[bool] = []

    @modes.run_in_graph_and_eager_modes
    def body(self: Any) -> None:
        seen.append(tf.executing_eagerly())
        self.assertAllClose([4.0, 9.0], self.evaluate(tf.square([2.0, 3.0])))

    assert outcome(body).wasSuccessful()
    assert seen == [False, True]
    assert not tf.executing_eagerly()


@pytest.mark.parametrize("decorate", [modes.run_v2_only, modes.run_gpu_only])
def test_what_cannot_be_had_is_skipped(decorate: Any) -> None:
    assert len(outcome(decorate(lambda self: self.fail())).skipped) == 1


@pytest.mark.parametrize("failing", [
    lambda self: self.assertAllClose({"a": [1.0, [2.0]]}, {"a": [1.0, [2.1]]}),
    lambda self: self.assertAllInSet([1, 2, 3], {1, 2}),
    lambda self: self.assertStartsWith("abc", "b"),
    lambda self: self.assertDeviceEqual("/cpu:0", "/device:CPU:1"),
    lambda self: self.assertProtoEquals("node { name: 'x' }", tf.GraphDef()),
    lambda self: self.assertAllGreaterEqual([1, 2], 2),
    lambda self: self.assertEmpty([1]),
    lambda self: self.checkedThread(target=lambda: 1 / 0).start() or self._threads[0].join(),
    lambda self: self.checkedThread(target=lambda: None).start(),
])
def test_assertions_can_fail(failing: Any) -> None:
    result = outcome(failing)
    assert len(result.failures) == 1
    assert not result.errors


def test_assertions_can_hold() -> None:
    def body(self: Any) -> None:
        self.assertAllClose({"a": [1.0, [2.0]]}, {"a": [1.0, [2.0]]})
        self.assertAllEqual(["a", "b"], tf.constant(["a", "b"]))
        self.assertDeviceEqual("/cpu:0", "/device:CPU:0")
        self.assertProtoEquals("node { name: 'x' }", tf.GraphDef(node=[{"name": "x"}]))
        with self.assertRaisesOpError("Caused by: y"), self.session() as session:
            session.run(tf.check_numerics(np.inf, "bad", name="y"))
        with self.captureWritesToStream(sys.__stderr__) as written:
            print("heard", file=sys.__stderr__)
            assert "heard" in written.contents()
        assert "heard" in written.contents()  # after the block, too

    result = outcome(body)
    assert result.wasSuccessful(), (result.failures or result.errors)[0][1]


def test_sessions_learn_to_fetch_and_feed_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "_FORMS", [])

    class Squared:
        def __init__(self, tensor: Any) -> None:
            self.tensor = tensor

    fetch.register_session_run_conversion_functions(
        Squared, lambda s: ([s.tensor], lambda values: values[0] ** 2), lambda s, value: [(s.tensor, value)])
    with pytest.raises(ValueError, match="already been registered"):
        fetch.register_session_run_conversion_functions(Squared, lambda s: ([s.tensor], list))
    with tf.Graph().as_default(), tf.Session() as session:
        x = Squared(tf.placeholder(tf.float32))
        assert session.run({"y": x}, {x: 3.0}) == {"y": 9.0}


def test_what_differs_is_told_in_tensorflows_words() -> None:
    def close(self: Any) -> None:
        self.assertAllClose({"y": (2, [{"n": [1.0, 4.0]}])}, {"y": (2, [{"n": [1.0, 4.2]}])})

    def equal(self: Any) -> None:
        self.assertAllEqual([0, 7], tf.constant([3, 7]), "mine")

    failed = outcome(close).failures[0][1]
    assert "Mismatched value: a[y][1][0][n] is different from b[y][1][0][n]. not close where = [[1]]" in failed
    assert "not close lhs = [4.]" in failed and "not close dif = [0.2]" in failed
    failed = outcome(equal).failures[0][1]
    assert "mine" in failed and "not equal where = [[0]]" in failed and "not equal rhs = [3]" in failed


def test_graph_defs_are_compared_node_by_node() -> None:
    defs = []
    for names in ((), ("five", "seven"), ("seven", "five")):
        with tf.Graph().as_default() as graph:
            for name in names:
                tf.constant(len(name), name=name)
        defs.append(graph.as_graph_def())
    modes.assert_equal_graph_def(defs[1], defs[2])
    with pytest.raises(AssertionError, match="Found unexpected node '{{node seven}}'"):
        modes.assert_equal_graph_def(defs[1], defs[0])
    with pytest.raises(AssertionError, match="Did not find expected node '{{node five}}'"):
        modes.assert_equal_graph_def(defs[0], defs[2])


def test_what_is_left_out_of_graphs_is_run_eagerly() -> None:
    seen: list[bool] = []

    class Case(tf.test.TestCase):
        @modes.run_in_graph_and_eager_modes
        def test(self) -> None:
            if not tf.executing_eagerly():
                self.skipTest("not in graphs")
            seen.append(tf.executing_eagerly())

    assert Case("test").run().wasSuccessful() and seen == [True]
