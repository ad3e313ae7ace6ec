"""The panes beside the page and the first page: what they show of a script, and when they are there."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.data_structures import Point
from prompt_toolkit.input import DummyInput
from prompt_toolkit.mouse_events import MouseButton, MouseEvent, MouseEventType
from prompt_toolkit.output import DummyOutput

from autodiff.core.graph import Graph
from autodiff.debug.analysis.advice import advice_of
from cli.language.command import verbs
from cli.language.interpreter import execute
from cli.model.results import Card, Column, Group, Plot, Result, Source, Table, error_in, question_in
from cli.model.shell import Shell
from cli.screen.pages import Page
from cli.screen.pane import Pane
from cli.screen.side_panes import SidePanes
from cli.view.drawn.console import drawn
from cli.view.drawn.palette import Palette
from cli.view.first_page import briefly, first_page
from cli.view.panes import cause_of, panes
from cli.view.plain import plain
from cli.view.status_line import status

MODELS = Path(__file__).parents[2] / "scripts" / "models"


@pytest.fixture
def shell() -> Iterator[Shell]:
    with Graph().as_default():  # not what another test has left there
        made = Shell(known_verbs=verbs())
        yield made
        made.close()


def test_at_a_nan_the_panes_show_the_culprit_and_that_steps_figures(shell: Shell) -> None:
    execute(f"load '{MODELS / 'nan_log.py'}'", shell)
    execute("watch probabilities", shell)
    stop = execute("run -f nan", shell)
    assert question_in(stop) == "why nan"
    found = panes(shell, cause_of(shell, "why nan"))
    source = only(found["source"])
    assert isinstance(source, Source)
    assert "tf.log(probabilities)" in source.lines[source.cause - source.first]
    assert "session.run([loss, train_op]" in source.lines[source.current - source.first]
    gradients, watches = only(found["gradients"]), only(found["watches"])
    assert isinstance(gradients, Table) and isinstance(watches, Table)
    assert [(row[0], str(row[1])) for row in gradients.rows] == [("weights", "nan"), ("biases", "nan")]
    assert found["gradients"].title == "gradients of loss  ·  step 15"
    assert watches.rows[0][:2] == ("probabilities", 0.0)


def only(card: Card) -> Result:
    (part,) = card.parts
    return part


def test_what_is_watched_after_a_run_shows_what_that_run_had(shell: Shell) -> None:
    execute(f"load '{MODELS / 'nan_log.py'}'", shell)
    execute("run -f nan", shell)
    curve = only(panes(shell)["watches"])  # where nothing is watched
    assert isinstance(curve, Plot) and curve.series[0][0] == "loss nan  ·  from 2.30"
    assert "watches" not in panes(shell, size=(100, 28))
    execute("watch probabilities", shell)
    watched, below = panes(shell, size=(120, 40))["watches"].parts
    assert isinstance(watched, Table) and watched.rows[0][:2] == ("probabilities", 0.0)
    assert isinstance(below, Plot) and below.height == 2


def test_none_is_empty(shell: Shell) -> None:
    assert panes(shell) == {}
    execute(f"load '{MODELS / 'digits_graph.py'}'", shell)
    found = panes(shell)
    assert list(found) == ["source", "gradients"]
    assert found["gradients"].title == "variables  ·  no step yet"
    side = SidePanes(Palette(), lambda: "auto", lambda: (120, 40))
    side.show(found)
    assert side.open == ("source", "gradients")


@pytest.mark.parametrize(("size", "layout", "expected"), [
    ((100, 28), "auto", ("source", "gradients", "watches")), ((99, 28), "auto", ()), ((100, 27), "split", ()),
    ((200, 50), "page", ()), ((200, 50), "source", ("source",))])
def test_they_open_where_there_is_room(size: tuple[int, int], layout: str, expected: tuple[str, ...]) -> None:
    assert SidePanes(Palette(), lambda: layout, lambda: size).open == expected


@pytest.mark.parametrize(("model", "says"), [
    ("nan_log.py", "images → MatMul → AddV2 → Softmax → Log → Mul → Sum → Neg → Mean = loss"),
    ("nan_log.py", "loss loss:0  ·  trained by Adam at nan_log.py:26"),
    ("digits_graph.py", "images → hidden1: MatMul AddV2 Relu → hidden2: MatMul AddV2 Relu → output: MatMul AddV2"),
    ("digits_graph.py", "52 ops  ·  6 variables, 2778 parameters")])
def test_the_first_page_shows_the_program(model: str, says: str, shell: Shell) -> None:
    execute(f"load '{MODELS / model}'", shell)
    card = first_page(shell)
    assert card is not None and says in plain(card)


def test_the_first_page_says_what_is_computed_otherwise(shell: Shell) -> None:
    execute(f"load '{MODELS / 'nan_log.py'}'", shell)
    advice_of(shell.dbg.model.graph).said = "jax.jit is off"
    assert "jax.jit is off" in plain(first_page(shell))


@pytest.mark.parametrize("model", ["nan_log.py", "digits_graph.py", "none_gradient.py", "where_trap.py"])
def test_each_command_of_the_first_page_does_something(model: str, shell: Shell) -> None:
    execute(f"load '{MODELS / model}'", shell)
    card = first_page(shell)
    assert isinstance(card, Card) and isinstance(card.parts[-1], Table)
    advice = [row[0].command for row in card.parts[-1].rows]
    assert len(advice) == 3
    for line in advice:
        assert error_in(execute(line, shell)) is None, line


def test_what_is_said_unasked_is_short(shell: Shell) -> None:
    execute(f"load '{MODELS / 'nan_log.py'}'", shell)
    execute("run -f nan", shell)
    found = execute("why nan", shell)
    text = plain(briefly("why nan", found), 80)
    assert text.startswith("why nan\nlog(0) = -inf") and text.endswith("why nan says more\n")
    assert len(text.splitlines()) < 15 < len(plain(found, 80).splitlines())


UNNAMED = """import autodiff as tf
x = tf.placeholder(tf.float32, [None, 3], name="x")
weights = tf.Variable(tf.ones([3, 1]))
cost = tf.reduce_mean(tf.square(tf.matmul(x, weights) - 1.0))
train = tf.train.GradientDescentOptimizer(0.1).minimize(cost)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range(9):
        session.run([train, cost], {x: [[1.0, 2.0, 3.0]]})
"""


def test_what_has_no_name_is_called_as_in_the_script(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(UNNAMED, encoding="utf-8")
    execute(f"load '{tmp_path / 'model.py'}'", shell)
    card = first_page(shell)
    assert card is not None and "loss cost (Mean:0)" in plain(card) and "= cost" in plain(card)
    assert "step 4  cost " in plain(execute("next 4", shell))
    assert "cost " in status(shell)
    table = plain(execute("grads", shell))
    assert table.startswith("gradients of cost (Mean:0), step 4") and "Variable:0  weights" in table
    assert panes(shell)["gradients"].title == "gradients of cost  ·  step 4"
    assert plain(execute("plot cost", shell)).startswith("cost (Mean:0)\n")
    assert shell.dbg.model.spoken("MatMul:0") == "MatMul at model.py:4"
    execute("back 2", shell)
    assert "past: step 3 of 4  |  cost" in status(shell)
    gradients = panes(shell)["gradients"]
    assert gradients.title == "gradients of cost  ·  step 3, past"
    assert len(only(gradients).rows[0][2]) == 3, "norms up to the step, none of init"  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [100, 120, 200])
def test_the_steps_of_a_pane_fit_beside_the_names(width: int, shell: Shell) -> None:
    execute(f"load '{MODELS / 'digits_loop.py'}'", shell)
    execute("next 20", shell)
    text = drawn(Group(panes(shell, size=(width, 40))["gradients"].parts), width * 2 // 5 - 4)
    assert "▁" in text and "left out" not in text and "hidden1/weights " in text


def test_a_link_in_a_border_is_where_it_is_seen() -> None:
    followed: list[str] = []
    page = Page("watches", Table((Column("watched", "name"), Column("max", "number")), (("logits", 2.0),)))
    pane = Pane(lambda: page, followed.append, lambda: None, str, lambda: page.command)
    with create_app_session(input=DummyInput(), output=DummyOutput()):
        content = pane.create_content(30, 8)
    lines = ["".join(text for _, text, *_ in content.get_line(row)) for row in range(8)]
    assert lines[0] == "╭─ watches ──────────────────╮" and lines[-1] == "╰────────────────────────────╯"
    assert all(len(line) == 30 for line in lines)
    row = next(row for row, line in enumerate(lines) if "logits" in line)
    for column in (0, lines[row].index("logits"), lines[row].index("logits") + 5, 29):
        pane.mouse_handler(MouseEvent(Point(column, row), MouseEventType.MOUSE_UP, MouseButton.LEFT, frozenset()))
    assert followed == ["print logits", "print logits"]
