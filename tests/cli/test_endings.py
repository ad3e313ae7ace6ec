"""Ends of input, of a terminal and of processes: the program goes on, or says why not."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLAIN = {**{k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}, "PYTHONPATH": str(ROOT)}
PATIENCE = 60
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
