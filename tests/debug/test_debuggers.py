"""The prompt's GradientsDebugger beside the script's, train ops side by side, and gradients with arguments."""
from __future__ import annotations

import re

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import GradientsDebugger
from autodiff.debug.debugger import Debugger
from autodiff.debug.engine.training import OPTIMIZERS


@pytest.fixture
def two(own_graph: None) -> Debugger:
    """Two variables, a loss of each and of both."""
    u, v = tf.Variable([1.0, 2.0], name="u"), tf.Variable(3.0, name="v")
    losses = {"first": tf.reduce_sum(u * u, name="first"), "second": tf.square(v, name="second"),
              "both": tf.multiply(tf.reduce_sum(u * u), v, name="both")}
    return Debugger(tf.get_default_graph(), handles={"u": u, "v": v, **losses})


def test_a_y_tensor_takes_in_its_own_gradients_alone(two: Debugger) -> None:
    debugger = GradientsDebugger(two.handles["second"])
    with debugger.watch_gradients_by_tensors(two.graph, two.handles["v"]):
        tf.gradients(two.handles["both"], two.handles["v"])
        assert debugger.gradient_tensors() == {}
        tf.gradients(two.handles["second"], two.handles["v"])
    assert list(debugger.gradient_tensors()) == ["v:0"]
    assert debugger.graph is two.graph


def test_a_bad_regex_is_re_error(two: Debugger) -> None:
    with pytest.raises(re.error):
        GradientsDebugger().watch_gradients_by_tensor_names(two.graph, "(")


def test_train_ops_of_other_variables_run_side_by_side(two: Debugger) -> None:
    two.train("first", variables=("u:0",), lr=0.25)
    two.train("second", variables=("v:0",), lr=0.25)
    two.run(1)
    np.testing.assert_allclose(two.value("u").array, [0.5, 1.0])
    np.testing.assert_allclose(two.value("v").array, 1.5)
    two.train("second", variables=("v:0",), lr=0.5)
    assert [row.runs for row in two.training.rows()] == [True, False, True]
    two.run(1)
    np.testing.assert_allclose(two.value("v").array, 0.0)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_is_built_by_its_name(two: Debugger, name: str) -> None:
    made = two.train("both", optimizer=name)
    two.run(1)
    assert made.optimizer.lower().startswith("gradientdescent" if name == "sgd" else name)


def test_what_y_receives(two: Debugger) -> None:
    """A descent along v times the gradient: 3 - 0.1 * 3 * 6."""
    two.train("second", grad_loss="v", lr=0.1)
    two.run(1)
    np.testing.assert_allclose(two.value("v").array, 1.2, rtol=1e-6)


def test_gradients_with_arguments_are_those_of_tf_gradients(two: Debugger) -> None:
    two.model.initialize()
    found = two.gradients_with.of(["u", "v"], ["both", "second"], weights=["2", "10"], stops=["u"])
    session = two.session
    names = two.handles
    wanted = session.run(tf.gradients([names["both"], names["second"]], [names["u"], names["v"]], grad_ys=[2.0, 10.0],
                                      stop_gradients=[names["u"]]))
    for part, value in zip(found.parts, wanted):
        np.testing.assert_allclose(part.array, value)
    assert found.held == found.own == ("u:0",)


def test_the_blocks_of_a_hessian(two: Debugger) -> None:
    """both = |u|^2 v: d2/du2 = 2 v I, d2/dudv = 2 u, d2/dv2 = 0."""
    two.model.initialize()
    whole = np.array([[6.0, 0.0, 2.0], [0.0, 6.0, 4.0], [2.0, 4.0, 0.0]])
    found = two.hessian(("u", "v"), "both")
    np.testing.assert_allclose(found.array, whole)
    assert found.axes == (("u:0", (2,)), ("v:0", ()))
    np.testing.assert_allclose(two.hessian(("u", "v"), "both", kind="diag").array, np.diag(whole))
    product = two.hessian(("u", "v"), "both", kind="hvp", v=["[1, -1]", "2"]).array
    np.testing.assert_allclose(product, whole @ [1.0, -1.0, 2.0])
    eigen = two.hessians.eigen(("u", "v"), "both", count=2)
    largest = sorted(np.linalg.eigvalsh(whole), key=abs)[1:]
    np.testing.assert_allclose(sorted(eigen.values), sorted(largest), rtol=1e-5)


def test_paths_into_objects_complete(two: Debugger) -> None:
    two.handles["layers"] = [{"w": two.handles["u"]}]
    assert two.resolve("layers[0]['w']") == ("u:0",)
    assert "layers[0]['w']" in two.model.names()
    two.model.initialize()
    found = two.evaluate("layers[0]['w'][1] + sum(layers[0]['w']) * u[0]")
    assert (found.array, found.expression) == (5.0, "layers[0]['w'][1] + sum(layers[0]['w']) * u[0]")
