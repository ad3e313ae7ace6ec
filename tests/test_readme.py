"""README and docs: short, with links that lead somewhere, examples that run, and what the program itself says."""

import importlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .expect import expect_none
from .test_layers import LAYERS

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_readme_is_read_at_once() -> None:
    assert len(README.splitlines()) <= 120


def test_the_library_in_ten_lines_runs() -> None:
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert example is not None
    done = subprocess.run([sys.executable, "-c", example[1]], cwd=ROOT, capture_output=True, text=True, check=False,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    assert len(example[1].strip().splitlines()) <= 12
    # sum tanh(0.1 + 0.4 + 0.9) = tanh(1.4); by w: (1 - tanh(1.4)**2) x, first row 0.1 (1 - 0.8854**2)
    numbers = [float(n) for n in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", done.stdout)]
    assert abs(numbers[0] - 0.88535) < 1e-4
    assert abs(numbers[1] - 0.02161) < 1e-4


def test_the_commands_and_sessions_are_what_the_program_shows() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "manual.py"), "--check"], capture_output=True,
                          text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    assert sum(text.count("<!-- commands -->") for text in texts) == 1
    assert sum(text.count("<!-- session: ") for text in texts) >= 2
    assert sum(text.count("(gradbg) why ") for text in texts) >= 2, "sessions that lost their lines"


def test_the_pictures_are_what_the_program_shows(capfd: pytest.CaptureFixture[str]) -> None:
    made = importlib.util.spec_from_file_location("pictures", ROOT / "scripts" / "pictures.py")
    assert made is not None and made.loader is not None
    pictures = importlib.util.module_from_spec(made)
    made.loader.exec_module(pictures)
    assert pictures.main("--check") == 0, capfd.readouterr().err
    shown = pictures.visible((ROOT / "docs" / "screen.svg").read_text(encoding="utf-8"))
    assert len(shown.splitlines()) >= 38
    for text in ("╭─ nan_log.py", "▶", "╭─ gradients of loss", "╭─ watches", "╭─ why nan", "remedy: "):
        assert text in shown


def test_the_models_listed_are_those_there_are() -> None:
    listed = re.findall(r"`scripts/models/(\w+)\.py` \|", (ROOT / "docs" / "models.md").read_text(encoding="utf-8"))
    assert set(listed) == {path.stem for path in (ROOT / "scripts" / "models").glob("*.py")} - {"digits"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_files_named_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = [ROOT / name for name in re.findall(r"`((?:autodiff|cli|docs|tests|scripts)/[\w/.]+)`", text)]
    linked = [page.parent / link for link in re.findall(r"\]\(([^)#:]+)\)", text)]
    expect_none([path for path in (*named, *linked) if not path.exists()])


def test_the_map_has_every_folder_in_the_order_of_the_layers() -> None:
    mapped = re.findall(r"^\| `((?:autodiff|cli)/\w+)` \|", README, re.MULTILINE)
    folders = ["/".join(line.split(".")[:2]) for line in LAYERS if "." in line]
    assert mapped == list(dict.fromkeys(folders))


@pytest.mark.parametrize("part", ["An op", "A command", "An analysis"])
def test_what_is_added_often_is_told_in_a_few_lines(part: str) -> None:
    told = CONTRIBUTING.split(f"## {part}\n")[1].split("\n## ")[0].strip()
    assert len([line for line in told.splitlines() if line]) <= 15
    assert told.startswith("One file")


@pytest.mark.parametrize(("was", "is_now", "alike"), [
    ("residual 9.23e-9", "residual  5.6e-9", True), ("norm 0.123", "norm 0.124", True),
    ("mean 1.42", "mean 1.43", True),
    ("norm 0.12", "norm 0.15", False), ("line 120", "line 121", False), ("norm 1.2e-3", "norm 1.3e-3", False),
    ("loss 0.5 of w", "loss 0.5 of b", False)])
def test_pages_are_alike_if_only_last_digits_differ(was: str, is_now: str, alike: bool,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    assert importlib.import_module("manual").is_alike(was, is_now) == alike
