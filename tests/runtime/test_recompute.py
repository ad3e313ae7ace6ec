"""Groups of tiles that compute again what is cheap: fewer arrays between them, and the same bits."""

import numpy as np
import pytest

import autodiff as tf
from autodiff.runtime.compiled.buffers import observe, specialize
from autodiff.runtime.compiled.codegen import Generated
from autodiff.runtime.plan.interpreter import Loop, interpret
from autodiff.runtime.plan.passes import optimize
from autodiff.runtime.plan.plan import Plan, compile_plan, inner_steps
from autodiff.runtime.plan.state import Run


def gelu_and_gradient(rows: int) -> tuple[Plan, Plan, list[np.ndarray]]:
    """The plan as written, the one with groups, and what is fed: a chain, a product, and the way back."""
    rng = np.random.default_rng(1)
    fed = [rng.standard_normal(s).astype(np.float32) for s in ((rows, 512), (512,), (512, 16))]
    x, b, w = [tf.placeholder(tf.float32, v.shape) for v in fed]
    m = x + b
    y = 0.5 * m * (1.0 + tf.tanh(0.8 * (m + 0.04 * m * m * m)))
    loss = tf.reduce_sum(tf.square(tf.matmul(y, w)))
    written = compile_plan([loss, tf.gradients(loss, [x])[0]], (), [x, b, w])
    plan = optimize(written)
    with tf.Session() as session:
        seen = observe(plan, Run(session, 1), fed)[1]
    return written, specialize(plan, [v.shape for v in fed], seen), fed


def test_the_way_back_reads_what_is_dear_and_computes_the_rest() -> None:
    _, plan, _ = gelu_and_gradient(1024)
    groups = [step for step in plan.steps if inner_steps(step)]
    assert [len(group.outputs) for group in groups] == [3, 1]  # x + b, its tanh, and what the product reads
    large = [i for i in groups[1].inputs if plan.forms[i].shape == (1024, 512)]
    assert len(large) == 3
    assert not any(s.op.type == "TanhGrad" for s in inner_steps(groups[0]))  # what only the gradient wants


@pytest.mark.parametrize("threads", [1, 2])
def test_the_bits_are_those_of_the_interpreter(threads: int) -> None:
    written, plan, fed = gelu_and_gradient(600)
    with tf.Session() as session:
        expected = interpret(written, Run(session, 1), fed)
        found = Generated(plan, Loop(plan), threads)(Run(session, 1), fed)
    assert [v.tobytes() for v in found] == [v.tobytes() for v in expected]
