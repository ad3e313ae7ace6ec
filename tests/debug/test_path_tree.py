"""The tree of a gradient's paths: where it branches, what is inside of branches and loops, and how it is drawn."""

import json
from collections.abc import Callable

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.graph import Tensor
from autodiff.debug.analysis.findings import Node, Path
from autodiff.debug.debugger import Debugger
from cli.language.interpreter import execute
from cli.model.results import Column, Table, TreeBranch
from cli.model.shell import Shell
from cli.view.drawn.console import drawn as as_drawn
from cli.view.drawn.sheets import sheet_of
from cli.view.render import encodable, plain, to_json


def debugged(model: Callable[[Tensor], Tensor], value: object) -> Debugger:
    """`model` of a variable a of that value, run."""
    graph = tf.Graph()
    with graph.as_default():
        a = tf.Variable(np.asarray(value), name="a")
        tf.identity(model(a), name="loss")
    dbg = Debugger(graph)
    dbg.model.initialize()
    dbg.run(1)
    return dbg


def path_of(model: Callable[[Tensor], Tensor], value: object) -> Path:
    return debugged(model, value).path("loss", "a")


def drawn(path: Path) -> list[tuple[int, str]]:
    return [(node.depth, ("→ " if node.joins else "") + node.op_type) for node in path.tree]


def test_a_chain_does_not_indent() -> None:
    found = path_of(lambda a: tf.reduce_sum(tf.square(a)), [1.0, 2.0])
    assert drawn(found) == [(0, "Identity"), (0, "Sum"), (0, "Square"), (0, "Identity"), (0, "→ VariableV2")]
    assert found.tree[-1].norm == pytest.approx(np.hypot(2, 4))


def test_what_carries_most_is_the_trunk_and_the_rest_branches_off() -> None:
    def model(a: Tensor) -> Tensor:
        return tf.add(tf.reduce_sum(tf.square(a, name="small"), name="a_sum"),
                      1000.0 * tf.reduce_sum(tf.tanh(a, name="large")), name="both")

    found = path_of(model, [0.1, 0.2])
    at = {node.op: node for node in found.tree if not node.joins}
    assert at["large"].depth == 0 and at["small"].depth == at["a_sum"].depth == 1
    assert at["a_sum"].begins and not at["small"].begins
    assert [(node.op, node.depth) for node in found.tree if node.joins] == [("a/read", 1), ("a:0", 0)]


def test_a_gain_is_of_the_ops_own_part_where_several_add_to_a_gradient() -> None:
    """By hand: d/ds of s * sigmoid(s) is sigmoid(s) through the product, s * sigmoid'(s) through the sigmoid."""
    found = path_of(lambda a: tf.multiply(a + 0.0, tf.sigmoid(tf.identity(a, name="at")), name="product"),
                    np.float64(2.0))
    gains = {node.op: node.gain for node in found.tree}
    s = 1 / (1 + np.exp(-2.0))
    assert gains["Sigmoid"] == pytest.approx(s * (1 - s), rel=1e-12)
    both = path_of(lambda a: (lambda h: tf.multiply(h, tf.sigmoid(h), name="product"))(tf.identity(a, name="h")),
                   np.float64(2.0))
    gains = {node.op: node.gain for node in both.tree if not node.joins}
    assert gains["product"] == pytest.approx(s, rel=1e-12)
    assert gains["Sigmoid"] == pytest.approx(s * (1 - s), rel=1e-12)


def test_an_op_is_drawn_once_however_many_paths_there_are() -> None:
    def model(a: Tensor) -> Tensor:
        for _ in range(20):
            a = tf.tanh(a) + tf.sigmoid(a)
        return a

    found = path_of(model, 0.5)
    names = [node.op for node in found.tree if not node.joins]
    assert found.paths == 2 ** 20 and len(names) == len(set(names)) == 62
    assert max(node.depth for node in found.tree) == 1


def test_a_branch_shows_the_ops_of_the_one_that_was_taken() -> None:
    def model(a: Tensor) -> Tensor:
        return tf.cond(a > 0, lambda: tf.square(tf.sin(a)), lambda: tf.exp(a))

    found = path_of(model, np.float64(2.0))
    inner = [node for node in found.tree if node.depth == 1]
    assert [node.op_type for node in inner] == ["Square", "Sin"]
    assert inner[0].inside == "the first branch of cond"
    assert [node.norm for node in inner] == pytest.approx([1.0, 2 * np.sin(2.0)], rel=1e-12)


def test_a_loop_shows_the_gradient_in_each_iteration() -> None:
    """By hand: after n steps of h = w h, the gradient at the product of step i is w to the power n - 1 - i."""
    def model(a: Tensor) -> Tensor:
        return tf.while_loop(lambda i, h: i < 6, lambda i, h: (i + 1, h * a), (0, tf.constant(1.0, tf.float64)))[1]

    found = path_of(model, np.float64(0.5))
    inner: list[Node] = [node for node in found.tree if node.depth == 1]
    assert [node.op_type for node in inner] == ["Mul"] and inner[0].inside == "iteration 5 of while"
    assert inner[0].norms == pytest.approx([0.5 ** (5 - i) for i in range(6)], rel=1e-12)


# ---- drawn ------------------------------------------------------------------------------
@pytest.fixture
def shell() -> Shell:
    def model(a: Tensor) -> Tensor:
        for _ in range(3):
            a = a + 0.1 * tf.tanh(a * tf.sigmoid(a))
        return tf.reduce_sum(a)

    return Shell(debugged(model, [0.5, 0.25]))


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_it_fits_each_width(shell: Shell, width: int) -> None:
    for text in as_drawn(execute("path loss a", shell), width).splitlines():
        assert len(text) <= width, text


def test_it_is_drawn_with_lines_and_without(shell: Shell) -> None:
    shown = execute("path loss a", shell)
    assert isinstance(shown, Table)
    lines = as_drawn(shown, 100).splitlines()
    assert lines[0] == "from loss:0 to a:0: 27 paths"
    assert any(line.startswith("├── ") for line in lines) and any("└── → " in line for line in lines)
    ascii_lines = encodable(as_drawn(shown, 100), "ascii").splitlines()
    assert [len(line) for line in ascii_lines] == [len(line) for line in lines]
    assert any(line.startswith("|-- ") for line in ascii_lines) and any("`-- > " in line for line in ascii_lines)
    in_a_pipe = plain(shown).splitlines()
    assert any(line.startswith("  ") for line in in_a_pipe) and any(line.startswith("  → ") for line in in_a_pipe)


def test_as_json_a_row_says_where_it_hangs(shell: Shell) -> None:
    rows = json.loads(to_json("path", execute("path loss a", shell)))["data"]["rows"]
    assert {"op", "norm", "gain", "depth", "begins", "joins"} <= set(rows[0])
    assert any(row["depth"] for row in rows) and any(row["joins"] for row in rows)


def test_names_are_links_where_they_stand(shell: Shell) -> None:
    shown = execute("path loss a", shell)
    assert isinstance(shown, Table)
    lines = sheet_of(shown, 100)
    for at in range(len(lines)):
        text = "".join(part for _, part in lines.line(at))
        for link in lines.links(at):
            if link.command.startswith("info op"):
                assert text[link.start:link.end] == link.command.removeprefix("info op "), text


def test_deep_trees_leave_room_for_names() -> None:
    rows = tuple((f"scope/operation_number_{i}", 1.0) for i in range(9))
    table = Table((Column("op", "name"), Column("norm", "number")), rows,
                  branches_drawn=tuple(TreeBranch(i, True) for i in range(9)))
    for at, text in enumerate(as_drawn(table, 32).splitlines()[2:]):
        assert len(text) <= 32 and text.split()[-2].endswith(f"_{at}"), text
