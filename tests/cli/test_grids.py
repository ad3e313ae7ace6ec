"""Numbers in tables: one way of writing them, what is left out, Hessians with headings and as pictures."""

import re
from pathlib import Path

import numpy as np
import pytest

from cli.model.results import Array, Axis, Hessian
from cli.view.blocks import blocks
from cli.view.drawn.console import drawn
from cli.view.numbers.digits import Digits
from cli.view.pieces import ROLES
from cli.view.plain import plain
from cli.view.text import display_width

CLI = Path(__file__).parents[2] / "cli"
WIDTHS = (40, 80, 120, 200)
RANDOM = np.random.default_rng(7)


def cells(value: np.ndarray) -> list[str]:
    digits = Digits(value)
    return [digits.piece(item).text for item in value.reshape(-1)]


def test_a_table_has_one_format_and_its_points_stand_below_each_other() -> None:
    assert cells(np.array([1.0, -0.25, 12.345, 0.0])) == ["1.0", "-0.2", "12.3", "·"]
    assert cells(np.array([2.5e-5, -1e-6, 0.0])) == ["2.50", "-0.10", "·"]
    assert Digits(np.array([2.5e-5])).unit == "×10⁻⁵" and Digits(np.array([0.25])).unit == ""


@pytest.mark.parametrize("scale", [1e-30, 1e-5, 0.01, 1.0, 1e4, 1e30])
def test_what_is_not_zero_never_looks_like_it(scale: float) -> None:
    value = scale * np.array([1.0, 1e-3, -1e-7, 1e-12])
    assert all(float(text) != 0 for text in cells(value))
    assert np.allclose([float(text) * 10.0 ** Digits(value).power for text in cells(value)], value, rtol=0.06)


def test_what_is_not_finite_stands_out_without_color_too() -> None:
    digits = Digits(np.array([np.nan, np.inf, -np.inf, 1.0]))
    assert [(piece.text, piece.role) for piece in map(digits.piece, (np.nan, -np.inf))] == [("nan", "bad"),
                                                                                           ("-inf", "bad")]
    assert [digits.piece(x).shade for x in (0.1, 0.3, 0.6, 1.0)] == [" ", "░", "▒", "█"]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_grid_fits_and_counts_what_is_left_out(width: int) -> None:
    value = RANDOM.normal(size=(300, 256))
    text = drawn(Array("W", value, "$3"), width)
    assert max(map(display_width, text.splitlines())) <= width
    head = next(line for line in text.splitlines() if "…" in line)
    rows = [line for line in text[text.index(head):].splitlines() if re.match(r"\d+ ", line)]
    shown = len(head.split()) - 2
    missing = int(re.search(r"… (\d+)", head)[1])  # type: ignore[index]
    assert shown + missing == 256
    left = int(re.search(r"^… (\d+) ", text, re.MULTILINE)[1])  # type: ignore[index]
    assert len(rows) + left == 300
    assert f"{left} more rows and {missing} more columns; print/a $3 shows all" in " ".join(text.split())


def test_all_the_same_is_one_line() -> None:
    assert plain(Array("x", np.full((64, 10), np.nan))).splitlines()[-1] == "all are nan"
    assert plain(Array("x", np.zeros((64, 10)))).splitlines()[-1] == "all are 0"


def test_every_element_is_there_when_all_are_asked_for() -> None:
    value = RANDOM.normal(size=(20, 70))
    text = plain(Array("x", value, whole=True))
    found = re.findall(r"-?\d+\.\d+|-?\d+e-\d+", text[text.index("[0,0]"):])
    assert len(found) == value.size


# ---- Hessians ---------------------------------------------------------------------------
def hessian(size: int, *axes: Axis) -> Hessian:
    a = RANDOM.normal(size=(size, size))
    return Hessian("H", a + a.T, "$1", axes=axes or (Axis("w:0", (size,)),), asymmetry=0.0)


@pytest.mark.parametrize("width", [*WIDTHS])
@pytest.mark.parametrize("size", [2, 10, 40])
def test_a_hessian_fits_each_width(size: int, width: int) -> None:
    assert max(map(display_width, drawn(hessian(size), width).splitlines())) <= width


def test_its_eigenvalues_stand_beside_it() -> None:
    found = hessian(4)
    text = drawn(found, 120)
    assert "eigenvalues" in text.splitlines()[2]
    beside = [float(line.split()[-1]) for line in text.splitlines()[4:8]]
    assert beside == pytest.approx(np.linalg.eigvalsh(found.value)[::-1], rel=1e-2)
    assert "indefinite" in text or "definite" in text


def test_variables_and_elements_are_headings_and_blocks_are_apart() -> None:
    text = drawn(hessian(6, Axis("a/w:0", (2, 2)), Axis("b:0", (2,))), 120)
    lines = text.splitlines()
    assert lines[2].split()[:2] == ["w", "b"] and lines[3].split()[:6] == ["0,0", "0,1", "1,0", "1,1", "0", "1"]
    assert lines[2].rindex("b") < lines[3].rindex("1") and "│" not in lines[2]
    assert [line.split()[0] for line in lines[5:12]] == ["w[0,0]", "w[0,1]", "w[1,0]", "w[1,1]", "─" * len(lines[9]),
                                                         "b[0]", "b[1]"]
    assert all("│" in line for line in lines[5:9])
    piped = plain(hessian(6, Axis("a/w:0", (2, 2)), Axis("b:0", (2,)))).splitlines()
    assert piped[2].split()[:2] == ["w[0,0]", "w[0,1]"]


def test_variables_of_the_same_last_name_are_told_apart() -> None:
    heads = drawn(hessian(4, Axis("a/w:0", (2,)), Axis("b/w:0", (2,))), 120).splitlines()[2].split()
    assert heads[:2] == ["a/w", "b/w"]


def test_a_large_one_is_a_picture_with_its_largest_entries() -> None:
    found = hessian(40)
    text = drawn(found, 80)
    assert "blank 0" in text and "largest entries" in text
    listed = [float(line.split()[-1]) for line in text.split("largest entries")[1].splitlines()[2:12]]
    expected = np.sort(np.abs(np.triu(found.value)).reshape(-1))[::-1][:10]
    assert np.abs(listed) == pytest.approx(expected, rel=1e-2)


def test_one_with_nan_says_where() -> None:
    found = hessian(3)
    found.value[1, 2] = np.nan
    text = plain(found)
    assert "1 of 9 entries are nan or inf, the first at [1] [2]; why nan says where it comes from" in text
    assert "eigenvalues" not in text


def test_rows_of_one_are_named_by_their_numbers() -> None:
    value = RANDOM.normal(size=(2, 5))
    lines = plain(Hessian("H", value, axes=(Axis("w:0", (5,)),), first=3)).splitlines()
    assert [line.split()[0] for line in lines[3:5]] == ["3", "4"]


# ---- roles ------------------------------------------------------------------------------
def test_every_role_has_a_style() -> None:
    used = {role for path in CLI.rglob("*.py")
            for role in re.findall(r'Piece\("([\w.]+)"|class:([\w.]+)', path.read_text()) for role in role if role}
    assert used - set(ROLES) <= {"focused"}


def test_a_result_is_the_same_words_in_every_style() -> None:
    found = Array("W", RANDOM.normal(size=(4, 4)), "$1")
    texts = {re.sub(r"\x1b\[[\d;]*m", "", drawn(found, 80, colors=colors, background=background)).replace(" \n", "\n")
             for colors in ("standard", "256", "truecolor") for background in ("dark", "light")}
    assert len({"\n".join(line.rstrip() for line in text.splitlines()) for text in texts}) == 1
    assert list(blocks(found))
