"""The survey of a script: TensorFlow's names that are not there, without running it."""

from pathlib import Path

import pytest

from autodiff.tensorflow_names.survey import survey
from cli.commands.script import survey as survey_command
from cli.main import main
from cli.model.results import Error

SCRIPT = """
import tensorflow as tf
from tensorflow.contrib import cudnn_rnn
import tensorflow.contrib.slim as slim
nn = tf.nn
x = tf.placeholder(tf.float32)
y = nn.relu(x) + tf.nonsense(x)
z = tf.nonsense(tf.nn.nothing.at_all(x))
slim.conv2d, tf.train.AdamOptimizer.minimize, x.anything, tf.train.AdamOptimizer.nothing
"""


def test_missing_names_have_their_lines_and_advice() -> None:
    found = {row.name: row for row in survey(SCRIPT)}
    assert {name: row.lines for name, row in found.items()} == {
        "tf.contrib.cudnn_rnn": (3,), "tf.nonsense": (7, 8), "tf.nn.nothing": (8,),
        "tf.train.AdamOptimizer.nothing": (9,)}
    assert "tf.nn.dynamic_rnn" in found["tf.contrib.cudnn_rnn"].advice


def test_scripts_and_notebooks_are_surveyed_at_the_door(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script, fine, book = (tmp_path / name for name in ("model.py", "fine.py", "book.ipynb"))
    script.write_text(SCRIPT)
    fine.write_text("import tensorflow as tf\ntf.nn.relu\n")
    book.write_text('{"cells": [{"cell_type": "code", "source": ["%matplotlib inline\\n", "import tensorflow as tf"]},'
                    '{"cell_type": "markdown", "source": "tf"}, {"cell_type": "code", "source": "tf.nonsense"}]}')
    assert main(["--survey", str(script), str(fine), str(book)]) == 1
    shown = capsys.readouterr().out
    assert shown.count("tf.nonsense") == 2
    assert "fine.py: every TensorFlow name is there" in shown
    assert main(["--survey", str(fine)]) == 0
    script.write_text("def")
    assert isinstance(survey_command(str(script)), Error)


def test_a_script_of_another_framework_says_what_its_text_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                               ) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch, jax\nimport torch.nn.functional as F\nfrom torch import nn\nfrom jax import lax\n"
                      "torch.manual_seed(0)\ny = F.gelu(torch.histc(nn.Linear(2, 3)(torch.ones(2))))\n"
                      "F.no_such(torch.linalg.no_norm(y)).sum()\nlax.dot_general, lax.nothing_like_it, jax.numpy.sin\n")
    assert main(["--survey", str(script)]) == 0
    torch, unsaid, runs, jax, unsaid_too, *_ = capsys.readouterr().out.splitlines()
    assert torch == ("train.py: 3 torch functions with an op of that name: torch.nn.functional.gelu, torch.histc, "
                     "torch.ones")
    assert "torch.nn.functional.no_such (line 7), torch.linalg.no_norm (line 7)" in unsaid and "nothing was run" in runs
    assert "jax.lax.dot_general" in jax and "jax.lax.nothing_like_it (line 8)" in unsaid_too
