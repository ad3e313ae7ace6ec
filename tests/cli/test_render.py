"""Results as text, as colors and as JSON."""

import io
import json

import numpy as np
import pytest

from cli.model.results import Array, Column, Error, Group, Leave, Result, Source, Stop, Table, Text, Tree
from cli.view.drawn.console import drawn
from cli.view.render import Screen, encodable, plain, to_json
from cli.view.text import clean, number, shorten, sparkline

TABLE = Table((Column("variable", "name"), Column("shape", "text", 5), Column("norm", "number"),
               Column("zero %", "percent", 7),
               Column("nan", "bad", 8), Column("norms", "spark", 4)),
              (("hidden1/weights", "[64,32]", 0.123456, 50.0, 0, (1.0, 2.0, 3.0)),
               ("b", "[2]", float("nan"), 0.0, 3, None)), "gradients", ("no gradient: c: cut",))

EVERY: list[Result] = [
    Text("a\nb", "good"), TABLE, Tree("top", (Tree("left", (Tree("deep"),)), Tree("right", (), "a.py:3"))),
    Array("W", np.array([[1.0, np.nan], [np.inf, 0.0]], np.float32), "$1"), Array("s", np.array("text")),
    Array("c", np.array([1 + 2j])), Array("b", np.array([True, False])), Array("e", np.zeros((0, 3))),
    Source("model.py", 9, ("x = 1", "y = 2"), 10, {10: "Add"}), Error("what\nwhere", "usage", "next"),
    Stop("step 3", {"loss": float("inf")}, ("line",), True), Group((Text("a"), TABLE)), Leave(),
]


def test_a_long_error_is_whole_at_every_width() -> None:
    said = "there is no Hessian: kernel does not depend on bias"
    for width in (20, 40, 60):
        assert "".join(drawn(Error(said), width).split()) == "".join(f"error: {said}".split())


def test_a_table_in_a_pipe() -> None:
    assert plain(TABLE) == (
        "gradients\n"
        "variable         shape     norm  zero %  nan  norms\n"
        "hidden1/weights  [64,32]  0.123    50.0    0  ▁▄█\n"
        "b                [2]        nan       0    3  -\n"
        "no gradient: c: cut\n")


def test_a_narrow_screen_leaves_out_columns_and_says_so() -> None:
    lines = drawn(TABLE, 40).splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert "left out for lack of room: norms, shape" in " ".join(lines)


def test_long_tables_are_cut_on_a_screen_only() -> None:
    table = Table((Column("n", "count"),), tuple((i,) for i in range(100)))
    assert len(plain(table).splitlines()) == 101
    assert "90 more rows" in drawn(table, 80, rows=10)


def test_an_array_has_its_figures_and_elements() -> None:
    assert plain(EVERY[3]).splitlines() == [
        "W  float32[2,2]  $1",
        "min 0  max 1.00  mean 0.500  norm 1.00  zero 25 %  nan 1  inf 1",
        "      0    1",
        "0  1.00  nan",
        "1   inf    ·"]


def test_big_arrays_are_summarized_unless_asked() -> None:
    value = np.arange(5000.0)
    assert len(plain(Array("x", value))) < 1500
    assert "2500" in plain(Array("x", value, whole=True))


@pytest.mark.parametrize("result", EVERY, ids=lambda r: type(r).__name__)
def test_every_kind_is_shown_and_is_strict_json(result: Result) -> None:
    assert isinstance(drawn(result, 60, 5), str)

    def refuse(constant: str) -> None:
        raise ValueError(constant)
    body = json.loads(to_json("probe", result), parse_constant=refuse)
    assert list(body) == ["schema", "cmd", "ok", "kind", "data", "error"]
    assert body["schema"] == 1
    assert body["ok"] is not isinstance(result, Error)


def test_json_writes_what_json_cannot_as_strings() -> None:
    body = json.loads(to_json("p", EVERY[3]))
    assert body["data"]["value"] == [[1.0, "NaN"], ["Infinity", 0.0]]
    assert json.loads(to_json("p", TABLE))["data"]["rows"][1]["norm"] == "NaN"


def test_names_are_data() -> None:
    assert clean("a\x1b[31mb\u202e\x00") == "a\\x1b[31mb\\u202e\\x00"
    hostile = Table((Column("name", "name"),), (("[red]x[/red]\x1b]0;title\x07\n",),))
    assert plain(hostile).splitlines()[1] == "[red]x[/red]\\x1b]0;title\\x07\\n"


@pytest.mark.parametrize(("value", "text"), [
    (0.0, "0"), (1.0, "1.00"), (123.456, "123"), (1234.5, "1234"), (1e-9, "1.00e-9"), (123456.0, "1.23e5"), (7, "7"),
    (-0.5, "-0.500"), (float("inf"), "inf"), (None, ""), (True, "yes"), (np.float32(2), "2.00"),
    (1 - 2j, "1.00-2.00j")])
def test_numbers_have_three_digits(value: object, text: str) -> None:
    assert number(value) == text


def test_sparklines_and_short_names() -> None:
    assert sparkline((0.0, 1.0, float("nan"))) == "▁█!"
    assert sparkline((float("nan"),)) == "!"
    assert shorten("hidden1/weights/Adam", 10) == "hid…s/Adam"


def test_a_sparkline_keeps_its_last_steps_where_there_is_little_room_and_what_is_lost_is_red() -> None:
    row = "weights:0", 0.75, 0, (*range(20), float("nan"))
    columns = Column("variable", "name"), Column("norm", "number"), Column("nan", "bad"), Column("norms", "spark")
    table = Table(columns, (row,))
    steps = sparkline(row[-1])
    assert drawn(table, 100).splitlines()[-1].endswith("  " + steps)
    assert drawn(table, 36).splitlines()[-1].endswith("  " + steps[-13:])
    assert "\x1b[1;37;41m!" in drawn(table, 36, colors="standard")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, result: Result, encoding: str = "utf-8", **environment: str) -> str:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stream = Terminal(encoding)
    Screen(stream).show(result)
    return stream.getvalue()


def test_colors_on_a_terminal_unless_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in shown(monkeypatch, TABLE)
    assert "\x1b[" not in shown(monkeypatch, TABLE, NO_COLOR="1")
    assert "\x1b[" not in shown(monkeypatch, TABLE, TERM="dumb")


def test_a_pipe_has_no_colors_unless_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = io.StringIO()
    Screen(stream).show(TABLE)
    assert "\x1b[" not in stream.getvalue()
    monkeypatch.setenv("FORCE_COLOR", "1")
    Screen(stream).show(TABLE)
    assert "\x1b[" in stream.getvalue()


def test_ascii_terminals_get_look_alikes(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, Group((TABLE, Text("é → ∂"))), "ascii", NO_COLOR="1")
    assert text.isascii()
    assert encodable("… é", "ascii") == "... \\xe9"


def test_arrays_are_equal_by_value() -> None:
    assert Array("x", np.array([np.nan])) == Array("x", np.array([np.nan]))
    assert Array("x", np.array([1.0])) != Array("x", np.array([1.0], np.float32))


def test_the_widest_names_are_shortened_first_and_get_the_room_of_lost_columns() -> None:
    table = Table((Column("op", "name"), Column("what"), Column("lost", "text", 3)),
                  (("o" * 30, "w" * 90, "x" * 30),))
    shown = drawn(table, 72).splitlines()[2]
    op, what = shown.split()
    assert op == "o" * 30 and len(what) == 72 - 30 - 2 and "…" in what


def test_columns_of_nothing_take_no_room_on_a_screen() -> None:
    table = Table((Column("a", "name"), Column("made at", "place"), Column("why none")), (("x", "", ""),))
    assert drawn(table, 80).split() == ["a", "─", "x"]
    assert plain(table).startswith("a  made at  why none")


def test_rows_of_sentences_are_paragraphs() -> None:
    table = Table((Column("#", "count"), Column("weight", "count", 3), Column("kind"), Column("finding"),
                   Column("remedy"), Column("made at", "place"), Column("ask", "text", 4)),
                  ((1, 55, "tiny gradient", "tiny at the first layer of these", "use something else than this",
                    "a.py:3", "path loss w"),), "1 finding", ("a note",), prose=True)
    paragraphs = ["1 finding", "1  tiny gradient  a.py:3", "   tiny at the first layer of these",
                  "   remedy: use something else than this", "   path loss w", "a note"]
    assert drawn(table, 40).splitlines() == plain(table).splitlines() == paragraphs


def test_prose_in_a_pipe_is_broken_at_100_columns_or_at_those_of_COLUMNS(monkeypatch: pytest.MonkeyPatch) -> None:
    words = Group((Text(" ".join(["word"] * 60)), Table((Column("a"),), (("x " * 100,),))))
    monkeypatch.delenv("COLUMNS", raising=False)
    assert [len(line) for line in plain(words).splitlines()] == [99, 99, 99, 0, 1, 199]
    monkeypatch.setenv("COLUMNS", "50")
    assert max(len(line) for line in plain(words.parts[0]).splitlines()) == 49


def test_a_shortened_name_keeps_its_width_in_ascii() -> None:
    assert encodable("ab…cd … more", "ascii") == "ab~cd ... more"


def test_what_is_longer_than_a_line_keeps_its_first_letters() -> None:
    first, second = drawn(Error("expected " + "a tensor or " * 9 + "an array"), 80).splitlines()[:2]
    assert (first.startswith("error: expected a tensor"), second.startswith("  ")) == (True, True)
