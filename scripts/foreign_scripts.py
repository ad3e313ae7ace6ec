"""What the prompt says of the PyTorch and JAX scripts in foreign_bugs/, each with one bug that its first line tells.

The first line is `Kind; line; words[; parameter].`: what kind of a bug it is, its line (or several, with | between),
a regular expression for what is to be said of it. An answer is right when its first twelve lines name the line and
say one of the words. Run it where torch and jax are installed: python scripts/foreign_scripts.py [PART OF A NAME]
"""
from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
QUESTIONS = {"nan": ("run -f nan", "why nan"), "none": ("run --times 3", "why {}"), "zero": ("run --times 3", "why {}"),
             "wrong": ("run --times 1", "check"), "silent": ("run --times 10", "doctor")}
LINES = 12  # of an answer are read


def answer(script: Path, kind: str, parameter: str) -> str:
    """The first lines of what is said of a script, without what it prints itself."""
    run, question = QUESTIONS[kind]
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "cli", "--batch", "-nx", "-ex", run,
                 "-ex", f"{question.format(parameter)} > answer.txt", str(script)]
        done = subprocess.run(words, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
                              text=True, timeout=300)
        written = Path(folder, "answer.txt")
        said = written.read_text() if written.exists() else done.stderr
    return "\n".join([line for line in said.splitlines() if line.strip()][:LINES])


def main() -> int:
    """Ask of every script; the number of those that are not explained."""
    part, missed, count = (sys.argv[1] if len(sys.argv) > 1 else ""), 0, 0
    scripts = Path(__file__).with_name("foreign_bugs").glob("*.py")
    for script in sorted(path for path in scripts if part in path.name):
        kind, line, words, *parameter = script.read_text().partition("\n")[0].strip('".').split("; ")
        said = answer(script, kind.lower(), "".join(parameter))
        named = re.search(rf"{script.name}:(?:{line.removeprefix('line ')})\b", said)
        count += 1
        if named and re.search(words, said, re.IGNORECASE):
            continue
        missed += 1
        print(f"{script.name}: expected {line} and {words!r}, found\n{said}\n")
    print(f"{count - missed} of {count} are explained")
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
