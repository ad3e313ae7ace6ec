"""Gradients that somebody else has found beside the graph's, and what is told where they differ or cancel."""
from __future__ import annotations

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.site import Site
from autodiff.debug import Debugger
from autodiff.debug.analysis.advice import Remark, advice_of
from autodiff.debug.facts.roles import as_place


def ran(loss: tf.Tensor) -> Debugger:
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    dbg = Debugger(loss.graph, session)
    dbg.y = loss.name
    dbg.run(1, fetches=[loss])
    return dbg


def test_why_tells_first_what_the_framework_made_of_the_gradient() -> None:
    with tf.Graph().as_default() as graph:
        w = tf.Variable([1.0, 2.0], name="w")
        dbg = ran(tf.reduce_sum(w * w))
    advice = advice_of(graph)
    advice.call, advice.suspects = "backward()", [Remark("a hook changes it", as_place(Site("train.py", 9, "f")))]
    other = "backward() gave another gradient than its ops have: a hook changes it at train.py:9: its largest"
    for factor, first in ((0.0, other), (2.0, "the gradient of Sum:0 at w:0 is not small")):
        advice.gradients = {"w": factor * np.float32([1.0, 2.0])}
        assert dbg.why("w").text.startswith(first)


@pytest.mark.parametrize(("tolerance", "count"), [(1e-2, 1), (0.5, 0)])
def test_a_gradient_may_differ_by_rounding(tolerance: float, count: int) -> None:
    with tf.Graph().as_default() as graph:
        w = tf.Variable([1.0, 2.0], name="w")
        dbg = ran(tf.reduce_sum(w * w))
    advice_of(graph).gradients, advice_of(graph).tolerance = {"w": np.float32([2.0, 4.3])}, tolerance
    assert len(dbg.check().wrong) == count


def test_uses_of_a_tensor_that_cancel_are_named() -> None:
    with tf.Graph().as_default():
        w = tf.Variable([[1.0, 2.0]], name="w")
        h = tf.tanh(w, name="h")
        found = ran(tf.reduce_sum(tf.exp(tf.transpose(h, name="new") - tf.transpose(h, name="old")))).why("w")
    assert "what comes back to h:0 by way of new at " in found.text and found.text.endswith("cancels out")
    assert "tf.stop_gradient" in found.remedy
