"""The README's library example runs, its links lead somewhere, and the models it lists are those there are."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_library_in_ten_lines_runs() -> None:
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert example is not None
    done = subprocess.run([sys.executable, "-c", example[1]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(example[1].strip().splitlines()) <= 12
    # sum tanh(0.1 + 0.4 + 0.9) = tanh(1.4); by w: (1 - tanh(1.4)**2) x, first row 0.1 (1 - 0.8854**2)
    numbers = [float(n) for n in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", done.stdout)]
    assert abs(numbers[0] - 0.88535) < 1e-4
    assert abs(numbers[1] - 0.02161) < 1e-4


def test_the_models_listed_are_those_there_are() -> None:
    listed = set(re.findall(r"`scripts/models/(\w+)\.py` \|", README))
    assert listed == {path.stem for path in (ROOT / "scripts" / "models").glob("*.py")} - {"digits"}


def test_the_files_named_are_there() -> None:
    reading = README[README.index("## Reading the code"):]
    named = re.findall(r"`((?:autodiff|cli|tests|scripts)/[\w/.]+)`", reading)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_a_session_is_shown() -> None:
    assert "(gradbg) why nan" in README
