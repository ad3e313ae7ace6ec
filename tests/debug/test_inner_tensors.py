"""Tensors inside of branches and loops: named, printed, watched and differentiated, iteration by iteration."""
from __future__ import annotations

import numpy as np
import pytest
from autodiff.errors import ArgumentError, AutodiffError, UnknownNameError

import autodiff as tf
from autodiff.debug import Debugger

X = np.array([0.1, 0.2, -0.3])
W = 1.2


def model() -> Debugger:
    """A loop of four iterations with a branch, and a loop of two around a loop of three; after one run."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float64, [3], name="x")
        w = tf.Variable(np.float64(W), name="w")

        def body(i, a):
            grown = tf.multiply(a, w * 2, name="grow")
            return i + 1, tf.cond(tf.equal(i, 1), lambda: tf.tanh(grown, name="bent"),
                                  lambda: tf.identity(grown * 3, name="tripled"))

        looped = tf.while_loop(lambda i, a: i < 4, body, [0, x])[1]
        nested = tf.while_loop(
            lambda i, a: i < 2,
            lambda i, a: (i + 1, tf.while_loop(lambda j, b: j < 3, lambda j, b: (j + 1, tf.sin(b, name="wave")), [0, a],
                                               name="short")[1]), [0, x], name="long")[1]
        chosen = tf.cond(tf.constant(True), lambda: tf.exp(x, name="taken"), lambda: tf.negative(x, name="left"))
        loss = tf.reduce_sum(looped) + tf.reduce_sum(nested) + tf.reduce_sum(chosen)
        gradient = tf.gradients(loss, x)[0]
    dbg = Debugger(graph, handles={"loss": loss, "x": x})
    dbg.feed("x", X)
    dbg.run(1, fetches=[loss, gradient])
    return dbg


def iterations() -> tuple[list[np.ndarray], np.ndarray]:
    """`grow` of each iteration, and `bent`, in plain NumPy."""
    a, grown, bent = X, [], np.zeros(0)
    for i in range(4):
        grown.append(a * (W * 2))
        a = np.tanh(grown[-1]) if i == 1 else grown[-1] * 3
        bent = a if i == 1 else bent
    return grown, bent


def test_a_value_is_stacked_by_iteration():
    found = model().value("while/grow")
    np.testing.assert_array_equal(found.array, np.stack(iterations()[0]))
    assert found.when == "step 1, 4 iterations of while"


def test_one_iteration_and_one_element():
    dbg = model()
    np.testing.assert_array_equal(dbg.value("while/grow[2]").array, iterations()[0][2])
    np.testing.assert_array_equal(dbg.value("grow[-1, 0]").array, iterations()[0][3][0])


def test_an_expression_over_iterations():
    ratio = model().value("norm(while/grow[3]) / norm(while/grow[2])").array
    third, fourth = iterations()[0][2:]
    np.testing.assert_allclose(ratio, np.linalg.norm(fourth) / np.linalg.norm(third))


def test_a_branch_in_a_loop_has_the_iterations_that_took_it():
    dbg = model()
    bent, tripled = dbg.value("bent"), dbg.value("tripled")
    np.testing.assert_array_equal(bent.array, iterations()[1][None])
    assert bent.when == "step 1, iteration 1 of while"
    assert tripled.array.shape == (3, 3)
    assert tripled.when == "step 1, iterations 0, 2, 3 of while"


def test_a_loop_in_a_loop_has_an_axis_for_each():
    found = model().value("wave")
    expected = [X]
    for _ in range(6):
        expected.append(np.sin(expected[-1]))
    np.testing.assert_array_equal(found.array, np.reshape(expected[1:], (2, 3, 3)))


def test_the_condition_of_a_loop_is_evaluated_once_more():
    np.testing.assert_array_equal(model().value("while/Less").array, [True] * 4 + [False])


def test_a_branch_alone_has_no_axis():
    np.testing.assert_array_equal(model().value("taken").array, np.exp(X))


def test_a_branch_that_was_not_taken_says_so():
    with pytest.raises(ArgumentError, match="'cond/left:0' was not computed: cond took the other branch"):
        model().value("left")


def test_names_are_found_listed_and_completed():
    dbg = model()
    assert dbg.resolve("/^while.*(bent|tripled)/") == ("while/cond/bent:0", "while/cond/tripled:0")
    assert "while/grow:0" in [row.name for row in dbg.tensors("grow")]
    assert "while/grow:0" in dbg.model.names()
    with pytest.raises(UnknownNameError, match="did you mean 'grow'"):
        dbg.resolve("while/gorw")


def test_the_card_of_an_inner_op_has_figures_and_the_users_line():
    card = model().op("while/grow")
    assert card.outputs[0].stats is not None
    assert card.outputs[0].stats.count == 12
    assert [place.function for place in card.traceback[:2]] == ["body", "model"]


def test_a_tensor_kept_by_the_script_is_a_handle():
    kept = []
    with tf.Graph().as_default() as graph:
        y = tf.while_loop(lambda i: i < 3, lambda i: kept.append(i * 10) or i + 1, [0])
    dbg = Debugger(graph, handles={"inner": kept[0]})
    dbg.run(1, fetches=[y])
    np.testing.assert_array_equal(dbg.value("inner + 0").array, [0, 10, 20])


def test_shapes_that_change_give_a_list():
    with tf.Graph().as_default() as graph:
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.concat([a, [i]], 0, name="longer")),
                          [0, tf.zeros([0], tf.int32)], shape_invariants=[[], [None]])[1]
    dbg = Debugger(graph)
    dbg.run(1, fetches=[y])
    assert [list(part) for part in dbg.value("longer").array] == [[0], [0, 1], [0, 1, 2]]


def test_a_session_still_refuses_to_fetch_one():
    dbg = model()
    inner = dbg.model.targets.one("while/grow")
    with pytest.raises(ValueError, match="while/grow"):
        dbg.session.run(inner)


# ---- gradients -------------------------------------------------------------------------

def test_gradients_at_each_iteration_add_up_to_that_of_the_loop():
    dbg = model()
    first = dbg.grad("while/grow").array[0] * (W * 2)
    waves = dbg.grad("wave").array[0, 0] * np.cos(X)
    np.testing.assert_allclose(dbg.grad("x").array, first + waves + np.exp(X), rtol=1e-12)


def test_a_gradient_at_one_iteration_is_the_change_of_the_loss():
    """The last iteration's `grow` is tripled and summed."""
    found = model().grad("while/grow")
    np.testing.assert_allclose(found.array[3], 3.0)
    assert found.when == "step 1, 4 iterations of while"


def test_a_table_of_gradients_takes_inner_tensors():
    rows = {row.name: row for row in model().grads("/grow|bent|left/").rows}
    assert rows["while/grow:0"].stats.count == 12
    assert rows["while/cond/bent:0"].stats.count == 3


def test_why_tells_how_the_gradient_grows():
    found = model().why("while/grow")
    assert found.kind == "fine"
    assert "4 iterations of while" in found.text
    assert "in the first" in found.text


def exploding(factor: float, count: int) -> Debugger:
    with tf.Graph().as_default() as graph:
        x = tf.constant(np.ones(2), name="x")
        y = tf.while_loop(lambda i, h: i < count, lambda i, h: (i + 1, tf.multiply(h, factor, name="next")), [0, x])[1]
        loss = tf.reduce_sum(y)
        gradient = tf.gradients(loss, x)
    dbg = Debugger(graph, handles={"loss": loss})
    dbg.run(1, fetches=[loss, gradient])
    return dbg


@pytest.mark.parametrize(("factor", "count", "kind"), [(10.0, 8, "exploding"), (0.01, 8, "tiny"), (0.0, 3, "zero")])
def test_why_names_what_explodes_or_vanishes_over_iterations(factor, count, kind):
    found = exploding(factor, count).why("next")
    assert found.kind == kind
    assert found.remedy


def test_why_of_a_value_that_is_not_finite_goes_inside():
    with tf.Graph().as_default() as graph:
        y = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.log(h - 1.0, name="shrink")),
                          [0, tf.constant(2.5)])[1]
    dbg = Debugger(graph)
    dbg.run(1, fetches=[y])
    found = dbg.why("shrink")
    assert "iteration 1 of while" in found.text


def test_what_is_asked_outside_only_says_so():
    with pytest.raises(ArgumentError, match="inside of a branch or loop"):
        model().path("loss", "while/grow")


# ---- Python functions inside ------------------------------------------------------------

def counting() -> tuple[Debugger, list[float]]:
    """A loop, in one branch of which a Python function is called that gives another number each time."""
    calls: list[float] = []

    def number(v):
        calls.append(float(v))
        return np.float64(len(calls))

    with tf.Graph().as_default() as graph:
        x = tf.constant(np.array([5.0, -1.0, 7.0]), name="x")
        y = tf.map_fn(lambda v: v * tf.cond(v > 0, lambda: tf.py_func(number, [v], tf.float64, name="numbered"),
                                            lambda: tf.constant(0.5, tf.float64)), x, name="each")
        loss = tf.reduce_sum(y, name="loss")
        gradient = tf.gradients(loss, x, name="slope")[0]
    dbg = Debugger(graph, handles={"loss": loss, "x": x, "gradient": gradient})
    dbg.run(1, fetches=[loss, gradient])
    return dbg, calls


def test_a_python_function_in_a_loop_is_not_called_again():
    dbg, calls = counting()
    np.testing.assert_array_equal(dbg.value("loss").array, dbg.result[0])
    np.testing.assert_array_equal(dbg.value("gradient").array, [1.0, 0.5, 2.0])
    np.testing.assert_array_equal(dbg.value("numbered").array, [1.0, 2.0])
    np.testing.assert_array_equal(dbg.value("each/while/mul").array, [5.0, -0.5, 14.0])
    assert calls == [5.0, 7.0]


def test_what_python_gave_in_a_loop_is_recorded(tmp_path):
    dbg, calls = counting()
    dbg.record(str(tmp_path / "run"))
    dbg.run(1)
    dbg.recordings.stop()
    seen = dbg.result[0]
    again = Debugger()
    again.open_recording(str(tmp_path / "run"))
    np.testing.assert_array_equal(again.value("loss").array, seen)
    np.testing.assert_array_equal(again.value("numbered").array, [3.0, 4.0])
    assert calls == [5.0, 7.0] * 2


# ---- watches and stops -------------------------------------------------------------------

def test_a_watch_sees_each_iteration_and_its_gradient():
    dbg = model()
    dbg.watch("while/grow")
    record = dbg.run(1).records[-1]
    value, gradient = record.sample("while/grow:0"), record.sample("while/grow:0", gradient=True)
    grown = iterations()[0]
    np.testing.assert_allclose([stats.norm for stats in value.turns], [np.linalg.norm(g) for g in grown])
    assert value.stats.count == 12
    assert len(gradient.turns) == 4
    np.testing.assert_allclose(gradient.turns[3].norm, np.sqrt(27.0))


def test_a_watch_of_a_branch_that_is_not_taken_says_so():
    dbg = model()
    dbg.watch("left")
    sample = dbg.run(1).records[-1].sample("cond/left:0")
    assert sample.stats is None
    assert "the other branch" in sample.missing


def test_a_condition_holds_of_one_iteration():
    dbg = model()
    dbg.break_at("while/grow", condition="norm(.) > 20")
    stop = dbg.run(1).stop
    assert "iteration 3 of 4" in stop.text
    assert stop.target == "while/grow:0"


def test_a_breakpoint_inside_of_a_loop_stops_at_the_loop():
    dbg = model()
    dbg.break_at("while/grow")
    stop = dbg.run(1).stop
    assert stop.target == "while/grow:0"
    assert dbg.stepper.goto("while/grow").op == "while/While"


def test_what_was_watched_is_in_a_recording(tmp_path):
    dbg = model()
    dbg.watch("while/grow")
    dbg.record(str(tmp_path / "run"))
    expected = dbg.run(1).records[-1].samples
    dbg.recordings.stop()
    again = Debugger()
    again.open_recording(str(tmp_path / "run"))
    assert again.records[-1].samples == expected


@pytest.mark.parametrize("act", [
    lambda dbg: dbg.set("while/grow", 3.0), lambda dbg: dbg.freeze("while/grow"),
    lambda dbg: dbg.feed("while/grow", 1.0), lambda dbg: dbg.hessian("while/grow"),
    lambda dbg: dbg.grad("x", "while/grow")])
def test_what_cannot_be_done_inside_is_refused(act):
    with pytest.raises(ArgumentError, match="'while/grow:0' is inside of 'while/While'"):
        act(model())


def test_lines_of_a_body_show_their_ops():
    dbg = model()
    place = dbg.op("while/grow").traceback[0]
    line = next(line for line in dbg.source(f"{place.file}:{place.line}").lines if line.current)
    assert "while/grow:0" in line.tensors


def test_gradients_by_what_a_gradients_own_loop_computes() -> None:
    """Its loop takes lists of tensors, which are no arrays."""
    with tf.Graph().as_default() as graph:
        w = tf.Variable(np.full(2, 0.5), name="w")
        looped = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, tf.sin(v) * w), [0, w.value()])[1]
        loss = tf.reduce_sum(tf.square(looped), name="loss")
    dbg = Debugger(graph, handles={"loss": loss})
    dbg.train("loss", lr=0.1)
    dbg.run(1)
    inside = [name for name in dbg.model.names() if "While_grad/" in name]
    assert len(inside) > 10
    for name in inside:
        try:
            dbg.grad(name)
        except AutodiffError as error:
            assert error.message
