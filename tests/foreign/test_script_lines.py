"""Which lines of a script use what a call gave."""

from pathlib import Path

import pytest

from autodiff.core.site import Site
from autodiff.foreign.script_lines import lines_of_use

SCRIPT = """\
def update(w):
    loss, g = value_and_grad(w)
    print(loss)
    w = w - 0.1 * g
    return w, loss

def gradient(w):
    g = grad(f)(w)
    return g

def alone(w):
    return grad(f)(w)

for step in range(3):
    w, loss = update(w)
    slope = gradient(w)
    w = w - slope
    apply(w,
          grad(f)(w))
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return str(path)


@pytest.mark.parametrize(("lines", "used"), [
    ((2, 15), [4]),  # the gradients are the last of what is assigned, and the loss is not asked for
    ((8, 16), [9, 17]),  # what is returned is used by the caller
    ((12, 16), [12, 17]),
    ((19,), [18]),  # used where it is made: the statement begins above
    ((1000,), [])])
def test_lines_that_use_a_result(script: str, lines: tuple[int, ...], used: list[int]) -> None:
    names = {2: "update", 8: "gradient", 12: "alone"}
    found = lines_of_use([Site(script, line, names.get(line, "<module>")) for line in lines])
    assert [site.line for site in found] == used


def test_a_file_that_cannot_be_read_has_none() -> None:
    assert lines_of_use([Site("/nowhere/train.py", 3, "<module>")]) == [] == lines_of_use([])
