"""Steps of a foreign program as runs: what a front end builds, the debugger looks at as at any run."""
from __future__ import annotations

import linecache
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug.analysis.advice import Remark
from autodiff.debug.analysis.edits.of_read_data import over_a_spread
from autodiff.debug.analysis.findings import Finding
from autodiff.debug.debugger import Debugger
from autodiff.debug.engine.fed_back import FedBack
from autodiff.foreign import doors
from autodiff.foreign.steps import ForeignStep, ForeignSteps

from ..expect import expect_none

X = np.array([[1.0, 2.0], [3.0, -1.0]], np.float32)
W = np.array([[0.5], [0.25]], np.float32)
B = np.zeros(1, np.float32)
SLOPE = 2 * X.T @ (X @ W) / 2  # of the mean of the squares of x w, by hand


def steps_and_step(own: np.ndarray | None = SLOPE) -> tuple[ForeignSteps, ForeignStep]:
    """A step of one matrix, as a door would build it. own: the gradient that the framework has found."""
    steps = ForeignSteps("elsewhere")
    w, b = steps.variable("layer.weight", W), steps.variable("layer.bias", B)
    with steps.graph.as_default():
        x = tf.placeholder(tf.float32, [2, 2], name="x")
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + tf.stop_gradient(b)), name="loss")
    return steps, ForeignStep(loss, {"layer.weight": W, "layer.bias": B}, {x: X}, {"layer.weight": own},
                              "loss.backward()")


def debugged(steps: ForeignSteps, step: ForeignStep, monkeypatch: pytest.MonkeyPatch) -> Debugger:
    """The debugger after one step, whose Session.run it takes over as it does a script's."""
    dbg, real = Debugger(steps.graph, steps.session), tf.Session.run
    with monkeypatch.context() as patch:
        patch.setattr(tf.Session, "run", lambda session, fetches, feeds=None: dbg.on_run(
            session, fetches, feeds, call=real)[0])
        steps.run(step)
    return dbg


@pytest.mark.parametrize("noise, said", [(0.0, "tried: the rate times 0.1: the loss"), (0.3, "not tried: what the")])
def test_a_lower_rate_is_tried_where_the_rule_of_the_updates_shows(monkeypatch: pytest.MonkeyPatch, noise: float,
                                                                   said: str) -> None:
    steps, step = steps_and_step()
    dbg, w, real = Debugger(steps.graph, steps.session), W, tf.Session.run
    monkeypatch.setattr(tf.Session, "run", lambda session, fetches, feeds=None: dbg.on_run(
        session, fetches, feeds, call=real)[0])
    for turn in range(12):
        slope = X.T @ (X @ w)
        steps.run(replace(step, values={"layer.weight": w, "layer.bias": B}, gradients={"layer.weight": slope}))
        w = (w - 0.3 * (1 + noise * np.sin(turn)) * slope).astype(np.float32)
    monkeypatch.undo()
    steps.advice.findings = lambda: [Finding(90, "steps too large", "", "", "", "", "lower it", "", None)]
    assert any(said in f.remedy for f in dbg.doctor().findings)


def test_a_step_is_a_run_with_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, step = steps_and_step()
    dbg = debugged(steps, step, monkeypatch)
    assert len(dbg.records) == 1
    assert dbg.records[-1].loss == pytest.approx(float(np.mean((X @ W) ** 2)))
    row = next(row for row in dbg.grads().rows if row.name == "layer.weight:0")
    assert row.stats.norm == pytest.approx(float(np.linalg.norm(SLOPE)))
    assert row.update is None  # the optimizer elsewhere has not stepped yet


def test_the_framework_s_own_gradient_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not debugged(*steps_and_step(), monkeypatch).check().wrong
    wrong = debugged(*steps_and_step(3 * SLOPE), monkeypatch).check().wrong
    assert [(row.op, round(row.analytic / row.numeric, 3)) for row in wrong] == [("layer.weight", 3.0)]
    assert [row.op for row in debugged(*steps_and_step(None), monkeypatch).check().wrong] == ["layer.weight"]


def test_where_nothing_is_nan_nothing_is_looked_for_that_was_fed_back(monkeypatch: pytest.MonkeyPatch) -> None:
    dbg = debugged(*steps_and_step(), monkeypatch)
    monkeypatch.setattr(FedBack, "sources", lambda *_: pytest.fail("it takes long"))
    assert not dbg.why(kind="nan").origins


def test_doctor_and_why_hear_what_the_door_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, step = steps_and_step()
    steps.variable("idle", B)
    found = [Finding(92, "gradients accumulate", "layer.weight", "", "", "they pile up", "", "", None)]
    steps.advice.findings = lambda: found
    steps.advice.remarks["idle"] = Remark("the way to the loss ends: .item()", None)
    dbg = debugged(steps, step, monkeypatch)
    assert dbg.doctor().findings[0].text == "they pile up"
    found[:] = [Finding(90, kind, kind, "", "", "", "", "", None) for kind in ("steps too large", "wrong sign")]
    assert {"steps too large", "wrong sign"} <= {f.kind for f in dbg.doctor().findings}
    found += [Finding(90, kind, kind, "", "", "", "", "", None) for kind in ("learning rate too high", "uphill")]
    assert not {"steps too large", "wrong sign"} & {f.kind for f in dbg.doctor().findings}  # the others say it
    found += [Finding(80, "weight decay", "", "", "", "", "", "", None)]
    assert "uphill" not in {f.kind for f in dbg.doctor().findings}
    assert dbg.why("idle").text == "the way to the loss ends: .item()"
    assert dbg.why("layer.bias").kind == "cut"  # what the graph says itself stays


def test_answers_are_in_the_framework_s_words(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, step = steps_and_step()
    steps.advice.words = (("stop_gradient", "detach"),)
    why = debugged(steps, step, monkeypatch).why("layer.bias")
    assert why.cuts[0].kind == "stop_gradient" and "detach" in why.cuts[0].reason and "detach" in why.text


def test_a_door_opens_when_its_framework_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "framework_of_a_test.py").write_text("VALUE = 3\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(doors, "DOORS", {"framework_of_a_test": "test_door"})
    seen: list[str] = []
    monkeypatch.setattr(doors, "_open", lambda name, view, open_doors: seen.append(
        f"{name} {sys.modules[name].VALUE}"))
    with doors.opened(doors.View(dict, lambda: False)):
        assert seen == []
        import framework_of_a_test  # type: ignore[import-not-found]  # noqa: F401
        assert seen == ["framework_of_a_test 3"]
    finders = [str(finder) for finder in sys.meta_path if isinstance(finder, doors._Finder)]
    expect_none(finders, "left behind")
    monkeypatch.delitem(sys.modules, "framework_of_a_test")


def test_nan_of_a_first_step_that_prepared_its_data_has_its_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, w = ForeignSteps("elsewhere"), np.float32([[-0.5], [0.25]])
    variable = steps.variable("w", w)
    dbg, real = Debugger(steps.graph, steps.session), tf.Session.run
    monkeypatch.setattr(tf.Session, "run", lambda session, fetches, feeds=None: dbg.on_run(
        session, fetches, feeds, call=real)[0])
    losses = []
    with steps.graph.as_default():
        for factor in (2.0, None):  # the first record has how the data was made too
            x = tf.placeholder(tf.float32, [2, 2])
            given = x if factor is None else x * factor
            losses.append((x, tf.reduce_mean(tf.log(tf.nn.relu(tf.matmul(given, variable))))))
    for turn in range(600):
        x, loss = losses[turn > 0]
        steps.run(ForeignStep(loss, {"w": w if turn == 0 else w * np.nan}, {x: X}))
    monkeypatch.undo()
    found = dbg.why(kind="nan")
    assert found.origins[0].op_type == "Log" and found.step == 1 and "log(0)" in found.text, found.text


@pytest.mark.parametrize("is_new, kinds", [(True, []), (False, ["wrong sign"])])
def test_a_network_made_anew_before_each_step_has_not_gone_uphill(is_new: bool, kinds: list[str],
                                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    steps, step = steps_and_step()
    dbg, real = Debugger(steps.graph, steps.session), tf.Session.run
    monkeypatch.setattr(tf.Session, "run", lambda session, fetches, feeds=None: dbg.on_run(
        session, fetches, feeds, call=real)[0])
    for turn in range(5):
        w = W + np.float32(0.1 * turn) * SLOPE
        steps.run(replace(step, values={"layer.weight": w, "layer.bias": B}, ages={"layer.weight": turn * is_new}))
    monkeypatch.undo()
    assert [f.kind for f in dbg.doctor().findings if f.kind == "wrong sign"] == kinds


def test_a_network_that_was_trained_before_lacks_no_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, step = steps_and_step()
    steps.variable("older.weight", W)
    dbg = debugged(steps, step, monkeypatch)
    assert not any("older" in f.target for f in dbg.doctor().findings)


@pytest.mark.parametrize("line, rows, expected", [
    ("x = (x - m) / std", X * [1, np.nan], [3]), ("x = (x - m) / (std + 1e-8)", X * [1, np.nan], []),
    ("x = (x - m) / std", X * [[1, np.nan], [1, 1]], []), ("x = x / std - m / std", X * [1, np.nan], [3]),
    ("x = x / std\ny = y / y.std()", X * [1, np.nan], []), ("x = x / x.std(0)", X * [np.nan, np.nan], [])])
def test_a_column_that_is_nan_comes_of_a_deviation_of_0(line: str, rows: np.ndarray, expected: list[int],
                                                        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file := tmp_path / "train.py").write_text(f"m = x.mean(0)\nstd = x.std(axis=0)\n{line}\n"
                                               "tf.placeholder(tf.float32, [2, 2], name='x')\n")
    linecache.checkcache()
    steps = ForeignSteps("elsewhere")
    with steps.graph.as_default():
        exec(compile(file.read_text(), str(file), "exec"), {"tf": tf, "x": X, "y": X})
    fed = steps.graph.get_operation_by_name("x").outputs[0]
    assert [each.place.line for each in over_a_spread(fed, np.asarray(rows)) if each.place] == expected


@pytest.mark.parametrize("cut, moved, kinds", [(True, "made.weight", ["term cut off"]), (False, "made.weight", []),
                                               (True, "judge.weight", [])])
def test_a_term_that_reaches_none_of_what_is_stepped_trains_nothing(cut: bool, moved: str, kinds: list[str],
                                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    steps = ForeignSteps("elsewhere")  # the loss of a generator, then that of its critic
    made, judge = steps.variable("made.weight", W), steps.variable("judge.weight", W[:1])
    with steps.graph.as_default():
        x = tf.placeholder(tf.float32, [2, 2])
        fake = tf.matmul(x, made)
        said = tf.matmul(tf.stop_gradient(fake) if cut else fake, judge)
        loss = tf.reduce_mean(tf.square(1. - said)) + 0.1 * tf.reduce_mean(tf.square(fake - x[:, 1:]))
        critic = tf.reduce_mean(tf.square(tf.matmul(tf.stop_gradient(fake), judge)))
    dbg, real = Debugger(steps.graph, steps.session), tf.Session.run
    monkeypatch.setattr(tf.Session, "run", lambda session, fetches, feeds=None: dbg.on_run(
        session, fetches, feeds, call=real)[0])
    values = {"made.weight": W, "judge.weight": W[:1]}
    for turn in range(10):
        steps.run(ForeignStep(critic if turn % 2 else loss, values, {x: X}, call="loss.backward()"))
        values = {**values, **({moved: values[moved] * np.float32(0.99)} if turn % 2 == 0 else {})}
    monkeypatch.undo()
    found = [f for f in dbg.doctor().findings if f.kind == "term cut off"]
    made_last = X @ (W * np.float32(0.99) ** 5)  # as the last run has it
    part, rest = np.mean(np.square(1 - made_last * 0.5)), np.mean(np.square(made_last - X[:, 1:])) / 10
    assert [f.kind for f in found] == kinds, found
    assert all(f", {part:.3g} of {part + rest:.3g}, trains nothing" in f.text for f in found), found


@pytest.mark.parametrize("last, told", [(0.5, 0), (np.nan, 1)])
def test_a_smaller_last_batch_hides_not_what_the_others_show(last: float, told: int,
                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    steps, losses = ForeignSteps("elsewhere"), []
    w = steps.variable("w", W)
    with steps.graph.as_default():
        for rows in (8, 3):
            x = tf.placeholder(tf.float32, [rows, 2])
            losses.append((tf.reduce_mean(tf.square(tf.matmul(x, w))), x))
    dbg, real = Debugger(steps.graph, steps.session), tf.Session.run
    monkeypatch.setattr(tf.Session, "run", lambda session, fetches, feeds=None: dbg.on_run(
        session, fetches, feeds, call=real)[0])
    for turn in range(10):
        loss, x = losses[turn % 5 == 4]
        fed = np.full(x.shape.as_list(), last if turn == 9 else 0.5, np.float32)
        steps.run(ForeignStep(loss, {"w": W * np.float32(0.99) ** turn}, {x: fed}, call="loss.backward()"))
    monkeypatch.undo()
    assert dbg.doctor().y == losses[told][0].name
