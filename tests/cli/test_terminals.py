"""Every command in every kind of terminal: widths, characters, colors, closed ends, names that are no friends."""

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import autodiff as tf
from cli.language.command import COMMANDS, verbs
from cli.language.interpreter import execute
from cli.model.results import Result
from cli.model.shell import Shell
from cli.view.drawn.console import drawn
from cli.view.drawn.sheets import sheet_of
from cli.view.render import Screen, plain
from cli.view.text import display_width

ROOT = Path(__file__).parents[2]
HOSTILE = "[red]x[/red]\x1b]0;owned\x07\n\u202eevil\u200b\U0001f4a5"
WIDTHS = (40, 60, 80, 100, 120, 160, 200)
STREAMS = [(terminal, encoding, variables) for terminal in (True, False) for encoding in ("utf-8", "ascii", "latin-1")
           for variables in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}, {"FORCE_COLOR": "1"})]


class Stream(io.TextIOWrapper):
    """A stream that refuses what its encoding lacks, as a terminal of that locale does."""

    def __init__(self, terminal: bool, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, errors="strict", newline="\n")
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Result]]:
    """What each command's examples give on a model whose handles and strings are hostile."""
    directory = tmp_path_factory.mktemp("matrix")
    for name in ("scripts", "cli"):
        os.symlink(ROOT / name, directory / name)
    before = os.getcwd()
    os.chdir(directory)
    shell = Shell(known_verbs=verbs())
    found = {}
    try:
        for line in ("load scripts/models/digits_graph.py", "train loss", "watch /hidden.*/", "next 3"):
            execute(line, shell)
        with shell.graph():
            shell.dbg.handles[HOSTILE] = tf.constant([HOSTILE, "b"], name="strings")
            shell.dbg.handles["text"] = shell.dbg.handles[HOSTILE]
        for line in ("print text", "x text", "info script", "info tensors", f"print {HOSTILE}", f"load '{HOSTILE}'",
                     f"python {HOSTILE!r}", f"alias odd = {HOSTILE}", "alias", f"nonsense{HOSTILE}"):
            found[line] = execute(line, shell)
        for name, command in COMMANDS.items():
            if name not in ("load", "quit"):
                for example in command.examples:
                    found[example] = execute(example, shell)
    finally:
        os.chdir(before)
        shell.close()
    yield found


def harmless(text: str, colored: bool) -> None:
    """No control characters but the colors' own, no text direction marks."""
    import re
    if colored:
        text = re.sub(r"\x1b\[[\d;]*m", "", text)
    assert not [c for c in text if c != "\n" and (ord(c) < 32 or c in "\x7f\u202e\u200b")], repr(text)


@pytest.mark.parametrize(("terminal", "encoding", "variables"), STREAMS)
def test_every_command_on_every_stream(terminal: bool, encoding: str, variables: dict[str, str],
                                       results: dict[str, Result], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    colored = "NO_COLOR" not in variables and ("FORCE_COLOR" in variables or terminal and "TERM" not in variables)
    for line, result in results.items():
        stream = Stream(terminal, encoding)
        Screen(stream).show(result)
        text = stream.text()
        harmless(text, colored)
        assert ("\x1b" in text) <= colored, line
        if not terminal and not colored and encoding == "utf-8":
            assert text == plain(result), line


@pytest.mark.parametrize("width", WIDTHS)
def test_every_command_at_every_width(width: int, results: dict[str, Result]) -> None:
    """Everything fits; on the full screen too, which shows the same lines."""
    for line, result in results.items():
        for text in drawn(result, width, 40).splitlines():
            harmless(text, colored=False)
            assert display_width(text) <= width, (line, text)
        sheet = sheet_of(result, width)
        for at in range(min(len(sheet), 200)):
            harmless("".join(piece for _, piece in sheet.line(at)), colored=False)
            for link in sheet.links(at):
                assert 0 <= link.start < link.end, (line, link)
                assert link.command.isprintable()


def test_names_are_never_cut_off_in_a_pipe(results: dict[str, Result]) -> None:
    text = plain(results["info tensors"])
    assert "hidden1/truncated_normal/TruncatedNormal:0" in text
    assert "…" not in text


COMMAND = [sys.executable, "-m", "cli", "-nx", str(ROOT / "scripts" / "models" / "digits_graph.py")]
PLAIN = {**{k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}, "PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize("way", ["| head -1", "| true", "<&-", ">&-", "2>&-", "</dev/null >/dev/full"])
def test_closed_ends(way: str) -> None:
    """A reader that goes, no input, no output: no traceback, and an end."""
    typed = "-ex 'info tensors' -ex help -ex 'train loss' -ex 'next 2' -ex grads"
    words = " ".join(f"'{word}'" for word in COMMAND[:-1])
    done = subprocess.run(f"{words} --batch {typed} '{COMMAND[-1]}' {way}", shell=True, text=True, capture_output=True,
                          env=PLAIN, timeout=120, check=False)
    assert "Traceback" not in done.stderr + done.stdout, done.stderr


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
def test_locales(locale: str) -> None:
    done = subprocess.run([*COMMAND[:-1], "--batch", "-ex", "train loss", "-ex", "next 3", "-ex", "grads", "-ex",
                           "x/h hidden2/weights", "-ex", "plot", COMMAND[-1]], text=True, capture_output=True,
                          env={**PLAIN, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, timeout=120,
                          check=False, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
