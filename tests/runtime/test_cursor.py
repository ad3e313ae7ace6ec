"""The cursor: one operation at a time, every value so far, values changed on the way, standing at a failure."""

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.op import build
from autodiff.runtime.cursor import Execution

pytestmark = pytest.mark.usefixtures("own_graph")


def chain() -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, Execution]:
    x = tf.placeholder(tf.float32, [2], name="x")
    a = build.Square(x, name="a")
    b = build.Neg(a, name="b")
    return x, a, b, tf.Session().start({"b": b}, {x: [1, 2]})


def test_each_step_is_an_operation() -> None:
    x, a, b, execution = chain()
    assert execution.position == 0 and execution.next_op is a.op
    assert execution.value(x).tolist() == [1, 2]
    with pytest.raises(ValueError, match="'a' has not run yet"):
        execution.value(a)
    assert execution.step() is a.op
    assert execution.value(a).tolist() == [1, 4] and not execution.has_value(b)
    assert execution.finish()["b"].tolist() == [-1, -4]
    assert execution.is_done and execution.next_op is None
    with pytest.raises(RuntimeError, match="at its end"):
        execution.step()


def test_constants_and_identities_are_steps_of_their_own() -> None:
    y = build.Identity(tf.constant(2.0, name="c"), name="i") * 3.0
    execution = tf.Session().start(y)
    assert [step.op.name for step in execution.plan.steps] == ["c", "i", "mul/y", "mul"]


def test_a_value_set_in_the_middle_is_what_follows_sees() -> None:
    x, a, b, execution = chain()
    execution.step()
    execution.set(a, [7, 8])
    assert execution.finish()["b"].tolist() == [-7, -8]
    x, a, b, execution = chain()
    execution.set(a, [5, 6])  # before it is computed: stays
    execution.step()
    assert execution.value(a).tolist() == [5, 6]
    with pytest.raises(ValueError, match="shape"):
        execution.set(a, [1, 2, 3])
    with pytest.raises(ValueError, match="not part of this run"):
        execution.set(tf.constant(1.0), 2.0)


def test_values_cannot_be_written_through() -> None:
    _, a, _, execution = chain()
    execution.step()
    with pytest.raises(ValueError, match="read-only"):
        execution.value(a)[0] = 3


def test_after_a_failure_it_stands_at_the_operation_with_all_values() -> None:
    x, y = tf.placeholder(tf.float32, [None], name="x"), tf.placeholder(tf.float32, [None], name="y")
    a = build.Square(x)
    total = build.Add(a, y, name="total")
    execution = tf.Session().start(total, {x: [1, 2], y: [1, 2, 3]})
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        execution.finish()
    assert execution.failed_op is total.op is caught.value.op is execution.next_op
    assert execution.value(a).tolist() == [1, 4]
    execution.set(y, [1, 1])
    assert execution.finish().tolist() == [2, 5] and execution.failed_op is None


def test_an_operation_whose_value_is_set_is_passed_over() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = build.Neg(x) + 1.0
    execution = tf.Session().start(y)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be fed"):
        execution.step()
    execution.set(x, [1, 2])
    assert execution.finish().tolist() == [0, -1]


def test_variables_change_as_in_a_run() -> None:
    v = build.VariableV2(shape=[2], dtype=tf.float32, name="v")
    assigned = build.AssignAdd(v, [1.0, 1.0])
    session = tf.Session()
    session.variables["v"] = np.zeros(2, np.float32)
    before = session.variables["v"]
    found = session.start(assigned).finish()
    assert found.tolist() == [1, 1] == session.variables["v"].tolist()
    assert before.tolist() == [0, 0], "an old value is kept by whoever holds it"


def test_a_run_is_repeated_by_its_draws() -> None:
    draw = build.RandomUniform([3])
    session = tf.Session()
    first = session.run(draw)
    second = session.run(draw)
    assert (first != second).any()
    assert session.draws == {draw.op.name: 2}
    session.draws = {}
    assert (session.start(draw).finish() == first).all()
