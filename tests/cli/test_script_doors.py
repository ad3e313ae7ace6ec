"""Scripts as they are at the door: notebooks, runs that do not train yet."""

import json
from pathlib import Path

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
