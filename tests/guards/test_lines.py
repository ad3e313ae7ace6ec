"""Lines by chance: none ends in a bug or an exception, and the session lives on."""
from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

import pytest

from cli.language.command import verbs
from cli.language.complete import complete
from cli.language.interpreter import execute
from cli.model.results import Error
from cli.model.shell import Shell
from cli.view.render import plain, to_json

from .conftest import Share
from .lines import MODEL, line
from .test_files import bugs

BEGIN = ("load model.py", "train loss", "next 2")
LONGEST = 5.0  # seconds of the processor


def as_new(shell: Shell) -> None:
    """Nothing of the lines before stands for another."""
    shell.defining = None
    shell.aliases.clear()
    shell.defined.clear()


@pytest.mark.filterwarnings("ignore")  # NumPy's, of what is typed
def test_lines_made_by_chance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: Share, is_long: bool) -> None:
    monkeypatch.chdir(tmp_path)
    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: real(*args, **{**options, "timeout": 10}))
    for seed in share.seeds(2):
        Path("model.py").write_text(MODEL)
        shell, chance = Shell(known_verbs=verbs()), random.Random(seed)
        for each in BEGIN:
            assert not isinstance(execute(each, shell), Error)
        for number in range(200):
            typed, began = line(chance), time.process_time()
            result = execute(typed, shell)
            assert bugs(result) == [], (seed, typed)
            assert isinstance(plain(result, 80), str)
            assert to_json(typed, result).isascii()
            assert not is_long or time.process_time() - began < LONGEST, (seed, typed)
            if number % 7 == 0:
                complete(typed.replace("\n", " "), shell)
            if number % 25 == 0:
                as_new(shell)
        as_new(shell)
        Path("model.py").write_text(MODEL)
        for each in ("delete", *BEGIN, "grads", "print loss"):
            assert not isinstance(execute(each, shell), Error), (seed, each)
        shell.close()
