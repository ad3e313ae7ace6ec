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

def sgd(w, g):
    new = w - 0.1 * g
    return w

for step in range(3):
    w, loss = update(w)
    slope = gradient(w)
    w = w - slope
    apply(w,
          grad(f)(w))
    (loss, aux), g = value_and_grad(w)
    w = sgd(w, g)
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return str(path)


@pytest.mark.parametrize(("lines", "used"), [
    ((2, 19), [4]),  # the gradients are the last of what is assigned, and the loss is not asked for
    ((8, 20), [9, 21]),  # what is returned is used by the caller
    ((12, 20), [12, 21]),
    ((24,), [25, 16, 15]),  # and in the script's function that it is given to
    ((23,), [22]),  # used where it is made: the statement begins above
    ((1000,), [])])
def test_lines_that_use_a_result(script: str, lines: tuple[int, ...], used: list[int]) -> None:
    names = {2: "update", 8: "gradient", 12: "alone"}
    found = lines_of_use([Site(script, line, names.get(line, "<module>")) for line in lines])
    assert [site.line for site in found] == used


def test_a_file_that_cannot_be_read_has_none() -> None:
    assert lines_of_use([Site("/nowhere/train.py", 3, "<module>")]) == [] == lines_of_use([])
