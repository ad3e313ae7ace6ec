"""GradientsDebugger: what is registered, when, under which name."""
from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import GradientsDebugger, clear_gradient_debuggers


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """An empty default graph, and no debugger made before."""
    tf.reset_default_graph()
    clear_gradient_debuggers()
    yield
    clear_gradient_debuggers()


def value(tensor: object) -> object:
    with tf.Session() as session:
        if tf.global_variables():
            session.run(tf.global_variables_initializer())
        return session.run(tensor)


def test_the_only_debugger_registers_without_its_context() -> None:
    x = tf.constant(2.0, name="x")
    y = tf.square(x, name="y")
    debugger = GradientsDebugger()
    tf.gradients(tf.exp(debugger.identify_gradient(y)), x)
    assert list(debugger.gradient_tensors()) == ["y:0"]


def test_of_two_debuggers_the_one_whose_context_is_open_registers() -> None:
    x = tf.constant(2.0)
    y = tf.square(x)
    first, second = GradientsDebugger(), GradientsDebugger()
    z = tf.exp(first.identify_gradient(y))
    counts = []
    tf.gradients(z, x)
    counts.append(len(first.gradient_tensors()))
    with second:
        tf.gradients(z, x)
    counts.append(len(first.gradient_tensors()))
    with first as entered:
        tf.gradients(z, x)
    counts.append(len(first.gradient_tensors()))
    assert (counts, entered is first) == ([0, 0, 1], True)


def test_a_dropped_debugger_still_counts() -> None:
    GradientsDebugger()
    x = tf.constant(2.0)
    debugger = GradientsDebugger()
    tf.gradients(tf.exp(debugger.identify_gradient(x)), x)
    assert debugger.gradient_tensors() == {}


def test_identify_gradient_sees_its_own_branch_only() -> None:
    x = tf.Variable(3.0, name="x")
    y = tf.multiply(x, 2.0, name="y")
    debugger = GradientsDebugger()
    z = tf.square(debugger.identify_gradient(y)) + 10.0 * y
    total = tf.gradients(z, y)[0]
    with debugger:
        tf.gradients(z, x)
    assert value([debugger.gradient_tensor(y), total]) == [12.0, 22.0]


def test_a_watch_sees_all_paths_later_consumers_too_and_leaves_the_graph_alone() -> None:
    x = tf.Variable(3.0, name="x")
    y = tf.multiply(x, 2.0, name="y")
    first = tf.square(y)
    debugger = GradientsDebugger()
    before = tf.get_default_graph().version
    with debugger.watch_gradients_by_tensors(tf.get_default_graph(), y):
        assert tf.get_default_graph().version == before
        tf.gradients(first + 10.0 * y + y * y * y, x)
    assert value(debugger.gradient_tensor(y)) == 2 * 6 + 10 + 3 * 36
    assert first.op.inputs[0] is y


def test_the_op_of_identify_gradient() -> None:
    with tf.name_scope("net"):
        parts = tf.split(tf.placeholder(tf.float64, [4, None]), 2, name="s")
    forwarded = GradientsDebugger().identify_gradient(parts[1])
    assert re.fullmatch(r"net/s_1/gradient_debug_[0-9a-f]{32}", forwarded.op.name)
    assert forwarded.op.type == "DebugGradientIdentity"
    assert (forwarded.dtype, forwarded.shape.as_list()) == (tf.float64, [2, None])


def test_identify_twice_is_refused_by_one_debugger_only() -> None:
    y = tf.square(tf.constant(2.0), name="y")
    debugger = GradientsDebugger()
    debugger.identify_gradient(y)
    with pytest.raises(ValueError, match="The graph already contains an op named y_0/gradient_debug_"):
        debugger.identify_gradient(y)
    GradientsDebugger().identify_gradient(y)


def test_keys_are_in_backward_order_and_tensors_the_same_objects() -> None:
    x = tf.Variable(2.0, name="x")
    y = tf.square(x, name="y")
    debugger = GradientsDebugger()
    with debugger.watch_gradients_by_tensors(tf.get_default_graph(), [x, y]):
        dx, dy = tf.gradients(tf.exp(y), [x, y])
    assert list(debugger.gradient_tensors()) == ["y:0", "x:0"]
    for asked in (x, "x:0"):
        assert debugger.gradient_tensor(asked) is dx
    assert debugger.gradient_tensor(y) is debugger.gradient_tensors()["y:0"] is dy


@pytest.mark.parametrize(("pattern", "found"), [
    (r"y:0$", ["y:0"]), ("y", ["y:0", "y_1:0", "y_tail:0"]), (r"s/y:0", ["s/y:0"]), ("(x|y):0$", ["x:0", "y:0"])])
def test_names_are_matched_from_their_start(pattern: str, found: list[str]) -> None:
    x = tf.constant(2.0, name="x")
    ys = [tf.square(x, name=name) for name in ("y", "y_1", "y_tail", "s/y")]
    debugger = GradientsDebugger()
    with debugger.watch_gradients_by_tensor_names(tf.get_default_graph(), pattern):
        tf.gradients(tf.add_n([tf.exp(y) for y in ys]), x)
    assert sorted(debugger.gradient_tensors()) == found


def test_what_lies_behind_stop_gradient_or_off_the_path_is_not_registered() -> None:
    x = tf.constant(2.0, name="x")
    y = tf.square(x, name="y")
    s = tf.stop_gradient(y, name="s")
    side = tf.exp(x, name="side")
    z = tf.multiply(s, x, name="z")
    debugger = GradientsDebugger()
    with debugger.watch_gradients_by_tensors(tf.get_default_graph(), [x, y, s, side, z]):
        tf.gradients(z, x)
    assert sorted(debugger.gradient_tensors()) == ["s:0", "x:0"]


def test_the_last_gradient_wins_and_several_ys_add_up() -> None:
    x = tf.constant(2.0, name="x")
    y = tf.square(x, name="y")
    debugger = GradientsDebugger()
    debugger.watch_gradients_by_tensors(tf.get_default_graph(), y)
    tf.gradients([3.0 * y, 5.0 * y], x, grad_ys=[1.0, 2.0])
    assert value(debugger.gradient_tensor(y)) == 13.0
    tf.gradients(7.0 * y, x)
    assert value(debugger.gradient_tensor(y)) == 7.0


def test_rows_of_an_embedding_stay_rows() -> None:
    table = tf.Variable(np.ones((4, 2), np.float32), name="table")
    rows = tf.gather(table, [1, 3, 1])
    debugger = GradientsDebugger()
    with debugger.watch_gradients_by_tensors(tf.get_default_graph(), table):
        gradient = tf.gradients(tf.reduce_sum(rows), table)[0]
    assert debugger.gradient_tensor(table) is gradient
    assert isinstance(gradient, tf.IndexedSlices)


def test_a_watched_variable_can_be_assigned_and_trained() -> None:
    v = tf.Variable(1.0, name="v")
    debugger = GradientsDebugger()
    with debugger.watch_gradients_by_tensors(tf.get_default_graph(), [v]):
        train = tf.train.GradientDescentOptimizer(0.25).minimize(tf.square(v))
    assign = v.assign(4.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(assign)
        assert session.run(debugger.gradient_tensor(v)) == 8.0
        session.run(train)
        assert session.run(v) == 2.0


def test_unwatch() -> None:
    x = tf.constant(2.0, name="x")
    y = tf.square(x, name="y")
    z = tf.exp(y, name="z")
    graph = tf.get_default_graph()
    debugger = GradientsDebugger().watch_gradients_by_tensors(graph, [x, y, z])
    debugger.unwatch(graph, y).unwatch(graph, "z:0$")
    tf.gradients(tf.sin(z), x)
    assert list(debugger.gradient_tensors()) == ["x:0"]


def test_graph_is_that_of_the_first_gradient_and_others_are_refused() -> None:
    x = tf.constant(2.0, name="x")
    debugger = GradientsDebugger()
    y = debugger.identify_gradient(x)
    assert debugger.graph is None
    tf.gradients(tf.exp(y), x)
    assert debugger.graph is tf.get_default_graph()
    with tf.Graph().as_default(), pytest.raises(ValueError, match="is not the same as the graph"):
        debugger.register_gradient_tensor("b:0", tf.constant(1.0))
    with pytest.raises(AttributeError):
        debugger.graph = None  # type: ignore[misc]


@pytest.mark.parametrize("asked", [3, None, 1.5, ["y:0"], b"y:0", np.zeros(2)])
def test_other_kinds_are_type_errors(asked: object) -> None:
    with pytest.raises(TypeError, match="x_tensor must be a str or tf.Tensor or tf.Variable, but instead has type"):
        GradientsDebugger().gradient_tensor(asked)


@pytest.mark.parametrize("name", ["y", "y:1", ":0", "z:0"])
def test_unknown_names_are_lookup_errors_and_say_what_is_watched(name: str) -> None:
    y = tf.square(tf.constant(2.0), name="y")
    debugger = GradientsDebugger()
    tf.gradients(tf.exp(debugger.identify_gradient(y)), y)
    with pytest.raises(LookupError, match="has not received any gradient tensor for") as caught:
        debugger.gradient_tensor(name)
    assert not isinstance(caught.value, KeyError)
    assert name in str(caught.value) and "watched are: y:0" in str(caught.value)
