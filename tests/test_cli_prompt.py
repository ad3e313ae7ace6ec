"""The prompt on a real terminal: completion, Ctrl-C, Ctrl-D, an empty line."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

ROOT = Path(__file__).parents[1]
PROMPT = r"\(gradbg\)"


@pytest.fixture
def prompt(tmp_path: Path) -> Iterator["pexpect.spawn"]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "NO_COLOR": "1",
                   "PROMPT_TOOLKIT_NO_CPR": "1",
                   "GRADBG_HISTORY": str(tmp_path / "history")}
    child = pexpect.spawn(sys.executable, ["-m", "cli", "-nx", "--ui", "line",
                                           str(ROOT / "scripts" / "models" / "digits_loop.py")],
                          env=environment, encoding="utf-8", timeout=120, dimensions=(40, 120))
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
