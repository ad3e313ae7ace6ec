"""The prompt on a real terminal: completion, Ctrl-C, Ctrl-D, an empty line."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from cli.model.shell import Shell
from cli.model.terminal import Terminal
from cli.screen.line_history import LineHistory
from cli.screen.line_prompt import Prompt

ROOT = Path(__file__).parents[2]
PROMPT = r"\(gradbg\)"


def spawn(directory: Path, **variables: str) -> "pexpect.spawn":
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "NO_COLOR": "1",
                   "PROMPT_TOOLKIT_NO_CPR": "1", "GRADBG_HISTORY": str(directory / "history"), **variables}
    return pexpect.spawn(sys.executable, ["-m", "cli", "-nx", "--ui", "line",
                                          str(ROOT / "scripts" / "models" / "digits_loop.py")],
                         env=environment, encoding="utf-8", timeout=120, dimensions=(40, 120))


@pytest.fixture
def prompt(tmp_path: Path) -> Iterator["pexpect.spawn"]:
    child = spawn(tmp_path)
    yield child
    child.close(force=True)


def answers(prompt: "pexpect.spawn", line: str, text: str) -> None:
    """Type a line and wait for what it says, then for the prompt that reads again: keys typed between may be lost."""
    prompt.send(line + "\r")
    prompt.expect(text)
    prompt.expect(PROMPT)


def test_a_session(prompt: "pexpect.spawn", tmp_path: Path) -> None:
    prompt.expect("before its first Session.run")
    prompt.expect(PROMPT)
    prompt.send("gra\t")
    prompt.expect("grads")
    prompt.sendcontrol("c")
    answers(prompt, "next 3", "step 3  loss")
    answers(prompt, "", "step 6  loss")
    answers(prompt, "print nothing_like_it", "error: ")
    answers(prompt, "print 6 * 7", "42")
    prompt.sendcontrol("d")
    prompt.expect(pexpect.EOF)
    prompt.wait()
    assert prompt.exitstatus == 0
    assert "+print 6 * 7" in (tmp_path / "history").read_text()


def test_a_program_opens_the_prompt_itself(tmp_path: Path) -> None:
    script = tmp_path / "own.py"
    script.write_text("import autodiff as tf\nfrom cli.wrap import DebugSession\nw = tf.Variable(2.0)\n"
                      "with DebugSession(tf.Session(), ui='line') as session:\n    w.initializer.run()\n"
                      "    print('gives', (w * 21.0).eval())\n")
    child = pexpect.spawn(sys.executable, [str(script)], encoding="utf-8", timeout=120, dimensions=(40, 120),
                          env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "NO_COLOR": "1",
                               "PROMPT_TOOLKIT_NO_CPR": "1", "GRADBG_HISTORY": str(tmp_path / "history")})
    child.expect("before its first Session.run, at own.py:5")
    child.expect(PROMPT)
    answers(child, "next", "own.py:5")
    child.sendcontrol("c")
    answers(child, "print w + 1", "3.00")
    child.send("quit\r")
    child.expect("gives 42.0")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0


def test_ctrl_c_stops_a_script_at_its_next_run(tmp_path: Path) -> None:
    script = tmp_path / "slow.py"
    script.write_text("import autodiff as tf\nx = tf.constant(1.0)\nwith tf.Session() as s:\n"
                      "    for i in range(10**9):\n        s.run(x)\n        if i == 20: print('far', 'on')\n")
    child = pexpect.spawn(sys.executable, ["-m", "cli", "-nx", str(script)], encoding="utf-8", timeout=120,
                          env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb",
                               "GRADBG_HISTORY": str(tmp_path / "h")})
    child.expect(PROMPT)
    child.send("display 1 + 1\r")
    child.expect("shown at each stop")
    child.send("continue\r")
    child.expect("far on")
    child.sendintr()
    child.expect("stopped by Ctrl-C")
    child.send("quit\r")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 0


def test_ctrl_c_just_after_enter_is_for_the_command(prompt: "pexpect.spawn") -> None:
    """The prompt still held the terminal, took the key for one of a line to come, and lost it."""
    prompt.expect(PROMPT)
    prompt.send("python import time; time.sleep(1000)\r\x03")
    prompt.expect("interrupted")
    prompt.expect(PROMPT)
    answers(prompt, "print 6 * 7", "42")


def test_ctrl_c_again_and_again_does_not_end_the_session(prompt: "pexpect.spawn") -> None:
    prompt.expect(PROMPT)
    prompt.delaybeforesend = None
    prompt.send("python import time; time.sleep(1000)\r")
    for _ in range(50):
        prompt.sendintr()
    prompt.expect("interrupted")
    prompt.sendcontrol("c")
    prompt.expect(PROMPT)
    prompt.delaybeforesend = 0.05
    answers(prompt, "", PROMPT)
    answers(prompt, "print 6 * 7", "42")


CHAIN = """import autodiff as tf
x = h = tf.Variable(0.5, name="x")
for _ in range(8000):
    h = tf.sin(h)
big = tf.Variable(tf.ones([400, 250]), name="big")
loss = tf.add(h, tf.reduce_sum(tf.tanh(big)), name="loss")
"""


def test_ctrl_c_cancels_what_takes_long(tmp_path: Path) -> None:
    """Each alone would go on for many times the 0.2 s that it may take to stop."""
    script = tmp_path / "chain.py"
    script.write_text(CHAIN)
    child = pexpect.spawn(sys.executable, ["-m", "cli", "-nx", "--ui", "line", "-ex", "train loss", "-ex", "next",
                                           str(script)], encoding="utf-8", timeout=120, dimensions=(24, 100),
                          env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "NO_COLOR": "1",
                               "PROMPT_TOOLKIT_NO_CPR": "1", "GRADBG_HISTORY": str(tmp_path / "h")})
    child.expect("step 1  loss")
    child.expect(PROMPT)
    for line, said in (("run", "stopped by Ctrl-C|interrupted"), ("check loss x", "interrupted"),
                       ("hessian loss big --eig 900", "interrupted")):
        child.send(line + "\r")
        child.expect("\n")
        child.sendintr()
        child.expect(said)
        child.expect(PROMPT)
        answers(child, "print 6 * 7", "42")
    child.close(force=True)


def test_a_step_that_goes_on_after_ctrl_c_says_so(tmp_path: Path) -> None:
    script = tmp_path / "long.py"
    script.write_text("import time\nimport autodiff as tf\nx = tf.constant(1.0)\nwith tf.Session() as s:\n"
                      "    s.run(x)\n    while True:\n        s.run(x)\n        print('far', 'on')\n"
                      "        time.sleep(1)\n")
    child = pexpect.spawn(sys.executable, ["-m", "cli", "-nx", "--ui", "line", str(script)], encoding="utf-8",
                          timeout=120, env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "NO_COLOR": "1",
                                            "PROMPT_TOOLKIT_NO_CPR": "1", "GRADBG_HISTORY": str(tmp_path / "h")})
    child.expect(PROMPT)
    child.send("run\r")
    child.expect("far on")
    child.sendintr()
    child.expect("it stops at the end of this step")
    child.expect("stopped by Ctrl-C")
    child.close(force=True)


def test_a_signal_sent_while_a_line_is_typed_clears_it(prompt: "pexpect.spawn") -> None:
    prompt.expect(PROMPT)
    prompt.send("print 1 + ")
    prompt.expect(r"print.* 1")
    prompt.kill(signal.SIGINT)
    prompt.expect(PROMPT)
    answers(prompt, "print 6 * 7", "42")


def test_what_is_longer_than_the_screen_goes_through_the_pager(tmp_path: Path) -> None:
    child = spawn(tmp_path, PAGER="sed 's/^/paged: /'")
    child.expect(PROMPT)
    child.send("info tensors\r")
    child.expect("paged: .*hidden1/MatMul:0")
    child.expect(PROMPT)
    child.send("print 6 * 7\r")
    child.expect("42")
    assert "paged" not in child.before
    child.close(force=True)


def test_long_runs_say_how_far_they_are(tmp_path: Path) -> None:
    script = tmp_path / "long.py"
    script.write_text("import autodiff as tf, time\nx = tf.constant(1.0)\nwith tf.Session() as s:\n"
                      "    for i in range(60):\n        s.run(x); time.sleep(0.03)\n")
    child = pexpect.spawn(sys.executable, ["-m", "cli", "-nx", "--ui", "line", str(script)], encoding="utf-8",
                          timeout=120, dimensions=(24, 80),
                          env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "NO_COLOR": "1",
                               "PROMPT_TOOLKIT_NO_CPR": "1", "GRADBG_HISTORY": str(tmp_path / "history")})
    child.expect(PROMPT)
    child.send("next 50\r")
    child.expect(r"(?:steps|runs) \d+ of 50, .*/s")
    child.expect("step 50 ")
    child.close(force=True)


def test_the_history_is_shared_and_its_loss_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADBG_HISTORY", str(tmp_path / "state" / "history"))
    one, other = LineHistory(), LineHistory()
    one.append_string("print loss")
    other.append_string("define x\nend")
    assert list(LineHistory().load_history_strings()) == ["define x\nend", "print loss"]
    for place in ("/dev/full", "/dev/zero", str(tmp_path)):
        monkeypatch.setenv("GRADBG_HISTORY", place)
        lost = LineHistory()
        assert list(lost.load_history_strings()) == []
        lost.append_string("next")
        assert lost.get_strings() == ["next"]


def test_what_a_stop_asks_is_answered_beside_the_prompt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRADBG_HISTORY", str(tmp_path / "history"))
    shown: list[str] = []
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        prompt = Prompt(Shell(), Terminal(), color=False)

        def answered(found: str) -> None:
            shown.append(found)
            keys.send_text("xt\r")

        keys.send_text("ne")
        assert prompt.read_while("why nan", lambda: "log(0)", answered) == "next"
        assert shown == ["log(0)"]  # above the line, whose beginning stays
        keys.send_text("next\r")
        assert prompt.read_while("why nan", threading.Event().wait, shown.append) == "next"
    assert shown == ["log(0)"]  # the line was there before: it ends the answer
