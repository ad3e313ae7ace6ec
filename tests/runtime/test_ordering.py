"""The order of steps in a plan for given shapes: sums are taken as soon as their terms are there."""

import numpy as np

import autodiff as tf
from autodiff.core.graph import Tensor
from autodiff.core.op import build
from autodiff.runtime.compiled.buffers import observe, specialize
from autodiff.runtime.plan.passes import optimize
from autodiff.runtime.plan.plan import Plan, compile_plan
from autodiff.runtime.plan.state import Run


def plan_of(fetch: Tensor, x: Tensor) -> Plan:
    value = np.ones((64, 64), np.float32)
    plan = optimize(compile_plan([fetch], (), [x]))
    with tf.Session(graph=x.graph) as session:
        return specialize(plan, [value.shape], observe(plan, Run(session, 1), [value])[1])


def test_a_sum_of_many_products_keeps_two_of_them() -> None:
    x = tf.placeholder(tf.float32, [64, 64])
    plan = plan_of(build.AddN(*[build.MatMul(x, x * float(i)) for i in range(2, 12)]), x)
    assert [s.op.type for s in plan.steps[:6]] == ["Mul", "MatMul", "Mul", "MatMul", "AddN", "Mul"]
    assert len(plan.blocks) == 3  # the sum is fetched, so it has an array of its own at the end


def test_a_sum_of_what_others_read_too_stays_where_it_is() -> None:
    x = tf.placeholder(tf.float32, [64, 64])
    a, b = build.MatMul(x, x), build.MatMul(x, x + 1.0)
    plan = plan_of(build.MatMul(build.Neg(b), a) * build.Add(a, b), x)
    assert [s.op.type for s in plan.steps] == ["MatMul", "AddV2", "MatMul", "Neg", "MatMul", "Add", "Mul"]
