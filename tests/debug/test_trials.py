"""Remedies are tried on the remembered steps before they are told; what does not help is not told."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from autodiff.debug.history import ring
from cli.language.interpreter import execute
from cli.model.results import error_in
from cli.model.shell import Shell
from cli.view.render import plain

from .pains import PAINS, START

HELPS = {12: "safe = tf.where(ok, x, tf.ones_like(x)), then tf.log(safe)",
         14: "tf.sqrt(tf.reduce_sum(x * x, axis) + 1e-12) in place of the norm",
         15: "tf.pow(tf.maximum(x, 1e-12), p)", 17: "tf.pow(tf.maximum(x, 1e-12), p)",
         19: "tf.reduce_sum(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits))",
         20: "break the tie: x + 0.001 * tf.diag(tf.range(n, dtype=x.dtype))",
         21: "tf.sqrt(x + 1e-5)", 22: "tf.nn.softplus where it is made, which keeps it positive",
         25: "tf.div_no_nan(x, y)", 28: "tf.sqrt(x + 1e-5)"}
MADE_AT = {20: 4}  # where the edit is of what the op was given
FED = START + """
x = tf.placeholder(tf.float32, [None, 2], name="x")
w = tf.Variable([[0.5], [0.5]], name="w")
p = tf.nn.sigmoid(tf.matmul(x, w))[:, 0]
loss = -tf.reduce_mean([1.0, 0.0] * tf.log(p) + [0.0, 1.0] * tf.log(1.0 - p), name="loss")
step = tf.train.AdamOptimizer(0.05).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(8):
        session.run([step, loss], {x: [[1.0, i], [-1.0, i]] if i < 5 else [[-300.0, 0.0], [300.0, 0.0]]})
"""
GROWS = START + """
w = tf.Variable([[0.5]], name="w")
loss = tf.reduce_sum(tf.square(w * 30.0 - 3.0), name="loss")
step = tf.train.GradientDescentOptimizer(300.0).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(30):
        session.run([step, loss])
"""


@contextmanager
def loaded(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *moves: str) -> Iterator[Shell]:
    """A script at the end of `moves`."""
    monkeypatch.chdir(folder)
    (folder / "model.py").write_text(text)
    shell = Shell()
    try:
        for line in ("load model.py", *moves):
            result = execute(line, shell)
            assert error_in(result) is None, plain(result)
        yield shell
    finally:
        shell.close()


def said(line: str, shell: Shell) -> str:
    return " ".join(plain(execute(line, shell)).split())


def in_general(shell: Shell) -> str:
    """What was tried in words, before the script's own expressions."""
    return " ".join(f"remedy: {replace(each, here='').what}: {each.here}" for each, *_ in shell.dbg.trials.tried)


@pytest.mark.parametrize("number", HELPS)
def test_what_helps_is_told_first(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pain = next(pain for pain in PAINS if pain.number == number)
    with loaded(pain.text, tmp_path, monkeypatch, *pain.moves) as shell:
        text, general = said("why nan", shell), in_general(shell)
    assert " tried: step 1 gives loss " in text
    assert general.startswith(f"remedy: {HELPS[number]} at model.py:{MADE_AT.get(number, pain.line)}"), text


def test_edits_of_two_ops_are_tried_together_over_the_steps_before(tmp_path: Path,
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither logarithm alone is enough; over the steps before it nothing is changed."""
    with loaded(FED, tmp_path, monkeypatch, "run -f nan") as shell:
        names = list(shell.dbg.graph.operations)
        text = said("why nan", shell)
        remedies = [remedy for remedy, *_ in shell.dbg.trials.tried]
        assert list(shell.dbg.graph.operations) == names
    assert "remedy: tf.log_sigmoid(x); tf.log_sigmoid(-x) at model.py:7" in text
    assert "instead of inf; steps 1-6 replayed with it stay finite, their losses as they were" in text
    assert remedies[0].change < 1e-6


def test_a_training_that_diverges_is_tried_with_clipped_gradients(tmp_path: Path,
                                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    with loaded(GROWS.replace("300.0", "0.05"), tmp_path, monkeypatch, "run -f nan") as shell:
        text = said("why nan", shell)
        assert not shell.dbg.records[-1].error
    assert "remedy: clip the gradients" in text and "instead of inf" in text
    assert "20 more steps on the same data end at" in text


def test_a_remedy_of_a_divergence_has_to_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rate with which the remembered steps are finite, and those after them are not, is none; nor are clipped
    gradients with a rate so high that each step goes past what is looked for."""
    text = GROWS.replace("w * 30.0", "w")
    with loaded(text, tmp_path, monkeypatch, "run -f nan") as shell:
        said("why nan", shell)
        remedies = [remedy for remedy, *_ in shell.dbg.trials.tried]
        said("fix 1", shell)
        said("run --times 30", shell)
        assert abs(shell.dbg.session.variables["w"] - 3.0) < 1.0
    assert remedies[0].words == "lower the learning rate from 300 to 0.3" and remedies[0].falls > 0.01
    assert not any(remedy.words.startswith("clip") and remedy.falls > 0.01 for remedy in remedies)


def test_a_fix_is_in_force_until_undo_and_each_step_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with loaded(FED, tmp_path, monkeypatch, "run -f nan", "why nan", "fix 1") as shell:
        dbg = shell.dbg
        assert dbg.session.variables["w"] == pytest.approx(dbg.state.moments[-1].variables["w"])
        assert "with the fix tf.log_sigmoid(x); tf.log_sigmoid(-x)" in said("run -t 1", shell)
        fixed = dbg.records[-1]
        after = dbg.session.variables["w"].copy()
        assert fixed.loss == pytest.approx(float(dbg.value("loss").array))
        assert [t.name for t in dbg.state.fed_last()] == ["x:0"]
        at = dbg.state.moments[-1]
        assert (dbg.state.replayer.after(at, at.variables)["w"] == after).all()  # made again, exactly
        assert "taken back: fix tf.log_sigmoid" in said("undo", shell)
        said("run -t 1", shell)
        assert dbg.records[-1] is not fixed and not dbg.records[-1].notes
        assert "no remedy 9" in said("fix 9", shell)


MADE = """
step = tf.train.GradientDescentOptimizer(1e-3).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(60):
        session.run([step, loss], FEEDS)
"""
HEAD = START + "x = tf.placeholder(tf.float32, [None, 2], name='x')\nw = tf.Variable([[0.5], [1.5]], name='w')\n"
# what is computed, its feeds -> a remedy that helps
MENDED = {
    ("_, r = tf.while_loop(lambda n, r: n < 3, lambda n, r: (n + 1, r / tf.reduce_sum(r)), [0, tf.matmul(x, w)])\n"
     "loss = tf.reduce_sum(r)", "{x: [[i % 3, 0.0]]}"): "tf.div_no_nan(x, y) at model.py:7",
    ("o, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(3, activation=lambda v: tf.log(tf.nn.relu(v) + i0)),\n"
     "    x[:, :, None], dtype=tf.float32)\nloss = tf.reduce_mean(o)", "{x: [[1.0, 2.0]]}"):
        "tf.log(tf.maximum(x, 1e-12)) at model.py:7",
    ("loss = tf.cond(x[0, 0] > 1.0, lambda: tf.reduce_sum(tf.log(x * w[0])), lambda: tf.reduce_sum(w))",
     "{x: [[i, 0.0]]}"): "tf.log(tf.maximum(x, 1e-12)) at model.py:7",
    ("g = tf.gradients(tf.reduce_sum(tf.pow(tf.abs(w * x[0, 0]), 1.5)), w)[0]\nloss = tf.reduce_sum(tf.square(g))",
     "{x: [[i % 3, 0.0]]}"): "tf.pow(tf.maximum(x, 1e-12), p) at model.py:7",
    ("h = tf.matmul(x, w)\nfor _ in range(4):\n    h = tf.square(h) * 1e4\nloss = tf.reduce_mean(h)",
     "{x: [[1.0, 1.0]]}"): "smaller initial values: w times",
    ("loss = tf.reduce_mean(tf.exp(tf.matmul(x, w)))", "{x: [[1.0, 3.0], [2.0, 90.0], [2.5, 7.0]]}"):
        "scale the data fed for x: (x - mean) / std of each column",
    ("loss = tf.reduce_mean(tf.matmul(x, w))", "{x: [[1.0, np.nan if i == 3 else 1.0]]}"):
        "clean the data before they are fed for x: np.where(np.isfinite(x), x, 0.0)",
    ("loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))", "{x: np.ones((0 if i == 2 else 3, 2))}"):
        "tf.div_no_nan of the sum",
    ("loss = -tf.reduce_sum(tf.log(tf.reduce_prod(tf.sigmoid(tf.tile(w, [40, 4]) * x[0, 0] - 3.0))))",
     "{x: [[1.0, 1.0]]}"): "tf.reduce_sum(tf.log(x)), of the factors",
    ("loss = -tf.reduce_sum(tf.log(1.0 - tf.square(tf.tanh(w * x[0, 0]))))", "{x: [[30.0, 1.0]]}"):
        "2.0 * (0.6931472 - x - tf.nn.softplus(-2.0 * x)), of tanh's x",
    ("h = w * x[0, 0] + 1000.0\nv = tf.reduce_mean(h * h) - tf.reduce_mean(h) ** 2 - 0.3\nloss = tf.sqrt(v)",
     "{x: [[.1, 1.0]]}"): "tf.nn.softplus where it is made",
    ("loss = tf.reduce_sum(tf.atan2(w * x[0, 0], w * x[0, 1]))", "{x: [[0.0, 0.0]]}"): "safe = tf.where(both_zero,",
    ("loss = tf.reduce_sum(tf.rsqrt(tf.nn.moments(x, [0])[1])) * w[0, 0]", "{x: [[0.5, 1.0]]}"): "tf.rsqrt(x + 1e-5)",
    ("loss = tf.reduce_sum(w) - tf.log(tf.matrix_determinant(w[0] * x))", "{x: [[1.0, 2.0], [0.0, -3.0]]}"):
        "tf.linalg.slogdet(m)[1]",
    ("a = tf.matmul(x, w)\nfor _ in range(3):\n    a = tf.log(tf.reduce_sum(tf.exp(a + 60.0), 1, True))\n"
     "loss = tf.log(tf.reduce_sum(tf.exp(a + 60.0)))", "{x: [[1.0, 1.0]]}"):
        "tf.reduce_logsumexp(x) at model.py:9, as well as at model.py:10: tf.reduce_logsumexp(a + 60.0, 1, True)",
    ("a = tf.matmul(x, tf.tile(w, [1, 4])) * 0.0 + 88.0\nfor _ in range(3):\n"
     "    a = tf.log(tf.reduce_sum(tf.exp(a), 1, True)) + a * 0.0\nloss = tf.log(tf.reduce_sum(tf.exp(a)))",
     "{x: [[1.0, 1.0]]}"): "tf.reduce_logsumexp(x) at model.py:9, as well as at model.py:10",
    ("s = tf.matmul(x, tf.transpose(x)) * w[0]\ne = tf.exp(s / 0.01)\n"
     "loss = tf.reduce_mean(-tf.log(tf.diag_part(e) / tf.reduce_sum(e, 1)))", "{x: [[3.0, 1.0], [0.0, 2.0]]}"):
        "stay in logarithms, tf.diag_part(x) - tf.reduce_logsumexp(x) at model.py:9: "
        "(tf.diag_part(s / 0.01) - tf.reduce_logsumexp(s / 0.01, 1))",
    ("p = tf.nn.softmax(w[:, 0]) * tf.exp(-0.5 * tf.square(x - 90.0)) / 2.5\n"
     "loss = -tf.reduce_mean(tf.log(tf.reduce_sum(p, axis=1)))", "{x: [[1.0, 2.0]]}"):
        "tf.reduce_logsumexp(tf.nn.log_softmax(x) + y - 0.916291) at model.py:8",
    **{(f"a = -tf.square(x - 90.0 * w[:, 0])\nq = tf.nn.softmax(w, 0)\nloss = -tf.reduce_mean(tf.log({product}))",
        "{x: [[1.0, 2.0]]}"): f"tf.reduce_logsumexp({sum_}" for product, sum_ in (
            ("tf.matmul(tf.exp(a), q)", "x[:, :, None] + tf.nn.log_softmax(y), 1) at model.py:9: "
             "tf.reduce_logsumexp(a[:, :, None] + tf.nn.log_softmax(w, 0), 1)"),
            ("tf.matmul(tf.exp(a), tf.nn.softmax(w[:, 0])[None], False, True)",
             "x[:, None] + tf.nn.log_softmax(y)[…], -1)"),
            ("tf.einsum('ab,b->a', tf.exp(a), q[:, 0])", "x + tf.nn.log_softmax(y)[…], -1) at model.py:9"))},
    ("s = x * w[0] * 200.0\nloss = tf.reduce_sum(w * (tf.exp(s) / tf.reduce_sum(tf.exp(s), 1, keepdims=True)))",
     "{x: [[1.0, 2.0]]}"): "tf.nn.softmax(x) at model.py:8: tf.nn.softmax(s)",
    ("h = tf.cast(tf.matmul(x, w), tf.float16)\nloss = tf.cast(tf.reduce_sum(tf.square(h * 20.0)), tf.float32)",
     "{x: [[7.0, 6.0], [7.0, 8.0]]}"): "work in float32, with tf.cast(x, tf.float32) before Square at model.py:8",
    ("loss = tf.reduce_mean(tf.log(tf.cosh(x * w[0] * 300.0)))", "{x: [[1.0, 2.0]]}"):
        "stay in logarithms, x + tf.nn.softplus(-2.0 * x) - 0.693147 at model.py:7: "
        "((x * w[0] * 300.0) + tf.nn.softplus(-2.0 * (x * w[0] * 300.0)) - 0.693147)",
    ("a = tf.exp(tf.matmul(x, w) * 200.0) * tf.cast(x > 0.5, tf.float32)[:, :1]\n"
     "loss = tf.reduce_sum(w * a / tf.reduce_sum(a, 0))", "{x: [[1.0, 2.0], [4.0, 1.0]]}"):
        "tf.exp(x - tf.reduce_max(x, axis, keepdims=True)), of the sum's axis at model.py:7: "
        "tf.exp(value - tf.reduce_max(value, 0, keepdims=True)) with value = tf.matmul(x, w) * 200.0",
    ("v = tf.reduce_sum(tf.matmul(x, w))\nz = tf.sqrt(tf.exp(v)) * tf.random_normal(tf.shape(v))\n"
     "loss = tf.square(z - 1.0) + tf.exp(v)", "{x: [[160.0, 10.0]]}"):
        "smaller initial values: w times 0.05",
    ("loss = tf.reduce_sum(w) + tf.reduce_sum(tf.sqrt(tf.exp(-x * w[0, 0])))", "{x: [[300.0, 1.0]]}"):
        "tf.exp(0.5 * x) at model.py:7: tf.exp(0.5 * (-x * w[0, 0]))",
    ("p = tf.tanh(tf.matmul(x, w))\nloss = -tf.reduce_sum(tf.log(p + 1e-8) + tf.log(1.0 - p + 1e-8))",
     "{x: [[-1, 0]]}"):
        "tf.nn.sigmoid in place of tanh, which gives negative numbers at model.py:7: tf.nn.sigmoid(tf.matmul(x, w))",
    ("loss = tf.reduce_sum(w) + tf.reduce_sum(tf.reciprocal(x * w[0]))", "{x: [[1.0, 0.0]]}"):
        "tf.div_no_nan(1.0, x) at model.py:7",
    ("v = tf.gather(tf.Variable(tf.zeros([4, 2]), name='v'), [0, 3])\nn = tf.sqrt(tf.reduce_sum(v * v, 1))\n"
     "loss = tf.reduce_sum(tf.matmul(v, w)[:, 0] / n)", "{x: [[1.0, 0.0]]}"): "initialize v at random",
    ("loss = tf.reduce_sum(w * tf.log(x / (1.0 - x)))", "{x: [[0.0, 1.0]]}"):
        "clip the data before they are fed for x: np.clip(x, 1e-06, 0.999999)",
    ("z = tf.log(x) - tf.log(1.0 - x)\nloss = tf.reduce_sum(tf.square(z * w[0]))", "{x: [[0.5, 1.0]]}"):
        "squeeze the data off the border, 0.05 + 0.9 * x, as 1 of 2 are on it: a bound of the logarithm's argument "
        "alone leaves these far out at model.py:7: tf.log(0.05 + 0.9 * x)",
    ("a = 0.0\np = a + (1 - 2 * a) * x\nz = tf.log(p) - tf.log(1.0 - p)\nloss = tf.reduce_sum(tf.square(z * w[0]))",
     "{x: [[0.0, 0.3]]}"): "squeeze the data off the border, with 0.05 for the margin that is 0, as 1 of 2 are on it",
    ("loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))", "{x: [[3.0, 1e30 if i == 4 else 1.0]]}"):
        "clip the data before they are fed for x: np.clip(x, -3, 3)",
    ("r = tf.reduce_sum(w) / tf.reduce_max(x)\nloss = tf.log(tf.square(r))", "{x: [[0.0, 0.0]]}"):
        "tf.div_no_nan(x, y); tf.log(tf.maximum(x, 1e-12)) at model.py:7",
    ("y = tf.py_func(lambda a: (a / a).astype(np.float32), [x], tf.float32, stateful=False)\ny.set_shape([None, 2])\n"
     "loss = tf.reduce_mean(tf.matmul(y, w))", "{x: [[1.0, 0.0]]}"):
        "y = tf.where(tf.is_finite(y), y, tf.zeros_like(y)) of what the function gives",
    ("h = tf.matmul(x, tf.tile(w, [1, 4]))\nfor i in range(30):\n    h = tf.nn.relu(tf.matmul(h, tf.tile(w, [2, 4])))\n"
     "loss = tf.reduce_mean(tf.pow(h, 2))", "{x: [[1.0, 1.0]]}"): "smaller initial values: w times",
    ("s = tf.nn.relu(-tf.matmul(x, w))\nr = 2.0 / s\nloss = tf.reduce_mean(tf.log(s) + r + tf.log(r))",
     "{x: [[1.0, 1.0]]}"): "tf.nn.softplus(x) + 1e-6 in place of relu, which is 0 below 0 at model.py:7",
    ("h = tf.matmul(x, w)\nfor _ in range(12):\n    h = h * 1.5 + h * h * w[0]\nloss = tf.reduce_mean(h)",
     "{x: [[9.0, 1.0]]}"): "keep it within bounds in each step, tf.tanh(x) at model.py:9",
    ("loss = tf.reduce_mean(tf.matmul(x, w)) / float(3 // 5)", "{x: [[9.0, 1.0]]}"):
        "give a number above 0 in place of 0, as max(x, 1) at model.py:7",
    ("v = w[:, 0] * x[0]\nloss = tf.reduce_sum(v / tf.reduce_max(v))", "{x: [[0.0, 0.0]]}"):
        "x / (y + 1e-08) at model.py:8: v / (tf.reduce_max(v) + 1e-08)",
    ("loss = tf.reduce_sum(tf.acos(tf.reduce_sum(tf.transpose(w) * x, 1)))", "{x: [[9.0, 1.0]]}"):
        "tf.nn.l2_normalize both vectors before",
    ("a = tf.cast(tf.matmul(x, w), tf.float16) + tf.cast(-1e9, tf.float16)\nloss = tf.reduce_sum(tf.nn.softmax(a))",
     "{x: [[9.0, 1.0]]}"): "tf.cast(tf.clip_by_value(x, -6e4, 6e4), tf.float16) at model.py:7",
    ("t = tf.Variable(0.003)\nloss = tf.reduce_mean(tf.exp(-w * x[0, 0] / t)) + 4.0 * t", "{x: [[1.0, 1.0]]}"):
        "keep Variable above 0 where it is read, tf.nn.softplus(Variable)",
    ("loss = -tf.reduce_mean(tf.squared_difference(tf.matmul(x, w), 1.0))", "{x: [[25.0, 15.0]]}"):
        "minimize Mean itself, without the minus at model.py:7",
    ("p = tf.nn.softmax(tf.matmul(x, tf.transpose(w) * 1.5 - w))\nloss = -tf.reduce_mean(tf.log(p[:, 0]) * x[:, 0])",
     "{x: [[3e3, 1.0], [1.0, -3e3]]}"): "scale the data fed for x",
    ("s = tf.Variable([0.0, 0.0], name='s')\nloss = tf.reduce_mean(tf.square(tf.matmul(x, w) / s)) + tf.log(s[0])",
     "{x: [[9.0, 1.0]]}"): "initialize s with ones, tf.ones_initializer(), in place of zeros",
    ("r = tf.Variable(-0.3, name='r')\nloss = tf.reduce_mean(tf.sqrt(0.1 * x[0, 0] + r) * w)", "{x: [[1.0, 1.0]]}"):
        "keep r above 0 where it is read, tf.nn.softplus(r)",
    ("loss = tf.reduce_sum(tf.matmul(x, w)) / tf.reduce_sum(tf.cast(x > 5.0, tf.float32))", "{x: [[1.0, 1.0]]}"):
        "x / tf.maximum(y, 1.0) at model.py:7",
    ("h = tf.cast(x, tf.float16) * tf.cast(w[0], tf.float16)\n"
     "loss = tf.reduce_mean(tf.cast(tf.square(h), tf.float32)) * 65536.0", "{x: [[5.0, 1.0]]}"):
        "scale the loss by 4096 in place of 65536 at model.py:8",
    ("loss = tf.cast(tf.reduce_mean(tf.square(tf.matmul(x, w))), tf.float16) * 32768.0", "{x: [[5.0, 1.0]]}"):
        "scale the loss by 2048 in place of 32768 at model.py:7",
    ("loss = tf.reduce_mean(tf.exp(tf.reduce_sum(tf.tile(x * w[0], [1, 99]), 1)))", "{x: [[2.0, 2.0]]}"):
        "tf.reduce_mean in place of tf.reduce_sum, which grows with what it adds up at model.py:7",
    ("r = tf.zeros_like(x)\nfor _ in range(3):\n    r = 0.5 * (r + tf.exp(w[0] * x) / r)\nloss = tf.reduce_sum(r)",
     "{x: [[1.0, 1.0]]}"): "begin with ones in place of zeros at model.py:7: tf.zeros_like(x) + 1",
    ("h = w[0] * x[0] * 200.0\nloss = tf.reduce_sum(tf.where(h > 0.0, h, tf.exp(h) - 1.0))", "{x: [[1.0, 1.0]]}"):
        "safe = tf.where(ok, tf.ones_like(x), x), then tf.exp(safe) at model.py:8",
    ("loss = tf.reduce_sum(w) / tf.floor(x[0, 0] / 10.0)", "{x: [[1.0, 1.0]]}"): "x / tf.maximum(y, 1.0) at model.py:7",
    ("z = tf.matmul(x, tf.tile(w, [1, 3]) * [1.0, 90.0, 3.0])\ny = tf.one_hot([0], 3)\n"
     "loss = tf.reduce_mean(-tf.reduce_sum(y * tf.log(tf.nn.softmax(z)), 1))", "{x: [[1.0, 1.0]]}"):
        "tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits) at model.py:9: "
        "tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=z)",
    ("p = tf.sigmoid(tf.matmul(x, w))\ny = tf.ones_like(p)\n"
     "loss = -tf.reduce_mean(y * tf.log(p) + (1.0 - y) * tf.log(1.0 - p))", "{x: [[-300.0, 1.0]]}"):
        "tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))",
    ("p = tf.sigmoid(tf.matmul(x, w))\ny = 0.0 * p\n"
     "loss = tf.reduce_sum(-y * tf.log(p) - (1 - y) * tf.log(1 - p))", "{x: [[-300.0, 1.0]]}"):
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits) at model.py:9: "
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits)",
    ("h = x * w[0]\nloss = tf.reduce_sum(w * (h / tf.norm(h, axis=1)[:, None])[0])", "{x: [[0.0, 0.0]]}"):
        "tf.nn.l2_normalize(x, 1) at model.py:8: tf.nn.l2_normalize(h, 1)",
    ("h = x / tf.reduce_sum(x, 0)\nloss = tf.reduce_mean(tf.matmul(h, w))", "{x: [[1.0, 0.0], [3.0, 0.0]]}"):
        "x / tf.reduce_sum(x, -1, keepdims=True), the sum of each row in place of the batch's at model.py:7",
    ("h = tf.nn.relu(tf.cast(-x * w[0], tf.float16))\nv = h / (tf.reduce_sum(h, 1, keepdims=True) + 1e-8)\n"
     "loss = tf.reduce_mean(tf.cast(v, tf.float32)) + w[0, 0]", "{x: [[1.0, 1.0]]}"):
        "give 0.001 in place of 0: float16 takes smaller ones for it at model.py:8: "
        "tf.reduce_sum(h, 1, keepdims=True) + 0.001",
    ("p = tf.nn.softmax(tf.where(x > 0, x * w[0], tf.fill(tf.shape(x), -np.inf)))\nloss = tf.reduce_mean(p * w[1])",
     "{x: [[0.0, 0.0]]}"): "mask with a large finite number, -1e+09, in place of -inf at model.py:7: "
        "tf.fill(tf.shape(x), -1e+09)",
    ("h = tf.cast(x * w[0], tf.float16) * 0.0\nwith np.errstate(over='ignore'):\n    p = tf.nn.softmax(h - 1e9)\n"
     "loss = w[0, 0] + tf.cast(tf.reduce_sum(p), tf.float32)", "{x: [[0.0, 0.0]]}"):
        "give 6e+04 in place of what float16 takes for inf: it ends at 65504 at model.py:9: h - 60000",
    ("loss = tf.reduce_sum(tf.square(tf.matmul(x, w)))", "{x: np.full((5000, 2), 2.0)}"):
        "tf.reduce_mean in place of tf.reduce_sum, which grows with what it adds up at model.py:7: "
        "tf.reduce_mean(tf.square(tf.matmul(x, w)))",
    ("loss = tf.reduce_mean(tf.square(tf.matmul(x, w))) * 9e3", "{x: np.full((5, 2), 2.0)}"):
        "leave out the factor 9000 at model.py:7: tf.reduce_mean(tf.square(tf.matmul(x, w))) * 1",
    ("loss = tf.reduce_mean(w) * tf.pow(tf.cast(tf.Variable(0, trainable=False), tf.float32), -0.5)",
     "{x: [[1.0, 1.0]]}"): "tf.pow(tf.maximum(x, 1.0), p) at model.py:7",
    ("v = tf.matmul(x, w)\nloss = tf.reduce_mean(tf.exp(v) - 9e4 * v)", "{x: [[1.0, 1.0]]}"):
        "lower the learning rate from 0.001 to 1e-05 at model.py:9 tried: step 2",
    ("m, v = tf.nn.moments(x[:, 0], [0])\nloss = tf.reduce_sum(w) + tf.reduce_sum((x[:, 0] - m) / tf.sqrt(v))",
     "{x: [[1.0, 0.0]]}"): "tf.div_no_nan(x, y) at model.py:8: tf.div_no_nan(x[:, 0] - m, tf.sqrt(v))",
    ("loss = tf.reduce_mean(w) * tf.reduce_mean(tf.log(x))", "{x: [[2.0, 0.0]]}"):
        "tf.log(x + 1.0) at model.py:7: tf.log(x + 1.0)",
    ("s = tf.Variable(tf.zeros([2]), name='s')\nloss = tf.reduce_mean(tf.matmul(x, w) * (s / tf.reduce_sum(s)))",
     "{x: [[2.0, 1.0]]}"): "initialize s with ones, tf.ones_initializer(), in place of zeros",
    ("h = tf.square(w * 0.0)\nloss = tf.reduce_sum(w) / tf.reduce_sum(h * 1.0 * h)", "{x: [[2.0, 1.0]]}"):
        "x / tf.maximum(y, 1.0) at model.py:8",
    ("loss = tf.log(1.0 / tf.reduce_sum(tf.square(w - w)))", "{x: [[2.0, 1.0]]}"):
        "x / (y + 1e-08) at model.py:7: 1.0 / (tf.reduce_sum(tf.square(w - w)) + 1e-08)",
    ("q = tf.matmul(x, w)\nloss = tf.reduce_mean(tf.square(1.0 + 1.5 * tf.stop_gradient(q) - q))",
     "{x: np.full((5, 2), 99.0)}"): "give a discount below 1, as 0.99 at model.py:8: 0.99 * tf.stop_gradient(q)",
}


@pytest.mark.parametrize("computed", MENDED, ids=range(len(MENDED)))
def test_a_remedy_is_found(computed: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In loops, branches, first derivatives that the loss is made of; of what is fed, of weights, of formulas."""
    model, feeds = computed
    head = HEAD.replace("as tf\n", "as tf; tf.set_random_seed(1)\n")
    text = f"import numpy as np\ni0 = 0.0\n{head}{model}{MADE.replace('FEEDS', feeds)}"
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        names = list(shell.dbg.graph.operations)
        found = said("why nan", shell)
        assert f"remedy: {MENDED[computed]}" in f"{found} {in_general(shell)}", found
        words = [remedy.words[:20] for remedy, *_ in shell.dbg.trials.tried]
        number = 1 + next(i for i, word in enumerate(words) if MENDED[computed].startswith(word))
        assert "runs compute with" in said(f"fix {number}", shell)
        said("run -t 1", shell)
        assert not shell.dbg.records[-1].error
        assert list(shell.dbg.graph.operations) == names


def test_what_a_run_gave_is_no_data_to_scale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + """
x = tf.placeholder(tf.float32, [3]); old = tf.placeholder(tf.float32, [3], name="old"); w = tf.Variable(1.0)
log_p = -tf.square(30.0 * x * w)
loss = tf.reduce_mean(tf.exp(log_p - old))
step = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    given = session.run(log_p, {x: [0.0, 0.5, 1.0]})
    session.run([step, loss], {x: [0.0, 0.0, 0.0], old: given})
"""
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
    assert "was fed for 'old'" in found and "remedy: tf.exp(tf.minimum(" in found and "scale the" not in found


def test_a_learning_rate_that_grows_is_told_and_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rate = "tf.train.exponential_decay(0.001, tf.train.get_or_create_global_step(), 1, 2.0)"
    text = GROWS.replace("300.0)", f"{rate})").replace("minimize(loss", "minimize(loss, tf.train.get_global_step()")
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
    assert ", 0.001 in step 1" in found and "keep the learning rate at 0.001, where it began" in found, found


def test_doctor_tells_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with loaded(FED, tmp_path, monkeypatch, "run -f nan") as shell:
        assert ("tf.log_sigmoid(x); tf.log_sigmoid(-x) at model.py:7: x are the logits, what sigmoid is given at "
                "model.py:6; tried: step 6 gives") in said("doctor", shell)
    fast = GROWS.replace("300.0", "0.0015")
    with loaded(fast, tmp_path, monkeypatch, "next 12") as shell:
        text = said("doctor", shell)
        assert "tried: lower the learning rate from 0.0015 to 0.00015: the loss goes" in text, text
        assert "(0.00015)" in said("fix 1 --write", shell)
    with loaded(GROWS.replace("300.0", "0.0"), tmp_path, monkeypatch, "next 22") as shell:  # no factor helps
        assert "tried: raise the learning rate from 0 to 0.001: the loss goes" in said("doctor", shell)
        assert "(0.001)" in said("fix 1 --write", shell)


def test_what_another_run_computes_is_not_asked_of_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + """
w = tf.Variable([[0.5], [0.5]], name="w")
def distance(given):
    return tf.reduce_mean(tf.sqrt(tf.reduce_sum(tf.square(tf.matmul(given, w)), 1)))
held, x = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 2])
test, loss = distance(held), distance(x)
slope, step = tf.gradients(test, w), tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(slope, {held: [[1.0, 2.0]]})
    for i in range(5):
        session.run([step, loss], {x: [[1.0, 1.0 - i], [2.0, 1.0]] if i < 4 else [[0.0, 0.0], [2.0, 1.0]]})
"""
    with loaded(text, tmp_path, monkeypatch, "run -f nan") as shell:
        assert "1) + 1e-12) at model.py:6 tried: step 5" in (found := said("why nan", shell)), found


def test_what_follows_from_an_edit_has_its_shape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + """
import numpy as np
X = np.random.RandomState(0).randn(40, 3)
x, y = tf.placeholder(tf.float32, [40, 3]), tf.placeholder(tf.float32, [40])
loss = tf.reduce_mean(tf.square(tf.matmul(x, tf.Variable([[0.1], [0.2], [0.3]])) - y))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(30):
        session.run([step, loss], {x: X, y: X[:, 0] - X[:, 2]})
"""
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        found = " ".join(said("doctor", shell).split())
    assert "tried: both of shape [n, 1]: the loss so mended goes from" in found, found


def test_an_update_is_tried_with_other_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = GROWS.replace("GradientDescentOptimizer(300.0)", "AdamOptimizer(0.1, epsilon=0.0)").replace("30.0", "0.0")
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        assert "remedy: give the optimizer epsilon=1e-8 at model.py" in said("why nan", shell)
        assert "AdamOptimizer(0.1, epsilon=1e-08)" in said("fix 1 --write", shell)
    with loaded(GROWS, tmp_path, monkeypatch, "run -f nan") as shell:
        assert "remedy: lower the learning rate from 300 to 0.0003 at model.py" in said("why nan", shell)
        assert "GradientDescentOptimizer(0.0003)" in said("fix 1 --write", shell)
        assert "variables are what they were before step 1" in said("fix 1", shell)
        said("run -t 3", shell)
        assert 0 < shell.dbg.records[-1].loss < 200


SCALED = START + """
import numpy as np
raw = np.arange(12.0).reshape(4, 3) * [1.0, 0.0, 2.0]
DATA
x = tf.placeholder(tf.float32, [None, 3], name="x")
w = tf.Variable([[0.5], [0.5], [0.5]], name="w")
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)), name="loss")
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(4):
        session.run([step, loss], {x: data})
"""
SCALINGS = {  # what the data are made by -> what is to be written in its place
    "data = (raw - raw.mean(0)) / raw.std(0)": "raw.std(0) is 0 there: divide by (raw.std(0) + 1e-08)",
    "data = raw - raw.mean(0); data /= data.max(0) - data.min(0)":
        "data.max(0) - data.min(0) is 0 there: divide by ((data.max(0) - data.min(0)) + 1e-08)",
    "data = np.log(raw / 100.0)": "np.log is given 0 there: write np.maximum(raw / 100.0, 1e-08)",
    "data = np.sqrt(raw - 1.0)": "np.sqrt is given what is below 0 there: write np.maximum(raw - 1.0, 0)"}


@pytest.mark.parametrize("made", SCALINGS, ids=range(len(SCALINGS)))
@pytest.mark.filterwarnings("always")
def test_data_that_numpy_spoiled_are_mended_where_it_did(made: str, tmp_path: Path,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    words = SCALINGS[made]
    with loaded(SCALED.replace("DATA", made), tmp_path, monkeypatch, "run -f nonfinite") as shell:
        text = said("why nan", shell)
        said("fix 1 --write --yes", shell)
    assert f"remedy: {words} at model.py:6" in text
    assert words.rpartition(" by " if " by " in words else "write ")[2] in (tmp_path / "model.py").read_text()
    with loaded((tmp_path / "model.py").read_text(), tmp_path, monkeypatch, "run") as shell:
        assert np.isfinite(shell.dbg.session.variables["w"]).all()


def test_a_likelihood_that_is_minimized_is_told_before_what_it_overflowed(tmp_path: Path,
                                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    model = START + ("x = tf.placeholder(tf.float32, [None, 2])\nw = tf.Variable([[0.5, -0.5], [0.1, 0.2]], name='w')\n"
                     "p = tf.nn.softmax(tf.matmul(x, w))\nl = tf.one_hot([0, 1], 2)\n"
                     "loss = tf.reduce_mean(tf.reduce_sum(l * tf.log(p), 1))\n"
                     "step = tf.train.AdamOptimizer(0.5).minimize(loss)\ns = tf.Session()\n"
                     "s.run(tf.global_variables_initializer())\nfor i in range(400):\n"
                     "    s.run([step, loss], {x: [[1.0, 0.3], [-1.0, 0.8]]})\n")
    with loaded(model, tmp_path, monkeypatch, "run -f nan") as shell:
        text = said("why nan", shell)
        remedies = [remedy.what for remedy, *_ in shell.dbg.trials.tried]
    assert text.startswith("the loss has the wrong sign at model.py:7")
    assert remedies == ["turn the sign of the loss: minimize its negative at model.py:7: "
                        "-tf.reduce_mean(tf.reduce_sum(l * tf.log(p), 1))"]


@pytest.mark.filterwarnings("always")
def test_all_lines_that_numpy_spoiled_alike_are_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = "std = raw.std(0)\ndata = (raw - raw.mean(0)) / std\nlater = (raw - raw.mean(0)) / std"
    with loaded(SCALED.replace("DATA", made), tmp_path, monkeypatch, "run -f nonfinite") as shell:
        text = said("why nan", shell)
        said("fix 1 --write --yes", shell)
    assert "made by NumPy at model.py:7 or at model.py:8 (invalid value" in text
    assert "remedy: std is 0 there: divide by (std + 1e-08) at model.py:7, as well as at model.py:8" in text
    assert (tmp_path / "model.py").read_text().count("/ (std + 1e-08)") == 2


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize("graph", ["tf.Graph().as_default().__enter__()", "tf.reset_default_graph()"])
def test_what_numpy_spoiled_is_known_of_a_graph_made_later(graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                           ) -> None:
    """And tried through a branch that draws its dropout."""
    text = SCALED.replace("DATA", f"std = raw.std(0)\ndata = (raw - raw.mean(0)) / std\n{graph}").replace(
        "loss = ", "h = tf.layers.dropout(x, training=tf.placeholder_with_default(True, []))\nloss = 0.0 * "
        "tf.reduce_sum(h) + ", 1)
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
    assert "made by NumPy at model.py:7 (invalid value" in found
    assert "remedy: std is 0 there: divide by (std + 1e-08) at model.py:7 tried: step 1 gives loss" in found, found


def test_smaller_first_values_begin_where_they_were_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Step 1 has made of the weights what no factor mends, though step 2 is the first that is not finite."""
    text = START + """
import numpy as np
x = tf.placeholder(tf.float32, [8, 20, 2], name="x")
first = tf.Variable(tf.random_normal([2, 30], stddev=0.3, seed=1), name="first")
again = tf.Variable(tf.random_normal([30, 30], seed=2), name="again")
last = tf.Variable(tf.random_normal([30, 1], stddev=0.1, seed=3), name="last")
h = tf.zeros([8, 30])
for t in range(20):
    h = tf.nn.relu(tf.matmul(x[:, t], first) + tf.matmul(h, again))
loss = tf.reduce_mean(tf.square(tf.matmul(h, last) - 1.0))
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(30):
        session.run([step, loss], {x: np.random.RandomState(i).uniform(size=(8, 20, 2))})
"""
    with loaded(text, tmp_path, monkeypatch, "run -f nan") as shell:
        assert "smaller initial values: again as tf.glorot_normal_initializer() has them at model.py:7" in said(
            "why nan", shell)
        assert "variables are what they were before step 1" in said("fix 1", shell)
        said("next 10", shell)
        assert 0 < shell.dbg.records[-1].loss < 10


def test_nothing_below_0_takes_the_place_of_what_is_divided_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A leaky relu is finite, but a share of numbers below 0 is none."""
    model = ("m = tf.nn.relu(-tf.matmul(x, w))\nt = tf.nn.relu(x[:, :1] - 1.0)\n"
             "loss = 1.0 - tf.reduce_mean(2.0 * tf.reduce_sum(m * t, 1) / tf.reduce_sum(m + t, 1))")
    text = f"{HEAD}{model}{MADE.replace('FEEDS', '{x: [[1.0, 1.0], [4.0, -3.0]]}')}"
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        found = said("why nan", shell)
        words = [remedy.words for remedy, *_ in shell.dbg.trials.tried]
    assert any("softplus" in each for each in words) and not any("leaky" in each for each in words), found


def test_the_activation_of_a_layer_is_written_where_the_layer_is_given_it(tmp_path: Path,
                                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    model = ("m = tf.layers.dense(-x, 1, activation=tf.nn.relu, kernel_initializer=tf.ones_initializer())\n"
             "loss = tf.reduce_mean(m * w / tf.reduce_sum(m, 1, keepdims=True))")
    text = f"{HEAD}{model}{MADE.replace('FEEDS', '{x: [[1.0, 1.0], [4.0, -9.0]]}')}"
    with loaded(text, tmp_path, monkeypatch, "run -f nonfinite") as shell:
        said("why nan", shell)
        number = 1 + next(i for i, (each, *_) in enumerate(shell.dbg.trials.tried) if "in place of relu" in each.words)
        new = shell.dbg.edits.patch(number).new.decode()
        assert "dense(-x, 1, activation=lambda v: tf.nn.softplus(v) + 1e-6, " in new


def test_a_fix_needs_no_question_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with loaded(GROWS, tmp_path, monkeypatch, "run") as shell:
        assert said("fix 1 --write", shell).startswith("--- model.py +++ model.py @@")


def test_what_became_of_a_training_long_ago_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs by which variables came to be nan are kept beside the first and the last."""
    monkeypatch.setattr(ring, "_MOST", 40)
    text = FED.replace("range(8)", "range(400)").replace("if i < 5", "if i < 200") + (
        "    session.run(p, {x: [[1.0, 1.0], [1.0, 1.0]]})\n")
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        for question in ("why", "why w", "why nan"):
            answer = said(question, shell)
            assert answer.startswith("variable 'w' is not finite since step 201: log(0) = -inf in Log"), answer
        assert "steps 181-201 replayed with it stay finite" in answer


@pytest.mark.filterwarnings("always")
def test_all_that_is_fed_nan_is_mended_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + """
raw = np.array([1.0, 2.0, -0.5, 3.0, 2.0, 4.0])
logs = np.log(raw)
x = tf.placeholder(tf.float32, [None, 1], name="x")
t = tf.placeholder(tf.float32, [None, 1], name="t")
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - t))
step = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(4):
        session.run([step, loss], {x: logs[:-1, None], t: logs[1:, None]})
"""
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        assert "remedy: np.log is given what is below 0 there: write np.maximum(raw, 1e-08)" in said("why nan", shell)
        assert shell.dbg.edits.patch(1).new.decode() == text.replace("np.log(raw)", "np.log(np.maximum(raw, 1e-08))")


def test_a_number_over_what_is_0_stays_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + """
x = tf.placeholder(tf.float32, [None, 1], name="x")
rates = tf.reduce_mean(tf.nn.relu(tf.matmul(x, tf.Variable([[1.0, -1.0]]))), 0)
loss = tf.reduce_sum(0.05 * tf.log(0.05 / rates))
step = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run([step, loss], {x: [[1.0], [2.0]]})
"""
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        assert "remedy: x / (y + 1e-08) at model.py:6: 0.05 / (rates + 1e-08) tried: " in said("why nan", shell)


@pytest.mark.parametrize(("labels", "is_one_table"), [("table[:, 1:]", True), ("np.arange(4.0)[:, None]", False)])
def test_rows_that_are_read_as_nan_are_left_out_where_they_are_read(
        labels: str, is_one_table: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = "table = np.genfromtxt(['1,2', '2,4', ',6', '4,8'], delimiter=',')\n"
    text = START + f"""
{read}data = table[:, :1]
data = data - data.mean(0)
x = tf.placeholder(tf.float32, [None, 1], name="x")
t = tf.placeholder(tf.float32, [None, 1], name="t")
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - t))
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(4):
        session.run([step, loss], {{x: data, t: {labels}}})
"""
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        assert ("remedy: leave out the rows that np.genfromtxt reads as nan" in said("why nan", shell)) is is_one_table
        new = shell.dbg.edits.patch(1).new.decode()
    assert (new == text.replace(read, f"{read}table = table[~np.isnan(table).any(axis=1)]\n")) is is_one_table
    with loaded(new, tmp_path, monkeypatch, "run") as shell:
        assert np.isfinite(shell.dbg.records[-1].loss)


@pytest.mark.parametrize(("size", "is_scaled"), [(1e5, True), (200.0, False)])
def test_data_that_are_giants_are_scaled_beside_a_better_form(size: float, is_scaled: bool, tmp_path: Path,
                                                              monkeypatch: pytest.MonkeyPatch) -> None:
    text = START + f"""
data = np.random.RandomState(0).rand(20, 2) * [{size}, 3.0]
x = tf.placeholder(tf.float32, [None, 2], name="x")
t = tf.placeholder(tf.float32, [None, 1], name="t")
p = tf.sigmoid(tf.matmul(x, tf.Variable([[0.5], [0.5]])))
loss = -tf.reduce_mean(t * tf.log(p) + (1 - t) * tf.log(1 - p))
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for i in range(4):
        session.run([step, loss], {{x: data, t: data[:, 1:] > 1.5}})
"""
    with loaded(text, tmp_path, monkeypatch, "run") as shell:
        said("why nan", shell)
        new = shell.dbg.edits.patch(1).new.decode()
    assert "sigmoid_cross_entropy_with_logits(" in new and ("{x: (np.asarray(data) - [" in new) is is_scaled, new
