"""Training programs with a mistake that raises nothing: doctor names it first, and finds nothing in the twin."""

from pathlib import Path

import pytest

from autodiff.debug.analysis.findings import Finding
from cli.language.interpreter import execute
from cli.model.shell import Shell

from .mistaken_programs import HEAD, PROGRAMS


def findings(text: str, folder: Path) -> tuple[Finding, ...]:
    (folder / "model.py").write_text(HEAD + text)
    shell = Shell()
    execute(f"load {folder / 'model.py'}", shell)
    execute("run", shell)
    found = shell.dbg.doctor().findings
    shell.close()
    return found


@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_mistake_comes_first_and_its_twin_has_none(kind: str, tmp_path: Path) -> None:
    text, wrong, right = PROGRAMS[kind]
    assert wrong in text
    first = findings(text, tmp_path)[0]
    assert (first.kind, first.level == "remark") == (kind, False)
    assert first.place is not None and first.place.file.endswith("model.py") and first.remedy
    harmless = findings(text.replace(wrong, right), tmp_path)
    assert [f for f in harmless if f.level != "remark"] == []
