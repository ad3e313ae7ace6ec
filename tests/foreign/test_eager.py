"""Eager scripts under the debugger: each tape.gradient is a step, and all that has a name can be asked about."""

import threading
from pathlib import Path

import numpy as np
import pytest

from autodiff.tensorflow_names.alias import standing_in
from cli.language.interpreter import execute
from cli.model.results import Error
from cli.model.shell import Shell
from cli.view.render import plain

START = "import numpy as np\nimport tensorflow as tf\ntf.enable_eager_execution()\n"
SCRIPTS = {
    "diverging": '''
w = tf.Variable([1.0, 2.0], name="w")
for _ in range(80):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w))
    w.assign_sub(40.0 * tape.gradient(loss, w))
''',
    "tape": """
x = tf.constant(3.0)
with tf.GradientTape() as g:
    with tf.GradientTape() as gg:
        gg.watch(x)
        y = x * x
    dy_dx = gg.gradient(y, [x])[0]
d2y_dx2 = g.gradient(dy_dx, [x])
""",
    "persistent": """
x = tf.constant(3.0)
with tf.GradientTape(persistent=True) as g:
    g.watch(x)
    y = x * x
    z = y * y
dz_dx = g.gradient(z, [x])[0]
dy_dx = g.gradient(y, [x])[0]
del g
""",
    "variable": """
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x ** 2
dy_dx = tape.gradient(y, x)
""",
    "no tape": """
x = tf.Variable(3.0)
y = x ** 2 + tf.constant([1.0, 2.0])
""",
    "training": """
w = tf.Variable([[1.0], [2.0]], name="w")
optimizer = tf.train.GradientDescentOptimizer(0.1)
data = np.random.RandomState(0)
for i in range(4):
    x = tf.constant(data.randn(3, 2), tf.float32)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
""",
    "counting": """
w, steps = tf.Variable([1.0, 2.0], name="w"), tf.train.get_or_create_global_step()
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w - 3.0))
    tf.train.GradientDescentOptimizer(0.1).apply_gradients([(tape.gradient(loss, w), w)], global_step=steps)
""",
    "nan": """
w = tf.Variable([4.0, 0.0], name="w")
with tf.GradientTape() as tape:
    logarithm = tf.log(w)  # here
    loss = tf.reduce_sum(logarithm * 0.0)
slope = tape.gradient(loss, w)
""",
}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest):
    """A function of a script and lines: what each line says."""
    monkeypatch.chdir(tmp_path)
    shells = []

    def ask(script: str, *lines: str) -> list[str]:
        (tmp_path / "model.py").write_text(START + SCRIPTS[script])
        shell = Shell()
        shells.append(shell)
        execute("load model.py", shell)
        return [plain(execute(line, shell)) for line in lines]

    yield ask
    for shell in shells:
        shell.close()


def test_at_a_stop_the_values_are_there(asked) -> None:
    where, y, slope, second, info = asked("persistent", "where", "print y", "grad z x", "grad y x --order 2",
                                          "info script")
    assert "9.00" in y
    assert "108" in slope
    assert "2.00" in second
    assert "before a tape.gradient at model.py:10" in info
    assert "model.py:10" in where


def test_at_the_end_everything_that_has_a_name_can_be_asked_about(asked) -> None:
    *_, y, outer, inner, slope, path, check, hessian, why = asked(
        "persistent", "continue", "continue", "continue", "print y", "print dz_dx", "print dy_dx", "grad z x",
        "path z x", "check z x", "hessian z x", "why x")
    assert ["9.00" in y, "108" in outer, "6.00" in inner, "108" in slope, "108" in hessian] == [True] * 5
    assert "model.py:8" in path
    assert "right" in check
    assert "Error" not in why


def test_the_seeds_nested_tapes(asked) -> None:
    *_, first, second = asked("tape", "continue", "continue", "continue", "print dy_dx", "grad dy_dx x")
    assert "6.00" in first
    assert "2.00" in second


def test_a_variable_is_a_parameter(asked) -> None:
    *_, table, slope, value = asked("variable", "continue", "grads", "grad y x", "print dy_dx")
    assert "Variable:0" in table
    assert "6.00" in slope
    assert "6.00" in value


def test_a_count_of_steps_is_no_parameter(asked) -> None:
    *_, said = asked("counting", "run", "doctor")
    assert "global_step" not in said


def test_without_a_tape_the_script_ends_with_its_values(asked) -> None:
    value, slope, card = asked("no tape", "print y", "grad y x", "info script")
    assert "10.0" in value
    assert "11.0" in value
    assert "12.0" in slope  # of the sum over two elements
    assert "at its end" in card


def test_steps_of_a_loop_share_a_graph_and_a_history(asked) -> None:
    ran, table, steps, earlier, again = asked("training", "next 3", "grads", "info steps", "back 2", "grads")
    assert "step 3" in ran
    assert "w:0" in table
    assert "3 of 3" in steps
    assert "at step 2 of 3" in earlier
    assert table != again


def test_nan_is_explained_at_the_users_line(asked) -> None:
    ran, why = asked("nan", "run -f nan", "why nan")
    assert "model.py:7" in why
    assert "log(0)" in why


def test_a_training_that_diverges_is_told_though_its_graph_has_no_train_op(asked) -> None:
    _, why = asked("diverging", "run -f nonfinite", "why nan")
    assert "the training diverges" in why and "a bug" not in why, why


def test_the_script_computes_what_it_computes_alone(tmp_path: Path) -> None:
    text = START + SCRIPTS["training"] + "found = w.numpy()\n"
    alone: dict = {}
    with standing_in(shadow=True):
        thread = threading.Thread(target=exec, args=(compile(text, "alone.py", "exec"), alone))  # default graph and all
        thread.start()
        thread.join(60)
    (tmp_path / "model.py").write_text(text)
    shell = Shell()
    execute(f"load {tmp_path / 'model.py'}", shell)
    assert not isinstance(execute("detach", shell), Error)
    np.testing.assert_array_equal(shell.script.namespace["found"], alone["found"])
    shell.close()


def test_a_variable_that_the_steps_leave_as_it_is_has_no_rate(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(START + """
image = tf.constant(np.random.RandomState(0).rand(1, 8), tf.float32)
w = tf.Variable(np.random.RandomState(1).randn(8, 2), dtype=tf.float32)
for _ in range(25):
    with tf.GradientTape() as tape:
        tape.watch(image)
        loss = tf.reduce_mean(tf.square(tf.sigmoid(tf.matmul(image, w)) - [[0.2, 0.9]]))
    image = image - 5.0 * tape.gradient(loss, image)
""")
    shell = Shell()
    with standing_in():
        for line in (f"load {file}", "run"):
            execute(line, shell)
        assert {f.kind for f in shell.dbg.doctor().findings if f.level != "remark"} == set()
    shell.close()
