"""If, While, For, Case of whole functions, and Defuns as operations of their name: against TensorFlow 1.15.5."""

from typing import Any

import pytest

import autodiff as tf
from autodiff.api.control import functional
from autodiff.api.control.defun import Defun
from autodiff.runtime.config import RewriterConfig
from autodiff.runtime.eager import eager_mode


@pytest.fixture(autouse=True)
def _fresh() -> None:
    tf.reset_default_graph()


def _run(value: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(value, feeds)


def test_a_branch_takes_one_of_two_functions() -> None:
    x = tf.placeholder(tf.float32, [])
    twice, thrice = Defun(tf.float32)(lambda x: x * 2), Defun(tf.float32)(lambda x: x * 3 + 1)
    y = functional.If(x > 0, [x], twice, thrice, name="mine")
    slope = tf.gradients(y, x)
    assert [_run([*y, *slope], {x: at}) for at in (9.0, -8.0)] == [[18.0, 2.0], [-23.0, 3.0]]
    assert y[0].name == "mine:0" and _run(functional.If(2, [x], twice, thrice), {x: 1.0}) == [2.0]


def test_loops_take_whole_functions() -> None:
    v, n = tf.Variable(1.0), tf.placeholder(tf.float32, [])
    total = functional.While([n, 0.0], lambda n, x: n > 0, lambda n, x: (n - 1, x + n * v), name="sum")
    assert _run("sum:1", {n: 20.0}) == 210.0 and _run(tf.gradients(total[1], v), {n: 4.0}) == [10.0]
    grown = functional.While([tf.ones([1])], lambda x: tf.size(x) < 4, lambda x: tf.concat([x, x], 0))
    assert _run(grown[0]).tolist() == [1.0] * 4
    up, down = (functional.For(*bounds, [0.0], lambda i, x: x + tf.cast(i, tf.float32))[0]
                for bounds in ((1, 21, 1), (100, 0, -1)))
    assert _run([up, down]) == [210.0, 5050.0]
    assert functional.For(1, 3, 1, [], lambda i: None) == [] and "For" in tf.get_default_graph().operations


@pytest.mark.parametrize(("index", "value"), [(0, 2.0), (1, 3.0), (2, 4.0), (-1, 4.0), (6, 4.0)])
def test_a_case_takes_the_last_for_any_other_index(index: int, value: float) -> None:
    branches = [lambda x, k=k: x * k for k in (2.0, 3.0, 4.0)]
    assert _run(functional.case(index, [1.0], [tf.float32], branches, name="case")[0]) == value
    with eager_mode():
        assert functional.case(index, [1.0], [tf.float32], branches)[0].numpy() == value


@pytest.mark.parametrize(("call", "text"), [
    (lambda: functional.While([5.0], lambda n: (n > 0, n), lambda n: n), "Expected a single scalar.*got 2 tensors"),
    (lambda: functional.While([5.0], lambda n: n > 0, lambda n: (n, n)),
     "While loop body returned 2 arguments. Expected: 1"),
    (lambda: functional.For([0], 10, 1, [0.0], lambda i, x: x), "must be a scalar"),
    (lambda: functional.For(0, 10, -1, [0.0], lambda i, x: x), "Invalid start/limit/delta"),
    (lambda: functional.For(0, 10, 1, [0.0], lambda i, x: (x, x)), "For loop body returned 2 arguments. Expected: 1")])
def test_loops_refuse_what_they_cannot_go_on_with(call: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        call()


def test_a_call_of_a_defun_has_its_name() -> None:
    split = Defun(tf.float32, func_name="Split")(lambda x: (x, x + 1))
    assert [t.name for t in (*split(1.0), *split(2.0, name="mine"))] == ["Split:0", "Split:1", "mine:0", "mine:1"]
    with tf.name_scope("my"):
        assert Defun(tf.float32, func_name="Foo")(lambda x: x)(1.0).op.name == "my/Foo"
    poly = Defun(tf.float32, tf.float32)(lambda x, unused: 2 * x * x)
    assert _run(functional.Gradient([3.0, 7.0, 1.0], poly)) == [12.0, 0.0]
    assert _run(functional.partitioned_call([2.0, 0.0], poly)) == [8.0]


def test_rewritings_are_options_of_a_session() -> None:
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.arithmetic_optimization = RewriterConfig.OFF
    assert config.graph_options.rewrite_options.arithmetic_optimization == 2


def test_functions_that_are_called_in_batches_are_called() -> None:
    x = tf.constant([1.0, 2.0])
    twice = tf.nondifferentiable_batch_function(1, 10, 1000)(lambda x: x * 2)(x)
    outside = tf.constant(5.0)
    total = Defun(tf.float32, tf.float32)(lambda a, b: a + b + outside)
    assert tf.gradients(twice, x) == [None] and _run(twice).tolist() == [2.0, 4.0]
    assert _run(functional.batch_function([1.0, 2.0], captured_tensors=total.captured_inputs, f=total)) == [8.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="takes 2 arguments, but 1 were given"):
        _run(functional.batch_function([1.0], f=total, Tout=[tf.float32]))
