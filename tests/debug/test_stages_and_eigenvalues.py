"""Gradients in stages, of single examples, and the largest eigenvalues of a Hessian."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from autodiff.errors import ArgumentError

import autodiff as tf
from autodiff.debug import Debugger
from cli.language.interpreter import execute
from cli.model.results import Hessian, Table
from cli.view.render import plain


def made(*values: Any) -> tuple[tf.Graph, list[Any]]:
    graph = tf.Graph()
    with graph.as_default():
        variables = [tf.Variable(np.asarray(v), name=name) for name, v in zip("abc", values)]
    return graph, variables


def test_stages_show_what_clipping_did() -> None:
    graph, (a, b) = made([3.0], [4.0])
    with graph.as_default():
        tf.reduce_sum(0.5 * a * a + 0.5 * b * b, name="loss")
    dbg = Debugger(graph)
    dbg.train("loss", lr=0.1, clip_norm=1.0)
    dbg.run(1)
    found = dbg.stages()
    norms = [[s.norm for s in (row.raw, row.given, row.change) if s] for row in found.rows]
    np.testing.assert_allclose(norms, [[3.0, 0.6, 0.06], [4.0, 0.8, 0.08]], rtol=1e-6)
    assert all(row.update_op and row.between for row in found.rows)
    assert found.notes == ()


def test_one_infinity_is_told_to_spoil_the_others() -> None:
    graph, (a, b) = made([0.0, 1.0], [4.0])
    with graph.as_default():
        tf.add(tf.reduce_sum(tf.sqrt(a)), tf.reduce_sum(b * b), name="loss")
    dbg = Debugger(graph)
    dbg.train("loss", lr=0.1, clip_norm=1.0)
    dbg.run(1)
    assert dbg.stages().notes[0].startswith("inf in the gradient of a:0 spoils the others through the common norm")
    assert "b:0" in dbg.stages().notes[0]


def test_stages_without_an_update() -> None:
    graph, (a,) = made([3.0])
    with graph.as_default():
        tf.reduce_sum(a * a, name="loss")
    dbg = Debugger(graph)
    dbg.run(1)
    (row,) = dbg.stages().rows
    assert (row.given, row.update_op) == (None, "") and row.raw is not None and row.raw.norm == 6.0


def quadratic(matrix: np.ndarray) -> Debugger:
    """A debugger of x' M x / 2, whose Hessian by x is the symmetric M."""
    graph, (a,) = made(np.ones(len(matrix)))
    with graph.as_default():
        column = tf.reshape(a, [-1, 1])
        tf.reduce_sum(0.5 * column * tf.matmul(matrix, column), name="loss")
    dbg = Debugger(graph)
    dbg.run(1)
    return dbg


@pytest.mark.parametrize("values", [np.arange(1.0, 31.0), np.array([-9.0, 5.0, 5.0, 5.0, 1e-3, 0.0, 0.0]),
                                    1e6 * 0.7 ** np.arange(200)], ids=["plain", "multiple", "large"])
def test_eigenvalues_are_numpys(values: np.ndarray) -> None:
    turn, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((len(values), len(values))))
    matrix = (turn * values) @ turn.T
    matrix = (matrix + matrix.T) / 2
    found = quadratic(matrix).hessians.eigen("a", count=4, verify=True)
    expected = sorted(np.linalg.eigvalsh(matrix), key=lambda v: -abs(v))[:4]
    np.testing.assert_allclose(found.values, expected, rtol=1e-9)
    for value, vector, residual in zip(found.values, found.vectors, found.residuals):
        assert np.linalg.norm(vector) == pytest.approx(1.0)
        assert np.linalg.norm(matrix @ vector - value * vector) == pytest.approx(residual, abs=1e-9 * abs(values).max())
        assert residual < 1e-9 * abs(values).max()


def test_eigenvalues_of_a_large_hessian_take_few_products() -> None:
    graph, (a,) = made(np.ones(20_000, np.float32))
    with graph.as_default():
        weights = np.full(20_000, 0.5)
        weights[:3] = (7.0, 5.0, 3.0)
        tf.reduce_sum(0.5 * weights.astype(np.float32) * a * a, name="loss")
    dbg = Debugger(graph)
    dbg.run(1)
    found = dbg.hessians.eigen("a", count=2)
    np.testing.assert_allclose(found.values, [7.0, 5.0], rtol=1e-5)
    assert found.products <= 60


def test_too_many_eigenvalues_are_refused() -> None:
    with pytest.raises(ArgumentError, match="expected 1 to 2 eigenvalues"):
        quadratic(np.eye(2)).hessians.eigen("a", count=3)


def test_examples_need_a_vector() -> None:
    graph, (a,) = made(2.0)
    with graph.as_default():
        tf.square(a, name="loss")
    dbg = Debugger(graph)
    dbg.run(1)
    with pytest.raises(ArgumentError, match="name the loss of each example"):
        dbg.grad("a", per_example=True)


# ---- the spectrum -----------------------------------------------------------------------

def diagonal(values: np.ndarray) -> Debugger:
    """A debugger of a loss whose Hessian is diagonal."""
    graph, (a,) = made(np.ones(len(values), values.dtype))
    with graph.as_default():
        tf.reduce_sum(0.5 * values * a * a, name="loss")
    dbg = Debugger(graph)
    dbg.run(1)
    return dbg


def test_the_spectrum_of_a_small_hessian_is_exact() -> None:
    matrix = np.random.default_rng(5).standard_normal((40, 40))
    matrix += matrix.T
    found = quadratic(matrix).hessians.spectrum("a", bins=7)
    expected = np.linalg.eigvalsh(matrix)
    assert found.exact
    np.testing.assert_allclose(found.nodes[0], expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.shares, np.histogram(expected, 7)[0] / 40, atol=1e-12)
    assert found.trace == pytest.approx(np.trace(matrix))
    assert found.negative == pytest.approx(np.mean(expected < 0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_spectrum_of_a_large_hessian_is_estimated(dtype: Any) -> None:
    values = np.concatenate([np.linspace(-1, 3, 3000), np.full(1000, 5.0)]).astype(dtype)
    found = diagonal(values).hessians.spectrum("a", bins=6)
    assert not found.exact
    np.testing.assert_allclose(found.edges, np.linspace(-1, 5, 7), atol=0.02)
    expected = np.histogram(values, found.edges + [-0.1, 0, 0, 0, 0, 0, 0.1])[0] / 4000
    np.testing.assert_allclose(found.shares, expected, atol=0.03)
    assert found.shares.sum() == pytest.approx(1.0, abs=1e-6)
    assert found.negative == pytest.approx(np.mean(values < 0), abs=0.03)
    assert found.trace == pytest.approx(values.sum(dtype=np.float64), rel=1e-3)  # exact: the Hessian is diagonal
    assert found.products == 640


def test_the_spectrum_of_few_different_eigenvalues() -> None:
    found = diagonal(np.repeat([0.0, 2.0], [900, 300])).hessians.spectrum("a", bins=2)
    np.testing.assert_allclose(found.edges, [0, 1, 2], atol=1e-9)
    np.testing.assert_allclose(found.shares, [0.75, 0.25], atol=1e-9)
    assert found.negative == 0


def test_the_spectrum_at_the_prompt() -> None:
    shown = execute("hessian loss a --spectrum", diagonal(np.arange(1.0, 11.0)))  # type: ignore[arg-type]
    assert isinstance(shown, Table)
    assert len(shown.rows) == 20
    assert "exact" in plain(shown)
    assert "sum: 55" in plain(shown)


@pytest.mark.parametrize("size", [3, 600])
def test_no_spectrum_of_nan(size: int) -> None:
    with pytest.raises(ArgumentError, match="found nan or inf"):
        diagonal(np.full(size, np.nan)).hessians.spectrum("a")


def test_y_alone_is_by_all_that_it_trains() -> None:
    graph, (a, b, _) = made(np.ones(2), np.ones(3), np.ones(4))
    with graph.as_default():
        tf.add(tf.reduce_sum(a * a), tf.reduce_sum(b * b), name="loss")
    dbg = Debugger(graph)
    dbg.run(1)
    found = execute("hessian loss", dbg)  # type: ignore[arg-type]
    assert isinstance(found, Hessian)
    np.testing.assert_array_equal(found.value, 2 * np.eye(5))
