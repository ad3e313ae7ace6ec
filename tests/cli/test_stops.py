"""Stops: inside of a run at an op, once, with commands; detaching; scripts that set signal handlers."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cli.language.interpreter import execute
from cli.model.results import error_in
from cli.model.script_events import KEPT, add_records
from cli.model.shell import Shell
from cli.view.render import plain

LOOP = """
import numpy as np
import tensorflow.compat.v1 as tf

w = tf.Variable([1.0, 2.0], name="w")
h = tf.exp(w, name="h")
loss = tf.reduce_sum(h, name="loss")
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
seen = []
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(8):
        seen.append(session.run([loss, step])[0])
print("the last loss is", seen[-1])
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


def test_before_the_first_run_nothing_is_said_to_be_finite(shell: Shell) -> None:
    assert plain(execute("why nan", shell)) == "error: nothing was run yet\n  run -f nan\n"
    typed(shell, "next")
    assert typed(shell, "why nan") == "every tensor that matters is finite\n"


def test_a_breakpoint_stops_inside_of_the_run_forward_and_backward(shell: Shell) -> None:
    typed(shell, "break h")
    said = typed(shell, "run")
    assert "stop: breakpoint 1" in said and "forward: h (Exp)" in said
    assert "comes later" in plain(execute("print loss", shell))
    np.testing.assert_allclose(shell.dbg.value("h").array, np.exp([1.0, 2.0]), rtol=1e-6)
    typed(shell, "break /gradients.h_grad.mul/")
    assert "backward" in typed(shell, "continue")
    said = typed(shell, "continue")
    assert "step 2" in said and "forward: h (Exp)" in said
    typed(shell, "delete")
    assert "ended" in typed(shell, "run")
    assert len(shell.script.namespace["seen"]) == 8  # type: ignore[union-attr]


def test_the_numbers_are_the_same_with_and_without_stops(tmp_path: Path) -> None:
    seen = []
    for lines in (["run"], ["break h", "break loss", *["continue"] * 20, "set loss = off" * 0, "delete", "run"]):
        (tmp_path / "model.py").write_text(LOOP)
        shell = Shell()
        for line in [f"load '{tmp_path / 'model.py'}'", *filter(None, lines)]:
            execute(line, shell)
        seen.append(shell.script.namespace["seen"])  # type: ignore[union-attr]
        shell.close()
    assert seen[0] == seen[1] and len(seen[0]) == 8


def test_once_ignored_and_disabled(shell: Shell) -> None:
    typed(shell, "tbreak h")
    assert "breakpoint 1" in typed(shell, "run")
    assert "no breakpoints" in typed(shell, "info breaks")
    typed(shell, "break h")
    typed(shell, "ignore 2 2")
    assert "step 4" in typed(shell, "continue")
    typed(shell, "disable 2")
    assert "ended" in typed(shell, "continue")


def test_temporary_conditions_too(shell: Shell) -> None:
    typed(shell, "tbreak loss if loss < 8")
    assert "stop: loss:0" in typed(shell, "run") or "step" in typed(shell, "where")
    assert "no breakpoints" in typed(shell, "info breaks")


def test_commands_are_done_at_each_stop(shell: Shell) -> None:
    typed(shell, "break h")
    typed(shell, "commands 1 print h * 2; grads --nonsense")
    said = plain(execute("run", shell))
    assert "h * 2" in said and "has no option --nonsense" in said
    typed(shell, "commands 1")
    assert "h * 2" not in typed(shell, "continue")
    assert error_in(execute("commands x", shell)) is not None
    typed(shell, "delete")
    typed(shell, "watch loss if step >= 4")
    typed(shell, "commands 2 print loss")
    assert "loss  float32" in typed(shell, "run") or "loss = " in plain(execute("print loss", shell))


def test_a_predicate_is_asked_inside_of_the_run(shell: Shell) -> None:
    assert "inside of runs" in typed(shell, "break h if max(.) < 7 and min(.) > 1.5 --inside")
    said = typed(shell, "run")
    assert "stop: breakpoint 1, h:0: max(.) < 7 and" in said and "forward: h (Exp)" in said and "next op" in said
    assert "comes later" in plain(execute("print loss", shell))
    value, step = shell.dbg.value("h").array, shell.dbg.stepper.cursor.at.step  # type: ignore[union-attr]
    assert value.max() < 7 and step == len(shell.dbg.records)  # beside the initializer's run
    typed(shell, "delete")
    typed(shell, "break w if absmax(.) < 4 --inside")
    said = typed(shell, "continue")
    assert "backward" in said and "gradient of w" in said
    typed(shell, "delete")
    assert "ended" in typed(shell, "run")
    assert len(shell.script.namespace["seen"]) == 8  # type: ignore[union-attr]
    for refused in ("break h if harmful --inside", "break h --inside"):
        assert error_in(execute(refused, shell)) is not None


def test_display_at_stops_inside_of_a_run_and_after_it(shell: Shell) -> None:
    typed(shell, "display w * 3")
    assert "w * 3" in typed(shell, "next 2")
    typed(shell, "display loss")
    typed(shell, "break h")
    said = typed(shell, "continue")
    assert "w * 3" in said and "loss: 'loss:0' has no value yet" in said


def test_detach_lets_the_script_finish(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    typed(shell, "next 2")
    typed(shell, "break h")
    typed(shell, "back")
    assert "ended" in typed(shell, "detach")
    assert shell.dbg.history.position.is_present
    assert len(shell.script.namespace["seen"]) == 8  # type: ignore[union-attr]
    assert "the last loss is" in capsys.readouterr().out
    assert shell.dbg.step == 2
    assert error_in(execute("detach", shell)) is not None


def test_a_script_may_set_signal_handlers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.py").write_text("import signal\nold = signal.signal(signal.SIGTERM, lambda *_: None)\n"
                                       "again = signal.signal(signal.SIGTERM, old)\n" + LOOP)
    shell = Shell()
    try:
        assert error_in(execute(f"load '{tmp_path / 'model.py'}'", shell)) is None
        assert "not installed under the debugger" in capsys.readouterr().err
        assert "ended" in typed(shell, "run")
    finally:
        shell.close()


AGAIN = """
import sys
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 3], name="x")
w = tf.Variable(tf.ones([3, 1]), name="w")
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)), name="loss")
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(w.initializer)
    for i in range(int(sys.argv[1])):
        session.run([train, loss], {x: np.ones((4, 3))})
"""


def test_load_keeps_watches_and_breakpoints_by_name(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(AGAIN)
    shell = Shell()
    for line in (f"load {path} 3", "watch w", "break loss if loss < 0.5", "break 12", "disable 3", "next", "tbreak %3",
                 "watch x", "load"):
        assert error_in(execute(line, shell)) is None
    assert [(row.number, row.targets, row.condition, row.enabled, row.temporary) for row in shell.dbg.stops()] == [
        (1, ("w",), "", True, False), (2, ("loss",), "loss < 0.5", True, False),
        (3, ("model.py:12",), "", False, False), (4, ("w/Assign:0",), "", True, True), (5, ("x",), "", True, False)]
    assert shell.dbg.step == 0
    path.write_text(AGAIN.replace('name="loss"', 'name="cost"').replace("loss", "cost"))
    again = plain(execute("load", shell))
    hint = "next lets the script make its own run; a value for x comes with one"
    assert error_in(execute("print w + cost", shell)).hint == hint  # type: ignore[union-attr]
    assert "lost with the load: break 2 at loss: no tensor" in again
    assert [row.number for row in shell.dbg.stops()] == [1, 3, 4, 5]
    shell.close()


def test_run_starts_a_script_at_its_end_anew(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(AGAIN)
    shell = Shell()
    execute(f"load {path} 3", shell)
    assert "run starts it anew" in plain(execute("continue", shell))
    assert error_in(execute("next", shell)).hint == "run starts it anew; train LOSS trains on from here"  # type: ignore
    assert plain(execute("run -t 2", shell)).startswith(f"{path} was started anew\nstep 1  loss 9")
    execute("continue", shell)
    for line in ("train loss", "feed x = np.ones((4, 3))"):
        execute(line, shell)
    assert "step 4" in plain(execute("run -t 1", shell))  # the prompt's own train op
    execute("load", shell)
    execute("continue", shell)
    shell.batch = True
    assert error_in(execute("run", shell)).code == "at_end"  # type: ignore[union-attr]
    shell.close()


def test_a_command_of_very_many_runs_keeps_few_of_their_records() -> None:
    kept: list[int] = []
    for run in range(20 * KEPT):
        add_records(kept, [run])
    assert len(kept) <= 2 * KEPT and kept[0] == 0 and kept[-KEPT:] == list(range(19 * KEPT, 20 * KEPT))


def test_a_bare_number_to_go_to_is_asked_for_its_kind(shell: Shell) -> None:
    execute("next 3", shell)
    assert error_in(execute("goto 2", shell)).hint == "goto step 2"  # type: ignore[union-attr]
    assert "step 2" in plain(execute("goto step 2", shell))
