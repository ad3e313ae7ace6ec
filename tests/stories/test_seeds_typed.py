"""The seed texts at the prompt: each story in batch, at the line prompt of a terminal, and through DebugSession."""
from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

import autodiff as tf
from autodiff.debug import clear_gradient_debuggers
from autodiff.tensorflow_names.alias import standing_in
from cli.language.interpreter import execute
from cli.model.shell import Shell
from cli.view.render import plain
from cli.wrap import DebugSession

from .seed_stories import STORIES, TAPES, Story

ROOT = Path(__file__).parents[2]
PROMPT = r"\(gradbg\)"
SESSION = "s = tf.Session()\ns.run(tf.global_variables_initializer())\ndebug = DebugSession(s)\n"
Door = Callable[[Story], None]


def in_order(line: str, shown: str, parts: tuple[str, ...]) -> None:
    """Every part is shown, one after the other."""
    at = 0
    for part in parts:
        assert part in shown[at:], f"{line}: expected {part!r} in\n{shown[at:]}"
        at = shown.index(part, at) + len(part)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    tf.reset_default_graph()
    clear_gradient_debuggers()
    yield
    clear_gradient_debuggers()


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator["pexpect.spawn"]:
    """One prompt for all stories, as each is loaded anew."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "NO_COLOR": "1",
                   "PROMPT_TOOLKIT_NO_CPR": "1", "GRADBG_HISTORY": str(tmp_path_factory.mktemp("typed") / "history")}
    child = pexpect.spawn(sys.executable, ["-m", "cli", "-nx", "--ui", "line"], env=environment, encoding="utf-8",
                          timeout=30, dimensions=(60, 250))
    child.expect(PROMPT)
    yield child
    child.close(force=True)


@pytest.fixture
def door(request: pytest.FixtureRequest, tmp_path: Path) -> Door:
    """A way to tell a story."""

    def in_batch(told: Story) -> None:
        script = tmp_path / "script.py"
        script.write_text(told.script)
        with contextlib.closing(Shell()) as shell:
            for line, parts in ((f"load {script}", (told.begins,)), *told.typed):
                in_order(line, plain(execute(line, shell)), parts)

    def on_a_terminal(told: Story) -> None:
        child = request.getfixturevalue("terminal")
        script = tmp_path / "script.py"
        script.write_text(told.script)
        for line, parts in ((f"load {script}", (told.begins,)), *told.typed):
            child.send(line + "\r")
            child.expect("\r\n")
            for part in filter(None, parts):
                child.expect_exact(part)
            child.expect(PROMPT)

    def in_a_session(told: Story) -> None:
        names: dict[str, object] = {"__name__": "story", "DebugSession": DebugSession}
        with standing_in():
            exec(compile(told.script + SESSION, str(tmp_path / "script.py"), "exec"), names)
        debug = names["debug"]
        assert isinstance(debug, DebugSession)
        for line, parts in told.typed:
            in_order(line, str(debug(line)), parts)
        debug.close()

    return {"batch": in_batch, "terminal": on_a_terminal, "session": in_a_session}[request.param]


@pytest.mark.parametrize("door", ["batch", "terminal", "session"], indirect=True)
@pytest.mark.parametrize("name", STORIES)
def test_a_story(name: str, door: Door) -> None:
    door(STORIES[name])


@pytest.mark.parametrize("door", ["batch", "terminal"], indirect=True)  # what needs no session can have none
@pytest.mark.parametrize("name", TAPES)
def test_a_story_of_tapes(name: str, door: Door) -> None:
    door(TAPES[name])
