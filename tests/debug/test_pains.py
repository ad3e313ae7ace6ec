"""Every reported bug is explained in at most two commands, by op and by line."""

from pathlib import Path

import numpy as np
import pytest

from cli.language.interpreter import execute
from cli.model.results import error_in
from cli.model.shell import Shell
from cli.view.render import plain

from .pains import PAINS, Pain


def reference(folder: Path) -> None:
    """What the cases of comparison compare with: the same computation, with one number right."""
    x = np.linspace(0, 1, 6).reshape(2, 3).astype(np.float32)
    hidden = 1 / (1 + np.exp(-x @ np.ones((3, 2), np.float32)))
    np.savez(folder / "reference.npz", hidden=hidden, scaled=hidden, loss=hidden.sum())
    squares = np.array([1, 4, 9], np.float32)
    np.savez(folder / "other.npz", **{"squares:0": squares, "spread:0": np.sqrt(squares), "loss": 6.0})


@pytest.mark.parametrize("pain", PAINS, ids=[str(pain.number) for pain in PAINS])
def test_it_is_explained_in_two_commands(pain: Pain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reference(tmp_path)
    (tmp_path / "model.py").write_text(pain.text)
    shell = Shell()
    try:
        execute("load model.py", shell)
        for line in pain.moves:
            result = execute(line, shell)
            assert error_in(result) is None, plain(result)
        assert len(pain.asks) <= 2
        said = "\n".join(plain(execute(line, shell)) for line in pain.asks)
    finally:
        shell.close()
    for text in pain.says:
        assert any(choice in said for choice in text.split("|")), f"{text!r} is missing in:\n{said}"
    for text in pain.not_said:
        assert text not in said, said
    assert not pain.line or f"model.py:{pain.line}" in said, f"model.py:{pain.line} is missing in:\n{said}"


def test_all_forty_are_there() -> None:
    assert [pain.number for pain in PAINS] == list(range(1, 41))
