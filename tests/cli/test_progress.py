"""How far a Hessian is: told on a terminal, row blocks as they come, and nothing of it elsewhere."""
from __future__ import annotations

import io
import sys

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger
from cli.view.progress import Progress, text


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
    assert told[-1] == (200, 200) and len(told) == 4 and told == sorted(told)


def test_the_line_counts_and_says_what_is_left() -> None:
    assert text("rows", 250, 1000, 2.0) == "rows 250 of 1000 [######------------------]  6 s left"


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_it_is_drawn_on_a_terminal_alone_and_goes(stream: type[io.StringIO], monkeypatch: pytest.MonkeyPatch) -> None:
    out, errors = stream(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", errors)
    monkeypatch.setenv("TERM", "xterm")
    times = iter(range(100))
    monkeypatch.setattr("cli.view.progress.time.monotonic", lambda: float(next(times)))
    with Progress("rows") as report:
        report(64, 128)
        report(128, 128)
    said = errors.getvalue()
    assert out.getvalue() == ""
    assert said == "" if stream is io.StringIO else "64 of 128" in said and said.endswith(" \r")
