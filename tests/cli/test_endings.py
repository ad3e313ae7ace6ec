"""Ends of input, of a terminal and of processes: the program goes on, or says why not."""

import os
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pexpect
import pytest

ROOT = Path(__file__).parents[2]
OTHERS = ("NO_COLOR", "FORCE_COLOR", "COLUMNS")
PLAIN = {**{name: value for name, value in os.environ.items() if name not in OTHERS}, "PYTHONPATH": str(ROOT)}
PATIENCE = 20  # seconds until a test gives up; none waits for so long
WRAPPED = """
import autodiff as tf
from cli.wrap import DebugSession
w = tf.Variable(2.0)
with DebugSession(tf.Session()) as session:
    session.run(w.initializer)
    print("gives", session.run(w * 21.0))
"""


def test_at_the_end_of_standard_input_a_program_goes_on_by_itself(tmp_path: Path) -> None:
    """It waited for good after its first run, as that stops where the prompt was left before it."""
    (tmp_path / "own.py").write_text(WRAPPED)
    done = subprocess.run([sys.executable, str(tmp_path / "own.py")], stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, env=PLAIN, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1], done.stderr) == (0, "gives 42.0", "")


ENDED = """
import os, sys, threading
import autodiff as tf
x = tf.constant(3.0)
with tf.Session() as session:
    session.run(x)
    if "_exit" in sys.argv:
        threading.Thread(target=os._exit, args=(7,)).start()
    if "abort" in sys.argv:
        os.abort()
    while True:
        session.run(x)
"""



SEEN = {**PLAIN, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}


def spawn(directory: Path, command: str, words: list[str]) -> "pexpect.spawn":
    return pexpect.spawn(command, words, env={**SEEN, "PS1": "$ ", "GRADBG_HISTORY": str(directory / "history")},
                         encoding="utf-8", timeout=PATIENCE, dimensions=(24, 80))


def sees(child: "pexpect.spawn", text: str) -> None:
    """Wait until a regex is on the screen, which is drawn anew for it."""
    for _ in range(PATIENCE):
        child.sendcontrol("l")
        if child.expect([text, pexpect.TIMEOUT], timeout=1) == 0:
            return
    raise AssertionError(f"{text!r} is not on the screen: {child.before}")


BROKEN = "python import cli.screen.app as app; app.status = None"  # the screen itself fails at what comes next
WAYS = [("screen", signal.SIGTERM, ""), ("screen", signal.SIGHUP, "next 1000000000"), ("screen", "_exit", "next 2"),
        ("line", signal.SIGTERM, ""), ("screen", "abort", "next 2"), ("screen", "raise", BROKEN)]
CODES = {"_exit": (None, 7), "abort": (signal.SIGABRT, None), "raise": (None, 1)}


def test_every_way_out_gives_the_terminal_back(tmp_path: Path) -> None:
    """Signals left the alternate screen and the mouse on, os._exit, abort and errors of ours raw mode as well."""
    (tmp_path / "model.py").write_text(ENDED)
    children = [spawn(tmp_path, sys.executable, ["-m", "cli", "-nx", "--ui", ui, str(tmp_path / "model.py"), str(way)])
                for ui, way, _ in WAYS]
    modes = [termios.tcgetattr(child.child_fd) for child in children]
    for child, found, (ui, way, line) in zip(children, modes, WAYS):
        sees(child, r"let it make its next run|next runs it[^$]*\(gradbg\)")  # the prompt, which has changed the modes
        assert termios.tcgetattr(child.child_fd) != found
        if line:
            child.send(line + "\r")
        if way == signal.SIGHUP:
            sees(child, "next runs,")
        if isinstance(way, signal.Signals):
            child.kill(way)
        child.expect(pexpect.EOF)
        for mode in ("\x1b[?1049l", "\x1b[?1000l") * (ui == "screen") + ("\x1b[?2004l", "\x1b[?25h"):
            assert mode in child.before, (ui, way, mode)
        assert termios.tcgetattr(child.child_fd) == found, (ui, way)
        child.close()
        assert (child.signalstatus, child.exitstatus) == CODES.get(way, (way, None))


@pytest.mark.parametrize("ui", ["screen", "line"])
def test_ctrl_z_and_fg_at_rest_and_in_a_run(ui: str, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(ENDED)
    shell = spawn(tmp_path, "/bin/sh", ["-i"])
    shell.expect_exact("$ ")
    found = termios.tcgetattr(shell.child_fd)
    shell.send(f"{sys.executable} -m cli -nx --ui {ui} {tmp_path / 'model.py'}\r")
    sees(shell, r"next runs it[^$]*\(gradbg\)" if ui == "line" else "let it make its next run")
    for line, answer in (("", "42"), ("next 1000000000", "stopped by Ctrl-C")):
        if line:
            shell.send(line + "\r")
            sees(shell, r"next runs,|s left")
        shell.send("\x1a")
        shell.expect("Stopped")
        shell.expect_exact("$ ")
        assert termios.tcgetattr(shell.child_fd) == found
        shell.send("fg\r")
        shell.expect_exact("\x1b[?1049h" if ui == "screen" else "model.py")
        shell.send("\x03" if line else "print 6 * 7\r")
        sees(shell, answer)
    shell.send("quit\r")
    shell.expect_exact("$ ")
    shell.close(force=True)


FORKED = """
import multiprocessing, os, sys
import autodiff as tf

def work(x):
    with tf.Graph().as_default(), tf.Session() as session:
        return float(session.run(tf.constant(float(x)) * 2.0))

if __name__ == "__main__":
    w = tf.Variable(1.0, name="w")
    with tf.Session() as session:
        session.run(w.initializer)
        if os.fork() == 0:
            print("child", session.run(w + 1.0), session.run(w + 2.0))
            sys.exit(3)
        print("status", os.waitstatus_to_exitcode(os.wait()[1]))
        for way in ("fork", "spawn"):
            with multiprocessing.get_context(way).Pool(1) as pool:
                print(way, pool.map(work, [1, 2]))
        print("parent", session.run(w + 3.0))
"""


def test_forked_processes_run_undebugged_and_whole(tmp_path: Path) -> None:
    """A child waited for a prompt that only its parent has; what it printed at last was lost."""
    (tmp_path / "model.py").write_text(FORKED)
    words = ["-nx", "--batch", "-ex", "next", "-ex", "break w if nan", "-ex", "next 5", str(tmp_path / "model.py")]
    done = subprocess.run([sys.executable, "-m", "cli", *words], text=True, capture_output=True, env=PLAIN,
                          timeout=PATIENCE, check=False)
    words = ["child", "status", "fork", "spawn", "parent"]
    assert [line for line in done.stdout.splitlines() if line.split()[0] in words] == [
        "child 2.0 3.0", "status 3", "fork [2.0, 4.0]", "spawn [2.0, 4.0]", "parent 4.0"]
    assert done.stderr.splitlines() == ["gradbg: processes that the script forks run without the debugger"]
    assert "model.py ended" in done.stdout
