"""How far a long answer is: told on a terminal and to a screen, nothing of it elsewhere; Ctrl-C keeps what is done."""
from __future__ import annotations

import builtins
import io
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger
from cli.model.script import ModelScript
from cli.view.drawn.progress import Progress, counted, words


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_debugger_reports_blocks_of_rows() -> None:
    graph = tf.Graph()
    with graph.as_default():
        w = tf.Variable(np.linspace(0, 1, 200), name="w")
        tf.reduce_sum(tf.sin(w) * tf.reduce_sum(w), name="loss")
    dbg = Debugger(graph)
    dbg.session.run(w.initializer)
    told: list[tuple[int, int]] = []
    dbg.hessian("w", "loss", report=lambda done, total: told.append((done, total)))
    assert told[-1] == (200, 200) and len(told) > 3 and told == sorted(told)


def test_it_counts_and_says_how_fast_and_what_is_left() -> None:
    assert words("rows", 250, 1000, 2.0) == "rows 250 of 1000, 125/s, 6 s left"
    assert words("steps", 0, 9, 2.0, "model.py:3: import torch") == "steps 0 of 9, 2 s  model.py:3: import torch"
    assert words("", 0, None, 2.0, "loading model.py") == "loading model.py  2 s"


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_it_is_drawn_on_a_terminal_alone_and_goes(stream: type[io.StringIO], monkeypatch: pytest.MonkeyPatch) -> None:
    out = stream()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    times = iter(range(10_000))
    monkeypatch.setattr("cli.view.drawn.progress.time.monotonic", lambda: float(next(times)))
    with Progress("rows") as report:
        report(64, 128)
        report(128, 128)
    said = out.getvalue()
    assert said == "" if stream is io.StringIO else "rows" in said and said.endswith("\x1b[2K")


class Shows(io.StringIO):
    """Standard output of a screen that shows progress in a place of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def show_progress(self, text: str) -> None:
        self.said.append(text)


def test_a_screen_is_told_instead_and_told_when_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Shows()
    monkeypatch.setattr(sys, "stdout", out)
    with Progress("rows") as report:
        report(64, 128)
    assert out.getvalue() == "" and out.said[0].startswith("rows 64 of 128") and out.said[-1] == ""


def test_what_tells_seldom_is_looked_at_often(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Shows()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr("cli.view.drawn.progress.PAUSE", 0.001)
    with counted("ops") as report:
        report(1, 3)
        while sum(said.startswith("ops 1") for said in out.said) < 2:
            pass
    assert out.said[-1] == ""


def test_a_script_that_asks_has_the_terminal_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(builtins, "input", lambda prompt: f"{prompt}yes")
    times = iter(range(10_000))
    monkeypatch.setattr("cli.view.drawn.progress.time.monotonic", lambda: float(next(times)))
    asked = builtins.input
    with Progress("steps") as report:
        report(1, 3)
        assert builtins.input is not asked
        assert input("on? ") == "on? yes"
        drawn = len(out.getvalue())
        report(2, 3)
        assert len(out.getvalue()) == drawn, "it stays away"
    assert builtins.input is asked


def test_the_line_that_a_script_executes_is_known(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text("import threading\ngo, on = threading.Event(), threading.Event()\n"
                    "import sys; sys.waits_in_test = go, on\ngo.set(); on.wait(9)\n", encoding="utf-8")
    script = ModelScript(str(path), (), lambda *_: (None, None))
    said: list[str] = []

    def look() -> None:
        while not hasattr(sys, "waits_in_test"):
            pass
        go, on = sys.waits_in_test
        go.wait(9)
        said.append(script.doing())
        on.set()
    looker = threading.Thread(target=look)
    looker.start()
    assert script.start().kind == "ended"
    looker.join(60)
    script.close()
    del sys.waits_in_test
    assert said == ["model.py:4: go.set(); on.wait(9)"] and script.doing() == ""


class Pressed:
    """A report that is interrupted when so many are done."""

    def __init__(self, most: int) -> None:
        self._most = most

    def __call__(self, done: int, total: int) -> None:
        if done == self._most:
            raise KeyboardInterrupt


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        w = tf.Variable([1.0, 2.0], name="w")
        tf.Variable([1.0], name="unused")
        tf.reduce_sum(tf.log(tf.sin(w) * tf.exp(w)), name="loss")
    dbg = Debugger(graph)
    dbg.train("loss")
    dbg.run(3)
    checked = dbg.check(report=Pressed(2))
    assert checked.text.startswith("stopped by Ctrl-C after 2 of") and checked.ops == 2
    found = dbg.doctor(report=Pressed(3))
    assert "unused:0" in [finding.target for finding in found.findings]
    assert found.looked[-1].startswith("stopped by Ctrl-C after 3 of ")
    with pytest.raises(KeyboardInterrupt):
        dbg.check(report=Pressed(0))
    written = dbg.record(str(tmp_path / "some.rec"), slice(1, None), report=Pressed(2))
    assert written.runs == 2 and dbg.open_recording(str(tmp_path / "some.rec")).runs == 2
