"""TensorFlow's files at the prompt: opened with their values, fed, differentiated; damaged ones are one line."""
from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from autodiff.debug import Debugger
from cli.language.interpreter import execute
from cli.main import main
from cli.model.results import Error, Text
from cli.model.shell import Shell
from cli.view.render import plain

FIXTURES = Path(__file__).parents[1] / "files" / "fixtures"


def opened(path: Path) -> Shell:
    shell = Shell(Debugger())
    assert isinstance(execute(f"load '{path}'", shell), Text)
    return shell


def test_a_frozen_graph_is_fed_from_the_file_beside_it_and_differentiated(tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "graphs" / "convolution.pb", tmp_path / "net.pb")
    with np.load(FIXTURES / "graphs" / "convolution.npz") as known:
        np.savez(tmp_path / "net.npz", x=known["feed_x"])
        loss, gradient = known["loss"], known["dx"]
    shell = opened(tmp_path / "net.pb")
    np.testing.assert_allclose(shell.dbg.value("loss").array, loss, rtol=1e-5)
    execute("grad loss x", shell)
    np.testing.assert_allclose(shell.dbg.evaluate("$2", keep=False).array, gradient, rtol=2e-4, atol=1e-6)


def test_a_meta_graph_has_its_checkpoints_values() -> None:
    shell = opened(FIXTURES / "checkpoint" / "model-1.meta")
    np.testing.assert_allclose(shell.dbg.value("half").array, [1.5, -2])
    assert shell.dbg.value("resource").array == 2.5
    assert not isinstance(execute("run", shell), Error)


@pytest.mark.parametrize("name", ["saved_model", "saved_model/saved_model.pb"])
def test_a_saved_model_shows_its_signature(name: str) -> None:
    shell = Shell(Debugger())
    text = plain(execute(f"load '{FIXTURES / name}'", shell))
    assert "inputs: x:0 float32[?,2]\noutputs: y:0 float32[?,1]" in text
    execute("feed x = np.array([[1, 2]])", shell)
    assert shell.dbg.value("y").array.tolist() == [[5.5]]


def test_a_graph_alone_takes_the_checkpoint_of_its_directory(tmp_path: Path) -> None:
    shell = opened(FIXTURES / "checkpoint" / "model-1.meta")
    for path in (FIXTURES / "checkpoint").iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / "graph.pbtxt").write_text(str(shell.dbg.graph.as_graph_def()))
    np.testing.assert_allclose(opened(tmp_path / "graph.pbtxt").dbg.value("half").array, [1.5, -2])


@pytest.mark.parametrize("name", ["x.pb", "x.pbtxt", "x.meta"])
def test_no_bytes_give_a_traceback(name: str, tmp_path: Path) -> None:
    random = np.random.RandomState(0)
    source = FIXTURES / "graphs" / "branch.pb" if name != "x.meta" else FIXTURES / "checkpoint" / "model-1.meta"
    good = source.read_bytes()[:4000]
    for trial in range(12):
        damaged = bytearray(good if trial % 3 else random.bytes(200))
        for at in random.randint(0, len(damaged), 3):
            damaged[at] = random.randint(256)
        (tmp_path / name).write_bytes(bytes(damaged))
        result = execute(f"load '{tmp_path / name}'", Shell(Debugger()))
        assert isinstance(result, Error)
        assert "Traceback" not in plain(result)


def test_the_door_opens_models_and_tells_what_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--batch", "-ex", "feed x = np.ones((1, 2))", "-ex", "print y", str(FIXTURES / "saved_model")]) == 0
    assert "3.5" in capsys.readouterr().out
    assert main(["--batch", "no/such.pb"]) != 0
