"""The doors from inside a program: DebugSession, set_trace, what a notebook shows, assert_gradients_close."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.site import capture, resolve
from autodiff.debug import Debugger, assert_gradients_close
from autodiff.foreign.model import Model
from cli import wrap
from cli.language.interpreter import execute
from cli.model.shell import Shell
from cli.view.plain import plain
from cli.wrap import DebugSession, _question, why

ROOT = Path(__file__).parents[2]
TRACED = """
import autodiff as tf
from cli.wrap import set_trace
def inside():
    local = tf.constant(3.0, name="local")
    with tf.Session() as session:
        set_trace(commands=COMMANDS)
        print("ran", session.run(local))
        print("again", session.run(local + 1))
inside()
"""


@pytest.fixture
def model() -> tuple[tf.Tensor, tf.Variable, tf.Tensor, tf.Operation]:
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.Variable(tf.ones([3, 1]), name="w")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w)), name="loss")
    return x, w, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def test_a_wrapped_session_trains_as_the_bare_one(model: tuple, capsys: pytest.CaptureFixture) -> None:
    x, w, loss, train = model
    losses: dict[bool, list[float]] = {}
    for wrapped in (False, True):
        session = tf.Session()
        if wrapped:
            session = DebugSession(session, ["next", "next 2", "print loss", "quit"])
        with session:
            session.run(tf.global_variables_initializer())
            losses[wrapped] = [session.run([loss, train], {x: np.ones((4, 3))})[0] for _ in range(4)]
            if wrapped:
                shown = session("grads")
                assert "w:0" in str(shown)
                assert shown._repr_html_().startswith("<div")
    assert losses[True] == losses[False]
    assert "loss  float32[]  $1\n1.44" in capsys.readouterr().out


def test_what_asks_the_session_itself_stops_as_well(model: tuple, capsys: pytest.CaptureFixture) -> None:
    x, w, loss, train = model
    inside = tf.InteractiveSession()
    session = DebugSession(inside, ["next 6", "print 6 * 7"])
    call = session.make_callable(loss, [x])
    w.initializer.run()
    assert loss.eval({x: np.ones((4, 3))}) == 9
    train.run({x: np.ones((4, 3))})
    w.eval()
    assert call(np.ones((4, 3))) < 9
    assert "goes on when the answer is there" in str(session("next"))
    assert "$1" not in capsys.readouterr().out
    inside.run(train, {x: np.ones((4, 3))})
    session.close()
    assert "int64[]  $1\n42" in capsys.readouterr().out
    assert (session.dbg.step, tf.get_default_session(), inside.closed) == (2, None, True)


def test_a_session_around_the_session_stops_too(capsys: pytest.CaptureFixture) -> None:
    with tf.Graph().as_default():
        w = tf.Variable([1.0, 2.0], name="w")
        loss = tf.reduce_sum(tf.square(w), name="loss")
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
        with DebugSession(tf.train.MonitoredTrainingSession(), ["next 2", "print 6 * 7"]) as session:
            assert [round(float(session.run([loss, train])[0]), 2) for _ in range(3)] == [5.0, 3.2, 2.05]
            assert (session.dbg.step, session.should_stop()) == (2, False)
    assert "step 2  loss 3.2" in capsys.readouterr().out
    with pytest.raises(TypeError, match="a tf.Session, or one around it"):
        DebugSession(3)


def test_a_session_is_closed_in_another_thread_and_out_of_order(capfd: pytest.CaptureFixture) -> None:
    with tf.Graph().as_default():
        first = tf.InteractiveSession(graph=tf.Graph())
        with pytest.warns(UserWarning, match="already active"):
            second = tf.InteractiveSession(graph=tf.Graph())
        for session in (first, second):
            closing = threading.Thread(target=session.close)
            closing.start()
            closing.join(10)
        assert tf.get_default_session() is None
    assert capfd.readouterr().err == ""


UNDER = """
import tensorflow as tf
from cli.wrap import DebugSession
w = tf.Variable([1.0, 2.0], name="w")
loss = tf.reduce_sum(tf.square(w), name="loss")
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
inside = tf.InteractiveSession()
session = DebugSession(inside, ["quit"])
session.run(w.initializer)
train.run()
print(session("grad loss w"))
session.run(train)
train.run()
print(loss.eval())
"""


def test_under_gradbg_there_is_one_debugger(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    (tmp_path / "model.py").write_text(UNDER)
    shell = Shell()
    stops = [execute(line, shell) for line in (f"load {tmp_path / 'model.py'}", "next", "next", "next", "grads")]
    assert "before its first Session.run, at model.py:9" in plain(stops[0])
    assert ["at model.py:10" in plain(stops[2]), "at model.py:12" in plain(stops[3])] == [True, True]
    assert "w:0" in plain(stops[4])
    assert "∂ w:0  float32[2]" in capfd.readouterr().out  # what the script asked
    shell.close()  # leaves the InteractiveSession early
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("under", [False, True])
def test_set_trace_stops_where_it_stands(under: bool, tmp_path: Path) -> None:
    script = tmp_path / "traced.py"
    script.write_text(TRACED.replace("COMMANDS", "None" if under else repr(["print local * 2", "next", "quit"])))
    command = [sys.executable, "-m", "cli", "-nx", str(script)] if under else [sys.executable, str(script)]
    done = subprocess.run(command, input="print local * 2\nnext\ncontinue\n", text=True, capture_output=True,
                          env={"PYTHONPATH": str(ROOT), "PATH": ""}, timeout=60, check=False)
    assert "is at its set_trace, traced.py:7" in done.stdout, done.stderr
    assert "6.00" in done.stdout
    assert "ran 3.0\nagain 4.0" in done.stdout.replace("step 1", "").replace("\n\n", "\n") or "again 4.0" in done.stdout


def test_gradients_that_are_right_pass(model: tuple) -> None:
    x, w, loss, _ = model
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feeds = {x: np.random.default_rng(0).random((4, 3))}
        before = session.run(w)
        assert_gradients_close(loss, w, feeds)
        assert_gradients_close(loss, x, feeds)
        np.testing.assert_array_equal(session.run(w), before)
        rows = feeds[x]
        assert_gradients_close(loss, w, feeds, expected=2 * rows.T @ (rows @ np.ones((3, 1))) / 4)


def test_gradients_that_are_wrong_say_why(model: tuple) -> None:
    x, w, loss, _ = model
    feeds = {x: np.ones((4, 3))}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(AssertionError, match=r"wrong in 3 of 3 elements\n  at \[0,0\]: expected 0, found"):
            assert_gradients_close(loss, w, feeds, expected=0.0)
        with pytest.raises(AssertionError, match=r"no gradient(.|\n)*why: .*Round(.|\n)*remedy"):
            assert_gradients_close(tf.reduce_sum(tf.round(w)), w)

        @tf.custom_gradient
        def crooked(value: tf.Tensor) -> tuple:
            return tf.square(value), lambda dy: dy * value
        with pytest.raises(AssertionError, match=r"expected 2, found 1\ncheck: .* IdentityN"):
            assert_gradients_close(tf.reduce_sum(crooked(w)), w)


def test_why_of_what_is_no_program_of_another_framework() -> None:
    with pytest.raises(TypeError, match="a PyTorch module or function with tensors, or a JAX function"):
        why(3)


def test_the_question_is_about_the_first_gradient_that_is_wrong() -> None:
    with tf.Graph().as_default() as graph:
        w, v, u = (tf.Variable([1.0, 0.0], name=name) for name in "wvu")
        tf.reduce_sum(w + tf.stop_gradient(v) + tf.where(u > 0.0, tf.sqrt(u) * 0.0, u), name="y")
        session = tf.Session()
        session.run(tf.global_variables_initializer())
    dbg = Debugger(graph, session, handles={"w": w, "v": v, "u": u})
    asked = [_question(dbg, "y:0", names) for names in (["w", "v"], ["v", "w"], ["w"])]
    assert asked == ["why v", "why v", "grad y:0 w"]


def test_where_nothing_can_be_typed_no_command_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        made = Model(graph, {"x": x}, [tf.sqrt(x)], feeds={x: [0.0, 1.0]})
    monkeypatch.setattr(wrap, "_read", lambda *_: made)
    answer = why(None)
    assert "tried: step 1 gives" in answer and "applies it" not in answer


def test_a_reader_that_has_gone_does_not_end_the_program() -> None:
    program = """
import sys
import autodiff as tf, cli.wrap as wrap
from autodiff.foreign.model import Model
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.log(x)
wrap._read = lambda *_: Model(graph, {"x": x}, [y], feeds={x: [0., 1.]})
sys.stderr.write(wrap.why(None)[:6])
"""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-c", program], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "log(0)")


def test_what_is_made_below_the_door_has_the_line_of_its_caller() -> None:
    room = Path(__file__).parents[2] / "cli"
    names: dict[str, Any] = {"capture": capture}
    for file in ("wrap.py", "main.py"):
        exec(compile(f"{file[:4]} = lambda: capture()", str(room / file), "exec"), names)
    assert [Path(resolve(names[name]())[0].file).name for name in ("wrap", "main")] == ["test_wrap.py", "<prompt>"]
