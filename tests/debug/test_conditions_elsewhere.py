"""Conditions on tensors that they name: norm(W) > 10, nan(grad(W)), in stops, runs and expectations."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from autodiff.errors import ArgumentError, UnknownNameError

import autodiff as tf
from autodiff.debug import Debugger
from autodiff.debug.language.conditions import parse_condition
from cli.language.complete import complete
from cli.language.interpreter import execute
from cli.model.results import error_in
from cli.model.shell import Shell
from cli.view.render import plain

LOOP = """
import tensorflow.compat.v1 as tf

w = tf.Variable([1.0, 2.0], name="w")
v = tf.Variable([3.0], name="v")
h = tf.exp(w, name="h")
turns = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * h), [0, tf.ones([2])], name="turns")[1]
loss = tf.reduce_sum(h, name="loss")
other = tf.reduce_sum(turns, name="other")
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=[w])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(12):
        session.run([loss, step] if i % 2 == 0 else [loss, step, other])
"""


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / "model.py").write_text(LOOP)
    made = Shell()
    execute(f"load '{tmp_path / 'model.py'}'", made)
    yield made
    made.close()


def typed(shell: Shell, line: str) -> str:
    result = execute(line, shell)
    assert error_in(result) is None, plain(result)
    return plain(result)


def refused(shell: Shell, line: str) -> str:
    result = execute(line, shell)
    assert error_in(result) is not None, plain(result)
    return plain(result)


@pytest.mark.parametrize(("when", "step"), [("nan", 5), ("nan(loss)", 12)])
def test_an_infinite_loss_ends_a_run_till_nan(shell: Shell, tmp_path: Path, when: str, step: int) -> None:
    model = tmp_path / "model.py"
    model.write_text(LOOP.replace("minimize(loss, var_list=[w])", "minimize(-loss, var_list=[w])"))
    execute(f"load '{model}'", shell)
    typed(shell, f"run -f '{when}'")
    assert shell.dbg.step == step


def variables() -> Iterator[np.ndarray]:
    """w before each step that trains: gradient descent by hand."""
    w = np.array([1.0, 2.0], np.float32)
    while True:
        yield w
        w = w - np.float32(0.1) * np.exp(w)


def first_step(holds: Any) -> int:
    """The step, counted from 1, before which `holds` of w first."""
    return next(i for i, w in enumerate(variables(), 1) if holds(w))


def test_a_breakpoint_asks_a_variable(shell: Shell) -> None:
    typed(shell, "break loss if norm(w) < 1.3 and step >= 2")
    said = typed(shell, "run")
    step = first_step(lambda w: np.linalg.norm(w) < 1.3)
    assert f"step {step}" in said and "norm(w:0) is 1." in said
    assert shell.dbg.records[-1].stops[0].target == "w:0"
    assert shell.dbg.step == step > 2


def test_a_run_goes_on_till_a_gradient_is_small(shell: Shell) -> None:
    said = typed(shell, 'run --till "norm(grad(w)) < 4"')
    step = first_step(lambda w: np.linalg.norm(np.exp(w)) < 4)
    assert shell.dbg.step == step, said
    assert shell.dbg.records[-1].sample("w:0", gradient=True) is not None  # looked at in the run, not made again
    typed(shell, "next")
    assert shell.dbg.records[-1].sample("w:0", gradient=True) is None  # and not any longer


@pytest.mark.parametrize("target", ["h", "h:0", "%{}", "`h:0`"])
def test_any_name_of_a_tensor_will_do(shell: Shell, target: str) -> None:
    target = target.format(shell.dbg.model.short("h:0").removeprefix("%"))
    typed(shell, f"tbreak if max({target}) < 5")
    typed(shell, "run")
    assert shell.dbg.step == first_step(lambda w: np.exp(w).max() < 5)


def test_a_short_handle_of_a_gradient_is_one(shell: Shell) -> None:
    number = shell.dbg.model.short("w:0").removeprefix("%")
    typed(shell, f"break if max(g{number}) < 5")
    assert "max(grad(w:0)) is" in typed(shell, "run")
    assert shell.dbg.step == first_step(lambda w: np.exp(w).max() < 5)


def test_what_a_condition_names_and_is_not_there_is_refused_at_once(shell: Shell) -> None:
    for line in ("break loss if norm(lss) > 1", "watch loss if max(lss) > 1", "run --till 'norm(lss) > 1'",
                 "expect nan(lss)", "tbreak if zeros(grad(lss)) > 1"):
        assert "'lss'" in refused(shell, line) and "did you mean 'loss'" in plain(execute(line, shell))
    assert shell.dbg.stops() == () and not shell.dbg.records
    assert "no gradient of loss:0 at 'v:0'" in refused(shell, "break if norm(grad(v)) > 1")
    assert "expected one tensor" in refused(shell, "break if norm(/w/) > 1")
    assert "')'" in refused(shell, "break if norm(w > 1")
    typed(shell, "break loss if nan")
    assert "did you mean 'loss'" in refused(shell, "condition 1 nan(lss)")
    assert shell.dbg.stops()[0].condition == "nan"


def test_it_is_asked_only_where_the_target_is_computed(shell: Shell) -> None:
    typed(shell, "break other if min(w) < 0.8")
    typed(shell, "run")
    step = first_step(lambda w: w.min() < 0.8)
    assert shell.dbg.step in (step, step + 1)
    assert "other:0" in shell.dbg.records[-1].fetches


def test_a_tensor_inside_of_a_loop_is_asked_turn_by_turn(shell: Shell) -> None:
    inner = next(n for n in shell.dbg.model.names() if n.startswith("turns/")
                 and n.rpartition("/")[2].startswith("mul"))
    typed(shell, f"break if max({inner}) > 40")  # h to the third only, in the last turn
    typed(shell, "run")
    record = shell.dbg.records[-1]
    assert shell.dbg.step == 2 and len(record.sample(inner).turns) == 3  # type: ignore[union-attr]
    typed(shell, "delete")
    typed(shell, f"break if max({inner}) > 1e9 or nan({inner})")
    assert "ended" in typed(shell, "run")


def test_of_tensors_that_the_run_does_not_compute_nothing_holds(shell: Shell) -> None:
    typed(shell, "break if not max(other) > 1e9 and step == 3")
    typed(shell, "break if max(other) > 0")
    typed(shell, "run")
    assert shell.dbg.step == 2 and shell.dbg.records[-1].stops[0].number == 2


def test_a_gradient_that_the_script_does_not_build(shell: Shell) -> None:
    before = len(shell.dbg.graph.operations)
    typed(shell, "break if max(grad(h)) > 0.5 and step >= 3")
    assert "max(grad(h:0)) is 1" in typed(shell, "run")
    assert len(shell.dbg.graph.operations) == before and shell.dbg.step == 3


def test_inside_of_a_run(shell: Shell) -> None:
    typed(shell, "break loss if max(h) < 5 and min(.) > 0 --inside")
    typed(shell, "run")
    cursor = shell.dbg.stepper.cursor
    assert cursor is not None and cursor.at.step == first_step(lambda w: np.exp(w).max() < 5) and cursor.op == "loss"


def test_expectations_and_what_they_are_of(shell: Shell) -> None:
    typed(shell, "next 5")
    assert "true" in typed(shell, "expect not nan(h) and norm(grad(w)) < 1e3")
    assert "true" in typed(shell, "expect zeros(w) == 0") and "true" in typed(shell, "expect norm(w) < 10")
    result = execute("expect nan(h) or max(w) > 100", shell)
    assert result.exit_code == 3 and "print h" in plain(result)
    now, past = shell.dbg.value("w").array.max(), shell.dbg.value("w", step=2).array.max()
    typed(shell, f"expect not zero(w) and max(w) < {(now + past) / 2}")
    typed(shell, "goto step 2")
    typed(shell, f"expect not zero(w) and max(w) > {(now + past) / 2}")


def test_the_parenthesis_is_completed() -> None:
    shell = Shell()
    execute("load scripts/models/digits.py", shell)
    shell.dbg.model.names()

    def ends(line: str) -> list[str]:
        return [c.text for c in complete(line, shell)]

    execute("python tf.constant(1.0, name='alone')", shell)
    names = shell.names()
    some = names[0]
    assert f"norm({some}" in ends(f"break loss if norm({some[:-1]}")
    assert f"norm(grad({some}" in ends(f"break loss if norm(grad({some[:-1]}")
    assert "norm(grad(" in ends("break loss if nan and norm(gra")
    assert "norm(" in ends("condition 1 no") and "absmax(" in ends("watch loss if absm")
    shell.close()


def test_a_condition_that_is_not_about_a_tensor_looks_at_none(shell: Shell) -> None:
    typed(shell, "break if norm(w) > 100")
    typed(shell, "break if step >= 9")
    assert all(row.names == () for row in shell.dbg.stops())
    typed(shell, "condition 2 nan")
    assert len(shell.dbg.stops()[1].names) > 4
    typed(shell, "run")
    assert {s.name for s in shell.dbg.records[-1].samples} == {"w:0"}


def test_the_dot_of_a_run_is_not_what_a_condition_names(shell: Shell) -> None:
    typed(shell, "run --till 'max(.) > 30 or max(v) < 0' --times 4")
    assert len(shell.dbg.records) == 4


def test_parsing() -> None:
    found = parse_condition("nan and (norm( a/b:0 ) > 1 or not zero(grad( c ))) and ratio(.) < 1e-3")
    assert [tuple(other) for other in found.others] == [("norm", "a/b:0", False), ("zero", "c", True)]
    assert found.words == {"nan", "ratio"} and found.is_alarm and found.asks("norm") and not found.is_global
    assert not parse_condition("not nan").is_alarm and not parse_condition("nan or norm(x) > 1").is_alarm
    for wrong in ("norm(x)", "none(x)", "nan(x", "norm() > x", "step(x) > 1", "nan(x) > 1"):
        with pytest.raises(ArgumentError):
            parse_condition(wrong)


def test_from_python() -> None:
    graph = tf.Graph()
    with graph.as_default():
        w = tf.Variable([1.0, -2.0], name="w")
        loss = tf.reduce_sum(tf.sqrt(w), name="loss")
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session(graph=graph) as session:
        session.run(w.initializer)
        dbg = Debugger(graph, session)
        assert dbg.run(5, until="nan(grad(w)) and not nan(w)", fetches=[loss, step]).records[-1].run == 1
        assert dbg.holds("harmful(loss)") and dbg.holds("nans(grad(w)) == 1") and not dbg.holds("inf(loss)")
        assert dbg.run(5, until="changed(loss) or ratio(w) > 0", fetches=[loss]).records[-1].run == 6
        with pytest.raises(UnknownNameError), dbg.watches.asking("norm(nothing) > 1"):
            pass
