"""Triage ranks what is wrong, statically and after a run; diff finds the first tensor that differs."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from autodiff.errors import ArgumentError

import autodiff as tf
from autodiff.core.graph import Tensor
from autodiff.debug import Debugger

Model = Callable[..., Any]


def debugged(model: Model, *values: Any, runs: int = 0) -> Debugger:
    graph = tf.Graph()
    with graph.as_default():
        variables = [tf.Variable(np.asarray(v, np.float32), name=name) for name, v in zip("abc", values)]
        loss = tf.identity(model(*variables), name="loss")
    dbg = Debugger(graph, handles={"loss": loss})
    if runs:
        dbg.train("loss", lr=0.01)
        dbg.run(runs)
    return dbg


TRAPS = [  # model, kind
    (lambda a: tf.reduce_sum(tf.where(a > 0.0, tf.log(a), tf.zeros_like(a))), "where trap"),
    (lambda a: tf.reduce_sum(tf.where(a > 0.0, 1.0 / a, tf.zeros_like(a))), "where trap"),
    (lambda a: tf.reduce_sum(tf.where(a > 0.0, 3.0 * tf.log1p(a) + 1.0, tf.zeros_like(a))), "where trap"),
    (lambda a: tf.reduce_sum(tf.where((m := tf.exp(a)) < 9.0, m, a)), "where trap"),
    (lambda a: tf.reduce_sum(tf.log(tf.nn.softmax(a))), "log of softmax"),
    (lambda a: tf.reduce_sum(tf.log(tf.sigmoid(a))), "log of sigmoid"),
    (lambda a: tf.reduce_sum(tf.log(1.0 - tf.sigmoid(a)[:, None])), "log of sigmoid"),
    (lambda a: tf.norm(a), "norm"),
    (lambda a: tf.sqrt(tf.reduce_mean(tf.square(a - 1.0))), "norm"),
    (lambda a: tf.reduce_sum(tf.sqrt(tf.abs(a))), "sqrt"),
    (lambda a: tf.reduce_sum(tf.pow(a, 0.5)), "power"),
    (lambda a: tf.reduce_sum(1.0 / a), "division"),
    (lambda a: tf.reduce_sum(tf.acos(a)), "arc"),
    (lambda a: tf.reduce_sum(tf.cast(tf.cast(a, tf.int32), tf.float32)), "no gradient"),
    (lambda a: tf.reduce_sum(tf.round(a)), "no gradient"),
    (lambda a: tf.reduce_sum(tf.sigmoid(tf.sigmoid(tf.tanh(tf.sigmoid(tf.sigmoid(a)))))), "squashing chain"),
]


@pytest.mark.parametrize(("model", "kind"), TRAPS, ids=[f"{i}-{kind}" for i, (_, kind) in enumerate(TRAPS)])
def test_a_trap_shows_without_a_run(model: Model, kind: str) -> None:
    found = debugged(model, [1.0, 2.0]).doctor(static=True)
    assert found.findings[0].kind == kind
    first = found.findings[0]
    assert first.remedy and first.place is not None and first.place.file == __file__


def of_both_logarithms(a: Tensor, b: Tensor) -> Tensor:
    """A binary cross entropy written out, of two probabilities."""
    return -tf.reduce_sum(0.3 * tf.log(a) + 0.7 * tf.log(1.0 - b))


def test_the_two_logarithms_of_one_sigmoid_are_one_finding_and_those_of_two_are_two() -> None:
    def count(model: Model) -> int:
        return sum(f.kind == "log of sigmoid" for f in debugged(model, [1.0, 2.0], runs=2).doctor().findings)

    assert count(lambda a: of_both_logarithms(*[tf.sigmoid(a)] * 2)) == 1
    assert count(lambda a: of_both_logarithms(tf.sigmoid(a), tf.sigmoid(2.0 * a))) == 2


def of_known_labels(scores: Tensor) -> Tensor:
    """The mean cross entropy of examples whose label is not -1."""
    labels = tf.constant([1, -1])
    known = tf.not_equal(labels, -1)
    picked = tf.where(known, labels, tf.zeros_like(labels))
    losses = -tf.gather(tf.nn.log_softmax(scores[:, None] * [[1.0, 2.0]]), picked[:, None], axis=1, batch_dims=1)[:, 0]
    return tf.reduce_sum(tf.where(known, losses, tf.zeros_like(losses)))


SAFE: list[Model] = [
    lambda a: tf.reduce_sum(tf.where(a > 0.0, tf.exp(-0.5 * tf.square(a) / 2.0), tf.zeros_like(a))),
    lambda a: tf.reduce_sum(tf.log(tf.matrix_diag_part(tf.cholesky(tf.exp(a) * tf.eye(2))))),
    lambda a: tf.reduce_sum(tf.where(a > 0.0, tf.reduce_logsumexp(tf.stack([a, 2.0 * a]), 0), a)),
    lambda a: of_known_labels(tf.exp(a)),
    lambda a: tf.reduce_sum(tf.log(tf.maximum(a, 1e-12))),
    lambda a: tf.reduce_sum(tf.log(1.0 - tf.clip_by_value(tf.sigmoid(a), 0.0, 0.999)[:, None])),
    lambda a: tf.reduce_sum(tf.log(0.9 - tf.maximum(m := tf.minimum(tf.maximum(a, 0.1), 0.8), 0.2)) + 1.0 / m),
    lambda a: tf.reduce_sum(tf.where(a > 0.0, tf.log(tf.where(a > 0.0, a, tf.ones_like(a)) / 2.0), a)),
    lambda a: tf.reduce_sum(tf.where(a > 0.0, 2.0 * (m := tf.exp(a)), a) + m),
    lambda a: tf.reduce_sum(tf.log(tf.abs(tf.reduce_sum(tf.exp(a))))),
    lambda a: tf.reduce_sum(tf.log(tf.log1p(tf.exp(a))) + tf.log(tf.reduce_mean(tf.exp(a)))),
    lambda a: tf.reduce_sum(tf.sqrt(tf.reduce_sum(tf.square(a)) + 1e-12)),
    lambda a: tf.reduce_mean(tf.nn.log_softmax(a)),
    lambda a: tf.reduce_sum(tf.pow((tf.square(a) + 1e-6) * tf.fill([2], 1.0), 0.3)),
    lambda a: (lambda m: tf.reduce_sum(tf.where(m > 0.0, tf.log(tf.maximum(m, 1e-6)), tf.zeros_like(m))))(tf.exp(a)),
    lambda a: tf.reduce_sum(a / 3.0 + tf.square(a)),
    lambda a: tf.reduce_sum(tf.pow(a, 2.0)),
    lambda a: tf.reduce_sum(tf.where(a > 0.0, tf.log(tf.where(a > 0.0, a, tf.ones_like(a))), tf.zeros_like(a))),
    lambda a: tf.reduce_sum(tf.nn.relu(a) / (tf.exp(a) + 1.0)),
    lambda a: tf.reduce_sum(1.0 / tf.transpose(tf.maximum(a, 1e-3)[:, None])),
    lambda a: tf.reduce_sum(a) * tf.reduce_sum(tf.random_normal(tf.shape(tf.placeholder_with_default(a, [None])))),
    lambda a: tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=a)),
    lambda a: tf.reduce_sum(tf.custom_gradient(
        lambda x: (tf.where(x > 0.0, tf.log(x), tf.zeros_like(x)), lambda dy: dy))(a)),
]


@pytest.mark.parametrize(("model", "is_told"), [(lambda a: tf.log(tf.reduce_sum(a / tf.reduce_sum(a))), False),
                                                (lambda a: tf.reduce_sum(tf.log(a)), True)])
def test_what_hardly_varies_is_not_said_to_be_0_perhaps(model: Model, is_told: bool) -> None:
    found = debugged(model, [1.0, 3.0], runs=4).doctor().findings
    assert ("log" in {f.kind for f in found}) == is_told


@pytest.mark.parametrize("model", SAFE)
def test_no_alarm_for_what_is_guarded(model: Model) -> None:
    assert debugged(model, [1.0, 2.0]).doctor(static=True).findings == ()


def test_a_second_derivative_that_tensorflow_refuses_is_warned_of() -> None:
    def model(a: Tensor, *, times: int = 2) -> Tensor:
        loss = tf.losses.sparse_softmax_cross_entropy([0, 1], a[None, :] + [[0.0, 1.0], [1.0, 0.0]])
        return loss if times == 1 else tf.reduce_sum(tf.square(tf.gradients(loss, a)[0]))

    static = debugged(model, [1.0, 2.0])
    with static.graph.as_default():
        tf.gradients(static.graph.get_tensor_by_name("loss:0"), static.graph.get_tensor_by_name("a:0"))
    assert [(f.kind, f.level) for f in static.doctor(static=True).findings] == [("second derivative", "warning")]
    assert debugged(lambda a: model(a, times=1), [1.0, 2.0]).doctor(static=True).findings == ()


@pytest.mark.parametrize("function", [tf.nn.softsign, lambda a: tf.image.resize_nearest_neighbor(
    tf.reshape(a, [1, 1, 2, 1]), [2, 4]), lambda a: tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.sin(v)),
                                                                  [0, a])[1], tf.nn.tanh, tf.nn.softplus])
@pytest.mark.parametrize("times", [1, 2])
def test_only_what_tensorflow_cannot_derive_twice_is_warned_of(function: Any, times: int) -> None:
    def model(a: Tensor) -> Tensor:
        y = tf.reduce_sum(tf.square(function(a)))
        return y if times == 1 else tf.reduce_sum(tf.square(tf.gradients(y, a)[0]))

    dbg = debugged(model, [1.0, 2.0])
    with dbg.graph.as_default():
        tf.gradients(dbg.graph.get_tensor_by_name("loss:0"), dbg.graph.get_tensor_by_name("a:0"))
    found = [f.kind for f in dbg.doctor(static=True).findings if f.kind == "second derivative"]
    assert bool(found) == (times == 2 and function not in (tf.nn.tanh, tf.nn.softplus))


def test_unused_variables_are_found() -> None:
    found = debugged(lambda a, b: tf.reduce_sum(a * a), [1.0], [2.0]).doctor(static=True).findings
    assert [(f.kind, f.target) for f in found] == [("no gradient", "b:0")]


def kinds(dbg: Debugger) -> list[str]:
    return [f.kind for f in dbg.doctor().findings]


def test_a_healthy_run_has_no_findings() -> None:
    assert kinds(debugged(lambda a: tf.reduce_mean(tf.square(a)), [[1.0, 2.0]], runs=2)) == []


def test_the_worst_comes_first() -> None:
    def model(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        return tf.reduce_sum(tf.sqrt(a)) + tf.reduce_sum(tf.nn.relu(b)) + 0.0 * tf.reduce_sum(c)

    found = debugged(model, [0.0, 1.0], [-1.0, -2.0], [1.0], runs=1).doctor().findings
    assert found[0].kind == "inf" and found[0].op_type == "Sqrt"
    assert [f.severity for f in found] == sorted((f.severity for f in found), reverse=True)
    assert {"zero gradient", "dead relu"} <= {f.kind for f in found}


def test_what_was_nan_is_not_said_not_to_have_happened() -> None:
    with tf.Graph().as_default() as graph:
        a = tf.Variable([0.0, 2.0])
        loss = tf.reduce_sum(tf.where(a > 0.0, tf.log(a), tf.zeros_like(a)))
        slope = tf.gradients(loss, a)[0]
        step = a.assign_sub(tf.where(tf.is_finite(slope), slope, tf.zeros_like(slope)) * 0.1)
        shown = tf.identity(slope)
        with tf.Session() as session:
            session.run(a.initializer)
            dbg = Debugger(graph, session, handles={"loss": loss})
            for _ in range(2):
                dbg.on_run(session, [loss, step, shown])
            found = dbg.doctor().findings
    assert {"nan", "where trap"} <= {f.kind for f in found}
    assert not [f for f in found if "did not happen" in f.text]


def test_what_a_tried_remedy_mends_too_is_no_finding_of_its_own() -> None:
    def model(a: Tensor) -> Tensor:
        width = tf.nn.relu(a)
        return tf.reduce_sum(tf.exp(-0.5 * tf.square(1.5 / width)) / width)

    found = [f for f in debugged(model, [-1.0, 2.0], runs=1).doctor().findings if f.level == "error"]
    assert len(found) == 1 and "it makes truediv_1 nan too" in found[0].text and "tried: " in found[0].remedy


def test_an_exploding_gradient_is_found() -> None:
    found = kinds(debugged(lambda a: tf.reduce_sum(tf.square(a * 1e3)), [[1.0, 2.0]], runs=1))
    assert "exploding gradient" in found


def test_why_names_the_gain_of_an_explosion() -> None:
    found = debugged(lambda a: tf.reduce_sum(tf.tanh(a * 1e-6) * 1e12), [1.0, 2.0], runs=1).why("a")
    assert (found.kind, found.losses[0].op_type) == ("exploding", "Mul")
    assert "the gain is largest" in found.text and found.losses[0].gain == pytest.approx(1e12, rel=1e-3)


# ---- diff -------------------------------------------------------------------------------

def chain(scale: float) -> Debugger:
    return debugged(lambda a: tf.reduce_sum(tf.identity(tf.sin(a, name="s") * scale, name="m"), name="t"), [1.0, 2.0],
                    runs=1)


def saved(dbg: Debugger, file: Path, *names: str) -> None:
    np.savez(file, **{name: dbg.value(name, step=1).array for name in names})


def test_the_first_difference_of_two_programs(tmp_path: Path) -> None:
    saved(chain(2.0), tmp_path / "a.npz", "a", "s", "m", "t", "loss")
    found = chain(3.0).diff(str(tmp_path / "a.npz"))
    assert found.first is not None
    assert (found.first.name, found.first.op_type, found.compared) == ("m:0", "Identity", 5)
    assert found.first.place is not None and found.first.relative == pytest.approx(1 / 3, rel=1e-6)
    assert [row.name for row in found.rows] == ["m:0", "t:0", "loss:0"]
    assert chain(2.0).diff(str(tmp_path / "a.npz")).first is None


def test_two_files_are_compared_too(tmp_path: Path) -> None:
    saved(chain(2.0), tmp_path / "a.npz", "s", "m")
    saved(chain(3.0), tmp_path / "b.npz", "s", "m")
    found = chain(2.0).diff(str(tmp_path / "a.npz"), str(tmp_path / "b.npz"))
    assert found.first is not None and found.first.name == "m:0"
    assert "what goes into it is the same" not in found.text


def test_tolerance_nan_and_unknown_names(tmp_path: Path) -> None:
    np.savez(tmp_path / "c.npz", s=np.sin([1.0, 2.0]) * (1 + 1e-4), nobody=np.ones(2), t=np.nan, loss=np.ones(3))
    dbg = chain(2.0)
    found = dbg.diff(str(tmp_path / "c.npz"), rtol=1e-3)
    assert [(row.name, row.relative) for row in found.rows][0] == ("t:0", np.inf)
    assert found.unmatched == ("nobody",)
    assert "shapes [3] and []" in found.rows[1].left
    assert dbg.diff(str(tmp_path / "c.npz"), rtol=1e-6).rows[0].name == "s:0"


def test_two_steps() -> None:
    dbg = debugged(lambda a: tf.reduce_sum(tf.square(a)), [1.0, 2.0], runs=3)
    found = dbg.diff("step 1", "step 3")
    assert found.first is not None and found.first.name == "a:0"
    assert dbg.diff("step 2", "step 2").first is None
    with pytest.raises(ArgumentError, match="there is no step 9: the last is 3"):
        dbg.diff("step 9")
    with pytest.raises(ArgumentError, match="no such file"):
        dbg.diff("nothing.npz")


@pytest.mark.parametrize("optimizer", ["ftrl", "adam"])
def test_what_the_prompt_built_is_examined_too(optimizer: str) -> None:
    """Its clipping makes zeros of the gradient, its slots are not finite: both stand beside the script's graph."""
    with tf.Graph().as_default() as graph:
        w = tf.Variable(np.ones(3, np.float32), name="w")
        loss = tf.reduce_sum(tf.square(w), name="loss")
    dbg = Debugger(graph, handles={"loss": loss})
    dbg.train("loss", optimizer=optimizer, lr=1e38, clip_norm=1e-46)
    dbg.run(3)
    kinds = {finding.kind for finding in dbg.doctor().findings}
    assert kinds & {"nan", "inf", "clipped away"}, kinds
