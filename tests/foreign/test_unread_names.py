"""What is read by nothing, and the data that a loss takes in its place."""

import linecache
from pathlib import Path

import pytest

from autodiff.debug.facts.records import Place
from autodiff.foreign.unread_names import unread


@pytest.mark.parametrize("loss, line, mended", [
    ("return -np.mean(y * np.log(y) + (1 - y) * np.log(1 - y))", 3,
     "return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))"),
    ("d = (y - y) ** 2", 3, "d = (p - y) ** 2"), ("q = y + 1; return ((y - y) ** 2).sum()", 3,
                                                  "q = y + 1; return ((p - y) ** 2).sum()"),
    ("return -np.mean(y * np.log(p))", 0, ""), ("return np.mean(y * y)", 0, ""), ("return np.log(y) - 1", 0, "")])
def test_data_beside_itself_is_where_what_is_unread_belongs(loss: str, line: int, mended: str, tmp_path: Path) -> None:
    (file := tmp_path / "train.py").write_text(f"def f(w, x, y):\n    p = g(w, x)\n    {loss}\n")
    linecache.checkcache()
    found = unread(Place(str(file), 2, "f", ""))
    assert (found is not None) is bool(line)
    if found is not None and found.place is not None:
        assert found.place.line == line and found.text.endswith("is read by nothing, and y is taken in its place, "
                                                                "beside itself")
        assert {text.strip() for text in found.lines.values()} == {mended}
