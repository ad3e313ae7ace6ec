"""Which lines of a script use what a call gave, what they call it, and which loop they are in."""

import ast
from pathlib import Path
from types import SimpleNamespace

import pytest

from autodiff.core.graph import Graph
from autodiff.core.site import Site
from autodiff.debug.analysis.scripts.expressions import makes
from autodiff.foreign.script_lines import assigned_names, factor_on, first_name, lines_of_use, loop_around

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
    found = lines_of_use(tuple([Site(script, line, names.get(line, "<module>")) for line in lines]))
    assert [site.line for site in found] == used


def test_a_file_that_cannot_be_read_has_none() -> None:
    assert lines_of_use((Site("/nowhere/train.py", 3, "<module>"),)) == () == lines_of_use(())


NAMING = """\
import autodiff as tf

def layer(x, n):
    h = tf.tanh(x)
    out = (h * 2.0
           + 1.0)
    return out

x = tf.constant([1.0])
for n in range(2):
    x = layer(x, n)
first, second = tf.split(x + 0.0, [1, 0])
loss = tf.reduce_sum(layer(x, 2))
"""


def test_results_are_called_what_the_script_calls_them(tmp_path: Path) -> None:
    """Also inside of functions that have returned; of several turns the last; a call's value is what it returned."""
    path = tmp_path / "naming.py"
    path.write_text(NAMING)
    with Graph().as_default() as graph:
        scope: dict[str, object] = {}
        exec(compile(NAMING, str(path), "exec"), scope)
        ops = graph.get_operations()
    found = assigned_names(ops)
    assert found["loss"] is scope["loss"] and found["x"] is scope["x"]
    assert found["out"].op.type == "AddV2" and found["out"] is found["loss"].op.inputs[0]
    assert found["h"].op.type == "Tanh" and found["h"] is found["out"].op.inputs[0].op.inputs[0]
    assert not found.keys() & {"first", "second", "n"}


@pytest.mark.parametrize(("line", "name"), [(2, ["loss"]), (8, ["g"]), (12, []), (24, ["loss"]), (99, [])])
def test_the_first_of_what_is_assigned(script: str, line: int, name: list[str]) -> None:
    assert first_name(Site(script, line, "update")) == name


@pytest.mark.parametrize(("line", "lines"), [(2, None), (19, range(18, 26)), (23, range(18, 26)), (99, None)])
def test_the_loop_around_a_line(script: str, line: int, lines: range | None) -> None:
    assert loop_around(script, line) == lines


@pytest.mark.parametrize(("line", "factor"), [
    ("v = .9 * v - rate * g", ("rate", .05, 1)), ("v = 2 * g", None), ("v = rate * beta * g", None),
    ("w = w - step * g", ("step", .1, 3)), ("w = changing * g", None),
    ("w = w - is_on * rate * g", ("rate", .05, 1)),
    ("w = beta * w - rate * g", ("rate", .05, 1)),
    ("v = beta * v + g\n    w = w - rate * v", ("rate", .05, 1))])
def test_the_number_that_a_line_multiplies_by(tmp_path: Path, line: str, factor: tuple[str, float, int] | None) -> None:
    path = tmp_path / "update.py"
    path.write_text(f"rate = 0.05; is_on = True\nbeta, changing = 0.9, 1\ndef f(w, g, step=0.1):\n    {line}\n"
                    "beta = 0.5\nchanging = 2\n".replace("beta, changing = 0.9, 1", "beta = 0.9; changing = 1")
                    .replace("beta = 0.5\n", ""))
    found = factor_on((Site(str(path), 4, "f"),))
    assert (found and (found[0], found[1], found[2].line)) == factor


@pytest.mark.parametrize("text, made", [("x ** 2", True), ("x.pow(2)", True), ("x.square()", True), ("x * y", False)])
def test_what_makes_a_square_is_found_as_pytorch_writes_it(text, made):
    assert makes(ast.parse(text, mode="eval").body, SimpleNamespace(type="Square")) is made
