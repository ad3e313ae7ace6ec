"""`check` names the op whose gradient rule is wrong: mutated rules are found, right ones are left in peace."""
from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.graph import Tensor
from autodiff.core.indexed_slices import dense
from autodiff.core.op import OPS, REGISTERED_GRADIENTS, Blocked
from autodiff.debug import Debugger
from autodiff.debug.analysis.findings import RuleCheck
from autodiff.debug.analysis.float64_kernels import Kernels
from autodiff.debug.analysis.rule_check import check_op
from autodiff.foreign import lapack

from ..expect import expect_none
from ..ops.built import Built
from ..ops.case import Case
from ..ops.op_cases import CASES

GOOD = [case for case in CASES if case.fails is None and case.through is None]


def verdicts(row: Built, order: int = 1) -> list[RuleCheck]:
    with row.graph.as_default():
        known = dict(zip(row.op.inputs, row.run(list(row.op.inputs)))) if row.op.inputs else {}
        return check_op(row.op, known, contextlib.nullcontext, order)


def is_checkable(case: Case) -> bool:
    """Whether the row has a rule that gives some input a gradient which can be judged."""
    definition = OPS[case.op]
    if definition.gradient_rule is None or definition.stateful:
        return False
    row = Built(case)
    return bool(row.float_outputs()) and not any(t.dtype.is_ref or t.dtype.name == "resource" for t in row.op.inputs)


# Ops that are not judged: they compute in float32 only, or their gradient refuses to be differentiated.
NOT_JUDGED = {"CTCLoss", "CTCLossV2", "CropAndResize", "CropAndResizeGradImage", "ImageProjectiveTransformV2",
              "ResizeBicubicGrad", "ResizeBilinearGrad", "ScaleAndTranslate", "ScaleAndTranslateGrad"}


@pytest.mark.parametrize("op", sorted({case.op for case in GOOD}))
def test_right_rules_are_judged_and_left_in_peace(op: str) -> None:
    rows = [case for case in GOOD if case.op == op and is_checkable(case)]
    found = {case.name: verdicts(Built(case), 2 if case.second else 1) for case in rows}
    expect_none([(name, check) for name, checks in found.items() for check in checks if check.verdict == "wrong"])
    is_judged = any(check.verdict == "right" for checks in found.values() for check in checks)
    assert is_judged == (bool(rows) and op not in NOT_JUDGED)


# ---- mutations --------------------------------------------------------------------------
Rule = Callable[..., Any]


def as_list(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (list, tuple)) and not isinstance(found, Blocked) else [found]


def given(found: list[Any]) -> list[int]:
    return [i for i, dx in enumerate(found) if dx is not None and not isinstance(dx, Blocked)
            and dense(dx).dtype.base_dtype.is_differentiable]


def negated(node: Any, found: list[Any]) -> list[Any]:
    i = given(found)[0]
    return [-dense(dx) if k == i else dx for k, dx in enumerate(found)]


def doubled(node: Any, found: list[Any]) -> list[Any]:
    i = given(found)[-1]
    return [dense(dx) * 2.0 if k == i else dx for k, dx in enumerate(found)]


def slightly_off(node: Any, found: list[Any]) -> list[Any]:
    i = given(found)[-1]
    return [dense(dx) * 1.001 if k == i else dx for k, dx in enumerate(found)]


def element_lost(node: Any, found: list[Any]) -> list[Any]:
    """A term is missing: the gradient of the element that has the largest."""
    i = given(found)[-1]
    dx = dense(found[i])
    keep = tf.cast(tf.abs(dx) < tf.reduce_max(tf.abs(dx)), dx.dtype)
    return [dx * keep if k == i else other for k, other in enumerate(found)]


def plus_input(node: Any, found: list[Any]) -> list[Any]:
    """A term too many."""
    i = given(found)[0]
    return [dense(dx) + 0.01 * node.inputs[k] if k == i else dx for k, dx in enumerate(found)]


def averaged(node: Any, found: list[Any]) -> list[Any]:
    """Summed up and spread again: a reduction in the wrong place."""
    i = given(found)[-1]
    return [tf.zeros_like(dense(dx)) + tf.reduce_mean(dense(dx)) if k == i else dx for k, dx in enumerate(found)]


def swapped(node: Any, found: list[Any]) -> list[Any]:
    """The gradients of two inputs of one shape in the wrong order, where there are two."""
    if len(given(found)) > 1:
        i, j = given(found)[:2]
        found[i], found[j] = found[j], found[i]
    return found


MUTATIONS = [negated, doubled, slightly_off, element_lost, plus_input, averaged, swapped]


def fits(case: Any, mutation: Any) -> bool:
    """Whether a mutation changes the rule of this row at all."""
    shapes = [np.shape(v) for v in case.inputs if np.asarray(v).dtype.kind == "f"]
    real = all(np.asarray(v).dtype.kind != "c" for v in case.inputs)
    if mutation is swapped:
        return len(shapes) >= 2 and shapes[0] == shapes[1] and case.op not in ("Add", "AddV2", "AddN")
    if mutation in (element_lost, averaged):
        return bool(shapes) and int(np.prod(shapes[0])) > 1 and real
    return bool(shapes) and real


@contextlib.contextmanager
def mutated(op: str, mutation: Any) -> Iterator[None]:
    definition = OPS[op]
    rule: Rule = definition.gradient_rule  # type: ignore[assignment]
    definition.gradient_rule = lambda node, *dys: mutation(node, as_list(rule(node, *dys)))
    try:
        yield
    finally:
        definition.gradient_rule = rule


def gradients_of(row: Built) -> list[np.ndarray]:
    with row.graph.as_default():
        ys = row.float_outputs()
        weights = [tf.constant(np.random.default_rng(5).standard_normal(np.shape(v))) for v in row.run(ys)]
        found = tf.gradients(ys, [row.inputs[i] for i in row.float_inputs()], grad_ys=[tf.cast(
            w, y.dtype) for w, y in zip(weights, ys)])
        return [np.asarray(row.run(dense(g))) for g in found if g is not None]


def changes_nothing(case: Any, mutation: Any) -> bool:
    """Whether the mutant gives the same numbers: zeros doubled are zeros."""
    right = gradients_of(Built(case))
    with mutated(case.op, mutation):
        return all(np.allclose(a, b, rtol=1e-12, atol=0) for a, b in zip(right, gradients_of(Built(case))))


def one_for_each_op() -> Iterator[tuple[Case, Any]]:
    """Mutants: ops in turn, each with another mutation."""
    cases = {case.op: case for case in reversed(GOOD)}
    for i, case in enumerate(cases.values()):
        mutation = MUTATIONS[i % len(MUTATIONS)]
        if is_checkable(case) and any(check.verdict == "right" and check.numeric for check in verdicts(Built(case))) \
                and fits(case, mutation):
            yield case, mutation


def test_mutated_rules_are_named() -> None:
    mutants = list(itertools.islice(one_for_each_op(), 140))
    assert len(mutants) >= 100
    missed = []
    for case, mutation in mutants:
        row = Built(case)
        with mutated(case.op, mutation):
            found = verdicts(row)
        if not any(check.verdict == "wrong" and check.op_type == case.op for check in found) and not changes_nothing(
                case, mutation):
            missed.append((case.name, mutation.__name__, [(c.verdict, c.note) for c in found]))
    assert len(missed) <= len(mutants) // 100, missed


# ---- in a model -------------------------------------------------------------------------

def model() -> Debugger:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [4, 3], name="x")
        w = tf.Variable(np.linspace(-1, 1, 6).reshape(3, 2).astype(np.float32), name="w")
        h = tf.nn.softplus(tf.matmul(x, w), name="h")
        tf.reduce_mean(tf.square(h - 0.5), name="loss")
    dbg = Debugger(graph)
    dbg.feed("x", np.random.default_rng(0).standard_normal((4, 3)))
    return dbg


@pytest.mark.parametrize("op", ["MatMul", "Softplus", "Square", "Mean"])
def test_the_op_is_named_in_a_model(op: str) -> None:
    with mutated(op, doubled):
        dbg = model()
        dbg.train("loss")
        dbg.run(1)
        found = dbg.check()
    assert {check.op_type for check in found.wrong} == {op}
    assert found.wrong[0].place is not None and found.total is not None and found.total > 0.1
    assert f"({op})" in found.text


def test_a_right_model_is_right_to_the_last_digit() -> None:
    dbg = model()
    dbg.train("loss")
    dbg.run(1)
    found = dbg.check(order=2)
    assert (found.wrong, found.missing, found.unchecked) == ((), (), ())
    assert found.right >= 10 and found.total is not None and found.total < 1e-8


@pytest.mark.parametrize("slope, level", [(lambda dy: dy, "remark"), (lambda dy: (dy, dy), "error")])
def test_a_gradient_passed_straight_through_is_a_remark(slope: Any, level: str) -> None:
    graph = tf.Graph()
    with graph.as_default():
        a, b = tf.Variable([1.2, 2.3], name="a"), tf.Variable([1.0, 2.0], name="b")
        taken = tf.custom_gradient(lambda x, *y: (tf.round(x) if not y else x * y[0], slope))
        loss = tf.reduce_sum(tf.square(taken(a) if level == "remark" else taken(a, b)), name="loss")
    dbg = Debugger(graph)
    dbg.train(loss.name)
    dbg.run(1)
    kind = "own gradient" if level == "remark" else "wrong gradient"
    assert {f.level for f in dbg.doctor().findings if f.kind.endswith(" gradient") and f.kind[:2] in "own wrong"} == {
        level}
    assert kind in {f.kind for f in dbg.doctor().findings}


@pytest.mark.parametrize("forward, backward, said", [
    (tf.identity, lambda dy, lam: -lam * dy, "a gradient reversal: it gives its input on, and the gradient times -0.7"),
    (lambda x: x, lambda dy, lam: 0.3 * dy, "a gradient scaling: it gives its input on, and the gradient times 0.3"),
    (tf.identity, lambda dy, lam: tf.clip_by_norm(dy, 1e-3), "it gives its input on, and changes the gradient"),
    (tf.tanh, lambda dy, lam: -lam * dy, ""), (lambda x: 3.0 * x, lambda dy, lam: dy, ""),
    (tf.nn.relu, lambda dy, lam: dy, "")])
def test_another_gradient_of_what_is_only_given_on_is_meant(forward: Any, backward: Any, said: str) -> None:
    with tf.Graph().as_default() as graph:
        x, lam = tf.placeholder(tf.float32, [None, 3]), tf.placeholder_with_default(0.0, [], "lam")
        w = tf.Variable(np.linspace(-1, 1, 12).reshape(3, 4).astype("f"), name="w")
        turned = tf.custom_gradient(lambda h: (forward(h), lambda dy: backward(dy, lam)))(tf.matmul(x, w))
        loss = tf.reduce_mean(tf.square(turned - 0.5), name="loss")
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
        session = tf.Session()
        session.run(tf.global_variables_initializer())
    dbg, given = Debugger(graph, session), np.random.default_rng(0).standard_normal((8, 3))
    for _ in range(4):
        dbg.on_run(session, [train, loss], {x: given, lam: 0.7})
    dbg.on_run(session, loss, {x: given})  # it does not train, and lam is 0 in it
    found = {f.kind: f for f in dbg.doctor().findings if f.op_type == "IdentityN"}
    assert found.keys() == {"own gradient" if said else "wrong gradient"}
    assert said in found.popitem()[1].text
    check = dbg.check()
    assert bool(check.wrong) != bool(said) and (said in check.text)


@pytest.mark.parametrize("miss, wrong", [(1e-4, []), (0.02, ["IdentityN"])])
def test_a_gradient_that_is_found_by_iterating_is_nearly_right(miss: float, wrong: list[str]) -> None:
    with tf.Graph().as_default() as graph:
        a = tf.Variable([1.0, 2.0], name="a")
        rooted = tf.custom_gradient(lambda x: (tf.sqrt(x), lambda dy: (1.0 + miss) * dy / (2.0 * tf.sqrt(x))))
        tf.reduce_sum(rooted(a), name="loss")
    dbg = Debugger(graph)
    dbg.run(1, fetches="loss:0")
    assert [check.op_type for check in dbg.check("loss", "a").wrong] == wrong


def test_a_registered_reversal_is_meant() -> None:
    with tf.Graph().as_default() as graph:
        w = tf.Variable([1.0, 2.0, 3.0], name="w")
        if "Turned" not in REGISTERED_GRADIENTS:
            tf.RegisterGradient("Turned")(lambda op, dy: -0.4 * dy)
        with graph.gradient_override_map({"Identity": "Turned"}):
            tf.reduce_sum(tf.square(tf.identity(w, name="turned")), name="loss")
    dbg = Debugger(graph)
    dbg.run(1, fetches="loss:0")
    assert dbg.check("loss", "w").wrong == ()
    assert "reversal" in dbg.check("loss", "w").text


def test_a_custom_gradient_that_uses_its_surroundings() -> None:
    graph = tf.Graph()
    with graph.as_default():
        a = tf.Variable([1.0, 2.0], name="a")
        scale = tf.constant(3.0)

        def custom(right: bool) -> Any:
            @tf.custom_gradient
            def scaled(x: Tensor) -> Any:
                return tf.sin(x) * scale, lambda dy: dy * tf.cos(x) * (scale if right else 1.0)
            return scaled

        def clipped(x: Tensor) -> Any:
            return tf.minimum(x, 1.5), lambda dy: dy
        clipped.is_convention = True  # type: ignore[attr-defined]

        good = tf.reduce_sum(custom(True)(a), name="good")
        bad = tf.reduce_sum(custom(False)(a), name="bad")
        theirs = tf.reduce_sum(tf.custom_gradient(clipped)(a), name="theirs")
    dbg = Debugger(graph)
    dbg.run(1, fetches=[good, bad, theirs])
    assert "by definition" in next(c.note for c in dbg.check("theirs", "a").unchecked if c.op_type == "IdentityN")
    assert dbg.check("good", "a", order=2).wrong == ()
    assert [check.op_type for check in dbg.check("bad", "a").wrong] == ["IdentityN"]


def test_a_registered_gradient_is_what_is_checked() -> None:
    graph = tf.Graph()
    with graph.as_default():
        a = tf.Variable([1.0, 2.0], name="a")
        if "HalfTanh" not in REGISTERED_GRADIENTS:
            tf.RegisterGradient("HalfTanh")(lambda op, dy: 0.5 * dy * (1.0 - op.outputs[0] ** 2.0))
        with graph.gradient_override_map({"Tanh": "HalfTanh"}):
            tf.reduce_sum(tf.tanh(a, name="squashed"), name="loss")
    dbg = Debugger(graph)
    dbg.run(1, fetches="loss:0")
    assert [check.op for check in dbg.check("loss", "a").wrong] == ["squashed"]


def test_missing_second_derivatives_are_known_before_any_run() -> None:
    graph = tf.Graph()
    with graph.as_default():
        a = tf.Variable([1.0, 2.0], name="a")
        tf.reduce_sum(tf.py_function(lambda v: v * v, [a], tf.float32), name="loss")
    found = Debugger(graph).check("loss", "a", order=2)
    assert [check.op_type for check in found.missing] == ["PyFunc"]
    assert "no second derivative" in found.missing[0].note


@pytest.mark.parametrize("op", [None, "Sin", "Mul"])
def test_the_op_inside_of_a_loop_is_named(op: str | None) -> None:
    with contextlib.ExitStack() as stack:
        if op is not None:
            stack.enter_context(mutated(op, doubled))
        graph = tf.Graph()
        with graph.as_default():
            a = tf.Variable([0.5, 1.5], name="a")
            looped = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.sin(v) * 0.7), [0, a])[1]
            tf.reduce_sum(looped, name="loss")
        dbg = Debugger(graph)
        dbg.run(1, fetches="loss:0")
        found = dbg.check("loss", "a")
    assert {check.op_type for check in found.wrong} - {"While"} == ({op} if op else set())
    assert op is not None or found.wrong == ()


@pytest.mark.parametrize("kept", [1.0, 0.5])
def test_a_recurrent_net_is_checked_as_a_whole_and_inside(kept):
    """With dropout the loop itself is not judged, as it would draw again; what is inside is, and the whole gradient."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        x = tf.constant(np.linspace(-1, 1, 12).reshape(2, 2, 3))
        w = tf.Variable(np.linspace(0.1, 0.9, 9).reshape(3, 3), name="w")
        cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(2), kept)
        outputs, _ = tf.nn.dynamic_rnn(cell, tf.tensordot(x, w, 1), dtype=tf.float64)
        loss = tf.reduce_sum(tf.square(outputs), name="loss")
        gradient = tf.gradients(loss, tf.trainable_variables())
    dbg = Debugger(graph, handles={"loss": loss})
    dbg.run(1, fetches=[loss, gradient])
    found = dbg.check()
    assert found.wrong == ()
    assert found.total < 1e-6
    assert found.right > 15
    assert ("rnn/while/While" in [check.op for check in found.unchecked]) == (kept < 1)


def test_an_output_that_only_the_gradient_takes_is_not_judged() -> None:
    """CTCLoss gives its gradient beside the loss; TensorFlow has no rule for that output, and nobody asks for one."""
    logits = np.random.default_rng(0).normal(size=(5, 2, 4)).astype(np.float32)
    with tf.Graph().as_default() as graph:
        w = tf.Variable(logits, name="w")
        labels = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [1, 0, 2], [2, 2])
        loss = tf.reduce_sum(tf.nn.ctc_loss(labels, w, [3, 5]), name="loss")
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        dbg = Debugger(graph, session)
        dbg.run(1, fetches=[loss])
        assert [row.op for row in dbg.check("loss").wrong] == []


@pytest.mark.parametrize("miss, verdict", [(0.0, "unchecked"), (0.5, "meant")])
def test_arguments_made_of_each_other_are_judged_by_the_whole_gradient(miss: float, verdict: str) -> None:
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        a = tf.Variable([[3.0, 1.0], [0.5, 2.0]])
        b = tf.constant([[1.0], [-2.0]])

        @tf.custom_gradient
        def solved(a: Tensor, inverse: Tensor) -> Any:
            y = tf.matmul(inverse, b)
            return y, lambda dy: ((miss - 1.0) * tf.matmul(tf.matmul(inverse, dy, transpose_a=True), y,
                                                           transpose_b=True), None)

        loss = tf.reduce_sum(tf.square(solved(a, tf.linalg.inv(a))))
        train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
        session.run(tf.global_variables_initializer())
        dbg = Debugger(graph, session)
        for _ in range(3):
            dbg.run(1, fetches=[train])
        checked = dbg.check(loss.name)
        assert [c.verdict for c in checked.unchecked if c.input.startswith("Identity:")] == [verdict], checked
        assert ("own gradient" in {f.kind for f in dbg.doctor().findings}) is (verdict == "meant")


def test_what_pythons_kernels_give_is_as_wide_as_what_they_are_given() -> None:
    matrix = np.array([[3.0, 1.0], [0.5, 2.0]], np.float32)
    with tf.Graph().as_default() as graph:
        found, _, order = lapack.lu(tf.constant(matrix))
        theirs = tf.py_func(lambda x: np.float32(x), [tf.constant(matrix)], tf.float32)
    packed, _, rows = Kernels(graph).of(found.op, [matrix.astype(np.float64)])
    assert packed.dtype == np.float64 and np.allclose(packed, [[3.0, 1.0], [1 / 6, 2 - 1 / 6]], 1e-14)
    assert Kernels(graph).of(theirs.op, [matrix.astype(np.float64)])[0].dtype == np.float32 and rows.tolist() == [0, 1]


def the_check_of(build: Callable[[], Tensor]) -> Any:
    graph = tf.Graph()
    with graph.as_default():
        y = build()
    dbg = Debugger(graph)
    dbg.run(1, fetches=y.name)
    return dbg.check(y.name)


def test_a_loop_that_would_not_end_with_its_numbers_elsewhere_is_judged() -> None:
    check = the_check_of(lambda: tf.reduce_sum(tf.while_loop(
        lambda w: w[0] < 10, lambda w: [w * [2.0, 1.5]], [tf.Variable([1.0, 0.0])])))
    assert check.right and not check.wrong and check.total < 1e-6


def test_a_rule_of_what_is_symmetric_is_asked_of_nothing_else() -> None:
    def largest() -> Tensor:
        @tf.custom_gradient
        def decomposed(a: Any) -> Any:  # the kernel reads the lower half of a, the rule both, as JAX's does
            return tf.self_adjoint_eig(a), lambda *dy: tf.gradients(
                [*tf.self_adjoint_eig((a + tf.transpose(a)) / 2)], a, grad_ys=[*dy])[0]

        v = tf.Variable(np.diag([1.8, 2.1, 1.1]) + 0.4)
        return tf.square(decomposed((v + tf.transpose(v)) / 2)[1][0, -1])

    check = the_check_of(largest)
    assert not check.wrong and check.right > 10 and check.total < 1e-8


def test_a_solver_whose_steps_show_in_near_differences_is_right() -> None:
    def found_to_eight_digits() -> Tensor:
        v = tf.Variable(0.3)
        exact = tf.sin(v)
        return exact + tf.stop_gradient(tf.round((exact - v) * 1e8) * 1e-8 - (exact - v))

    assert the_check_of(found_to_eight_digits).total < 1e-3
