"""Harmful and masked: a stop on what is not finite is right, and comes neither too often nor too seldom."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.graph import Tensor
from autodiff.debug import Debugger

Model = Callable[..., Any]
ZERO = [2.0, 0.0]


def debugged(model: Model, *values: Any) -> Debugger:
    graph = tf.Graph()
    with graph.as_default():
        variables = [tf.Variable(np.asarray(v, np.float32), name=name) for name, v in zip("abc", values)]
        loss = tf.identity(model(*variables), name="loss")
        step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    dbg = Debugger(graph, handles={"loss": loss, "step": step})
    dbg.model.initialize()
    return dbg


def looped(function: Model, times: int = 3) -> Model:
    return lambda a: tf.reduce_sum(tf.while_loop(lambda i, v: i < times, lambda i, v: (i + 1, function(v)), [0, a])[1])


def guarded(unsafe: Model) -> Model:
    """The right way: the input of the unsafe op is guarded."""
    def model(a: Tensor) -> Tensor:
        safe = tf.where(a > 0.5, a, tf.ones_like(a))
        return tf.reduce_sum(tf.where(a > 0.5, unsafe(safe), tf.zeros_like(a)))
    return model


def trap(unsafe: Model) -> Model:
    return lambda a: tf.reduce_sum(tf.where(a > 0.5, unsafe(a), tf.zeros_like(a)))


def aside(unsafe: Model) -> Model:
    """Computed, looked at by nobody that matters."""
    def model(a: Tensor) -> Tensor:
        bad = unsafe(a)
        with tf.control_dependencies([tf.identity(bad, name="metric")]):
            return tf.reduce_sum(a * a)
    return model


def constant_mask(a: Tensor) -> Tensor:
    return tf.reduce_sum(tf.nn.softmax(a + tf.constant([0.0, -np.inf])) * a)


def stopped(unsafe: Model) -> Model:
    """The choice masks the value, and no gradient flows to it."""
    return lambda a: tf.reduce_sum(a * a) + tf.reduce_sum(tf.where(a > 0.5, tf.stop_gradient(unsafe(a)),
                                                                   tf.zeros_like(a)))


HARMFUL: list[tuple[Model, tuple[Any, ...], str]] = [  # model, values, type of the op to blame
    (lambda a: tf.reduce_sum(tf.log(a)), (ZERO,), "Log"),
    (lambda a: tf.reduce_sum(tf.sqrt(a)), (ZERO,), "Sqrt"),
    (lambda a: tf.norm(a), ([0.0, 0.0],), "Sqrt"),
    (lambda a: tf.reduce_sum(tf.exp(a)), ([100.0, 1.0],), "Exp"),
    (lambda a, b: tf.reduce_sum(a / b), (ZERO, ZERO), "RealDiv"),
    (lambda a: tf.reduce_sum(1.0 / a), (ZERO,), "RealDiv"),
    (lambda a: tf.reduce_sum(tf.pow(a, 0.5)), (ZERO,), "Pow"),
    (lambda a: tf.reduce_sum(tf.square(a)), ([1e30, 1.0],), "Square"),
    (lambda a: tf.reduce_sum(tf.exp(a) - tf.exp(a)), ([100.0, 1.0],), "Exp"),
    (lambda a: tf.reduce_sum(tf.acos(a)), ([1.0, 0.5],), "Acos"),
    (trap(tf.log), (ZERO,), "Log"),
    (trap(lambda a: 3.0 * tf.log1p(a - 1.0) + 1.0), (ZERO,), "Log1p"),
    (trap(lambda a: 1.0 / a), (ZERO,), "RealDiv"),
    (trap(lambda a: tf.pow(a, -1.0)), (ZERO,), "Pow"),
    (trap(lambda a: a / tf.norm(a - a)), (ZERO,), "RealDiv"),
    (lambda a: -tf.reduce_sum([[0.0, 1.0]] * tf.log(tf.nn.softmax(tf.reshape(a, [1, 2])))), ([200.0, 0.0],), "Log"),
    (looped(lambda v: tf.log(v)), ([5.0, 2.0],), "Log"),
    (looped(lambda v: tf.sqrt(v)), (ZERO,), "Sqrt"),
    (looped(lambda v: tf.where(v > 0.5, tf.log(v), tf.zeros_like(v)), 1), (ZERO,), "Log"),
    (lambda a: tf.cond(tf.reduce_sum(a) > 0.0, lambda: tf.reduce_sum(tf.sqrt(a)), lambda: tf.reduce_sum(a)), (ZERO,),
     "Sqrt"),
]
MASKED: list[tuple[Model, tuple[Any, ...]]] = [
    (guarded(tf.log), (ZERO,)),
    (guarded(tf.sqrt), (ZERO,)),
    (guarded(lambda a: 1.0 / a), (ZERO,)),
    (guarded(lambda a: tf.pow(a, -0.5)), (ZERO,)),
    (aside(tf.log), (ZERO,)),
    (aside(tf.exp), ([100.0, 1.0],)),
    (aside(lambda a: a / (a - a)), (ZERO,)),
    (trap(tf.sqrt), (ZERO,)),
    (stopped(tf.log), (ZERO,)),
    (stopped(lambda a: 1.0 / a), (ZERO,)),
    (stopped(lambda a: tf.exp(1000.0 * (1.0 - a))), (ZERO,)),
    (constant_mask, ([1.0, 2.0],)),
    (lambda a: tf.reduce_sum(tf.minimum(a, np.inf)), (ZERO,)),
    (lambda a: tf.reduce_sum(tf.maximum(tf.stop_gradient(tf.log(a)), -5.0) + a), (ZERO,)),
    (lambda a: tf.reduce_sum(tf.clip_by_value(a, -np.inf, np.inf)), (ZERO,)),
    (lambda a: tf.reduce_max(tf.concat([a, tf.constant([-np.inf])], 0)), (ZERO,)),
    (lambda a: tf.reduce_sum(tf.boolean_mask(tf.stop_gradient(1.0 / a), [True, False]) * a[:1]), (ZERO,)),
    (looped(lambda v: v * 0.5 + tf.where(v > 0.1, tf.stop_gradient(tf.log(v - 0.1)), tf.zeros_like(v))), (ZERO,)),
    (lambda a: tf.cond(tf.reduce_sum(a) > 0.0, lambda: tf.reduce_sum(a), lambda: tf.reduce_sum(tf.log(a))), (ZERO,)),
    (lambda a: tf.reduce_sum(tf.div_no_nan(a, a)), (ZERO,)),
]


def stop_of(dbg: Debugger) -> Any:
    dbg.break_at(condition="harmful")
    return dbg.run(1, fetches=["loss:0", dbg.graph.get_operation_by_name("GradientDescent")]).stop


def test_there_are_twenty_of_each() -> None:
    assert (len(HARMFUL), len(MASKED)) == (20, 20)


@pytest.mark.parametrize(("model", "values", "blamed"), HARMFUL, ids=map(str, range(20)))
def test_harm_stops_and_is_explained(model: Model, values: tuple, blamed: str) -> None:
    dbg = debugged(model, *values)
    assert stop_of(dbg) is not None
    found = dbg.why(kind="nan")
    assert found.origins
    first = found.origins[0]
    assert (first.forward_type, first.harmful) == (blamed, True)
    assert first.elements and first.rule and first.place is not None and first.place.file == __file__


@pytest.mark.parametrize(("model", "values"), MASKED, ids=map(str, range(20)))
def test_what_is_masked_does_not_stop(model: Model, values: tuple) -> None:
    dbg = debugged(model, *values)
    assert stop_of(dbg) is None
    found = dbg.why(kind="nan")
    assert found.origins == () and "is finite" in found.text
    assert dbg.nonfinite("harmful") == ()


def test_the_iteration_and_the_branch_are_named() -> None:
    dbg = debugged(looped(lambda v: tf.log(v)), [5.0, 2.0])
    dbg.run(1, fetches="loss:0")
    origin = dbg.why(kind="nan").origins[0]
    assert origin.inside == "iteration 2 of while" and "log(-0.367) = nan" in origin.rule
    assert "iteration 2 of while" in dbg.why(kind="nan").text
    dbg = debugged(HARMFUL[-1][0], ZERO)
    dbg.run(1, fetches="loss:0")
    assert "first branch" in dbg.why(kind="nan").origins[0].inside


def test_loops_inside_of_branches() -> None:
    def model(a: Tensor) -> Tensor:
        return tf.cond(tf.reduce_sum(a) > 0.0, lambda: looped(tf.log)(a), lambda: tf.reduce_sum(a))

    dbg = debugged(model, [5.0, 2.0])
    dbg.run(1, fetches="loss:0")
    assert dbg.why(kind="nan").origins[0].forward_type == "Log"
