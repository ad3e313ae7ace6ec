"""Ops that refuse to run: what they were given is told, remedies are tried, and what is fed is told where it is fed."""

from pathlib import Path

import pytest

from cli.language.interpreter import execute
from cli.model.shell import Shell
from cli.view.render import plain

START = "import autodiff as tf\nimport numpy as np\n"
FEED = "with tf.Session() as session:\n    session.run(tf.global_variables_initializer())\n    for i in range(8):\n" \
       "        session.run([step, loss], {x: data})\n"
TRAIN = 'step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)\n'
REFUSED = {
    "inverse": ('data = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0]], np.float32)\n'
                'x = tf.placeholder(tf.float32, [None, 3])\nloss = tf.reduce_sum(tf.matrix_inverse(tf.matmul(x, x, '
                'transpose_a=True)))\nstep = tf.no_op()\n',
                "its row 2 is 0 throughout",
                "tf.matrix_inverse(tf.matmul(x, x, transpose_a=True) + 4e-05 * tf.eye(3))"),
    "cholesky": ('data = np.ones((2, 2))\nx = tf.placeholder(tf.float64, [None, None])\n'
                 'w = tf.Variable(np.float64(1.0))\nloss = tf.reduce_sum(tf.cholesky(x) * w)\n' + TRAIN,
                 "its rows 0 and 1 are equal",
                 "tf.cholesky(x + 1e-06 * tf.eye(tf.shape(x)[-1], dtype=tf.float64))"),
    "labels": ('data = np.array([1, 3, 2])\nx = tf.placeholder(tf.int64, [None])\nw = tf.Variable(tf.zeros([3, 3]))\n'
               'loss = tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=x, logits=w))\n' + TRAIN,
               "Placeholder:0 holds 1 to 3, 3 first at [1], where 0 to 2 may be",
               "Placeholder - 1: they count from 0, and these from 1 at model.py:11: x: data, from 1 to 3"),
    "rows": ('data = np.array([[0, 4, 2]])\nx = tf.placeholder(tf.int64, [None, 3])\nw = tf.Variable(tf.ones([3, 3]))\n'
             'loss = tf.reduce_sum(tf.nn.embedding_lookup(w, x))\n' + TRAIN,
             "Placeholder:0 holds 0 to 4, 4 first at [0, 1], where 0 to 2 may be", "give the table 5 rows, or keep"),
    "row": ('data = 4\nx = tf.placeholder(tf.int64, [])\nw = tf.Variable(tf.ones([3, 3]))\n'
            'loss = tf.reduce_sum(tf.gather(w, x))\n' + TRAIN,
            "Placeholder:0 is 4, where 0 to 2 may be", "give the table 5 rows, or keep"),
}


def told(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> list[str]:
    """What each line says of a script."""
    monkeypatch.chdir(folder)
    (folder / "model.py").write_text(START + text)
    shell = Shell()
    try:
        return [" ".join(plain(execute(line, shell)).split()) for line in ("load model.py", *lines)]
    finally:
        shell.close()


@pytest.mark.parametrize("case", REFUSED)
def test_what_an_op_refuses_is_told_with_remedies_that_were_tried(case: str, tmp_path: Path,
                                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    text, fault, remedy = REFUSED[case]
    said = told(text + FEED, tmp_path, monkeypatch, "run", "why", "fix 1", "doctor")
    assert fault in said[2]
    assert ("of the matrix" in said[2]) == ("matrix" in text or "cholesky" in text)
    assert "did not change" not in said[4]
    assert f"; {fault}" in said[4] or f": {fault}" in said[4]
    assert remedy in said[2]
    assert "instead of an error; fix 1 applies it" in said[2]
    assert "runs compute with that from here on" in said[3]


def test_why_of_a_run_that_fetched_no_tensor_tells_the_op(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ('x = tf.placeholder(tf.float32, [2, 2])\n'
            'tf.Session().run(tf.Variable(tf.eye(2)).assign(tf.matrix_inverse(x)).op, {x: np.zeros((2, 2))})\n')
    assert "its smallest eigenvalue is 0" in told(text, tmp_path, monkeypatch, "run", "why")[2]


def test_why_after_a_script_without_gradients_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'w = tf.Variable([1.0, 2.0])\nloss = tf.reduce_sum(tf.round(w))\n' + TRAIN
    assert "passes Round" in told(text, tmp_path, monkeypatch, "run", "why")[2]


def test_data_that_diverge_are_told_where_they_are_fed_and_a_fix_begins_before_them(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ('data = np.array([[1000.0, 1.0], [3000.0, 2.0], [2000.0, 4.0]], np.float32)\n'
            'x = tf.placeholder(tf.float32, [None, 2])\nw = tf.Variable([[0.5], [0.5]])\n'
            'loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))\n' + TRAIN.replace("0.5", "0.1"))
    said = told(text + FEED.replace("[step, loss]", "step") + "        session.run(loss, {x: data})\n", tmp_path,
                monkeypatch, "run -f nonfinite", "why", "fix 1", "run -f nonfinite")
    assert "at model.py:11: x: data, column 0 from 1000 to 3000, column 1 from 1 to 4" in said[2]
    assert "variables are what they were before step 1" in said[3]
    assert "stop" not in said[4]


def test_with_a_fix_a_run_beside_training_is_asked_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ('data = np.array([[100.0], [-100.0]], np.float32)\nx = tf.placeholder(tf.float32, [None, 1])\n'
            'w = tf.Variable([[5.0, -5.0]])\np = tf.nn.softmax(tf.matmul(x, w))\n'
            'loss = -tf.reduce_sum(tf.eye(2) * tf.log(p))\n' + TRAIN.replace("0.5", "0.001"))
    said = told(text + FEED + "        session.run(tf.argmax(p, 1), {x: data})\n", tmp_path, monkeypatch,
                "run -f nonfinite", "why", "fix 1", "run -f nonfinite")
    assert "stop" in said[1]
    assert "stop" not in said[4]


def test_a_part_of_a_layer_alone_is_made_positive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ('data = np.array([[1.0, -2.0], [2.0, -1.0]], np.float32)\nx = tf.placeholder(tf.float32, [None, 2])\n'
            'w = tf.Variable([[1.0, 0.0], [0.0, 1.0]])\nmean, scale = tf.split(tf.matmul(x, w), 2, axis=1)\n'
            'loss = tf.reduce_mean(tf.square(mean / scale) + tf.log(scale))\n' + TRAIN.replace("0.5", "0.01"))
    said = told(text + FEED, tmp_path, monkeypatch, "run -f nonfinite", "why", "fix 1", "run -f nonfinite")
    assert "remedy: tf.nn.softplus where it is made" in said[2]
    assert "stop" not in said[4]


@pytest.mark.parametrize(("shape", "value", "remedy"), [
    ("[None, 1]", "np.ones(5)", "np.reshape(value, (-1, 1))"), ("[None, 4]", "np.ones((5, 2, 2))", "(value, (-1, 4))"),
    ("[None, 3]", "np.array([0, 2, 1, 1])", "np.eye(3)[value]"), ("[None]", "np.eye(3)", "np.argmax(value, axis=1)"),
    ("[None, 4]", "np.ones(4)", "np.reshape(value, (-1, 4))"), ("[None, 4]", "np.ones((5, 3))", "")])
def test_a_feed_of_another_shape_is_told_how_it_would_fit(shape: str, value: str, remedy: str, tmp_path: Path,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"x = tf.placeholder(tf.float32, {shape})\ntf.Session().run(x, {{x: {value}}})\n"
    said = told(text, tmp_path, monkeypatch, "run", "why")[2]
    assert remedy in said
    assert ("because at model.py:4: Cannot feed value of shape" in said) == bool(remedy)


def test_large_initial_weights_and_numbers_fed_one_by_one_are_told_before_the_rate(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = ('data = np.float32(np.random.RandomState(0).randn(8, 99))\nx = tf.placeholder(tf.float32, [None, 99])\n'
            'h = x\nfor i in range(4):\n    h = tf.nn.leaky_relu(h) @ tf.Variable(tf.random_normal([99, 99], seed=i))\n'
            'loss = tf.reduce_mean(tf.losses.sparse_softmax_cross_entropy([*range(8)], h))\n' + TRAIN)
    assert "remedy: smaller initial values" in told(deep + FEED, tmp_path, monkeypatch, "run -f nonfinite", "why")[2]
    single = ('data = 0.0\nx = tf.placeholder(tf.float32)\nw = tf.Variable(1.0)\n'
              'loss = tf.square(w * x * x - x)\n' + TRAIN)
    fed = FEED.replace("x: data", "x: 3.0 + i").replace("range(8)", "range(30)")
    said = told(single + fed, tmp_path, monkeypatch, "run -f nonfinite", "why")[2]
    assert "remedy: scale the data fed for Placeholder: x / 10, as they reach" in said


def test_what_nobody_learns_from_need_not_be_scaled_and_why_without_a_stop_tells_missing_gradients(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solved = ('data = np.float32(np.random.RandomState(0).uniform(500, 900, (40, 2)))\n'
              'x = tf.placeholder(tf.float32, [None, 2])\nloss = tf.reduce_sum(tf.matmul(x, x, transpose_a=True))\n'
              'step = tf.no_op()\n')
    assert "not scaled" not in told(solved + FEED, tmp_path, monkeypatch, "run", "doctor")[2]
    cut = ('data = 1.0\nx = tf.placeholder(tf.float32)\nv, w = tf.Variable(1.0), tf.Variable(2.0)\n'
           'loss = tf.square(v * tf.py_func(lambda a: a, [w * x], tf.float32))\n' + TRAIN)
    assert "passes PyFunc" in told(cut + FEED, tmp_path, monkeypatch, "run", "why")[2]
