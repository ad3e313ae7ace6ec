"""The survey of a script: TensorFlow's names that are not there, without running it."""

from pathlib import Path

import pytest

from autodiff.tensorflow_names.survey import survey
from cli.commands.script import survey as survey_command
from cli.main import main
from cli.model.results import Error

SCRIPT = """
import tensorflow as tf
from tensorflow.contrib import crf
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
        "tf.contrib.crf": (3,), "tf.nonsense": (7, 8), "tf.nn.nothing": (8,), "tf.train.AdamOptimizer.nothing": (9,)}
    assert "tf.scan" in found["tf.contrib.crf"].advice


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
