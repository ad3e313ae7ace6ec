"""Defects measured in TensorFlow's debugger that this one does not have."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cli.language.interpreter import execute
from cli.model.results import Array, error_in
from cli.model.shell import Shell
from cli.view.render import plain

SCRIPT = """
import numpy as np
import tensorflow.compat.v1 as tf

x = tf.placeholder(tf.float32, [None], name="x")
w = tf.Variable([1.0, 1.0, 1.0], name="w")
values, indices = tf.nn.top_k(x * w, 2, name="top")
squares = tf.square(tf.cast(indices, tf.float32) + values, name="squares")
deep = values
for _ in range(3500):
    deep = deep + 1.0
logs = tf.log(values, name="logs")
loss = tf.reduce_sum(squares) + 0.0 * tf.reduce_sum(deep)
loss = tf.identity(loss, name="loss")
caught = []
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(12):
        session.run([loss, logs], {x: [3.0, 5.0 - i, 1.0]})
    try:
        session.run(loss, {x: [1.0, 2.0]})
    except Exception as error:
        caught.append(type(error).__name__)
"""


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / "model.py").write_text(SCRIPT)
    made = Shell()
    assert error_in(execute(f"load '{tmp_path / 'model.py'}'", made)) is None
    yield made
    made.close()


def test_a_condition_counts_together_with_a_number_of_runs(shell: Shell) -> None:
    result = execute("run -t 10 -f step>=4", shell)
    assert result.exit_code == 3 and len(shell.dbg.records) == 4


def test_a_range_with_infinities_and_one_without_brackets(shell: Shell) -> None:
    execute("next 2", shell)
    for text, count in (("-inf,-1", 1), ("[1,inf]", 2), ("0,1e-8", 1)):
        result = execute(f"print array([-inf, inf, 0.0, 5.0]) --range {text}", shell)
        assert isinstance(result, Array) and result.marked is not None and int(result.marked.sum()) == count


def test_an_op_fed_from_a_later_output(shell: Shell) -> None:
    execute("next 2", shell)
    assert "top:1" in plain(execute("info op Cast", shell))
    assert error_in(execute("where Cast", shell)) is None


def test_a_failing_run_raises_in_the_script(shell: Shell) -> None:
    execute("run", shell)
    execute("run", shell)
    assert shell.script is not None
    assert shell.script.namespace["caught"] == ["InvalidArgumentError"]


def test_deep_graphs_are_no_recursion(shell: Shell) -> None:
    execute("next 2", shell)
    for line in ("path loss w", "why w", "where loss", "grads", "why nan", "doctor", "diff step 2"):
        assert error_in(execute(line, shell)) is None, line


def test_every_step_can_be_looked_at_though_nothing_was_written(shell: Shell, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    execute("next 10", shell)
    execute("goto step 3", shell)
    result = execute("print values", shell)
    assert isinstance(result, Array)
    np.testing.assert_array_equal(result.value, [4.0, 3.0])
    assert sorted(tmp_path.iterdir()) == before
