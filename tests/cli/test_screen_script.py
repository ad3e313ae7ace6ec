"""A script on the full screen, in a terminal: what it prints by whatever way, what it asks, and how much of it."""

import os
import sys
from pathlib import Path

import pytest

pexpect = pytest.importorskip("pexpect")
ROOT = Path(__file__).parents[2]
PATIENCE = 40.0  # seconds until a test gives up; none waits for so long
MODEL = """
import os, subprocess, sys
import autodiff as tf
x = tf.Variable([1., 2.], name="x")
loss = tf.reduce_sum(x * x, name="loss")
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    {body}
    session.run(loss)
"""


@pytest.fixture
def screen(tmp_path: Path) -> "Starter":
    return Starter(tmp_path)


class Starter:
    """Opens the full screen on a script; `next` has run its first Session.run."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __call__(self, *body: str, size: tuple[int, int] = (24, 80)) -> "pexpect.spawn":
        script = self._directory / "model.py"
        script.write_text(MODEL.replace("{body}", "\n    ".join(body)))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1",
                       "GRADBG_HISTORY": str(self._directory / "history")}
        child = pexpect.spawn(sys.executable, ["-m", "cli", "-nx", str(script)], env=environment, encoding="utf-8",
                              timeout=PATIENCE, dimensions=size)
        sees(child, "let it make its next run")
        child.send("next\r")
        sees(child, "step 1")
        return child


def sees(child: "pexpect.spawn", text: str) -> None:
    """Wait until a regex is on the screen: it is drawn anew (Ctrl-L), as changes alone do not hold whole words."""
    pattern = text.replace(" ", r"(?: |\x1b\[\d*C|\x1b\[[\d;]*m)+")
    for _ in range(int(PATIENCE)):
        child.sendcontrol("l")
        if child.expect([pattern, pexpect.TIMEOUT], timeout=1) == 0:
            return
    raise AssertionError(f"{text!r} is not on the screen: {child.before}")


def leave(child: "pexpect.spawn") -> None:
    child.send("quit\r")
    child.expect_exact("\x1b[?1049l")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0


def test_every_way_of_printing_lands_on_the_page(screen: Starter) -> None:
    child = screen('os.write(1, b"by descriptor one\\n")', 'os.write(2, b"by descriptor two\\n")',
                   'subprocess.run(["echo", "by a subprocess"])', 'sys.__stdout__.write("by dunder\\n")',
                   'sys.__stdout__.flush()', 'print("by print")')
    child.send("next\r")
    for text in ("by descriptor one", "by descriptor two", "by a subprocess", "by dunder", "by print"):
        sees(child, text)
    sees(child, "step 2")
    leave(child)


def test_thousands_of_lines_do_not_stop_the_screen(screen: Starter) -> None:
    """500 lines took .6 s, 2,000 took 10: 60,000 end within the patience of a test, and the first are in a file."""
    child = screen("for i in range(60_000): print('printed', i)")
    child.send("next\r")
    sees(child, "printed 59999")
    sees(child, "step 2")
    child.send("\x1b[1;5H")  # Ctrl-Home
    sees(child, "lines before are in .*gradbg-printed-")
    leave(child)


def test_a_bar_overwrites_its_line_and_colors_stay(screen: Starter) -> None:
    child = screen("for i in range(200): sys.stderr.write(f'\\rbar {i:3}')", "print()",
                   "print('\\x1b[31mred\\x1b[0m and\\ttab')")
    child.send("next\r")
    sees(child, "bar 199")
    sees(child, r"\[0;31mred\x1b\[0m and tab")
    leave(child)


def test_input_asks_at_the_command_line(screen: Starter) -> None:
    child = screen("name = input('who is there? ')", "print('hello', name)")
    child.send("next\r")
    sees(child, "who is there")
    sees(child, "the script asks")
    child.send("Ada\r")
    sees(child, "hello Ada")
    sees(child, "step 2")
    leave(child)


def test_breakpoint_gives_pdb_the_terminal_and_takes_it_back(screen: Starter) -> None:
    child = screen("secret = 6 * 7", "breakpoint()", "print('went on')")
    child.send("next\r")
    child.expect_exact("\x1b[?1049l")
    child.expect(r"\(Pdb\)")
    child.send("p secret + 1\r")
    child.expect("43")
    child.send("c\r")
    child.expect_exact("\x1b[?1049h")
    sees(child, "went on")
    sees(child, "step 2")
    leave(child)


def test_ctrl_r_runs_what_it_finds_at_the_first_enter(screen: Starter) -> None:
    child = screen("pass")
    child.send("print 6 * 7\r")
    sees(child, "42")
    child.send("print 5 * 5\r")
    sees(child, "25")
    child.send("\x126 *")
    sees(child, "search")
    child.send("\r")
    sees(child, "42")
    leave(child)


def test_a_stop_at_nan_is_explained_at_once_unless_that_is_off(screen: Starter) -> None:
    child = screen("nan = tf.log(x - 1.)", "session.run(nan)", "session.run(nan)", size=(40, 120))
    child.send("watch nan if inf\r")
    sees(child, "watch")
    child.send("next\r")
    sees(child, "why nan .*─")
    sees(child, "log")
    child.send("set auto-why off\r")
    sees(child, "auto-why off")
    leave(child)
