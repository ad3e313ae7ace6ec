"""How far a Hessian is: told on a terminal, row blocks as they come, and nothing of it elsewhere."""
from __future__ import annotations

import io
import sys

import numpy as np
import pytest

import autodiff as tf
from autodiff.debug import Debugger
from cli.view.drawn.progress import Progress, words


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


def test_it_counts_and_says_how_fast_and_what_is_left() -> None:
    assert words("rows", 250, 1000, 2.0) == "rows 250 of 1000, 125/s, 6 s left"


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
