"""Why a gradient is None, not finite, zero or tiny: the bugs people report, each explained by op, line and numbers."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.graph import Tensor
from autodiff.debug import Debugger
from autodiff.debug.analysis.findings import Origin, WhyNone, WhyNonfinite, WhySmall
from autodiff.debug.analysis.why import why_none

Model = Callable[[Any], Any]


def debugged(model: Model, *values: Any, dtype: Any = np.float32) -> Debugger:
    """A Debugger after one run of `model`'s loss; its variables are a, b, …"""
    graph = tf.Graph()
    with graph.as_default():
        variables = [tf.Variable(np.asarray(v, dtype), name=name) for name, v in zip("abc", values)]
        loss = tf.identity(model(*variables), name="loss")
    dbg = Debugger(graph, handles={"loss": loss})
    dbg.model.initialize()
    dbg.run(1)
    return dbg


def first_line_of(model: Model) -> int:
    return inspect.getsourcelines(model)[1]


# ---- None -------------------------------------------------------------------------------

def test_a_resource_variable_that_another_loss_uses() -> None:
    with tf.Graph().as_default() as graph:
        w, other = (tf.Variable([1.0, 2.0], use_resource=True) for _ in range(2))
        tf.reduce_sum(other * 2.0)  # the assignment of `other` has no outputs
        loss = tf.reduce_sum(w * w)
    found = Debugger(graph, handles={"loss": loss, "other": other}).why("other")
    assert isinstance(found, WhyNone) and "depend" in found.text


def rounded(a: Tensor) -> Tensor:
    return tf.reduce_sum(tf.round(a * 3.0) * 2.0)


def counted(a: Tensor) -> Tensor:
    return tf.reduce_sum(tf.cast(tf.cast(a * 3.0, tf.int32), tf.float32))


def chosen(a: Tensor) -> Tensor:
    return tf.reduce_sum(tf.cast(tf.argmax(a, 0), tf.float32))


def stopped(a: Tensor) -> Tensor:
    return tf.reduce_sum(tf.stop_gradient(a * 2.0))


def looked_up(a: Tensor) -> Tensor:
    return tf.reduce_sum(tf.gather([3.0, 4.0], tf.minimum(tf.argmax(a, 0) + 1, 1)))


@pytest.mark.parametrize(("model", "op_type", "kind"), [
    (rounded, "Round", "no gradient"), (chosen, "ArgMax", "no gradient"), (stopped, "StopGradient", "stop_gradient"),
    (looked_up, "ArgMax", "no gradient")])
def test_none_names_the_cut_and_its_line(model: Model, op_type: str, kind: str) -> None:
    dbg = debugged(model, [1.0, 2.0])
    found: WhyNone = dbg.why("a")
    assert (found.kind, [cut.op_type for cut in found.cuts if cut.first]) == ("cut", [op_type])
    cut = found.cuts[0]
    assert cut.kind == kind and cut.remedy and cut.place is not None
    assert cut.place.line == first_line_of(model) + 1
    assert op_type in found.text and f"test_why.py:{cut.place.line}" in found.text
    assert dbg.grad("a").array is None and dbg.grad("a").reason == found.text


def test_none_by_an_integer_cast() -> None:
    found = debugged(counted, [1.0, 2.0]).why("a")
    assert found.kind == "cut" and found.cuts[0].op_type == "Cast"


def test_cuts_behind_the_first_are_listed_as_hidden() -> None:
    dbg = debugged(lambda a: tf.reduce_sum(tf.stop_gradient(tf.round(tf.stop_gradient(a) * 2.0)) * 1.0), [1.0])
    cuts = dbg.why("a").cuts
    assert [(cut.op_type, cut.first) for cut in cuts] == [("StopGradient", True), ("Round", False), ("StopGradient",
                                                                                                     False)]


def test_none_because_it_is_not_used() -> None:
    found = debugged(lambda a, b: tf.reduce_sum(a), [1.0], [2.0]).why("b")
    assert (found.kind, found.cuts) == ("disconnected", ())
    assert "nothing uses it" in found.text


def test_none_because_a_loss_is_made_of_what_is_fed_alone() -> None:
    def model(a: Any) -> Any:
        x = tf.placeholder_with_default([2.0], [1], name="x")
        return tf.reduce_sum(x * x)

    found = debugged(model, [1.0]).why("a")
    assert "is made of what is fed alone, as for 'x'" in found.text and found.remedy.endswith(" of 'a' in place of 'x'")


def test_none_because_another_variable_of_its_shape_is_used_in_its_place() -> None:
    def model(a: Any, b: Any, c: Any) -> Any:
        hidden = tf.nn.relu(tf.matmul(tf.ones([1, 2]), a) + c)
        return tf.reduce_sum(tf.matmul(hidden, a) + c * len(c.shape))

    last = inspect.getsourcelines(model)[1] + 2
    found = debugged(model, np.eye(2), np.eye(2), np.eye(2)[0]).why("b")
    assert found.text.endswith(f"nothing uses it; 'a', of the same shape, is used twice at test_why.py:{last - 1} and "
                               f"at test_why.py:{last}")
    assert found.remedy == f"use 'b' in place of 'a' at test_why.py:{last}"
    found = debugged(model, np.eye(2), np.eye(2), np.eye(2)).why("b")  # where two may be meant, none is named
    assert found.text.endswith("nothing uses it")


def test_none_as_numbers_that_were_fetched_stand_in_its_place() -> None:
    found = debugged(lambda a: tf.reduce_sum(tf.constant([1.5, 2.5]) * 2.0), [1.5, 2.5]).why("a", kind="none")
    assert "constants only" in found.text
    dbg = debugged(lambda a, b: tf.reduce_sum(b * np.float32([1.5, 2.5])), [1.5, 2.5], [1.0, 1.0])
    found = dbg.explain.why_missing("a")
    assert "a constant of its shape at test_why.py" in found.text and "compute with the variable itself" in found.remedy


def test_none_does_not_blame_the_count_that_a_mean_divides_by() -> None:
    def mean(a: Tensor) -> Tensor:
        kept = tf.round(a)
        return tf.reduce_sum(kept) / tf.cast(tf.size(tf.boolean_mask(a, a > 0)), tf.float32)

    found = debugged(mean, [1.5, 2.5]).explain.why_missing("a")
    assert "Round" in found.text and "Size" not in found.text and "Size" in [cut.op_type for cut in found.cuts]


def test_none_because_it_is_used_elsewhere() -> None:
    def model(a: Tensor, b: Tensor) -> Tensor:
        tf.reduce_sum(tf.exp(b), name="metric")
        return tf.reduce_sum(a)

    assert "not on the way to loss:0" in debugged(model, [1.0], [2.0]).why("b").text


def test_none_the_other_way_round() -> None:
    dbg = debugged(lambda a: tf.reduce_sum(tf.exp(a, name="e")), [1.0])
    found = dbg.why("loss", "e")
    assert "the other way round" in found.text if isinstance(found, WhyNone) else True
    assert "the other way round" in dbg.explain.why_missing("loss", "e").text


def test_none_because_the_call_holds_it_constant() -> None:
    graph = tf.Graph()
    with graph.as_default():
        a = tf.constant([1.0], name="a")
        b = tf.exp(a, name="b")
        y = tf.reduce_sum(b * 2.0, name="y")
        tf.gradients(y, [a], stop_gradients=[b])
    dbg = Debugger(graph)
    dbg.run(1, fetches=y)
    found = dbg.why("a", kind="none")
    assert found.kind == "held" and "'b:0'" in found.text


def test_every_missing_variable_at_once() -> None:
    dbg = debugged(lambda a, b, c: tf.reduce_sum(a) + tf.reduce_sum(tf.round(b)), [1.0], [2.0], [3.0])
    assert [(w.x, w.kind) for w in dbg.why(kind="none")] == [("b:0", "cut"), ("c:0", "disconnected")]


# ---- not finite -------------------------------------------------------------------------

def test_a_count_that_is_trainable_by_default_lacks_no_gradient() -> None:
    def model(a: Tensor) -> Tensor:
        tf.Variable(0, name="count")
        return tf.reduce_sum(tf.square(a))

    assert debugged(model, [1.0, 2.0]).why(kind="none") == ()


def where_trap(a: Tensor) -> Tensor:
    return tf.reduce_sum(tf.where(a > 0.0, tf.log(a), tf.zeros_like(a)))


def log_of_zero(a: Tensor) -> Tensor:
    return tf.reduce_sum(tf.log(a))


def norm_at_zero(a: Tensor) -> Tensor:
    return tf.sqrt(tf.reduce_sum(a * a))


def divided(a: Tensor, b: Tensor) -> Tensor:
    return tf.reduce_sum(a / b)


def power(a: Tensor) -> Tensor:
    return tf.reduce_sum(tf.pow(a, 0.5))


def exploded(a: Tensor) -> Tensor:
    return tf.reduce_sum(tf.exp(a))


def root_of_negative(a: Tensor) -> Tensor:
    return tf.reduce_sum(tf.sqrt(a))


def squared(a: Tensor) -> Tensor:
    return tf.reduce_sum(tf.square(a))


def reciprocal(a: Tensor) -> Tensor:
    return tf.reduce_sum(tf.reciprocal(a))


SUITE = [  # model, values, phase, forward op type, first bad element, words of the rule
    (where_trap, ([2.0, 0.0],), "backward", "Log", (1,), "in d log"),
    (log_of_zero, ([1.0, 0.0],), "forward", "Log", (1,), "log(0) = -inf"),
    (log_of_zero, ([1.0, 2.0, -3.0],), "forward", "Log", (2,), "log(-3) = nan"),
    (norm_at_zero, ([0.0, 0.0],), "backward", "Sqrt", (), "in d sqrt"),
    (divided, ([1.0, 0.0], [1.0, 0.0]), "forward", "RealDiv", (1,), "0 / 0 = nan"),
    (divided, ([1.0, 2.0], [1.0, 0.0]), "forward", "RealDiv", (1,), "2 / 0 = inf"),
    (power, ([1.0, 0.0],), "backward", "Pow", (1,), "in d pow"),
    (exploded, ([1.0, 100.0],), "forward", "Exp", (1,), "exp(100) = inf: too large"),
    (root_of_negative, ([1.0, -1.0],), "forward", "Sqrt", (1,), "sqrt(-1) = nan"),
    (squared, ([1.0, 1e30],), "forward", "Square", (1,), "square(1e+30) = inf: too large"),
    (reciprocal, ([1.0, 0.0],), "forward", "Reciprocal", (1,), "1 / 0 = inf"),
]


@pytest.mark.parametrize(("model", "values", "phase", "forward_type", "element", "words"), SUITE,
                         ids=[f"{row[0].__name__}-{i}" for i, row in enumerate(SUITE)])
def test_the_culprit_is_named(model: Model, values: tuple, phase: str, forward_type: str, element: tuple,
                              words: str) -> None:
    dbg = debugged(model, *values)
    found: WhyNonfinite = dbg.why(kind="nan")
    origin: Origin = found.origins[0]
    assert (origin.phase, origin.forward_type) == (phase, forward_type)
    assert origin.harmful and origin.elements[0] == element
    assert words in origin.rule
    assert origin.remedy
    assert origin.place is not None and origin.place.line == first_line_of(model) + 1


def test_the_branch_not_taken_is_masked_and_the_trap_is_named() -> None:
    found = debugged(where_trap, [2.0, 0.0]).why("a")
    assert [o.trap for o in found.origins] == ["where"]
    assert "guard the input" in found.origins[0].remedy
    whole = debugged(where_trap, [2.0, 0.0]).why(kind="nan")
    assert [(o.op_type, o.rule) for o in whole.masked] == [("Log", "log(0) = -inf")]


def test_inheritors_are_counted_and_not_accused() -> None:
    def model(a: Tensor) -> Tensor:
        x = tf.log(a)
        for _ in range(10):
            x = x * 1.5
        return tf.reduce_sum(x)

    found = debugged(model, [1.0, -1.0]).why("loss")
    assert [o.op_type for o in found.origins] == ["Log"]
    assert found.inherited >= 10


def test_inf_minus_inf_is_told_after_its_cause() -> None:
    found = debugged(lambda a: tf.reduce_sum(tf.exp(a) - tf.exp(a)), [100.0]).why("loss")
    assert [(o.op_type, o.secondary) for o in found.origins] == [("Exp", False), ("Exp", False), ("Sub", True)]
    assert found.origins[-1].rule == "inf - inf = nan"


def test_an_underflow_is_told_from_a_zero() -> None:
    small = debugged(norm_at_zero, [1e-30, 0.0]).why("a").origins[0]
    zero = debugged(norm_at_zero, [0.0, 0.0]).why("a").origins[0]
    assert (small.trap, zero.trap) == ("underflow", "")
    assert "Mul(1e-30) = 0 in float32" in small.rule


def test_nan_that_answers_to_something_infinite_is_no_origin() -> None:
    def model(a: Tensor) -> Tensor:
        clipped, _ = tf.clip_by_global_norm([tf.log(a), a], 1.0)
        return tf.reduce_sum(clipped[1])  # not of the logarithm, but for the norm of both

    assert [o.op_type for o in debugged(model, [0.0, 1.0]).why("loss").origins] == ["Log"]


def test_a_fed_nan_and_a_variable_are_named() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [2], name="x")
        loss = tf.reduce_sum(x * 2.0, name="loss")
    dbg = Debugger(graph)
    dbg.feed("x", [1.0, np.nan])
    dbg.run(1, fetches=loss)
    origin = dbg.why("loss").origins[0]
    assert (origin.phase, origin.op, origin.elements) == ("input", "x", ((1,),))
    assert "the value fed for 'x' contains nan" in origin.rule


def test_nothing_is_blamed_when_all_is_finite() -> None:
    found = debugged(squared, [1.0, 2.0]).why(kind="nan")
    assert (found.origins, found.masked) == ((), ())
    assert "is finite" in found.text


def overflowing(a: Tensor) -> Tensor:
    _, h = tf.while_loop(lambda i, h: i < 9, lambda i, h: (i + 1, h * h * 1e30), [0, a])
    return tf.reduce_sum(tf.tanh(h))


def test_what_a_loop_kept_for_its_gradient_is_traced_to_its_iteration() -> None:
    graph = tf.Graph()
    with graph.as_default():
        a = tf.Variable([1.0, 1e-38], name="a")
        loss = overflowing(a)
        slope = tf.gradients(loss, a)[0]
    dbg = Debugger(graph, handles={"loss": loss})
    dbg.model.initialize()
    with tf.Session(graph=graph) as session:
        session.run(tf.variables_initializer([a]))
        dbg.attach(graph, session)
        dbg.run(1, fetches=[loss, slope])
        found: WhyNonfinite = dbg.why(kind="nan")
    first = found.origins[0]
    assert (first.phase, first.forward_type, first.harmful) == ("forward", "Mul", True) and "iteration" in first.inside
    assert first.place is not None and first.place.line == first_line_of(overflowing) + 1


# ---- zero and tiny ----------------------------------------------------------------------

def test_dead_relu() -> None:
    dbg = debugged(lambda a: tf.reduce_sum(tf.square(tf.nn.relu(a) + 1.0)), [-1.0, -2.0])
    found: WhySmall = dbg.why("a")
    assert (found.kind, found.losses[0].op_type) == ("zero", "Relu")
    assert "100% of its inputs are <= 0" in found.text and found.remedy


def test_saturation() -> None:
    dbg = debugged(lambda a: tf.reduce_sum(tf.tanh(a)), [12.0, -12.0], dtype=np.float64)
    found = dbg.why("a")
    assert (found.kind, found.losses[0].op_type) == ("tiny", "Tanh")
    assert "saturated" in found.text


def test_a_healthy_gradient_is_said_to_be_fine() -> None:
    assert debugged(squared, [1.0, 2.0]).why("a").kind == "fine"


# ---- the way ----------------------------------------------------------------------------

def test_path_gives_norms_and_gains() -> None:
    dbg = debugged(lambda a: tf.reduce_sum(tf.square(a * 10.0)), [1.0, 2.0], dtype=np.float64)
    found = dbg.path("", "a")
    assert [hop.op_type for hop in found.hops] == ["Identity", "Sum", "Square", "Mul", "Identity"]
    gains = [hop.gain for hop in found.hops]
    norm_at_square = np.linalg.norm([20.0, 40.0])
    np.testing.assert_allclose(gains[1:4], [np.sqrt(2), norm_at_square / np.sqrt(2), 10.0], rtol=1e-12)
    assert (found.paths, found.strongest) == (1, found.hops[2].op)


def test_two_to_the_twenty_paths_are_counted_exactly() -> None:
    def model(a: Tensor) -> Tensor:
        for _ in range(20):
            a = a + a
        return tf.reduce_sum(a)

    assert debugged(model, 1.0).path("", "a").paths == 2 ** 20


def test_partly_cut_paths_list_their_cuts() -> None:
    found = debugged(lambda a: tf.reduce_sum(tf.round(a) + a), [1.0]).path("", "a")
    assert found.hops and [(cut.op_type, cut.first) for cut in found.cuts] == [("Round", True)]


# ---- which run --------------------------------------------------------------------------

def test_a_spoiled_variable_leads_back_to_the_step_that_spoiled_it() -> None:
    graph = tf.Graph()
    with graph.as_default():
        a = tf.Variable([2.0, 0.0], name="a")
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.reduce_sum(x * where_trap(a), name="loss")
    dbg = Debugger(graph)
    dbg.feed("x", [1.0, 1.0])
    dbg.train("loss", lr=0.1)
    dbg.run(3)
    found = dbg.why(kind="nan")
    assert found.step == 1 and found.text.startswith("variable 'a' is not finite since step 1: ")
    assert found.origins[0].trap == "where" and "tf.where does not take" in found.text


def test_a_run_that_fed_nothing_does_not_hide_the_last_that_did() -> None:
    graph = tf.Graph()
    with graph.as_default():
        a = tf.Variable([1.0], name="a")
        x = tf.placeholder(tf.float32, [1], name="x")
        tf.reduce_sum(tf.log(x * a), name="loss")
    dbg = Debugger(graph)
    dbg.feed("x", [0.0])
    dbg.run(1, fetches="loss:0")
    with tf.Session(graph=graph) as session:
        session.run(tf.global_variables_initializer())
        dbg.on_run(session, a)
    assert dbg.value("loss").when == "step 1"
    assert [o.op_type for o in dbg.why(kind="nan").origins][:1] == ["Log"]


# ---- where the way is lost ----------------------------------------------------------------

def test_zero_of_a_loop_names_the_op_inside_that_holds_its_variable() -> None:
    def model(a: Tensor) -> Tensor:
        return tf.reduce_sum(tf.while_loop(lambda i, h: i < 3, lambda i, h: (
            i + 1, tf.tanh(tf.stop_gradient(h) * tf.stop_gradient(a) + 2.0)), [0, a])[1])
    found = debugged(model, [1.0, 2.0]).why("a", "loss")
    assert isinstance(found, WhySmall) and "while/StopGradient" in found.text and "remove the" in found.remedy


def test_none_of_a_loop_that_returns_its_variable_as_it_was() -> None:
    def model(a: Tensor) -> Tensor:
        def body(i: Tensor, h: Tensor) -> Any:
            tf.tanh(h + a)
            return i + 1, h
        return tf.reduce_sum(tf.while_loop(lambda i, h: i < 3, body, [0, tf.zeros([2])])[1])

    found = debugged(model, [1.0, 2.0]).why("a", kind="none")
    assert "loop variable 2 is returned as it was given" in found.text and "while/Tanh at test_why.py" in found.text
    assert found.remedy.startswith("return from the body what it computes")


def test_none_of_a_loop_names_the_op_inside_that_cuts() -> None:
    def model(a: Tensor) -> Tensor:
        body = lambda i, h: (i + 1, h + tf.round(a))  # noqa: E731
        return tf.reduce_sum(tf.while_loop(lambda i, h: i < 3, body, [0, tf.zeros([2])])[1])

    found = debugged(model, [1.0, 2.0]).why("a", kind="none")
    assert "inside of it while/Round (Round) at test_why.py" in found.text and "tf.round" in found.remedy


def test_none_of_what_is_only_accumulated() -> None:
    def model(a: Tensor) -> Tensor:
        total = tf.Variable(0.0, trainable=False, name="total")
        tf.assign_add(total, tf.reduce_sum(a))
        return total * 2.0

    found = debugged(model, [1.0, 2.0]).explain.why_missing("a")
    assert "it goes into 'total' by AssignAdd" in found.text and "for reports" in found.remedy


def test_none_as_another_call_of_the_same_line_is_used() -> None:
    def model(a: Tensor, b: Tensor) -> Tensor:
        def net(x: Tensor) -> Tensor:
            return tf.exp(x * 2.0)
        mine, theirs = net(a), net(b)
        assert mine is not None
        return tf.reduce_sum(theirs * 3.0)

    found = debugged(model, [1.0], [2.0]).explain.why_missing("a")
    assert "it is in 'Exp'" in found.text and "is made of 'Exp_1'" in found.text
    assert found.remedy == f"use 'Exp' in place of 'Exp_1' at test_why.py:{first_line_of(model) + 5}"


def test_none_of_a_sample_and_of_an_index_say_what_to_do_instead() -> None:
    drawn = debugged(lambda a: tf.reduce_sum(tf.one_hot(tf.multinomial([a], 1)[:, 0], 2)), [1.0, 2.0]).why("a")
    assert "here those of multinomial/Multinomial" in drawn.text and "Gumbel" in drawn.remedy
    index = debugged(lambda a: tf.gather([3.0, 4.0], tf.cast(tf.round(a), tf.int32)), 1.0).why("a")
    assert "an index has no gradient" in index.remedy


def test_why_none_answers_for_what_the_script_asked_in_vain() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder_with_default(np.float32([1.0, 2.0]), [2], name="x")
        copy = tf.reshape(x, [2, 1], name="copy")
        loss = tf.reduce_sum(tf.exp(x * tf.Variable(2.0, name="w")), name="loss")
        tf.gradients(loss, copy)
    dbg = Debugger(graph, handles={"loss": loss})
    assert [each.x for each in dbg.why(kind="none")] == ["copy:0"]


def test_nan_of_a_dataset_names_the_op_of_its_map_function() -> None:
    graph = tf.Graph()
    with graph.as_default():
        rows = tf.data.Dataset.from_tensor_slices(np.float32([[1.0], [0.0]])).map(lambda x: tf.log(x)).batch(2)
        loss = tf.reduce_sum(rows.repeat().make_one_shot_iterator().get_next() * tf.Variable(2.0), name="loss")
    dbg = Debugger(graph, handles={"loss": loss})
    dbg.model.initialize()
    dbg.run(1)
    first = dbg.why(kind="nan").origins[0]
    assert "its map function computes log at test_why.py" in first.rule and "tf.log(tf.maximum(x" in first.remedy


def test_a_variable_read_after_its_update_is_told_as_it_was_read() -> None:
    graph = tf.Graph()
    with graph.as_default():
        moved, kept = (tf.Variable(np.float32([1.0, 2.0]), name=name) for name in ("moved", "kept"))
        with tf.control_dependencies([moved.assign(moved * [-3.0, 4.0]), kept.assign(-kept.initialized_value() * 5.0)]):
            sums = tf.add(moved, 0.5, name="sums")
            loss = tf.reduce_sum(tf.sqrt(sums) * kept, name="loss")
        tf.gradients(loss, moved)
    dbg = Debugger(graph, handles={"loss": loss})
    dbg.model.initialize()
    dbg.run(1)
    first = dbg.why(kind="nan").origins[0]
    assert first.rule == "sqrt(-2.5) = nan"
    assert [link.text for link in first.chain] == ["1 * (-3) = -3", "(-3) + 0.5 = -2.5", "sqrt(-2.5) = nan"]
    assert (read := dbg.op("sums").inputs[0].stats) is not None and (read.minimum, read.maximum) == (-3.0, 8.0)
    np.testing.assert_array_equal(dbg.value("kept/read").array, [-5.0, -10.0])  # all that read it waited
    np.testing.assert_array_equal(dbg.value("moved/read").array, [1.0, 2.0])  # its update did not


def test_none_of_a_branch_names_the_op_inside_that_cuts() -> None:
    found = debugged(lambda a: tf.cond(tf.constant(True), lambda: tf.reduce_sum(tf.round(a)), lambda: 1.0),
                     [1.0, 2.0]).why("a", kind="none")
    assert "inside of it cond/Round (Round) at test_why.py" in found.text and "tf.round" in found.remedy


def test_none_of_what_leads_to_something_that_nothing_uses() -> None:
    def model(a: Tensor, b: Tensor) -> Tensor:
        tf.exp(a + b, name="moved")
        return tf.reduce_sum(b * 2.0)

    found = debugged(model, [1.0], [2.0]).explain.why_missing("a")
    assert "it leads to 'moved' at test_why.py" in found.text
    assert found.remedy == "compute loss:0 of 'moved' in place of 'b'"


def test_none_as_numbers_stand_in_the_place_of_what_is_made_of_it() -> None:
    def model(a: Tensor, b: Tensor) -> Tensor:
        tf.exp(a, name="features")
        return tf.reduce_sum(b * np.float32([2.5, 7.5]))

    found = debugged(model, [1.0, 2.0], [2.0, 3.0]).explain.why_missing("a")
    assert "in its place" in found.text or "in the place of what is made of it" in found.text


def test_all_variables_that_are_zero_are_named_together() -> None:
    def layers(x: Tensor, v: Tensor, w: Tensor) -> Tensor:
        return tf.reduce_sum(tf.matmul(tf.nn.relu(tf.matmul(x, v)), w))

    found = debugged(layers, np.ones((2, 3)), np.zeros((3, 4)), np.zeros((4, 1))).why("b")
    assert "variable c" in found.text and "and so is b" in found.text and "initialize them" in found.remedy


def test_a_list_of_the_wrong_variables_is_told_the_right_ones() -> None:
    with tf.Graph().as_default():
        x, made = tf.placeholder(tf.float32, [None, 2]), []
        for name in ("main", "target"):
            with tf.variable_scope(name):
                made.append(tf.layers.dense(x, 1))
        loss = tf.reduce_mean(tf.square(made[0]))
        with pytest.raises(ValueError, match="No gradients provided"):
            tf.train.AdamOptimizer().minimize(loss, var_list=tf.trainable_variables("target"))
        found = Debugger(tf.get_default_graph(), handles={"loss": loss}).why("target/dense/kernel", "loss")
    assert found.remedy.startswith("give var_list what") and "'main/dense/kernel'" in found.remedy


def test_of_two_losses_that_hold_the_same_constant_one_is_to_blame() -> None:
    """As of a codebook: the straight-through estimator beside them is meant."""
    with (graph := tf.Graph()).as_default():
        z, code = tf.Variable([1.0, 2.0], name="z"), tf.Variable([0.5, 1.5], name="code")
        first = tf.reduce_mean(tf.square(tf.stop_gradient(code, name="first") - z))
        second = tf.reduce_mean(tf.square(tf.stop_gradient(code, name="second") - z))
        passed = z + tf.stop_gradient(code - z, name="passed")
        found = why_none(first + 0.25 * second + tf.reduce_sum(passed), graph.operations["code"].outputs[0])
        alone = why_none(tf.reduce_sum(passed), graph.operations["code"].outputs[0])
    assert [cut.op for cut in found.cuts] == ["first", "second", "passed"]
    assert "hold the same side constant" in found.text
    assert found.remedy.startswith("let one of them train it")
    assert [cut.op for cut in alone.cuts] == ["passed"]
