"""Answers go on behind the op that failed: to the script's own numbers, a dataset's column, a matrix's rows, a zero."""

from pathlib import Path
from typing import Any

import pytest

import autodiff as ad
from cli.model.shell import Shell

from .test_trials import loaded, said

HEAD = """import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 2], name="x")
w = tf.Variable([[0.5], [0.25]], name="w")
"""
RUN = """
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(2):
        session.run([step, loss], {x: [[1.0, 2.0], [3.0, 95.0]]})
"""
ANSWERS = {
    "@tf.custom_gradient\ndef f(v):\n    def grad(dy):\n        e = tf.exp(v)\n        return dy * e / (1.0 + e)\n"
    "    return tf.nn.softplus(v), grad\nloss = tf.reduce_sum(f(tf.matmul(x, 9.0 * w)))":
        ("run -f nonfinite", "why nan", "the gradient of IdentityN at model.py:8"),
    "def f(i, h):\n    h = h - 0.5 * 8.0 * h\n    return i + 1, h\n"
    "h = tf.while_loop(lambda i, h: i < 90, f, [0, tf.matmul(x, w)])[1]\nloss = tf.reduce_sum(tf.square(h))":
        ("run -f nonfinite", "why nan", "multiplies it by -3: the step times the rate is 4, and above 2 an explicit "
         "step overshoots more each time at model.py:6"),
    "cap = np.float32('nan')\nloss = tf.reduce_sum(tf.minimum(tf.matmul(x, w), cap))":
        ("run -f nonfinite", "why nan", "the script gave it as nan: a missing value"),
    "v = tf.Variable([[np.inf, 2.0]])\nloss = tf.reduce_sum(tf.matmul(x, w) * v)":
        ("run -f nonfinite", "why nan", "the script itself computed these first values of v"),
    "d = tf.data.Dataset.from_tensor_slices(np.float32([[1, np.nan], [2, np.nan]])).repeat().batch(2)\n"
    "loss = tf.reduce_sum(tf.matmul(d.make_one_shot_iterator().get_next(), w))":
        ("run -f nonfinite", "why nan", "the dataset gave nan throughout column 1 of its component 0"),
    "d = tf.data.Dataset.from_tensor_slices(np.float32([[1, np.nan]]))\nd = d.repeat().batch(2)\n"
    "loss = tf.reduce_sum(tf.matmul(d.make_one_shot_iterator().get_next(), w))":
        ("run -f nonfinite", "why nan", "remedy: clean component 0 of the dataset: tf.where(tf.is_finite(x), x"),
    "slope = tf.gradients(tf.nn.relu(tf.matmul(x, w)), x)[0]\n"
    "loss = tf.reduce_sum(tf.square(tf.gradients(slope, x)[0] - 1.0))":
        ("next 2", "why zero", "the second derivative of relu is 0"),
    "table = tf.constant([0.5, 0.5, 0.0])\nloss = tf.reduce_sum(w) - tf.log(tf.gather(table, 2) * tf.reduce_sum(x))":
        ("run -f nonfinite", "why nan", "because the constant 'Const' has 0 at row 2"),
    "lab = tf.SparseTensor([[0, 0], [0, 1], [0, 2]], [1, 1, 0], [1, 3])\n"
    "loss = tf.reduce_sum(tf.nn.ctc_loss(lab, tf.tile(tf.matmul(x, w)[:, :, None], [2, 1, 4]), [3]))":
        ("run -f nonfinite", "why inf", "sample 0 has 3 labels, 1 of them equal to the one before, and 3 frames"),
    "gap = w[:, None] - w[None]\nfar = 1.0 / tf.sqrt(tf.reduce_sum(tf.square(gap), -1))\n"
    "loss = tf.reduce_sum((1.0 - tf.eye(2)) * far)":
        ("run -f nonfinite", "why nan", "0.5 - 0.5 = 0, of each with itself at model.py:5 remedy: add tf.eye(2)[:"),
    "from autodiff.core.op import build\nnoise = tf.Variable(0.5, name='noise')\n"
    "loss = tf.reduce_sum(build.Cholesky(tf.matmul(w, w, transpose_b=True), raises=False))":
        ("run -f nonfinite", "why nan", "the loss has nothing of 'noise', which may be meant for its diagonal, = nan"),
    "v = tf.Variable(np.diag(np.float32([1, 4, 1])))\n_, u = tf.self_adjoint_eig(v)\nloss = u[0, 0] ** 2 + w[0, 0]":
        ("run -f nonfinite", "why nan", "as eigenvalues 0 and 1 of 3 are equal, and their eigenvectors then have no "
         "derivative, = inf in d eigh"),
    "v = tf.Variable(np.eye(3, dtype=np.float32))\nloss = tf.square(tf.self_adjoint_eig(v * v)[1][0, 0]) + w[0, 0]":
        ("run -f nonfinite", "why nan", "tf.self_adjoint_eig((v * v) + 0.001 * tf.diag(tf.range(3.0)))"),
    "loss = tf.reduce_sum(tf.log(tf.minimum(tf.nn.softmax(tf.matmul(x, w)[:, :1]), 1.0 - 1e-6)))":
        ("next 2", "why zero", "lost in Softmax (Softmax) at model.py:5: a softmax over one element is 1 whatever"),
    "loss = tf.reduce_mean(tf.abs(3.0 + tf.nn.relu(tf.matmul(x, w) - 100.0)))":
        ("next 2", "why zero", "leave the relu out of the last layer"),
    "first, second = tf.unstack(x, axis=1)\nloss = tf.reduce_sum(w) + tf.reduce_sum(tf.exp(second))":
        ("run -f nonfinite", "why nan", "because 95 was fed for 'x' at row 1, column 1"),
    "seen = tf.nn.conv2d(x[None, :, :, None], tf.ones([1, 2, 1, 1]), [1, 1, 1, 1], 'VALID')\n"
    "loss = tf.reduce_sum(w) + tf.reduce_sum(tf.exp(tf.nn.max_pool(seen, [1, 2, 1, 1], [1, 1, 1, 1], 'VALID')))":
        ("run -f nonfinite", "why nan", "because 95 was fed for 'x' at row 1, column 1, then Conv2D gives 98"),
    "gate = tf.nn.relu(-tf.square(x) - 1.0)\nloss = tf.reduce_sum(tf.matmul(x * gate, w) * 3.0)":
        ("next 2", "why zero", "as Relu (Relu at model.py:5) gives nothing but zeros: 100% of its inputs are <= 0"),
    "cell, long = tf.nn.rnn_cell.BasicRNNCell(2), tf.placeholder_with_default([0, 0], [None], 'long')\n"
    "_, last = tf.nn.dynamic_rnn(cell, x[:, None] * w[0], long, dtype=tf.float32)\nloss = tf.reduce_mean(last + w[0])":
        ("next 2", "why rnn/basic_rnn_cell/kernel", "in 100% of the elements, as 0 was fed for 'long' throughout"),
    "mask = tf.to_float(tf.equal(x, 7.0))\nloss = tf.reduce_sum(tf.matmul(x * mask, w))":
        ("next 2", "why zero", "holds nowhere: x:0 is 1 to 95, Equal/y:0 is 7 remedy: turn it around, tf.not_equal"),
    "loss = tf.reduce_sum(tf.matmul(x, w) * tf.pow(x - 1.0, -0.5))":
        ("run -f nonfinite", "why nan", "remedy: tf.where((x - 1.0) > 0, tf.pow(tf.maximum(x - 1.0, 1e-12), -0.5), "),
    "loss = tf.reduce_sum(tf.matmul(x, w)) + tf.reduce_sum((x - 1.0) * -np.inf)":
        ("run -f nonfinite", "why nan", "remedy: mask with a large finite number, -1e+09, in place of -inf"),
    "share = np.float32([1.0, 2.0]) / np.float32([0.0, 1.0])\nloss = tf.reduce_sum(tf.matmul(x, w) * share)":
        ("run -f nonfinite", "why nan", "contains inf, made by NumPy at model.py:5 (divide by zero encountered"),
    "left = tf.reduce_sum(w) * 1e-7 - 1e-7 * tf.reduce_sum(w) - 1e-8\nloss = tf.sqrt(left)":
        ("run -f nonfinite", "why nan", "= -1e-08 remedy: tf.sqrt(left + 1e-5)"),
    "far = 3000.7 + x * 1e-4\nmean = tf.reduce_mean(far, 1, keepdims=True)\nspread = tf.reduce_mean(tf.square(far), 1, "
    "True) - mean ** 2\nloss = tf.reduce_sum(w) + tf.reduce_sum(tf.rsqrt(spread + 1e-9))":
        ("run -f nonfinite", "why nan", "at model.py:7 remedy: the mean of squares of x less its mean, "
         "tf.reduce_mean(tf.square(x - mean)) at model.py:7: tf.reduce_mean(tf.square(far - mean), 1, True)"),
    "part = tf.nn.sigmoid(w[0])\nfor _ in range(20):\n    part = part * 1e-4\nloss = tf.reduce_sum(tf.log(part))":
        ("run -f nonfinite", "why nan", "a product of 20 steps underflows: divide by its sum in each step"),
    "many = tf.TensorArray(tf.float32, 2).unstack(tf.sqrt(x - 2.0))\nseen = tf.while_loop(lambda i, s: i < 2, "
    "lambda i, s: (i + 1, s + many.read(i)), [0, tf.zeros([2])])[1]\nloss = tf.reduce_sum(w) + tf.reduce_sum(seen)":
        ("run -f nonfinite", "why nan", "sqrt(-1) = nan in Sqrt at model.py:5"),
    "near = tf.maximum(tf.nn.sigmoid(tf.matmul(x, w)) - 3.0 + tf.constant(-1.5), 0.0)\nloss = tf.reduce_sum(near)":
        ("next 2", "why zero", "here all keep the margin of -1.5 at model.py:5: raise it"),
    "code = tf.one_hot(tf.cast(x[:, 0], tf.int32) + 4, 3)\nloss = tf.reduce_sum(tf.matmul(x, w) * code)":
        ("next 2", "why zero", "gives nothing but zeros: its indices are 5 to 7, its depth is 3"),
    "turn = tf.custom_gradient(lambda z: (z, lambda dy: dy * (x - x)))\nloss = tf.reduce_sum(turn(x * w[0]))":
        ("next 2", "why zero", "in its own gradient function at model.py:5, factor gradients/Ident"),
    "kept = tf.Variable(0.0, trainable=False)\nloss = tf.reduce_sum(tf.matmul(x, w)) / tf.cond("
    "tf.reduce_sum(x) > 1e3, lambda: tf.reduce_sum(x), lambda: kept.read_value() * 2.0)":
        ("run -f nonfinite", "why nan", "because kept is 0, as it was in the beginning"),
    "loss = tf.reduce_sum(tf.matmul(x, w)) + tf.reduce_sum(tf.pow(x - 2.0, 0.9))":
        ("run -f nonfinite", "why nan", "remedy: tf.pow(tf.maximum(tf.abs(x - 2.0), 1e-6), 0.9) at model.py:5"),
    "gate = tf.clip_by_value(x * 0.2 - 90.0, 0.0, 1.0)\nloss = tf.reduce_sum(tf.matmul(x * gate, w))":
        ("next 2", "why zero", "inputs are below the bound 0, where it lets nothing through remedy: bring what enters"),
    "loss = tf.reduce_sum(tf.matmul(x, w)) / tf.sqrt(float(16 // 64))":
        ("run -f nonfinite", "why nan", "because the script gave 0 for the constant 'Sqrt/x'"),
    "one = tf.matmul(x, w)[:1]\nloss = tf.reduce_sum(tf.nn.relu(one - tf.reduce_mean(one, 0)) * 3.0)":
        ("next 2", "why zero", "(Mean at model.py:6) averages over one element: what is left of x less its mean is 0"),
    "loss = tf.reduce_sum(tf.nn.dropout(x, 1e-7) * w[0])":
        ("next 2", "why zero", "it drops everything: keep_prob is the share that is kept"),
    "a = tf.layers.dense(x, 2, name='a'); b = tf.layers.dense(x, 2, name='b')\nloss = tf.reduce_sum(a) + w[0, 0]":
        ("next 1", "why b/kernel", "it leads to 'b/BiasAdd' at model.py:5, which nothing uses"),
    "loss = tf.exp(tf.reduce_sum(tf.matmul(x, w)) * 5.0)":
        ("run -f nonfinite", "why nan", "remedy: minimize what tf.exp is taken of"),
    "near = tf.exp(-tf.square(tf.matmul(x, w)) / 0.001)\nloss = tf.reduce_sum(near / tf.reduce_sum(near, 1, True))":
        ("run -f nonfinite", "why nan", "in place of 0.001, as exp underflows at model.py:5"),
    "h = tf.tanh(tf.matmul(x, w))\nloss = tf.reduce_mean(tf.where(h > 5.0, h * w[0], tf.zeros_like(h)))":
        ("next 2", "why zero", "is 5 remedy: compare with a number within their range"),
    "some = tf.gather(tf.constant([0.0, 0.0, 1.0]), [0, 1])\nloss = tf.reduce_mean(tf.matmul(x, w) * some[:, None])":
        ("next 2", "why zero", "as the constant 'Const' has 0 at row 0 at model.py:5"),
    "z, other = tf.data.Dataset.from_tensors(np.ones([1, 2], 'f')).make_one_shot_iterator().get_next(), w + 0.0\n"
    "loss = tf.reduce_sum(tf.matmul(z, w))": (
        "next 1", "why x", "is made of what the dataset gives, 'IteratorGetNext:0'"),
    "loss = tf.reduce_sum(tf.matmul(x, w)) / float(3 // 5 * int(x.shape[1]))":
        ("run -f nonfinite", "why nan", "remedy: give a number above 0 in place of 0, as max(x, 1)"),
    "loss = tf.reduce_sum(tf.exp(tf.cumsum(x, axis=1)) * w[0])":
        ("run -f nonfinite", "why nan", "because 95 was fed for 'x' at row 1, column 1, then cumsum(95) = 98"),
}


@pytest.mark.filterwarnings("default:.*encountered in")
@pytest.mark.parametrize("model", ANSWERS, ids=range(len(ANSWERS)))
def test_the_origin_is_told(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move, question, expected = ANSWERS[model]
    with loaded(HEAD + model + RUN, tmp_path, monkeypatch, move) as shell:
        found = said(question, shell)
    assert expected in found, found


def test_a_refused_matrix_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = "loss = tf.reduce_sum(w) + tf.reduce_sum(tf.cholesky(tf.matmul(x, tf.transpose(x)) * 0.0 + 1.0))"
    with loaded(HEAD + model + RUN, tmp_path, monkeypatch) as shell:
        said("run", shell)
        found = said("why nan", shell)
    assert "its rows 0 and 1 are equal, its smallest eigenvalue is" in found and "* tf.eye(" in found, found


def test_an_update_of_the_scripts_own_that_amplifies_is_told_and_averaged(tmp_path: Path,
                                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs between the training steps are made again too: a lower rate does not help here, and is not said to."""
    model = """
old = tf.Variable([[1.0], [1.0]], trainable=False, name="old")
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - tf.matmul(x, old)))
soft = old.assign(0.25 * w + 4.0 * old)
step = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(50):
        session.run([step, loss], {x: [[1.0, 2.0], [3.0, 5.0]]})
        session.run(soft)
"""
    with loaded(HEAD + model, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
    assert "the script's own update of old at model.py:8 makes it 4 times what it was" in found, found
    assert "let the factors of an average add up to 1: 0.75 for the old value beside 0.25" in found, found
    assert "lower the learning rate" not in found, found


def test_a_loss_without_a_lower_bound_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = "loss = tf.reduce_mean(tf.square(w)) + tf.reduce_mean(w - 1.0) - 5.0 * tf.nn.l2_loss(w)"
    text = HEAD + model + RUN.replace("range(2)", "range(300)")
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
    assert "the loss has no lower bound: it falls as what it subtracts grows, mul (Mul at model.py:5)" in found, found
    assert "remedy: add it, a + b in place of a - b, if it is a penalty at model.py:5: (tf.reduce_mean" in found, found


def test_a_momentum_above_1_is_to_blame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RUN.replace("GradientDescentOptimizer(0.1)", "MomentumOptimizer(1e-3, 1.5)").replace("range(2)", "range(300)")
    with loaded(HEAD + "loss = tf.reduce_mean(tf.square(w))" + run, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
    assert "the momentum is 1.5 at model.py:6: from 1 on steps only add up" in found and "momentum" in found.partition(
        "remedy")[2][:60], found


def test_what_the_script_asked_for_in_vain_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ("u = tf.Variable(1.0)\nasked = tf.gradients(tf.cast(tf.argsort(x[:, 0]), tf.float32), x)\n"
             "loss = tf.reduce_sum(w)")
    with loaded(HEAD + model + RUN, tmp_path, monkeypatch, "run") as shell:
        found = said("why none", shell)
    assert found.startswith("∂ Cast:0 / ∂ x:0") and "remedy: ranks are integers: take soft ones" in found, found


def test_gradients_that_spoil_an_optimizer_come_of_layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = """
h = x
for i in range(24):
    h = tf.matmul(h, tf.gather(tf.get_variable(f"k{i}", [2, 2], initializer=tf.ones_initializer()) * 4.0, [0, 1]))
loss = tf.reduce_sum(h)"""
    run = RUN.replace("GradientDescent", "Adam")
    with loaded(HEAD + model + run, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
    assert "24 layers enlarge what goes through them" in found and "remedy: smaller initial values: k0" in found, found


@pytest.mark.parametrize(("is_trained", "given", "expected"), [
    (False, None, "all 1 variables of the loss are trainable=False: 'part/w:0' at "),
    (True, [], "1 trainable variables in 'part': pass var_list=tf.trainable_variables")])
def test_nothing_to_train_is_told_by_name(is_trained: bool, given: list[Any] | None, expected: str) -> None:
    with ad.Graph().as_default():
        loss = ad.reduce_sum(ad.Variable([1.0, 2.0], trainable=is_trained, name="part/w"))
        with pytest.raises(ValueError, match="No variables to optimize") as caught:
            ad.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=given)
    assert expected in str(caught.value)


def test_a_state_that_is_fed_back_and_grows_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """import numpy as np
import tensorflow as tf
h = tf.placeholder(tf.float32, [None, 2], name="h")
w = tf.Variable([[300.0, 0.0], [1.0, 200.0]], name="w")
given = tf.matmul(h, w)
loss = tf.reduce_mean(tf.square(given))
step = tf.train.AdamOptimizer(0.001).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    state = np.ones([1, 2])
    for i in range(12):
        state = session.run([given, step], {h: state})[0]
"""
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
    assert "'h' is fed what the run before gave for MatMul at model.py:5, which grew from" in found, found
    assert "remedy: tf.tanh of what is fed back" in found and "remedy: smaller initial values: w as" in found, found


def test_a_number_that_is_fed_is_kept_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fed = "t = tf.placeholder(tf.float32, [], name='t')\nloss = tf.reduce_sum(tf.exp(tf.matmul(x, w) / t))"
    text = (HEAD + fed + RUN).replace("{x: [[1.0, 2.0], [3.0, 95.0]]}", "{x: [[1.0, 2.0]], t: 0.5 - 0.5 * i}")
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        assert "remedy: feed t no number below 0.5, as before" in said("why nan", shell)


@pytest.mark.parametrize(("end", "expected"), [
    ("train = optimizer.minimize(loss, var_list=[w])", "use made in place of fed at model.py:7"),
    ("kept = [g * 2.0 for g, v in optimizer.compute_gradients(loss, [w])]", "use made in place of fed at model.py:7"),
])
def test_a_script_that_ends_for_want_of_a_gradient_tells_why(end: str, expected: str, tmp_path: Path,
                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + """fed = tf.placeholder(tf.float32, [None, 1], name="fed")
made, bias = tf.matmul(x, w), tf.Variable([0.5])
loss = tf.reduce_sum(tf.square(fed + bias))
optimizer = tf.train.GradientDescentOptimizer(0.1)
""" + end
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(text)
    shell = Shell()
    assert expected in said("load model.py", shell)
    said("run", shell)  # which has nothing to feed
    assert expected in said("why nan", shell)
    shell.close()


def test_a_loss_that_grew_without_end_is_told_though_nothing_is_nan(tmp_path: Path,
                                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + "loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))" + RUN.replace("GradientDescentOptimizer(0.1)",
                                                                                   "GradientDescentOptimizer(0.9)")
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        found = said("why nan", shell)
    assert "the training diverges: the loss grew from 319 at step 1 to " in found, found
    assert "or lower the learning rate" in found


def test_the_first_nan_of_more_runs_than_are_remembered_is_told(tmp_path: Path,
                                                                monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + "v = tf.Variable(-30.0)\nloss = tf.log(v) + 0.0 * tf.reduce_sum(tf.matmul(x, w))" + RUN.replace(
        "range(2)", "range(700)")
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        found = said("why nan", shell)
    assert "v is -30, as it was in the beginning" in found and "step 1 gives loss" in found, found


@pytest.mark.parametrize("text, line, new", [
    ("def f(i, h):\n    h = h - 0.5 * 8.0 * h\n    return i + 1, h\n"
     "h = tf.while_loop(lambda i, h: i < 90, f, [0, tf.matmul(x, w)])[1]\nloss = tf.reduce_sum(tf.square(h))", 6,
     "    for _ in range(4): h = h - 0.5 * 8.0 * h / 4"),
    ("@tf.custom_gradient\ndef f(v):\n    def grad(dy):\n        e = tf.exp(v)\n        return dy * e / (1.0 + e)\n"
     "    return tf.nn.softplus(v), grad\nloss = tf.reduce_sum(f(tf.matmul(x, 9.0 * w)))", 9,
     "        return dy * tf.sigmoid(v)")])
def test_what_is_computed_again_and_again_or_backward_is_written(
        text: str, line: int, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with loaded(HEAD + text + RUN, tmp_path, monkeypatch, "run -f nonfinite", "why nan", "fix 1 --write --yes"):
        assert Path("model.py").read_text().splitlines()[line - 1] == new


def test_a_nan_that_has_gone_again_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + "kept = tf.placeholder(tf.float32, [2])\nerrors = tf.reduce_sum(tf.matmul(x, w), 1) * kept\n" + (
        "kept_ones = tf.cast(tf.greater(kept, 0.0), tf.float32)\n"
        "loss = tf.reduce_sum(errors) / tf.reduce_sum(kept_ones)") + RUN.replace(
        "[step, loss], {", "[step, loss] if i != 1 else loss, {kept: [i != 1, 0.0], ").replace("range(2)", "range(4)")
    with loaded(text, tmp_path, monkeypatch) as shell:
        ran, found = said("run", shell), said("why", shell)
    assert "the loss was nan in run 3 (after step 1): why nan tells where it comes from" in ran, ran
    assert "the loss was not finite once, in run 3 (after step 1): a mean over none of 2, 0 / 0 = nan" in found, found


def test_of_runs_whose_loss_was_nan_one_after_the_other_the_first_is_told(tmp_path: Path,
                                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + "v = tf.Variable(0.25)\nloss = tf.log(v) + 0.0 * tf.reduce_sum(tf.matmul(x, w))" + RUN.replace(
        "range(2)", "range(9)")
    with loaded(text, tmp_path, monkeypatch, "run") as shell:  # 1 / v stays finite, and moves v on and on
        found = said("why nan", shell)
    assert "since the update of step 5, 0.25 before step 1" in found and "step 6 gives loss" in found, found
