"""x, plot, define, save, export, trust: and what was wrong with tfdbg's screens and typing."""

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from autodiff.files.event_file import scalar_events
from cli.language.command import verbs
from cli.language.complete import complete
from cli.language.interpreter import execute
from cli.main import main
from cli.model.results import Array, Error, Group, Plot, Table, Text
from cli.model.shell import Shell
from cli.view.drawn.console import drawn
from cli.view.numbers.plots import curve
from cli.view.pieces import text_of
from cli.view.render import plain

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "scripts" / "models" / "digits_graph.py"


@pytest.fixture
def shell() -> Iterator[Shell]:
    made = Shell(known_verbs=verbs())
    for line in (f"load {MODEL}", "train loss --lr 0.1", "watch hidden1 loss", "next 5"):
        assert not isinstance(execute(line, made), Error), line
    yield made
    made.close()


def test_info_display_lists_what_is_shown_at_stops(shell: Shell) -> None:
    assert plain(execute("info display", shell)) == "nothing is shown at stops; display EXPR has it shown\n"
    execute("display loss", shell)
    assert "1: loss" in plain(execute("info display", shell))


# ---- pictures -------------------------------------------------------------------------------
def test_x_pages_through_elements_and_ends(shell: Shell) -> None:
    value = execute("print hidden1/weights[0:2,:]", shell).value  # type: ignore[attr-defined]
    seen: list[float] = []
    result = execute("x/24 hidden1/weights[0:2,:]", shell)
    while isinstance(result, Array):
        first, count = result.window or (0, 0)
        seen += result.value.reshape(-1)[first:first + count].tolist()
        result = execute(shell.last, shell)
    assert seen == value.reshape(-1).tolist()
    assert "all were shown" in plain(result)
    text = plain(Array("v", np.arange(10.0).reshape(2, 5), window=(3, 4)), 60)
    assert re.search(r"\[0,3\] +3.00 +4.00\n\[1,0\] +5.00 +6.00", text)


def test_a_heatmap_of_what_has_no_room_is_of_means() -> None:
    value = np.arange(200 * 300.0).reshape(200, 300)
    lines = drawn(Array("m", value, form="h"), 80).splitlines()
    assert lines[-1] == "200 by 300: a cell is the mean of 6 by 8"
    assert max(map(len, lines)) <= 80
    value[7, 9] = np.nan
    assert drawn(Array("m", value, form="h"), 80).count("!!") == 1


def test_plot_draws_what_was_seen(shell: Shell) -> None:
    result = execute("plot", shell)
    assert isinstance(result, Plot)
    losses = tuple(record.loss for record in shell.dbg.records)
    assert result.series[0] == ("loss:0", (1, 2, 3, 4, 5), losses)
    assert [name for name, *_ in execute("plot hidden1", shell).series] == [  # type: ignore[attr-defined]
        "norm of hidden1/Relu:0", "norm of the gradient of hidden1/Relu:0"]
    rows = curve((1, 2, 3, 4), (1.0, None, float("nan"), 8.0), 40, 6)
    assert text_of(rows[5]).endswith("▁ !█")
    assert plain(Plot((("none", (1,), (float("inf"),)),))).splitlines()[1] == "no finite values"


# ---- the user's own words -------------------------------------------------------------------
def test_definitions_take_words_and_stop_at_what_fails(shell: Shell) -> None:
    for line in ("define twice", "print $arg0 * 2", "print $argc", "end"):
        assert not isinstance(execute(line, shell), Error)
    result = execute("twice 21", shell)
    assert isinstance(result, Group)
    assert [part.value.item() for part in result.parts] == [42, 1]  # type: ignore[attr-defined]
    assert "needs at least 1 word" in plain(execute("twice", shell))
    execute("define stops = nonsense; print 1", shell)
    assert len(execute("stops", shell).parts) == 1  # type: ignore[attr-defined]
    execute("define again = again", shell)
    assert "calls itself" in plain(execute("again", shell))
    assert isinstance(execute("define print = help", shell), Error)


def test_save_is_read_back(shell: Shell, tmp_path: Path) -> None:
    for line in ("watch loss if nan --every 2", "break step 40", "break hidden1/MatMul if inf", "alias gn = grads",
                 "define two = print 1; print 'a; b'", "display loss", "set editing vi"):
        assert not isinstance(execute(line, shell), Error), line
    execute(f"save {tmp_path}/s.gradbg", shell)
    other = Shell(known_verbs=verbs())
    execute(f"load {MODEL}", other)
    assert execute(f"source {tmp_path}/s.gradbg", other).exit_code == 0

    def rows(of: Shell) -> list[tuple]:
        return [(r.kind, r.targets, r.names, r.condition, r.every) for r in of.dbg.stops()]
    assert rows(other) == rows(shell)
    assert (other.aliases, other.defined, other.displays, other.settings) == (
        shell.aliases, shell.defined, shell.displays, shell.settings)


def test_a_file_in_the_working_directory_needs_trust(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def gradbg(*words: str) -> str:
        assert main(["-q", *words]) == 0
        return capsys.readouterr().out
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(tmp_path))
    local = work / ".gradbgrc"
    local.write_text("print 40 + 2\n")
    assert "42" not in gradbg("--batch", "-ex", "print 1")
    assert "42" in gradbg("--batch", "-ex", "source .gradbgrc --trust")
    assert "42" in gradbg("--batch", "-ex", "print 1")
    assert "42" not in gradbg("-nx", "--batch", "-ex", "print 1")
    local.write_text("print 40 + 3\n")
    assert "43" not in gradbg("--batch", "-ex", "print 1"), "trust is for what it was"
    home = tmp_path / ".config" / "gradbg"
    (home / "rc").write_text("print 70 + 7\n")
    assert "77" in gradbg("--batch", "-ex", "print 1")


# ---- export ---------------------------------------------------------------------------------
def test_export(shell: Shell, tmp_path: Path) -> None:
    execute("grads", shell)
    execute("print hidden1/biases", shell)
    for kind in ("dot", "events", "html", "json", "npz", "svg", "tsv"):
        assert "wrote" in plain(execute(f"export {kind} {tmp_path}/out.{kind}", shell)), kind
    dot = (tmp_path / "out.dot").read_text()
    assert '"hidden1/MatMul" -> "hidden1/add";' in dot
    assert "(gradbg) grads" in (tmp_path / "out.html").read_text()
    assert (tmp_path / "out.svg").read_text().startswith("<svg")
    assert [body["cmd"] for body in json.loads((tmp_path / "out.json").read_text())][-5:-3] == [
        "grads", "print hidden1/biases"]
    head, first, *_ = (tmp_path / "out.tsv").read_text().splitlines()
    assert head.split("\t")[:2] == ["variable", "short"]
    assert first.split("\t")[0] == "hidden1/weights:0"
    with np.load(tmp_path / "out.npz") as arrays:
        np.testing.assert_array_equal(arrays["$1"], arrays["hidden1/biases"])
    assert len((tmp_path / "out.events").read_bytes()) > 100


def test_event_files_are_tensorboards() -> None:
    """A file that TensorFlow 1.15 wrote for the scalar ("a", 3, 0.5)."""
    data = scalar_events([("a", 3, 0.5)], 1.0)
    (length,) = struct.unpack_from("<Q", data)
    assert data[12:12 + length] == b"\x09" + struct.pack("<d", 1.0) + b"\x1a\x0dbrain.Event:2"
    second = data[16 + length:]
    (length,) = struct.unpack_from("<Q", second)
    assert second[12:12 + length] == (b"\x09" + struct.pack("<d", 1.0) + b"\x10\x03*\x0a\x0a\x08\x0a\x01a\x15"
                                      + struct.pack("<f", 0.5))


def test_parts_of_different_shapes_are_no_bug(shell: Shell, tmp_path: Path) -> None:
    for line in ("print 1, [1, 2]", "x 1, [1, 2]", "expect 1, [1, 2]"):
        assert "different shapes" in plain(execute(line, shell))
    assert "wrote" in plain(execute(f"export npz {tmp_path}/some.npz", shell))


# ---- tfdbg's defects about screens and typing -----------------------------------------------
def test_ranges_mark_infinities(shell: Shell) -> None:
    """`pt -r "[[-inf,-1],[1,inf]]"` never marked an infinity, `pt -r 0,1e-8` crashed."""
    array = execute("print [1, inf, -inf, nan, 0] --range=1,inf", shell)
    assert isinstance(array, Array)
    assert array.marked is not None
    assert array.marked.tolist() == [True, True, False, False, False]
    assert not isinstance(execute("print hidden1/biases --range 0,1e-8", shell), Error)


def test_files_take_what_is_shown(shell: Shell, tmp_path: Path) -> None:
    """`pf -w` was ignored."""
    execute(f"info feeds > {tmp_path}/feeds.txt", shell)
    assert "images" in (tmp_path / "feeds.txt").read_text()


def test_an_empty_word_completes(shell: Shell) -> None:
    """Tab after `r -f ` did nothing."""
    assert "nan" in [c.text for c in complete("run --till ", shell)] or complete("watch loss if ", shell)
    assert complete("print ", shell)
    assert complete("", shell)


def test_an_empty_line_is_no_error(shell: Shell) -> None:
    assert execute("", shell) == Text()


def test_expect_is_never_a_redirection(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line in ("expect 1 > 2", "expect 1 >2", "expect 1>2", "expect 2 > 1.5", "expect loss > np.e"):
        execute(line, shell)
    assert execute("expect 1 > 2", shell).exit_code == 3
    assert list(tmp_path.iterdir()) == []


def test_a_watched_regex_prefers_what_can_have_a_gradient(shell: Shell) -> None:
    execute("delete", shell)
    execute("watch /hidden1/", shell)
    names = shell.dbg.stops("watch")[0].names
    assert "hidden1/MatMul:0" in names
    assert not [name for name in names if "truncated_normal" in name or "Assign" in name]


def test_rows_fit_the_screen_and_columns_their_heads(shell: Shell) -> None:
    """`lp` put totals under the wrong columns, and wrapped each row at 120 columns."""
    for line in ("grads", "info tensors", "info vars", "info op hidden1/MatMul"):
        for width in (80, 120):
            for text in drawn(execute(line, shell), width).splitlines():
                assert len(text) <= width, text
    table = execute("grads", shell)
    assert isinstance(table, Table)
    assert {len(row) for row in table.rows} == {len(table.columns)}


def test_a_line_prompt_searches_and_jumps_too(shell: Shell) -> None:
    """tfdbg's readline prompt had neither `/` nor `@`."""
    execute("info tensors", shell)
    found = plain(execute("/HIDDEN1.matmul:0", shell))
    assert "not found" in found  # capitals count once there are some
    found = plain(execute("/hidden1.matmul:0", shell))
    assert found.startswith("/hidden1.matmul:0: 1 line\n") and "MatMul" in found
    assert "hidden2/MatMul:0" in plain(execute("/hidden2.*matmul:0", shell))  # again of the table, not of the search
    array = execute("print hidden2/weights", shell)
    element = execute("@[3,4]", shell)
    assert isinstance(array, Array) and isinstance(element, Array)
    assert element.value == array.value[3, 4] and element.name == "hidden2/weights[3,4]"
    assert execute("@ 3, 4", shell) == element
    for line in ("@[99,0]", "@[]x", "@1.5", "@0,0,0", "/"):
        assert isinstance(execute(line, shell), Error), line
    assert "not found" in plain(execute("/(unclosed", shell))


def test_nothing_said_is_garbled_or_left_behind(shell: Shell) -> None:
    """tfdbg wrapped an error's text over what stood there; ours is lines of their own, each within the screen."""
    for line in ("print no_such_name_" + "x" * 200, "grads --sort nonsense", "x/99z loss", "hessian loss " + "y" * 90):
        shown = execute(line, shell)
        assert isinstance(shown, Error), line
        texts = plain(shown, 80).splitlines()
        assert texts[0].startswith("error: ") and len(texts) >= 2
        assert all("\x1b" not in text and "\r" not in text for text in texts)


def test_leaving_the_debugger_is_no_failure(shell: Shell) -> None:
    """`exit` ended the training with status 1, and there was no way to let it go on alone."""
    assert execute("quit", shell).exit_code == 0
    shown = execute("detach", shell)
    assert "detach" in plain(shown)


def test_what_a_program_gives_need_not_be_text(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bytes").write_bytes(b"\x93\xff")
    found = execute("help grads | cat bytes", shell)
    assert isinstance(found, Text)
    assert found.text == "��"
