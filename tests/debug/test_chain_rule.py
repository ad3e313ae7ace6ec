"""The chain rule written out, with numbers derived by hand."""
from __future__ import annotations

import math

import pytest

import autodiff as tf
from autodiff.debug import Debugger
from cli.language.interpreter import execute
from cli.view.render import plain


def test_scalars_have_their_derivatives_as_factors() -> None:
    graph = tf.Graph()
    with graph.as_default():
        a = tf.Variable(0.5, name="a")
        tf.square(tf.negative(tf.tanh(a, name="t"), name="n"), name="loss")
    dbg = Debugger(graph)
    dbg.run(1)
    found = dbg.explain.chain("a", "loss")
    t = math.tanh(0.5)
    assert [(f.input, f.op_type) for f in found.factors][:2] == [("n:0", "Square"), ("t:0", "Neg")]
    assert [f.value for f in found.factors][:3] == pytest.approx([-2 * t, -1.0, 1 - t * t], rel=1e-5)
    assert found.gradient == pytest.approx(2 * t * (1 - t * t), rel=1e-5)
    assert all(f.place and f.place.file.endswith("test_chain_rule.py") for f in found.factors)
    shown = plain(execute("explain a", dbg))
    assert "∂ loss / ∂ n" in shown and "multiplied: 0.727" in shown and "∂ loss:0 / ∂ a:0 = 0.727" in shown


def test_each_ops_own_part_is_its_factor_and_a_long_chain_is_cut() -> None:
    graph = tf.Graph()
    with graph.as_default():
        a = tf.Variable([3.0, 4.0], name="a")
        x = tf.identity(a, name="x")
        for _ in range(30):
            x = 0.9 * x
        tf.add(tf.reduce_sum(x), 10.0 * tf.reduce_sum(a * a), name="loss")
        tf.stop_gradient(a, name="cut")
    dbg = Debugger(graph)
    dbg.run(1)
    assert [f.value for f in dbg.explain.chain("a", "loss").factors][:2] == pytest.approx([1.0, 10.0])
    assert dbg.explain.chain("cut", "loss").factors == ()
    shown = plain(execute("explain x", dbg))
    assert "… 18 factors" in shown or "… 19 factors" in shown
    assert len(shown.splitlines()) < 24


def test_before_any_run_shapes_are_those_of_the_graph() -> None:
    graph = tf.Graph()
    with graph.as_default():
        w = tf.Variable([0.5, 1.0, 2.0], name="w")
        tf.reduce_sum(w * tf.placeholder(tf.float32, [None, 3], name="x"), name="loss")
    assert Debugger(graph).explain.chain("w", "loss").factors[0].shapes == ((), (None, 3))
