"""Plans that may differ in the last bits, because the session was told that they may: how far they do."""

import numpy as np
import pytest

import autodiff as tf
from autodiff.runtime.compiled.buffers import observe, specialize
from autodiff.runtime.compiled.codegen import Generated
from autodiff.runtime.plan.interpreter import Loop, interpret
from autodiff.runtime.plan.passes import optimize
from autodiff.runtime.plan.plan import Plan, called, compile_plan
from autodiff.runtime.plan.state import Run
from autodiff.runtime.program import HOT

ON = tf.ConfigProto(graph_options=tf.GraphOptions(
    optimizer_options=tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.ON_1)))


def hot(fetches: list[tf.Tensor], feeds: dict[tf.Tensor, object], config: tf.ConfigProto | None) -> list[np.ndarray]:
    """The fetches' values when the plan has been compiled."""
    with tf.Session(config=config) as session:
        if tf.global_variables():
            session.run(tf.global_variables_initializer())
        for _ in range(HOT + 1):
            values = session.run(fetches, feeds)
    return values


def chain(dtype: tf.DType) -> tuple[list[tf.Tensor], dict[tf.Tensor, object]]:
    x = tf.placeholder(dtype, [])
    y = x
    for i in range(60):
        y = [y + 0.1, y * 1.01, tf.sin(y), tf.exp(y) / 3.0][i % 4]
    return [y, tf.gradients(y, [x])[0]], {x: 0.3}


def test_a_chain_of_float32_numbers_is_rounded_once() -> None:
    exact = hot(*chain(tf.float64), None)
    relaxed = hot(*chain(tf.float32), ON)
    assert [v.dtype for v in relaxed] == [np.float32, np.float32]
    # constants and feeds are float32: 0.1 and 1.01 are not what they are in float64
    np.testing.assert_allclose(relaxed, exact, rtol=1e-6)


def test_a_number_that_python_refuses_is_numpys() -> None:
    x = tf.placeholder(tf.float32, [])
    for value, expected in ((0.0, -np.inf), (-1.0, np.nan)):
        np.testing.assert_equal(hot([tf.log(x) * 2.0], {x: value}, ON), [expected])


def test_nothing_changes_for_those_who_do_not_ask() -> None:
    fetches, feeds = chain(tf.float32)
    with tf.Session() as session:
        cold = session.run(fetches, feeds)
    assert hot(fetches, feeds, tf.ConfigProto()) == cold


def recurrent(dtype: type, steps: int, columns: int) -> tuple[Plan, Plan, list[np.ndarray]]:
    """A recurrent net's weight gradient: the plan as written, the relaxed one, and what is fed."""
    rng = np.random.default_rng(2)
    fed = [rng.standard_normal(s).astype(dtype) for s in ((steps, 6, 5), (5 + columns, columns))]
    x, w = [tf.placeholder(v.dtype, v.shape) for v in fed]
    h = tf.zeros([6, columns], tf.as_dtype(dtype))
    for x_t in tf.unstack(x):
        h = tf.tanh(tf.matmul(tf.concat([x_t, h], 1), w))
    written = compile_plan([tf.reduce_sum(h), tf.gradients(h, [w])[0]], (), [x, w])
    plan = optimize(written)
    with tf.Session() as session:
        seen = observe(plan, Run(session, 1), fed)[1]
    return written, specialize(plan, [v.shape for v in fed], seen, relaxed=True), fed


def test_a_weights_gradient_is_one_product_of_what_lies_in_place() -> None:
    _, plan, _ = recurrent(np.float32, 8, 7)
    names = [called(step) for step in plan.steps]
    # 7 products on the way back give the columns of h alone, one the gradient; nothing is copied to a stack
    assert names.count("dot") == 8 and "stack" not in names and "add" not in names
    assert {plan.forms[i].shape for i in plan.steps[names.index("dot", len(names) - 2)].inputs} == {(48, 12), (48, 7)}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("steps", [2, 8])
def test_sums_in_another_order_are_as_near(dtype: type, steps: int) -> None:
    written, plan, fed = recurrent(dtype, steps, 7)
    program = Generated(plan, Loop(plan), relaxed=True)
    with tf.Session() as session:
        expected = interpret(written, Run(session, 1), fed)
        for _ in range(2):
            found = program(Run(session, 1), fed)
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=0, atol=200 * np.finfo(dtype).eps * np.abs(b).max())


def test_terms_that_others_read_too_or_that_share_a_factor() -> None:
    x = tf.placeholder(tf.float32, [6, 5])
    rows = [x * float(i + 1) for i in range(5)]
    shared = tf.add_n([tf.matmul(rows[i], rows[0], transpose_a=True) for i in range(5)])
    kept = [tf.matmul(rows[i], rows[4 - i], transpose_a=True) for i in range(5)]
    fetches = [shared, tf.add_n(kept), kept[2]]
    value = np.random.default_rng(3).standard_normal((6, 5)).astype(np.float32)
    for a, b in zip(hot(fetches, {x: value}, ON), hot(fetches, {x: value}, None)):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
