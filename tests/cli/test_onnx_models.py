"""ONNX models at the prompt: opened with their values and feeds, differentiated by a loss built there, surveyed."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from autodiff.debug import Debugger
from cli.commands.script import survey
from cli.language.interpreter import execute
from cli.main import main
from cli.model.results import Error, Table, Text
from cli.model.shell import Shell
from cli.view.render import plain

from ..foreign.onnx_made import graph, model, node, value

TRACE = 'File "net.py", line 8, in forward\n    return torch.tanh(self.fc(x))'
W = np.array([[0.5, -1.0], [2.0, 0.25]])
X = np.array([[1.0, 2.0], [-0.5, 0.1], [0.0, 3.0]])


@pytest.fixture
def path(tmp_path: Path) -> str:
    """tanh(x w), with x in the .npz file beside it."""
    nodes = [node("MatMul", ["x", "fc.weight"], ["h"], name="fc", trace=TRACE),
             node("Tanh", ["h"], ["y"], name="act", trace=TRACE)]
    made = graph(nodes, [value("x", np.float64, ("n", 2))], [value("y", np.float64, ("n", 2))], {"fc.weight": W})
    (tmp_path / "net.onnx").write_bytes(model(made))
    np.savez(tmp_path / "net.npz", x=X)
    return str(tmp_path / "net.onnx")


def opened(path: str) -> Shell:
    shell = Shell(Debugger())
    assert isinstance(execute(f"load '{path}'", shell), Text)
    return shell


def test_a_model_is_opened_with_its_values_and_feeds(path: str) -> None:
    shell = Shell(Debugger())
    assert plain(execute(f"load '{path}'", shell)).splitlines()[:4] == [
        "net.onnx: 8 ops, 1 variable, 4 parameters", "inputs: x:0 float64[?,2]", "outputs: y:0 float64[?,2]",
        "fed from the .npz file beside it: x:0"]
    np.testing.assert_allclose(shell.dbg.value("y").array, np.tanh(X @ W))
    np.testing.assert_allclose(shell.dbg.value("fc.weight").array, W)


def test_run_computes_the_outputs_and_what_is_fed_by_hand_counts(path: str) -> None:
    shell = opened(path)
    execute("feed x = np.ones((1, 2))", shell)
    assert not isinstance(execute("run", shell), Error)
    np.testing.assert_allclose(shell.dbg.value("h").array, np.ones((1, 2)) @ W)


def test_run_till_something_holds_ends_after_one_where_nothing_changes(path: str) -> None:
    shell = opened(path)
    assert "nothing changes from run to run" in plain(execute("run -f nan", shell))
    assert shell.dbg.log.run == 1
    noisy = opened(path)
    execute("python loss = tf.reduce_sum(y) + tf.random_normal([], dtype=tf.float64, seed=1)", noisy)
    execute("run -f loss<-1", noisy)
    assert noisy.dbg.log.run > 1


def test_a_loss_built_at_the_prompt_is_differentiated_by_anything(path: str) -> None:
    shell = opened(path)
    assert execute("python loss = tf.reduce_sum(tf.square(y))", shell) == Text()
    y = np.tanh(X @ W)
    dh = 2 * y * (1 - y * y)
    for number, (target, expected) in enumerate((("fc.weight", X.T @ dh), ("h", dh), ("x", dh @ W.T)), 1):
        execute(f"grad loss {target}", shell)
        np.testing.assert_allclose(shell.dbg.evaluate(f"${number}", keep=False).array, expected)
    execute("hessian loss h", shell)
    np.testing.assert_allclose(np.diag(shell.dbg.evaluate("$4", keep=False).array.reshape(6, 6)),
                               (2 * (1 - y * y) * (1 - 3 * y * y)).ravel())


def test_an_op_shows_the_line_of_the_program_that_was_exported(path: str) -> None:
    assert "net.py:8 in forward" in plain(execute("where h", opened(path)))


def test_training_goes_on_from_the_model(path: str) -> None:
    shell = opened(path)
    for line in ("python loss = tf.reduce_sum(tf.square(y))", "train loss --lr 0.1", "next 3"):
        assert not isinstance(execute(line, shell), Error), line
    assert shell.dbg.step == 3
    assert shell.dbg.value("loss").array < np.square(np.tanh(X @ W)).sum()


def test_a_survey_lists_what_is_not_there(path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert plain(survey(path)) == "net.onnx: every op is there\n"
    odd = tmp_path / "odd.onnx"
    odd.write_bytes(model(graph([node("StringNormalizer", ["x"], ["y"], trace=TRACE)], [value("x", np.float32, (2,))],
                                [value("y")])))
    found = survey(str(odd))
    assert isinstance(found, Table)
    assert found.rows == (("StringNormalizer", 1, "net.py:8 in forward"),)
    assert main(["--survey", path]) == 0
    assert main(["--survey", str(odd)]) == 1
    assert "StringNormalizer" in capsys.readouterr().out


def test_what_cannot_be_opened_or_surveyed_is_said(tmp_path: Path) -> None:
    (tmp_path / "bad.onnx").write_bytes(b"\x08\x07")
    for words in (f"load '{tmp_path / 'bad.onnx'}'", f"load '{tmp_path / 'none.onnx'}'"):
        assert isinstance(execute(words, Shell(Debugger())), Error), words
    assert isinstance(survey("model.py"), Error)
    assert isinstance(survey(str(tmp_path / "none.onnx")), Error)
    assert main(["--survey"]) == 2
    assert main(["--batch", "-nx", str(tmp_path / "none.onnx")]) == 2
    assert main(["--batch", "-nx", str(tmp_path / "bad.onnx")]) == 1
