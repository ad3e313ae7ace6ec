"""Sixty more programs with gradient bugs: op, line and remedy in two commands; errors of theirs are part of it."""

from pathlib import Path

import pytest

from cli.language.interpreter import execute
from cli.model.shell import Shell
from cli.view.render import plain

from .more_pains import MORE
from .pains import Pain


@pytest.mark.parametrize("pain", MORE, ids=[pain.name for pain in MORE])
def test_it_is_explained_in_two_commands(pain: Pain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(pain.text)
    shell = Shell()
    try:
        for line in ("load model.py", *pain.moves):
            execute(line, shell)  # some stop with an error of their own
        assert len(pain.asks) <= 2
        said = "\n".join(plain(execute(line, shell)) for line in pain.asks)
    finally:
        shell.close()
    for text in pain.says:
        assert text in said, f"{text!r} is missing in:\n{said}"
    assert not pain.line or f"model.py:{pain.line}" in said, f"model.py:{pain.line} is missing in:\n{said}"


def test_all_have_names_and_numbers() -> None:
    assert [pain.number for pain in MORE] == list(range(1, 61))
    assert len({pain.name for pain in MORE}) == 60
