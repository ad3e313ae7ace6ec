"""What one question has computed the next one does not compute again; plans are compiled once."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.traversal import dependencies
from autodiff.debug import Debugger
from autodiff.debug.facts import function_calls
from autodiff.debug.history import replay
from autodiff.runtime import session as sessions


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The fetches of every plan that is compiled from now on."""
    found: list[Any] = []

    def noting(real: Callable[..., Any]) -> Callable[..., Any]:
        def compile_plan(fetches: Any, *rest: Any) -> Any:
            found.append(fetches)
            return real(fetches, *rest)
        return compile_plan

    for module in (function_calls, replay, sessions):
        monkeypatch.setattr(module, "compile_plan", noting(module.compile_plan))
    return found


def deep(layers: int = 6) -> tuple[Debugger, tf.Session, list[Any], dict[Any, Any]]:
    """A chain of layers with a loop at its end, trained."""
    graph, rng = tf.Graph(), np.random.default_rng(0)
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        h = x
        for i in range(layers):
            w = tf.Variable(rng.standard_normal((4, 4)).astype("f") / 2, name=f"w{i}")
            h = tf.nn.tanh(tf.matmul(h, w))
        _, h = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.sin(h)), [0, h])
        loss = tf.reduce_mean(tf.square(h), name="loss")
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    session = tf.Session(graph=graph)
    session.run([v.initializer for v in graph.get_collection("variables")])
    return Debugger(graph, session), session, [loss, step], {x: rng.random((3, 4))}


def test_a_question_asked_again_compiles_nothing(compiled: list[Any]) -> None:
    dbg, session, fetches, feeds = deep()
    dbg.on_run(session, fetches, feeds)
    first = [dbg.why("w0"), dbg.why(kind="zero"), dbg.why(kind="nan"), dbg.doctor()]
    compiled.clear()
    assert [dbg.why("w0"), dbg.why(kind="zero"), dbg.why(kind="nan"), dbg.doctor()] == first
    assert compiled == []


def test_why_of_another_variable_compiles_nothing_that_was_on_the_way(compiled: list[Any]) -> None:
    dbg, session, fetches, feeds = deep()
    dbg.on_run(session, fetches, feeds)
    dbg.why("w0")
    compiled.clear()
    for i in range(1, 6):
        dbg.why(f"w{i}")
    assert compiled == []


def test_the_same_question_about_the_next_run_compiles_nothing(compiled: list[Any]) -> None:
    dbg, session, fetches, feeds = deep()
    for _ in range(2):
        dbg.on_run(session, fetches, feeds)
    dbg.why("w0")  # compiles too how the variables of the second run are made again from the first
    dbg.on_run(session, fetches, feeds)
    compiled.clear()
    dbg.why("w0")
    assert compiled == []


def test_values_looked_up_in_parts_are_those_of_one_run() -> None:
    dbg, session, fetches, feeds = deep()
    dbg.on_run(session, fetches, feeds)
    at = dbg.state.moment(1)
    ops = [op for op in dependencies(fetches[:1]) if op.outputs and op.type not in ("VariableV2", "While")]
    alone = {t: dbg.state.replayer.values(at, [t])[0] for op in ops for t in op.outputs}
    for op in sorted(ops, key=lambda op: op.name):
        found = dbg.state.values_known([op], at)
        for t in op.outputs:
            np.testing.assert_array_equal(found[t], alone[t])


def test_what_cannot_be_computed_is_left_out_and_nothing_else() -> None:
    graph = tf.Graph()
    with graph.as_default():
        unfed = tf.placeholder(tf.float32, [], name="unfed")
        known = tf.constant(2.0)
        both, alone = tf.add(unfed, known, name="both"), tf.square(known, name="alone")
        with tf.control_dependencies([both]):
            after = tf.identity(known, name="after")
    dbg = Debugger(graph)
    found = dbg.state.values_known([unfed.op, both.op, alone.op, after.op], dbg.state.moment())
    assert {t.name: float(v) for t, v in found.items()} == {"alone:0": 4.0}


def test_an_update_shows_where_the_variables_memory_is_read_after_it() -> None:
    """A known value may not stand for one that shares the variable's memory: TensorFlow 1.15 gives 5, 10 and 10."""
    graph = tf.Graph()
    with graph.as_default():
        v = tf.Variable(5.0, use_resource=False, name="v")
        read = graph.get_tensor_by_name("v/read:0")
        before = tf.multiply(read, 1.0, name="before")
        with tf.control_dependencies([before]):
            update = v.assign(10.0)
        with tf.control_dependencies([update]):
            later = tf.multiply(read, 1.0, name="later")
    with tf.Session(graph=graph) as session:
        session.run(v.initializer)
        dbg = Debugger(graph, session)
        (expected, _), _ = dbg.on_run(session, [later, before])
        at = dbg.state.moment(1)
        dbg.state.values_known([read.op, before.op], at)
        assert float(dbg.state.values_known([later.op], at)[later]) == float(expected) == 10.0


def test_what_takes_too_much_room_is_not_kept() -> None:
    store = replay.LookedUp(budget=100)
    with tf.Graph().as_default():
        small, large = tf.constant(1.0), tf.constant(np.zeros(100))
    store.add("run", {small: np.ones(5), large: np.zeros(100)})
    assert list(store.of("run")) == [small]
    for run in ("second", "third"):
        store.add(run, {})
    assert store.of("run") == {}
