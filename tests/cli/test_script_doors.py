"""Scripts as they are at the door: notebooks, runs that do not train yet."""

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from cli.main import main

ROLLOUT = """
import tensorflow as tf
x = tf.placeholder(tf.float32, name="state")
reward = tf.placeholder(tf.float32, name="reward")
w = tf.Variable(2.0)
action = w * x
train = tf.train.GradientDescentOptimizer(0.1).minimize(action * reward)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(4):
        session.run(action, {x: 1.0})
    session.run(train, {x: 1.0, reward: 1.0})
"""


def test_runs_that_do_not_train_yet_are_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "rollout.py"
    script.write_text(ROLLOUT)
    assert main(["--batch", "-nx", "-ex", "run --times 3", "-ex", "grads", "-ex", "doctor", str(script)]) == 0
    assert "no run so far feeds all that the loss needs: reward is missing" in capsys.readouterr().out
    assert main(["--batch", "-nx", "-ex", "run --times 6", "-ex", "grads", str(script)]) == 0
    assert "norm of all" in capsys.readouterr().out


def test_a_notebook_is_one_script_with_lines_of_its_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = tmp_path / "model.ipynb"
    cells = [["%pylab inline\n", "import tensorflow as tf\n", "w = tf.Variable(2.0)"], ["raise ValueError('here')"]]
    book.write_text(json.dumps({"cells": [{"cell_type": "code", "source": source} for source in cells]}))
    assert main(["--batch", "-nx", "-ex", "where", str(book)]) == 4
    out, err = capsys.readouterr()
    assert "at model.ipynb:6: here" in out + err
    assert "# cell 2" in out + err
    (tmp_path / "none.ipynb").write_text("[]")
    assert main(["--batch", "-nx", "-ex", "where", str(tmp_path / "none.ipynb")]) == 2


def test_a_figure_needs_no_display(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                   monkeypatch: pytest.MonkeyPatch) -> None:
    helpers = SimpleNamespace(figs={1: SimpleNamespace(), 2: SimpleNamespace()})
    for name, names in {"matplotlib": {}, "matplotlib.backends": {}, "matplotlib._pylab_helpers": {"Gcf": helpers},
                        "matplotlib.backend_bases": {"FigureManagerBase": None},
                        "matplotlib.backends.backend_agg": {"FigureCanvasAgg": None}}.items():
        module = ModuleType(name)
        vars(module).update(names)
        monkeypatch.setitem(sys.modules, name, module)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "MPLBACKEND"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    script = tmp_path / "plots.py"
    script.write_text("import importlib, os\nbackend = os.environ['MPLBACKEND'].removeprefix('module://')\n"
                      "importlib.import_module(backend).show()\nimportlib.import_module(backend).show(block=True)\n")
    assert main(["--batch", "-nx", "-ex", "where", str(script)]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "is not shown" in line]
    assert [line.partition(" is ")[0] for line in told] == ["gradbg: figure 1", "gradbg: figure 2"]
    monkeypatch.setenv("MPLBACKEND", "Agg")
    assert main(["--batch", "-nx", "-ex", "where", str(script)]) == 4


def test_the_tensorflow_installed_is_left_alone_if_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "plain.py"
    script.write_text("import tensorflow; print(tensorflow.__file__)")
    command = ["--batch", "-nx", "--with-tensorflow", "-ex", "where", str(script)]
    assert main(command) == 2
    assert "no TensorFlow is installed where gradbg runs" in capsys.readouterr().err
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "tensorflow.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path / "real"))
    assert main(command) == 0
    assert str(tmp_path / "real") in capsys.readouterr().out
    sys.modules.pop("tensorflow", None)


def test_the_survey_names_modules_that_are_not_installed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "beside.py").write_text("")
    script = tmp_path / "model.py"
    script.write_text("import os, six, beside, no_such.inner\nimport tensorflow as tf\n"
                      "try:\n    import not_there\nexcept ImportError:\n    pass\nfrom sklearn_of_old import x\n")
    assert main(["--survey", str(script)]) == 1
    out = capsys.readouterr().out
    assert "import no_such" in out and "pip install no_such" in out and "import sklearn_of_old" in out
    assert "beside" not in out and "not_there" not in out


def test_an_alias_left_open_ends_with_the_interpreter_in_silence() -> None:
    program = ("from autodiff.tensorflow_names.alias import standing_in\nkept = standing_in(shadow=True)\n"
               "kept.__enter__()\nimport tensorflow")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


PIPELINE = """\
import tensorflow as tf
w = tf.get_variable("w", [], initializer=tf.ones_initializer())
loss = w * tf.data.Dataset.from_tensors(3.0).repeat().make_one_shot_iterator().get_next()
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.create_global_step())
with tf.train.MonitoredSession() as session:
    session.run(train)
"""


def test_a_dataset_that_no_run_took_from_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "pipeline.py"
    script.write_text(PIPELINE)
    assert main(["--batch", "-nx", "-ex", "run --times 2", "-ex", "grads", str(script)]) == 0
    assert "no run so far took what the loss needs: IteratorGetNext has given nothing" in capsys.readouterr().out
