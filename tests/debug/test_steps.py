"""Steps are training runs, counted alike by motions, breakpoints, time travel, recordings and all that says one."""
from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.op import build
from autodiff.debug import Debugger
from autodiff.debug.analysis.mistakes.heads import number_in
from autodiff.debug.facts.training_runs import can_train, trains
from cli.language.interpreter import execute
from cli.model.results import error_in
from cli.model.shell import Shell
from cli.view.json_text import to_json
from cli.view.render import plain
from cli.view.status_line import status

MODEL = """
import tensorflow as tf
w = tf.Variable(2.0, name="w")
x = tf.placeholder(tf.float32, name="x")
loss = tf.square(w - x, name="loss")
step = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
session = tf.Session()
session.run(tf.global_variables_initializer())
before = session.run(loss, {x: 0.0})
for i in range(1, 5):
    session.run(step, {x: 0.0})
    if i % 2 == 0:
        session.run(loss, {x: 1.0})
"""
# runs: 1 init, 2 loss, 3 step 1, 4 step 2, 5 loss, 6 step 3, 7 step 4, 8 loss
READING = "\n".join(line for line in MODEL.splitlines() if "minimize" not in line).replace("run(step,", "run(loss,")
LATE = """
import tensorflow as tf
w = tf.Variable(2.0, name="w")
loss = tf.square(w, name="loss")
session = tf.Session()
session.run(tf.global_variables_initializer())
session.run(loss)
step = w.assign_sub(0.25 * tf.gradients(loss, w)[0])
for i in range(3):
    session.run(step)
"""


def typed(shell: Shell, line: str) -> str:
    result = execute(line, shell)
    assert error_in(result) is None, plain(result)
    return plain(result)


def loaded(folder: Path, script: str = MODEL) -> Shell:
    (folder / "model.py").write_text(script)
    shell = Shell()
    typed(shell, f"load '{folder / 'model.py'}'")
    return shell


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    tf.reset_default_graph()
    found = loaded(tmp_path)
    yield found
    found.close()


def where(shell: Shell) -> tuple[int, int]:
    """The number of the last run, and of steps."""
    return shell.dbg.log.run, shell.dbg.step


def test_before_the_first_step_next_stops_at_each_run_and_then_at_steps(shell: Shell) -> None:
    assert status(shell).split("  |  ")[1] == "step 0"
    seen = []
    while shell.script is not None and shell.script.is_live:
        said = typed(shell, "next")
        seen.append((*where(shell), said.split("  ")[0]))
    assert seen[:5] == [(1, 0, "run 1 (before step 1)"), (2, 0, "run 2 (before step 1)"), (3, 1, "step 1"),
                        (4, 2, "step 2"), (6, 3, "step 3")]
    assert seen[5][:2] == (7, 4) and "run 8 (after step 4)" in seen[6][2]


@pytest.mark.parametrize(("line", "stands"), [
    ("next 1", (3, 1)), ("next 3", (6, 3)), ("goto step 3", (6, 3)), ("goto run 5", (5, 2)), ("run -t 3", (3, 1))])
def test_steps_and_runs_to_come_are_gone_to(shell: Shell, line: str, stands: tuple[int, int]) -> None:
    typed(shell, line)
    assert where(shell) == stands


def test_a_breakpoint_at_a_step_stops_after_it_alone(shell: Shell) -> None:
    typed(shell, "break step 2")
    said = typed(shell, "run")
    assert said.startswith("step 2") and "stop: step 2" in said and where(shell) == (4, 2)
    assert "ended" in typed(shell, "run"), "run 5, after step 2, is not step 2"


def test_a_condition_on_the_step_counts_steps(shell: Shell) -> None:
    typed(shell, "break loss if step >= 3")
    typed(shell, "run")
    assert where(shell) == (6, 3)


def test_all_that_says_a_step_says_the_same(shell: Shell) -> None:
    typed(shell, "next 2")
    assert "step 2" in status(shell) and "step 2" in typed(shell, "info run")
    typed(shell, "goto run 5")
    assert "run 5 (after step 2)" in status(shell) and "run 5 (after step 2)" in typed(shell, "info run")
    assert "step 2, from" in typed(shell, "grads")  # of the last that trained
    assert "run 5 (after step 2)" in typed(shell, "print loss * [1]")
    assert typed(shell, "info runs").split("5 runs, 2 of them steps")[0] == ""
    assert "run 5 (after step 2): " in typed(shell, "list plan")
    assert "after run 5" not in typed(shell, "back") and shell.dbg.history.position.at == (4, 2, True)
    found = json.loads(to_json("goto", execute("goto run 5", shell)))["data"]
    assert (found["step"], found["run"]) == (2, 5)


def test_back_and_next_go_by_steps_in_the_past_too(shell: Shell) -> None:
    typed(shell, "run")
    assert "at step 4 of 4, in the past" in typed(shell, "back")
    assert "at step 2 of 4" in typed(shell, "back 2") and "at step 3 of 4" in typed(shell, "next")
    assert "at run 5 (after step 2) of 8" in typed(shell, "goto run 5") and "at step 2 of 4" in typed(shell, "back")
    assert "at step 1 of 4" in typed(shell, "back") and "at run 2 (before step 1) of 8" in typed(shell, "back")
    assert "at step 1 of 4" in typed(shell, "next") and "in the present; the last was run 8" in typed(shell, "next 9")
    assert "there is no step 9" in plain(execute("diff step 9", shell))
    assert "cannot go back by 9" in plain(execute("back 9", shell))
    assert "differ" in typed(shell, "diff step 1 step 2") and "are the same" in typed(shell, "diff run 4 step 2")


def test_values_of_a_step_are_those_of_its_run(shell: Shell) -> None:
    typed(shell, "run")
    weights = [float(shell.dbg.value("w", step=step).array) for step in (1, 2, 3, 4)]
    assert weights == [2.0, 1.0, 0.5, 0.25]
    assert float(shell.dbg.grad("w", step=3).array) == 1.0 and shell.dbg.stages(step=3).at == (6, 3, True)
    assert shell.dbg.stepper.replay(2).at == (4, 2, True)


def test_what_trains_nothing_has_runs_for_steps(tmp_path: Path) -> None:
    shell = loaded(tmp_path, READING)
    assert typed(shell, "next").startswith("step 1") and typed(shell, "next 2").startswith("step 3")
    typed(shell, "goto step 5")
    assert where(shell) == (5, 5) and "5 runs, 5 of them steps" in typed(shell, "info runs")
    shell.close()


def test_training_that_is_built_late_begins_the_count(tmp_path: Path) -> None:
    shell = loaded(tmp_path, LATE)
    assert typed(shell, "next 2").startswith("step 2"), "so far nothing trains"
    assert typed(shell, "next").startswith("step 1") and "run 2 (before step 1)" in typed(shell, "goto run 2")
    shell.close()


def test_steps_of_the_prompt_s_own_train_op_go_on_from_the_script_s(shell: Shell) -> None:
    typed(shell, "run")
    typed(shell, "train loss --lr 0.1")
    assert typed(shell, "next 2").startswith("step 6") and where(shell) == (10, 6)


def test_a_recording_knows_its_steps(shell: Shell, tmp_path: Path) -> None:
    typed(shell, "run")
    typed(shell, f"record '{tmp_path / 'some.rec'}' steps 2:4")
    assert sorted(path.name for path in (tmp_path / "some.rec").glob("run-*")) == [
        f"run-000000{number}.npz" for number in (4, 5, 6)]
    other = Shell()
    typed(other, f"load '{tmp_path / 'some.rec'}'")
    assert [tuple(other.dbg.at(record)) for record in other.dbg.records] == [(4, 2, True), (5, 2, False), (6, 3, True)]
    assert "at step 2 of 3" in typed(other, "goto step 2") and float(other.dbg.value("w", step=3).array) == 0.5


def test_updates_inside_of_branches_and_loops_train() -> None:
    with tf.Graph().as_default() as graph:
        w = tf.get_variable("w", initializer=1.0)
        branch = tf.cond(tf.constant(True), lambda: tf.assign_sub(w, 0.1), lambda: tf.identity(w))
        calls = [op for op in graph.get_operations() if op.type == "If"]
        assert can_train(graph) and branch.graph is graph and trains(graph, calls)
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
        tf.while_loop(lambda i: i < 2, lambda i: tf.tuple([i + 1], control_inputs=[v.assign_add(1.0)])[0], [0])
        loop = [op for op in graph.get_operations() if op.type == "While"]
        assert can_train(graph) and trains(graph, loop) and not trains(graph, [v.initializer])
    with tf.Graph().as_default() as graph:
        fixed = tf.get_variable("fixed", initializer=1.0, trainable=False)
        free = tf.get_variable("free", initializer=1.0)
        ops = [tf.assign(fixed, 2.0).op, free.initializer, tf.is_variable_initialized(free).op]
        assert not can_train(graph) and not trains(graph, ops)
        assert trains(graph, [tf.assign(free, 2.0).op])


def test_what_a_file_gives_back_is_no_training() -> None:
    with tf.Graph().as_default() as graph:
        w = tf.get_variable("w", initializer=1.0)
        kept = build.RestoreV2("model.ckpt", ["w"], [""], dtypes=(w.dtype.base_dtype,))[0]
        assert not trains(graph, [tf.assign(w, 2 * kept).op]) and not can_train(graph)


def test_a_failed_step_is_a_step() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        w = tf.get_variable("w", initializer=[1.0, 2.0])
        x = tf.placeholder(tf.float32)
        step = w.assign_sub(w * x)
        session.run(w.initializer)
        dbg = Debugger(graph, session)
        dbg.on_run(session, step, {x: np.ones(2)})
        with pytest.raises(tf.errors.InvalidArgumentError):
            dbg.on_run(session, step, {x: np.ones(3)})
        assert dbg.step == 2 and "step 2 failed in" in dbg.why(kind="nan").text


def test_a_complex_loss_is_no_size(tmp_path: Path) -> None:
    shell = loaded(tmp_path, """
import tensorflow as tf
w = tf.Variable(tf.constant([1.0 + 1.0j, 2.0]), name="w")
loss = tf.reduce_sum(w * w, name="loss")
step = w.assign_sub(0.1 * w)
with tf.Session() as session:
    session.run(w.initializer)
    for i in range(4):
        session.run([step, loss])
""")
    typed(shell, "run")
    assert "finding" in typed(shell, "doctor") or "nothing looks wrong" in typed(shell, "doctor")
    shell.close()
    assert (number_in(tf.constant(1j)), number_in(tf.constant(2.0))) == (None, 2.0)
