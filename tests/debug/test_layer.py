"""What is built at the prompt stands beside the script's graph: that is not altered, and all commands take it."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff as tf
from autodiff.core.errors import StateError
from autodiff.debug import Debugger, clear_gradient_debuggers
from cli.language.interpreter import execute
from cli.model.results import error_in
from cli.model.shell import Shell
from cli.view.render import plain

SCRIPT = """
import tensorflow as tf
x = tf.Variable(1.0, name="x")
y = tf.add(x, x, name="y")
{before}
with tf.Session() as session:
    session.run(x.initializer)
    z = tf.square(y, name="z"){after}
    session.run(z)
"""


def loaded(folder: Path, before: str = "", after: str = "") -> Shell:
    tf.reset_default_graph()
    clear_gradient_debuggers()
    (folder / "model.py").write_text(SCRIPT.format(before=before, after=after))
    shell = Shell()
    typed(shell, f"load '{folder / 'model.py'}'")
    return shell


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    found = loaded(tmp_path)
    yield found
    found.close()
    clear_gradient_debuggers()


def typed(shell: Shell, line: str) -> str:
    result = execute(line, shell)
    assert error_in(result) is None, plain(result)
    return plain(result)


def seen_of(graph: tf.Graph) -> Any:
    """All that a script can see of its graph."""
    lists = {key: list(map(id, graph.get_collection(key))) for key in graph.get_all_collection_keys()}
    consumers = {op.name: [[c.name for c in t.consumers()] for t in op.outputs] for op in graph.get_operations()}
    return (graph.version, list(graph.operations), lists, consumers, graph.unique_name("z", mark_as_used=False),
            graph.get_name_scope(), graph.finalized, str(graph.as_graph_def()))


BUILT = ("identify y", "python q = tf.square(debug_y, name='z')",
         "python c = tf.cond(q > 0, lambda: q * 2., lambda: q)",
         "python v = tf.get_variable('v', initializer=3.0); u = tf.Variable(2.0, name='x') * v * q",
         "train u --optimizer momentum", "watch q", "train c --vars x --optimizer adam")


def test_the_script_s_graph_is_not_altered(shell: Shell) -> None:
    before = seen_of(shell.dbg.graph)
    for line in BUILT:
        typed(shell, line)
        assert seen_of(shell.dbg.graph) == before, line
    typed(shell, "next 2")
    typed(shell, "grads")
    assert seen_of(shell.dbg.graph) == before


def test_a_finalized_graph_is_built_beside_too(tmp_path: Path) -> None:
    shell = loaded(tmp_path, "z = tf.square(y)\ntf.get_default_graph().finalize()", " if False else z")
    for line in BUILT:
        typed(shell, line)
    typed(shell, "init")
    assert shell.dbg.graph.finalized and "q  float32[]" in typed(shell, "print q")
    with pytest.raises(StateError), shell.dbg.graph.as_default():
        tf.constant(1.0)
    assert "is finalized" in plain(execute("python --keep k = tf.constant(1.0)", shell))
    shell.close()


def test_its_members_are_targets_and_handles(shell: Shell) -> None:
    for line in BUILT:
        typed(shell, line)
    typed(shell, "init")
    assert float(shell.dbg.value("q").array) == 4.0 == float(shell.dbg.value("prompt/z:0").array)
    assert float(shell.dbg.value("c").array) == 8.0 and float(shell.dbg.value("/prompt.z:0$/").array) == 4.0
    assert float(shell.dbg.grad("x", "q").array) == 8.0 and float(shell.dbg.grad("y", "q").array) == 4.0
    assert float(shell.dbg.grad("x", "q", order=2).array) == 8.0
    assert [hop.op for hop in shell.dbg.path("q", "x").hops][0] == "prompt/z"
    assert "are right" in typed(shell, "check q x") and "prompt/z" in typed(shell, "why q")
    assert "prompt/v:0" in typed(shell, "info vars") and "q" in typed(shell, "info tensors /prompt.z/")
    assert "prompt/z" in typed(shell, "where q") and typed(shell, "hessian q x").count("8.0")
    typed(shell, "set v = 5")
    assert float(shell.dbg.value("v").array) == 5.0
    typed(shell, "undo")
    assert float(shell.dbg.value("v").array) == 3.0


def test_it_is_run_replayed_and_recorded(shell: Shell, tmp_path: Path) -> None:
    for line in (*BUILT[:5], "next 3"):
        typed(shell, line)
    values = [float(shell.dbg.value("u", step=step).array) for step in (1, 2, 3)]
    assert values[0] == 24.0 > values[1] > values[2]
    assert float(shell.dbg.session.run(shell.dbg.handles["q"])) < 4.0
    typed(shell, f"record '{tmp_path / 'some.rec'}' steps 1:4")
    other = Shell()
    typed(other, f"load '{tmp_path / 'some.rec'}'")
    assert [float(other.dbg.value("u", step=step).array) for step in (1, 2, 3)] == values


def test_the_script_may_build_the_same_names_later(shell: Shell) -> None:
    for line in BUILT[:5]:
        typed(shell, line)
    shell.own_runs = False
    typed(shell, "run")
    assert "z" in shell.dbg.graph.operations and float(shell.dbg.value("z:0").array) == 4.0
    assert typed(shell, "print q").startswith("q") and shell.dbg.model.targets.one("z").op.name == "z"
    typed(shell, "python r = z + q")
    assert float(shell.dbg.value("r").array) == 8.0 and float(shell.dbg.grad("x", "r").array) == 16.0


def test_kept_it_joins_the_script_s_graph(shell: Shell) -> None:
    typed(shell, "python --keep k = tf.square(y, name='kept')")
    assert "kept" in shell.dbg.graph.operations and "4.00" in typed(shell, "python --keep print(4.00)") + "4.00"
    typed(shell, "python q = tf.square(k)")
    before = seen_of(shell.dbg.graph)
    result = execute("python --keep wrong = tf.square(q) + 1.0", shell)
    assert "cannot be built on in it" in plain(result) and "--keep too" in plain(result)
    assert seen_of(shell.dbg.graph)[:2] == before[:2]


def test_the_library_builds_beside_a_graph_too() -> None:
    with tf.Graph().as_default() as graph:
        w = tf.get_variable("w", initializer=[1.0, 2.0])
        loss = tf.reduce_sum(tf.square(w), name="loss")
    dbg, before = Debugger(graph, handles={"w": w, "loss": loss}), seen_of(graph)
    dbg.train("loss", lr=0.25)
    dbg.run(2)
    np.testing.assert_allclose(dbg.session.variables["w"], [0.25, 0.5])
    assert seen_of(graph) == before


def test_what_the_prompt_builds_is_said_to_be_the_prompts(tmp_path: Path) -> None:
    shell = loaded(tmp_path)
    typed(shell, "identify y")
    typed(shell, "python z = tf.square(debug_y)")
    typed(shell, "train z")
    typed(shell, "next")
    assert "the prompt's gradient call" in typed(shell, "grad z x")
    assert "<prompt>:1" in typed(shell, "where debug_y")
    assert ".py:" not in typed(shell, "info op prompt/GradientDescent")
    assert "4.00" in typed(shell, 'gradient_tensor "y:0"')
    shell.close()


def test_a_handle_with_colon_0_is_the_handles_tensor() -> None:
    """Not some constant y inside of a gradient, which is what ends in that name."""
    tf.reset_default_graph()
    handle = tf.add(tf.Variable(1.0), 2.0)
    with tf.name_scope("mul"):
        tf.constant(5.0, name="h")
    assert Debugger(handles={"h": handle}).model.targets.one("h:0") is handle
